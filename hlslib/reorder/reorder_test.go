package reorder_test

import (
	"reflect"
	"testing"

	"hlsgen/hlslib/reorder"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
	"hlsgen/internal/testsupport/layertest"
	"hlsgen/internal/testsupport/randomtest"
)

// transposed returns the order of a matrix that is read column by column.
func transposed(rows, columns int) (order []int) {
	for c := range columns {
		for r := range rows {
			order = append(order, r*columns+c)
		}
	}
	return order
}

func TestContract(t *testing.T) {
	t.Parallel()
	cases := []layertest.Case{
		{Name: "a transpose", Op: reorder.New(reorder.Params{Block: 12, Chunk: 1, Order: transposed(3, 4),
			Shape: []int{4, 3}}), In: []dataflow.StreamType{typ(int4, 3, 4)}},
		{Name: "pixels", Op: reorder.New(reorder.Params{Block: 6, Chunk: 4, Order: transposed(2, 3),
			Shape: []int{3, 2, 4}}), In: []dataflow.StreamType{typ(int4, 2, 3, 4)}},
		{Name: "shuffled channels", Op: reorder.New(reorder.Params{Block: 6, Chunk: 1, Order: transposed(2, 3),
			Shape: []int{5, 6}}), In: []dataflow.StreamType{typ(bipolar, 5, 6)}},
		{Name: "reversal", Op: reorder.New(reorder.Params{Block: 4, Chunk: 6, Order: []int{3, 2, 1, 0},
			Shape: []int{1, 4, 6}}), In: []dataflow.StreamType{typ(int4, 1, 4, 6)}},
		{Name: "depth to space", Op: reorder.New(reorder.Params{Block: 12, Chunk: 2,
			Order: []int{0, 1, 4, 5, 8, 9, 2, 3, 6, 7, 10, 11}, Shape: []int{4, 6, 2}}),
			In: []dataflow.StreamType{typ(int4, 2, 3, 8)}},
		{Name: "repetition", Op: reorder.New(reorder.Params{Block: 2, Chunk: 2, Order: []int{1, 1, 0, 1, 0},
			Shape: []int{3, 10}}), In: []dataflow.StreamType{typ(int4, 3, 4)}},
		{Name: "omission", Op: reorder.New(reorder.Params{Block: 5, Chunk: 2, Order: []int{3}, Shape: []int{4, 2}}),
			In: []dataflow.StreamType{typ(int4, 4, 10)}},
		{Name: "as it is", Op: reorder.New(reorder.Params{Block: 1, Chunk: 3, Order: []int{0}, Shape: []int{6}}),
			In: []dataflow.StreamType{typ(int4, 2, 3)}},
		{Name: "an element", Op: reorder.New(reorder.Params{Block: 1, Chunk: 1, Order: []int{0}}),
			In: []dataflow.StreamType{typ(int4, 1)}},
	}
	layertest.Check(t, append(cases, layertest.RandomCases(15, 15, randomtest.Reorder)...)...)
}

// TestContractOfBlocks checks banks in block RAM, where the last word of a bank that is read leaves when its place is
// written.
func TestContractOfBlocks(t *testing.T) {
	t.Parallel()
	var turned []int
	for i := range 40 {
		turned = append(turned, 39-i)
	}
	layertest.Check(t, layertest.Case{Name: "a long reversal",
		Op: reorder.New(reorder.Params{Block: 40, Chunk: 1, Order: turned, Shape: []int{3, 40}}),
		In: []dataflow.StreamType{typ(layertest.Int(16), 3, 40)}})
}

// TestRanges checks that ranges go with channels where every block sends the same channels to the same channels.
func TestRanges(t *testing.T) {
	t.Parallel()
	r := []num.Range{{Lo: 0, Hi: 1}, {Lo: 2, Hi: 3}, {Lo: -4, Hi: -3}, {Lo: 5, Hi: 6}}
	in := func(shape ...int) dataflow.StreamType { return dataflow.StreamType{Shape: shape, Range: r, Elem: int4} }
	for _, tt := range []struct {
		name string
		p    reorder.Params
		in   dataflow.StreamType
		want []num.Range
	}{
		{"whole vectors", reorder.Params{Block: 3, Chunk: 4, Order: []int{2, 0, 0, 1}, Shape: []int{8, 4}}, in(6, 4),
			r},
		{"shuffled channels", reorder.Params{Block: 4, Chunk: 1, Order: []int{2, 0, 3, 1}, Shape: []int{6, 4}},
			in(6, 4), []num.Range{r[2], r[0], r[3], r[1]}},
		{"pairs of pixels", reorder.Params{Block: 2, Chunk: 4, Order: []int{0, 1}, Shape: []int{3, 8}}, in(6, 4),
			append(r[:4:4], r...)},
		{"depth to width", reorder.Params{Block: 2, Chunk: 2, Order: []int{0, 1}, Shape: []int{12, 2}}, in(6, 4),
			[]num.Range{{Lo: -4, Hi: 1}, {Lo: 2, Hi: 6}}},
		{"channels out of step", reorder.Params{Block: 3, Chunk: 1, Order: []int{2, 1, 0}, Shape: []int{6, 4}},
			in(6, 4), []num.Range{{Lo: -4, Hi: 6}}},
		{"one for all", reorder.Params{Block: 3, Chunk: 1, Order: []int{2, 1, 0}, Shape: []int{6, 4}}, typ(int4, 6, 4),
			[]num.Range{int4.Range()}},
	} {
		_, out, err := reorder.New(tt.p).Bind([]dataflow.StreamType{tt.in})
		want := dataflow.StreamType{Shape: tt.p.Shape, Range: tt.want, Elem: int4}
		if err != nil || !reflect.DeepEqual(out, []dataflow.StreamType{want}) {
			t.Errorf("%s: %+v, %v, want %+v", tt.name, out, err, want)
		}
	}
}

// TestLoop spells when words move: r for read, w for written, b for both.
func TestLoop(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		order []int
		in    dataflow.StreamType
		want  string
	}{
		{[]int{1, 0}, typ(int4, 3, 2), "rr" + "bb" + "bb" + "ww"},
		{[]int{1, 0, 1}, typ(int4, 3, 2), "rr" + "bbw" + "bbw" + "www"},
		{[]int{1}, typ(int4, 3, 2), "rr" + "br" + "br" + "w"},
		{[]int{1, 1, 1}, typ(int4, 1, 2), "rr" + "www"},
	} {
		op := layertest.Bind(t, reorder.New(reorder.Params{Block: 2, Chunk: 1, Order: tt.order,
			Shape: []int{tt.in.Shape[0], len(tt.order)}}), tt.in)
		l, got := op.Loop(dataflow.Fold{PE: 1, SIMD: 1}, dataflow.Target{}), ""
		for i := range l.IterationsPerFrame() {
			m := l.MovesOfIteration(i)
			got += ".rwb"[m.Read+2*m.Write : m.Read+2*m.Write+1]
		}
		if got != tt.want {
			t.Errorf("%v on %v: %s, want %s", tt.order, tt.in.Shape, got, tt.want)
		}
	}
}

func TestBindRefuses(t *testing.T) {
	t.Parallel()
	in := typ(int4, 3, 4)
	for _, tt := range []struct {
		p    reorder.Params
		in   []dataflow.StreamType
		want string
	}{
		{reorder.Params{}, []dataflow.StreamType{in}, "blocks of 0 chunks of 0 elements"},
		{reorder.Params{Block: 1 << 40, Chunk: 1 << 40}, []dataflow.StreamType{in}, "want 1 to 16777216 elements"},
		{reorder.Params{Block: 2, Chunk: 2}, []dataflow.StreamType{in}, "blocks of 0 chunks of 2 elements come out"},
		{reorder.Params{Block: 2, Chunk: 1 << 23, Order: []int{0, 0, 0}}, []dataflow.StreamType{in},
			"blocks of 3 chunks of 8388608 elements come out"},
		{reorder.Params{Block: 2, Chunk: 2, Order: []int{0, 2}}, []dataflow.StreamType{in},
			"chunk 1 is chunk 2 of a block, which has 2"},
		{reorder.Params{Block: 2, Chunk: 2, Order: []int{-1}}, []dataflow.StreamType{in}, "chunk 0 is chunk -1"},
		{reorder.Params{Block: 2, Chunk: 2, Order: []int{0}, Shape: []int{6, -1}}, []dataflow.StreamType{in},
			"an output of shape [6 -1]"},
		{reorder.Params{Block: 2, Chunk: 2, Order: []int{0}, Shape: []int{1 << 20, 1 << 20}}, []dataflow.StreamType{in},
			"at most 1073741824 elements"},
		{reorder.Params{Block: 2, Chunk: 2, Order: []int{0}, Shape: []int{6}}, nil, "0 inputs"},
		{reorder.Params{Block: 5, Chunk: 1, Order: []int{0}, Shape: []int{6}}, []dataflow.StreamType{in},
			"a frame of shape [3 4] has 12 elements, want whole blocks of 5"},
		{reorder.Params{Block: 2, Chunk: 2, Order: []int{0}, Shape: []int{8}}, []dataflow.StreamType{in},
			"an output of shape [8] has 8 elements, but 3 blocks of 2 come out"},
		{reorder.Params{Block: 2, Chunk: 2, Order: []int{0}, Shape: []int{7}}, []dataflow.StreamType{in},
			"an output of shape [7] has 7 elements"},
	} {
		layertest.CheckRefused(t, reorder.New(tt.p), tt.in, tt.want)
	}
}

func TestDecodeRefuses(t *testing.T) {
	t.Parallel()
	layertest.CheckTextRefused(t, reorder.LayerKind, ``, `null`, `{}`, `{"block":2,"chunk":1}`,
		`{"block":2,"chunk":1,"order":[2],"shape":[1]}`, `{"block":2,"chunk":1,"order":[0],"shape":[0]}`,
		`{"block":1e9,"chunk":1,"order":[0],"shape":[1]}`)
}

// What types are called above.
var int4, typ, bipolar = layertest.Int(4), layertest.FullType, layertest.Bipolar
