package templates_test

import (
	"testing"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/testsupport/synthtest"
	"hlsgen/internal/testsupport/tier"
)

// TestSynthesis has a second compiler read networks. It checks the remaining loops, calls that were not inlined, and
// the owners of static variables.
func TestSynthesis(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name   string
		design func(testing.TB) *dataflow.Design
	}{{"keeping", keeping}, {"forked", forked}, {"twins", twins}, {"tfc", tfc}, {"small", small}}
	for _, c := range cases[:tier.CasesToRun(len(cases))] {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := c.design(t)
			files, _ := project(t, d, 1)
			synthtest.Check(t, files, synthtest.Promises(files))
		})
	}
}
