package simulate

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/npy"
	"hlsgen/internal/outputdir"
	"hlsgen/internal/samples"
)

// outputs writes a model's outputs to a file or a stream, one part of the samples after the other.
type outputs struct {
	source  *samples.SampleSource
	out     []dataflow.RealPort
	path    string
	draft   *outputdir.Draft // nil if nothing goes to a file
	columns []column         // by output
	offset  int64            // bytes written to the stream
	stream  io.Writer
}

// A column is one output of all samples.
type column struct {
	*npy.Array // Data holds only the elements to show
	header     []byte
	to         io.WriterAt      // nil if the output is not written
	own        *outputdir.Draft // temporary file of an output, for an .npz archive; else nil
}

// openOutputs begins to write the outputs of samples to the file path. The path StdioPath means stream; an empty path
// means that nothing is written. shown is the number of elements of each output to keep in memory, 0 for all.
func openOutputs(path string, stream io.Writer, s *samples.SampleSource, out []dataflow.RealPort,
	shown int) (w *outputs,
	err error) {
	w = &outputs{source: s, out: out, path: path}
	for _, o := range out {
		c := column{Array: &npy.Array{DType: o.NumpyDType(), Shape: s.Shape(o)}}
		n := c.Size()
		if shown > 0 {
			n = min(n, shown)
		}
		c.Data = make([]float64, n)
		if c.header, err = npy.Header(c.DType, c.Shape); err != nil {
			return nil, err
		}
		w.columns = append(w.columns, c)
	}
	if path == "" {
		return w, nil
	}
	first := &w.columns[0]
	if path == samples.StdioPath {
		w.stream = stream
		first.to = w
		if s.Extent(out[0], 0, s.Count).Blocks > 1 {
			first.to = &held{}
		}
		return w, w.begin()
	}
	if w.draft, err = outputdir.Create(path); err != nil {
		return nil, err
	}
	first.to = w.draft
	if strings.HasSuffix(path, ".npz") {
		for k := range w.columns {
			d, err := w.draft.ExtraFile(k)
			if err != nil {
				w.release()
				return nil, err
			}
			w.columns[k].own, w.columns[k].to = d, d
		}
	}
	if err := w.begin(); err != nil {
		w.release()
		return nil, err
	}
	return w, nil
}

// begin writes the headers of the arrays.
func (w *outputs) begin() error {
	for _, c := range w.columns {
		if c.to == nil {
			continue
		}
		if _, err := c.to.WriteAt(c.header, 0); err != nil {
			return err
		}
	}
	return nil
}

// WriteAt appends b to the stream. at must be the number of bytes written so far.
func (w *outputs) WriteAt(b []byte, at int64) (int, error) {
	if at != w.offset {
		return 0, errors.New("what goes to a stream is not in order")
	}
	n, err := w.stream.Write(b)
	w.offset += int64(n)
	return n, err
}

// held is a file in memory.
type held struct{ b []byte }

func (h *held) WriteAt(b []byte, at int64) (int, error) {
	if grow := int(at) + len(b) - len(h.b); grow > 0 {
		h.b = append(h.b, make([]byte, grow)...)
	}
	return copy(h.b[at:], b), nil
}

// encode encodes output k of the samples in [from, to) for the file, reusing the memory of b. It returns an empty slice
// for an output that is not written.
func (w *outputs) encode(b []byte, k int, data []float64, from, to int) ([]byte, error) {
	c := w.columns[k]
	if c.to == nil {
		return b[:0], nil
	}
	e := w.source.Extent(w.out[k], from, to)
	b, err := npy.AppendElements(b[:0], c.DType, data, e.From)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Base(w.path), err)
	}
	return b, nil
}

// put writes the bytes b of encode for output k of the samples in [from, to). It also keeps the elements of data that
// are shown.
func (w *outputs) put(k int, b []byte, data []float64, from, to int) error {
	c := w.columns[k]
	e := w.source.Extent(w.out[k], from, to)
	n, size := e.To-e.From, npy.ElementSize(c.DType)
	for block := range e.Blocks {
		at := block*e.Block + e.From
		if at < len(c.Data) {
			copy(c.Data[at:], data[block*n:(block+1)*n])
		}
		if c.to == nil {
			continue
		}
		if _, err := c.to.WriteAt(b[block*n*size:(block+1)*n*size], int64(len(c.header)+at*size)); err != nil {
			return err
		}
	}
	return nil
}

// arrays returns the outputs as arrays, with the elements that are kept.
func (w *outputs) arrays() (list []*npy.Array) {
	for _, c := range w.columns {
		list = append(list, c.Array)
	}
	return list
}

// finish completes the file and gives it its name.
func (w *outputs) finish() error {
	if h, ok := w.columns[0].to.(*held); ok {
		_, err := w.stream.Write(h.b)
		return err
	}
	if w.draft == nil {
		return nil
	}
	if w.columns[0].own != nil {
		files := map[string]io.Reader{}
		for k, c := range w.columns {
			n := int64(len(c.header)) + int64(c.Size())*int64(npy.ElementSize(c.DType))
			files[w.out[k].Name] = io.NewSectionReader(c.own, 0, n)
		}
		if err := npy.WriteZip(w.draft, files); err != nil {
			return err
		}
	}
	return w.draft.Put()
}

// NotWrittenError is an error after which the output file was not written.
type NotWrittenError struct {
	File string
	Err  error
}

func (e *NotWrittenError) Error() string { return fmt.Sprintf("%v; %s", e.Err, e.What()) }
func (e *NotWrittenError) Unwrap() error { return e.Err }

// What returns the message without its reason.
func (e *NotWrittenError) What() string { return e.File + " is not written" }

// unwritten adds to an error that the output file was not written.
func (w *outputs) unwritten(err error) error {
	if err == nil || w.draft == nil {
		return err
	}
	return &NotWrittenError{filepath.Base(w.path), err}
}

// release removes files that were not finished.
func (w *outputs) release() {
	for _, c := range w.columns {
		if c.own != nil {
			c.own.Release()
		}
	}
	if w.draft != nil {
		w.draft.Release()
	}
}
