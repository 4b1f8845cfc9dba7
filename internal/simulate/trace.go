package simulate

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"hlsgen/frontend"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/engines"
	"hlsgen/internal/folder"
	"hlsgen/internal/npy"
	"hlsgen/internal/outputdir"
	"hlsgen/internal/report"
	"hlsgen/internal/samples"
)

// A tracing collects the tensors of all samples for --trace.
type tracing struct {
	samples int
	tensors map[string]*traced
	left    map[string]bool // tensors whose samples do not fit one array
}

// A traced holds a tensor of all samples. Either values is set, or integers, scale and bias.
type traced struct {
	stream   int    // that carries it
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

// writeFile writes an .npz file: of every tensor its values, under its own name, and of those that streams carry also
// the integers, scales and biases, under names with an ending. The index has all names.
func (t *tracing) writeFile(path string) error {
	index := TraceIndex{ReportHead: report.CurrentReportHead, Samples: t.samples, Tensors: []TraceIndexRow{}}
	arrays := map[string]*npy.Array{traceIndexName: nil}
	put := func(name string, a *npy.Array) string {
		for arrays[name] != nil || name == traceIndexName {
			name += "#"
		}
		arrays[name] = a
		return name
	}
	names := slices.Sorted(maps.Keys(t.tensors))
	rows := make([]TraceIndexRow, len(names))
	for i, tensor := range names { // values have the first choice of names
		x := t.tensors[tensor]
		values := x.values
		if x.scale != nil {
			values = x.meant()
		}
		if rows[i] = (TraceIndexRow{Tensor: tensor, Layer: x.layer}); values != nil {
			rows[i].Values = put(memberName(tensor), values)
		}
	}
	for i, tensor := range names {
		if x := t.tensors[tensor]; x.integers != nil {
			name := memberName(tensor)
			if rows[i].Integers = put(name+"#integers", x.integers); x.scale != nil {
				rows[i].Scale, rows[i].Bias = put(name+"#scale", x.scale), put(name+"#bias", x.bias)
			}
		}
	}
	index.Tensors = append(index.Tensors, rows...)
	text, err := json.MarshalIndent(index, "", " ")
	if err != nil {
		return err
	}
	arrays[traceIndexName] = bytesArray(append(text, '\n'))
	b, err := npy.EncodeNPZ(arrays)
	if err != nil {
		return fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
	return outputdir.WriteFileAtomically(path, b)
}

// meant returns the real numbers that the integers stand for.
func (x *traced) meant() *npy.Array {
	a := &npy.Array{DType: "float64", Shape: x.integers.Shape, Data: make([]float64, len(x.integers.Data))}
	for i, v := range x.integers.Data {
		k := i % len(x.scale.Data)
		a.Data[i] = float64(x.scale.Data[k]*v) + x.bias.Data[k] // not fused
	}
	return a
}

// addCodes adds the integers of streams out of the layers that t has no tensor of: those whose values are another
// function of them. Each has the name of its stream, and the shape of its longest frame.
func (t *tracing) addCodes(m *dataflow.Model, streams []engines.FrameTensors) {
	layers := streamLayers(m.Graph)
	for _, stream := range m.Graph.Out {
		if slices.ContainsFunc(slices.Collect(maps.Values(t.tensors)), func(x *traced) bool {
			return x.stream == stream
		}) {
			continue
		}
		of := m.Graph.Streams[stream]
		name := cmp.Or(of.Name, fmt.Sprintf("stream %d", stream))
		for _, frame := range streams {
			codes := dataflow.RealTensor{Shape: frame[stream].Shape}
			for _, v := range frame[stream].Data {
				codes.Data = append(codes.Data, float64(v))
			}
			t.add(name, true, of.Type.Shape, codes)
		}
		if x := t.tensors[name]; x != nil {
			x.layer, x.stream = layers[stream], stream
		}
	}
}

// streamLayers returns the names of the layers that write streams, by stream.
func streamLayers(g *dataflow.Graph) map[int]string {
	layers := map[int]string{}
	for _, n := range g.Nodes {
		for _, stream := range n.Out {
			layers[stream] = n.LayerName()
		}
	}
	return layers
}

// streamsTracing returns each tensor of the model that a stream carries: the integers of all samples, and scale and
// bias, which convert them to real numbers: real = scale*integer + bias. All have the tensor's shape. Shorter sequences
// are padded with zeros. Only streams that are wanted count.
func streamsTracing(im *frontend.ImportedModel, s *samples.RunInputs, streams []engines.FrameTensors,
	wanted func(stream int) bool) (*tracing, error) {
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
			if !wanted(c.Stream) {
				continue
			}
			codes := dataflow.RealTensor{Shape: c.Shape}
			for _, v := range c.Integers(frame[c.Stream].Data) {
				codes.Data = append(codes.Data, float64(v))
			}
			t.add(c.Name, true, shape[c.Name], codes)
		}
	}
	layers := streamLayers(longest.Model.Graph)
	for _, c := range longest.StreamedTensors() {
		if !wanted(c.Stream) {
			continue
		}
		x := t.tensors[c.Name]
		// a shorter sequence does not carry it
		if x == nil || len(x.integers.Data) != x.integers.ElementCount() {
			t.left[c.Name] = true
			continue
		}
		x.layer, x.stream = layers[c.Stream], c.Stream
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
