package folding

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"hlsgen/boards"
	"hlsgen/folding/fit"
	"hlsgen/frontend"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/testsupport/tier"
)

// part returns a board with a share of another one's resources.
func part(b boards.Board, share float64) boards.Board {
	b.Name = "part"
	for _, n := range []*int{&b.LUT, &b.LUTRAM, &b.FF, &b.BRAM36, &b.URAM, &b.DSP} {
		*n = int(float64(*n) * share)
	}
	return b
}

// better reports whether a design is better than another for a goal: by its latency if the goal is that; else by its
// interval, unless the goal gives one; then by its measures.
func better(a, b *Design, wanted Goal) bool {
	if wanted.Latency {
		return a.Clocks.Latency < b.Clocks.Latency
	}
	if wanted.Interval == 0 && a.Clocks.Interval != b.Clocks.Interval {
		return a.Clocks.Interval < b.Clocks.Interval
	}
	for i, m := range a.Certificate.Bounds {
		if v := b.Certificate.Bounds[i].Value; math.Abs(m.Value-v) > rounding {
			return m.Value < v
		}
	}
	return false
}

// TestSteps checks that more steps never give a worse design, and that bounds also hold for the designs of more steps.
func TestSteps(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	steps := []int{1, 300_000, 3_000_000}
	nets := map[string]func() *dataflow.Model{"mlp": tfc, "deep": func() *dataflow.Model { return deep(9) }}
	if tier.Long() {
		steps = []int{20_000_000, 40_000_000, 80_000_000, 160_000_000, 320_000_000, 640_000_000, 1_280_000_000}
		nets["unet"] = func() *dataflow.Model { return uNet(1, 1, 4) }
		nets["inception"] = func() *dataflow.Model { return inception(1) }
		nets["resnet"] = func() *dataflow.Model { return resNet(2, 8) }
	}
	for name, m := range nets {
		for _, share := range []float64{0.12, 0.5} {
			for _, wanted := range []Goal{{}, {Interval: 3000}, {Latency: true}} {
				m := m()
				target := dataflow.Target{Board: part(board("zcu104"), share), ClockMHz: 200}
				if wanted.Latency && tier.Long() && name != "mlp" {
					continue // its first searches do not know the network's size
				}
				t.Run(fmt.Sprintf("%s of %v: %v %t", name, share, wanted.Interval, wanted.Latency), func(t *testing.T) {
					t.Parallel()
					neverWorse(t, m, target, wanted, steps)
				})
			}
		}
	}
}

// neverWorse compares designs of more and more steps.
func neverWorse(t *testing.T, m *dataflow.Model, target dataflow.Target, wanted Goal, steps []int) {
	t.Helper()
	var last *Design
	for _, n := range steps {
		wanted := wanted
		wanted.Steps = n
		d, told := designed(t, m, target, wanted)
		if d == nil {
			if last != nil {
				t.Fatalf("%d steps: no design, where fewer have one: %s", n, text(told))
			}
			continue
		}
		if last != nil && better(last, d, wanted) {
			t.Errorf("%d steps: %v clocks, latency %d, %v; with fewer %v, %d, %v", n, d.Clocks.Interval,
				d.Clocks.Latency, d.Certificate.Bounds, last.Clocks.Interval, last.Clocks.Latency,
				last.Certificate.Bounds)
		}
		if last != nil && d.Clocks.Interval < float64(last.Certificate.Floor) {
			t.Errorf("%d steps: %v clocks, where none below %d was said to be", n, d.Clocks.Interval,
				last.Certificate.Floor)
		}
		last = d
	}
	if last == nil {
		t.Log("no design")
		return
	}
	t.Logf("%d layers: %v clocks, none below %d", len(m.Graph.Nodes), last.Clocks.Interval, last.Certificate.Floor)
}

// others lists trained networks in the folder of shared models, each with the share of a board for it: small, so that
// the search is hard.
var others = []struct {
	path  string
	share float64
}{
	{"zoo/espcn_nn_resize", 0.2},
	{"zoo/TFC_1W1A", 0.06},
	{"zoo/TFC_2W2A", 0.06},
	{"zoo/exmodels_branched_model_ch_last", 0.3},
	{"zoo/exmodels_tiny_unet_model_100k_ch_last_v2", 0.9},
	{"zoo/exmodels_separable_conv_model_ch_last_v2", 0.06},
	{"zoo/juan_SimpleCNVNN_test", 0.05},
	{"zoo/kwsmlp_w3a3", 0.12},
	{"shelf/direction_classifier/qdq_logits.onnx", 1},
	{"zoo/mdc_mnist_conv", 0.06},
	{"zoo/qkeras_jettagging", 0.06},
	{"zoo/radioml_wise_lion_17", 0.06},
}

// shared returns a model in the folder of shared models. It skips the test if there is no such folder.
func shared(t *testing.T, path string) *dataflow.Model {
	t.Helper()
	path = filepath.Join(tier.NeedsShared(t), "models", filepath.FromSlash(path))
	if filepath.Ext(path) == "" {
		path = filepath.Join(path, "model.onnx")
	}
	onnx, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var told diag.List
	im, err := frontend.Import(path, onnx, frontend.Options{}, &told)
	if err != nil || im == nil || im.Model == nil {
		t.Fatal(err, text(&told))
	}
	return im.Model
}

// TestAnytime checks on forty networks, random ones of 5 to 120 layers and trained ones, that the design never gets
// worse, neither with more steps nor within one search.
func TestAnytime(t *testing.T) {
	t.Parallel()
	tier.NeedsLong(t)
	for i := range 40 {
		random := i - len(others)
		layers := 5 + 115*random/(39-len(others))
		name := fmt.Sprintf("random of %d layers", layers)
		if random < 0 {
			name = others[i].path
		}
		t.Run(fmt.Sprintf("%d: %s", i, name), func(t *testing.T) {
			t.Parallel()
			var m *dataflow.Model
			var share float64
			if random < 0 {
				m, share = shared(t, others[i].path), others[i].share
			} else {
				r := rand.New(rand.NewPCG(uint64(random), 4))
				m = randomLarge(r, layers)
				share = max(0.18, 0.1+0.3*r.Float64()) // the largest ones need that much
			}
			anytime(t, m, dataflow.Target{Board: part(board("zcu104"), share), ClockMHz: 200}, i%4 == 0)
		})
	}
}

// anytime compares the designs that one search of many steps reports on its way, or, if more is true, the designs of
// searches of more and more steps.
func anytime(t *testing.T, m *dataflow.Model, target dataflow.Target, more bool) {
	t.Helper()
	const unit, times = 20_000_000, 64
	if more {
		var steps []int
		for n := 1; n <= times; n *= 2 {
			steps = append(steps, n*unit)
		}
		neverWorse(t, m, target, Goal{}, steps)
		return
	}
	last := BestDesignSoFarSummary{Interval: math.Inf(1)}
	wanted := Goal{Steps: times * unit, Tell: func(s BestDesignSoFarSummary) {
		if s.Interval > last.Interval || s.Floor < last.Floor ||
			s.Interval == last.Interval && s.Share > last.Share+rounding {
			t.Errorf("%+v after %+v", s, last)
		}
		last = s
	}}
	d, told := designed(t, m, target, wanted)
	switch {
	case d == nil && !math.IsInf(last.Interval, 1):
		t.Errorf("no design, where %+v was found: %s", last, text(told))
	case d != nil && (d.Clocks.Interval > last.Interval ||
		d.Clocks.Interval == last.Interval && d.Certificate.Bounds[0].Value > last.Share+rounding):
		t.Errorf("%v clocks, %v, where %+v was found", d.Clocks.Interval, d.Certificate.Bounds[0], last)
	}
	if d == nil {
		t.Logf("%d layers: %s", len(m.Graph.Nodes), text(told))
		return
	}
	t.Logf("%d layers: %v clocks, none below %d", len(m.Graph.Nodes), d.Clocks.Interval, d.Certificate.Floor)
}

// TestAskedBelow checks that asking for an interval below that of the fastest design finds no faster one.
func TestAskedBelow(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	r := rand.New(rand.NewPCG(35, 1))
	for _, share := range []float64{0.08, 0.2} {
		m := deep(8)
		target := dataflow.Target{Board: part(board("zcu104"), share), ClockMHz: 200}
		d, told := designed(t, m, target, Goal{})
		if d == nil {
			t.Fatal(text(told))
		}
		for range 3 {
			low, high := d.Certificate.Floor, int(d.Clocks.Interval)
			if low >= high {
				break
			}
			asked := low + r.IntN(high-low)
			if faster, _ := designed(t, m, target, Goal{Interval: float64(asked)}); faster != nil {
				t.Errorf("%v of the board: %d clocks asked for are met, the fastest is %v", share, asked,
					d.Clocks.Interval)
			}
		}
	}
}

// TestWork checks that the work of a question depends only on the size of the network.
func TestWork(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	work := func(m *dataflow.Model, wanted Goal) int {
		target := dataflow.Target{Board: board("alveo-u250"), ClockMHz: 200}
		s := must(NewSpace(m, target, nil, FIFODepthPolicy{}, nil))
		p := fit.NewDesignSearch(s.FoldingSpace, wanted).NewFixedIntervalSearch(s.IntervalsToTry()[0])
		if err := p.FindFirstDesign(t.Context()); err != nil {
			t.Fatal(err)
		}
		return p.UsualStepCount()
	}
	small, large := work(deep(3), Goal{}), work(deep(12), Goal{})
	if small >= large || work(deep(3), Goal{Steps: 5}) != small {
		t.Errorf("%d and %d steps", small, large)
	}
}
