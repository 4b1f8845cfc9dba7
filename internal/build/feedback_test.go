package build

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hlsgen/frontend"
	"hlsgen/frontend/graph"
	"hlsgen/internal/diag"
	"hlsgen/internal/engines"
	"hlsgen/internal/npy"
	"hlsgen/internal/options"
	"hlsgen/internal/simulate"
	"hlsgen/internal/testsupport/onnxtest"
	"hlsgen/internal/testsupport/samplefiles"
	"hlsgen/internal/testsupport/simtest"
	"hlsgen/internal/testsupport/tier"
)

// stepwise is a network of an LSTM that takes two steps at a time: its states arrive on one input, side by side, and go
// out on one output. Swapped ones go out the other way round.
func stepwise(swapped bool) []byte {
	r := rand.New(rand.NewPCG(11, 3))
	m := onnxtest.New(14).Input("x", graph.DTypeFloat32, 2, 1, 3).Input("state", graph.DTypeFloat32, 2, 1, 4)
	m.Output("y", graph.DTypeFloat32, 1, 2).Output("stateN", graph.DTypeFloat32, 2, 1, 4)
	weights := func(name string, reach float64, shape ...int) string {
		list := make([]float64, graph.ElementCount(shape))
		for i := range list {
			list[i] = float64(float32(reach * r.NormFloat64()))
		}
		m.Init(name, graph.DTypeFloat32, shape, list...)
		return name
	}
	m.Init("0", graph.DTypeInt64, []int{1}, 0).Init("1", graph.DTypeInt64, []int{1}, 1).Init("last", graph.DTypeInt64,
		nil, -1)
	m.Node("Gather", "state", "0").Int("axis", 0).Out("h")
	m.Node("Gather", "state", "1").Int("axis", 0).Out("c")
	m.Node("LSTM", "x", weights("W", 0.6, 1, 16, 3), weights("R", 0.4, 1, 16, 4), weights("B", 0.3, 1, 32), "", "h",
		"c").Int("hidden_size", 4).Name("cell").Out("Y", "Yh", "Yc")
	ends := []string{"Yh", "Yc"}
	if swapped {
		slices.Reverse(ends)
	}
	m.Node("Concat", ends...).Int("axis", 0).Out("stateN")
	m.Node("Squeeze", "Yh", "0").Out("vector")
	m.Node("MatMul", "vector", weights("V", 0.6, 4, 2)).Out("y")
	return m.Bytes()
}

// pieces draws samples of a network of steps.
func pieces(n int) *npy.Array {
	r := rand.New(rand.NewPCG(5, 8))
	a := &npy.Array{DType: "float32", Shape: []int{n, 2, 1, 3}}
	for range n * 6 {
		a.Data = append(a.Data, float64(float32(r.NormFloat64())))
	}
	return a
}

// TestFeedback holds what --state means: samples follow each other; all engines give the same; a state that goes out
// and comes in again changes nothing; and the device that keeps it gives what the host gives that carries it.
func TestFeedback(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	state := []frontend.StateFeedback{{Input: "state", Output: "stateN"}}
	dir := t.TempDir()
	samples := samplefiles.Write(t, pieces(40))
	written := filepath.Join(dir, "quantised.onnx")
	model := samplefiles.WriteFile(t, "m.onnx", stepwise(false))
	r, list := told(t, Options{Source: options.Source{Model: model,
		Quantisation: options.Quantisation{Calibrate: samples,
			SaveModel: written}, ModelInputs: options.ModelInputs{States: state}},
		Hardware: options.Hardware{Board: "zcu104"},
		Goal:     options.Goal{Interval: 5000}, Verification: options.Verification{NoCSim: tier.Quick()}})
	if len(r.Imported.Model.Feedback) != 1 || !strings.Contains(fmt.Sprint(list), "was quantised") {
		t.Error(list)
	}
	if fps, interval := r.Design.SamplesPerSecondAndInterval(); interval != float64(r.Design.Clocks.Latency) ||
		interval > 5000 ||
		fps != r.Design.SamplesPerSecond() {
		t.Errorf("%v frames/s, one every %v clocks: the latency is %d", fps, interval, r.Design.Clocks.Latency)
	}
	o := simulate.Options{Source: options.Source{Model: written, ModelInputs: options.ModelInputs{States: state},
		SampleFiles: options.SampleFiles{Data: samples}}}
	carried := simtest.SameByEngines(t, o, engines.EngineReference, engines.EngineFast, engines.EngineEval,
		engines.EngineCycle)
	o.Stateful = true
	if kept := simtest.SameByEngines(t, o, engines.EngineReference, engines.EngineFast, engines.EngineEval,
		engines.EngineCycle); len(kept) != 1 ||
		!slices.Equal(kept[0].Data, carried[0].Data) {
		t.Error("the device that keeps the state gives something else than the host that carries it")
	}
	states := &npy.Array{DType: "float32", Shape: []int{40, 2, 1, 4}, Data: append(make([]float64, 8),
		carried[1].Data[:39*8]...)}
	zip, err := npy.EncodeNPZ(map[string]*npy.Array{"x": pieces(40), "state": states})
	if err != nil {
		t.Fatal(err)
	}
	both := samplefiles.WriteFile(t, "both.npz", zip)
	given := simtest.SameByEngines(t, simulate.Options{Source: options.Source{Model: written,
		ModelInputs: options.ModelInputs{States: state},
		SampleFiles: options.SampleFiles{Data: both}}},
		engines.EngineReference, engines.EngineFast)
	for k := range given {
		if !slices.Equal(given[k].Data, carried[k].Data) {
			t.Errorf("output %d: states that are given are not those that are carried", k)
		}
	}
	float := simtest.SameByEngines(t, simulate.Options{Source: options.Source{Model: model,
		ModelInputs: options.ModelInputs{States: state},
		SampleFiles: options.SampleFiles{Data: samples}}}, engines.EngineFloat)
	for i, v := range float[0].Data {
		if d := v - carried[0].Data[i]; d > 0.1 || d < -0.1 {
			t.Fatalf("output %d of the float network is %v, of the quantised one %v", i, v, carried[0].Data[i])
		}
	}
}

// TestFeedbackRefused holds what is said of states that are none.
func TestFeedbackRefused(t *testing.T) {
	t.Parallel()
	samples := samplefiles.Write(t, pieces(4))
	for name, c := range map[string]struct {
		swapped, stateful bool
		state             frontend.StateFeedback
		says              string
	}{
		"no input":   {state: frontend.StateFeedback{Input: "states", Output: "stateN"}, says: "no such input"},
		"no output":  {state: frontend.StateFeedback{Input: "state", Output: "next"}, says: "no such output"},
		"two shapes": {state: frontend.StateFeedback{Input: "x", Output: "stateN"}, says: "what goes out is of type"},
		"swapped": {swapped: true, stateful: true, state: frontend.StateFeedback{Input: "state", Output: "stateN"},
			says: "element 0 of a recurrence's last state does not come back"},
	} {
		var d diag.List
		r, err := simulate.Run(t.Context(), simulate.Options{Source: options.Source{Model: samplefiles.WriteFile(t,
			"m.onnx", stepwise(c.swapped)),
			ModelInputs: options.ModelInputs{States: []frontend.StateFeedback{c.state}, Stateful: c.stateful},
			SampleFiles: options.SampleFiles{Data: samples}}, Engine: engines.EngineReference},
			&d)
		if err != nil || r != nil || !strings.Contains(fmt.Sprint(d.Diags), c.says) ||
			d.Diags[0].Code != diag.StatefulFlagUnfit {
			t.Errorf("%s: %v, %v", name, err, d.Diags)
		}
	}
}

// TestFeedbackRate holds that all rates of a model whose state comes back are those of its latency: what is asked for
// is met by that, or refused with a rate that can be asked for.
func TestFeedbackRate(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	o := Options{Source: options.Source{Model: samplefiles.WriteFile(t, "m.onnx", stepwise(false)),
		Quantisation: options.Quantisation{Calibrate: samplefiles.Write(t, pieces(40))},
		ModelInputs:  options.ModelInputs{States: []frontend.StateFeedback{{Input: "state", Output: "stateN"}}}},
		Hardware: options.Hardware{Board: "zcu104"}, Verification: options.Verification{NoCSim: true, Verify: -1}}
	build := func(fps float64) (*Result, *diag.List) {
		var d diag.List
		o := o
		o.FPS, o.Out = fps, filepath.Join(t.TempDir(), "out")
		r, err := Run(t.Context(), o, &d)
		if err != nil {
			t.Fatal(err)
		}
		return r, &d
	}
	fastest, d := build(0)
	if fastest == nil {
		t.Fatal(d.Diags)
	}
	best := fastest.Design.SamplesPerSecond()
	shares := []float64{0.1, 1, 0.9, 0.5}
	if tier.Quick() {
		shares = shares[:1]
	}
	for _, share := range shares {
		asked := float64(int(share * best))
		r, d := build(asked)
		if r == nil {
			t.Fatalf("%v of %v frames/s: %v", asked, best, d.Diags)
		}
		c := r.CycleSimulationReport()
		if latency := float64(r.Design.Clocks.Latency); r.Design.SamplesPerSecond() < asked ||
			c.Throughput != r.Design.SamplesPerSecond() ||
			c.Interval != latency || c.Series.Each != latency || !c.Bottleneck.State {
			t.Errorf("%v frames/s: %v, latency %v, %+v", asked, r.Design.SamplesPerSecond(), latency, c)
		}
		if share < 0.2 && r.Design.Estimate.Total.LUT >= fastest.Design.Estimate.Total.LUT {
			t.Errorf("%v frames/s take no less than %v", asked, best)
		}
	}
	r, d := build(2 * best)
	if len(d.Diags) == 0 || d.Diags[len(d.Diags)-1].Code != diag.FPSUnreachable || r != nil && r.Design != nil {
		t.Fatal(d.Diags)
	}
	var hinted float64
	if _, err := fmt.Sscanf(d.Diags[len(d.Diags)-1].Hint, "--fps %g", &hinted); err != nil {
		t.Fatal(d.Diags)
	}
	if r, d := build(hinted); r == nil || r.Design == nil || r.Design.SamplesPerSecond() < hinted {
		t.Errorf("%v frames/s, as the hint says: %v", hinted, d.Diags)
	}
	var told diag.List
	front, err := FindParetoFront(t.Context(), o, 4, &told)
	if err != nil || front == nil || len(front.Points) < 2 {
		t.Fatal(err, told.Diags)
	}
	for i, p := range front.Points {
		if i > 0 && p.SamplesPerSecond() >= front.Points[i-1].SamplesPerSecond() ||
			p.Clocks.Latency < fastest.Design.Clocks.Latency {
			t.Errorf("point %d: %v frames/s", i, p.SamplesPerSecond())
		}
	}
}
