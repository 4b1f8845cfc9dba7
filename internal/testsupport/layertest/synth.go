package layertest

import (
	"testing"

	"hlsgen/internal/testsupport/synthtest"
	"hlsgen/internal/testsupport/tier"
)

// checkSynthesis compiles programs with clang as synthesis would. It checks that no loop remains, that every member of
// a config is read, and that each program gives the same if its reads must wait.
func checkSynthesis(t *testing.T, programs []program) {
	t.Helper()
	tier.Needs(t, "clang++", "opt", "nm")
	_, files, err := bench(programs)
	if err != nil {
		t.Fatal(err)
	}
	synthtest.Check(t, files, synthtest.Promises(files))
	if err := synthtest.CheckThreaded(t.Context(), t.TempDir(), "clang++", 120, files); err != nil {
		t.Error(err)
	}
}
