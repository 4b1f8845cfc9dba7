package estimate_test

import (
	"slices"
	"testing"

	"hlsgen/boards"
	"hlsgen/hlslib/mvau"
	"hlsgen/hlslib/threshold"
	"hlsgen/internal/cost"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/estimate"
	"hlsgen/internal/num"
)

var uint4 = num.Type{Kind: num.UInt, Width: 4}

// target is a board by formula.
func target(t *testing.T, board string, formula dataflow.Formula) dataflow.Target {
	t.Helper()
	b, err := boards.Find(board)
	if err != nil {
		t.Fatal(err)
	}
	return dataflow.Target{Board: b, ClockMHz: 100, Formula: formula}
}

// design is 8 sums of 8 products behind step functions, in words of 4 elements, with FIFOs of so many words.
func design(t *testing.T, at dataflow.Target, words int) *dataflow.Design {
	t.Helper()
	weights := make([][]int64, 8)
	for c := range weights {
		weights[c] = []int64{1, -2, 3, -4, 5, -6, 7, int64(c)}
	}
	var b dataflow.Builder
	in := b.Input("x", dataflow.Type{Shape: dataflow.Shape{8}, Range: []num.Range{uint4.Range()}, Elem: uint4})
	for _, op := range []dataflow.Op{
		threshold.New(threshold.Params{Steps: []num.Step{{At: []int64{3, 9}, Value: []int64{0, 1, 2}}}}),
		mvau.New(mvau.Params{Weights: weights}),
	} {
		out, err := b.Add(op, []int{in}, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		in = out[0]
	}
	b.Output(in)
	g, err := b.Graph()
	if err != nil {
		t.Fatal(err)
	}
	d := &dataflow.Design{Model: &dataflow.Model{Graph: g}, Target: at, FIFO: slices.Repeat(dataflow.ShiftRegisters(words), 3),
		Folds: []dataflow.Fold{{PE: 4, SIMD: 1, Memory: dataflow.LUTRAM}, {PE: 2, SIMD: 4, Memory: dataflow.LUTRAM, Compute: dataflow.LUT}}}
	if err := d.Verify(); err != nil {
		t.Fatal(err)
	}
	return d
}

func TestWhole(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		board       string
		formula     dataflow.Formula
		words       int
		fifos, host dataflow.Resources
	}{
		// Words of 16, 8 and 2 x 7 bits: a LUT and two registers a bit, and 4 LUTs and 2 registers of control each.
		{"zcu104", dataflow.Fitted, 2, dataflow.Resources{LUT: 38 + 3*4, FF: 2*38 + 3*2}, dataflow.Resources{LUT: 6557, FF: 8508, BRAM: 3}},
		// Shift registers of 64: two LUTs a bit and one that gives them out, with a register; 6 address bits.
		{"zcu104", dataflow.Fitted, 40, dataflow.Resources{LUT: 3*38 + 3*25, LUTRAM: 2 * 38, FF: 38 + 3*12}, dataflow.Resources{LUT: 6557, FF: 8508, BRAM: 3}},
		{"alveo-u250", dataflow.Fitted, 2, dataflow.Resources{LUT: 38 + 3*4, FF: 2*38 + 3*2}, dataflow.Resources{}},
		{"zcu104", dataflow.FINN, 2, dataflow.Resources{}, dataflow.Resources{}},
		{"zcu104", dataflow.FINN, 40, dataflow.Resources{LUT: 38 + 3*12, LUTRAM: 38}, dataflow.Resources{}},
	} {
		d := design(t, target(t, tt.board, tt.formula), tt.words)
		e := estimate.Whole(d)
		per, layers := d.Cost()
		if len(e.Layers) != len(per) || e.FIFOs.Total() != tt.fifos || e.Host.Total() != tt.host {
			t.Errorf("%s by %v, %d words: FIFOs %+v, host %+v", tt.board, tt.formula, tt.words, e.FIFOs, e.Host)
		}
		if want := layers.Plus(tt.fifos).Plus(tt.host); e.Total != want {
			t.Errorf("%s by %v, %d words: %+v in all, want %+v", tt.board, tt.formula, tt.words, e.Total, want)
		}
	}
}

// A FIFO costs what its memory costs.
func TestDeepFIFO(t *testing.T) {
	t.Parallel()
	p := dataflow.Port{Elem: uint4, PerWord: 4, Words: 4096}
	for _, formula := range []dataflow.Formula{dataflow.Fitted, dataflow.FINN} {
		if got := estimate.FIFO(target(t, "zcu104", formula), dataflow.FIFO{Depth: 3000, Memory: dataflow.BRAM}, p).Total(); got.BRAM != map[dataflow.Formula]int{dataflow.Fitted: 3, dataflow.FINN: 4}[formula] || got.LUT > 100 {
			t.Errorf("by %v: %+v", formula, got)
		}
	}
}

// The clock is what the layer allows that carries most from one clock to the next.
func TestFmax(t *testing.T) {
	t.Parallel()
	d := design(t, target(t, "zcu104", dataflow.Fitted), 2)
	if node, ns := d.Slowest(); node != 0 || ns != cost.CarriedDelay(1) || d.Fmax() != 1000/ns {
		t.Errorf("node %d, %v ns, %v MHz", node, ns, d.Fmax())
	}
	if most := d.Fmax(); most < 300 || most > 500 {
		t.Errorf("%v MHz: an accumulator alone is no reason to doubt a usual clock", most)
	}
}

func TestParts(t *testing.T) {
	t.Parallel()
	got := estimate.Parts(cost.Resources{LUT: 3}.As("a"), cost.Resources{}.As("nothing"), cost.Resources{FF: 1}.As("b"))
	if len(got) != 2 || got[0].Name != "a" || got[1] != (dataflow.Part{Name: "b", Resources: dataflow.Resources{FF: 1}}) {
		t.Errorf("%+v", got)
	}
	sum := got.Plus(dataflow.Cost{{Name: "b", Resources: dataflow.Resources{DSP: 2}}, {Name: "c"}})
	if len(sum) != 3 || sum[1].Resources != (dataflow.Resources{FF: 1, DSP: 2}) || got[1].DSP != 0 {
		t.Errorf("%+v, from %+v", sum, got)
	}
}

// What a kernel leaves to the tool lies in LUTs while it is small.
func TestMemories(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		width, rows int
		want        cost.Memory
	}{{4096, 1, cost.Registers}, {4096, 64, cost.Distributed}, {8, 128, cost.Distributed}, {9, 128, cost.Block}} {
		if got := cost.Unbound(tt.width, tt.rows); got != tt.want {
			t.Errorf("%d rows of %d bits: %v, want %v", tt.rows, tt.width, got, tt.want)
		}
	}
	for m, want := range map[dataflow.Memory]cost.Memory{dataflow.NoMemory: 0, dataflow.LUTRAM: cost.Distributed, dataflow.BRAM: cost.Block, dataflow.URAM: cost.Ultra} {
		if got := estimate.Memory(m); got != want {
			t.Errorf("%v: %v, want %v", m, got, want)
		}
	}
}
