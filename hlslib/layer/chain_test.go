package layer_test

import (
	"testing"

	"hlsgen/hlslib/layer"
	"hlsgen/hlslib/steps"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// TestSteps checks the stages of step functions. At a slow clock comparators fit into the stage of a value, and at a
// fast clock they take stages, too. Every form that looks up takes its own clocks, wherever its tables lie.
func TestSteps(t *testing.T) {
	t.Parallel()
	of := num.Type{Kind: num.KindInt, Width: 10}
	s := num.StepFunction{Value: []int64{0}}
	for i := range int64(15) {
		s.At, s.Value = append(s.At, -400+i*i*4), append(s.Value, i+1)
	}
	k := num.NewThresholdTable([]num.StepFunction{s}, []num.Range{of.Range()}, of, 30)
	functions := steps.New(k, []num.Range{of.Range()}, of, num.Type{Kind: num.KindUInt, Width: 4})
	apart := map[bool]int{}
	for _, m := range []dataflow.Memory{dataflow.MemoryLUTRAM, dataflow.MemoryBRAM} {
		for _, form := range functions.AllFormsAt(steps.FormSite{PE: 2, Alike: true, Memory: m}) {
			more := func(mhz float64) int {
				c := layer.NewIterationChain(dataflow.Target{ClockMHz: mhz})
				before := c.LatencyClocks()
				c.DoStepFunctions(form, k, of.Width, 2, m)
				return c.LatencyClocks() - before
			}
			slow, fast := more(1), more(500)
			if want := form.LatencyClocks(); form.HasTablesPerLane() && slow != want || !form.HasTablesPerLane() &&
				slow != 0 {
				t.Errorf("%s in %v: %d clocks more, it takes %d", form.Name(), m, slow, want)
			}
			if fast < form.LatencyClocks() {
				t.Errorf("%s in %v: %d clocks more at a fast clock, it takes %d", form.Name(), m, fast,
					form.LatencyClocks())
			}
			apart[form.HasTablesPerLane()]++
		}
	}
	if apart[true] < 4 || apart[false] == 0 {
		t.Errorf("%v forms", apart)
	}
	c := layer.NewIterationChain(dataflow.Target{})
	before := c
	if c.DoStepFunctions(nil, num.ThresholdTable{}, 4, 1, dataflow.NoMemory); c != before {
		t.Error("no form takes something")
	}
}
