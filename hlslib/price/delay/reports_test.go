package delay_test

import (
	"math/bits"
	"testing"

	"hlsgen/hlslib/price/delay"
)

// finn describes FINN's MVAU_hls (finn-hlslib, mvau.hpp): one flattened loop, counters of 32 bits, an input buffer in
// registers, and thresholds in tables, by PE.
type finn struct {
	sf, nf, simd, weight, in, acc int
	thresholds                    int // thresholds of a channel; 0: none
	// dsp: products in slices; rom: weights in a table, else they arrive; signed: signed codes
	dsp, rom, signed bool
}

// chain packs the operations of an iteration of mvau.hpp into stages.
func (m finn) chain(c delay.StageDelayModel) int {
	p, control := c.NewCursor(), c.NewCursor()
	// Counters are incremented, compared with the end, reset and kept.
	control.DoInOneStage(32, delay.OpAdd, delay.OpCompare, delay.OpSelect, delay.OpHoldMux)
	if m.nf > 1 { // the input, or a buffered one
		for range bits.Len(uint(m.sf - 1)) {
			p.DoOp(delay.OpSelect, m.simd*m.in)
		}
	}
	p.WaitForCursor(control)
	p.BeginNextStage()
	if m.rom {
		p.DoUnit(delay.UnitLUTMemory)
	}
	switch {
	case m.weight == 1 && m.in == 1:
		p.DoOp(delay.OpLogicGate, 1)
		p.DoPopCount(m.simd)
	case m.weight == 1:
		p.DoOp(delay.OpAdd, m.in+1)
		p.DoOp(delay.OpSelect, m.in+1)
		p.DoReductionTree(m.simd, m.in+1, delay.OpAdd)
	default:
		p.DoProduct(m.weight, m.in, m.dsp)
		p.DoReductionTree(m.simd, m.weight+m.in, delay.OpAdd)
	}
	if m.sf > 1 {
		p.DoInOneStage(m.acc, delay.OpSelect, delay.OpAdd)
	}
	if m.thresholds > 0 { // thresholds that the sum reaches are counted
		p.DoOp(delay.OpCompare, m.acc)
		p.DoOp(delay.OpLogicGate, 1)
		p.DoPopCount(m.thresholds)
	}
	if m.signed {
		p.DoOp(delay.OpAdd, 8)
	}
	return p.LatencyClocks()
}

// TestReports checks depths against public synthesis reports of FINN's MVAU_hls, whose source is public, too: within
// two clocks or a quarter. The table's entries come from only the first two of these reports (PDS_YOLO's MVAU_hls_6 and
// LeNet's MVAU_hls_0), which give delays and not depths.
func TestReports(t *testing.T) {
	t.Parallel()
	for _, tt := range reports {
		got := tt.m.chain(delay.NewStageDelayModel(tt.family, tt.mhz, nil, delay.DelayRangeExpected))
		if off := max(got-tt.depth, tt.depth-got); off > 2 && 4*off > tt.depth {
			t.Errorf("%s, %s: %d clocks, reported are %d", tt.source, tt.layer, got, tt.depth)
		}
		least := tt.m.chain(delay.NewStageDelayModel(tt.family, tt.mhz, nil, delay.DelayRangeMin))
		most := tt.m.chain(delay.NewStageDelayModel(tt.family, tt.mhz, nil, delay.DelayRangeMax))
		if least > tt.depth || tt.depth > most || got < least || got > most {
			t.Errorf("%s, %s: %d, in a range of %d to %d clocks; reported are %d", tt.source, tt.layer, got, least,
				most, tt.depth)
		}
	}
}

// The sources of the reports.
const (
	yolo  = "github.com/windy07/PDS_YOLO, xc7z020-1, 10 ns, Vitis HLS 2022.2"
	lenet = "github.com/CNStanLee/EF-US-Engine, LeNet, xczu7ev-2, 10 ns, Vitis HLS 2022.2"
)

// A report is the depth of a layer in a public report.
type report struct {
	source, layer string
	family        delay.DelayFamily
	mhz           float64
	m             finn
	depth         int
}

// reports are the reports whose source is public, too.
var reports = []report{
	{yolo, "MVAU_hls_6", delay.FamilySeries7, 100, finn{26, 56, 8, 8, 3, 17, 7, true, false, false}, 8},
	{lenet, "MVAU_hls_0", delay.FamilyUltraScale, 100, finn{3, 2, 3, 8, 8, 17, 255, true, true, false}, 7},
	{yolo, "MVAU_hls_0", delay.FamilySeries7, 100, finn{8, 1, 9, 8, 3, 15, 7, true, false, false}, 8},
	{yolo, "MVAU_hls_1", delay.FamilySeries7, 100, finn{8, 2, 9, 8, 3, 15, 7, true, false, false}, 8},
	{yolo, "MVAU_hls_2", delay.FamilySeries7, 100, finn{16, 4, 9, 8, 3, 16, 7, true, false, false}, 8},
	{yolo, "MVAU_hls_3", delay.FamilySeries7, 100, finn{32, 14, 9, 8, 3, 17, 7, true, false, false}, 8},
	{yolo, "MVAU_hls_4", delay.FamilySeries7, 100, finn{56, 26, 9, 8, 3, 18, 7, true, false, false}, 8},
	{yolo, "MVAU_hls_5", delay.FamilySeries7, 100, finn{104, 16, 9, 8, 3, 18, 7, true, false, false}, 8},
	{yolo, "MVAU_hls_8", delay.FamilySeries7, 100, finn{104, 18, 9, 8, 3, 19, 255, true, false, true}, 11},
	{lenet, "MVAU_hls_1", delay.FamilyUltraScale, 100, finn{45, 1, 4, 8, 8, 20, 255, true, true, false}, 8},
}
