package folding

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"hlsgen/boards"
	"hlsgen/hlslib/mvau"
	"hlsgen/hlslib/threshold"
	"hlsgen/hlslib/vvau"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/num"
	"hlsgen/rtlsim"
)

// stepped returns a network of fully connected layers, all but the last with step functions of the given number of
// steps for each channel.
func stepped(r *rand.Rand, steps int, sizes ...int) *dataflow.Model {
	var b dataflow.GraphBuilder
	s := b.AddInput("x", dataflow.StreamType{Shape: dataflow.Shape{sizes[0]}, Range: []num.Range{int8Type.Range()},
		Elem: int8Type})
	for i := range len(sizes) - 1 {
		p := mvau.Params{Weights: randomWeights(r, sizes[i+1], sizes[i], -8, 7)}
		for range sizes[i+1] {
			f := num.StepFunction{Value: []int64{0}}
			at := -int64(r.IntN(3000))
			for v := range int64(steps) {
				f.At, f.Value = append(f.At, at), append(f.Value, v+1)
				at += 1 + r.Int64N(200)
			}
			if i < len(sizes)-2 {
				p.Steps = append(p.Steps, f)
			}
		}
		s = must(b.BindAndAddLayer(mvau.New(p), []int{s}, nil, nil))[0]
	}
	b.MarkOutput(s)
	return &dataflow.Model{Name: "stepped", Graph: must(b.VerifiedGraph())}
}

// parted returns the names of the nodes of a design that are parts of a layer.
func parted(d *Design) (names []string) {
	for _, n := range d.Model.Graph.Nodes {
		if n.Whole != nil {
			names = append(names, n.Name)
		}
	}
	return names
}

// TestStages asks for few LUTs at a low rate, so that step functions become serial processes of their own. The design
// must have the rate, compute what the network does, and be the same from its folding file. With parallel step
// functions it must take more LUTs. If sums come too fast for a search, no step function is serial.
func TestStages(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(7, 14))
	m := stepped(r, 63, 64, 64, 64, 8)
	wanted := Goal{Interval: 64 * 64, Least: must(ParseResourceMeasure("lut"))}
	made, said := within(t, m, dataflow.UnrollLimits{}, wanted)
	if made == nil {
		t.Fatal(said)
	}
	want := []string{"MVAU_0_sums", "MVAU_0_steps", "MVAU_1_sums", "MVAU_1_steps"}
	if got := parted(made); !slices.Equal(got, want) {
		t.Fatalf("parts %v, want %v", got, want)
	}
	if err := made.Verify(); err != nil || made.Clocks.Interval > 64*64 {
		t.Errorf("%v; %v clocks per frame", err, made.Clocks.Interval)
	}
	var frames [][]dataflow.Tensor
	for range 3 {
		x := dataflow.Tensor{Shape: dataflow.Shape{64}}
		for range 64 {
			x.Data = append(x.Data, int64(r.IntN(256)-128))
		}
		frames = append(frames, []dataflow.Tensor{x})
	}
	trace := must(rtlsim.RunFrames(t.Context(), made.Design, frames, rtlsim.Options{}))
	for i, f := range frames {
		streams := must(m.Graph.EvalFirstFrameByStream(t.Context(), f))
		if got, want := trace.Outputs[i][0], streams[m.Graph.Out[0]]; !reflect.DeepEqual(got, want) {
			t.Errorf("frame %d: %v, want %v", i, got, want)
		}
	}
	for _, depths := range []bool{false, true} {
		again := wanted
		again.Fixed = file(t, string(FormatFoldingFile(made.Design, depths)))
		d, said := within(t, m, dataflow.UnrollLimits{}, again)
		if d == nil {
			t.Fatal(said)
		}
		if a, b := string(FormatFoldingFile(d.Design, true)), string(FormatFoldingFile(made.Design, true)); a != b {
			t.Errorf("with depths %v: %s, want %s", depths, a, b)
		}
	}
	wanted.Fixed = file(t, `{"Defaults": {"steps": ["parallel", "all"]}}`)
	d, said := within(t, m, dataflow.UnrollLimits{}, wanted)
	if d == nil {
		t.Fatal(said)
	}
	if len(parted(d)) > 0 || d.Estimate.Total.LUT <= made.Estimate.Total.LUT {
		t.Errorf("parallel: %v, %d LUTs; serial %d", parted(d), d.Estimate.Total.LUT, made.Estimate.Total.LUT)
	}
	if d, said := within(t, m, dataflow.UnrollLimits{}, Goal{Interval: 64}); d == nil || strings.Contains(
		strings.Join(parted(d), " "), "steps") {
		t.Errorf("a sum in every clock: %v %s", parted(d), said)
	}
}

// TestStagesLatency fixes folds with serial step functions, and checks that the latency of the search's paths is the
// simulated one, and that the interval is that of the sums.
func TestStagesLatency(t *testing.T) {
	t.Parallel()
	m := stepped(rand.New(rand.NewPCG(8, 14)), 15, 16, 12, 6)
	serial := 0
	for _, pe := range []int{1, 3, 12} {
		for _, simd := range []int{1, 2, 4} {
			fixed := file(t, fmt.Sprintf(`{"MVAU_0": {"PE": %d, "SIMD": %d, "ram_style": "block", "resType": "lut",
				"steps": "serial"}, "MVAU_1": {"PE": 6, "SIMD": 12}}`, pe, simd))
			d, said := within(t, m, dataflow.UnrollLimits{}, Goal{Fixed: fixed, Latency: true})
			if d == nil {
				if simd <= 2 {
					t.Errorf("PE %d, SIMD %d: %s", pe, simd, said)
				}
				continue
			}
			serial++
			if l := d.Certificate.Latency; l.Least != d.Clocks.Latency || l.Clocks != d.Clocks.Latency {
				t.Errorf("PE %d, SIMD %d: %d clocks, said to be %+v", pe, simd, d.Clocks.Latency, *l)
			}
			if want := float64(12 / pe * 16 / simd); d.Clocks.Interval != want {
				t.Errorf("PE %d, SIMD %d: %v clocks per frame, want %v", pe, simd, d.Clocks.Interval, want)
			}
		}
	}
	if serial != 6 {
		t.Errorf("%d folds are serial: sums come every 16 and 8 clocks, and a search takes 7", serial)
	}
}

// TestSums checks that a matrix layer without its step functions, followed by these, is the layer. A layer of bipolar
// factors, or of a single threshold, is not divided.
func TestSums(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(9, 14))
	steps := func(n, thresholds int) (list []num.StepFunction) {
		for range n {
			f := num.StepFunction{Value: []int64{-2}}
			at := -int64(r.IntN(90))
			for range thresholds {
				f.At, f.Value = append(f.At, at), append(f.Value, f.Value[len(f.Value)-1]+1+r.Int64N(2))
				at += 1 + r.Int64N(30)
			}
			list = append(list, f)
		}
		return list
	}
	in := func(elem num.Type, shape ...int) dataflow.StreamType {
		return dataflow.StreamType{Shape: shape, Range: []num.Range{elem.Range()}, Elem: elem}
	}
	uint4, bipolar := num.Type{Kind: num.KindUInt, Width: 4}, num.Type{Kind: num.KindBipolar, Width: 1}
	for _, tt := range []struct {
		name string
		op   dataflow.Op
		in   dataflow.StreamType
		ok   bool
	}{
		{"a matrix", mvau.New(mvau.Params{Weights: randomWeights(r, 6, 8, -8, 7), Steps: steps(6, 9)}), in(uint4, 3, 8),
			true},
		{"one function", mvau.New(mvau.Params{Weights: randomWeights(r, 6, 8, -8, 7), Steps: steps(1, 3)}),
			in(uint4, 3, 8), true},
		{"groups", mvau.New(mvau.Params{Weights: randomWeights(r, 6, 6, -8, 7), Steps: steps(6, 7), Groups: 2}),
			in(uint4, 3, 4), true},
		{"depthwise", vvau.New(vvau.Params{Weights: randomWeights(r, 5, 9, -8, 7), Steps: steps(5, 7)}),
			in(uint4, 4, 9, 5), true},
		{"one threshold", mvau.New(mvau.Params{Weights: randomWeights(r, 6, 8, -8, 7), Steps: []num.StepFunction{{
			At: []int64{3}, Value: []int64{0, 1}}}}),
			in(uint4, 8), false},
		{"bipolar", mvau.New(mvau.Params{Weights: [][]int64{{1, -1, -1}}, Steps: []num.StepFunction{{At: []int64{-1, 3},
			Value: []int64{0, 1, 2}}}}), in(bipolar, 3), false},
	} {
		whole, out, err := tt.op.Bind([]dataflow.StreamType{tt.in})
		if err != nil {
			t.Fatal(tt.name, err)
		}
		sums, mid, list, ok := whole.(dataflow.HasStepFunctions).Sums()
		if ok != tt.ok {
			t.Errorf("%s: parted %t", tt.name, ok)
		}
		if !ok {
			continue
		}
		behind, types, err := threshold.New(threshold.Params{Steps: list}).Bind([]dataflow.StreamType{mid})
		if err != nil || !types[0].Equal(out[0]) {
			t.Errorf("%s: %v, want %v; %v", tt.name, types, out, err)
			continue
		}
		x := dataflow.Tensor{Shape: tt.in.Shape}
		for range tt.in.Shape.ElementCount() {
			x.Data = append(x.Data, int64(r.IntN(16)))
		}
		frame := []dataflow.Tensor{x}
		if got, want := behind.Eval(sums.Eval(frame)), whole.Eval(frame); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, want %v", tt.name, got, want)
		}
	}
}

// TestDear checks that serial folds that take much block RAM for the LUTs that they save are left out, and that the
// certificate says so if they are fast enough to matter. A folding file can still ask for them.
func TestDear(t *testing.T) {
	t.Parallel()
	m := stepped(rand.New(rand.NewPCG(9, 14)), 7, 16, 12, 6)
	slow, said := within(t, m, dataflow.UnrollLimits{}, Goal{Interval: 16 * 12,
		Least: must(ParseResourceMeasure("lut"))})
	if slow == nil {
		t.Fatal(said)
	}
	c := slow.Certificate
	if c.Dear == 0 || len(parted(slow)) > 0 || !strings.Contains(c.BoundsConditionText(),
		"without serial step functions") ||
		!strings.Contains(strings.Join(c.DescribeInLines(), "\n"), fmt.Sprintf("%d folds with serial step functions",
			c.Dear)) {
		t.Errorf("%d left out, %v; %q, %q", c.Dear, parted(slow), c.BoundsConditionText(), c.DescribeInLines())
	}
	fast, said := within(t, m, dataflow.UnrollLimits{}, Goal{Interval: 1})
	if fast == nil {
		t.Fatal(said)
	}
	if fast.Certificate.Dear > 0 {
		t.Errorf("a frame a clock: %d left out", fast.Certificate.Dear)
	}
	fixed := file(t, `{"MVAU_0": {"PE": 1, "SIMD": 1, "ram_style": "block", "resType": "lut", "steps": "serial"}}`)
	if d, said := within(t, m, dataflow.UnrollLimits{}, Goal{Fixed: fixed}); d == nil || len(parted(d)) == 0 {
		t.Errorf("asked for: %s", said)
	}
}

// TestDearWhereNothingElseFits checks a budget of few LUTs that only a serial fold with much block RAM keeps: the
// design has that fold, and nothing counts as left out. If other folds fit, even slower ones, it is left out.
func TestDearWhereNothingElseFits(t *testing.T) {
	t.Parallel()
	m := stepped(rand.New(rand.NewPCG(9, 14)), 15, 16, 12, 6)
	target := dataflow.Target{Board: boards.Board{Name: "small", LUT: 400, LUTRAM: 200, FF: 10000, BRAM36: 3, DSP: 20},
		ClockMHz: 100, IO: dataflow.HostIOStream}
	asked := Goal{MaxUse: all(1), Interval: 16 * 12}
	for _, least := range []ResourceMeasure{ResourceMeasureLoad, ResourceMeasureLUT} {
		for _, over := range []bool{false, true} {
			wanted := asked
			wanted.Least, wanted.OverBudget = least, over
			d, told := designed(t, m, target, wanted)
			if d == nil {
				t.Fatalf("%v: %s", least, text(told))
			}
			c := &d.Certificate
			if !slices.Contains(parted(d), "MVAU_0_steps") || d.Over || c.Dear > 0 || c.ExcludedDesignsText() != "" ||
				len(told.Diags) > 0 {
				t.Errorf("%v: %v, over %t, %d left out; %s", least, parted(d), d.Over, c.Dear, text(told))
			}
		}
	}
	parallel := asked
	parallel.Fixed = file(t, `{"Defaults": {"steps": ["parallel", "all"]}}`)
	if d, told := designed(t, m, target, parallel); d != nil || !strings.Contains(text(told), "LUT; the budget") {
		t.Errorf("without serial folds: %s", text(told))
	}
	fastest, told := designed(t, m, target, Goal{MaxUse: all(1)})
	if fastest == nil {
		t.Fatal(text(told))
	}
	if c := &fastest.Certificate; c.Dear == 0 || c.ExcludedDesignsText() == "" || fastest.Clocks.Interval <= 16*12 {
		t.Errorf("the fastest: %v clocks, %d left out", fastest.Clocks.Interval, c.Dear)
	}

	var listed diag.List
	s := must(NewSpace(m, target, nil, FIFODepthPolicy{}, &listed))
	front, _, err := s.FindParetoFront(t.Context(), asked, 0, &listed, nil)
	if err != nil || len(front) == 0 || front[len(front)-1].Clocks.Interval > 16*12 {
		t.Errorf("a front of %d designs; %v", len(front), err)
	}
	for _, d := range front {
		b := must(s.ComputeDesignBounds(t.Context(), Goal{MaxUse: all(1), Interval: float64(int(d.Clocks.Interval))}))
		if b.Interval == 0 || b.Measure > d.Certificate.Bounds[0].Value {
			t.Errorf("%v clocks, %+v: nothing is said to go below %+v", d.Clocks.Interval, d.Certificate.Bounds[0], b)
		}
	}
}
