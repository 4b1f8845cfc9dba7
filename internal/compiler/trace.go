package compiler

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"hlsgen/frontend"
	"hlsgen/internal/compiler/samples"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/npy"
	"hlsgen/internal/owned"
)

// traceName makes a file name of a tensor's name: other characters than letters, digits, '-', '_' and '.' become %XX.
func traceName(tensor string) string {
	var b strings.Builder
	for i := range len(tensor) {
		c := tensor[i]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c == '.' &&
			i > 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	if b.Len() > 180 {
		return b.String()[:180]
	}
	return b.String()
}

// A tracing is the tensors of samples, gathered.
type tracing struct {
	dir     string
	samples int
	arrays  map[string]*npy.Array
	left    map[string]bool // tensors that have no form in which all samples fit
}

func trace(dir string, samples int) *tracing {
	return &tracing{dir: dir, samples: samples, arrays: map[string]*npy.Array{}, left: map[string]bool{}}
}

// add adds a sample's tensor, of a shape that is shape in the longest sample: there are zeros behind shorter ones.
func (t *tracing) add(name, dtype string, shape []int, of dataflow.RealTensor) {
	of, ok := samples.PadTo(of, shape)
	if !ok {
		t.left[name] = true
		return
	}
	a := t.arrays[name]
	if a == nil {
		a = &npy.Array{DType: dtype, Shape: append([]int{t.samples}, shape...)}
		t.arrays[name] = a
	}
	a.Data = append(a.Data, of.Data...)
}

// write writes the tensors that all samples have.
func (t *tracing) write() error {
	if err := os.MkdirAll(t.dir, 0o755); err != nil {
		return err
	}
	for name, a := range t.arrays {
		if t.left[name] || len(a.Data) != dataflow.Shape(a.Shape).Size() {
			continue
		}
		if err := t.array(name+".npy", a); err != nil {
			return err
		}
	}
	return nil
}

func (t *tracing) array(name string, a *npy.Array) error {
	b, err := npy.Format(a)
	if err != nil {
		return err
	}
	return owned.WriteFile(filepath.Join(t.dir, name), b)
}

// traceStreams writes, per tensor of the model that a stream carries, NAME.npy with the integers of all samples and
// NAME.scale.npy and NAME.bias.npy with what makes reals of them: real = scale*integer + bias. All have the tensor's
// shape; sequences that are shorter than the data have zeros behind them.
func traceStreams(dir string, im *frontend.Imported, s *samples.Runs, streams []tensors) error {
	t := trace(dir, len(streams))
	longest, err := sizedImport(im, s, s.Stored)
	if err != nil {
		return err
	}
	shape := map[string][]int{}
	for _, c := range longest.Carried() {
		shape[c.Name] = c.Shape
	}
	of := map[int][]frontend.Carried{}
	for i, frame := range streams {
		steps := s.StepsOf(i)
		if of[steps] == nil {
			at, err := sizedImport(im, s, steps)
			if err != nil {
				return err
			}
			of[steps] = at.Carried()
		}
		for _, c := range of[steps] {
			codes := dataflow.RealTensor{Shape: c.Shape}
			for _, v := range c.Integers(frame[c.Stream].Data) {
				codes.Data = append(codes.Data, float64(v))
			}
			t.add(traceName(c.Name), "int64", shape[c.Name], codes)
		}
	}
	if err := t.write(); err != nil {
		return err
	}
	for _, c := range longest.Carried() {
		name := traceName(c.Name)
		if t.left[name] {
			continue
		}
		for suffix, data := range map[string][]float64{".scale.npy": c.Scale, ".bias.npy": c.Bias} {
			if err := t.array(name+suffix, &npy.Array{DType: "float64", Shape: c.Shape, Data: data}); err != nil {
				return err
			}
		}
	}
	return nil
}

// sizedImport is the model for samples of so many steps.
func sizedImport(im *frontend.Imported, s *samples.Runs, steps int) (*frontend.Imported, error) {
	if s.Lengths == nil {
		return im, nil
	}
	return im.At(steps)
}

// traceReference writes, per tensor of the model, NAME.npy with the values of all samples rounded to float64; sequences
// that are shorter than the data have zeros behind them.
func traceReference(dir string, im *frontend.Imported, s *samples.Runs) error {
	t, run := trace(dir, len(s.In)), im.Tensors()
	longest, err := sizedImport(im, s, s.Stored)
	if err != nil {
		return err
	}
	for _, in := range s.In {
		tensors, err := run(in)
		if err != nil {
			return err
		}
		for name, of := range tensors {
			t.add(traceName(name), "float64", longest.Shape(name), of)
		}
	}
	return t.write()
}
