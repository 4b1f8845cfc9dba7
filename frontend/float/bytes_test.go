package float_test

import (
	"fmt"
	"hash/fnv"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"hlsgen/frontend/float"
	"hlsgen/frontend/graph"
	"hlsgen/internal/tier"
)

// want is the checksum of what some drawn models give, on every processor.
const want = "49ad8a68e371d213"

// TestBytes holds that the results of drawn models are the same bytes everywhere.
func TestBytes(t *testing.T) {
	t.Parallel()
	sum := fnv.New64a()
	for seed := range 80 {
		p, d := draw(t, uint64(seed))
		part, err := float.New(p, []string{"x"}, []string{d.tensor})
		if err != nil {
			t.Fatal(err)
		}
		in := make([]float64, graph.Size(p.Known["x"].Shape))
		for i := range in {
			in[i] = d.number()
		}
		for _, v := range outputs(t, part, in) {
			fmt.Fprintf(sum, "%016x", math.Float64bits(v))
		}
	}
	if got := fmt.Sprintf("%x", sum.Sum64()); got != want {
		t.Errorf("checksum %s, want %s", got, want)
	}
}

// TestOtherProcessors has TestBytes, and what holds saved models, run as they are compiled for others.
func TestOtherProcessors(t *testing.T) {
	t.Parallel()
	tier.NeedsLong(t)
	qemu := tier.Needs(t, "qemu-aarch64-static")[0]
	for _, c := range []struct {
		name string
		env  []string
		run  []string
	}{
		{"any amd64", []string{"GOARCH=amd64", "GOAMD64=v1"}, nil},
		{"amd64 with FMA", []string{"GOARCH=amd64", "GOAMD64=v3"}, nil},
		{"arm64", []string{"GOARCH=arm64"}, []string{qemu}},
	} {
		for _, folder := range []string{"frontend/float", "frontend"} {
			t.Run(c.name+", "+folder, func(t *testing.T) {
				t.Parallel()
				file := filepath.Join(t.TempDir(), "test")
				build := exec.CommandContext(t.Context(), "go", "test", "-c", "-o", file, "./"+folder)
				build.Dir, build.Env = tier.Root(t), append(os.Environ(), append(c.env, "CGO_ENABLED=0")...)
				if out, err := build.CombinedOutput(); err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
				line := append(append([]string{}, c.run...), file, "-test.v", "-test.run", "^Test(Saved)?Bytes$")
				run := exec.CommandContext(t.Context(), line[0], line[1:]...)
				run.Dir = filepath.Join(tier.Root(t), folder)
				out, err := run.CombinedOutput()
				if err != nil || !strings.Contains(string(out), "--- PASS") {
					t.Errorf("%v\n%s", err, out)
				}
			})
		}
	}
}
