package npy

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"hlsgen/internal/safefile"
)

// An ArrayReader reads the elements of an array in a file part by part, in the type that the file has.
type ArrayReader struct {
	DType string
	Shape []int
	format
	from     string // file and array, for error messages
	elements io.ReaderAt
}

// maxStreamed limits the size in bytes of a file that OpenArrays accepts. Such a file is never held in memory as a
// whole.
const maxStreamed = 1 << 40

// OpenArrays returns a reader for the array of an .npy file, which has the name "", or for each array of an .npz file.
// It reads only headers. Call close when done.
func OpenArrays(path string) (arrays map[string]*ArrayReader, close func() error, err error) {
	f, err := safefile.OpenRegularFile(path, maxStreamed)
	if err != nil {
		return nil, nil, err
	}
	if arrays, err = opened(f, path); err != nil {
		f.Close()
		return nil, nil, err
	}
	return arrays, f.Close, nil
}

// opened returns readers for the arrays of an open file, by name. path is for error messages.
func opened(f *safefile.RegularFile, path string) (map[string]*ArrayReader, error) {
	if f.Size == 0 {
		_, err := f.ReadAll()
		return nil, err
	}
	base := filepath.Base(path)
	start := make([]byte, 2)
	if _, err := f.ReadAt(start, 0); err == nil && string(start) == "PK" {
		arrays, err := openZip(f, f.Size, base)
		return arrays, named(path, err)
	}
	size := f.Size
	a, err := streamOf(io.NewSectionReader(f, 0, f.Size), &size, base)
	if err != nil {
		return nil, named(path, err)
	}
	a.elements = io.NewSectionReader(f, f.Size-size, a.bytes())
	return map[string]*ArrayReader{"": a}, nil
}

// NewOneTimeReader returns a reader for the array of an .npy file that arrives on r and can be read only once. name is
// for error messages.
func NewOneTimeReader(r io.Reader, name string) (*ArrayReader, error) {
	size := int64(math.MaxInt64 / 16)
	a, err := streamOf(r, &size, name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	a.elements = &sequence{in: r, size: a.bytes()}
	return a, nil
}

// NewMemoryReader returns a reader for an array in memory, whose shape it shares. It has a copy of the data, as float64
// whatever the array's DType.
func NewMemoryReader(a *Array) *ArrayReader {
	b, err := AppendEncodedElements(nil, "float64", a.Data, 0)
	if err != nil {
		panic(err) // a float64 always fits
	}
	f := format{code: "f8", size: 8, order: binary.LittleEndian}
	return &ArrayReader{a.DType, a.Shape, f, "", bytes.NewReader(b)}
}

// streamOf reads the header of an array, and subtracts its length from size, the number of available bytes. The reader
// that it returns has no source of elements yet. from is for error messages.
func streamOf(r io.Reader, size *int64, from string) (*ArrayReader, error) {
	a, f, err := header(r, size)
	if err != nil {
		return nil, err
	}
	if _, err := promised(a, f, *size); err != nil {
		return nil, err
	}
	return &ArrayReader{DType: a.DType, Shape: a.Shape, format: f, from: from}, nil
}

// bytes returns the size of all elements in bytes.
func (a *ArrayReader) bytes() int64 { return int64(product(a.Shape)) * int64(a.size) }

// product returns the number of elements of an array of this shape.
func product(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}

// openZip returns readers for the arrays of an .npz file of size bytes, by name. base is the file's name for error
// messages.
func openZip(file io.ReaderAt, size int64, base string) (map[string]*ArrayReader, error) {
	z, err := zip.NewReader(file, size)
	if err != nil {
		return nil, err
	}
	out := map[string]*ArrayReader{}
	for _, f := range z.File {
		name := strings.TrimSuffix(f.Name, ".npy")
		if out[name] != nil {
			return nil, fmt.Errorf("%q stands in it twice", name)
		}
		if out[name], err = openMember(f, file, size, fmt.Sprintf("%s: %q", base, name)); err != nil {
			return nil, fmt.Errorf("%q: %w", name, err)
		}
	}
	return out, nil
}

// openMember returns a reader for the array f in an .npz file of size bytes. from is for error messages.
func openMember(f *zip.File, file io.ReaderAt, size int64, from string) (*ArrayReader, error) {
	whole, err := credible(f, size)
	if err != nil {
		return nil, err
	}
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	left := whole
	a, err := streamOf(r, &left, from)
	if err != nil {
		return nil, err
	}
	before := whole - left
	s := &sequence{size: a.bytes(), ends: true, begin: func() (io.Reader, error) {
		r, err := f.Open()
		if err == nil {
			_, err = io.CopyN(io.Discard, r, before)
		}
		return r, err
	}}
	if f.Method == zip.Store {
		at, err := f.DataOffset()
		if err != nil {
			return nil, err
		}
		s.stored = io.NewSectionReader(file, at+before, s.size)
	}
	a.elements = s
	return a, nil
}

// A sequence reads the elements of an array from a stream of bytes, at increasing offsets. For a smaller offset it
// starts again with begin, or returns an error if begin is nil.
type sequence struct {
	in     io.Reader
	at     int64 // position of in
	size   int64
	begin  func() (io.Reader, error) // nil if the data arrive only once
	ends   bool                      // nothing may follow the elements, and the end checks a checksum
	stored io.ReaderAt               // the same elements with random access, without a checksum; nil if there is none
}

// ReadAt reads elements from an offset in bytes on. After the last element it returns an error if end does.
func (s *sequence) ReadAt(b []byte, off int64) (n int, err error) {
	if s.begin != nil && (s.in == nil || off < s.at) {
		if s.in, err = s.begin(); err != nil {
			return 0, err
		}
		s.at = 0
	}
	if off < s.at {
		return 0, errors.New("the array arrives once, and is read twice")
	}
	skipped, err := io.CopyN(io.Discard, s.in, off-s.at)
	if s.at += skipped; err != nil {
		return 0, err
	}
	n, err = io.ReadFull(s.in, b)
	if s.at += int64(n); err == nil && s.ends && s.at == s.size {
		err = s.end()
	}
	return n, err
}

// end returns an error if more bytes follow the elements, or if their checksum is wrong.
func (s *sequence) end() error {
	switch n, err := s.in.Read(make([]byte, 1)); {
	case n > 0:
		return errors.New("more bytes follow than its header says")
	case err != nil && err != io.EOF:
		return err
	}
	return nil
}

// IsIntactOnlyIfReadWhole reports whether the elements are read as a stream, so that only a complete read shows that
// the array is intact.
func (a *ArrayReader) IsIntactOnlyIfReadWhole() bool {
	_, is := a.elements.(*sequence)
	return is
}

// IsScatteredAlongAxis reports whether the elements with one index along the axis lie in several places of the file.
// For axis -1 it returns false.
func (a *ArrayReader) IsScatteredAlongAxis(axis int) bool {
	blocks, _, _ := a.along(axis)
	return blocks > 1
}

// along describes the order of elements in the file, by their index along an axis. The file has the given number of
// blocks. A block has all indices in order, with inner adjacent elements for each. For axis -1 the whole array is one
// index.
func (a *ArrayReader) along(axis int) (blocks, indices, inner int) {
	switch {
	case axis < 0:
		return 1, 1, product(a.Shape)
	case a.fortran:
		return product(a.Shape[axis+1:]), a.Shape[axis], product(a.Shape[:axis])
	}
	return product(a.Shape[:axis]), a.Shape[axis], product(a.Shape[axis+1:])
}

// PrepareReadsAlongAxis prepares for reading parts along an axis in order, from the first index on. If that takes
// several reads of a stream, it reads the array into memory, and returns the bytes held. It reads an uncompressed .npz
// member once instead, to check it, and holds nothing. Otherwise it does nothing.
func (a *ArrayReader) PrepareReadsAlongAxis(axis int) (held int64, err error) {
	s, ok := a.elements.(*sequence)
	if !ok || !a.IsScatteredAlongAxis(axis) {
		return 0, nil
	}
	if s.stored != nil { // strips skip the check of the checksum
		buffer := make([]byte, 1<<16)
		for at := int64(0); at < s.size; at += int64(len(buffer)) {
			if _, err := s.ReadAt(buffer[:min(int64(len(buffer)), s.size-at)], at); err != nil {
				return 0, a.fault(err, 0)
			}
		}
		a.elements = s.stored
		return 0, nil
	}
	return a.BufferStreamInMemory()
}

// BufferStreamInMemory reads an array that comes as a stream into memory, so that it can be read again and in any
// order. It returns the bytes held, or 0 for an array that can be read so anyway. More elements than MaxElementsPerFile
// are an error.
func (a *ArrayReader) BufferStreamInMemory() (held int64, err error) {
	s, ok := a.elements.(*sequence)
	if !ok || s.size == 0 {
		return 0, nil
	}
	if s.size/int64(a.size) > MaxElementsPerFile {
		return 0, fmt.Errorf("%s: shape %v has too many elements: at most %d are held", a.from, a.Shape,
			MaxElementsPerFile)
	}
	var b bytes.Buffer // grows with the data that exist, whatever the header claims
	if _, err := io.Copy(&b, io.NewSectionReader(s, 0, s.size)); err != nil || int64(b.Len()) < s.size {
		return 0, a.fault(cutOff(early(err)), 0)
	}
	a.elements = bytes.NewReader(b.Bytes())
	return s.size, nil
}

// early returns err, or io.ErrUnexpectedEOF if err is nil.
func early(err error) error {
	if err == nil {
		return io.ErrUnexpectedEOF
	}
	return err
}

// An ElementReadError states that elements of an array cannot be read, and why. From names the file and the array.
// Index is the first index with such elements, along the axis that is read.
type ElementReadError struct {
	From  string
	Index int
	Err   error
}

func (e *ElementReadError) Error() string { return e.From + ": " + e.Err.Error() }
func (e *ElementReadError) Unwrap() error { return e.Err }

// fault returns the ElementReadError of the array for an error at an index.
func (a *ArrayReader) fault(err error, index int) error {
	return &ElementReadError{a.from, index, cutOff(err)}
}

// ReadRawAlongAxis returns the bytes of all elements whose index along the axis is at least from and below to, in the
// order of the file. For axis -1 the whole array is index 0. It may reuse the memory of buffer. The error is an
// *ElementReadError.
func (a *ArrayReader) ReadRawAlongAxis(buffer []byte, axis, from, to int) ([]byte, error) {
	blocks, indices, inner := a.along(axis)
	strip := (to - from) * inner * a.size
	b := slices.Grow(buffer[:0], strip*blocks)[:strip*blocks]
	if apart := indices * inner * a.size; blocks > 1 && strip > 0 && apart <= near {
		return b, a.pick(b, from*inner*a.size, strip, apart, from)
	}
	for k := range blocks {
		at := int64(k*indices+from) * int64(inner) * int64(a.size)
		n, err := a.elements.ReadAt(b[k*strip:(k+1)*strip], at)
		if n < strip || err != nil && err != io.EOF {
			return b, a.fault(early(err), from+n/max(1, inner*a.size))
		}
	}
	return b, nil
}

// near is the largest distance in bytes of strips for which reading everything between them takes less time than
// seeking to each.
const near = 1 << 12

// pick fills b with strips of strip bytes. Their starts are apart bytes apart, the first at offset. index is for an
// ElementReadError.
func (a *ArrayReader) pick(b []byte, offset, strip, apart, index int) error {
	room := make([]byte, (1<<18)/apart*apart)
	for at := int64(0); len(b) > 0; at += int64(len(room)) {
		rows := room[:min(len(room), len(b)/strip*apart)]
		if n, err := a.elements.ReadAt(rows, at); n < len(rows) || err != nil && err != io.EOF {
			return a.fault(early(err), index)
		}
		for ; len(rows) > 0; rows, b = rows[apart:], b[strip:] {
			copy(b[:strip], rows[offset:])
		}
	}
	return nil
}

// ArrayFromRaw converts b, a result of ReadRawAlongAxis, to an array in row-major order. b holds n indices along the
// axis, the first of them from; for axis -1 it holds the whole array. The result may reuse the memory of room. The
// error is an *ElementReadError, for an integer beyond 2^53.
func (a *ArrayReader) ArrayFromRaw(room []float64, b []byte, axis, from, n int) (*Array, error) {
	size := len(b) / a.size
	out := &Array{DType: a.DType, Shape: slices.Clone(a.Shape), Data: slices.Grow(room[:0], size)[:size]}
	if axis >= 0 {
		out.Shape[axis] = n
	}
	if at := a.decode(out.Data, b); at < len(out.Data) {
		_, indices, inner := a.along(axis)
		at = place(indices, inner, from, n, at)
		return nil, &ElementReadError{a.from, from, fmt.Errorf("element %d is beyond 2^53", at)}
	}
	if a.fortran {
		out.rowMajor()
	}
	return out, nil
}

// ReadWholeArray reads the whole array, and returns it in row-major order.
func (a *ArrayReader) ReadWholeArray() (*Array, error) {
	b, err := a.ReadRawAlongAxis(nil, -1, 0, 1)
	if err != nil {
		return nil, err
	}
	return a.ArrayFromRaw(nil, b, -1, 0, 1)
}

// Reshaped returns a reader for the array with another shape, which must have the same size. It returns a itself if
// that has the shape. It reads a column-major array into memory; otherwise both readers share the elements.
func (a *ArrayReader) Reshaped(shape []int) (*ArrayReader, error) {
	if slices.Equal(a.Shape, shape) {
		return a, nil
	}
	if a.fortran { // column-major elements would change their order
		whole, err := a.ReadWholeArray()
		if err != nil {
			return nil, err
		}
		a = NewMemoryReader(whole)
	}
	b := *a
	b.Shape = shape
	return &b, nil
}

// IndexInWholeArray returns the index in the whole array, in row-major order, of element i of a result of ArrayFromRaw.
// That result holds n indices along the axis, the first of them from.
func (a *ArrayReader) IndexInWholeArray(axis, from, n, i int) int {
	if axis < 0 {
		return i
	}
	return place(a.Shape[axis], product(a.Shape[axis+1:]), from, n, i)
}

// place returns the index in an array of element i of a part. The part has n of the indices along an axis, the first of
// them from. Each index has inner adjacent elements.
func place(indices, inner, from, n, i int) int {
	return (i/(n*inner)*indices+from)*inner + i%(n*inner)
}

// ElementsPerIndex returns the number of elements that have one index along the axis. For axis -1 it is all.
func (a *ArrayReader) ElementsPerIndex(axis int) int {
	blocks, _, inner := a.along(axis)
	return blocks * inner
}

// BytesPerIndex returns the size in bytes of the elements that have one index along the axis.
func (a *ArrayReader) BytesPerIndex(axis int) int {
	return a.ElementsPerIndex(axis) * a.size
}

// IsNativeByteOrderOfType reports whether elements have numpy's type code, such as f4, in this machine's byte order. If
// they are column-major too, CopyColumnMajorToRowMajor puts them in order.
func (a *ArrayReader) IsNativeByteOrderOfType(code string) bool {
	return a.code == code && (a.size == 1 || a.order.Uint16([]byte{1, 0}) == native)
}

// CopyColumnMajorToRowMajor copies n indices along the first axis of a column-major array to the slice to, in row-major
// order. from has them in the order of ReadRawAlongAxis. to must be large enough.
func CopyColumnMajorToRowMajor[T any](a *ArrayReader, to, from []T, n int) {
	const together = 16 // rows at a time, for which a cache holds a line each
	order := a.rows()
	for first := 0; first < n; first += together {
		last := min(first+together, n)
		for at, place := range order {
			for i, v := range from[at*n+first : at*n+last] {
				to[(first+i)*len(order)+int(place)] = v
			}
		}
	}
}

// rows returns the position in row-major order of each element with one index along the first axis, which the file has
// in column-major order.
func (a *ArrayReader) rows() []int32 {
	shape := a.Shape[1:]
	order := make([]int32, product(shape))
	coordinate := make([]int, len(shape))
	for at := range order {
		place := 0
		for k, d := range shape {
			place = place*d + coordinate[k]
		}
		order[at] = int32(place)
		for k := range coordinate {
			if coordinate[k]++; coordinate[k] < shape[k] {
				break
			}
			coordinate[k] = 0
		}
	}
	return order
}

// native is the number that the bytes 1 and 0 make in this machine's byte order.
var native = binary.NativeEndian.Uint16([]byte{1, 0})

// IsNativeRowMajorOfType reports whether ReadRawAlongAxis returns elements as a Go slice has them: of numpy's type
// code, such as f4, in this machine's byte order and in row-major order.
func (a *ArrayReader) IsNativeRowMajorOfType(code string) bool {
	return a.IsNativeByteOrderOfType(code) && !a.fortran
}
