package operators_test

import (
	"fmt"
	"slices"
	"testing"

	"hlsgen/frontend/graph"
	"hlsgen/internal/testsupport/graphtest"
)

// TestOneHot holds OneHot to a loop: on every axis, for indices of all types, inside and outside of the depth, and
// for values of all types.
func TestOneHot(t *testing.T) {
	t.Parallel()
	const depth = 5
	shape, index := []int{2, 3}, []int64{0, 4, -1, -5, 5, -6}
	for _, dt := range []graph.DType{graph.DTypeInt64, graph.DTypeInt32, graph.DTypeInt8, graph.DTypeUInt8,
		graph.DTypeFloat32} {
		for _, values := range []*graph.ConstantTensor{graphtest.Reals([]int{2}, 0, 1), graphtest.Reals([]int{2}, 0.5,
			-2.75),
			graphtest.Int64s(0, 1),
			graphtest.Int64s(7, -3), graphtest.Ints(graph.DTypeBool, []int{2}, 1, 0)} {
			for axis := -3; axis < 3; axis++ {
				for _, opset := range []int64{9, 11, 13} {
					x := &graph.ConstantTensor{DType: dt, Shape: shape}
					for _, i := range index {
						switch {
						case dt == graph.DTypeFloat32:
							x.F = append(x.F, float64(i))
						case dt == graph.DTypeUInt8:
							x.I = append(x.I, max(i, -i))
						default:
							x.I = append(x.I, i)
						}
					}
					at := (axis + 3) % 3
					want := make([]float64, 6*depth)
					for k := range want {
						want[k] = values.FloatAt(0)
					}
					inner := graph.ElementCount(shape[at:])
					for e := range x.Len() {
						i := int(x.FloatAt(e))
						if i < 0 && opset >= 11 {
							i += depth
						}
						if 0 <= i && i < depth {
							want[(e/inner*depth+i)*inner+e%inner] = values.FloatAt(1)
						}
					}
					name := fmt.Sprintf("%v on axis %d, of %v, opset %d", dt, axis, values.DType, opset)
					opCase{name: name, op: "OneHot", opset: opset, attrs: graphtest.Attrs{"axis": axis},
						args:  []*graph.ConstantTensor{x, graphtest.Ints(graph.DTypeInt64, nil, depth), values},
						fixed: true,
						shape: slices.Insert(slices.Clone(shape), at, depth), want: want}.check(t)
				}
			}
		}
	}
}
