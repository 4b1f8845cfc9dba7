package simulate

import (
	"hlsgen/internal/dataflow"
	"hlsgen/internal/npy"
)

// TraceName is traceName, for tests outside the package.
var TraceName = traceName

// WriteTraceFile writes the trace of a sample, an integer by tensor, of scale 2 and bias 1.
func WriteTraceFile(path string, integers map[string]float64, shape dataflow.Shape) error {
	t := trace(1)
	for name, v := range integers {
		t.add(name, true, shape, dataflow.RealTensor{Shape: shape, Data: []float64{v}})
		t.tensors[name].scale = &npy.Array{DType: "float64", Shape: shape, Data: []float64{2}}
		t.tensors[name].bias = &npy.Array{DType: "float64", Shape: shape, Data: []float64{1}}
	}
	return t.close().writeFile(path)
}
