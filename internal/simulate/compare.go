package simulate

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"

	"hlsgen/frontend"
	"hlsgen/internal/datafile"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/engines"
	"hlsgen/internal/npy"
	"hlsgen/internal/samples"
)

// A comparing compares the outputs of samples with those in a file, one part of the samples after the other.
type comparing struct {
	total  OutputComparison
	im     *frontend.ImportedModel
	source *samples.SampleSource
	out    []dataflow.RealTensorInfo
	with   []*npy.ArrayReader // by output; nil for outputs that the file does not have
	axes   []int              // the sample axis of each array in with
	mu     sync.Mutex
	made   map[int]*frontend.OutputComparer // by sequence length; 0 if all samples have the same length
	last   *frontend.OutputComparer
}

// A given holds the outputs in the file for the samples in [from, to): for each output, its raw bytes.
type given struct {
	raw      [][]byte
	from, to int
}

// comparingWith returns a comparing for the samples s and the outputs in the file f. It returns nil after adding an
// error to d.
func comparingWith(f *datafile.ArrayFile, im *frontend.ImportedModel, s *samples.SampleSource,
	out []dataflow.RealTensorInfo,
	d *diag.List) *comparing {
	c := &comparing{im: im, source: s, out: out, made: map[int]*frontend.OutputComparer{}}
	for k, of := range out {
		a := f.ByName[of.Name]
		if a == nil && len(f.ByName) == 1 && k == 0 {
			for _, only := range f.ByName {
				a = only
			}
		}
		shape, axis := s.JoinedOutputShape(of), s.OutputPartAxis(of)
		switch {
		case a == nil && k > 0: // an .npy file holds the first output only
		case a == nil || a.ElementsPerIndex(-1) != dataflow.Shape(shape).ElementCount():
			d.AddError(diag.InputDataInvalid, filepath.Base(f.Path),
				fmt.Sprintf("the data do not match output %q of shape %v", of.Name, shape),
				"give the outputs of the same samples")
			return nil
		default:
			var err error
			if a, err = a.Reshaped(shape); err == nil {
				_, err = a.PrepareReadsAlongAxis(axis)
			}
			if err != nil {
				datafile.AddUnreadableFileDiag(f.Path, err, datafile.OutputsFileHint, d)
				return nil
			}
		}
		c.with, c.axes = append(c.with, a), append(c.axes, axis)
	}
	return c
}

// read reads the file's outputs of the samples in [from, to) into g. With a nil receiver, there is no file and it does
// nothing.
func (c *comparing) read(g *given, from, to int) (err error) {
	if c == nil {
		return nil
	}
	g.from, g.to = from, to
	if g.raw == nil {
		g.raw = make([][]byte, len(c.with))
	}
	for k, a := range c.with {
		if a == nil {
			continue
		}
		first, last := c.indices(k, from, to)
		if g.raw[k], err = a.ReadRawAlongAxis(g.raw[k], c.axes[k], first, last); err != nil {
			return &otherFile{err}
		}
	}
	return nil
}

// An otherFile is an error in reading the file of expected outputs.
type otherFile struct{ error }

// Unwrap returns the wrapped error.
func (e *otherFile) Unwrap() error { return e.error }

// indices converts the samples in [from, to) to indices along the sample axis of output k.
func (c *comparing) indices(k, from, to int) (first, last int) {
	if c.axes[k] < 0 {
		return 0, 1
	}
	of := c.out[k]
	e, shape := c.source.ExtentOfRuns(of, from, to), c.source.JoinedOutputShape(of)
	inner := max(1, dataflow.Shape(shape[c.axes[k]+1:]).ElementCount())
	return e.From / inner, e.To / inner
}

// judge compares ours, the computed outputs of the samples s, with those of the file in g. It returns the counts for
// these samples.
func (c *comparing) judge(ctx context.Context, g *given, s *samples.RunInputs,
	ours []engines.ModelTensors) (sum OutputComparison,
	err error) {
	theirs := make([]engines.ModelTensors, len(s.In))
	for k, a := range c.with {
		if a == nil {
			for i := range theirs {
				theirs[i] = append(theirs[i], dataflow.RealTensor{})
			}
			continue
		}
		first, last := c.indices(k, g.from, g.to)
		data, err := a.ArrayFromRaw(nil, g.raw[k], c.axes[k], first, last-first)
		if err != nil {
			return sum, &otherFile{err}
		}
		for i, run := range s.SplitOutputs(c.out[k], data.Data) {
			theirs[i] = append(theirs[i], s.TrimOutput(k, i, run))
		}
	}
	comparers, err := c.comparers(s)
	if err != nil {
		return sum, err
	}
	one := func(i int) (frontend.OutputVerdict, error) { return comparers[i].JudgeOutputs(s.In[i], theirs[i]) }
	var verdicts []frontend.OutputVerdict
	if comparers[0].Stream {
		verdicts, err = engines.MapSamplesInOrder(ctx, s.First, len(s.In), func(i int) (frontend.OutputVerdict, error) {
			if c.last != nil && comparers[i] != c.last {
				comparers[i].ContinueStreamFrom(c.last)
			}
			c.last = comparers[i]
			return one(i)
		})
	} else {
		verdicts, err = engines.MapSamplesInParallel(ctx, s.First, len(s.In), one)
	}
	if err != nil {
		return sum, err
	}
	sum.Samples = len(s.In)
	for i, v := range verdicts {
		switch {
		case v.Equal:
			if sum.Equal++; bitsEqual(ours[i], theirs[i]) {
				sum.Bits++
			}
		case v.NearTie != "":
			sum.NearTies++
		default:
			if sum.Differ++; sum.Differ == 1 {
				sum.First = fmt.Sprintf("sample %d, output %q, element %d: got %v, the file has %v%s", s.First+i,
					c.out[v.Output].Name, v.Index, ours[i][v.Output].Data[v.Index],
					theirs[i][v.Output].Data[v.Index], outputLayers(c.im))
			}
		}
	}
	return sum, nil
}

// add adds the counts of one part of the samples to the total.
func (c *comparing) add(of OutputComparison) {
	t := &c.total
	if t.Differ == 0 {
		t.First = of.First
	}
	t.Samples, t.Equal, t.Bits = t.Samples+of.Samples, t.Equal+of.Equal, t.Bits+of.Bits
	t.NearTies, t.Differ = t.NearTies+of.NearTies, t.Differ+of.Differ
}

// comparers returns the OutputComparer of each sample in s. Samples of the same length share one.
func (c *comparing) comparers(s *samples.RunInputs) (list []*frontend.OutputComparer, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range s.In {
		steps := s.StepsOfRun(i)
		if c.made[steps] == nil {
			at, err := sizedImport(c.im, s, steps)
			if err != nil {
				return nil, err
			}
			if c.made[steps], err = at.NewOutputComparer(); err != nil {
				return nil, err
			}
		}
		list = append(list, c.made[steps])
	}
	return list, nil
}

// bitsEqual reports whether two sets of outputs are equal as float32. A positive and a negative zero are equal.
func bitsEqual(ours, given engines.ModelTensors) bool {
	for k, out := range given {
		for i, v := range out.Data {
			if float32(v) != float32(ours[k].Data[i]) {
				return false
			}
		}
	}
	return true
}

// outputLayers returns the end of a message, which names the layers and streams that compute the outputs. It returns ""
// if the model has no layers.
func outputLayers(im *frontend.ImportedModel) string {
	if im.Model.Graph == nil {
		return ""
	}
	s := "; computed from"
	for _, o := range im.Model.Graph.Out {
		s += " " + engines.StreamNameInMessages(im.Model.Graph, o)
	}
	return s
}
