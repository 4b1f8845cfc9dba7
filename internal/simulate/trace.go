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
	"hlsgen/internal/diag"
	"hlsgen/internal/engines"
	"hlsgen/internal/folder"
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
	tensors map[string]*traced
	left    map[string]bool // tensors whose samples do not fit one array
}

// A traced holds a tensor of all samples. Either values is set, or integers, scale and bias.
type traced struct {
	layer    string // the layer that computes the integers; empty for a tensor that the host gives
	values   *npy.Array
	integers *npy.Array
	scale    *npy.Array // of one sample
	bias     *npy.Array // of one sample
}

// trace returns an empty tracing for a number of samples.
func trace(samples int) *tracing {
	return &tracing{samples: samples, tensors: map[string]*traced{}, left: map[string]bool{}}
}

// add adds one sample's tensor: integers, or else values. shape is the tensor's shape in the longest sample; add pads
// shorter tensors with zeros.
func (t *tracing) add(tensor string, integers bool, shape []int, of dataflow.RealTensor) {
	of, ok := samples.PadWithZeros(of, shape)
	if !ok {
		t.left[tensor] = true
		return
	}
	x := t.tensors[tensor]
	if x == nil {
		x = &traced{}
		t.tensors[tensor] = x
		whole := append([]int{t.samples}, shape...)
		if integers {
			x.integers = &npy.Array{DType: "int64", Shape: whole}
		} else {
			x.values = &npy.Array{DType: "float64", Shape: whole}
		}
	}
	a := x.values
	if integers {
		a = x.integers
	}
	a.Data = append(a.Data, of.Data...)
}

// close removes tensors whose samples do not fit one array.
func (t *tracing) close() *tracing {
	for tensor := range t.left {
		delete(t.tensors, tensor)
	}
	return t
}

// write writes the tensors to path: an .npz file, or else a folder with a file per array. It returns nil after adding
// an error to d.
func (t *tracing) write(path string, d *diag.List) error {
	if IsTraceFile(path) {
		return t.writeFile(path)
	}
	return folder.WriteToSharedFolder(path, d, t.writeFolder)
}

// writeFolder writes NAME.npy for each tensor, and NAME.scale.npy and NAME.bias.npy where NAME.npy has integers.
func (t *tracing) writeFolder(dir *outputdir.SharedFolder) error {
	files := map[string]*npy.Array{}
	for tensor, x := range t.tensors {
		name := traceName(tensor)
		if files[name+".npy"] = x.values; x.integers != nil {
			files[name+".npy"], files[name+".scale.npy"], files[name+".bias.npy"] = x.integers, x.scale, x.bias
		}
	}
	names := slices.Sorted(maps.Keys(files))
	if err := dir.CheckMayWrite(names...); err != nil {
		return err
	}
	for _, name := range names {
		b, err := npy.EncodeNPY(files[name])
		if err != nil {
			return err
		}
		if err := dir.WriteOwnFile(name, b); err != nil {
			return err
		}
	}
	return nil
}

// streamsTracing returns each tensor of the model that a stream carries: the integers of all samples, and scale and
// bias, which convert them to real numbers: real = scale*integer + bias. All have the tensor's shape. Shorter sequences
// are padded with zeros.
func streamsTracing(im *frontend.ImportedModel, s *samples.RunInputs, streams []engines.FrameTensors) (*tracing,
	error) {
	longest, err := sizedImport(im, s, s.Stored)
	if err != nil {
		return nil, err
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
				return nil, err
			}
			carried[steps] = at.StreamedTensors()
		}
		for _, c := range carried[steps] {
			codes := dataflow.RealTensor{Shape: c.Shape}
			for _, v := range c.Integers(frame[c.Stream].Data) {
				codes.Data = append(codes.Data, float64(v))
			}
			t.add(c.Name, true, shape[c.Name], codes)
		}
	}
	layers := map[int]string{}
	for _, n := range longest.Model.Graph.Nodes {
		for _, stream := range n.Out {
			layers[stream] = n.LayerName()
		}
	}
	for _, c := range longest.StreamedTensors() {
		x := t.tensors[c.Name]
		// a shorter sequence does not carry it
		if x == nil || len(x.integers.Data) != x.integers.ElementCount() {
			t.left[c.Name] = true
			continue
		}
		x.layer = layers[c.Stream]
		x.scale = &npy.Array{DType: "float64", Shape: c.Shape, Data: c.Scale}
		x.bias = &npy.Array{DType: "float64", Shape: c.Shape, Data: c.Bias}
	}
	return t.close(), nil
}

// sizedImport returns the model for samples with the given number of steps. This is im itself if all samples have one
// length.
func sizedImport(im *frontend.ImportedModel, s *samples.RunInputs, steps int) (*frontend.ImportedModel, error) {
	if s.Lengths == nil {
		return im, nil
	}
	return im.ForSequenceLength(steps)
}

// referenceTracing returns each tensor of the model, with the values of all samples rounded to float64. float selects
// the model in float64 instead of exact arithmetic. Shorter sequences are padded with zeros.
func referenceTracing(im *frontend.ImportedModel, s *samples.RunInputs, float bool) (*tracing, error) {
	t, run := trace(len(s.In)), im.NewAllTensorsRunner
	if float {
		run = im.NewFloatAllTensorsRunner
	}
	next := run()
	longest, err := sizedImport(im, s, s.Stored)
	if err != nil {
		return nil, err
	}
	for _, in := range s.In {
		tensors, err := next(in)
		if err != nil {
			return nil, err
		}
		for name, of := range tensors {
			t.add(name, false, longest.TensorShape(name), of)
		}
	}
	return t.close(), nil
}
