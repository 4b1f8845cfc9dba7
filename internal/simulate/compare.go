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

// comparing compares outputs of samples with those in a file, one part of the samples after the other.
type comparing struct {
	total  Comparison
	im     *frontend.Imported
	source *samples.SampleSource
	out    []dataflow.RealPort
	with   []*npy.ArrayReader // by output; nil for outputs that the file does not have
	axes   []int              // the sample axis of each array in with
	mu     sync.Mutex
	made   map[int]*frontend.Comparer // by sequence length; 0 if all samples have the same length
	last   *frontend.Comparer
}

// A given holds the raw bytes of the file for one part of the samples, by output.
type given struct {
	raw      [][]byte
	from, to int
}

// comparingWith prepares the comparison with the outputs in f. It returns nil after adding an error to d.
func comparingWith(f *datafile.Arrays, im *frontend.Imported, s *samples.SampleSource, out []dataflow.RealPort,
	d *diag.List) *comparing {
	c := &comparing{im: im, source: s, out: out, made: map[int]*frontend.Comparer{}}
	for k, of := range out {
		a := f.ByName[of.Name]
		if a == nil && len(f.ByName) == 1 && k == 0 {
			for _, only := range f.ByName {
				a = only
			}
		}
		shape, axis := s.Shape(of), s.PartAxis(of)
		switch {
		case a == nil && k > 0: // an .npy file holds the first output only
		case a == nil || a.ElementsPerIndex(-1) != dataflow.Shape(shape).Size():
			d.Fail(diag.DataInvalid, filepath.Base(f.Path),
				fmt.Sprintf("the data do not match output %q of shape %v", of.Name, shape),
				"give the outputs of the same samples")
			return nil
		default:
			var err error
			if a, err = a.Reshaped(shape); err == nil {
				_, err = a.PrepareAxis(axis)
			}
			if err != nil {
				datafile.AddUnreadable(f.Path, err, datafile.HintOutputs, d)
				return nil
			}
		}
		c.with, c.axes = append(c.with, a), append(c.axes, axis)
	}
	return c
}

// read reads the file's outputs of the samples in [from, to) into g. A nil receiver reads nothing.
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
		if g.raw[k], err = a.Read(g.raw[k], c.axes[k], first, last); err != nil {
			return &otherFile{err}
		}
	}
	return nil
}

// An otherFile error says that the file of expected outputs cannot be read.
type otherFile struct{ error }

func (e *otherFile) Unwrap() error { return e.error }

// indices converts the samples in [from, to) to indices along the sample axis of output k.
func (c *comparing) indices(k, from, to int) (first, last int) {
	if c.axes[k] < 0 {
		return 0, 1
	}
	of := c.out[k]
	e, shape := c.source.Extent(of, from, to), c.source.Shape(of)
	inner := max(1, dataflow.Shape(shape[c.axes[k]+1:]).Size())
	return e.From / inner, e.To / inner
}

// judge compares the outputs of one part of the samples with those in the file.
func (c *comparing) judge(ctx context.Context, g *given, s *samples.Runs, ours []engines.Reals) (sum Comparison,
	err error) {
	theirs := make([]engines.Reals, len(s.In))
	for k, a := range c.with {
		if a == nil {
			for i := range theirs {
				theirs[i] = append(theirs[i], dataflow.RealTensor{})
			}
			continue
		}
		first, last := c.indices(k, g.from, g.to)
		data, err := a.Array(nil, g.raw[k], c.axes[k], first, last-first)
		if err != nil {
			return sum, &otherFile{err}
		}
		for i, run := range s.Split(c.out[k], data.Data) {
			theirs[i] = append(theirs[i], s.TrimOutput(k, i, run))
		}
	}
	comparers, err := c.comparers(s)
	if err != nil {
		return sum, err
	}
	one := func(i int) (frontend.Verdict, error) { return comparers[i].Judge(s.In[i], theirs[i]) }
	var verdicts []frontend.Verdict
	if comparers[0].Stream {
		verdicts, err = engines.EachSampleInOrder(ctx, s.First, len(s.In), func(i int) (frontend.Verdict, error) {
			if c.last != nil && comparers[i] != c.last {
				comparers[i].ContinueFrom(c.last)
			}
			c.last = comparers[i]
			return one(i)
		})
	} else {
		verdicts, err = engines.EachSample(ctx, s.First, len(s.In), one)
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

// add adds the counts of one part to the total.
func (c *comparing) add(of Comparison) {
	t := &c.total
	if t.Differ == 0 {
		t.First = of.First
	}
	t.Samples, t.Equal, t.Bits = t.Samples+of.Samples, t.Equal+of.Equal, t.Bits+of.Bits
	t.NearTies, t.Differ = t.NearTies+of.NearTies, t.Differ+of.Differ
}

// comparers returns the Comparer of each sample. Samples of the same length share a Comparer.
func (c *comparing) comparers(s *samples.Runs) (list []*frontend.Comparer, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range s.In {
		steps := s.StepsOf(i)
		if c.made[steps] == nil {
			at, err := sizedImport(c.im, s, steps)
			if err != nil {
				return nil, err
			}
			if c.made[steps], err = at.Comparer(); err != nil {
				return nil, err
			}
		}
		list = append(list, c.made[steps])
	}
	return list, nil
}

// bitsEqual reports whether outputs are equal as float32. Both zeros count as equal.
func bitsEqual(ours, given engines.Reals) bool {
	for k, out := range given {
		for i, v := range out.Data {
			if float32(v) != float32(ours[k].Data[i]) {
				return false
			}
		}
	}
	return true
}

// outputLayers names the layers and streams that compute the outputs, as the end of a message.
func outputLayers(im *frontend.Imported) string {
	if im.Model.Graph == nil {
		return ""
	}
	s := "; computed from"
	for _, o := range im.Model.Graph.Out {
		s += " " + engines.StreamName(im.Model.Graph, o)
	}
	return s
}
