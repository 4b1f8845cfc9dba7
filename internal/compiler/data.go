package compiler

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/dustin/go-humanize"

	"hlsgen/internal/compiler/samples"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/npy"
)

// Hints for files that cannot be read.
const (
	hintInputs  = "give a numeric .npy file, or an .npz file with one array per input"
	hintOutputs = "give a numeric .npy or .npz file of outputs"
)

// A dataFile holds the open arrays of a file of samples.
type dataFile struct {
	path   string
	arrays map[string]*npy.ArrayReader
	close  func() error
	states map[string]*npy.Array // computed states that the file does not give
}

// openData opens the input file so that its samples can be read several times. Without a path it uses own,
// the samples that the model comes with. It returns nil after adding an error to d.
func openData(in *StdinArray, path string, own *npy.Array, d *diag.List) *dataFile {
	f := openOnce(in, path, own, d)
	if f == nil || path != StdioPath {
		return f
	}
	held, err := f.arrays[""].Buffer()
	if err != nil {
		f.told(err, d)
		return nil
	}
	f.holds(held, "samples from standard input may be read more than once", d)
	return f
}

// openOnce opens the input file like openData, for samples that are read only once and in order.
func openOnce(in *StdinArray, path string, own *npy.Array, d *diag.List) *dataFile {
	if path == "" && own != nil {
		return &dataFile{path: path, arrays: samples.ArrayReaders(map[string]*npy.Array{"": own}), close: closed}
	}
	if path != StdioPath {
		return openArrays(path, hintInputs, d)
	}
	array, err := in.open()
	if err != nil {
		if !errors.Is(err, context.Canceled) {
			unreadable(path, err, hintInputs, d)
		}
		return nil
	}
	return &dataFile{path: path, arrays: map[string]*npy.ArrayReader{"": array}, close: closed}
}

func openArrays(path, hint string, d *diag.List) *dataFile {
	arrays, close, err := npy.Open(path)
	if err != nil {
		unreadable(path, err, hint, d)
		return nil
	}
	return &dataFile{path: path, arrays: arrays, close: close}
}

// closed is the close function of arrays in memory. It does nothing.
func closed() error { return nil }

// shapes returns the shapes of the arrays by name.
func (f *dataFile) shapes() map[string][]int {
	shapes := map[string][]int{}
	for name, a := range f.arrays {
		shapes[name] = a.Shape
	}
	return shapes
}

// samples opens the samples of a model. steps, the lengths of sequences, may be nil; named is the file that gave them.
// It returns nil after adding an error to d.
func (f *dataFile) samples(m *dataflow.Model, steps *npy.Array, named string, d *diag.List) *samples.SampleSource {
	s, err := samples.Open(m, f.arrays, steps)
	switch u := new(samples.UnfitError); {
	case err == nil:
	case errors.As(err, &u) && u.Steps && named != "":
		unfitting(named, err, d)
	default:
		f.told(err, d)
	}
	if err != nil {
		return nil
	}
	f.holds(s.Held, "samples do not follow each other in it, and it can be read from its beginning only", d)
	return s
}

// holds adds a note to d if bytes of samples are kept in memory. why is the reason.
func (f *dataFile) holds(bytes int64, why string, d *diag.List) {
	if bytes > 0 {
		d.Add(diag.Diag{Severity: diag.Note, Code: diag.DataHeldInMemory, Where: filepath.Base(f.path),
			Msg:  fmt.Sprintf("%s: it takes %s of memory", why, humanize.IBytes(uint64(bytes))),
			Hint: "give an .npy file, or an .npz file without compression (np.savez)"})
	}
}

// told adds an error to d for samples that cannot be read or do not fit the model.
func (f *dataFile) told(err error, d *diag.List) {
	if fault := new(npy.ElementError); errors.As(err, &fault) {
		unreadable(f.path, err, hintInputs, d)
		return
	}
	unfitting(f.path, err, d)
}

// checked opens the samples of a model and checks all of them. It returns nil after adding an error to d.
func (f *dataFile) checked(m *dataflow.Model, d *diag.List) *samples.SampleSource {
	s := f.samples(m, nil, "", d)
	if s == nil || s.FitsUnread() {
		return s
	}
	if err := partByPart(s, s.PartSize(partBytes, 1), func(*samples.Runs) error { return nil }); err != nil {
		f.told(err, d)
		return nil
	}
	return s
}

// few reads the first maxCompared samples, on which models are compared.
func few(s *samples.SampleSource) (*samples.Runs, error) { return s.ReadRange(0, maxCompared) }

// A supply holds the samples given to a command, and their labels if there are any.
type supply struct {
	*samples.SampleSource
	file   *dataFile
	labels *samples.Labels
}

// close closes the file. s may be nil.
func (s *supply) close() {
	if s != nil {
		s.file.close()
	}
}

// supplied opens a file of samples and checks all of them. It returns nil after adding an error to d.
func supplied(ctx context.Context, in *StdinArray, path string, m *dataflow.Model, own *npy.Array,
	d *diag.List) *supply {
	f := openData(in, path, own, d)
	if f == nil {
		return nil
	}
	if ok, err := f.feed(ctx, m, false, d); !ok {
		if err != nil {
			f.told(err, d)
		}
		f.close()
		return nil
	}
	s := f.checked(m, d)
	if s == nil {
		f.close()
		return nil
	}
	return &supply{SampleSource: s, file: f}
}

// partByPart reads all samples in order, in parts of size samples, and passes each part to take.
func partByPart(s *samples.SampleSource, size int, take func(part *samples.Runs) error) error {
	for from := 0; from < s.Count; from += size {
		part, err := s.Part(from, min(from+size, s.Count))
		if err != nil {
			return unfit{err}
		}
		if err := take(part); err != nil {
			return err
		}
	}
	return nil
}

// partBytes is the approximate size of a part in the file.
const partBytes = 1 << 18

// maxCompared is the largest number of samples on which a model is compared before and after quantisation.
const maxCompared = 1024
