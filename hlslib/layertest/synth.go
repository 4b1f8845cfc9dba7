package layertest

import (
	"testing"

	"hlsgen/internal/tier"
	"hlsgen/templates/synthtest"
)

// seconded is how many folds of the cases of a Check a second compiler looks at.
const seconded = 10

// checkSynthesis has clang make of some programs what synthesis is to make of them, and sees that no loop is left, and
// no member of a config that nothing reads; in the full tier, that each does the same where its reads wait.
func checkSynthesis(t *testing.T, programs []program) {
	t.Helper()
	tier.Needs(t, "clang++", "opt", "nm")
	if !tier.Long() {
		programs = spread(programs, tier.Few(seconded))
	}
	_, files, err := bench(programs)
	if err != nil {
		t.Fatal(err)
	}
	synthtest.Check(t, files, synthtest.Promises(files))
	if !tier.Full() {
		return // networks stand for their layers
	}
	if err := synthtest.Threads(t.Context(), t.TempDir(), "clang++", 120, files); err != nil {
		t.Error(err)
	}
}
