package templates_test

import (
	"bytes"
	"context"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"hlsgen/boards"
	"hlsgen/hlslib/add"
	"hlsgen/hlslib/dup"
	"hlsgen/hlslib/dwc"
	"hlsgen/hlslib/globalpool"
	"hlsgen/hlslib/mvau"
	"hlsgen/hlslib/pool"
	"hlsgen/hlslib/rnn"
	"hlsgen/hlslib/threshold"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
	"hlsgen/internal/testsupport/golden"
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
func chain(t testing.TB, name, input string, in dataflow.StreamType, stages ...stage) *dataflow.Design {
	t.Helper()
	var b dataflow.GraphBuilder
	d := &dataflow.Design{Target: zcu104}
	s := b.AddInput(input, in)
	for _, st := range stages {
		out, err := b.BindAndAddLayer(st.op, []int{s}, []string{st.tensor}, []string{"/" + st.op.Kind()})
		if err != nil {
			t.Fatal(err)
		}
		s = out[0]
		d.Folds = append(d.Folds, st.fold)
	}
	b.MarkOutput(s)
	g, err := b.VerifiedGraph()
	if err != nil {
		t.Fatal(err)
	}
	d.Model = &dataflow.Model{Name: name, Graph: g}
	for i := range g.Streams {
		d.FIFO = append(d.FIFO, dataflow.FIFO{Depth: 2 + i, Memory: dataflow.MemorySRL})
	}
	return d
}

// vectors runs random frames, which follow each other, through the graph.
func vectors(t testing.TB, d *dataflow.Design, frames int, seed uint64) templates.TestVectors {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 1))
	var v templates.TestVectors
	run := d.Model.Graph.BeginRun()
	for range frames {
		var in []dataflow.Tensor
		for _, s := range d.Model.Graph.In {
			typ := d.Model.Graph.Streams[s].Type
			x := dataflow.Tensor{Shape: typ.Shape, Data: make([]int64, typ.Shape.ElementCount())}
			for i := range x.Data {
				c := typ.ChannelRange(i % typ.Shape.ChannelCount())
				x.Data[i] = c.Lo + r.Int64N(c.Hi-c.Lo+1)
				if typ.Elem.Kind == num.KindBipolar {
					x.Data[i] = 2*r.Int64N(2) - 1
				}
			}
			in = append(in, x)
		}
		all, err := run.EvalNextFrameByStream(context.Background(), in)
		if err != nil {
			t.Fatal(err)
		}
		v.Frames = append(v.Frames, all)
	}
	return v
}

// matrix draws mh x mw weights of [lo,hi], without the values in skip.
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

func uintN(n int) num.Type { return num.Type{Kind: num.KindUInt, Width: n} }
func intN(n int) num.Type  { return num.Type{Kind: num.KindInt, Width: n} }

func tensorType(elem num.Type, shape ...int) dataflow.StreamType {
	return dataflow.StreamType{Shape: shape, Range: []num.Range{elem.Range()}, Elem: elem}
}

var sign = num.StepFunction{At: []int64{0}, Value: []int64{-1, 1}}

// keeping returns a design with a recurrence that keeps its state from frame to frame.
func keeping(t testing.TB) *dataflow.Design {
	clip := num.Requant{Multiplier: 1, Mode: num.RoundingFloor, Lo: -50, Hi: 60}
	ones := [][]int64{{1, 0, 0, 0}, {0, 1, 0, 0}, {1, -1, 1, 0}, {0, 0, 0, 1}}
	last := rnn.ValueRef{Value: 3}
	cell := rnn.Cell{States: []rnn.StateDefinition{{Next: last, Start: []int64{3, -5, 7, 9}}}, Phases: []rnn.CellPhase{{
		Units: 4, State: new(int), Dots: []rnn.CellMatrixProduct{{Weights: ones}}, Values: []rnn.CellOperation{
			{Op: rnn.OpInput}, {Op: rnn.OpDot}, {Op: rnn.OpLinear, Of: []int{0, 1}, Factors: [][]int64{{1}, {1}}},
			{Op: rnn.OpRequant, Of: []int{2}, Requant: &clip}}}}}
	return chain(t, "keeping", "global_in", tensorType(intN(3), 3, 4),
		stage{rnn.New(rnn.Params{Cells: []rnn.Cell{cell}, Outputs: []rnn.ValueRef{last}, Sequence: true, Keeps: true}),
			dataflow.Fold{PE: 2, SIMD: 4, Memory: dataflow.MemoryLUTRAM, Compute: dataflow.MultiplierInLUTs},
			"global_out"})
}

// small is a chain, with signed, unsigned and bipolar elements and per-channel thresholds.
func small(t testing.TB) *dataflow.Design {
	r := rand.New(rand.NewPCG(2, 3))
	steps := make([]num.StepFunction, 12)
	for c := range steps {
		at := int64(c) - 6
		steps[c] = num.StepFunction{At: []int64{at, at + 3, at + 10}, Value: []int64{0, 1, 2, 3}}
	}
	return chain(t, "small", "global_in", tensorType(intN(8), 2, 16),
		stage{threshold.New(threshold.Params{Steps: []num.StepFunction{{At: []int64{-60, -10, 0, 70},
			Value: []int64{-2, -1, 0, 1, 1}}}}),
			dataflow.Fold{PE: 4, SIMD: 1, Memory: dataflow.MemoryLUTRAM}, "/quant/Quant_output_0"},
		stage{dwc.New(dwc.Params{In: 4, Out: 8}), dataflow.Fold{PE: 1, SIMD: 1}, ""},
		stage{mvau.New(mvau.Params{Weights: matrix(r, 12, 16, -4, 3), Steps: steps}),
			dataflow.Fold{PE: 3, SIMD: 8, Memory: dataflow.MemoryBRAM, Compute: dataflow.MultiplierInLUTs},
			"/act/Quant_output_0"},
		stage{dwc.New(dwc.Params{In: 3, Out: 4}), dataflow.Fold{PE: 1, SIMD: 1}, ""},
		stage{mvau.New(mvau.Params{Weights: matrix(r, 6, 12, -1, 1, 0), Steps: []num.StepFunction{sign}}),
			dataflow.Fold{PE: 2, SIMD: 4, Memory: dataflow.MemoryLUTRAM, Compute: dataflow.MultiplierInLUTs},
			"/sign/BipolarQuant_output_0"},
		stage{mvau.New(mvau.Params{Weights: matrix(r, 5, 6, -1, 1, 0)}),
			dataflow.Fold{PE: 5, SIMD: 2, Compute: dataflow.MultiplierInLUTs}, "global_out"},
	)
}

// twins are two networks side by side: two inputs, two outputs.
func twins(t testing.TB) *dataflow.Design {
	var b dataflow.GraphBuilder
	d := &dataflow.Design{Target: zcu104}
	step := num.StepFunction{At: []int64{-9, 4}, Value: []int64{3, 9, -3}} // falls: deltas
	var out []int
	for i, in := range []dataflow.StreamType{tensorType(intN(5), 3, 4), tensorType(uintN(4), 6)} {
		pe := []int{2, 6}[i]
		s := b.AddInput([]string{"left", "right"}[i], in)
		o, err := b.BindAndAddLayer(threshold.New(threshold.Params{Steps: []num.StepFunction{step}}), []int{s},
			[]string{"y"}, nil)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, o...)
		d.Folds = append(d.Folds, dataflow.Fold{PE: pe, SIMD: 1, Memory: dataflow.MemoryLUTRAM})
	}
	for _, s := range out {
		b.MarkOutput(s)
	}
	g, err := b.VerifiedGraph()
	if err != nil {
		t.Fatal(err)
	}
	d.Model = &dataflow.Model{Name: "twins", Graph: g}
	d.FIFO = dataflow.NewShiftRegisterFIFOs(2, 2, 2, 2)
	return d
}

// forked is a network whose streams part and meet: windows, tile by tile, are pooled and then read three times; two of
// the branches join again.
func forked(t testing.TB) *dataflow.Design {
	var b dataflow.GraphBuilder
	d := &dataflow.Design{Target: zcu104}
	layer := func(op dataflow.Op, f dataflow.Fold, in ...int) []int {
		out, err := b.BindAndAddLayer(op, in, nil, []string{"/" + op.Kind()})
		if err != nil {
			t.Fatal(err)
		}
		d.Folds = append(d.Folds, f)
		return out
	}
	by3 := dataflow.Fold{PE: 3, SIMD: 1}
	steps := make([]num.StepFunction, 6)
	for c := range steps {
		at := int64(c) * 5
		// falls: deltas
		steps[c] = num.StepFunction{At: []int64{at - 20, at, at + 20}, Value: []int64{int64(c), 3, -1, 9}}
	}
	windows := b.AddInput("windows", tensorType(uintN(4), 2, 3, 4, 6))
	pooled := layer(pool.New(pool.Params{Op: pool.PoolingMax}), dataflow.Fold{PE: 3, SIMD: 2}, windows)
	copies := layer(dup.New(dup.Params{Copies: 3}), by3, pooled[0])
	signs := layer(threshold.New(threshold.Params{Steps: []num.StepFunction{{At: []int64{7}, Value: []int64{-1, 1}}}}),
		dataflow.Fold{PE: 3, SIMD: 1, Memory: dataflow.MemoryLUTRAM}, copies[0])
	scaled := add.Params{Factors: [2][]int64{{-9, 4, 3, 0, 1, 17}, {2}}, Steps: steps}
	joined := layer(add.New(scaled), dataflow.Fold{PE: 3, SIMD: 1, Memory: dataflow.MemoryBRAM,
		Compute: dataflow.MultiplierInDSPs},
		signs[0], copies[1])
	mean := layer(globalpool.New(globalpool.Params{Op: globalpool.PoolingSum}), by3, copies[2])
	b.MarkOutput(joined[0])
	b.MarkOutput(mean[0])
	g, err := b.VerifiedGraph()
	if err != nil {
		t.Fatal(err)
	}
	d.Model = &dataflow.Model{Name: "forked", Graph: g}
	for range g.Streams {
		d.FIFO = append(d.FIFO, dataflow.FIFO{Depth: 2, Memory: dataflow.MemorySRL})
	}
	if err := d.Verify(); err != nil {
		t.Fatal(err)
	}
	return d
}

// tfc is a network of the size of FINN's TFC: 784-64-64-64-10, one bit weights and activations.
func tfc(t testing.TB) *dataflow.Design {
	r := rand.New(rand.NewPCG(5, 6))
	fold := func(pe, simd int) dataflow.Fold {
		return dataflow.Fold{PE: pe, SIMD: simd, Compute: dataflow.MultiplierInLUTs}
	}
	signs := func(n int, lo, hi int64) []num.StepFunction {
		s := make([]num.StepFunction, n)
		for i := range s {
			s[i] = num.StepFunction{At: []int64{lo + r.Int64N(hi-lo)}, Value: []int64{-1, 1}}
		}
		return s
	}
	layer := func(mh, mw int, steps []num.StepFunction) dataflow.Op {
		return mvau.New(mvau.Params{Weights: matrix(r, mh, mw, -1, 1, 0), Steps: steps})
	}
	return chain(t, "tfc-w1a1", "global_in", tensorType(uintN(8), 784),
		stage{threshold.New(threshold.Params{Steps: []num.StepFunction{{At: []int64{128}, Value: []int64{-1, 1}}}}),
			dataflow.Fold{PE: 49, SIMD: 1, Memory: dataflow.MemoryLUTRAM}, "/inp/Quant"},
		stage{layer(64, 784, signs(64, -40, 40)), fold(16, 49), "/fc1"},
		stage{layer(64, 64, signs(64, -10, 10)), fold(8, 16), "/fc2"},
		stage{layer(64, 64, signs(64, -10, 10)), fold(8, 8), "/fc3"},
		stage{layer(10, 64, nil), fold(10, 8), "global_out"},
	)
}

// TestGolden compares the files of a small project that look hand-written with golden files that people have read.
func TestGolden(t *testing.T) {
	t.Parallel()
	c := golden.Dir(t, "testdata").Case(t, "small")
	files, _ := project(t, small(t), 1)
	for _, f := range files {
		switch {
		case strings.HasPrefix(f.Path, "hls/include/"), strings.HasPrefix(f.Path, "hls/csim/"):
		default:
			c.Want(f.Path, f.Data)
		}
	}
}

// TestDeterministic checks that the same design gives the same bytes, sorted by path, without any path of this machine.
func TestDeterministic(t *testing.T) {
	t.Parallel()
	a, _ := project(t, twins(t), 2)
	b, _ := project(t, twins(t), 2)
	if !reflect.DeepEqual(a, b) {
		t.Error("two runs differ")
	}
	if !slices.IsSortedFunc(a, func(x, y templates.GeneratedFile) int { return strings.Compare(x.Path, y.Path) }) {
		t.Error("not sorted")
	}
	for _, f := range a {
		if !bytes.Equal(a.ContentsOf(f.Path), f.Data) {
			t.Errorf("Get(%s)", f.Path)
		}
	}
	if a.ContentsOf("hls/nothing") != nil {
		t.Error("a file that does not exist")
	}
}

// TestForeignNames checks that names from a model stay inside comments.
func TestForeignNames(t *testing.T) {
	t.Parallel()
	evil := "x*/ \\\n#error\r\u2028{{ v.Top }}{% now %}??/"
	d := chain(t, evil, evil, tensorType(intN(3), 4),
		stage{threshold.New(threshold.Params{Steps: []num.StepFunction{sign}}),
			dataflow.Fold{PE: 1, SIMD: 1, Memory: dataflow.MemoryLUTRAM}, evil})
	d.Model.Graph.Nodes[0].Origin = []string{evil, "/b"}
	files, _ := project(t, d, 1) // which lints
	for path, want := range map[string]string{
		"hls/top.cpp":                   "hls::stream<ap_uint<3>> s0(\"s0\"); // x* / | #error ?{{ v.Top }}{% now %}? ?/\n",
		"hls/layers/Thresholding_0.hpp": "// Thresholding_0: x* / | #error ?{{ v.Top }}{% now %}? ?/, /b\n",
		"hls/top.hpp":                   "void x_error_v_Top_now_top(",
	} {
		if !strings.Contains(string(files.ContentsOf(path)), want) {
			t.Errorf("%s lacks %q:\n%s", path, want, files.ContentsOf(path))
		}
	}
}

func TestInterface(t *testing.T) {
	t.Parallel()
	got, err := templates.IPInterfaceOf(small(t), templates.Options{Top: "mine"})
	want := templates.IPInterface{
		Top: "mine",
		In: []templates.AXIStreamPort{{Name: "s_axis_0", Stream: 0, Port: dataflow.Port{Elem: intN(8), PerWord: 4,
			Words: 8},
			TDATA: 32}},
		Out: []templates.AXIStreamPort{{Name: "m_axis_0", Stream: 6, Port: dataflow.Port{Elem: intN(4), PerWord: 5,
			Words: 2},
			TDATA: 24}},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v", got, err)
	}
}

// TestScratch checks that the Makefile writes only into the folders that CleanedProjectFolders names.
func TestScratch(t *testing.T) {
	t.Parallel()
	files, _ := project(t, small(t), 0)
	text := string(files.ContentsOf("hls/Makefile"))
	var names []string
	for _, path := range templates.CleanedProjectFolders {
		if name, ok := strings.CutPrefix(path, "hls/"); ok {
			names = append(names, name)
		}
	}
	want := "BUILD       ?= $(if $(filter csim,$(HLS_INCLUDE))," + strings.Join(names, ",") + ")\n"
	if !strings.Contains(text, want) || !strings.Contains(text, "clean:\n\trm -rf $(BUILD)\n") {
		t.Errorf("the Makefile has no %s", want)
	}
}

// TestNoFrames checks that a project without recordings is complete except for these.
func TestNoFrames(t *testing.T) {
	t.Parallel()
	files, _ := project(t, small(t), 0)
	if string(files.ContentsOf("hls/tb/data/frames.txt")) != "0\n" || files.ContentsOf("hls/tb/data/s0.dat") == nil ||
		files.ContentsOf("hls/top.cpp") == nil {
		t.Error("files are missing")
	}
}

// TestProjectErrors checks that a project that cannot be generated is an error with the reason.
func TestProjectErrors(t *testing.T) {
	t.Parallel()
	for want, breakIt := range map[string]func(*dataflow.Design, *templates.TestVectors, *templates.Options){
		"the design lacks folds or FIFOs": func(d *dataflow.Design, _ *templates.TestVectors,
			_ *templates.Options) {
			d.FIFO = d.FIFO[1:]
		},
		"stream s2 has depth 0": func(d *dataflow.Design, _ *templates.TestVectors,
			_ *templates.Options) {
			d.FIFO[2].Depth = 0
		},
		"top function \"a-b\" is not a C++ name": func(_ *dataflow.Design, _ *templates.TestVectors,
			o *templates.Options) {
			o.Top = "a-b"
		},
		"part \"x; exec\" has characters other than letters": func(d *dataflow.Design, _ *templates.TestVectors,
			_ *templates.Options) {
			d.Target.Board.Part = "x; exec"
		},
		"a clock of 0 MHz": func(d *dataflow.Design, _ *templates.TestVectors,
			_ *templates.Options) {
			d.Target.ClockMHz = 0
		},
		"layer MVAU 0: \"MVAU 0\" is not a C++ name": func(d *dataflow.Design, _ *templates.TestVectors,
			_ *templates.Options) {
			d.Model.Graph.Nodes[2].Name = "MVAU 0"
		},
		"two layers are called MVAU_1": func(d *dataflow.Design, _ *templates.TestVectors, _ *templates.Options) {
			d.Model.Graph.Nodes[2].Name = "MVAU_1"
		},
		"frame 0 has 6 of 7 streams": func(_ *dataflow.Design, v *templates.TestVectors,
			_ *templates.Options) {
			v.Frames[0] = v.Frames[0][1:]
		},
		"stream s1: frame 0 has 0 elements, the stream carries": func(_ *dataflow.Design, v *templates.TestVectors,
			_ *templates.Options) {
			v.Frames[0][1].Data = nil
		},
		"stream s0: frame 0, word 0: element 0 is 128, which INT8 does not hold": func(_ *dataflow.Design,
			v *templates.TestVectors, _ *templates.Options) {
			v.Frames[0][0].Data[0] = 128
		},
		"stream s1: StreamingDataWidthConverter_0 has 8 words of 4 INT2, the other end 16 words of 2 INT2": func(
			d *dataflow.Design, _ *templates.TestVectors, _ *templates.Options) {
			d.Folds[0].PE = 2
		},
	} {
		d, opt := small(t), templates.Options{}
		v := vectors(t, d, 1, 1)
		breakIt(d, &v, &opt)
		if _, err := templates.GenerateHLSProject(d, v, opt); err == nil ||
			!strings.HasPrefix(err.Error(), "generate C++: "+want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
