// Package dwc is the data width converter: it connects two layers whose words hold different numbers of elements, and
// changes nothing but the words.
//
// It converts words of In elements to words of Out elements in the same order. The words of both ends align every L =
// lcm(In, Out) elements; a frame has F such periods. The narrower end moves a word in every clock:
//
//	for f < F: for i < L/min(In,Out): one clock
//
// or frame/min(In,Out) clocks. Elements keep their order, so both ends have the same Tile. If In >= Out, iteration i
// writes word i, and reads when it needs an element beyond those read so far. If In < Out, iteration i reads word i,
// and writes when that completes a word.
package dwc

import (
	"bytes"
	"fmt"
	"math/bits"

	"hlsgen/hlslib/layer"
	"hlsgen/internal/dataflow"
)

// KindName is the name of this kind of layer. Folding inserts such layers where the words of two layers differ.
const KindName = "StreamingDataWidthConverter"

// LayerKind describes the width converter in the table of layers, hlslib.LayerKinds. New returns a layer of this kind
// with the given parameters, not yet bound to its inputs.
var LayerKind, New = layer.DefineKind(layer.KindDefinition[Params]{
	Name:    KindName,
	Doc:     "words of one width into words of another, element by element",
	Example: `{"in":1,"out":2}`,
	Stepped: true,
	Bind:    bind,
})

// Params are the parameters of the width converter: the numbers of elements in the words of both ends.
type Params struct {
	In   int `json:"in"`             // elements per input word
	Out  int `json:"out"`            // elements per output word
	Tile int `json:"tile,omitempty"` // of both ports; 0 means row-major order
}

// Verify reports what is wrong with the parameters, whatever the inputs are.
func (p Params) Verify() error {
	if p.In < 1 || p.Out < 1 || p.In > dataflow.MaxWordBits || p.Out > dataflow.MaxWordBits {
		return fmt.Errorf("words of %d into words of %d elements, want 1 to %d", p.In, p.Out, dataflow.MaxWordBits)
	}
	if p.Tile < 0 {
		return fmt.Errorf("tiles of %d channels", p.Tile)
	}
	return nil
}

// buffer returns the number of elements that the layer must hold. If one width divides the other, it is the wider word.
// Otherwise it is an input word behind the largest rest that is less than an output word.
func (p Params) buffer() int {
	n := max(p.In, p.Out)
	if n%min(p.In, p.Out) != 0 {
		n = p.In + p.Out - dataflow.GCD(p.In, p.Out)
	}
	return n
}

type op struct {
	layer.Base[Params]
	typ     dataflow.StreamType
	periods int // F
	trips   int // L/min(In,Out)
}

// bind returns the layer for one input, and its output of the same type. It returns an error unless a frame is whole
// words of both widths. It also returns one if words or the buffer have too many bits, or if Params.Tile does not fit
// the input.
func bind(b layer.Base[Params], in []dataflow.StreamType) (dataflow.Op, []dataflow.StreamType, error) {
	p, shape := b.P, in[0].Shape
	if t := p.Tile; t > 0 && (shape.ChannelCount()%t != 0 || shape.PortTileFor(t) == 0) {
		return nil, nil, fmt.Errorf("tiles of %d channels of a frame of shape %v, want a divisor of the channels of "+
			"windows, other than all of them", t, shape)
	}
	size, period := shape.ElementCount(), p.In/dataflow.GCD(p.In, p.Out)*p.Out
	if size%period != 0 {
		return nil, nil, fmt.Errorf("a frame of shape %v has %d elements, want whole words of %d and of %d", shape,
			size, p.In, p.Out)
	}
	for _, x := range []struct {
		what     string
		elements int
	}{{"word", max(p.In, p.Out)}, {"buffer", p.buffer()}} {
		if w := x.elements * in[0].Elem.Width; w > dataflow.MaxWordBits {
			return nil, nil, fmt.Errorf("a %s of %d bits, at most %d are possible", x.what, w, dataflow.MaxWordBits)
		}
	}
	return &op{b, in[0], size / period, period / min(p.In, p.Out)}, in[:1:1], nil
}

// Describe returns the facts of the layer.
func (o *op) Describe() dataflow.LayerDescription {
	d := o.Base.Describe()
	d.Computation = o.computation
	return d
}

// computation describes Eval as data, which compiled engines execute.
func (o *op) computation() dataflow.Computation {
	return dataflow.GatherComputation{Run: o.typ.Shape.ElementCount(), At: func(_, r int) (int, int) { return 0, r }}
}

func (o *op) Eval(in []dataflow.Tensor) []dataflow.Tensor {
	return []dataflow.Tensor{in[0]}
}

// Folds yields the only fold, because the parameters already determine the words of both ends.
func (o *op) Folds() dataflow.FoldIterator { return layer.FoldChoices{}.AllFolds() }

func (o *op) Ports(dataflow.Fold) (in, out []dataflow.Port) {
	port := func(n int) []dataflow.Port {
		p := o.typ.RowMajorPort(n)
		p.Tile = o.P.Tile
		return []dataflow.Port{p}
	}
	return port(o.P.In), port(o.P.Out)
}

// Loop returns the loop, in whose iterations the narrower end always moves a word. In HLS its latency is that of a word
// that is read if there is room, appended to the buffer, and written. In RTL it is the circuit's.
func (o *op) Loop(f dataflow.Fold, t dataflow.Target) dataflow.Loop {
	c := layer.NewIterationChain(t)
	c.DoConditionalStreamRead()
	if !o.divides() {
		for range bits.Len(uint(o.trips)) { // shifts a word behind the rest in the buffer
			c.DoSelect(1)
		}
	}
	c.DoSelect(1)
	each := dataflow.IndexSet{Kind: dataflow.IndexSetKindEvery}
	l := dataflow.LoopNest{
		Trips:   []int{o.periods, o.trips},
		Read:    []dataflow.PortMoveIndices{{each, each}},
		Write:   []dataflow.PortMoveIndices{{each, each}},
		Latency: c.DoStreamWrite(),
	}
	ceil := func(a, b int) int { return (a + b - 1) / b }
	switch in, out := o.P.In, o.P.Out; {
	case in > out:
		l.Read[0][1] = o.moves(func(i int) bool { return ceil(out*(i+1), in) > ceil(out*i, in) })
	case in < out:
		l.Write[0][1] = o.moves(func(i int) bool { return in*(i+1)/out > in*i/out })
	}
	return layer.LoopWithBackEndLatency(o, f, t, l.AsLoop())
}

// divides reports whether one of the two widths divides the other.
func (o *op) divides() bool { return o.P.In%o.P.Out == 0 || o.P.Out%o.P.In == 0 }

// moves returns the set of those iterations i of a period, counted from 0, for which f(i) is true.
func (o *op) moves(f func(i int) bool) dataflow.IndexSet {
	pattern := bytes.Repeat([]byte{'0'}, o.trips)
	for i := range pattern {
		if f(i) {
			pattern[i] = '1'
		}
	}
	return dataflow.IndexSet{Kind: dataflow.IndexSetKindPattern, Pattern: string(pattern)}
}

// kernel holds the elements between the two ends, oldest first. It reads a word when it holds less than an output word,
// which is always so if words get wider.
type kernel struct {
	out    int
	buffer []int64
	gone   int // elements at the start of buffer that have been written
	words  [1]dataflow.Word
}

func (o *op) Kernel(dataflow.Fold, dataflow.Target) dataflow.Kernel { return &kernel{out: o.P.Out} }

func (k *kernel) Step(_ int, in []dataflow.Word) []dataflow.Word {
	if len(k.buffer)-k.gone < k.out {
		rest := copy(k.buffer, k.buffer[k.gone:])
		k.buffer, k.gone = append(k.buffer[:rest], in[0]...), 0
	}
	if k.words[0] = nil; len(k.buffer)-k.gone >= k.out {
		k.words[0] = k.buffer[k.gone:][:k.out]
		k.gone += k.out
	}
	return k.words[:]
}

func (o *op) Emit(dataflow.Fold, dataflow.Target) dataflow.KernelInstance {
	return dataflow.KernelInstance{
		Header:  "dwc.hpp",
		Func:    "dwc",
		Streams: []string{"in_width", "out_width"},
		Config: []dataflow.ConfigField{
			{Name: "buffer_width", Doc: "bits kept between the ends", Value: o.P.buffer() * o.typ.Elem.Width},
		},
	}
}
