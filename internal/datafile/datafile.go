// Package datafile opens the files of samples and labels that users name. It turns what is wrong with them, or with the
// model's values for them, into diagnostics.
//
//	datafile.go  opens samples, in files or on standard input, and reads them part by part
//	feedback.go  computes the states that outputs feed to the next sample
//	labels.go    reads labels, and the accuracy that a model's trainer measured
//	errors.go    turns errors into diagnostics
package datafile

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/dustin/go-humanize"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/npy"
	"hlsgen/internal/samples"
)

// Hints for files that cannot be read.
const (
	hintInputs  = "give a numeric .npy file, or an .npz file with one array per input"
	HintOutputs = "give a numeric .npy or .npz file of outputs"
)

// Arrays holds the open arrays of a file of samples.
type Arrays struct {
	Path   string
	ByName map[string]*npy.ArrayReader
	Close  func() error
	states map[string]*npy.Array // computed states that the file does not give
}

// OpenForRereading opens the input file so that its samples can be read several times. Without a path it uses own,
// the samples that the model comes with. It returns nil after adding an error to d.
func OpenForRereading(in *samples.StdinArray, path string, own *npy.Array, d *diag.List) *Arrays {
	f := OpenOnce(in, path, own, d)
	if f == nil || path != samples.StdioPath {
		return f
	}
	held, err := f.ByName[""].Buffer()
	if err != nil {
		f.told(err, d)
		return nil
	}
	f.holds(held, "samples from standard input may be read more than once", d)
	return f
}

// OpenOnce opens the input file like OpenForRereading, for samples that are read only once and in order.
func OpenOnce(in *samples.StdinArray, path string, own *npy.Array, d *diag.List) *Arrays {
	if path == "" && own != nil {
		return &Arrays{Path: path, ByName: samples.ArrayReaders(map[string]*npy.Array{"": own}), Close: closed}
	}
	if path != samples.StdioPath {
		return OpenArrays(path, hintInputs, d)
	}
	array, err := in.OpenArray()
	if err != nil {
		if !errors.Is(err, context.Canceled) {
			AddUnreadable(path, err, hintInputs, d)
		}
		return nil
	}
	return &Arrays{Path: path, ByName: map[string]*npy.ArrayReader{"": array}, Close: closed}
}

// OpenArrays opens an .npy or an .npz file. It returns nil after adding an error with the hint to d.
func OpenArrays(path, hint string, d *diag.List) *Arrays {
	arrays, close, err := npy.Open(path)
	if err != nil {
		AddUnreadable(path, err, hint, d)
		return nil
	}
	return &Arrays{Path: path, ByName: arrays, Close: close}
}

// closed is the close function of arrays in memory. It does nothing.
func closed() error { return nil }

// Shapes returns the shapes of the arrays by name.
func (f *Arrays) Shapes() map[string][]int {
	shapes := map[string][]int{}
	for name, a := range f.ByName {
		shapes[name] = a.Shape
	}
	return shapes
}

// OpenSamples opens the samples of a model. steps, the lengths of sequences, may be nil; named is the file that gave
// them. It returns nil after adding an error to d.
func (f *Arrays) OpenSamples(m *dataflow.Model, steps *npy.Array, named string, d *diag.List) *samples.SampleSource {
	s, err := samples.Open(m, f.ByName, steps)
	switch u := new(samples.UnfitError); {
	case err == nil:
	case errors.As(err, &u) && u.Steps && named != "":
		AddUnfit(named, err, d)
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
func (f *Arrays) holds(bytes int64, why string, d *diag.List) {
	if bytes > 0 {
		d.Add(diag.Diag{Severity: diag.Note, Code: diag.DataHeldInMemory, Where: filepath.Base(f.Path),
			Msg:  fmt.Sprintf("%s: it takes %s of memory", why, humanize.IBytes(uint64(bytes))),
			Hint: "give an .npy file, or an .npz file without compression (np.savez)"})
	}
}

// told adds an error to d for samples that cannot be read or do not fit the model.
func (f *Arrays) told(err error, d *diag.List) {
	if fault := new(npy.ElementError); errors.As(err, &fault) {
		AddUnreadable(f.Path, err, hintInputs, d)
		return
	}
	AddUnfit(f.Path, err, d)
}

// OpenChecked opens the samples of a model and checks all of them. It returns nil after adding an error to d.
func (f *Arrays) OpenChecked(m *dataflow.Model, d *diag.List) *samples.SampleSource {
	s := f.OpenSamples(m, nil, "", d)
	if s == nil || s.FitsUnread() {
		return s
	}
	if err := ForEachPart(s, s.PartSize(PartBytes, 1), func(*samples.Runs) error { return nil }); err != nil {
		f.told(err, d)
		return nil
	}
	return s
}

// ReadCompared reads the first MaxCompared samples, on which models are compared.
func ReadCompared(s *samples.SampleSource) (*samples.Runs, error) { return s.ReadRange(0, MaxCompared) }

// A Supply holds the samples given to a command, and their labels if there are any.
type Supply struct {
	*samples.SampleSource
	File   *Arrays
	Labels *samples.Labels
}

// Close closes the file. s may be nil.
func (s *Supply) Close() {
	if s != nil {
		s.File.Close()
	}
}

// OpenSupply opens a file of samples and checks all of them. It returns nil after adding an error to d.
func OpenSupply(ctx context.Context, in *samples.StdinArray, path string, m *dataflow.Model, own *npy.Array,
	d *diag.List) *Supply {
	f := OpenForRereading(in, path, own, d)
	if f == nil {
		return nil
	}
	if ok, err := f.FeedStates(ctx, m, false, d); !ok {
		if err != nil {
			f.told(err, d)
		}
		f.Close()
		return nil
	}
	s := f.OpenChecked(m, d)
	if s == nil {
		f.Close()
		return nil
	}
	return &Supply{SampleSource: s, File: f}
}

// ForEachPart reads all samples in order, in parts of size samples, and passes each part to take.
func ForEachPart(s *samples.SampleSource, size int, take func(part *samples.Runs) error) error {
	for from := 0; from < s.Count; from += size {
		part, err := s.Part(from, min(from+size, s.Count))
		if err != nil {
			return UnfitSamplesError{Err: err}
		}
		if err := take(part); err != nil {
			return err
		}
	}
	return nil
}

// PartBytes is the approximate size of a part in the file.
const PartBytes = 1 << 18

// MaxCompared is the largest number of samples on which a model is compared before and after quantisation.
const MaxCompared = 1024
