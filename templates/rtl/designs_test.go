package rtl_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"hlsgen/boards"
	"hlsgen/hlslib/reorder"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// int4 is the element type of all streams in the designs of these tests.
var int4 = num.Type{Kind: num.KindInt, Width: 4}

// turning is a design of one layer, which turns a frame of six words; or steps of two words each, of sequences of up to
// three steps.
func turning(t *testing.T, sequences bool) *dataflow.Design {
	t.Helper()
	op := reorder.New(reorder.Params{Block: 6, Chunk: 2, Order: []int{5, 4, 3, 2, 1, 0}, Shape: []int{3, 4}})
	var b dataflow.GraphBuilder
	in := b.AddInput("x", dataflow.StreamType{Shape: []int{3, 4}, Elem: int4, Range: []num.Range{int4.Range()}})
	if sequences {
		op = reorder.New(reorder.Params{Block: 6, Chunk: 2, Order: []int{4, 5, 2, 3, 0, 1}, Shape: []int{3, 4}})
	}
	out, err := b.BindAndAddLayer(op, []int{in}, []string{"y"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	b.MarkOutput(out[0])
	g, err := b.VerifiedGraph()
	if err != nil {
		t.Fatal(err)
	}
	board, err := boards.FindBoard("zcu104")
	if err != nil {
		t.Fatal(err)
	}
	d := &dataflow.Design{Model: &dataflow.Model{Name: "turning", Graph: g},
		Target: dataflow.Target{Board: board, ClockMHz: 200, Backend: dataflow.BackendRTL},
		Folds:  []dataflow.Fold{{PE: 1, SIMD: 2}}, FIFO: dataflow.NewShiftRegisterFIFOs(4, 4)}
	if sequences {
		d.Model.Lengths = &dataflow.SequenceLengths{Axis: "T", Min: 1, Max: 3, In: []int{0}}
		if err := g.TakeAnySequenceLength(d.Model.Lengths); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.Verify(); err != nil {
		t.Fatal(err)
	}
	return d
}

// frame draws an input of a design, with the given number of steps where inputs are sequences. It returns the values of
// all streams for it.
func frame(t *testing.T, d *dataflow.Design, r *rand.Rand, steps int) []dataflow.Tensor {
	t.Helper()
	if d.Model.Lengths == nil {
		steps = 3
	}
	var data []int64
	for range 4 * steps {
		data = append(data, r.Int64N(16)-8)
	}
	return carried(t, d, data)
}

// carried evaluates the design on an input and returns the values on every stream.
func carried(t *testing.T, d *dataflow.Design, data []int64) []dataflow.Tensor {
	t.Helper()
	if d.Model.Lengths != nil {
		var err error
		if d, err = d.AtSequenceLength(len(data) / 4); err != nil {
			t.Fatal(err)
		}
	}
	g := d.Model.Graph
	x := dataflow.Tensor{Shape: g.Streams[g.In[0]].Type.Shape, Data: data}
	all, err := g.EvalFirstFrameByStream(context.Background(), []dataflow.Tensor{x})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
