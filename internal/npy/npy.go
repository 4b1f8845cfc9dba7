// Package npy reads and writes NumPy's .npy and .npz files: what users and their frameworks exchange tensors in.
// Format: numpy.lib.format, versions 1 to 3.
//
// In come bytes; out come arrays, and the other way round. It sees regular.
package npy

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"hlsgen/internal/regular"
)

// An Array is a tensor in row-major order. Every supported dtype but large 64-bit integers is exact in a float64.
type Array struct {
	DType string // numpy's name: float32, int64, uint8 ...
	Shape []int
	Data  []float64
}

// dtypes maps numpy's type codes to names and sizes.
var dtypes = map[string]struct {
	name string
	size int
}{
	"f4": {"float32", 4}, "f8": {"float64", 8}, "f2": {"float16", 2}, "i1": {"int8", 1}, "i2": {"int16", 2},
	"i4": {"int32", 4}, "i8": {"int64", 8},
	"u1": {"uint8", 1}, "u2": {"uint16", 2}, "u4": {"uint32", 4}, "u8": {"uint64", 8}, "b1": {"bool", 1},
}

// Size is the number of elements.
func (a *Array) Size() int {
	n := 1
	for _, d := range a.Shape {
		n *= d
	}
	return n
}

// maxInt bounds 64-bit integers: beyond 2^53 a float64 would change them.
const maxInt = 1 << 53

var (
	descrRE   = regexp.MustCompile(`'descr'\s*:\s*'([<>|=])([a-z]\d)'`)
	fortranRE = regexp.MustCompile(`'fortran_order'\s*:\s*(True|False)`)
	shapeRE   = regexp.MustCompile(`'shape'\s*:\s*\(([\d,\s]*)\)`)
)

// Parse reads one .npy file. Sizes that the header promises are checked against the bytes that are there before
// anything is allocated.
func Parse(b []byte) (*Array, error) {
	if len(b) < 10 || string(b[:6]) != "\x93NUMPY" {
		return nil, fmt.Errorf("not an .npy file")
	}
	from, size := 10, 0 // of the header
	switch b[6] {
	case 1:
		size = int(binary.LittleEndian.Uint16(b[8:]))
	case 2, 3:
		if from = 12; len(b) >= from {
			size = int(binary.LittleEndian.Uint32(b[8:]))
		}
	default:
		return nil, fmt.Errorf("format version %d is unknown", b[6])
	}
	if len(b)-from < size {
		return nil, fmt.Errorf("the header is cut off")
	}
	header, data := b[from:from+size], b[from+size:]
	descr, fortran, shape := descrRE.FindSubmatch(header), fortranRE.FindSubmatch(header), shapeRE.FindSubmatch(header)
	if descr == nil || fortran == nil || shape == nil {
		return nil, fmt.Errorf("header %.80q is not understood (objects, text and structured types are not supported)",
			header)
	}
	t, ok := dtypes[string(descr[2])]
	if !ok {
		return nil, fmt.Errorf("data type %q is not supported", descr[2])
	}
	a := &Array{DType: t.name}
	n := 1
	for _, f := range strings.Split(string(shape[1]), ",") {
		f = strings.TrimSpace(f)
		if f == "" {
			continue
		}
		d, err := strconv.Atoi(f)
		if err != nil || d < 0 || d > 0 && n > len(data)/d {
			return nil, fmt.Errorf("shape (%s) is more than the %d bytes of data", shape[1], len(data))
		}
		n *= d
		a.Shape = append(a.Shape, d)
	}
	if len(data) < n*t.size {
		return nil, fmt.Errorf("shape (%s) needs %d bytes, there are %d", shape[1], n*t.size, len(data))
	}
	var order binary.ByteOrder = binary.LittleEndian
	if descr[1][0] == '>' {
		order = binary.BigEndian
	}
	a.Data = make([]float64, n)
	for i := range a.Data {
		v, ok := decode(string(descr[2]), order, data[i*t.size:])
		if !ok {
			return nil, fmt.Errorf("element %d is beyond 2^53", i)
		}
		a.Data[i] = v
	}
	if string(fortran[1]) == "True" {
		a.rowMajor()
	}
	return a, nil
}

func decode(code string, o binary.ByteOrder, b []byte) (float64, bool) {
	switch code {
	case "f4":
		return float64(math.Float32frombits(o.Uint32(b))), true
	case "f8":
		return math.Float64frombits(o.Uint64(b)), true
	case "f2":
		return half(o.Uint16(b)), true
	case "i1":
		return float64(int8(b[0])), true
	case "i2":
		return float64(int16(o.Uint16(b))), true
	case "i4":
		return float64(int32(o.Uint32(b))), true
	case "u1", "b1":
		return float64(b[0]), true
	case "u2":
		return float64(o.Uint16(b)), true
	case "u4":
		return float64(o.Uint32(b)), true
	case "i8":
		v := int64(o.Uint64(b))
		return float64(v), -maxInt <= v && v <= maxInt
	}
	v := o.Uint64(b)
	return float64(v), v <= maxInt
}

// half is an IEEE 754 binary16.
func half(b uint16) float64 {
	sign, exp, man := 1-2*float64(b>>15), int(b>>10&31), float64(b&1023)
	switch exp {
	case 0:
		return sign * man * 0x1p-24
	case 31:
		if man != 0 {
			return math.NaN()
		}
		return sign * math.Inf(1)
	}
	return sign * math.Ldexp(1024+man, exp-25)
}

// rowMajor reorders data that were read in column-major order.
func (a *Array) rowMajor() {
	out := make([]float64, len(a.Data))
	coord := make([]int, len(a.Shape))
	for i := range out {
		at, stride := 0, 1
		for k, d := range a.Shape {
			at += coord[k] * stride
			stride *= d
		}
		out[i] = a.Data[at]
		for k := len(coord) - 1; k >= 0; k-- {
			if coord[k]++; coord[k] < a.Shape[k] {
				break
			}
			coord[k] = 0
		}
	}
	a.Data = out
}

// Format writes a in .npy format 1.0. Integer types must hold every value exactly.
func Format(a *Array) ([]byte, error) {
	code := ""
	for c, t := range dtypes {
		if t.name == a.DType {
			code = c
		}
	}
	if code == "" || code == "f2" || a.Size() != len(a.Data) {
		return nil, fmt.Errorf("cannot write %d elements of shape %v as %s", len(a.Data), a.Shape, a.DType)
	}
	dims := ""
	for _, d := range a.Shape {
		dims += strconv.Itoa(d) + ","
	}
	order := "<"
	if dtypes[code].size == 1 {
		order = "|"
	}
	h := fmt.Sprintf("{'descr': '%s%s', 'fortran_order': False, 'shape': (%s), }", order, code, dims)
	h += strings.Repeat(" ", (64-(10+len(h)+1)%64)%64) + "\n"
	var b bytes.Buffer
	b.WriteString("\x93NUMPY\x01\x00")
	binary.Write(&b, binary.LittleEndian, uint16(len(h)))
	b.WriteString(h)
	for i, v := range a.Data {
		raw, ok := encode(code, v)
		if !ok {
			return nil, fmt.Errorf("element %d (%v) is no %s", i, v, a.DType)
		}
		b.Write(raw)
	}
	return b.Bytes(), nil
}

func encode(code string, v float64) ([]byte, bool) {
	o := binary.LittleEndian
	switch code {
	case "f4":
		return o.AppendUint32(nil, math.Float32bits(float32(v))), true
	case "f8":
		return o.AppendUint64(nil, math.Float64bits(v)), true
	}
	if v != math.Trunc(v) || math.Abs(v) > maxInt {
		return nil, false
	}
	n := int64(v)
	bits := dtypes[code].size * 8
	signed := code[0] == 'i'
	ok := bits == 64 && (signed || n >= 0) || signed && n>>(bits-1) == n>>63 || !signed && bits < 64 && n>>bits == 0
	if code == "b1" {
		ok = n == 0 || n == 1
	}
	return o.AppendUint64(nil, uint64(n))[:bits/8], ok
}

// maxFile bounds what is read into memory.
const maxFile = 4 << 30

// ReadFile reads an .npy file, or every array of an .npz file by name; a single .npy has the name "".
func ReadFile(path string) (map[string]*Array, error) {
	b, err := regular.ReadFile(path, maxFile)
	if err != nil {
		return nil, err
	}
	if bytes.HasPrefix(b, []byte("PK")) {
		out, err := ParseZip(b)
		return out, named(path, err)
	}
	a, err := Parse(b)
	return map[string]*Array{"": a}, named(path, err)
}

// named says whose error it is.
func named(path string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", filepath.Base(path), err)
}

// ParseZip reads the arrays of an .npz file.
func ParseZip(b []byte) (map[string]*Array, error) {
	z, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return nil, err
	}
	out := map[string]*Array{}
	left := int64(maxFile)
	for _, f := range z.File {
		name := strings.TrimSuffix(f.Name, ".npy")
		r, err := f.Open()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		data, err := io.ReadAll(io.LimitReader(r, left+1))
		r.Close()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if left -= int64(len(data)); left < 0 {
			return nil, fmt.Errorf("the arrays need more than %d bytes", int64(maxFile))
		}
		if out[name], err = Parse(data); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return out, nil
}

// FormatZip writes arrays as an .npz file, sorted by name and without times, so that equal arrays give equal bytes.
func FormatZip(arrays map[string]*Array) ([]byte, error) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(arrays)) {
		data, err := Format(arrays[name])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		w, err := z.CreateHeader(&zip.FileHeader{Name: name + ".npy", Method: zip.Deflate})
		if err != nil {
			return nil, err
		}
		if _, err := w.Write(data); err != nil {
			return nil, err
		}
	}
	err := z.Close()
	return b.Bytes(), err
}
