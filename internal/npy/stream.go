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

	"hlsgen/internal/regular"
)

// A Stream is an array whose elements are read a part at a time, in the type that the file has.
type Stream struct {
	DType string
	Shape []int
	format
	from     string // whose error it is: a file, and what stands in it
	elements io.ReaderAt
}

// maxStreamed bounds the size of a file that is read in parts, which no one has whole in memory.
const maxStreamed = 1 << 40

// Open opens an .npy file, or every array of an .npz file by name; a single .npy has the name "". close closes it.
func Open(path string) (arrays map[string]*Stream, close func() error, err error) {
	f, err := regular.Open(path, maxStreamed)
	if err != nil {
		return nil, nil, err
	}
	if arrays, err = opened(f, path); err != nil {
		f.Close()
		return nil, nil, err
	}
	return arrays, f.Close, nil
}

func opened(f *regular.File, path string) (map[string]*Stream, error) {
	if f.Size == 0 {
		_, err := f.All()
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
	return map[string]*Stream{"": a}, nil
}

// Incoming is the array of an .npy that arrives, once and from its beginning to its end: its name is said of errors.
func Incoming(r io.Reader, name string) (*Stream, error) {
	size := int64(math.MaxInt64 / 16)
	a, err := streamOf(r, &size, name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	a.elements = &sequence{in: r, size: a.bytes()}
	return a, nil
}

// InMemory is an array that is there.
func InMemory(a *Array) *Stream {
	b, err := Append(nil, "float64", a.Data, 0)
	if err != nil {
		panic(err) // every number is one
	}
	f := format{code: "f8", size: 8, order: binary.LittleEndian}
	return &Stream{a.DType, a.Shape, f, "", bytes.NewReader(b)}
}

// streamOf reads what stands before the elements, and takes it from the size: the bytes that there are.
func streamOf(r io.Reader, size *int64, from string) (*Stream, error) {
	a, f, err := header(r, size)
	if err != nil {
		return nil, err
	}
	if _, err := promised(a, f, *size); err != nil {
		return nil, err
	}
	return &Stream{DType: a.DType, Shape: a.Shape, format: f, from: from}, nil
}

// bytes returns the bytes that the elements take.
func (a *Stream) bytes() int64 { return int64(product(a.Shape)) * int64(a.size) }

func product(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}

// openZip opens the arrays of an .npz file.
func openZip(file io.ReaderAt, size int64, base string) (map[string]*Stream, error) {
	z, err := zip.NewReader(file, size)
	if err != nil {
		return nil, err
	}
	out := map[string]*Stream{}
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

// openMember opens one array of an .npz file of so many bytes.
func openMember(f *zip.File, file io.ReaderAt, size int64, from string) (*Stream, error) {
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

// A sequence is elements that come one behind the other: it is read at offsets that rise, or begins anew.
type sequence struct {
	in     io.Reader
	at     int64 // where in is
	size   int64
	begin  func() (io.Reader, error) // nil of what comes once
	ends   bool                      // nothing may follow, and a checksum is compared there
	stored io.ReaderAt               // the same elements in any order, without the checksum; nil where there are none
}

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

// end holds that nothing follows.
func (s *sequence) end() error {
	switch n, err := s.in.Read(make([]byte, 1)); {
	case n > 0:
		return errors.New("more bytes follow than its header says")
	case err != nil && err != io.EOF:
		return err
	}
	return nil
}

// Sequential reports whether only reading all of it shows that it is whole.
func (a *Stream) Sequential() bool {
	_, is := a.elements.(*sequence)
	return is
}

// Strips reports whether elements with neighbouring indices along an axis do not lie together in the file.
func (a *Stream) Strips(axis int) bool {
	blocks, _, _ := a.along(axis)
	return blocks > 1
}

// along says how the indices along an axis lie in the file: they pass so many times, and so many elements of each lie
// together. Along axis -1 all elements have one index.
func (a *Stream) along(axis int) (blocks, indices, inner int) {
	switch {
	case axis < 0:
		return 1, 1, product(a.Shape)
	case a.fortran:
		return product(a.Shape[axis+1:]), a.Shape[axis], product(a.Shape[:axis])
	}
	return product(a.Shape[:axis]), a.Shape[axis], product(a.Shape[axis+1:])
}

// Along makes ready for parts along an axis, which are read in order from the first index on. An array of which only
// the beginning can be read first, and that lies in another way, is held: then it gives its bytes, else 0.
func (a *Stream) Along(axis int) (held int64, err error) {
	s, ok := a.elements.(*sequence)
	if !ok || !a.Strips(axis) {
		return 0, nil
	}
	if s.stored != nil { // strips leave the checksum out
		buffer := make([]byte, 1<<16)
		for at := int64(0); at < s.size; at += int64(len(buffer)) {
			if _, err := s.ReadAt(buffer[:min(int64(len(buffer)), s.size-at)], at); err != nil {
				return 0, a.fault(err, 0)
			}
		}
		a.elements = s.stored
		return 0, nil
	}
	return a.Hold()
}

// Hold reads an array that can be read from its beginning only, so that it can be read again: it gives its bytes, 0 of
// others.
func (a *Stream) Hold() (held int64, err error) {
	s, ok := a.elements.(*sequence)
	if !ok || s.size == 0 {
		return 0, nil
	}
	if s.size/int64(a.size) > MaxElements {
		return 0, fmt.Errorf("%s: shape %v has too many elements: at most %d are held", a.from, a.Shape, MaxElements)
	}
	var b bytes.Buffer // which grows with what is there, whatever is promised
	if _, err := io.Copy(&b, io.NewSectionReader(s, 0, s.size)); err != nil || int64(b.Len()) < s.size {
		return 0, a.fault(cutOff(early(err)), 0)
	}
	a.elements = bytes.NewReader(b.Bytes())
	return s.size, nil
}

// early is an error, or that of an end that comes too early where there is none.
func early(err error) error {
	if err == nil {
		return io.ErrUnexpectedEOF
	}
	return err
}

// A Fault is elements that cannot be read: Index is where along the axis that is read.
type Fault struct {
	From  string
	Index int
	Err   error
}

func (e *Fault) Error() string { return e.From + ": " + e.Err.Error() }
func (e *Fault) Unwrap() error { return e.Err }

func (a *Stream) fault(err error, index int) error { return &Fault{a.from, index, cutOff(err)} }

// Read reads the elements with indices from one to another along an axis, as they lie in the file. It may use the room
// of a buffer.
func (a *Stream) Read(buffer []byte, axis, from, to int) ([]byte, error) {
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

// near is the bytes from strip to strip of which all are read that lie between: it takes less time than to go to each.
const near = 1 << 12

// pick reads strips of so many bytes, the first of them at an offset, which are so many apart. An index is that of a
// fault.
func (a *Stream) pick(b []byte, offset, strip, apart, index int) error {
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

// Array makes an array of what Read has read of so many indices, the first of them from. It may use the room of
// numbers.
func (a *Stream) Array(room []float64, b []byte, axis, from, n int) (*Array, error) {
	size := len(b) / a.size
	out := &Array{DType: a.DType, Shape: slices.Clone(a.Shape), Data: slices.Grow(room[:0], size)[:size]}
	if axis >= 0 {
		out.Shape[axis] = n
	}
	if at := a.decode(out.Data, b); at < len(out.Data) {
		_, indices, inner := a.along(axis)
		at = place(indices, inner, from, n, at)
		return nil, &Fault{a.from, from, fmt.Errorf("element %d is beyond 2^53", at)}
	}
	if a.fortran {
		out.rowMajor()
	}
	return out, nil
}

// All is the whole array.
func (a *Stream) All() (*Array, error) {
	b, err := a.Read(nil, -1, 0, 1)
	if err != nil {
		return nil, err
	}
	return a.Array(nil, b, -1, 0, 1)
}

// Reshaped is the array with another shape of as many elements.
func (a *Stream) Reshaped(shape []int) (*Stream, error) {
	if slices.Equal(a.Shape, shape) {
		return a, nil
	}
	if a.fortran { // they are in another order
		whole, err := a.All()
		if err != nil {
			return nil, err
		}
		a = InMemory(whole)
	}
	b := *a
	b.Shape = shape
	return &b, nil
}

// Place is which element of the whole array element i of Array is.
func (a *Stream) Place(axis, from, n, i int) int {
	if axis < 0 {
		return i
	}
	return place(a.Shape[axis], product(a.Shape[axis+1:]), from, n, i)
}

// place is the element of an array of which n indices, the first of them from, have their element i there.
func place(indices, inner, from, n, i int) int {
	return (i/(n*inner)*indices+from)*inner + i%(n*inner)
}

// Elements returns how many there are of an index along an axis.
func (a *Stream) Elements(axis int) int {
	blocks, _, inner := a.along(axis)
	return blocks * inner
}

// Bytes returns the bytes that the elements of an index along an axis take.
func (a *Stream) Bytes(axis int) int {
	return a.Elements(axis) * a.size
}

// Native reports whether elements are of a type, of this machine's order of bytes, and those of each index along the
// first axis can be put in order by Rows.
func (a *Stream) Native(code string) bool {
	return a.code == code && (a.size == 1 || a.order.Uint16([]byte{1, 0}) == native)
}

// Rows puts what Read has read of n indices along the first axis into row-major order: to has room for it.
func Rows[T any](a *Stream, to, from []T, n int) {
	const together = 16 // rows, of which a cache holds a line each
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

// rows says where, in row-major order, the elements of an index along the first axis stand that follow each other in
// column-major order.
func (a *Stream) rows() []int32 {
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

// native is the number that the bytes 1 and 0 make in this machine's order.
var native = binary.NativeEndian.Uint16([]byte{1, 0})

// Plain reports whether elements are of a type, and lie as they do in memory.
func (a *Stream) Plain(code string) bool {
	return a.Native(code) && !a.fortran
}
