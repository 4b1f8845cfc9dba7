package npy

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func TestRoundTrip(t *testing.T) {
	t.Parallel()
	for _, a := range []*Array{
		{"float32", []int{2, 3}, []float64{0, -1.5, 3.25, 1e-40 * 0, 7, 8}},
		{"float64", nil, []float64{0.1}},
		{"int8", []int{2}, []float64{-128, 127}},
		{"uint16", []int{1, 1, 2}, []float64{0, 65535}},
		{"int64", []int{3}, []float64{-maxInt, 0, maxInt}},
		{"bool", []int{2}, []float64{1, 0}},
		{"float32", []int{0, 4}, []float64{}},
	} {
		b, err := Format(a)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := Parse(b); err != nil || !reflect.DeepEqual(got, a) {
			t.Errorf("wrote %+v, read %+v, %v", a, got, err)
		}
	}
}

func TestForms(t *testing.T) {
	t.Parallel()
	h := "{'descr': '>i2', 'fortran_order': True, 'shape': (2, 2), }\n"
	fortran := "\x93NUMPY\x01\x00" + string([]byte{byte(len(h)), 0}) + h + "\x00\x01\x00\x03\x00\x02\x00\x04"
	a, err := Parse([]byte(fortran))
	if err != nil {
		t.Fatal(err)
	}
	if want := []float64{1, 2, 3, 4}; !reflect.DeepEqual(a.Data, want) {
		t.Errorf("column-major data read as %v, want %v", a.Data, want)
	}
	for b, want := range map[uint16]float64{0x3c00: 1, 0xc000: -2, 0x0001: 0x1p-24, 0x7bff: 65504} {
		if got := half(b); got != want {
			t.Errorf("half %#x is %v, want %v", b, got, want)
		}
	}
}

func TestRejects(t *testing.T) {
	t.Parallel()
	good, _ := Format(&Array{"float32", []int{4}, make([]float64, 4)})
	for n := range good {
		if _, err := Parse(good[:n]); err == nil {
			t.Errorf("the first %d bytes of %d were accepted", n, len(good))
		}
	}
	for _, h := range []string{"{'descr': '|O', 'fortran_order': False, 'shape': (1,), }",
		"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999,99999999999), }"} {
		b := append([]byte("\x93NUMPY\x01\x00"), byte(len(h)), 0)
		if _, err := Parse(append(append(b, h...), make([]byte, 64)...)); err == nil {
			t.Errorf("header %s was accepted", h)
		}
	}
	for _, a := range []*Array{{"int8", []int{1}, []float64{128}}, {"uint8", []int{1}, []float64{-1}},
		{"int32", []int{1}, []float64{0.5}}, {"bool", []int{1}, []float64{2}}, {"text", []int{1}, []float64{0}}} {
		if _, err := Format(a); err == nil {
			t.Errorf("%+v was written", a)
		}
	}
}

func TestZip(t *testing.T) {
	t.Parallel()
	in := map[string]*Array{"b": {"float32", []int{1}, []float64{2}}, "a/x": {"int8", []int{2}, []float64{1, 2}}}
	b, err := FormatZip(in)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "x.npz")
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
	got, err := ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, in) {
		t.Errorf("wrote %v, read %v", in, got)
	}
	if again, _ := FormatZip(in); string(again) != string(b) {
		t.Error("equal arrays gave different bytes")
	}
	if _, err := ReadFile(filepath.Join(t.TempDir(), "none")); err == nil ||
		!strings.Contains(err.Error(), "no such file") {
		t.Errorf("a missing file gave %v", err)
	}
}

func FuzzParse(f *testing.F) {
	good, _ := Format(&Array{"int16", []int{2, 2}, []float64{1, 2, 3, 4}})
	f.Add(good)
	f.Fuzz(func(t *testing.T, b []byte) {
		if a, err := Parse(b); err == nil && a.Size() != len(a.Data) {
			t.Errorf("shape %v with %d elements", a.Shape, len(a.Data))
		}
	})
}
