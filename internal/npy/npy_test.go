package npy

import (
	"archive/zip"
	"bytes"
	"cmp"
	"compress/flate"
	"errors"
	"hash/crc32"
	"math"
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
		{"float16", []int{8}, []float64{0, 1, -0x1p-24, 0x3ffp-24, 0x1p-14, 65504, -1.5, math.Inf(1)}},
		{"float32", []int{0, 4}, []float64{}},
	} {
		b, err := EncodeNPY(a)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := ParseNPY(b); err != nil || !reflect.DeepEqual(got, a) {
			t.Errorf("wrote %+v, read %+v, %v", a, got, err)
		}
	}
}

func TestForms(t *testing.T) {
	t.Parallel()
	h := "{'descr': '>i2', 'fortran_order': True, 'shape': (2, 2), }\n"
	fortran := "\x93NUMPY\x01\x00" + string([]byte{byte(len(h)), 0}) + h + "\x00\x01\x00\x03\x00\x02\x00\x04"
	a, err := ParseNPY([]byte(fortran))
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
	good, _ := EncodeNPY(&Array{"float32", []int{4}, make([]float64, 4)})
	for n := range good {
		if _, err := ParseNPY(good[:n]); err == nil {
			t.Errorf("the first %d bytes of %d were accepted", n, len(good))
		}
	}
	for _, h := range []string{"{'descr': '|O', 'fortran_order': False, 'shape': (1,), }",
		"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999,99999999999), }"} {
		b := append([]byte("\x93NUMPY\x01\x00"), byte(len(h)), 0)
		if _, err := ParseNPY(append(append(b, h...), make([]byte, 64)...)); err == nil {
			t.Errorf("header %s was accepted", h)
		}
	}
	for _, a := range []*Array{{"int8", []int{1}, []float64{128}}, {"uint8", []int{1}, []float64{-1}},
		{"int32", []int{1}, []float64{0.5}}, {"bool", []int{1}, []float64{2}}, {"text", []int{1}, []float64{0}}} {
		if _, err := EncodeNPY(a); err == nil {
			t.Errorf("%+v was written", a)
		}
	}
}

func TestZip(t *testing.T) {
	t.Parallel()
	in := map[string]*Array{"b": {"float32", []int{1}, []float64{2}}, "a/x": {"int8", []int{2}, []float64{1, 2}}}
	b, err := EncodeNPZ(in)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "x.npz")
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
	got, err := ReadArrays(path)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, in) {
		t.Errorf("wrote %v, read %v", in, got)
	}
	if again, _ := EncodeNPZ(in); string(again) != string(b) {
		t.Error("equal arrays gave different bytes")
	}
	if _, err := ReadArrays(filepath.Join(t.TempDir(), "none")); err == nil ||
		!strings.Contains(err.Error(), "no such file") {
		t.Errorf("a missing file gave %v", err)
	}
}

// A packed is a file in an .npz file, with the sizes that the directory states; 0 stands for the true size.
type packed struct {
	name          string
	data          []byte
	whole, packed uint64
	crc           uint32
}

// zipOf writes members with the stated sizes.
func zipOf(t *testing.T, members ...packed) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, m := range members {
		var raw bytes.Buffer
		w, err := flate.NewWriter(&raw, 9)
		if err == nil {
			_, err = w.Write(m.data)
		}
		if err = errors.Join(err, w.Close()); err != nil {
			t.Fatal(err)
		}
		h := &zip.FileHeader{Name: m.name, Method: zip.Deflate, CRC32: cmp.Or(m.crc, crc32.ChecksumIEEE(m.data)),
			UncompressedSize64: cmp.Or(m.whole, uint64(len(m.data))),
			CompressedSize64:   cmp.Or(m.packed, uint64(raw.Len()))}
		to, err := z.CreateRaw(h)
		if err == nil {
			_, err = to.Write(raw.Bytes())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// promise returns an .npy file whose header promises a shape, with the given number of bytes.
func promise(shape string, bytes int) []byte {
	h := "{'descr': '|u1', 'fortran_order': False, 'shape': (" + shape + "), }\n"
	return append([]byte("\x93NUMPY\x01\x00"+string([]byte{byte(len(h)), 0})+h), make([]byte, bytes)...)
}

// TestBombs checks that a file is never read further than its header and its size allow.
func TestBombs(t *testing.T) {
	t.Parallel()
	small := promise("4,", 4)
	for _, c := range []struct {
		name string
		zip  []byte
		want string // must be in the error; empty if the file is read
	}{
		{"as it should be", zipOf(t, packed{name: "a.npy", data: small}, packed{name: "b.npy", data: small}), ""},
		{"more than is read", zipOf(t, packed{name: "a.npy", data: promise("268435457,", 0), whole: 1 << 40,
			packed: 1 << 31}), "its stated size is"},
		{"a shape beyond its bytes", zipOf(t, packed{name: "a.npy", data: promise("5,", 4)}),
			"is more than the 4 bytes"},
		{"more bytes than are there", zipOf(t, packed{name: "a.npy", data: promise("100,", 4), whole: 200}),
			"cut off"},
		{"more bytes than can be there", zipOf(t, packed{name: "a.npy", data: promise("9999999,", 4),
			whole: 1 << 30}), "can hold"},
		{"zeros behind it", zipOf(t, packed{name: "a.npy", data: promise("4,", 1<<20)}), "more bytes follow"},
		{"another checksum", zipOf(t, packed{name: "a.npy", data: small, crc: 1}), "checksum"},
		{"a name twice", zipOf(t, packed{name: "a.npy", data: small}, packed{name: "a", data: small}),
			"stands in it twice"},
		{"no array", zipOf(t, packed{name: "a.txt", data: []byte("hello")}), `"a.txt": not an .npy file`},
	} {
		got, err := parseZip(bytes.NewReader(c.zip), int64(len(c.zip)))
		if c.want == "" && (err != nil || len(got) != 2) || c.want != "" && (err == nil ||
			!strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, %v", c.name, got, err)
		}
	}
	// The size is possible for a file, but there are more elements than allowed.
	left := MaxElementsPerFile
	if _, err := parse(bytes.NewReader(promise("268435457,", 0)), 1<<30, &left); err == nil ||
		!strings.Contains(err.Error(), "at most 268435456 are read") {
		t.Error(err)
	}
	// All arrays of a file count towards the limit.
	left = 7
	for _, want := range []bool{true, false} {
		if _, err := parse(bytes.NewReader(small), int64(len(small)), &left); (err == nil) != want {
			t.Error(err)
		}
	}
	if _, err := ParseNPY(promise(strings.Repeat("1,", 65), 1)); err == nil {
		t.Error("65 axes are read")
	}
}

func FuzzParse(f *testing.F) {
	good, _ := EncodeNPY(&Array{"int16", []int{2, 2}, []float64{1, 2, 3, 4}})
	f.Add(good)
	f.Fuzz(func(t *testing.T, b []byte) {
		if a, err := ParseNPY(b); err == nil && a.ElementCount() != len(a.Data) {
			t.Errorf("shape %v with %d elements", a.Shape, len(a.Data))
		}
	})
}

// FuzzZip checks that no archive makes the reader panic or return arrays whose sizes differ from their shapes.
func FuzzZip(f *testing.F) {
	good, _ := EncodeNPZ(map[string]*Array{"a": {"int8", []int{2}, []float64{1, 2}}, "b": {"bool", nil, []float64{1}}})
	f.Add(good)
	f.Add(good[:len(good)/2])
	f.Fuzz(func(t *testing.T, b []byte) {
		all, err := parseZip(bytes.NewReader(b), int64(len(b)))
		for name, a := range all {
			if err == nil && a.ElementCount() != len(a.Data) {
				t.Errorf("%q: shape %v with %d elements", name, a.Shape, len(a.Data))
			}
		}
	})
}
