package operators_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/operators"
	"hlsgen/internal/testsupport/graphtest"
)

// TestPad pads [0 1 2] per mode, and a matrix by numpy's rules.
func TestPad(t *testing.T) {
	t.Parallel()
	row := graphtest.Reals([]int{3}, 1, 2, 3)
	for _, c := range []opCase{
		{name: "zeros", attrs: graphtest.Attrs{}, args: []*graph.ConstantTensor{row, graphtest.Int64s(2, 1)},
			want: []float64{0, 0, 1, 2, 3, 0}},
		{name: "a value", args: []*graph.ConstantTensor{row, graphtest.Int64s(1, 0), graphtest.Scalar(9)},
			want: []float64{9,
				1, 2, 3}},
		{name: "a value of one axis", args: []*graph.ConstantTensor{row, graphtest.Int64s(1, 0),
			graphtest.Reals([]int{1}, 9)},
			want: []float64{9, 1, 2, 3}},
		{name: "edge", attrs: graphtest.Attrs{"mode": "edge"}, args: []*graph.ConstantTensor{row, graphtest.Int64s(2,
			1)},
			want: []float64{1, 1, 1, 2, 3, 3}},
		{name: "reflect", attrs: graphtest.Attrs{"mode": "reflect"}, args: []*graph.ConstantTensor{row,
			graphtest.Int64s(2, 2)},
			want: []float64{3, 2, 1, 2, 3, 2, 1}},
		{name: "reflect further than there is", attrs: graphtest.Attrs{"mode": "reflect"},
			args: []*graph.ConstantTensor{row, graphtest.Int64s(0, 5)}, want: []float64{1, 2, 3, 2, 1, 2, 3, 2}},
		{name: "reflect a single element", attrs: graphtest.Attrs{"mode": "reflect"},
			args: []*graph.ConstantTensor{graphtest.Reals([]int{1}, 4), graphtest.Int64s(1, 2)}, want: []float64{4, 4,
				4, 4}},
		{name: "wrap", attrs: graphtest.Attrs{"mode": "wrap"}, args: []*graph.ConstantTensor{row, graphtest.Int64s(4,
			1)},
			want: []float64{3, 1, 2, 3, 1, 2, 3, 1}},
		{name: "crop", args: []*graph.ConstantTensor{row, graphtest.Int64s(-1, 1)}, want: []float64{2, 3, 0}},
		{name: "crop all", args: []*graph.ConstantTensor{row, graphtest.Int64s(-1, -2)}, want: []float64{}},
		{name: "crop beyond the end", args: []*graph.ConstantTensor{row, graphtest.Int64s(-4, 2)}, want: []float64{0}},
		{name: "integers", args: []*graph.ConstantTensor{graphtest.Ints(graph.DTypeInt8, []int{2}, -3, 4),
			graphtest.Int64s(1, 1),
			graphtest.Ints(graph.DTypeInt8, nil, 7)}, want: []float64{7, -3, 4, 7}},
		{name: "by attributes", opset: 2, attrs: graphtest.Attrs{"pads": []int64{1, 0}, "value": 5.0},
			args: []*graph.ConstantTensor{row},
			want: []float64{5, 1, 2, 3}},
		{name: "by attributes of the first version", opset: 1, attrs: graphtest.Attrs{"paddings": []int64{0, 1}},
			args: []*graph.ConstantTensor{row}, want: []float64{1, 2, 3, 0}},
	} {
		c.op, c.fixed, c.shape = "Pad", true, []int{len(c.want)}
		c.check(t)
	}
	image := graphtest.Reals([]int{2, 2}, 1, 2, 3, 4)
	opCase{name: "two axes", op: "Pad", fixed: true, args: []*graph.ConstantTensor{image, graphtest.Int64s(1, 0, 0, 1)},
		shape: []int{3, 3}, want: []float64{0, 0, 0, 1, 2, 0, 3, 4, 0}}.check(t)
	opCase{name: "a named axis", op: "Pad", opset: 18, fixed: true,
		args:  []*graph.ConstantTensor{image, graphtest.Int64s(1, 0), graphtest.Scalar(7), graphtest.Int64s(-1)},
		shape: []int{2, 3},
		want:  []float64{7, 1, 2, 7, 3, 4}}.check(t)
	opCase{name: "nothing", op: "Pad", fixed: true, args: []*graph.ConstantTensor{graphtest.Reals([]int{0, 2}),
		graphtest.Int64s(1, 0, 0, 0)},
		shape: []int{1, 2}, want: []float64{0, 0}}.check(t)
}

// TestResize enlarges [10 20 30]; what each mode takes is worked out by hand.
func TestResize(t *testing.T) {
	t.Parallel()
	row := graphtest.Reals([]int{1, 3}, 10, 20, 30)
	repeat := func(factor int) (v []float64) {
		for _, x := range row.F {
			for range factor {
				v = append(v, x)
			}
		}
		return v
	}
	scales := func(f float64) *graph.ConstantTensor { return graphtest.Reals([]int{2}, 1, f) }
	mode := func(coordinates, nearest string) graphtest.Attrs {
		return graphtest.Attrs{"coordinate_transformation_mode": coordinates, "nearest_mode": nearest}
	}
	for i, c := range []opCase{
		{opset: 10, args: []*graph.ConstantTensor{row, scales(2)}, want: repeat(2)},
		{args: []*graph.ConstantTensor{row, nil, scales(2)}, want: repeat(2)},
		{args: []*graph.ConstantTensor{row, nil, scales(3)}, want: repeat(3)},
		{args: []*graph.ConstantTensor{row, graphtest.Reals([]int{0}), scales(1)}, want: repeat(1)},
		{args: []*graph.ConstantTensor{row, nil, nil, graphtest.Int64s(1, 12)}, want: repeat(4)},
		{args: []*graph.ConstantTensor{row, graphtest.Reals([]int{0}), graphtest.Reals([]int{0}), graphtest.Int64s(1,
			6)},
			want: repeat(2)},
		{opset: 18, attrs: graphtest.Attrs{"axes": []int64{-1}}, args: []*graph.ConstantTensor{row, nil,
			graphtest.Reals([]int{1}, 2)},
			want: repeat(2)},
		{attrs: mode("asymmetric", "floor"), args: []*graph.ConstantTensor{row, nil, scales(3)}, want: repeat(3)},
		{attrs: mode("half_pixel", "round_prefer_ceil"), args: []*graph.ConstantTensor{row, nil, scales(2)},
			want: repeat(2)},
		{attrs: mode("pytorch_half_pixel", "round_prefer_floor"), args: []*graph.ConstantTensor{row, nil, scales(2)},
			want: repeat(2)},
		{attrs: mode("half_pixel_symmetric", "round_prefer_floor"), args: []*graph.ConstantTensor{row, nil, scales(3)},
			want: repeat(3)},
		{attrs: mode("tf_half_pixel_for_nn", "floor"), args: []*graph.ConstantTensor{row, nil, scales(3)},
			want: repeat(3)},
		// 0 1/2 1 3/2 2 5/2
		{attrs: mode("asymmetric", "ceil"), args: []*graph.ConstantTensor{row, nil, scales(2)},
			want: []float64{10, 20, 20, 30, 30, 30}},
		{attrs: mode("asymmetric", "round_prefer_ceil"), args: []*graph.ConstantTensor{row, nil, scales(2)},
			want: []float64{10, 20, 20, 30, 30, 30}},
		{attrs: mode("asymmetric", "round_prefer_floor"), args: []*graph.ConstantTensor{row, nil, scales(2)},
			want: repeat(2)},
		// 0 2/5 4/5 6/5 8/5 2
		{attrs: mode("align_corners", "round_prefer_floor"), args: []*graph.ConstantTensor{row, nil, scales(2)},
			want: repeat(2)},
		{attrs: mode("align_corners", "floor"), args: []*graph.ConstantTensor{row, nil, scales(2)},
			want: []float64{10, 10, 10, 20, 20, 30}},
		// -1/4 1/4 3/4 5/4 7/4 9/4
		{attrs: mode("half_pixel", "floor"), args: []*graph.ConstantTensor{row, nil, scales(2)},
			want: []float64{10, 10, 10, 20, 20, 30}},
		{attrs: mode("half_pixel", "ceil"), args: []*graph.ConstantTensor{row, nil, scales(2)},
			want: []float64{10, 20, 20, 30, 30, 30}},
	} {
		c.name, c.op, c.fixed, c.shape = fmt.Sprintf("resize %d", i), "Resize", true, []int{1, len(c.want)}
		c.check(t)
	}
	pixels := graphtest.Reals([]int{1, 1, 2, 2}, 1, 2, 3, 4)
	twice := []float64{1, 1, 2, 2, 3, 3, 4, 4}
	opCase{name: "upsample", op: "Upsample", opset: 9, fixed: true,
		args: []*graph.ConstantTensor{pixels, graphtest.Reals([]int{4}, 1, 1, 1, 2)}, shape: []int{1, 1, 2, 4},
		want: twice}.check(t)
	opCase{name: "upsample by attribute", op: "Upsample", opset: 7, attrs: graphtest.Attrs{"scales": []float64{1, 1, 1,
		2}},
		args: []*graph.ConstantTensor{pixels}, shape: []int{1, 1, 2, 4}, want: twice}.check(t)
	// Factors are those of the operator with channels in front.
	opCase{name: "resize, channels last", domain: channelsLast, op: "Resize", fixed: true,
		args: []*graph.ConstantTensor{toLast(pixels), nil, graphtest.Reals([]int{4}, 1, 1, 1, 2)}, shape: []int{1, 2,
			4, 1},
		want: twice}.check(t)
}

// TestDepthAndSpace compares with the definitions: each is a reshape, a transposition, a reshape.
func TestDepthAndSpace(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 1))
	for _, b := range []int{1, 2, 3} {
		x := whole(r, 2, 2*b*b, 2, 3)
		deep := []int{2, 2, 2 * b, 3 * b}
		dcr := permuted(graphtest.Reals([]int{2, b, b, 2, 2, 3}, x.F...), 0, 3, 4, 1, 5, 2)
		crd := permuted(graphtest.Reals([]int{2, 2, b, b, 2, 3}, x.F...), 0, 1, 4, 2, 5, 3)
		opCase{name: "DCR", op: "DepthToSpace", attrs: graphtest.Attrs{"blocksize": b},
			args:  []*graph.ConstantTensor{x},
			shape: deep,
			want:  dcr.F}.check(t)
		opCase{name: "CRD", op: "DepthToSpace", attrs: graphtest.Attrs{"blocksize": b, "mode": "CRD"},
			args:  []*graph.ConstantTensor{x},
			shape: deep, want: crd.F}.check(t)
		opCase{name: "space", op: "SpaceToDepth", attrs: graphtest.Attrs{"blocksize": b},
			args: []*graph.ConstantTensor{graphtest.Reals(deep, dcr.F...)}, shape: x.Shape, want: x.F}.check(t)
	}
}

// TestReductions reduces over every set of axes of tensors of several ranks.
func TestReductions(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(6, 1))
	for _, shape := range [][]int{{3}, {2, 4}, {2, 3, 4}, {1, 2, 4, 3}, {1, 2, 2, 1, 4}} {
		x := whole(r, shape...)
		for set := range 1 << len(shape) {
			var axes []int64
			kept, short := []int{}, []int{}
			for a, d := range shape {
				if set>>a&1 == 1 {
					axes, kept = append(axes, int64(a-len(shape))), append(kept, 1)
				} else {
					kept, short = append(kept, d), append(short, d)
				}
			}
			sum, most, least, product := reductions(x, set)
			n := float64(x.Len() / len(sum))
			mean := make([]float64, len(sum))
			for i, v := range sum {
				mean[i] = float64(float32(v / n))
			}
			for op, want := range map[string][]float64{"ReduceSum": sum, "ReduceMean": mean, "ReduceMax": most,
				"ReduceMin": least, "ReduceProd": product} {
				name := fmt.Sprintf("%s of %v over %v", op, shape, axes)
				byInput := opCase{name: name, op: op, opset: 18, attrs: graphtest.Attrs{"noop_with_empty_axes": 1},
					fixed: true,
					args:  []*graph.ConstantTensor{x, graphtest.Int64s(axes...)}, shape: kept, want: want}
				byInput.check(t)
				if len(axes) > 0 {
					opCase{name: name, op: op, opset: 11, attrs: graphtest.Attrs{"axes": axes, "keepdims": 0},
						args: []*graph.ConstantTensor{x}, shape: short, want: want}.check(t)
				}
			}
		}
	}
	bytes := graphtest.Ints(graph.DTypeUInt8, []int{1, 1, 2, 2}, 200, 7, 9, 255)
	for op, want := range map[string]float64{"ReduceMax": 255, "ReduceMin": 7} {
		opCase{name: op + " of bytes", op: op, attrs: graphtest.Attrs{"axes": []int64{2, 3}}, opset: 11,
			args: []*graph.ConstantTensor{bytes}, shape: []int{1, 1, 1, 1}, want: []float64{want}}.check(t)
	}
}

// reductions reduces over the axes in set.
func reductions(x *graph.ConstantTensor, set int) (sum, most, least, product []float64) {
	at := map[int]int{}
	for i, v := range x.F {
		row, rest := 0, i
		for a := len(x.Shape) - 1; a >= 0; a-- {
			if set>>a&1 == 0 {
				row = row*16 + rest%x.Shape[a] + 1
			}
			rest /= x.Shape[a]
		}
		k, known := at[row]
		if !known {
			at[row] = len(sum)
			sum, most, least, product = append(sum, v), append(most, v), append(least, v), append(product, v)
			continue
		}
		sum[k], most[k], least[k], product[k] = sum[k]+v, max(most[k], v), min(least[k], v), product[k]*v
	}
	return sum, most, least, product
}

// TestGlobalPools includes an image whose maximum is taken row by row first.
func TestGlobalPools(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(7, 1))
	for _, shape := range [][]int{{2, 3, 5}, {1, 2, 3, 4}, {1, 2, 20, 16}, {1, 1, 1, 1}} {
		x := whole(r, shape...)
		set := 4
		if len(shape) == 4 {
			set = 12
		}
		sum, most, _, _ := reductions(x, set)
		for i := range sum {
			sum[i] = float64(float32(sum[i] / float64(x.Len()/len(sum))))
		}
		first, last := []int{shape[0], shape[1], 1}, []int{shape[0], 1, shape[1]}
		if len(shape) == 4 {
			first, last = append(first, 1), []int{shape[0], 1, 1, shape[1]}
		}
		for op, want := range map[string][]float64{"GlobalAveragePool": sum, "GlobalMaxPool": most} {
			opCase{name: fmt.Sprint(op, shape), op: op, args: []*graph.ConstantTensor{x}, shape: first,
				want: want}.check(t)
			opCase{name: fmt.Sprint(op, shape), domain: channelsLast, op: op, args: []*graph.ConstantTensor{toLast(x)},
				shape: last, want: want}.check(t)
		}
	}
}

// TestEmbedding chooses rows of a constant table by data.
func TestEmbedding(t *testing.T) {
	t.Parallel()
	table := graphtest.Reals([]int{3, 2}, 1, 2, 3, 4, 5, 6)
	for _, c := range []struct {
		table *graph.ConstantTensor
		index *graph.ConstantTensor
		shape []int
		want  []float64
	}{
		{table, graphtest.Int64s(2, 0, -1, -3), []int{4, 2}, []float64{5, 6, 1, 2, 5, 6, 1, 2}},
		{table, graphtest.Ints(graph.DTypeUInt8, []int{1, 2}, 1, 2), []int{1, 2, 2}, []float64{3, 4, 5, 6}},
		{table, graphtest.Ints(graph.DTypeInt32, nil, 1), []int{2}, []float64{3, 4}},
		{graphtest.Reals([]int{2}, 7, 8), graphtest.Int64s(1, 0), []int{2}, []float64{8, 7}},
		{graphtest.Ints(graph.DTypeInt8, []int{2, 1, 2}, -1, 2, 3, -4), graphtest.Int64s(1), []int{1, 1, 2},
			[]float64{3,
				-4}},
	} {
		g := graphtest.Single("", "Gather", 13, nil, func(i int) bool { return i == 1 }, c.table, c.index)
		p := operators.Prepare(g, "m", operators.Options{}, nil)
		if p == nil {
			t.Fatalf("%v by %v is refused", c.table, c.index)
		}
		got, err := graphtest.Execute(p, values(c.index))
		if k := p.Known["y"]; err != nil || fmt.Sprint(got, k.Shape, k.DType) != fmt.Sprint(c.want, c.shape,
			c.table.DType) {
			t.Errorf("%v by %v: %v %v %v, %v, want %v %v", c.table, c.index, got, k.Shape, k.DType, err, c.want,
				c.shape)
		}
		if hot := p.Steps[0].Node; hot.Op != "OneHot" || hot.Domain != operators.InternalDomain ||
			hot.Was != "Gather" ||
			hot.Name != "n" {
			t.Errorf("the first step is %+v", hot)
		}
	}
}
