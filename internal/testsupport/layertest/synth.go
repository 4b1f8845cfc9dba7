package layertest

import (
	"testing"

	"hlsgen/internal/testsupport/synthtest"
	"hlsgen/internal/testsupport/tier"
)

// seconded is the number of folds per Check that a second compiler compiles.
const seconded = 10

// checkSynthesis compiles some programs with clang as synthesis would. It checks that no loop remains, and that every
// member of a config is read. In the full tier it also checks that each program gives the same if its reads must
// wait.
func checkSynthesis(t *testing.T, programs []program) {
	t.Helper()
	tier.Needs(t, "clang++", "opt", "nm")
	if !tier.Long() {
		programs = spread(programs, tier.CasesToRun(seconded))
	}
	_, files, err := bench(programs)
	if err != nil {
		t.Fatal(err)
	}
	synthtest.Check(t, files, synthtest.Promises(files))
	if !tier.Full() {
		return // tests of networks cover their layers
	}
	if err := synthtest.CheckThreaded(t.Context(), t.TempDir(), "clang++", 120, files); err != nil {
		t.Error(err)
	}
}
