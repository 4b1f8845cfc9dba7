package lower

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"hlsgen/hlslib/add"
	"hlsgen/hlslib/concat"
	"hlsgen/hlslib/crop"
	"hlsgen/hlslib/dup"
	"hlsgen/hlslib/mul"
	"hlsgen/hlslib/mvau"
	"hlsgen/hlslib/pad"
	"hlsgen/hlslib/pool"
	"hlsgen/hlslib/reorder"
	"hlsgen/hlslib/requant"
	"hlsgen/hlslib/rnn"
	"hlsgen/hlslib/swg"
	"hlsgen/hlslib/threshold"
	"hlsgen/hlslib/upsample"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/num"
)

// A turnsTest builds a graph for one sample.
type turnsTest struct {
	dataflow.GraphBuilder
	t *testing.T
}

func (b *turnsTest) input(shape ...int) int {
	r := num.Range{Lo: -4, Hi: 3}
	return b.AddInput("x", dataflow.StreamType{Shape: shape, Range: []num.Range{r}, Elem: num.NarrowestIntTypeFor(r)})
}

func (b *turnsTest) add(op dataflow.Op, in ...int) int {
	b.t.Helper()
	return b.all(op, in...)[0]
}

func (b *turnsTest) all(op dataflow.Op, in ...int) []int {
	b.t.Helper()
	out, err := b.BindAndAddLayer(op, in, nil, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	return out
}

// rnn adds a recurrence with the given number of units. It computes steps of the sum of a lane of the input and the
// units' own values.
func (b *turnsTest) rnn(units int, sequence bool, in ...int) int {
	b.t.Helper()
	weights := make([][]int64, units)
	for u := range weights {
		for k := range units {
			weights[u] = append(weights[u], int64((u+2*k)%3-1))
		}
	}
	state, out := 0, rnn.ValueRef{Value: 3}
	step := num.StepFunction{At: []int64{-2, 0, 1, 3}, Value: []int64{-2, -1, 0, 1, 2}}
	p := rnn.Params{Sequence: sequence, Outputs: []rnn.ValueRef{out}, Cells: []rnn.Cell{{
		States: []rnn.StateDefinition{{Next: out}},
		Phases: []rnn.CellPhase{{Units: units, State: &state, Dots: []rnn.CellMatrixProduct{{Weights: weights}},
			Values: []rnn.CellOperation{
				{Op: rnn.OpInput}, {Op: rnn.OpDot}, {Op: rnn.OpLinear, Of: []int{0, 1}, Factors: [][]int64{{1}, {1}}},
				{Op: rnn.OpStepFunction, Of: []int{2}, Steps: []num.StepFunction{step}},
			}}},
	}}}
	if len(in) > 1 {
		p.Starts = []int{0}
	}
	return b.add(rnn.New(p), in...)
}

// dense returns a product of vectors with a matrix.
func dense(outputs, inputs int) dataflow.Op {
	p := mvau.Params{Weights: make([][]int64, outputs)}
	for o := range outputs {
		for i := range inputs {
			p.Weights[o] = append(p.Weights[o], int64((3*o+i)%5-2))
		}
	}
	return mvau.New(p)
}

// window returns a window that slides over three steps of a line of pixels.
func window(axis, stride int) dataflow.Op {
	p := swg.Params{Kernel: [2]int{1, 1}, Stride: [2]int{1, 1}, Dilation: [2]int{1, 1}, Groups: 1}
	p.Kernel[axis], p.Stride[axis], p.Before[axis], p.After[axis] = 3, stride, 1, 1
	return swg.New(p)
}

// TestInterleave compares graphs where samples take turns with the graphs for one sample.
func TestInterleave(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		build  func(b *turnsTest) []int
		orders int // reorderings of a graph where 3 samples take turns
	}{
		{"the last step", func(b *turnsTest) []int {
			return []int{b.add(dense(3, 2), b.rnn(2, false, b.input(4, 2)))}
		}, 0},
		{"a later input, which is read first", func(b *turnsTest) []int {
			x := b.all(dup.New(dup.Params{Copies: 2}), b.input(4, 1))
			y := b.all(dup.New(dup.Params{Copies: 2}), b.input(4, 2))
			one := b.add(concat.New(concat.Params{Inputs: 2}), y[0], x[0])
			two := b.add(concat.New(concat.Params{Inputs: 2}), x[1], y[1])
			return []int{b.rnn(3, true, two), b.rnn(3, false, one)}
		}, 0},
		{"as many steps as samples, flat", func(b *turnsTest) []int {
			return []int{b.add(dense(2, 6), b.rnn(2, true, b.input(3, 2)))}
		}, 1},
		{"steps of a function for each of as many steps as samples", func(b *turnsTest) []int {
			var p threshold.Params
			for k := range int64(6) {
				p.Steps = append(p.Steps, num.StepFunction{At: []int64{k - 3}, Value: []int64{0, 1}})
			}
			return []int{b.add(threshold.New(p), b.rnn(2, true, b.input(3, 2)))}
		}, 1},
		{"a multiplier for each of as many steps as samples", func(b *turnsTest) []int {
			p := requant.Params{Multiplier: []int64{1, 2, 3, 4, 5, 6}, Bias: []int64{0}, Lo: -9, Hi: 9}
			return []int{b.add(requant.New(p), b.rnn(2, true, b.input(3, 2)))}
		}, 1},
		{"one step", func(b *turnsTest) []int { return []int{b.add(dense(3, 2), b.rnn(2, true, b.input(1, 2)))} }, 0},
		{"a flat input", func(b *turnsTest) []int {
			p := reorder.Params{Block: 6, Chunk: 1, Order: []int{0, 3, 1, 4, 2, 5}, Shape: []int{3, 2}}
			return []int{b.rnn(2, false, b.add(reorder.New(p), b.input(6)))}
		}, 1},
		{"the last of all steps", func(b *turnsTest) []int {
			last := reorder.New(reorder.Params{Block: 5, Chunk: 2, Order: []int{4}, Shape: []int{2}})
			return []int{b.add(dense(2, 2), b.add(last, b.rnn(2, true, b.input(5, 2))))}
		}, 1},
		{"channels in another order", func(b *turnsTest) []int {
			swap := reorder.New(reorder.Params{Block: 2, Chunk: 1, Order: []int{1, 0}, Shape: []int{5, 2}})
			return []int{b.rnn(2, true, b.add(swap, b.input(5, 2)))}
		}, 1},
		{"two functions of all steps", func(b *turnsTest) []int {
			x := b.all(dup.New(dup.Params{Copies: 2}), b.rnn(2, true, b.input(3, 2)))
			return []int{b.add(dense(2, 6), x[0]), b.add(dense(1, 6), x[1])}
		}, 1},
		{"an initial state", func(b *turnsTest) []int { return []int{b.rnn(2, true, b.input(4, 2), b.input(2))} }, 0},
		{"an initial state made of the sequence", func(b *turnsTest) []int {
			x := b.all(dup.New(dup.Params{Copies: 2}), b.input(3, 2))
			fit := threshold.New(threshold.Params{Steps: []num.StepFunction{{At: []int64{0, 4}, Value: []int64{-1, 0,
				1}}}})
			return []int{b.rnn(2, true, x[0], b.add(fit, b.add(dense(2, 6), x[1])))}
		}, 1},
		{"a sum around a recurrence", func(b *turnsTest) []int {
			x := b.all(dup.New(dup.Params{Copies: 3}), b.input(4, 2))
			sum := b.add(add.New(add.Params{}), x[0], b.rnn(2, true, x[1]))
			return []int{b.add(mul.New(mul.Params{}), sum, x[2])}
		}, 0},
		{"a sum around one step", func(b *turnsTest) []int {
			x := b.all(dup.New(dup.Params{Copies: 2}), b.input(1, 2))
			return []int{b.add(add.New(add.Params{}), x[0], b.rnn(2, true, x[1]))}
		}, 1},
		{"a convolution over rows", func(b *turnsTest) []int {
			return []int{b.rnn(2, true, b.add(dense(2, 6), b.add(window(0, 2), b.input(6, 1, 2))))}
		}, 0},
		{"a convolution over columns", func(b *turnsTest) []int {
			return []int{b.rnn(2, false, b.add(dense(2, 6), b.add(window(1, 1), b.input(1, 6, 2))))}
		}, 0},
		{"a convolution of one step", func(b *turnsTest) []int {
			return []int{b.rnn(2, true, b.add(dense(2, 6), b.add(window(0, 1), b.input(1, 1, 2))))}
		}, 1},
		{"a pooling", func(b *turnsTest) []int {
			x := b.add(window(0, 2), b.input(6, 1, 2))
			return []int{b.rnn(2, true, b.add(pool.New(pool.Params{Op: pool.PoolingMax}), x))}
		}, 0},
		{"pads, crops and repetitions", func(b *turnsTest) []int {
			x := b.add(pad.New(pad.Params{Before: [2]int{1, 0}, After: [2]int{2, 0}, Between: [2]int{1, 0}, Code: 2}),
				b.input(3, 1, 2))
			x = b.add(crop.New(crop.Params{Start: [2]int{1, 0}, Stop: [2]int{7, 1}, Step: [2]int{2, 1}}), x)
			return []int{b.rnn(2, true, b.add(upsample.New(upsample.Params{Scale: [2]int{2, 1}}), x))}
		}, 0},
		{"a convolution behind", func(b *turnsTest) []int {
			x := b.rnn(2, true, b.input(5, 2))
			x = b.add(reorder.New(reorder.Params{Block: 1, Chunk: 2, Order: []int{0}, Shape: []int{5, 1, 2}}), x)
			return []int{b.add(dense(2, 6), b.add(window(0, 1), x))}
		}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := &turnsTest{t: t}
			for _, s := range c.build(b) {
				b.MarkOutput(s)
			}
			g, err := b.VerifiedGraph()
			if err != nil {
				t.Fatal(err)
			}
			for _, samples := range []int{2, 3, 4} {
				if orders := inTurns(t, g, samples); samples == 3 && orders != c.orders {
					t.Errorf("%d reorderings, want %d", orders, c.orders)
				}
			}
		})
	}
}

// inTurns compares all streams of a graph with those of the graph where samples take turns. It returns the number
// of reorderings in the latter.
func inTurns(t *testing.T, g *dataflow.Graph, samples int) (orders int) {
	t.Helper()
	one := &LoweredProgram{Graph: g, Layers: map[int]string{}}
	for s := range g.Streams {
		one.Carried = append(one.Carried, TensorOnStream{Stream: s})
	}
	for i, n := range g.Nodes {
		one.Layers[i] = n.Name
	}
	var d diag.List
	all, turns := InterleaveSamples(one, samples, "model.onnx", &d)
	if all == nil {
		t.Fatal(d.Diags)
	}
	r := rand.New(rand.NewPCG(uint64(samples), 1))
	var in, want, got [][]dataflow.Tensor
	for range samples + 1 {
		var x []dataflow.Tensor
		for _, s := range g.In {
			x = append(x, dataflow.Tensor{Shape: g.Streams[s].Type.Shape})
			for range x[len(x)-1].Shape.ElementCount() {
				x[len(x)-1].Data = append(x[len(x)-1].Data, r.Int64N(8)-4)
			}
		}
		in, want = append(in, x), append(want, streams(t, g, x))
	}
	for _, f := range turns.MakeFrames(in) {
		got = append(got, streams(t, all.Graph, f))
	}
	for i, x := range turns.ExtractSamples(func(t *dataflow.SampleInterleaving) []int { return t.Streams }, got,
		len(in)) {
		for s, c := range all.Carried {
			if !slices.Equal(x[c.Stream].Data, want[i][s].Data) {
				t.Errorf("%d in turns, sample %d, stream %d: %v, want %v", samples, i, s, x[c.Stream].Data,
					want[i][s].Data)
			}
		}
	}
	for k, s := range g.Out {
		if all.Graph.Out[k] != all.Carried[s].Stream || turns.Out[k] != turns.Streams[all.Graph.Out[k]] {
			t.Errorf("output %d is stream %d in %d parts, want that of stream %d", k, all.Graph.Out[k], turns.Out[k], s)
		}
	}
	for i, n := range g.Nodes {
		if !slices.ContainsFunc(all.Graph.Nodes, func(m *dataflow.Node) bool {
			return m.Name == all.Layers[i] && m.Out[0] == all.Carried[n.Out[0]].Stream
		}) {
			t.Errorf("%s has become %q, which makes another stream", n.Name, all.Layers[i])
		}
	}
	for _, n := range all.Graph.Nodes {
		if _, ok := n.Op.Params().(reorder.Params); ok {
			orders++
		}
	}
	return orders
}

// streams evaluates a frame and returns the tensors on all streams.
func streams(t *testing.T, g *dataflow.Graph, in []dataflow.Tensor) []dataflow.Tensor {
	t.Helper()
	all, err := g.EvalFirstFrameByStream(context.Background(), in)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestNotInterleaved checks graphs where samples cannot take turns.
func TestNotInterleaved(t *testing.T) {
	t.Parallel()
	for i, c := range []struct {
		build func(b *turnsTest) int
		want  string
	}{
		{func(b *turnsTest) int { return b.add(dense(2, 2), b.input(4, 2)) },
			"there is no recurrence whose latency could be hidden"},
		{func(b *turnsTest) int {
			return b.rnn(2, true, b.add(dense(2, 6), b.add(window(0, 1), b.input(4, 2, 2))))
		},
			"it works along rows and columns, and not along a line of steps"},
		{func(b *turnsTest) int {
			p := swg.Params{Kernel: [2]int{3, 3}, Stride: [2]int{1, 1}, Dilation: [2]int{1, 1}, Before: [2]int{1, 1},
				After: [2]int{1, 1}, Groups: 1}
			return b.rnn(2, true, b.add(dense(2, 18), b.add(swg.New(p), b.input(4, 1, 2))))
		}, "it works along rows and columns, and not along a line of steps"},
		{func(b *turnsTest) int {
			return b.rnn(2, true, b.add(mul.New(mul.Params{}), b.input(4, 2), b.input(2)))
		}, "one vector of a frame multiplies all others"},
	} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			b := &turnsTest{t: t}
			b.MarkOutput(c.build(b))
			g, err := b.VerifiedGraph()
			if err != nil {
				t.Fatal(err)
			}
			var d diag.List
			low, _ := InterleaveSamples(&LoweredProgram{Graph: g}, 2, "model.onnx", &d)
			if low != nil || len(d.Diags) != 1 || d.Diags[0].Msg != c.want ||
				d.Diags[0].Code != diag.SamplesNotInterleaved {
				t.Errorf("%v, want %q", d.Diags, c.want)
			}
		})
	}
}
