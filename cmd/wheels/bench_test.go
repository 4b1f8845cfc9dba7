package main

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"testing"

	"hlsgen/internal/testsupport/tier"
)

// BenchmarkPredict measures predictions of a perceptron for MNIST by the package, from its own wheel, with the newest
// Python here: the time of one sample, once the process has the model, and the CPU time of 10,000 samples beside that
// of the command line on the same file.
func BenchmarkPredict(b *testing.B) {
	model := filepath.Join(tier.NeedsShared(b), "models", "zoo", "TFC_2W2A", "model.onnx")
	found, err := filepath.Glob(filepath.Join(tier.Root(b), "bin", "python", "3.*", "made"))
	if err != nil || len(found) == 0 {
		b.Skip("no Python is here: internal/setup/pythons.sh bin/python makes environments")
	}
	python := filepath.Join(filepath.Dir(found[len(found)-1]), "bin", "python")
	folder, packages := b.TempDir(), b.TempDir()
	wheels, err := write(b.Context(), "v1.2", folder, tier.Root(b), []string{"own"})
	if err != nil {
		b.Fatal(err)
	}
	install := append([]string{"-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--target", packages},
		wheels...)
	if said, err := exec.Command(python, install...).CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, said)
	}
	for b.Loop() {
		c := exec.Command(python, "testdata/predict.py", model, b.TempDir())
		c.Env = append(c.Environ(), "PYTHONPATH="+packages)
		said, err := c.Output()
		var of map[string]float64
		if err == nil {
			err = json.Unmarshal(said, &of)
		}
		if err != nil {
			b.Fatalf("%v\n%s", err, said)
		}
		for name, value := range of {
			b.ReportMetric(value, name)
		}
	}
}
