// Package samplefiles writes models, samples and labels to files, for tests, and reads arrays from them.
//
//	files.go   arrays, examples and other files
//	digits.go  the embedded example's samples, and a model without its quantisers
package samplefiles

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hlsgen/frontend/graph"
	"hlsgen/internal/diag"
	"hlsgen/internal/examples"
	"hlsgen/internal/npy"
)

// WriteFile writes a file of that name to a temporary folder of its own, and returns its path.
func WriteFile(t testing.TB, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// Save writes an array to an .npy file, and returns its path.
func Save(t *testing.T, path string, a *npy.Array) string {
	t.Helper()
	b, err := npy.EncodeNPY(a)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// Write writes an array to an .npy file in a temporary folder of its own, and returns its path.
func Write(t *testing.T, a *npy.Array) string { return Save(t, filepath.Join(t.TempDir(), "x.npy"), a) }

// Read reads the array of an .npy file.
func Read(t *testing.T, path string) *npy.Array {
	t.Helper()
	m, err := npy.ReadArrays(path)
	if err != nil {
		t.Fatal(err)
	}
	return m[""]
}

// WriteZip writes arrays by name to an .npz file in a temporary folder of its own, and returns its path.
func WriteZip(t *testing.T, arrays map[string]*npy.Array) string {
	t.Helper()
	b, err := npy.EncodeNPZ(arrays)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "in.npz")
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// Examples writes the embedded examples to a temporary folder, and returns its path.
func Examples(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, examples.EmbeddedFiles); err != nil {
		t.Fatal(err)
	}
	return dir
}

// WantClean fails the test if err is not nil, or if d holds any diagnostic.
func WantClean(t *testing.T, d *diag.List, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	d.Write(&b)
	if b.Len() > 0 {
		t.Fatalf("diagnostics:\n%s", b.String())
	}
}

// Noise returns an array of the given shape with random numbers from seed.
func Noise(seed uint64, shape ...int) *npy.Array {
	r := rand.New(rand.NewPCG(seed, 9))
	a := &npy.Array{DType: "float32", Shape: shape}
	for range graph.ElementCount(shape) {
		a.Data = append(a.Data, float64(float32(2*r.Float64()-1)))
	}
	return a
}
