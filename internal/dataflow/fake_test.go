package dataflow

import (
	"encoding/json"
	"fmt"
	"iter"
	"slices"

	"hlsgen/internal/num"
)

// A fake is a small layer on channel vectors. It forks its input, sums its inputs, or scales its input, element by
// element. One iteration moves PE elements on every port.
type fake struct {
	kind   string
	params fakeParams
	in     []StreamType
	out    []StreamType
}

type fakeParams struct {
	By   int64 `json:"by"`   // the factor of Scale
	Ways int   `json:"ways"` // the inputs of Sum, or the outputs of Fork
}

var fakeKinds = []LayerKind{fakeKind("Scale"), fakeKind("Sum"), fakeKind("Fork")}

func fakeKind(name string) LayerKind {
	return LayerKind{Name: name, Doc: "for tests", Decode: func(b []byte) (Op, error) {
		var p fakeParams
		if err := json.Unmarshal(b, &p); err != nil {
			return nil, err
		}
		if p.Ways < 1 || p.Ways > 8 {
			return nil, fmt.Errorf("%d ways, want 1 to 8", p.Ways)
		}
		return fake{kind: name, params: p}, nil
	}}
}

func scale(by int64) fake { return fake{kind: "Scale", params: fakeParams{By: by, Ways: 1}} }
func sum(ways int) fake   { return fake{kind: "Sum", params: fakeParams{Ways: ways}} }
func fork(ways int) fake  { return fake{kind: "Fork", params: fakeParams{Ways: ways}} }

func (f fake) Kind() string { return f.kind }
func (f fake) Params() any  { return f.params }

func (f fake) Describe() LayerDescription { return LayerDescription{} }

func (f fake) Bind(in []StreamType) (Op, []StreamType, error) {
	wants := 1
	if f.kind == "Sum" {
		wants = f.params.Ways
	}
	if len(in) != wants {
		return nil, nil, fmt.Errorf("%d inputs, want %d", len(in), wants)
	}
	out := in[0]
	out.Range = slices.Clone(out.Range)
	switch f.kind {
	case "Scale":
		for c, r := range out.Range {
			p, ok := r.TimesConstant(f.params.By)
			if !ok {
				return nil, nil, fmt.Errorf("channel %d: the product leaves 64 bits", c)
			}
			out.Range[c] = p
		}
		out.Elem = num.NarrowestIntTypeFor(out.UnionOfRanges())
	case "Sum":
		total := in[0].UnionOfRanges()
		for _, t := range in[1:] {
			if !slices.Equal(t.Shape, out.Shape) {
				return nil, nil, fmt.Errorf("shapes %v and %v", out.Shape, t.Shape)
			}
			s, ok := total.Plus(t.UnionOfRanges())
			if !ok {
				return nil, nil, fmt.Errorf("the sum leaves 64 bits")
			}
			total = s
		}
		out.Range, out.Elem = []num.Range{total}, num.NarrowestIntTypeFor(total)
	}
	f.in, f.out = in, []StreamType{out}
	if f.kind == "Fork" {
		f.out = slices.Repeat(f.out, f.params.Ways)
	}
	return f, f.out, nil
}

func (f fake) Eval(in []Tensor) []Tensor {
	v := Tensor{Shape: in[0].Shape, Data: slices.Clone(in[0].Data)}
	switch f.kind {
	case "Scale":
		for i := range v.Data {
			v.Data[i] *= f.params.By
		}
	case "Sum":
		for _, t := range in[1:] {
			for i, x := range t.Data {
				v.Data[i] += x
			}
		}
	}
	return slices.Repeat([]Tensor{v}, len(f.out))
}

func (f fake) Folds() iter.Seq[Fold] {
	return func(yield func(Fold) bool) {
		c := f.in[0].Shape.ChannelCount()
		for pe := 1; pe <= c; pe++ {
			if c%pe == 0 && !yield(Fold{PE: pe, SIMD: 1}) {
				return
			}
		}
	}
}

func (f fake) Ports(fold Fold) (in, out []Port) {
	port := func(t StreamType) Port {
		return Port{Elem: t.Elem, PerWord: fold.PE, Words: t.Shape.ElementCount() / fold.PE}
	}
	for _, t := range f.in {
		in = append(in, port(t))
	}
	for _, t := range f.out {
		out = append(out, port(t))
	}
	return in, out
}

func (f fake) Loop(fold Fold, _ Target) Loop {
	s := f.in[0].Shape
	every := PortMoveIndices{{Kind: IndexSetKindEvery}, {Kind: IndexSetKindEvery}}
	return LoopNest{Trips: []int{s.VectorCount(), s.ChannelCount() / fold.PE}, Latency: 3,
		Read: slices.Repeat([]PortMoveIndices{every}, len(f.in)), Write: slices.Repeat([]PortMoveIndices{every},
			len(f.out))}.AsLoop()
}

func (f fake) Cost(fold Fold, _ Target) Cost {
	return Cost{{Name: "datapath", Resources: Resources{LUT: 10 * fold.PE, DSP: fold.PE}},
		{Name: "control", Resources: Resources{LUT: 5, FF: 7}}}
}

func (fake) Kernel(Fold, Target) Kernel       { panic("a fake has no kernel") }
func (fake) Emit(Fold, Target) KernelInstance { panic("a fake has no C++") }

// uint8s returns the type of a frame of unsigned bytes.
func uint8s(shape ...int) StreamType {
	return StreamType{Shape: shape, Range: []num.Range{{Lo: 0, Hi: 255}}, Elem: num.Type{Kind: num.KindUInt, Width: 8}}
}

// diamond returns the graph x -> Scale -> Fork -> (Scale, Scale) -> Sum.
func diamond() *Graph {
	var b GraphBuilder
	x := b.AddInput("x", uint8s(2, 4))
	add := func(op Op, in []int, names ...string) []int {
		out, err := b.BindAndAddLayer(op, in, names, []string{"/" + op.Kind()})
		if err != nil {
			panic(err)
		}
		return out
	}
	a := add(scale(-3), []int{x}, "a")
	two := add(fork(2), a, "a", "a")
	l := add(scale(2), two[:1], "left \"path\"")
	r := add(scale(5), two[1:], "right")
	y := add(sum(2), []int{l[0], r[0]}, "y")
	b.MarkOutput(y[0])
	g, err := b.VerifiedGraph()
	if err != nil {
		panic(err)
	}
	return g
}

// design folds every layer of g with PE 2 and gives every FIFO two words.
func design(g *Graph) *Design {
	return &Design{Model: &Model{Graph: g},
		Folds: slices.Repeat([]Fold{{PE: 2, SIMD: 1}}, len(g.Nodes)),
		FIFO:  slices.Repeat(NewShiftRegisterFIFOs(2), len(g.Streams))}
}
