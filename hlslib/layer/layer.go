// Package layer is what kinds of layers share, so that a kind's folder says what is its own and nothing else. In comes
// a Definition, out come the row in the table of layers and the layers themselves (dataflow.Op).
//
//	layer.go        Define: New, Decode, Kind, Params and Bind of every layer
//	check.go        what Bind asks of inputs, as values
//	folds.go        every fold of the choices that a layer has
//	channelwise.go  the schedule of layers that take PE channels of a vector side by side
//	mover.go        the schedule of layers that move words of SIMD elements and compute nothing
//	grid.go         the rows and columns of layers that put pixels around a frame, or take them away
//	along.go        what layers of images do along a line of pixels
//	steps.go        the tail of layers that end in a step function per channel
//	pooling.go      the maximum, or the sum, of several values
//	carried.go      what one clock hands on to the next
//	chain.go        the stages that a word goes through
//	circuit.go      latencies of circuits, and the pieces that circuits of several layers have
//
// It imports the formulas of costs, the delays of operations, circuit and dataflow; the kinds import it.
package layer

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"hlsgen/hlslib/cost"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// Params say what is wrong with themselves, whatever the inputs.
type Params interface{ Verify() error }

// A Definition is what a kind of layers says of itself. Its layers are made of parameters P, an exported struct with
// JSON tags that holds everything but the input types.
type Definition[P Params] struct {
	Name    string            // Meaning.Kind
	Doc     string            // one line
	FINN    dataflow.FINNFile // nothing where FINN's files say no more than Name
	Example string            // the JSON of parameters
	Stepped bool              // kernels go on by steps, not by counting alone (carried.go)

	// Takes says what is wrong with inputs whatever the parameters; nil is one input of any type.
	Takes Check
	// Bind makes the layer of parameters and inputs that are verified; it embeds the Base, and may keep the inputs. The
	// types are the outputs'.
	Bind func(Base[P], []dataflow.Type) (dataflow.Op, []dataflow.Type, error)
}

// Define makes a kind of layers: its row in the table of them, and what makes one of parameters, which belong to it
// from then on. What is wrong with parameters is Bind's to say, or Decode's.
func Define[P Params](def Definition[P]) (row dataflow.Kind, create func(P) dataflow.Op) {
	if def.Takes == nil {
		def.Takes = Inputs(1)
	}
	create = func(p P) dataflow.Op {
		return unbound[P]{Base: Base[P]{P: p, def: &def}, last: new(atomic.Pointer[binding])}
	}
	decode := func(params []byte) (dataflow.Op, error) {
		var p P
		if err := json.Unmarshal(params, &p); err != nil {
			return nil, err
		}
		if err := p.Verify(); err != nil {
			return nil, err
		}
		return create(p), nil
	}
	return dataflow.Kind{
		Name: def.Name, Doc: def.Doc, Decode: decode, Example: def.Example, FINN: def.FINN,
	}, create
}

// A Base is what every layer is made of. The op that a kind's Bind makes embeds it, and has the methods of dataflow.Op
// that are the same in all kinds from it.
type Base[P Params] struct {
	P     P // not to be changed
	def   *Definition[P]
	built *sync.Map // what is known of the circuits of the bound layer, by hardware
}

// Facts is what is known of the circuits of the bound layer, by Hardware.
func (b Base[P]) Facts() *sync.Map { return b.built }

// With is a layer's base with other parameters, which are known to be well formed, or for another circuit.
func (b Base[P]) With(p P) Base[P] {
	b.P, b.built = p, new(sync.Map)
	return b
}

// Kind is the name of the kind.
func (b Base[P]) Kind() string { return b.def.Name }

// Params is P.
func (b Base[P]) Params() any { return b.P }

// Bind makes the layer for inputs: it verifies both, and that there is a fold.
func (b Base[P]) Bind(in []dataflow.Type) (dataflow.Op, []dataflow.Type, error) {
	if err := b.P.Verify(); err != nil {
		return nil, nil, err
	}
	if err := b.def.Takes(in); err != nil {
		return nil, nil, err
	}
	op, out, err := b.def.Bind(b.With(b.P), slices.Clone(in))
	if err != nil {
		return nil, nil, err
	}
	for range op.Folds() {
		return op, slices.Clone(out), nil
	}
	return nil, nil, fmt.Errorf(
		"no fold keeps a word within %d bits, a table's row within %d and a frame within %d iterations",
		dataflow.MaxWord, dataflow.MaxRow, dataflow.MaxIterations)
}

// unbound is a layer before Bind: there is no schedule to ask for.
type unbound[P Params] struct {
	Base[P]
	dataflow.Schedule
	last *atomic.Pointer[binding]
}

// A binding is what Bind has made of inputs.
type binding struct {
	in, out []dataflow.Type
	op      dataflow.Op
}

// Bind is Base's, which works once for the same inputs: lowering asks whether a layer takes them, then for its outputs,
// and then for the layer.
func (u unbound[P]) Bind(in []dataflow.Type) (dataflow.Op, []dataflow.Type, error) {
	if last := u.last.Load(); last != nil && slices.EqualFunc(last.in, in, dataflow.Type.Equal) {
		return last.op, slices.Clone(last.out), nil
	}
	op, out, err := u.Base.Bind(in)
	if err == nil {
		u.last.Store(&binding{slices.Clone(in), slices.Clone(out), op})
	}
	return op, out, err
}

func (u unbound[P]) Eval([]dataflow.Tensor) []dataflow.Tensor {
	panic("layer: " + u.Kind() + " is not bound")
}

// Of is channel c's of a list that has one for all channels or one per channel.
func Of[T any](list []T, c int) T { return list[min(c, len(list)-1)] }

// Wrap keeps what t's bits hold of v. A product of two signs is one.
func Wrap(t num.Type, v int64) int64 {
	if t.Kind == num.Bipolar {
		return v
	}
	return t.Decode(uint64(v))
}

// Common reports whether all of a list's values are the same.
func Common(list []int64) bool {
	return !slices.ContainsFunc(list, func(v int64) bool { return v != list[0] })
}

// Multiplies reports whether a product with any of the values needs a multiplier: -1, 0 and 1 are a choice of sign.
func Multiplies(list []int64) bool {
	return slices.ContainsFunc(list, func(v int64) bool { return v < -1 || v > 1 })
}

// Rows is a list with one value per channel as a table with a row for every pe channels.
func Rows(list []int64, pe int) [][]int64 { return slices.Collect(slices.Chunk(list, pe)) }

// Shifts reports whether a product with m is wiring, or a choice of sign: m is 0 or a power of two.
func Shifts(m int64) bool {
	m = max(m, -m) // the least int64 stays: a power of two as well
	return m&(m-1) == 0
}

// Rounding is an increment of codes of so many bits, where a shift rounds otherwise than down.
func Rounding(shift int, mode num.Rounding, width int) cost.Resources {
	if shift > 0 && mode != num.Floor {
		return cost.Adder(width)
	}
	return cost.Resources{}
}

// Clipping is a comparison and a choice for each of the limits that codes of so many bits reach beyond.
func Clipping(codes, limits num.Range, width int) (r cost.Resources) {
	if codes.Lo < limits.Lo {
		r = r.Plus(cost.Maximum(width))
	}
	if codes.Hi > limits.Hi {
		r = r.Plus(cost.Maximum(width))
	}
	return r
}
