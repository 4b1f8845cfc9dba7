// Package dwc is the data width converter: it stands between two layers whose words hold different numbers of elements,
// and changes nothing but these words.
//
// Words of In elements become words of Out elements in the same order. The words line up every L = lcm(In, Out)
// elements; a frame holds F of these periods. The narrower end moves a word every clock:
//
//	for f < F: for i < L/min(In,Out): one clock
//
// or frame/min(In,Out) clocks. Where In >= Out, iteration i writes word i and reads when it needs an element beyond
// those read so far; where In < Out, iteration i reads word i and writes when that completes a word.
package dwc

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"

	"hlsgen/internal/cost"
	"hlsgen/internal/dataflow"
)

// Kind is the layer's name.
const Kind = "StreamingDataWidthConverter"

// Doc says in one line what the layer does.
const Doc = "words of one width into words of another, element by element"

// Params makes the layer.
type Params struct {
	In  int `json:"in"`  // elements in a word that is read
	Out int `json:"out"` // elements in a word that is written
}

type op struct {
	p       Params
	typ     dataflow.Type // set by Bind
	periods int           // F
	trips   int           // L/min(In,Out)
}

// New makes the layer. What is wrong with p is Bind's to say.
func New(p Params) dataflow.Op { return &op{p: p} }

// Decode makes the layer from the JSON of its Params.
func Decode(params []byte) (dataflow.Op, error) {
	var p Params
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, err
	}
	if err := p.verify(); err != nil {
		return nil, err
	}
	return New(p), nil
}

func (p Params) verify() error {
	if p.In < 1 || p.Out < 1 || p.In > dataflow.MaxWord || p.Out > dataflow.MaxWord {
		return fmt.Errorf("words of %d into words of %d elements, want 1 to %d", p.In, p.Out, dataflow.MaxWord)
	}
	return nil
}

func (o *op) Kind() string { return Kind }

func (o *op) Params() any { return o.p }

// Bind takes one input whose frame is a whole number of periods; the output is of the same type.
func (o *op) Bind(in []dataflow.Type) (dataflow.Op, []dataflow.Type, error) {
	if err := o.p.verify(); err != nil {
		return nil, nil, err
	}
	if len(in) != 1 {
		return nil, nil, fmt.Errorf("%d inputs, want 1", len(in))
	}
	b := &op{p: o.p, typ: in[0]}
	size, period := in[0].Shape.Size(), lcm(o.p.In, o.p.Out)
	if size%period != 0 {
		return nil, nil, fmt.Errorf("a frame of shape %v has %d elements, want whole words of %d and of %d", in[0].Shape, size, o.p.In, o.p.Out)
	}
	b.periods, b.trips = size/period, period/min(o.p.In, o.p.Out)
	if w := max(o.p.In, o.p.Out) * in[0].Elem.Width; w > dataflow.MaxWord {
		return nil, nil, fmt.Errorf("a word of %d bits, at most %d are possible", w, dataflow.MaxWord)
	}
	if w := b.bufferBits(); w > dataflow.MaxWord {
		return nil, nil, fmt.Errorf("a buffer of %d bits, at most %d are possible", w, dataflow.MaxWord)
	}
	return b, in, nil
}

func (o *op) Eval(in []dataflow.Tensor) []dataflow.Tensor {
	y := dataflow.Tensor{Shape: in[0].Shape, Data: append([]int64(nil), in[0].Data...)}
	return []dataflow.Tensor{y}
}

// Folds yields one fold: there is no freedom.
func (o *op) Folds() iter.Seq[dataflow.Fold] {
	return func(yield func(dataflow.Fold) bool) { yield(dataflow.Fold{PE: 1, SIMD: 1}) }
}

func (o *op) Ports(dataflow.Fold) (in, out []dataflow.Port) {
	n := o.typ.Shape.Size()
	return []dataflow.Port{{Elem: o.typ.Elem, PerWord: o.p.In, Words: n / o.p.In}},
		[]dataflow.Port{{Elem: o.typ.Elem, PerWord: o.p.Out, Words: n / o.p.Out}}
}

func (o *op) Loop(dataflow.Fold, dataflow.Target) dataflow.Loop {
	each := dataflow.Index{Kind: dataflow.Each}
	l := dataflow.Loop{
		Trips:   []int{o.periods, o.trips},
		Read:    []dataflow.Access{{each, each}},
		Write:   []dataflow.Access{{each, each}},
		Latency: 1,
	}
	switch in, out := o.p.In, o.p.Out; {
	case in > out:
		l.Read[0][1] = o.moves(func(i int) bool { return ceil(out*(i+1), in) > ceil(out*i, in) })
	case in < out:
		l.Write[0][1] = o.moves(func(i int) bool { return in*(i+1)/out > in*i/out })
	}
	return l
}

// moves spells a set of inner iterations.
func (o *op) moves(f func(i int) bool) dataflow.Index {
	pattern := bytes.Repeat([]byte{'0'}, o.trips)
	for i := range pattern {
		if f(i) {
			pattern[i] = '1'
		}
	}
	return dataflow.Index{Kind: dataflow.At, Pattern: string(pattern)}
}

// Cost is FINN's estimate.
func (o *op) Cost(dataflow.Fold, dataflow.Target) dataflow.Cost {
	var c dataflow.Cost
	for _, p := range cost.WidthConverterFINN(o.p.In*o.typ.Elem.Width, o.p.Out*o.typ.Elem.Width) {
		c = append(c, dataflow.Part{Name: p.Name, Resources: dataflow.Resources(p.Resources)})
	}
	return c
}

func (o *op) Emit(dataflow.Fold, dataflow.Target) dataflow.Instance {
	return dataflow.Instance{
		Header: "dwc.hpp",
		Func:   "dwc",
		Config: []dataflow.Field{
			{Name: "iterations", Doc: "words of the narrower end in a frame", Value: o.periods * o.trips},
			{Name: "buffer_width", Doc: "bits kept between the ends", Value: o.bufferBits()},
		},
	}
}

// bufferBits is what the buffer must hold. Where one end's words are a multiple of the other's it is the wider word;
// otherwise what may be left over, less than the word that makes room, and the word that comes on top of it.
func (o *op) bufferBits() int {
	n := max(o.p.In, o.p.Out)
	if n%min(o.p.In, o.p.Out) != 0 {
		n = o.p.In + o.p.Out - gcd(o.p.In, o.p.Out)
	}
	return n * o.typ.Elem.Width
}

func lcm(a, b int) int { return a / gcd(a, b) * b }

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

func ceil(a, b int) int { return (a + b - 1) / b }
