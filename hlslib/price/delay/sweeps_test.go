package delay_test

import (
	"testing"

	"hlsgen/hlslib/price/delay"
)

// TestSweeps checks depths against the data of arXiv 2201.11409: FINN's MVU, Vivado HLS 2020.1, xczu3eg at 5 ns, with
// that tool's uncertainty of 12.5 %. The data are clocks per call, which are the trips of its loop plus the depth. No
// entry of the table comes from them.
func TestSweeps(t *testing.T) {
	t.Parallel()
	clock := delay.NewStageDelayModel(delay.FamilyUltraScale, 200, sweepCalibration(t), delay.DelayRangeExpected)
	exact, all := 0, 0
	for _, tt := range sweeps {
		got, depth := tt.finn().chain(clock), tt.clocks-tt.trips
		if d := max(got-depth, depth-got); d > 1 {
			t.Errorf("%s, %d by %d bits: %d clocks, reported are %d", tt.sweep, tt.weight, tt.in, got, depth)
		}
		if all++; got == depth {
			exact++
		}
	}
	if 2*exact < all {
		t.Errorf("%d of %d are as reported", exact, all)
	}
}

// sweepCalibration returns the uncertainty of the tool that made the sweeps.
func sweepCalibration(t *testing.T) *delay.DelayCalibration {
	c := &delay.DelayCalibration{Family: delay.FamilyUltraScale, Uncertainty: 0.125, Stages: 1,
		Processes: []delay.ReportedPipelineDepth{{Name: "none", Depth: 1}}}
	if err := c.Verify(); err != nil {
		t.Fatal(err)
	}
	return c
}

// A sweep is a point of the sweeps: the bits of weights and inputs, the extents of the loop, the products in a clock,
// and the trips of the loop with the clocks of a call.
type sweep struct {
	sweep                                   string
	weight, in, sf, nf, simd, trips, clocks int
}

// finn returns the layer of the point.
func (p sweep) finn() finn {
	return finn{sf: p.sf, nf: p.nf, simd: p.simd, weight: p.weight, in: p.in, acc: 16, rom: true}
}

// sweeps are the points of arXiv 2201.11409.
var sweeps = []sweep{
	{"kernel_dim 3", 1, 1, 18, 2, 32, 32400, 32404},
	{"kernel_dim 5", 1, 1, 50, 2, 32, 78400, 78404},
	{"kernel_dim 6", 1, 1, 72, 2, 32, 104976, 104980},
	{"kernel_dim 8", 1, 1, 128, 2, 32, 160000, 160004},
	{"kernel_dim 9", 1, 1, 162, 2, 32, 186624, 186628},
	{"kernel_dim 3", 1, 4, 18, 2, 32, 32400, 32404},
	{"kernel_dim 5", 1, 4, 50, 2, 32, 78400, 78404},
	{"kernel_dim 6", 1, 4, 72, 2, 32, 104976, 104980},
	{"kernel_dim 8", 1, 4, 128, 2, 32, 160000, 160004},
	{"kernel_dim 9", 1, 4, 162, 2, 32, 186624, 186628},
	{"kernel_dim 3", 4, 4, 18, 2, 32, 32400, 32404},
	{"kernel_dim 5", 4, 4, 50, 2, 32, 78400, 78404},
	{"kernel_dim 6", 4, 4, 72, 2, 32, 104976, 104980},
	{"kernel_dim 8", 4, 4, 128, 2, 32, 160000, 160004},
	{"kernel_dim 9", 4, 4, 162, 2, 32, 186624, 186628},
	{"ifm_dim 4", 1, 1, 32, 2, 32, 64, 68},
	{"ifm_dim 16", 1, 1, 32, 2, 32, 10816, 10820},
	{"ifm_dim 32", 1, 1, 32, 2, 32, 53824, 53828},
	{"ifm_dim 4", 1, 4, 32, 2, 32, 64, 68},
	{"ifm_dim 16", 1, 4, 32, 2, 32, 10816, 10820},
	{"ifm_dim 32", 1, 4, 32, 2, 32, 53824, 53828},
	{"ifm_dim 4", 4, 4, 32, 2, 32, 64, 69},
	{"ifm_dim 16", 4, 4, 32, 2, 32, 10816, 10821},
	{"ifm_dim 32", 4, 4, 32, 2, 32, 53824, 53829},
	{"ifm_ch 2", 1, 1, 16, 32, 2, 430592, 430596},
	{"ifm_ch 8", 1, 1, 64, 32, 2, 1722368, 1722372},
	{"ifm_ch 16", 1, 1, 128, 32, 2, 3444736, 3444740},
	{"ifm_ch 64", 1, 1, 512, 32, 2, 13778944, 13778948},
	{"ifm_ch 2", 1, 4, 16, 32, 2, 430592, 430596},
	{"ifm_ch 8", 1, 4, 64, 32, 2, 1722368, 1722372},
	{"ifm_ch 16", 1, 4, 128, 32, 2, 3444736, 3444740},
	{"ifm_ch 64", 1, 4, 512, 32, 2, 13778944, 13778948},
	{"ifm_ch 2", 4, 4, 16, 32, 2, 430592, 430596},
	{"ifm_ch 8", 4, 4, 64, 32, 2, 1722368, 1722372},
	{"ifm_ch 16", 4, 4, 128, 32, 2, 3444736, 3444740},
	{"ifm_ch 64", 4, 4, 512, 32, 2, 13778944, 13778948},
	{"ofm_ch 2", 1, 1, 512, 1, 2, 430592, 430595},
	{"ofm_ch 8", 1, 1, 512, 4, 2, 1722368, 1722371},
	{"ofm_ch 16", 1, 1, 512, 8, 2, 3444736, 3444739},
	{"ofm_ch 64", 1, 1, 512, 32, 2, 13778944, 13778947},
	{"ofm_ch 2", 1, 4, 512, 1, 2, 430592, 430595},
	{"ofm_ch 8", 1, 4, 512, 4, 2, 1722368, 1722371},
	{"ofm_ch 16", 1, 4, 512, 8, 2, 3444736, 3444739},
	{"ofm_ch 64", 1, 4, 512, 32, 2, 13778944, 13778947},
	{"ofm_ch 2", 4, 4, 512, 1, 2, 430592, 430596},
	{"ofm_ch 8", 4, 4, 512, 4, 2, 1722368, 1722372},
	{"ofm_ch 16", 4, 4, 512, 8, 2, 3444736, 3444740},
	{"ofm_ch 64", 4, 4, 512, 32, 2, 13778944, 13778948},
	{"pe 1", 1, 1, 16, 64, 64, 25600, 25604},
	{"pe 4", 1, 1, 16, 16, 64, 6400, 6404},
	{"pe 8", 1, 1, 16, 8, 64, 3200, 3204},
	{"pe 32", 1, 1, 16, 2, 64, 800, 804},
	{"pe 64", 1, 1, 16, 1, 64, 400, 404},
	{"pe 1", 1, 4, 16, 64, 64, 25600, 25604},
	{"pe 4", 1, 4, 16, 16, 64, 6400, 6404},
	{"pe 8", 1, 4, 16, 8, 64, 3200, 3204},
	{"pe 32", 1, 4, 16, 2, 64, 800, 804},
	{"pe 64", 1, 4, 16, 1, 64, 400, 404},
	{"pe 1", 4, 4, 16, 64, 64, 25600, 25605},
	{"pe 4", 4, 4, 16, 16, 64, 6400, 6405},
	{"pe 8", 4, 4, 16, 8, 64, 3200, 3205},
	{"pe 32", 4, 4, 16, 2, 64, 800, 805},
	{"pe 64", 4, 4, 16, 1, 64, 400, 405},
	{"simd 1", 1, 1, 1024, 1, 1, 25600, 25603},
	{"simd 4", 1, 1, 256, 1, 4, 6400, 6403},
	{"simd 8", 1, 1, 128, 1, 8, 3200, 3203},
	{"simd 32", 1, 1, 32, 1, 32, 800, 804},
	{"simd 64", 1, 1, 16, 1, 64, 400, 404},
	{"simd 1", 1, 4, 1024, 1, 1, 25600, 25603},
	{"simd 4", 1, 4, 256, 1, 4, 6400, 6404},
	{"simd 8", 1, 4, 128, 1, 8, 3200, 3204},
	{"simd 32", 1, 4, 32, 1, 32, 800, 804},
	{"simd 64", 1, 4, 16, 1, 64, 400, 404},
	{"simd 1", 4, 4, 1024, 1, 1, 25600, 25604},
	{"simd 4", 4, 4, 256, 1, 4, 6400, 6403},
	{"simd 8", 4, 4, 128, 1, 8, 3200, 3203},
	{"simd 32", 4, 4, 32, 1, 32, 800, 804},
	{"simd 64", 4, 4, 16, 1, 64, 400, 404},
}
