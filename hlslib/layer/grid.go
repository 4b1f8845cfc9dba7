package layer

import (
	"slices"

	"hlsgen/hlslib/price/cost"
	"hlsgen/internal/circuit"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// A Grid has the rows and columns of the larger of two frames, one of which lies in the other. A row or column that
// belongs to the smaller frame is hit. Pixels travel row by row, each in the same number of words.
type Grid struct{ Rows, Columns dataflow.Stride }

// Hit reports whether pixel i of the larger frame belongs to the smaller one.
func (g *Grid) Hit(i int) bool {
	return g.Rows.Hit(i/g.Columns.Length) && g.Columns.Hit(i%g.Columns.Length)
}

// Loop returns the loop over the larger frame, with the given number of words per pixel. A word makes the moves hit
// if its pixel belongs to the smaller frame, else the moves miss. The latency is that of a read, a choice and a
// write.
func (g *Grid) Loop(words int, hit, miss dataflow.PortMoves, t dataflow.Target) dataflow.Loop {
	pixel := func(m dataflow.PortMoves) []dataflow.LoopRun { return []dataflow.LoopRun{{Times: words, Moves: m}} }
	row, missed := g.Columns.Runs(pixel(hit), pixel(miss)), dataflow.Repeat(g.Columns.Length, pixel(miss)...)
	c := NewIterationChain(t)
	c.ReadWhere()
	c.Choose(1)
	return dataflow.Loop{Body: g.Rows.Runs(row, missed), Latency: c.Write()}
}

// Counters returns the cost of the counters of rows, columns and words, with the given words per pixel.
func (g *Grid) Counters(words int) cost.Resources {
	r := cost.Counter(words)
	for _, axis := range []dataflow.Stride{g.Rows, g.Columns} {
		r = r.Plus(cost.Counter(axis.Length)).Plus(cost.Counter(axis.Step))
	}
	return r
}

// Config returns the fields of the C++ for hlslib/core/axis.hpp, followed by more. The texts rows, first, end and step
// describe the first four fields.
func (g *Grid) Config(words int, rows, first, end, step string, more ...dataflow.Field) []dataflow.Field {
	return append([]dataflow.Field{
		{Name: "rows", Doc: rows, Value: g.Rows.Length},
		{Name: "first_row", Doc: first, Value: g.Rows.First},
		{Name: "end_row", Doc: end, Value: g.Rows.End},
		{Name: "row_step", Doc: step, Value: g.Rows.Step},
		{Name: "columns", Doc: "the same for columns", Value: g.Columns.Length},
		{Name: "first_column", Value: g.Columns.First},
		{Name: "end_column", Value: g.Columns.End},
		{Name: "column_step", Value: g.Columns.Step},
		{Name: "words", Doc: "words of a pixel", Value: words},
	}, more...)
}

// Padded returns t with the given code added to every channel's range. The element type stays if it holds the code,
// and otherwise becomes the narrowest one.
func Padded(t dataflow.StreamType, code int64) dataflow.StreamType {
	t.Range = slices.Clone(t.Range)
	for c, r := range t.Range {
		t.Range[c] = r.Union(num.SingleValue(code))
	}
	if !t.Elem.Holds(code) {
		t.Elem = num.NarrowestInt(t.Union())
	}
	return t
}

// A GridPosition says where an iteration stands in a grid. All its values are available at stage 0.
type GridPosition struct {
	Hit     circuit.Value // the pixel belongs to the smaller frame
	First   circuit.Value // the word is the first of the larger frame
	LastHit circuit.Value // the word is the last of the smaller frame
}

// Circuit adds the counters of words, columns and rows to a circuit, and returns the position that they tell.
func (g *Grid) Circuit(b *circuit.Builder, words int) GridPosition {
	word := b.Counter("word", words, b.Constant(1))
	column := along(b, "column", g.Columns, word.Last)
	row := along(b, "row", g.Rows, b.WithoutStageLimit(func() circuit.Value {
		return circuit.All(word.Last,
			column.last)
	}))
	var p GridPosition
	b.WithoutStageLimit(func() circuit.Value {
		p.Hit = circuit.All(row.hit, column.hit)
		p.First = circuit.All(word.First, column.first, row.first)
		p.LastHit = circuit.All(word.Last, column.lastHit, row.lastHit)
		return p.Hit
	})
	return p
}

// An axisPosition says where an iteration stands along an axis. It may be at a position of the smaller frame, at the
// first one, the last one, or the last of the smaller frame.
type axisPosition struct{ hit, first, last, lastHit circuit.Value }

// along adds the counter of the axis s, which advances by one position if the condition step holds, and returns the
// position that it tells.
func along(b *circuit.Builder, name string, s dataflow.Stride, step circuit.Value) (p axisPosition) {
	at := b.Counter(name, s.Length, step)
	p.first, p.last = at.First, at.Last
	b.WithoutStageLimit(func() circuit.Value {
		reached := circuit.Not(circuit.GreaterThan(b.Constant(int64(s.First)), at.Index))
		p.lastHit = circuit.EqualTo(at.Index, b.Constant(int64(s.First+(s.Hits()-1)*s.Step)))
		p.hit = circuit.All(reached, circuit.GreaterThan(b.Constant(int64(s.End)), at.Index))
		if s.Step == 1 || s.Hits() == 1 {
			if s.Hits() == 1 {
				p.hit = p.lastHit
			}
			return p.hit
		}
		// positions since the last hit
		past := b.Register(name+"_past", 0, num.Range{Hi: int64(s.Step - 1)}).WithInitial(0)
		zero := b.Constant(0)
		next := circuit.AssumeRange(circuit.Sum(past.Value(), b.Constant(1)), num.Range{Hi: int64(s.Step - 1)})
		again := circuit.Any(at.Last, circuit.Not(reached), circuit.EqualTo(past.Value(), b.Constant(int64(s.Step-1))))
		past.Set(circuit.MuxByCondition(again, zero, next), step)
		p.hit = circuit.All(p.hit, circuit.EqualTo(past.Value(), zero))
		return p.hit
	})
	return p
}
