// Package datafile opens the files of samples and labels that users name. It adds diagnostics about faults in them, and
// about samples for which the model has no value.
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

// Hints for files of samples and of expected outputs that cannot be read.
const (
	hintInputs      = "give a numeric .npy file, or an .npz file with one array per input"
	OutputsFileHint = "give a numeric .npy or .npz file of outputs"
)

// An ArrayFile holds the open arrays of a file of samples, by name. The array of an .npy file has the name "". Close
// closes the file; it is never nil.
type ArrayFile struct {
	Path   string
	ByName map[string]*npy.ArrayReader
	Close  func() error
	states map[string]*npy.Array // computed states that the file does not give
}

// OpenForRereading opens the file of samples at path so that its samples can be read several times. Without a path it
// uses own, the samples that come with the model. It keeps samples from standard input in memory, and adds a note. It
// returns nil after adding an error to d, or if reading standard input was cancelled.
func OpenForRereading(in *samples.StdinArray, path string, own *npy.Array, d *diag.List) *ArrayFile {
	f := OpenForSinglePass(in, path, own, d)
	if f == nil || path != samples.StandardStreamPath {
		return f
	}
	held, err := f.ByName[""].BufferStreamInMemory()
	if err != nil {
		f.told(err, d)
		return nil
	}
	f.holds(held, "samples from standard input may be read more than once", d)
	return f
}

// OpenForSinglePass opens a file of samples like OpenForRereading, but for samples that are read only once and in
// order. It does not keep samples from standard input in memory.
func OpenForSinglePass(in *samples.StdinArray, path string, own *npy.Array, d *diag.List) *ArrayFile {
	if path == "" && own != nil {
		return &ArrayFile{Path: path, ByName: samples.NewArrayReaders(map[string]*npy.Array{"": own}), Close: closed}
	}
	if path != samples.StandardStreamPath {
		return OpenArrayFile(path, hintInputs, d)
	}
	array, err := in.OpenArray()
	if err != nil {
		if !errors.Is(err, context.Canceled) {
			AddUnreadableFileDiag(path, err, hintInputs, d)
		}
		return nil
	}
	return &ArrayFile{Path: path, ByName: map[string]*npy.ArrayReader{"": array}, Close: closed}
}

// OpenArrayFile opens an .npy or .npz file. It returns nil after adding an error with the given hint to d.
func OpenArrayFile(path, hint string, d *diag.List) *ArrayFile {
	arrays, close, err := npy.OpenArrays(path)
	if err != nil {
		AddUnreadableFileDiag(path, err, hint, d)
		return nil
	}
	return &ArrayFile{Path: path, ByName: arrays, Close: close}
}

// closed is the Close function for arrays in memory. It does nothing.
func closed() error { return nil }

// ArrayShapes returns the shapes of the file's arrays by name. An array of an .npy file has the name "".
func (f *ArrayFile) ArrayShapes() map[string][]int {
	shapes := map[string][]int{}
	for name, a := range f.ByName {
		shapes[name] = a.Shape
	}
	return shapes
}

// OpenSamples opens the samples in f for the model m. It returns nil after adding an error to d. steps holds the
// lengths of sequences and may be nil; named is the file that gave them. It adds a note if it has to keep samples in
// memory.
func (f *ArrayFile) OpenSamples(m *dataflow.Model, steps *npy.Array, named string, d *diag.List) *samples.SampleSource {
	s, err := samples.OpenSampleSource(m, f.ByName, steps)
	switch u := new(samples.UnfitDataError); {
	case err == nil:
	case errors.As(err, &u) && u.Steps && named != "":
		AddUnfitDataDiag(named, err, d)
	default:
		f.told(err, d)
	}
	if err != nil {
		return nil
	}
	f.holds(s.Held, "samples do not follow each other in it, and it can be read from its beginning only", d)
	return s
}

// holds adds a note to d if samples take bytes of memory. why is the reason. It does nothing if bytes is 0.
func (f *ArrayFile) holds(bytes int64, why string, d *diag.List) {
	if bytes > 0 {
		d.Add(diag.Diag{Severity: diag.SeverityNote, Code: diag.SamplesHeldInMemory, Where: filepath.Base(f.Path),
			Msg:  fmt.Sprintf("%s: it takes %s of memory", why, humanize.IBytes(uint64(bytes))),
			Hint: "give an .npy file, or an .npz file without compression (np.savez)"})
	}
}

// told adds an error to d for samples that cannot be read or do not fit the model.
func (f *ArrayFile) told(err error, d *diag.List) {
	if fault := new(npy.ElementReadError); errors.As(err, &fault) {
		AddUnreadableFileDiag(f.Path, err, hintInputs, d)
		return
	}
	AddUnfitDataDiag(f.Path, err, d)
}

// OpenCheckedSamples opens the samples in f for the model m, and checks that all of them fit it. It returns nil after
// adding an error to d.
func (f *ArrayFile) OpenCheckedSamples(m *dataflow.Model, d *diag.List) *samples.SampleSource {
	s := f.OpenSamples(m, nil, "", d)
	if s == nil || s.IsKnownToFitWithoutReading() {
		return s
	}
	if err := ForEachPart(s, s.RunsPerPart(TargetPartBytes, 1),
		func(*samples.RunInputs) error { return nil }); err != nil {
		f.told(err, d)
		return nil
	}
	return s
}

// ReadSamplesToCompare reads the first MaxComparedSamples samples of s, or all if there are fewer.
func ReadSamplesToCompare(s *samples.SampleSource) (*samples.RunInputs, error) {
	return s.ReadRange(0, MaxComparedSamples)
}

// SamplesAndLabels holds the samples given to a command, and their labels. Labels is nil if there are none.
type SamplesAndLabels struct {
	*samples.SampleSource
	File   *ArrayFile
	Labels *samples.ClassLabels
}

// Close closes the file of samples. s may be nil.
func (s *SamplesAndLabels) Close() {
	if s != nil {
		s.File.Close()
	}
}

// OpenSamplesWithoutLabels opens a file of samples for the model m, computes the states that it does not give, and
// checks all samples. It does not read labels: the result's Labels is nil. It returns nil after adding an error to d,
// or if reading standard input was cancelled.
func OpenSamplesWithoutLabels(ctx context.Context, in *samples.StdinArray, path string, m *dataflow.Model,
	own *npy.Array,
	d *diag.List) *SamplesAndLabels {
	f := OpenForRereading(in, path, own, d)
	if f == nil {
		return nil
	}
	if ok, err := f.ComputeMissingStates(ctx, m, false, d); !ok {
		if err != nil {
			f.told(err, d)
		}
		f.Close()
		return nil
	}
	s := f.OpenCheckedSamples(m, d)
	if s == nil {
		f.Close()
		return nil
	}
	return &SamplesAndLabels{SampleSource: s, File: f}
}

// ForEachPart reads all samples of s in order, in parts of size samples, and passes each part to take. The last part
// may be smaller. It returns the first error, at which it stops; an error in reading is an UnusableSamplesError.
func ForEachPart(s *samples.SampleSource, size int, take func(part *samples.RunInputs) error) error {
	for from := 0; from < s.Count; from += size {
		part, err := s.ReadAlignedRange(from, min(from+size, s.Count))
		if err != nil {
			return UnusableSamplesError{Err: err}
		}
		if err := take(part); err != nil {
			return err
		}
	}
	return nil
}

// TargetPartBytes is the approximate size of a part in the file, in bytes, for callers of ForEachPart.
const TargetPartBytes = 1 << 18

// MaxComparedSamples is the largest number of samples on which a model is compared before and after quantisation.
const MaxComparedSamples = 1024
