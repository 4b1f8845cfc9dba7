package layertest

import (
	"fmt"
	"slices"
	"strings"

	"hlsgen/hlslib/price/delay"
	"hlsgen/internal/dataflow"
)

// Extreme clocks at which latencies are checked, beside the case's own. At the slow clock one stage holds all
// consecutive operations, so only registers add stages. At the fast clock each operation has a stage of its own.
const (
	slowMHz = 0.1
	fastMHz = 10_000
)

// A passage is an operation that a word or a row passes in an iteration, which synthesis packs into stages.
type passage struct {
	what string
	pass func(p *delay.PipelineCursor)
}

// The passages of all iterations. The first is the stage that decides what an iteration does.
var (
	begins = passage{"the decision what it does", (*delay.PipelineCursor).BeginNextStage}
	reads  = does("the read of a word", delay.OpStreamRead, 1)
	writes = does("the write of a word", delay.OpStreamWrite, 1)
)

// does returns a passage through an operation on words of that many bits.
func does(what string, op delay.PipelineOp, bits int) passage {
	return passage{what, func(p *delay.PipelineCursor) { p.DoOp(op, bits) }}
}

// through returns a passage through a unit with registers.
func through(what string, u delay.RegisteredUnit) passage {
	return passage{what, func(p *delay.PipelineCursor) { p.DoUnit(u) }}
}

// units are the delays of the memories that have registers.
var units = map[dataflow.Memory]delay.RegisteredUnit{dataflow.MemoryLUTRAM: delay.UnitLUTMemory,
	dataflow.MemoryBRAM: delay.UnitBlockRAM,
	dataflow.MemoryURAM: delay.UnitUltraRAM}

// multiplied and addressing are names of parts of a cost: memories whose rows are multiplied, and memories whose rows
// address another memory.
const (
	multiplied = "weight memory"
	addressing = "order"
)

// passages returns ways from the start of an iteration to the word that it writes, which every layer must allow for.
// They are the way of a word that is read, and the way of a row of each memory. They follow from the places of tables,
// the multipliers, and the parts of the cost, whatever the layer says about its stages. A layer may have further
// passages.
func (b *bound) passages(f dataflow.Fold) (ways [][]passage) {
	c := b.op.Cost(f, b.target())
	has := func(part string) bool {
		return slices.ContainsFunc(c, func(p dataflow.CostContribution) bool { return p.Name == part && p.LUT > 0 })
	}
	var product, rest []passage
	switch {
	case f.Compute == dataflow.MultiplierInDSPs && c.Total().DSP > 0:
		product = []passage{through("the registers of a DSP slice", delay.UnitDSP)}
	case has("multipliers"):
		product = []passage{does("a product", delay.OpLogicGate, 1)} // at least a gate, as for bipolar factors
	}
	if has("comparators") {
		rest = append(rest, does("a comparison", delay.OpCompare, 1))
	}
	way := func(list ...[]passage) {
		ways = append(ways, slices.Concat(append(append([][]passage{{begins}}, list...), []passage{writes})...))
	}
	way([]passage{reads}, product, rest)
	storage := b.op.Emit(f, b.target()).Storage
	row := func(s dataflow.Storage) (list []passage) {
		if u, ok := units[s.In]; ok && s.Rows > 1 {
			list = append(list, through(fmt.Sprintf("the register of the %s (%v)", s.Part, u), u))
		}
		return list
	}
	for _, s := range storage {
		switch at := slices.IndexFunc(storage, func(o dataflow.Storage) bool { return o.Part == addressing }); {
		case s.Part == multiplied:
			way(row(s), product, rest)
		case at >= 0 && s.Part != addressing:
			way(row(storage[at]), row(s))
		default:
			way(row(s))
		}
	}
	return ways
}

// checkStages checks that the latency of a fold by HLS is at least the stages of these ways. Recurrent layers are
// excluded: their cells decide which words reach an output.
func (b *bound) checkStages(f dataflow.Fold) error {
	if b.op.Describe().Recurrences != nil {
		return nil
	}
	for _, mhz := range []float64{slowMHz, b.target().ClockMHz, fastMHz} {
		t := b.target()
		t.ClockMHz = mhz
		latency := b.op.Loop(f, t).Latency
		for _, way := range b.passages(f) {
			least := clocks(t, way)
			if latency >= least {
				continue
			}
			var all, missing []string
			for i, p := range way {
				all = append(all, p.what)
				if clocks(t, slices.Delete(slices.Clone(way), i, i+1)) <= latency {
					missing = append(missing, p.what)
				}
			}
			return fmt.Errorf("%s at %g MHz: a latency of %d clocks, but %s take %d; what is missing may be %s",
				b.op.Kind(), mhz, latency, strings.Join(all, ", "), least, strings.Join(missing, ", or "))
		}
	}
	return nil
}

// clocks returns the clocks that the passages take.
func clocks(t dataflow.Target, way []passage) int {
	p := t.OperationDelays().NewCursor()
	for _, s := range way {
		s.pass(&p)
	}
	return p.LatencyClocks()
}
