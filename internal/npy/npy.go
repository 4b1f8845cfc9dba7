// Package npy reads and writes NumPy's .npy and .npz files, the formats in which users and their frameworks
// exchange tensors. The format is numpy.lib.format, versions 1 to 3.
//
// In come bytes; out come arrays, and the other way round. header.go parses headers, stream.go reads parts of arrays,
// write.go writes files.
package npy

import (
	"archive/zip"
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strings"

	"hlsgen/internal/safefile"
)

// An Array is a tensor in row-major order. A float64 represents every supported dtype exactly, except large 64-bit
// integers.
type Array struct {
	DType string // name of the type in numpy: float32, int64, uint8 ...
	Shape []int
	Data  []float64
}

// dtypes maps numpy's codes of types, such as f4, to their names and to their sizes in bytes.
var dtypes = map[string]struct {
	name string
	size int
}{
	"f4": {"float32", 4}, "f8": {"float64", 8}, "f2": {"float16", 2}, "i1": {"int8", 1}, "i2": {"int16", 2},
	"i4": {"int32", 4}, "i8": {"int64", 8},
	"u1": {"uint8", 1}, "u2": {"uint16", 2}, "u4": {"uint32", 4}, "u8": {"uint64", 8}, "b1": {"bool", 1},
}

// ElementCount returns the number of elements that the shape stands for: the product of its sizes.
func (a *Array) ElementCount() int {
	n := 1
	for _, d := range a.Shape {
		n *= d
	}
	return n
}

// maxInt limits the magnitude of 64-bit integers that are accepted. A float64 cannot represent all integers above 2^53.
const maxInt = 1 << 53

// ParseNPY returns the array in the .npy file b, in row-major order. It checks the sizes in the header against the
// length of the file before it allocates memory. More elements than MaxElementsPerFile, or an integer beyond 2^53, are
// an error.
func ParseNPY(b []byte) (*Array, error) {
	left := MaxElementsPerFile
	return parse(bytes.NewReader(b), int64(len(b)), &left)
}

// MaxElementsPerFile limits the elements that the arrays of a file may have together. Each takes eight bytes of memory.
const MaxElementsPerFile = 1 << 28

// parse reads an .npy file of at most size bytes. It subtracts its elements from left, and returns an error if left is
// too small. It reads no further than the header requires.
func parse(r io.Reader, size int64, left *int) (*Array, error) {
	a, f, err := header(r, &size)
	if err != nil {
		return nil, err
	}
	n, err := promised(a, f, size)
	if err != nil {
		return nil, err
	}
	if n > *left {
		return nil, fmt.Errorf("shape %v has too many elements: at most %d are read of a file", a.Shape,
			MaxElementsPerFile)
	}
	*left -= n
	a.Data = make([]float64, n)
	chunk := make([]byte, min(n, 1<<13)*f.size)
	for done := 0; done < n; {
		part := chunk[:min(len(chunk), (n-done)*f.size)]
		if _, err := io.ReadFull(r, part); err != nil {
			return nil, cutOff(err)
		}
		to := a.Data[done : done+len(part)/f.size]
		if at := f.decode(to, part); at < len(to) {
			return nil, fmt.Errorf("element %d is beyond 2^53", done+at)
		}
		done += len(to)
	}
	if f.fortran {
		a.rowMajor()
	}
	return a, nil
}

// promised returns the number of elements that the array a has by its header. It returns an error if size bytes of data
// are too few for them.
func promised(a *Array, f format, size int64) (n int, err error) {
	n = 1
	for _, d := range a.Shape {
		if d > 0 && n > int(size)/d {
			return 0, fmt.Errorf("shape %v is more than the %d bytes of data", a.Shape, size)
		}
		n *= d
	}
	if int64(n)*int64(f.size) > size {
		return 0, fmt.Errorf("shape %v needs %d bytes, there are %d", a.Shape, n*f.size, size)
	}
	return n, nil
}

// cutOff returns err, or an error with a message for users if err is an unexpected end of a file.
func cutOff(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return fmt.Errorf("the file is cut off")
	}
	return err
}

// A format describes how elements are stored, as the header states.
type format struct {
	code    string
	size    int // bytes of an element
	order   binary.ByteOrder
	fortran bool // column-major
}

// decode decodes the elements in b into to. It returns the number of elements before the first one that a float64 might
// not represent, or len(to). The most common types have loops of their own.
func (f format) decode(to []float64, b []byte) int {
	switch {
	case f.code == "f4" && f.order == binary.ByteOrder(binary.LittleEndian):
		for i := range to {
			to[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:])))
		}
		return len(to)
	case f.code == "f8" && f.order == binary.ByteOrder(binary.LittleEndian):
		for i := range to {
			to[i] = math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:]))
		}
		return len(to)
	case f.code == "u1":
		for i := range to {
			to[i] = float64(b[i])
		}
		return len(to)
	case f.code == "i1":
		for i := range to {
			to[i] = float64(int8(b[i]))
		}
		return len(to)
	}
	for i := range to {
		v, ok := decode(f.code, f.order, b[i*f.size:])
		if !ok {
			return i
		}
		to[i] = v
	}
	return len(to)
}

// maxRank limits the number of axes, as NumPy does.
const maxRank = 64

// decode returns the element at the beginning of b, of the type with numpy's code, in byte order o. The result is false
// if it is an integer that a float64 might not represent.
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
	case "u1":
		return float64(b[0]), true
	case "b1":
		return float64(min(b[0], 1)), true
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

// half returns the value of an IEEE 754 binary16 with the bits b.
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

// halfBits returns the bits of v as an IEEE 754 binary16. ok is false if that cannot represent v exactly; a NaN is
// always accepted.
func halfBits(v float64) (b uint16, ok bool) {
	if math.Signbit(v) {
		b = 1 << 15
	}
	v = math.Abs(v)
	_, exp := math.Frexp(v)
	switch {
	case math.IsNaN(v):
		return b | 31<<10 | 1<<9, true
	case math.IsInf(v, 0):
		return b | 31<<10, true
	case v < 0x1p-14:
		b |= uint16(v * 0x1p24)
	case v <= 65504:
		b |= uint16(exp+14)<<10 | uint16(math.Ldexp(v, 11-exp))&1023
	}
	return b, half(b&^(1<<15)) == v
}

// rowMajor replaces the array's data, which must be in column-major order, by a copy in row-major order.
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

// maxFile limits the size in bytes of a file that ReadArrays reads.
const maxFile = 4 << 30

// ReadArrays reads an .npy file, or all arrays of an .npz file, and returns the arrays by name. The array of an .npy
// file has the name "". If the header requires more than the limits, it reads only the header and returns an error. An
// integer beyond 2^53 is an error too.
func ReadArrays(path string) (map[string]*Array, error) {
	f, err := safefile.OpenRegularFile(path, maxFile)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if f.Size == 0 {
		_, err := f.ReadAll()
		return nil, err
	}
	start := make([]byte, 2)
	if _, err := f.ReadAt(start, 0); err == nil && string(start) == "PK" {
		out, err := parseZip(f, f.Size)
		return out, named(path, err)
	}
	left := MaxElementsPerFile
	a, err := parse(bufio.NewReader(io.NewSectionReader(f, 0, f.Size)), f.Size, &left)
	return map[string]*Array{"": a}, named(path, err)
}

// named returns an error that wraps err, with the last element of the path in front, or nil if err is nil.
func named(path string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", filepath.Base(path), err)
}

// mostDeflated is the largest factor by which data grow when they are inflated. A member that claims more is
// malformed.
const mostDeflated = 1032

// parseZip returns the arrays of an .npz file of size bytes, by name.
func parseZip(file io.ReaderAt, size int64) (map[string]*Array, error) {
	z, err := zip.NewReader(file, size)
	if err != nil {
		return nil, err
	}
	out := map[string]*Array{}
	left := MaxElementsPerFile
	for _, f := range z.File {
		name := strings.TrimSuffix(f.Name, ".npy")
		if out[name] != nil {
			return nil, fmt.Errorf("%q stands in it twice", name)
		}
		if out[name], err = member(f, size, &left); err != nil {
			return nil, fmt.Errorf("%q: %w", name, err)
		}
	}
	return out, nil
}

// credible returns the number of bytes that the file f in an archive has by its header. It returns an error if an
// archive of size bytes cannot hold as many.
func credible(f *zip.File, size int64) (int64, error) {
	packed, whole := f.CompressedSize64, f.UncompressedSize64
	if packed > uint64(size) || whole > mostDeflated*(packed+1) {
		return 0, fmt.Errorf("its stated size is %d bytes, more than the file of %d bytes can hold", whole, size)
	}
	return int64(whole), nil
}

// member returns one array of an .npz file of size bytes. It subtracts its elements from left, and returns an error if
// left is too small.
func member(f *zip.File, size int64, left *int) (*Array, error) {
	whole, err := credible(f, size)
	if err != nil {
		return nil, err
	}
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	a, err := parse(r, whole, left)
	if err != nil {
		return nil, err
	}
	// The zip reader checks the checksum at the end.
	if n, err := io.CopyN(io.Discard, r, 1); n > 0 {
		return nil, fmt.Errorf("more bytes follow than its header says")
	} else if err != io.EOF {
		return nil, err
	}
	return a, nil
}
