// Package mutants checks the tests of other packages: it spoils a line of production code, and one of the package's own
// tests must fail, by the check that is there for it.
package mutants

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"hlsgen/internal/testsupport/tier"
)

// A mutant is a defect: to replaces from in a file of the module. Then the test of the package in the same folder must
// fail, and print caught.
type mutant struct {
	name, file, from, to string
	test, caught         string
}

var mutants = []mutant{
	{"adders of one PE are priced", "hlslib/add/cost.go", "cost.AdderCost(o.sum.Width).Times(f.PE).AsPart",
		"cost.AdderCost(o.sum.Width).AsPart", "TestCost", "PE:2 SIMD:1"},
	{"the latency has no stage for the read of a word", "hlslib/pool/pool.go", "c.DoStreamRead()\n\tc.DoReductionTree",
		"c.DoReductionTree", "TestContract", "latency: "},
	{"sums have the range of one value fewer", "hlslib/pool/pool.go", "OutputType(in[0], o.positions,",
		"OutputType(in[0], max(1, o.positions-1),", "TestContract", "eval: "},
	{"the circuit swaps positions and channels", "hlslib/pool/circuit.go", "x[i*f.PE+pe]", "x[pe*f.SIMD+i]",
		"TestContract", "circuit: "},
	{"a control state is not reset", "hlslib/threshold/threshold.hpp",
		"#pragma HLS RESET variable=place\n    counter<C::folds> fold",
		"#pragma HLS RESET variable=place off\n    counter<C::folds> fold", "TestContract", "text: "},
	{"narrow sums run for twice as long", "internal/fast/forms.go", "math.MaxInt8 / (4 * ", "math.MaxInt8 / (2 * ",
		"TestKernels", "looked"},
	{"the host's scale is a float32", "templates/deploy/ends.go", "float64 { return m.Scale }",
		"float64 { return float64(float32(m.Scale)) }", "TestEnds", "seed "},
	{"comparisons have half of their cells", "hlslib/price/luts/device.go", "return 2 * float64((width+2)/3)",
		"return float64((width + 2) / 3)", "TestRules", "of seven along a carry chain"},
	{"words need not divide a vector", "hlslib/upsample/upsample.go", "dataflow.Divisors(shape[2])",
		"dataflow.Divisors(3*shape[2])", "TestContractOfBlocks", "ports: "},
}

// TestMutants runs, with each mutant, the test that must find it. Below the full tier it takes the first mutants only.
func TestMutants(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	root := tier.Root(t)
	for _, m := range mutants[:tier.CasesToRun(len(mutants))] {
		t.Run(m.name, func(t *testing.T) {
			file := filepath.Join(root, filepath.FromSlash(m.file))
			source, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if n := strings.Count(string(source), m.from); n != 1 {
				t.Fatalf("%s has %q %d times, want once", m.file, m.from, n)
			}
			dir := t.TempDir()
			spoiled, overlay := filepath.Join(dir, "spoiled"), filepath.Join(dir, "overlay.json")
			places, err := json.Marshal(map[string]any{"Replace": map[string]string{file: spoiled}})
			if err != nil {
				t.Fatal(err)
			}
			for path, data := range map[string][]byte{
				spoiled: []byte(strings.Replace(string(source), m.from, m.to, 1)), overlay: places} {
				if err := os.WriteFile(path, data, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			c := exec.CommandContext(t.Context(), "go", "test", "-short", "-overlay", overlay, "-run", "^"+m.test+"$",
				"./"+filepath.ToSlash(filepath.Dir(m.file)))
			c.Dir = root
			said, err := c.CombinedOutput()
			failed := strings.Contains(string(said), "--- FAIL: "+m.test)
			if err == nil || !failed || !strings.Contains(string(said), m.caught) {
				t.Errorf("%s does not find it with %q: %v\n%.4000s", m.test, m.caught, err, said)
			}
		})
	}
}
