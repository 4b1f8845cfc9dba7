package delay

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
)

// A DelayCalibration holds the delays and stages of a family from reports of a user's own runs. It replaces the tables.
// Verify must have accepted it before NewStageDelayModel takes it.
type DelayCalibration struct {
	Family      DelayFamily `json:"family"`         // DSP48E1, DSP48E2 or DSP58
	Part        string      `json:"part,omitempty"` // the part in the reports
	Tool        string      `json:"tool,omitempty"` // the version of the tool in the reports
	Uncertainty float64     `json:"uncertainty"`    // share of the clock's period
	// the stages that the tool makes of one of hlsgen's; 1 if delays were read
	Stages    float64                 `json:"stages"`
	Delays    []ReportedDelay         `json:"delays"`    // by operation and width; empty without schedule reports
	Processes []ReportedPipelineDepth `json:"processes"` // the processes that were synthesised
	compiled  *delays
}

// ReportedDelay is an operation's delay in schedule reports: the median of Reports operations.
type ReportedDelay struct {
	Op      string  `json:"operation"`
	Bits    int     `json:"bits"`
	NS      float64 `json:"ns"`
	Reports int     `json:"operations"`
}

// ReportedPipelineDepth is the depth of a pipeline in a report. Ours is the depth by the tables, or 0 if it is not
// known.
type ReportedPipelineDepth struct {
	Name     string `json:"name"`
	Depth    int    `json:"depth"`
	Interval int    `json:"interval"`
	Ours     int    `json:"ours,omitempty"`
}

// opNamed returns the operation whose String is the given name. The second result is false if there is none.
func opNamed(name string) (PipelineOp, bool) {
	for o := range PipelineOp(ops) {
		if o.String() == name {
			return o, true
		}
	}
	return 0, false
}

// Verify returns an error if a value of c is not plausible. Otherwise it prepares c for NewStageDelayModel, which needs
// that.
func (c *DelayCalibration) Verify() error {
	if !slices.Contains([]DelayFamily{FamilySeries7, FamilyUltraScale, FamilyVersal}, c.Family) {
		return fmt.Errorf("family %q, want %s, %s or %s", c.Family, FamilySeries7, FamilyUltraScale, FamilyVersal)
	}
	if !(c.Uncertainty >= 0 && c.Uncertainty < 1) {
		return fmt.Errorf("an uncertainty of %v, want a share from 0 up to 1", c.Uncertainty)
	}
	if !(c.Stages >= 0.25 && c.Stages <= 4) {
		return fmt.Errorf("%v stages of the tool for one of ours, want 0.25 to 4", c.Stages)
	}
	if len(c.Delays) == 0 && len(c.Processes) == 0 {
		return errors.New("neither delays nor processes")
	}
	compiled := *tables(c.Family, DelayRangeExpected)
	curves := map[PipelineOp]curve{}
	for _, r := range c.Delays {
		op, ok := opNamed(r.Op)
		if !ok {
			return fmt.Errorf("unknown operation %q", r.Op)
		}
		if r.Bits < 1 || !(r.NS >= 0 && r.NS <= 1000) || math.IsNaN(r.NS) {
			return fmt.Errorf("%s of %d bits takes %v ns", r.Op, r.Bits, r.NS)
		}
		curves[op] = append(curves[op], knot{r.Bits, r.NS})
	}
	for op, list := range curves {
		slices.SortFunc(list, func(a, b knot) int { return cmp.Compare(a.bits, b.bits) })
		for i := 1; i < len(list); i++ {
			if list[i].bits == list[i-1].bits {
				return fmt.Errorf("%v of %d bits stands twice", op, list[i].bits)
			}
		}
		compiled.ops[op] = list
	}
	c.compiled = &compiled
	return nil
}

// IsForFamily reports whether c holds delays of the family f; an empty f means UltraScale+. It returns false for a nil
// c.
func (c *DelayCalibration) IsForFamily(f DelayFamily) bool {
	return c != nil && cmp.Or(f, FamilyUltraScale) == c.Family
}
