package folding

import (
	"math/rand/v2"
	"strings"
	"testing"

	"hlsgen/boards"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/testsupport/tier"
	"hlsgen/rtlsim"
)

// fewInBlocks returns the streams of a design whose FIFOs hold at most eight words but lie in block RAM or UltraRAM.
func fewInBlocks(d *Design) (list []int) {
	for s, f := range d.FIFO {
		if high := d.Clocks.Trace.High[s]; high <= 8 && (f.Memory == dataflow.MemoryBRAM ||
			f.Memory == dataflow.MemoryURAM) {
			list = append(list, s)
		}
	}
	return list
}

// images returns a small convolutional network.
func images() *dataflow.Model {
	p := newPainter()
	return p.model("images", p.classify(p.conv(p.depthwise(p.image(8, 8, 8), 1), 3, 1, 16), 4))
}

// TestFewWords checks that FIFOs of few words lie in LUTs if possible, for every measure and both back ends.
func TestFewWords(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	fullyConnected := mlp(rand.New(rand.NewPCG(4, 4)), int8Type, 4, 2, 32, 24, 16, 4)
	for _, m := range []*dataflow.Model{images(), fullyConnected} {
		for _, backend := range []dataflow.Backend{dataflow.BackendHLS, dataflow.BackendRTL} {
			for _, wanted := range []Goal{{Interval: 512}, {Interval: 256, Least: ResourceMeasureLUT}, {Interval: 256,
				FIFO: FIFODepthPolicy{Words: 8}}} {
				d, told := designed(t, m, dataflow.Target{Board: board("pynq-z1"), ClockMHz: 100, Backend: backend},
					wanted)
				if d == nil {
					t.Fatalf("%s, %v, %+v: %s", m.Name, backend.Name, wanted, text(told))
				}
				c := &d.Certificate
				if !c.InLUTs || !strings.Contains(c.BoundsConditionText(), "FIFOs in block RAM that save logic") {
					t.Errorf("%s, %v, %+v: it is proved of designs%s", m.Name, backend.Name, wanted,
						c.BoundsConditionText())
				}
				if list := fewInBlocks(d); len(list) > 0 {
					t.Errorf("%s, %v, %+v: few words of s%d lie in block RAM", m.Name, backend.Name, wanted, list)
				}
			}
		}
	}
}

// TestFewWordsWhereNothingElseFits removes registers from a board until there is no design. Before that, FIFOs of few
// words lie in block RAM.
func TestFewWordsWhereNothingElseFits(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	m := mlp(rand.New(rand.NewPCG(4, 4)), int8Type, 4, 2, 32, 24, 16, 4)
	some := false
	b := boards.Board{Name: "small", LUT: 30_000, LUTRAM: 20, FF: 30_000, BRAM36: 200, DSP: 200}
	for ; ; b.FF = b.FF * 19 / 20 {
		target := dataflow.Target{Board: b, ClockMHz: 100, IO: dataflow.HostIOStream}
		d, _ := designed(t, m, target, Goal{MaxUse: all(1), Interval: 24})
		if d == nil {
			break
		}
		if few := len(fewInBlocks(d)) > 0; few && d.Certificate.InLUTs {
			t.Errorf("few words lie in block RAM, and it is proved of designs%s", d.Certificate.BoundsConditionText())
		} else {
			some = some || few
		}
	}
	if !some {
		t.Errorf("at %d registers there is no design, and with more none of block RAM", b.FF)
	}
}

// TestFewWordsOfTheShortestLatency asks for the shortest latency on boards with few LUTs. No design with a shorter
// requested interval may have a shorter latency, even with FIFOs in block RAM.
func TestFewWordsOfTheShortestLatency(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	for _, luts := range []int{2997, 5081, 6972} {
		target := dataflow.Target{Board: boards.Board{Name: "small", LUT: luts, LUTRAM: luts / 2, FF: 2 * luts,
			BRAM36: 200, DSP: 200}, ClockMHz: 100, IO: dataflow.HostIOStream}
		for _, wanted := range []Goal{{MaxUse: all(1), Latency: true}, {MaxUse: all(1), Latency: true, Interval: 900}} {
			d, told := designed(t, images(), target, wanted)
			if d == nil {
				t.Fatalf("%d LUTs: %s", luts, text(told))
			}
			wanted.Interval = d.Clocks.Interval - 1
			if e, _ := designed(t, images(), target, wanted); e != nil && e.Clocks.Latency < d.Clocks.Latency {
				t.Errorf("%d LUTs: a latency of %d every %v clocks, where %d every %v was found for the shortest", luts,
					e.Clocks.Latency, e.Clocks.Interval, d.Clocks.Latency, d.Clocks.Interval)
			}
		}
	}
}

// TestBordersArePriced checks that the search counts a design's reset and the counters of its streams' words.
func TestBordersArePriced(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	fullyConnected := mlp(rand.New(rand.NewPCG(4, 4)), int8Type, 4, 2, 32, 24, 16, 4)
	for _, m := range []*dataflow.Model{images(), fullyConnected} {
		for _, counters := range []bool{false, true} {
			target := dataflow.Target{Board: board("zcu104"), ClockMHz: 200, Backend: dataflow.BackendRTL,
				Counters: counters}
			d, told := designed(t, m, target, Goal{Interval: 512, Least: ResourceMeasureLUT})
			if d == nil {
				t.Fatalf("%s: %s", m.Name, text(told))
			}
			address := 0 // one more address bit takes two
			if counters {
				address = 2
			}
			if is, said := d.Estimate.Total.LUT, int(d.Certificate.Bounds[0].Value); is < said || is > said+address {
				t.Errorf("%s, %t: %d LUT, where the search has %d", m.Name, counters, is, said)
			}
		}
	}
}

// TestHostFIFO checks that a FIFO that the host writes fills its memory in hardware, where there is room for
// one more word.
func TestHostFIFO(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	p := newPainter()
	x := p.image(6, 6, 4)
	two := p.fork(x, 2)
	late := p.model("late", p.join(p.conv(two[0], 3, 1, 4), two[1]))
	for _, m := range []*dataflow.Model{images(), mlp(rand.New(rand.NewPCG(4, 4)), int8Type, 4, 2, 30, 8, 4), late} {
		for _, interval := range []int{1, 64, 400} {
			var told diag.List
			target := dataflow.Target{Board: board("zcu104"), ClockMHz: 100, IO: dataflow.HostIOStream,
				Backend: dataflow.BackendRTL}
			d := must(FindBestDesign(t.Context(), m, target, Goal{Interval: float64(interval)}, &told))
			if d == nil {
				continue // it is slower
			}
			for _, s := range d.Model.Graph.In {
				f, places := d.FIFO[s], d.FIFOCapacityWords(s)
				if places != 1+f.Depth || places > 1+rtlsim.MinFIFODepth && places%32 != 0 {
					t.Errorf("%s at %d clocks: %d places for %d words", m.Name, interval, places, f.Depth)
				}
			}
		}
	}
}
