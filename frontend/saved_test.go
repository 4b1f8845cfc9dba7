package frontend

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"testing"

	"hlsgen/frontend/graph"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/testsupport/onnxtest"
)

// savedSum is the checksum of a model that was quantised on samples, on every processor.
const savedSum = "77d94585fd6e8471"

// TestSavedBytes checks that a model that is quantised on samples has the same bytes everywhere.
func TestSavedBytes(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(8, 9))
	m := onnxtest.New(17).Input("x", graph.DTypeFloat32, 1, 3, 12, 12).Output("y", graph.DTypeFloat32)
	weights := func(name string, shape ...int) {
		values := make([]float64, graph.ElementCount(shape))
		for i := range values {
			values[i] = float64(float32(4*r.Float64() - 2))
		}
		m.Init(name, graph.DTypeFloat32, shape, values...)
	}
	weights("w1", 8, 3, 3, 3)
	weights("w2", 8, 1, 3, 3)
	weights("w3", 8, 5)
	m.Node("Conv", "x", "w1").Out("a")
	m.Node("Sigmoid", "a").Out("b")
	m.Node("Mul", "a", "b").Out("c")
	m.Node("Conv", "c", "w2").Int("group", 8).Out("d")
	m.Node("Gelu", "d").Out("e")
	m.Node("GlobalAveragePool", "e").Out("f")
	m.Node("Flatten", "f").Out("g")
	m.Node("Tanh", "g").Out("h")
	m.Node("MatMul", "h", "w3").Out("y")
	sum := fnv.New64a()
	for _, recipe := range []string{"w8a8", "w4a6", "we4m3ae4m3", "w4a4p14"} {
		var d diag.List
		q := NewQuantisationSession("m.onnx", m.Bytes(), Options{}, false, &d)
		if q == nil {
			t.Fatal(d.Diags)
		}
		for range 4 {
			x := dataflow.RealTensor{Shape: []int{1, 3, 12, 12}, Data: make([]float64, 3*12*12)}
			for i := range x.Data {
				x.Data[i] = float64(float32(4*r.Float64() - 2))
			}
			if _, err := q.RunAndRecord([]dataflow.RealTensor{x}); err != nil {
				t.Fatal(err)
			}
		}
		by, err := ParseQuantisationRecipe(recipe)
		if err != nil {
			t.Fatal(err)
		}
		onnx, _ := q.QuantisedONNXFile(by, &d)
		if onnx == nil {
			t.Fatal(d.Diags)
		}
		sum.Write(onnx)
	}
	if got := fmt.Sprintf("%x", sum.Sum64()); got != savedSum {
		t.Errorf("checksum %s, want %s", got, savedSum)
	}
}
