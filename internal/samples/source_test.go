package samples

import (
	"bytes"
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/npy"
)

// inFile is an array in a file, in row-major or column-major order.
func inFile(t *testing.T, a *npy.Array, fortran bool) map[string]*npy.ArrayReader {
	t.Helper()
	b, err := npy.EncodeNPYHeader(a.DType, a.Shape)
	if err != nil {
		t.Fatal(err)
	}
	at := func(i int) int { return i }
	if fortran {
		b = bytes.Replace(b, []byte("False"), []byte("True "), 1)
		at = func(i int) (place int) { // which element stands at place i
			stride := len(a.Data)
			for _, d := range a.Shape {
				stride /= d
				place += i % d * stride
				i /= d
			}
			return place
		}
	}
	for i := range a.Data {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(a.Data[at(i)])))
	}
	path := filepath.Join(t.TempDir(), "x.npy")
	if err := os.WriteFile(path, b, 0o666); err != nil {
		t.Fatal(err)
	}
	arrays, done, err := npy.OpenArrays(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { done() })
	return arrays
}

// TestParts reads samples of every layout part by part: they are those of the whole array, and outputs of parts, put
// where they lie, are those of all samples.
func TestParts(t *testing.T) {
	t.Parallel()
	image := dataflow.RealTensorInfo{Name: "x", Shape: []int{1, 2, 3}, DType: "float32", Batch: true}
	steps := dataflow.RealTensorInfo{Name: "x", Shape: []int{3, 1, 2}, DType: "float32", Batch: true, Axis: 1}
	fixed := dataflow.RealTensorInfo{Name: "x", Shape: []int{1, 3}, Whole: []int{4, 3}, DType: "float32", Batch: true}
	inner := dataflow.RealTensorInfo{Name: "x", Shape: []int{3, 1, 2}, Whole: []int{3, 4, 2}, DType: "float32",
		Batch: true,
		Axis:  1}
	for _, c := range []struct {
		in     dataflow.RealTensorInfo
		shape  []int
		runs   int
		floats bool // also in column-major order
	}{
		{image, []int{1, 2, 3}, 1, true}, {image, []int{7, 2, 3}, 7, true}, {image, []int{7, 1, 2, 3}, 7, true},
		{steps, []int{3, 1, 2}, 1, false}, {steps, []int{7, 3, 1, 2}, 7, true}, {steps, []int{3, 7, 2}, 7, false},
		{fixed, []int{4, 3}, 4, true}, {fixed, []int{3, 4, 3}, 12, true}, {fixed, []int{7, 3}, 7, true},
		{inner, []int{3, 4, 2}, 4, false}, {inner, []int{3, 3, 4, 2}, 12, false}, {inner, []int{3, 7, 2}, 7, false},
	} {
		out := c.in
		m := &dataflow.Model{In: []dataflow.RealTensorInfo{c.in}, Out: []dataflow.RealTensorInfo{out}}
		a := counted(c.shape)
		all, err := splitIntoRuns(m, map[string]*npy.Array{"": a})
		if err != nil || len(all.In) != c.runs {
			t.Fatal(c.shape, err)
		}
		for _, fortran := range []bool{false, true} {
			s, err := OpenSampleSource(m, inFile(t, a, fortran), nil)
			if err != nil {
				t.Fatal(err)
			}
			for size := s.unit; size <= c.runs; size += s.unit {
				whole := make([]float64, len(a.Data)) // of outputs, which are the inputs
				for from := 0; from < c.runs; from += size {
					to := min(from+size, c.runs)
					p := &StoredPart{}
					if err := s.ReadStoredPart(p, from, to); err != nil {
						t.Fatal(err)
					}
					part, err := p.ToRuns()
					if err != nil || !reflect.DeepEqual(part.In, all.In[from:to]) || part.First != from {
						t.Fatalf("%v, Fortran order %t, %d to %d: %v, %v", c.shape, fortran, from, to, part, err)
					}
					if s.HasInputFloats() {
						alike(t, p.InputFloats(0), part)
					}
					var list []dataflow.RealTensor
					for _, run := range part.In {
						list = append(list, run[0])
					}
					data, e := part.JoinOutputs(out, list), s.ExtentOfRuns(out, from, to)
					for block := range e.Blocks {
						n := e.To - e.From
						copy(whole[block*e.Block+e.From:][:n], data[block*n:])
					}
				}
				if !slices.Equal(whole, a.Data) || !slices.Equal(s.JoinedOutputShape(out), c.shape) {
					t.Errorf("%v, Fortran order %t, parts of %d: %v of shape %v", c.shape, fortran, size, whole,
						s.JoinedOutputShape(out))
				}
			}
			if s.HasInputFloats() != (c.floats || !fortran && s.lie.together(c.in)) && c.runs > 1 {
				t.Errorf("%v, Fortran order %t: as they lie in the file %t", c.shape, fortran, s.HasInputFloats())
			}
			some, err := s.ReadRange(1, c.runs)
			if err != nil || c.runs > 1 && !reflect.DeepEqual(some.In, all.In[1:]) {
				t.Errorf("%v: all but the first are %v, %v", c.shape, some, err)
			}
		}
	}
}

// alike holds numbers against those of runs.
func alike(t *testing.T, x []float32, runs *RunInputs) {
	t.Helper()
	for _, run := range runs.In {
		for _, v := range run[0].Data {
			if float64(x[0]) != v {
				t.Fatalf("%v, want %v", x[0], v)
			}
			x = x[1:]
		}
	}
	if len(x) > 0 {
		t.Errorf("%d numbers more", len(x))
	}
}
