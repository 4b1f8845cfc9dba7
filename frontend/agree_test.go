package frontend_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"hlsgen/internal/dataflow"
)

// agree compares the layers with the reference.
func agree(t *testing.T, m *dataflow.Model, samples int) {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	seen := map[string]bool{}
	for range samples {
		var x []dataflow.RealTensor
		for _, in := range m.In {
			data := make([]float64, dataflow.Shape(in.Shape).ElementCount())
			_, _, integer := in.IntegerLimits()
			for i := range data {
				switch {
				case integer:
					data[i] = float64(r.IntN(256))
				case r.IntN(2) == 0:
					data[i] = float64(r.IntN(65)-32) / 4
				default:
					data[i] = float64(float32(r.NormFloat64() * 3))
				}
			}
			x = append(x, dataflow.RealTensor{Shape: in.Shape, Data: data})
		}
		want, err := m.Reference(x)
		if err != nil {
			t.Fatal(err)
		}
		got, _ := run(t, m, x)
		for o := range want {
			for k, v := range want[o].Data {
				if math.Float64bits(v+0) != math.Float64bits(got[o].Data[k]+0) { // zeros have no sign
					t.Fatalf("input %v, output %d: the layers give %v, the model %v", x[0].Data, o, got[o].Data,
						want[o].Data)
				}
			}
			if fmt.Sprint(want[o].Shape) != fmt.Sprint(got[o].Shape) {
				t.Fatalf("output %d has shape %v, the model's %v", o, got[o].Shape, want[o].Shape)
			}
		}
		seen[fmt.Sprint(got)] = true
	}
	t.Logf("%d different outputs", len(seen))
}
