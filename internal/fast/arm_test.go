package fast

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hlsgen/internal/testsupport/tier"
)

// TestARM runs code compiled for arm64 in QEMU: it compares the kernels of every set with those in Go, sums at
// their limits, the codes of inputs, and all models of the repository with eval. It also checks that each processor
// selects the right sets, and that a processor without dot products uses the kernels that run on any.
func TestARM(t *testing.T) {
	t.Parallel()
	tier.NeedsLong(t)
	qemu := tier.Needs(t, "qemu-aarch64-static")[0]
	for _, c := range []struct {
		folder, tests, processor string
		sets                     []string
	}{
		{"internal/fast", ".", "max", []string{"NEON with I8MM", "NEON with dot products", "any"}},
		{"internal/fast", "Kernels|Pairs", "cortex-a76", []string{"NEON with dot products", "any"}},
		{"internal/fast", "Kernels|Pairs", "cortex-a57", []string{"any"}},
		{"internal/build", "^TestFast$", "max", nil},
	} {
		t.Run(filepath.Base(c.folder)+" on "+c.processor, func(t *testing.T) {
			t.Parallel()
			folder, file := filepath.Join(tier.Root(t), c.folder), filepath.Join(t.TempDir(), "test")
			run := func(env []string, name string, args ...string) string {
				cmd := exec.CommandContext(t.Context(), name, args...)
				cmd.Dir = folder
				ours := func(v string) bool { return strings.HasPrefix(v, "HLSGEN_") }
				cmd.Env = append(slices.DeleteFunc(os.Environ(), ours), env...)
				out, err := cmd.CombinedOutput()
				if err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
				return string(out)
			}
			run([]string{"GOARCH=arm64", "CGO_ENABLED=0"}, "go", "test", "-c", "-o", file, ".")
			out := run(nil, qemu, "-cpu", c.processor, file, "-test.short", "-test.v", "-test.run", c.tests)
			var sets []string
			for line := range strings.Lines(out) {
				rest, ok := strings.CutPrefix(line, "    --- PASS: TestKernels/")
				if set, _, end := strings.Cut(rest, " ("); ok && end {
					sets = append(sets, strings.ReplaceAll(set, "_", " "))
				}
			}
			slices.Sort(sets)
			if want := slices.Sorted(slices.Values(c.sets)); !slices.Equal(sets, want) {
				t.Errorf("kernels of %q, want %q", sets, want)
			}
			if !strings.HasSuffix(out, "PASS\n") {
				t.Error(out)
			}
		})
	}
}
