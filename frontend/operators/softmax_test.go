package operators_test

import (
	"hlsgen/internal/testsupport/graphtest"

	"math"
	"testing"

	"hlsgen/frontend/graph"
	"hlsgen/internal/testsupport/tier"
)

// TestLongSoftmax holds softmaxes over rows that no step computes as one function against their definition.
func TestLongSoftmax(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	for _, c := range []struct {
		shape []int
		axis  int
		op    string
	}{{[]int{1, 6625}, 1, "Softmax"}, {[]int{4099, 2}, 0, "LogSoftmax"}} {
		g := &graph.Graph{Opsets: map[string]int64{"": 13}, Init: map[string]*graph.ConstantTensor{},
			Outputs: []graph.ValueInfo{{Name: "y"}}}
		in := graph.ValueInfo{Name: "x", DType: graph.DTypeFloat32, Known: true}
		for _, d := range c.shape {
			in.Dims = append(in.Dims, graph.Dim{Size: d})
		}
		g.Inputs = []graph.ValueInfo{in}
		g.Nodes = []*graph.Node{{Op: c.op, Inputs: []string{"x"}, Outputs: []string{"y"},
			Attrs: graph.AttributesByName{"axis": graph.NewIntAttr(c.axis)}}}
		x := make([]float64, graph.ElementCount(c.shape))
		for i := range x {
			x[i] = float64(i*7919%1000)/100 + 800 // exp of which no float64 holds
		}
		got, err := graphtest.Run(g, x)
		if err != nil {
			t.Fatal(c.op, c.shape, err)
		}
		n, inner := c.shape[c.axis], graph.ElementCount(c.shape[c.axis+1:])
		for i, v := range got {
			first := i/(n*inner)*n*inner + i%inner
			sum := 0.0
			for j := range n {
				sum += math.Exp(x[first+j*inner] - 810)
			}
			want := math.Exp(x[i]-810) / sum
			if c.op == "LogSoftmax" {
				want = math.Log(want)
			}
			if off := math.Abs(v - want); off > 1e-6*math.Abs(want) {
				t.Fatalf("%s of %v: element %d is %v, want %v", c.op, c.shape, i, v, want)
			}
		}
	}
}
