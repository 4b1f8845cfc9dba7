package simulate

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	"hlsgen/frontend"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/engines"
	"hlsgen/internal/npy"
	"hlsgen/internal/outputdir"
	"hlsgen/internal/samples"
)

// traceName converts a tensor's name to a file name. Bytes other than letters, digits, '-', '_' and '.' become %XX, as
// does a leading '.'. A long name is cut and completed by a hash.
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
		sum := sha256.Sum256([]byte(tensor))
		return b.String()[:160] + "-" + hex.EncodeToString(sum[:8])
	}
	return b.String()
}

// A tracing collects the tensors of all samples for --trace.
type tracing struct {
	samples int
	files   map[string]*npy.Array
	left    map[string]bool // tensors whose samples do not fit one array
}

// trace returns an empty tracing for a number of samples.
func trace(samples int) *tracing {
	return &tracing{samples: samples, files: map[string]*npy.Array{}, left: map[string]bool{}}
}

// add adds one sample's tensor. shape is the tensor's shape in the longest sample; add pads shorter tensors with zeros.
func (t *tracing) add(tensor, dtype string, shape []int, of dataflow.RealTensor) {
	of, ok := samples.PadWithZeros(of, shape)
	if !ok {
		t.left[tensor] = true
		return
	}
	name := traceName(tensor) + ".npy"
	a := t.files[name]
	if a == nil {
		a = &npy.Array{DType: dtype, Shape: append([]int{t.samples}, shape...)}
		t.files[name] = a
	}
	a.Data = append(a.Data, of.Data...)
}

// write writes a file per tensor, except tensors whose samples do not fit one array.
func (t *tracing) write(dir *outputdir.SharedFolder) error {
	for tensor := range t.left {
		delete(t.files, traceName(tensor)+".npy")
	}
	names := slices.Sorted(maps.Keys(t.files))
	if err := dir.CheckMayWrite(names...); err != nil {
		return err
	}
	for _, name := range names {
		b, err := npy.EncodeNPY(t.files[name])
		if err != nil {
			return err
		}
		if err := dir.WriteOwnFile(name, b); err != nil {
			return err
		}
	}
	return nil
}

// traceStreams writes files for each tensor of the model that a stream carries. NAME.npy holds the integers of all
// samples. NAME.scale.npy and NAME.bias.npy convert them to real numbers: real = scale*integer + bias. All have the
// tensor's shape. Shorter sequences are padded with zeros.
func traceStreams(dir *outputdir.SharedFolder, im *frontend.ImportedModel, s *samples.RunInputs,
	streams []engines.FrameTensors) error {
	longest, err := sizedImport(im, s, s.Stored)
	if err != nil {
		return err
	}
	t, carried, shape := trace(len(streams)), map[int][]frontend.StreamedTensor{}, map[string][]int{}
	for _, c := range longest.StreamedTensors() {
		shape[c.Name] = c.Shape
	}
	for i, frame := range streams {
		steps := s.StepsOfRun(i)
		if carried[steps] == nil {
			at, err := sizedImport(im, s, steps)
			if err != nil {
				return err
			}
			carried[steps] = at.StreamedTensors()
		}
		for _, c := range carried[steps] {
			codes := dataflow.RealTensor{Shape: c.Shape}
			for _, v := range c.Integers(frame[c.Stream].Data) {
				codes.Data = append(codes.Data, float64(v))
			}
			t.add(c.Name, "int64", shape[c.Name], codes)
		}
	}
	for _, c := range longest.StreamedTensors() {
		codes := t.files[traceName(c.Name)+".npy"]
		// a shorter sequence does not carry it
		if codes == nil || len(codes.Data) != dataflow.Shape(codes.Shape).ElementCount() {
			t.left[c.Name] = true
		}
		if !t.left[c.Name] {
			t.files[traceName(c.Name)+".scale.npy"] = &npy.Array{DType: "float64", Shape: c.Shape, Data: c.Scale}
			t.files[traceName(c.Name)+".bias.npy"] = &npy.Array{DType: "float64", Shape: c.Shape, Data: c.Bias}
		}
	}
	return t.write(dir)
}

// sizedImport returns the model for samples with the given number of steps. This is im itself if all samples have one
// length.
func sizedImport(im *frontend.ImportedModel, s *samples.RunInputs, steps int) (*frontend.ImportedModel, error) {
	if s.Lengths == nil {
		return im, nil
	}
	return im.ForSequenceLength(steps)
}

// traceReference writes NAME.npy for each tensor of the model, with the values of all samples rounded to float64. float
// selects the model in float64 instead of exact arithmetic. Shorter sequences are padded with zeros.
func traceReference(dir *outputdir.SharedFolder, im *frontend.ImportedModel, s *samples.RunInputs, float bool) error {
	t, run := trace(len(s.In)), im.NewAllTensorsRunner
	if float {
		run = im.NewFloatAllTensorsRunner
	}
	next := run()
	longest, err := sizedImport(im, s, s.Stored)
	if err != nil {
		return err
	}
	for _, in := range s.In {
		tensors, err := next(in)
		if err != nil {
			return err
		}
		for name, of := range tensors {
			t.add(name, "float64", longest.TensorShape(name), of)
		}
	}
	return t.write(dir)
}
