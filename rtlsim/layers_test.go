package rtlsim

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"hlsgen/hlslib/dwc"
	"hlsgen/hlslib/mvau"
	"hlsgen/hlslib/threshold"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
	"hlsgen/internal/testsupport/onnxtest"
)

// randomPerceptron returns a network of real layers, with a converter wherever the words of two folds differ.
func randomPerceptron(t testing.TB, rng *rand.Rand) *dataflow.Design {
	var b dataflow.GraphBuilder
	var folds []dataflow.Fold
	width := 1 + rng.IntN(12)
	s := b.AddInput("x", dataflow.StreamType{Shape: dataflow.Shape{1 + rng.IntN(3), width}, Range: []num.Range{{Lo: -8,
		Hi: 7}},
		Elem: num.Type{Kind: num.KindInt, Width: 4}})
	add := func(op dataflow.Op, fold func([]dataflow.Fold) dataflow.Fold) {
		out, err := b.BindAndAddLayer(op, []int{s}, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		bound, _, err := op.Bind([]dataflow.StreamType{b.TypeOfStream(s)})
		if err != nil {
			t.Fatal(err)
		}
		var all []dataflow.Fold
		for f := range bound.Folds() {
			all = append(all, f)
		}
		folds, s = append(folds, fold(all)), out[0]
	}
	whichever := func(all []dataflow.Fold) dataflow.Fold { return all[rng.IntN(len(all))] }
	perWord := 0
	meet := func(wants int) {
		if perWord != 0 && perWord != wants {
			add(dwc.New(dwc.Params{In: perWord, Out: wants}), whichever)
		}
	}
	sign := []num.StepFunction{{At: []int64{-3, 0, 2}, Value: []int64{-1, 0, 1, 2}}}
	for range 1 + rng.IntN(4) {
		// The fold is drawn first, so that a converter can come before the layer.
		if pe := divisor(width, rng); rng.IntN(3) == 0 {
			meet(pe)
			add(threshold.New(threshold.Params{Steps: sign}), func(all []dataflow.Fold) dataflow.Fold {
				return pick(t, all, func(f dataflow.Fold) bool { return f.PE == pe })
			})
			perWord = pe
			continue
		}
		all := make([]int64, (1+rng.IntN(12))*width)
		for i := range all {
			all[i] = int64(rng.IntN(7) - 3)
		}
		w := slices.Collect(slices.Chunk(onnxtest.ZeroRandomRowsAndColumns(rng, all, width), width))
		simd, pe := divisor(width, rng), divisor(len(w), rng)
		meet(simd)
		add(mvau.New(mvau.Params{Weights: w, Steps: sign}), func(all []dataflow.Fold) dataflow.Fold {
			return pick(t, all, func(f dataflow.Fold) bool { return f.PE == pe && f.SIMD == simd })
		})
		width, perWord = len(w), pe
	}
	b.MarkOutput(s)
	g, err := b.VerifiedGraph()
	if err != nil {
		t.Fatal(err)
	}
	d := &dataflow.Design{Model: &dataflow.Model{Graph: g}, Folds: folds}
	for range g.Streams {
		d.FIFO = append(d.FIFO, dataflow.FIFO{Depth: 1 + rng.IntN(3), Memory: dataflow.MemorySRL})
	}
	return d
}

func divisor(n int, rng *rand.Rand) int {
	d := dataflow.Divisors(n)
	return d[rng.IntN(len(d))]
}

func pick(t testing.TB, all []dataflow.Fold, fits func(dataflow.Fold) bool) dataflow.Fold {
	for _, f := range all {
		if fits(f) {
			return f
		}
	}
	t.Fatalf("none of %v fits", all)
	return dataflow.Fold{}
}

// TestLayers checks chains of real layers. At any fold, depth and pace they compute the result of Eval and never
// deadlock, and without data they take the same clocks.
func TestLayers(t *testing.T) {
	t.Parallel()
	for seed := range uint64(150) {
		rng := rand.New(rand.NewPCG(seed, 7))
		d := randomPerceptron(t, rng)
		var frames [][]dataflow.Tensor
		for range 3 {
			x := dataflow.Tensor{Shape: d.Model.Graph.Streams[d.Model.Graph.In[0]].Type.Shape}
			for range x.Shape.ElementCount() {
				x.Data = append(x.Data, int64(rng.IntN(16)-8))
			}
			frames = append(frames, []dataflow.Tensor{x})
		}
		want := evaluateStreams(t, d, frames)
		for _, opt := range []Options{{}, {In: HostSlowdown{Stall: 50, Seed: seed}, Out: HostSlowdown{Stall: 50,
			Seed: seed +
				1}}} {
			var streams [][]dataflow.Tensor
			opt.OnTensor = kept(&streams, d)
			full := run(t, d, frames, opt)
			if err := CompareOutputs(streams, want); err != nil {
				t.Fatalf("seed %d: %v in\n%s", seed, err, d.Model.Graph)
			}
			opt.Frames = len(frames)
			bare := run(t, d, nil, opt)
			full.Outputs = nil
			if !reflect.DeepEqual(full, bare) {
				t.Fatalf("seed %d: with data %+v, without %+v", seed, full, bare)
			}
		}
		slowest, _ := d.BottleneckInterval()
		if got := run(t, d, nil, Options{Frames: 50}).IntervalClocks(); got < float64(slowest) {
			t.Errorf("seed %d: interval %v, the slowest layer needs %d", seed, got, slowest)
		}
	}
}
