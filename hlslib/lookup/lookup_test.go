package lookup_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"hlsgen/hlslib/lookup"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
	"hlsgen/internal/testsupport/layertest"
)

var uintN, intN, bipolar = layertest.UInt, layertest.Int, layertest.Bipolar

// index is indices from lo to hi.
func index(lo, hi int64, elem num.Type, shape ...int) dataflow.StreamType {
	return dataflow.StreamType{Shape: shape, Range: []num.Range{{Lo: lo, Hi: hi}}, Elem: elem}
}

// table is a random one.
func table(r *rand.Rand, rows, depth int, x num.Type) lookup.Params {
	var p lookup.Params
	for range rows {
		row := make([]int64, depth)
		for d := range row {
			for {
				if row[d] = layertest.RandomInRange(r, x.Range()); x.Holds(row[d]) {
					break
				}
			}
		}
		p.Table = append(p.Table, row)
	}
	return p
}

func TestContract(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(13, 14))
	cases := []layertest.Case{
		{Name: "a list", Op: lookup.New(table(r, 10, 6, intN(4))), In: []dataflow.StreamType{index(0, 9, uintN(4), 5)}},
		{Name: "a last axis of one", Op: lookup.New(table(r, 7, 4, uintN(5))),
			In: []dataflow.StreamType{index(0, 6, intN(9), 2, 3, 1)}},
		{Name: "an index alone", Op: lookup.New(table(r, 4, 3, intN(12))), In: []dataflow.StreamType{index(1, 2,
			uintN(2))}},
		{Name: "signs", Op: lookup.New(table(r, 20, 8, bipolar)), In: []dataflow.StreamType{index(3, 19, uintN(8), 4)}},
		{Name: "one row", Op: lookup.New(table(r, 1, 4, intN(3))), In: []dataflow.StreamType{index(0, 0, uintN(1), 3)}},
		{Name: "one element", Op: lookup.New(table(r, 16, 1, intN(64))),
			In: []dataflow.StreamType{index(0, 15, uintN(4), 6)}},
		{Name: "a bipolar index", Op: lookup.New(table(r, 2, 2, intN(3))),
			In: []dataflow.StreamType{index(1, 1, bipolar, 2)}},
		{Name: "rows of several limbs", Op: lookup.New(table(r, 300, 24, intN(9))),
			In: []dataflow.StreamType{index(0, 299, uintN(32), 3)}},
	}
	for i := range 6 {
		rows := 1 + r.IntN(40)
		cases = append(cases, layertest.Case{Name: fmt.Sprintf("random %d", i),
			Op: lookup.New(table(r, rows, 1+r.IntN(12), intN(1+r.IntN(9)))),
			In: []dataflow.StreamType{index(0, int64(rows-1), num.NarrowestIntTypeFor(num.Range{Lo: 0,
				Hi: int64(rows - 1)}),
				1+r.IntN(6))}})
	}
	layertest.Check(t, cases...)
}

// TestOutputType checks that ranges are those of the rows that indices reach, by column.
func TestOutputType(t *testing.T) {
	t.Parallel()
	p := lookup.Params{Table: [][]int64{{-9, 0}, {1, 2}, {3, 0}, {0, 100}}}
	signs := lookup.Params{Table: [][]int64{{-1, 1}, {1, 1}}}
	for _, tt := range []struct {
		p    lookup.Params
		in   dataflow.StreamType
		want dataflow.StreamType
	}{
		{p, index(1, 2, uintN(2), 5), dataflow.StreamType{Shape: dataflow.Shape{5, 2},
			Range: []num.Range{{Lo: 1, Hi: 3}, {Lo: 0, Hi: 2}}, Elem: intN(8)}},
		{p, index(0, 3, uintN(2), 5, 1), dataflow.StreamType{Shape: dataflow.Shape{5, 2},
			Range: []num.Range{{Lo: -9, Hi: 3}, {Lo: 0, Hi: 100}}, Elem: intN(8)}},
		{signs, index(0, 1, uintN(2), 1), dataflow.StreamType{Shape: dataflow.Shape{1, 2},
			Range: []num.Range{{Lo: -1, Hi: 1}, {Lo: 1, Hi: 1}}, Elem: bipolar}},
		{signs, index(0, 1, uintN(2)), dataflow.StreamType{Shape: dataflow.Shape{2},
			Range: []num.Range{{Lo: -1, Hi: 1}, {Lo: 1, Hi: 1}}, Elem: bipolar}},
	} {
		_, out, err := lookup.New(tt.p).Bind([]dataflow.StreamType{tt.in})
		if err != nil || !reflect.DeepEqual(out, []dataflow.StreamType{tt.want}) {
			t.Errorf("%+v: %+v, %v, want %+v", tt.in, out, err, tt.want)
		}
	}
}

func TestTable(t *testing.T) {
	t.Parallel()
	op := layertest.Bind(t, lookup.New(lookup.Params{Table: [][]int64{{1, 2, 3, 4}, {5, 6, 7, 8}}}),
		index(0, 1, uintN(1), 3))
	got := op.Emit(dataflow.Fold{PE: 2, SIMD: 1, Memory: dataflow.MemoryBRAM}, dataflow.Target{})
	want := []dataflow.Table{{Name: "table", Doc: "by index and fold: element pe", Elem: uintN(4),
		Rows: [][]int64{{1, 2}, {3, 4}, {5, 6}, {7, 8}}}}
	if in := got.StorageOf("table").In; !reflect.DeepEqual(got.Tables, want) || in != dataflow.MemoryBRAM {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestBindRefuses(t *testing.T) {
	t.Parallel()
	p := lookup.Params{Table: [][]int64{{1, 2}, {3, 4}, {5, 6}}}
	for _, tt := range []struct {
		p    lookup.Params
		in   []dataflow.StreamType
		want string
	}{
		{lookup.Params{}, []dataflow.StreamType{index(0, 1, uintN(1), 2)}, "the table is empty"},
		{lookup.Params{Table: [][]int64{{}}}, []dataflow.StreamType{index(0, 1, uintN(1), 2)}, "the table is empty"},
		{lookup.Params{Table: [][]int64{{1}, {2, 3}}}, nil, "row 1 of the table has 2 elements, row 0 has 1"},
		{p, nil, "0 inputs"},
		{p, []dataflow.StreamType{index(0, 1, uintN(1), 2, 3)}, "indices of shape [2 3]"},
		{p, []dataflow.StreamType{index(0, 3, uintN(2), 2)}, "indices in [0,3] for a table of 3 rows, want 0 to 2"},
		{p, []dataflow.StreamType{index(-1, 1, intN(2), 2)}, "indices in [-1,1] for a table of 3 rows, want 0 to 2"},
	} {
		layertest.CheckRefused(t, lookup.New(tt.p), tt.in, tt.want)
	}
}

func TestDecodeRefuses(t *testing.T) {
	t.Parallel()
	layertest.CheckTextRefused(t, lookup.LayerKind, ``, `null`, `{}`, `{"table":[]}`, `{"table":[[]]}`,
		`{"table":[[1],[]]}`,
		`{"table":[[0.5]]}`, `{"table":[1]}`)
}
