// Package dwc is the data width converter: it stands between two layers whose words hold different numbers of elements,
// and changes nothing but these words.
//
// Words of In elements become words of Out elements in the same order. The words line up every L = lcm(In, Out)
// elements; a frame holds F of these periods. The narrower end moves a word every clock:
//
//	for f < F: for i < L/min(In,Out): one clock
//
// or frame/min(In,Out) clocks. Elements keep the order in which they travel, so that both ends have the same Tile: a
// converter regroups words, it does not turn one order into another. Where In >= Out, iteration i writes word i and reads when it needs an element beyond
// those read so far; where In < Out, iteration i reads word i and writes when that completes a word.
package dwc

import (
	"encoding/json"
	"fmt"

	"hlsgen/internal/dataflow"
)

// Kind is the layer's name.
const Kind = "StreamingDataWidthConverter"

// Layer is the row of the table of layers.
var Layer = dataflow.Kind{
	Name:   Kind,
	Doc:    "words of one width into words of another, element by element",
	Decode: Decode,
}

// Params makes the layer.
type Params struct {
	In   int `json:"in"`             // elements in a word that is read
	Out  int `json:"out"`            // elements in a word that is written
	Tile int `json:"tile,omitempty"` // of both ports; 0 is row-major order
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
	if p.Tile < 0 {
		return fmt.Errorf("tiles of %d channels", p.Tile)
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
	if t := o.p.Tile; t > 0 && (in[0].Shape.Channels()%t != 0 || in[0].Shape.Tiled(t) == 0) {
		return nil, nil, fmt.Errorf("tiles of %d channels of a frame of shape %v, want a divisor of the channels of windows, other than all of them", t, in[0].Shape)
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
	return b, []dataflow.Type{in[0]}, nil
}

func lcm(a, b int) int { return a / gcd(a, b) * b }

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
