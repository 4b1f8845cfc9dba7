// Package layer holds the common parts of all kinds of layers, so that a kind's folder contains only its own. In
// comes a KindDefinition, out come the row in the table of layers and the layers themselves (dataflow.Op).
//
//	layer.go        DefineKind: New, Decode, Kind, Params and Bind of every layer
//	check.go        checks of inputs, for Bind
//	folds.go        the folds of all combinations of a layer's choices
//	channelwise.go  the schedule of layers that handle PE channels of a vector side by side
//	mover.go        the schedule of layers that move words of SIMD elements and compute nothing
//	grid.go         the rows and columns of layers that add pixels around a frame, or remove them
//	along.go        the dependence of layers of images on a line of pixels
//	steps.go        the tail of layers that end in a step function per channel
//	pooling.go      the maximum, or the sum, of several values
//	carried.go      the longest path from one clock to the next, in the description of every layer
//	chain.go        the pipeline stages of a word
//	circuit.go      latencies and costs of circuits, and circuits common to several layers
package layer

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"hlsgen/hlslib/price/cost"
	"hlsgen/hlslib/price/luts"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// Params are the parameters of a kind of layers. Verify returns an error if they are wrong, whatever the inputs are.
type Params interface{ Verify() error }

// A KindDefinition describes a kind of layers. A layer of this kind is made from parameters P: an exported struct with
// JSON tags that holds everything but the input types.
type KindDefinition[P Params] struct {
	Name    string                   // the kind's name
	Doc     string                   // description in one line
	FINN    dataflow.FINNFoldingForm // the kind in FINN's files; zero if Name suffices
	Example string                   // parameters in JSON
	Stepped bool                     // kernels advance by steps, not only by counters (see stepped in carried.go)

	// Takes checks inputs, whatever the parameters are; nil accepts one input of any type.
	Takes InputCheck
	// Bind returns the layer for verified parameters and inputs, and the types of its outputs. The layer embeds the
	// Base, and may keep the slice of inputs.
	Bind func(Base[P], []dataflow.StreamType) (dataflow.Op, []dataflow.StreamType, error)
}

// DefineKind returns a kind of layers: its row in the table of layers, and a function that makes an unbound layer from
// parameters. The caller must not change the parameters afterwards. Wrong parameters give an error from Bind, or from
// the row's Decode.
func DefineKind[P Params](def KindDefinition[P]) (row dataflow.LayerKind, create func(P) dataflow.Op) {
	if def.Takes == nil {
		def.Takes = NewInputCountCheck(1)
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
	return dataflow.LayerKind{
		Name: def.Name, Doc: def.Doc, Decode: decode, Example: def.Example, FINN: def.FINN,
	}, create
}

// A Base is the common part of every layer. The type that a kind's Bind returns embeds it, and inherits the methods
// of dataflow.Op that are the same for all kinds.
type Base[P Params] struct {
	P     P // read only
	def   *KindDefinition[P]
	built *sync.Map // facts about the bound layer's circuits, by CircuitKey
}

// CircuitFactsByKey returns a map from CircuitKey to the facts known of the bound layer's circuits: their latencies and
// costs. It is nil before Bind.
func (b Base[P]) CircuitFactsByKey() *sync.Map { return b.built }

// WithParams returns a copy of the base with other parameters, which must be well formed. The copy knows no facts about
// circuits yet, but for those about parts of them, which hold for any circuit.
func (b Base[P]) WithParams(p P) Base[P] {
	facts := new(sync.Map)
	if b.built != nil {
		facts.Store(partsKey{}, partsIn(b.built))
	}
	b.P, b.built = p, facts
	return b
}

// partsKey is the key of what a layer's facts about circuits say of parts of these circuits.
type partsKey struct{}

// partsIn returns what a layer's facts about circuits say of parts of these circuits.
func partsIn(facts *sync.Map) *luts.KnownParts {
	known, _ := facts.LoadOrStore(partsKey{}, new(luts.KnownParts))
	return known.(*luts.KnownParts)
}

// Kind returns the name of the layer's kind, such as MVAU.
func (b Base[P]) Kind() string { return b.def.Name }

// Params returns the parameters from which the layer was made.
func (b Base[P]) Params() any { return b.P }

// Bind verifies the parameters and the inputs. It returns the layer for them, and the types of its outputs. A layer
// without any fold is an error.
func (b Base[P]) Bind(in []dataflow.StreamType) (dataflow.Op, []dataflow.StreamType, error) {
	if err := b.P.Verify(); err != nil {
		return nil, nil, err
	}
	if err := b.def.Takes(in); err != nil {
		return nil, nil, err
	}
	op, out, err := b.def.Bind(b.WithParams(b.P), slices.Clone(in))
	if err != nil {
		return nil, nil, err
	}
	for range op.Folds() {
		return op, slices.Clone(out), nil
	}
	return nil, nil, fmt.Errorf(
		"no fold keeps a word within %d bits, a table's row within %d and a frame within %d iterations",
		dataflow.MaxWordBits, dataflow.MaxTableRowBits, dataflow.MaxIterationsPerFrame)
}

// An unbound is a layer before Bind, which has no schedule yet. Its Eval panics.
type unbound[P Params] struct {
	Base[P]
	dataflow.LayerSchedule
	last *atomic.Pointer[binding]
}

// A binding is a result of Bind, with the inputs that it is for.
type binding struct {
	in, out []dataflow.StreamType
	op      dataflow.Op
}

// Bind returns what Base.Bind does, and remembers the last layer for the case that the same inputs follow. Lowering
// asks first whether a layer accepts them, then for its outputs, and then for the layer.
func (u unbound[P]) Bind(in []dataflow.StreamType) (dataflow.Op, []dataflow.StreamType, error) {
	if last := u.last.Load(); last != nil && slices.EqualFunc(last.in, in, dataflow.StreamType.Equal) {
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

// ElementForChannel returns channel c's element of a list that has one element for all channels, or one per channel.
func ElementForChannel[T any](list []T, c int) T { return list[min(c, len(list)-1)] }

// WrapToType returns v reduced to the bits of t, as hardware keeps it: v may wrap around. Bipolar values stay as they
// are.
func WrapToType(t num.Type, v int64) int64 {
	if t.Kind == num.KindBipolar {
		return v
	}
	return t.DecodeBits(uint64(v))
}

// AllEqual reports whether all values of a list are equal; it is true for an empty list.
func AllEqual(list []int64) bool {
	return !slices.ContainsFunc(list, func(v int64) bool { return v != list[0] })
}

// AnyNeedsMultiplier reports whether a product with any of the values needs a multiplier: it is not -1, 0 or 1.
func AnyNeedsMultiplier(list []int64) bool {
	return slices.ContainsFunc(list, func(v int64) bool { return v < -1 || v > 1 })
}

// RowsOfChannelValues returns a list with one value per channel as the rows of a table, pe channels each.
func RowsOfChannelValues(list []int64, pe int) [][]int64 {
	return slices.Collect(slices.Chunk(list, pe))
}

// IsShiftFactor reports whether a product with m is only wiring and a choice of sign. That is so if m or -m is 0 or a
// power of two.
func IsShiftFactor(m int64) bool {
	m = max(m, -m) // the least int64 stays as it is, a power of two as well
	return m&(m-1) == 0
}

// RoundingCost returns the cost of incrementing a code of the given width. It is nothing if nothing is shifted or the
// mode rounds down.
func RoundingCost(shift int, mode num.Rounding, width int) cost.Resources {
	if shift > 0 && mode != num.RoundingFloor {
		return cost.AdderCost(width)
	}
	return cost.Resources{}
}

// ClippingCost returns the cost of limiting codes of the given width: a comparison and a choice for each end of limits
// that codes can exceed.
func ClippingCost(codes, limits num.Range, width int) (r cost.Resources) {
	if codes.Lo < limits.Lo {
		r = r.Plus(cost.LargerOfTwoCost(width))
	}
	if codes.Hi > limits.Hi {
		r = r.Plus(cost.LargerOfTwoCost(width))
	}
	return r
}
