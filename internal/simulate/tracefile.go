package simulate

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"hlsgen/internal/npy"
	"hlsgen/internal/outputdir"
	"hlsgen/internal/report"
)

// A TraceIndex describes the arrays of a trace file. The file has it as the array index.json: the bytes of a JSON text.
type TraceIndex struct {
	report.ReportHead
	Samples int             `json:"samples"` // the first axis of all values and integers
	Tensors []TraceIndexRow `json:"tensors"`
}

// A TraceIndexRow names the arrays of a tensor. Where it is the integers of a stream, values are scale*integers + bias.
type TraceIndexRow struct {
	Tensor   string `json:"tensor"`          // the name in the ONNX file
	Layer    string `json:"layer,omitempty"` // the layer that computes it, where a stream carries it
	Values   string `json:"values"`          // the name of the array of real numbers
	Integers string `json:"integers,omitempty"`
	Scale    string `json:"scale,omitempty"` // of one sample
	Bias     string `json:"bias,omitempty"`  // of one sample
}

// traceIndexName is the name of the array with the index.
const traceIndexName = "index.json"

// longestMember limits the bytes of a tensor's name that is also the name of an array.
const longestMember = 4096

// IsTraceFile reports whether the path of --trace names an .npz file. Other paths name folders.
func IsTraceFile(path string) bool { return strings.EqualFold(filepath.Ext(path), ".npz") }

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
		if x.integers != nil {
			values = x.meant()
		}
		rows[i] = TraceIndexRow{Tensor: tensor, Layer: x.layer, Values: put(memberName(tensor), values)}
	}
	for i, tensor := range names {
		if x := t.tensors[tensor]; x.integers != nil {
			name := memberName(tensor)
			rows[i].Integers = put(name+"#integers", x.integers)
			rows[i].Scale, rows[i].Bias = put(name+"#scale", x.scale), put(name+"#bias", x.bias)
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

// memberName returns the name of the array of a tensor in an archive: the tensor's own, or the name of its file in a
// folder where zip programs could not read that.
func memberName(tensor string) string {
	if len(tensor) > longestMember || !utf8.ValidString(tensor) || strings.ContainsAny(tensor, "\x00\\") {
		return traceName(tensor)
	}
	return tensor
}

// bytesArray returns bytes as an array of uint8.
func bytesArray(b []byte) *npy.Array {
	a := &npy.Array{DType: "uint8", Shape: []int{len(b)}, Data: make([]float64, len(b))}
	for i, x := range b {
		a.Data[i] = float64(x)
	}
	return a
}
