package npy

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// EncodeNPY returns the array as an .npy file of format 1.0. It returns an error if the shape does not fit the data, if
// the type is unknown, or if the type cannot represent a value. float32 rounds instead.
func EncodeNPY(a *Array) ([]byte, error) {
	if a.ElementCount() != len(a.Data) {
		return nil, fmt.Errorf("cannot write %d elements of shape %v as %s", len(a.Data), a.Shape, a.DType)
	}
	b, err := EncodeNPYHeader(a.DType, a.Shape)
	if err != nil {
		return nil, err
	}
	return AppendEncodedElements(b, a.DType, a.Data, 0)
}

// EncodeNPYHeader returns the header of an .npy file of format 1.0, for an array of the named type. The elements follow
// it in row-major order. It returns an error for an unknown type.
func EncodeNPYHeader(dtype string, shape []int) ([]byte, error) {
	code, err := codeOf(dtype)
	if err != nil {
		return nil, err
	}
	dims := ""
	for _, d := range shape {
		dims += strconv.Itoa(d) + ","
	}
	order := "<"
	if dtypes[code].size == 1 {
		order = "|"
	}
	h := fmt.Sprintf("{'descr': '%s%s', 'fortran_order': False, 'shape': (%s), }", order, code, dims)
	h += strings.Repeat(" ", (64-(10+len(h)+1)%64)%64) + "\n"
	b := binary.LittleEndian.AppendUint16([]byte("\x93NUMPY\x01\x00"), uint16(len(h)))
	return append(b, h...), nil
}

// codeOf returns numpy's code of a type by its name, f4 for float32. It returns an error for an unknown type.
func codeOf(dtype string) (string, error) {
	for code, t := range dtypes {
		if t.name == dtype {
			return code, nil
		}
	}
	return "", fmt.Errorf("cannot write elements as %s", dtype)
}

// ElementBytes returns the bytes that an element of the named type takes in a file, or 0 for an unknown type.
func ElementBytes(dtype string) int {
	code, _ := codeOf(dtype)
	return dtypes[code].size
}

// AppendEncodedElements appends data to to, as a file of the named type stores them. float32 rounds; any other type
// that cannot represent an element gives an error, and so does an unknown type. from is the index of the first element,
// for this error.
func AppendEncodedElements(to []byte, dtype string, data []float64, from int) ([]byte, error) {
	code, err := codeOf(dtype)
	if err != nil {
		return nil, err
	}
	at, size := len(to), dtypes[code].size
	to = slices.Grow(to, len(data)*size)
	switch code {
	case "f4":
		to = to[:at+4*len(data)]
		for i, v := range data {
			binary.LittleEndian.PutUint32(to[at+4*i:], math.Float32bits(float32(v)))
		}
		return to, nil
	case "f8":
		to = to[:at+8*len(data)]
		for i, v := range data {
			binary.LittleEndian.PutUint64(to[at+8*i:], math.Float64bits(v))
		}
		return to, nil
	}
	for i, v := range data {
		var ok bool
		if to, ok = encode(to, code, v); !ok {
			return nil, fmt.Errorf("element %d (%v) is no %s", from+i, v, dtype)
		}
	}
	return to, nil
}

// encode appends v as an element of the type with numpy's code. ok is false if the type cannot represent v, and b is
// then of no use.
func encode(to []byte, code string, v float64) (b []byte, ok bool) {
	o := binary.LittleEndian
	switch code {
	case "f2":
		b, ok := halfBits(v)
		return o.AppendUint16(to, b), ok
	}
	if v != math.Trunc(v) || math.Abs(v) > maxInt {
		return nil, false
	}
	n := int64(v)
	bits := dtypes[code].size * 8
	signed := code[0] == 'i'
	ok = bits == 64 && (signed || n >= 0) || signed && n>>(bits-1) == n>>63 || !signed && bits < 64 && n>>bits == 0
	if code == "b1" {
		ok = n == 0 || n == 1
	}
	return o.AppendUint64(to, uint64(n))[:len(to)+bits/8], ok
}

// EncodeNPZ returns arrays as an .npz file, sorted by name and without times, so that equal arrays give equal bytes.
func EncodeNPZ(arrays map[string]*Array) ([]byte, error) {
	var b bytes.Buffer
	files := map[string]io.Reader{}
	for name, a := range arrays {
		data, err := EncodeNPY(a)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		files[name] = bytes.NewReader(data)
	}
	err := WriteNPZOfNPYFiles(&b, files)
	return b.Bytes(), err
}

// WriteNPZOfNPYFiles writes .npy files, by name without the extension, to an .npz file. It sorts them by name.
func WriteNPZOfNPYFiles(to io.Writer, files map[string]io.Reader) error {
	z := zip.NewWriter(to)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		w, err := z.CreateHeader(&zip.FileHeader{Name: name + ".npy", Method: zip.Deflate})
		if err != nil {
			return err
		}
		if _, err := io.Copy(w, files[name]); err != nil {
			return err
		}
	}
	return z.Close()
}
