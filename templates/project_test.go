package templates_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"hlsgen/boards"
	"hlsgen/hlslib/dwc"
	"hlsgen/hlslib/mvau"
	"hlsgen/hlslib/threshold"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
	"hlsgen/templates"
)

var zcu104 = dataflow.Target{Board: boards.Board{Name: "zcu104", Part: "xczu7ev-ffvc1156-2-e"}, ClockMHz: 200}

// A stage is a layer of a chain, its fold, and the ONNX tensor that it writes.
type stage struct {
	op     dataflow.Op
	fold   dataflow.Fold
	tensor string
}

// chain makes a design of layers in a row.
func chain(t testing.TB, name, input string, in dataflow.Type, stages ...stage) *dataflow.Design {
	t.Helper()
	var b dataflow.Builder
	d := &dataflow.Design{Target: zcu104}
	s := b.Input(input, in)
	for _, st := range stages {
		out, err := b.Add(st.op, []int{s}, []string{st.tensor}, []string{"/" + st.op.Kind()})
		if err != nil {
			t.Fatal(err)
		}
		s = out[0]
		d.Folds = append(d.Folds, st.fold)
	}
	b.Output(s)
	g, err := b.Graph()
	if err != nil {
		t.Fatal(err)
	}
	d.Model = &dataflow.Model{Name: name, Graph: g}
	for i := range g.Streams {
		d.Depth = append(d.Depth, 2+i)
	}
	return d
}

// vectors runs random frames through the graph.
func vectors(t testing.TB, d *dataflow.Design, frames int, seed uint64) templates.Vectors {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 1))
	var v templates.Vectors
	for range frames {
		var in []dataflow.Tensor
		for _, s := range d.Model.Graph.In {
			typ := d.Model.Graph.Streams[s].Type
			x := dataflow.Tensor{Shape: typ.Shape, Data: make([]int64, typ.Shape.Size())}
			for i := range x.Data {
				c := typ.Channel(i % typ.Shape.Channels())
				x.Data[i] = c.Lo + r.Int64N(c.Hi-c.Lo+1)
				if typ.Elem.Kind == num.Bipolar {
					x.Data[i] = 2*r.Int64N(2) - 1
				}
			}
			in = append(in, x)
		}
		all, err := d.Model.Graph.Eval(context.Background(), in)
		if err != nil {
			t.Fatal(err)
		}
		v.Frames = append(v.Frames, all)
	}
	return v
}

// matrix is mh x mw random weights of [lo,hi] without what skip names.
func matrix(r *rand.Rand, mh, mw int, lo, hi int64, skip ...int64) [][]int64 {
	m := make([][]int64, mh)
	for c := range m {
		for len(m[c]) < mw {
			if w := lo + r.Int64N(hi-lo+1); len(skip) == 0 || w != skip[0] {
				m[c] = append(m[c], w)
			}
		}
	}
	return m
}

func uintN(n int) num.Type { return num.Type{Kind: num.UInt, Width: n} }
func intN(n int) num.Type  { return num.Type{Kind: num.Int, Width: n} }

func tensorType(elem num.Type, shape ...int) dataflow.Type {
	return dataflow.Type{Shape: shape, Range: []num.Range{elem.Range()}, Elem: elem}
}

var sign = num.Step{At: []int64{0}, Value: []int64{-1, 1}}

// small is a network of every layer kind, with signed, unsigned and bipolar elements and per-channel thresholds.
func small(t testing.TB) *dataflow.Design {
	r := rand.New(rand.NewPCG(2, 3))
	steps := make([]num.Step, 12)
	for c := range steps {
		at := int64(c) - 6
		steps[c] = num.Step{At: []int64{at, at + 3, at + 10}, Value: []int64{0, 1, 2, 3}}
	}
	return chain(t, "small", "global_in", tensorType(intN(8), 2, 16),
		stage{threshold.New(threshold.Params{Steps: []num.Step{{At: []int64{-60, -10, 0, 70}, Value: []int64{-2, -1, 0, 1, 1}}}}), dataflow.Fold{PE: 4, SIMD: 1}, "/quant/Quant_output_0"},
		stage{dwc.New(dwc.Params{In: 4, Out: 8}), dataflow.Fold{PE: 1, SIMD: 1}, ""},
		stage{mvau.New(mvau.Params{Weights: matrix(r, 12, 16, -4, 3), Steps: steps}), dataflow.Fold{PE: 3, SIMD: 8, Memory: dataflow.BRAM, Compute: dataflow.LUT}, "/act/Quant_output_0"},
		stage{dwc.New(dwc.Params{In: 3, Out: 4}), dataflow.Fold{PE: 1, SIMD: 1}, ""},
		stage{mvau.New(mvau.Params{Weights: matrix(r, 6, 12, -1, 1, 0), Steps: []num.Step{sign}}), dataflow.Fold{PE: 2, SIMD: 4, Memory: dataflow.LUTRAM, Compute: dataflow.LUT}, "/sign/BipolarQuant_output_0"},
		stage{mvau.New(mvau.Params{Weights: matrix(r, 5, 6, -1, 1, 0)}), dataflow.Fold{PE: 5, SIMD: 2, Compute: dataflow.LUT}, "global_out"},
	)
}

// tfc is a network of the size of FINN's TFC: 784-64-64-64-10, one bit weights and activations.
func tfc(t testing.TB) *dataflow.Design {
	r := rand.New(rand.NewPCG(5, 6))
	fold := func(pe, simd int) dataflow.Fold {
		return dataflow.Fold{PE: pe, SIMD: simd, Compute: dataflow.LUT}
	}
	signs := func(n int, lo, hi int64) []num.Step {
		s := make([]num.Step, n)
		for i := range s {
			s[i] = num.Step{At: []int64{lo + r.Int64N(hi-lo)}, Value: []int64{-1, 1}}
		}
		return s
	}
	layer := func(mh, mw int, steps []num.Step) dataflow.Op {
		return mvau.New(mvau.Params{Weights: matrix(r, mh, mw, -1, 1, 0), Steps: steps})
	}
	return chain(t, "tfc-w1a1", "global_in", tensorType(uintN(8), 784),
		stage{threshold.New(threshold.Params{Steps: []num.Step{{At: []int64{128}, Value: []int64{-1, 1}}}}), dataflow.Fold{PE: 49, SIMD: 1}, "/inp/Quant"},
		stage{layer(64, 784, signs(64, -40, 40)), fold(16, 49), "/fc1"},
		stage{layer(64, 64, signs(64, -10, 10)), fold(8, 16), "/fc2"},
		stage{layer(64, 64, signs(64, -10, 10)), fold(8, 8), "/fc3"},
		stage{layer(10, 64, nil), fold(10, 8), "global_out"},
	)
}
