package folding

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"hlsgen/hlslib/price/estimate"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/testsupport/tier"
)

// TestUnbeaten tries to beat proved designs of small networks, for both back ends and all goals: by asking for a few
// clocks more or less, and by random folds of a layer.
func TestUnbeaten(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	nets := 20
	if tier.Long() {
		nets = 500
	}
	for _, backend := range []dataflow.Backend{dataflow.BackendHLS, dataflow.BackendRTL} {
		for seed := range uint64(nets / 2) {
			t.Run(fmt.Sprint(backend.Name, seed), func(t *testing.T) {
				t.Parallel()
				r := rand.New(rand.NewPCG(seed, 12))
				m := randomLarge(r, 3+r.IntN(5))
				target := dataflow.Target{Board: part(board("zcu104"), 0.05+0.3*r.Float64()), ClockMHz: 200,
					Backend: backend}
				clocks := 64 << r.IntN(6)
				clocks += r.IntN(clocks)
				goals := []Goal{{}, {Interval: float64(clocks)}, {Latency: true},
					{Interval: float64(clocks), Least: ResourceMeasureLUT}}
				wanted := goals[seed%uint64(len(goals))]
				d, _ := designed(t, m, target, wanted)
				if d == nil {
					return // no such board would do, or not at this interval
				}
				proved{t, m, target, wanted, d}.unbeaten(r)
			})
		}
	}
}

// A proved is a design whose proofs other designs try to refute.
type proved struct {
	*testing.T
	model  *dataflow.Model
	target dataflow.Target
	goal   Goal
	found  *Design
}

func (p proved) unbeaten(r *rand.Rand) {
	asked := map[int]bool{}
	for k := -5; k <= 5; k++ {
		for _, n := range []int{int(p.goal.Interval), int(p.found.Clocks.Interval)} {
			if n > 0 && n+k > 0 {
				asked[n+k] = true
			}
		}
	}
	for n := range asked {
		wanted := Goal{Interval: float64(n), Least: p.goal.Least, Latency: p.goal.Latency}
		other, _ := designed(p, p.model, p.target, wanted)
		p.compare(other, fmt.Sprintf("--interval %d", n))
	}
	s := must(NewSpace(p.model, p.target, nil, FIFODepthPolicy{}, nil))
	for range 3 {
		layer := &s.Layers[r.IntN(len(s.Layers))]
		f := layer.Options[r.IntN(len(layer.Options))].Fold
		file := fmt.Sprintf(`{"%s": {"PE": %d, "SIMD": %d}}`, layer.Node.Name, f.PE, f.SIMD)
		if layer.Node.Op.Kind() != "MVAU" {
			continue
		}
		other, told := withFileOn(p, p.model, p.target, file, p.goal)
		if other == nil {
			p.Log(text(told))
			continue
		}
		p.compare(other, file)
	}
}

// compare checks the proofs of the found design against another design.
func (p proved) compare(other *Design, how string) {
	if other == nil {
		return
	}
	c, o := &p.found.Certificate, other.Clocks
	if c.Floor > 0 && o.Interval < float64(c.Floor) {
		p.Errorf("%s: %v clocks, where none below %d was said to be", how, o.Interval, c.Floor)
	}
	if p.goal.Interval > 0 && o.Interval > p.goal.Interval ||
		p.goal.Interval == 0 && o.Interval > p.found.Clocks.Interval {
		return // it is no answer to the question
	}
	if l := c.Latency; l != nil && o.Latency < l.Least {
		p.Errorf("%s: a latency of %d, where none below %d was said to be", how, o.Latency, l.Least)
	}
	if p.goal.Latency && o.Latency > p.found.Clocks.Latency {
		return
	}
	for i, b := range c.Bounds {
		if i >= len(other.Certificate.Bounds) || other.Certificate.Spares != c.Spares ||
			other.Certificate.Bounds[i].Measure != b.Measure || other.Certificate.Bounds[i].Value > b.Value {
			return // the later measures are bounded among designs that are as good in this one
		}
		v := other.Certificate.Bounds[i].Value
		if v < b.Least-rounding && p.saves(other) {
			p.inLUTs(other, how)
			return
		}
		if v < b.Least-rounding {
			p.Errorf("%s: %v %v in %v clocks, where none below %v was said to be (%v clocks)", how, b.Measure,
				v, o.Interval, b.Least, p.found.Clocks.Interval)
		}
	}
}

// inLUTs compares the folds of a design that the bounds exclude, with FIFOs as the search makes them.
func (p proved) inLUTs(other *Design, how string) {
	d, _ := withFileOn(p, p.model, p.target, string(FormatFoldingFile(other.Design, false)), p.goal)
	if d != nil && !p.saves(d) {
		p.compare(d, how+", with its folds")
	}
}

// saves reports whether the bounds exclude a design: a FIFO in block RAM takes less logic than few words in
// LUTs, and the certificate excludes such designs.
func (p proved) saves(other *Design) bool {
	if !p.found.Certificate.InLUTs {
		return false
	}
	t := other.Design.Target
	for s, f := range other.FIFO {
		if f.Memory != dataflow.MemoryBRAM && f.Memory != dataflow.MemoryURAM {
			continue
		}
		port := other.Design.PortOfStream(s)
		takes := func(f dataflow.FIFO) dataflow.Resources {
			return estimate.StreamFIFOCostForWriter(t, f, port,
				false).Total()
		}
		inLUTs, inBlocks := takes(dataflow.FIFO{Depth: 2, Memory: dataflow.MemorySRL}), takes(f)
		if inBlocks.LUT < inLUTs.LUT || inBlocks.FF < inLUTs.FF {
			return true
		}
	}
	return false
}
