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

// An outputs writes a model's outputs to a file or a stream, one part of the samples after the other.
type outputs struct {
	source  *samples.SampleSource
	out     []dataflow.RealTensorInfo
	path    string
	draft   *outputdir.DraftFile // nil if nothing goes to a file
	columns []column             // by output
	offset  int64                // bytes written to the stream
	stream  io.Writer
}

// A column is one output of the model, for all samples.
type column struct {
	*npy.Array // Data holds only the elements to show
	header     []byte
	to         io.WriterAt          // nil if the output is not written
	own        *outputdir.DraftFile // temporary file of an output, for an .npz archive; else nil
}

// openOutputs begins to write the outputs of the samples s where files says: to a file, to a stream, or to what takes
// them.
func openOutputs(files OutputFileOptions, s *samples.SampleSource, out []dataflow.RealTensorInfo) (w *outputs,
	err error) {
	path, shown := files.Output, files.MaxShown
	w = &outputs{source: s, out: out, path: path}
	for _, o := range out {
		c := column{Array: &npy.Array{DType: o.NumpyDType(), Shape: s.JoinedOutputShape(o)}}
		n := c.ElementCount()
		if shown > 0 {
			n = min(n, shown)
		}
		c.Data = make([]float64, n)
		if c.header, err = npy.EncodeNPYHeader(c.DType, c.Shape); err != nil {
			return nil, err
		}
		w.columns = append(w.columns, c)
	}
	if path == "" {
		if files.Take == nil {
			return w, nil
		}
		for k := range w.columns {
			w.columns[k].to = files.Take(out[k].Name)
		}
		return w, w.begin()
	}
	first := &w.columns[0]
	if path == samples.StandardStreamPath {
		w.stream = files.Stdout
		first.to = w
		if s.ExtentOfRuns(out[0], 0, s.Count).Blocks > 1 {
			first.to = &held{}
		}
		return w, w.begin()
	}
	if w.draft, err = outputdir.CreateDraft(path); err != nil {
		return nil, err
	}
	first.to = w.draft
	if strings.HasSuffix(path, ".npz") {
		for k := range w.columns {
			d, err := w.draft.CreateHiddenExtra(k)
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

// begin writes the header of each array that is written.
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

// WriteAt appends b to the stream. at must be the number of bytes written so far. It implements io.WriterAt.
func (w *outputs) WriteAt(b []byte, at int64) (int, error) {
	if at != w.offset {
		return 0, errors.New("what goes to a stream is not in order")
	}
	n, err := w.stream.Write(b)
	w.offset += int64(n)
	return n, err
}

// A held is a file in memory. It collects outputs that do not arrive in the order of the file.
type held struct{ b []byte }

// WriteAt writes b at the offset at. It implements io.WriterAt.
func (h *held) WriteAt(b []byte, at int64) (int, error) {
	if grow := int(at) + len(b) - len(h.b); grow > 0 {
		h.b = append(h.b, make([]byte, grow)...)
	}
	return copy(h.b[at:], b), nil
}

// encode encodes output k of the samples in [from, to) for the file, and reuses the memory of b. It returns an empty
// slice for an output that is not written.
func (w *outputs) encode(b []byte, k int, data []float64, from, to int) ([]byte, error) {
	c := w.columns[k]
	if c.to == nil {
		return b[:0], nil
	}
	e := w.source.ExtentOfRuns(w.out[k], from, to)
	b, err := npy.AppendEncodedElements(b[:0], c.DType, data, e.From)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Base(w.path), err)
	}
	return b, nil
}

// put writes b, the bytes from encode for output k of the samples in [from, to). It also keeps the elements of data
// that are to be shown.
func (w *outputs) put(k int, b []byte, data []float64, from, to int) error {
	c := w.columns[k]
	e := w.source.ExtentOfRuns(w.out[k], from, to)
	n, size := e.To-e.From, npy.ElementBytes(c.DType)
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

// arrays returns the outputs as arrays. Their data are only the elements that are kept in memory.
func (w *outputs) arrays() (list []*npy.Array) {
	for _, c := range w.columns {
		list = append(list, c.Array)
	}
	return list
}

// finish completes the file and gives it its final name. For a stream, it writes the outputs that were held in memory.
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
			n := int64(len(c.header)) + int64(c.ElementCount())*int64(npy.ElementBytes(c.DType))
			files[w.out[k].Name] = io.NewSectionReader(c.own, 0, n)
		}
		if err := npy.WriteNPZOfNPYFiles(w.draft, files); err != nil {
			return err
		}
	}
	return w.draft.RenameIntoPlace()
}

// A SimulationFailedBeforeOutputError says that a simulation failed with Err, and so did not write the output file
// File.
type SimulationFailedBeforeOutputError struct {
	File string
	Err  error
}

// Error returns the message with its reason.
func (e *SimulationFailedBeforeOutputError) Error() string {
	return fmt.Sprintf("%v; %s", e.Err, e.MessageWithoutReason())
}

// Unwrap returns the reason.
func (e *SimulationFailedBeforeOutputError) Unwrap() error { return e.Err }

// MessageWithoutReason returns the message that the file is not written, without the reason.
func (e *SimulationFailedBeforeOutputError) MessageWithoutReason() string {
	return e.File + " is not written"
}

// unwritten returns an error wrapped in a SimulationFailedBeforeOutputError if an output file was to be written.
// Otherwise it returns err itself, as for nil.
func (w *outputs) unwritten(err error) error {
	if err == nil || w.draft == nil {
		return err
	}
	return &SimulationFailedBeforeOutputError{filepath.Base(w.path), err}
}

// release removes the files that were not finished.
func (w *outputs) release() {
	for _, c := range w.columns {
		if c.own != nil {
			c.own.RemoveUnlessRenamed()
		}
	}
	if w.draft != nil {
		w.draft.RemoveUnlessRenamed()
	}
}
