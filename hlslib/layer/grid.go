package layer

import (
	"slices"

	"hlsgen/hlslib/cost"
	"hlsgen/internal/circuit"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// A Grid is the larger of two frames, one of which lies in the other: its rows and columns, of which those of the
// smaller frame are hit. Pixels travel in raster order, each in the same number of words.
type Grid struct{ Rows, Columns dataflow.Stride }

// Hit reports whether pixel i of the larger frame is one of the smaller.
func (g *Grid) Hit(i int) bool {
	return g.Rows.Hit(i/g.Columns.Length) && g.Columns.Hit(i%g.Columns.Length)
}

// Loop goes over the larger frame in pixels of so many words, which move hit where the pixel is one of the smaller
// frame, and else miss. The latency is that of a word which is read, or chosen, and written.
func (g *Grid) Loop(words int, hit, miss dataflow.Moves, t dataflow.Target) dataflow.Loop {
	pixel := func(m dataflow.Moves) []dataflow.Run { return []dataflow.Run{{Times: words, Moves: m}} }
	row, missed := g.Columns.Runs(pixel(hit), pixel(miss)), dataflow.Repeat(g.Columns.Length, pixel(miss)...)
	c := Begin(t)
	c.ReadWhere()
	c.Choose(1)
	return dataflow.Loop{Body: g.Rows.Runs(row, missed), Latency: c.Write()}
}

// Counters is what knows the position.
func (g *Grid) Counters(words int) cost.Resources {
	r := cost.Counter(words)
	for _, axis := range []dataflow.Stride{g.Rows, g.Columns} {
		r = r.Plus(cost.Counter(axis.Length)).Plus(cost.Counter(axis.Step))
	}
	return r
}

// Config is the fields of hlslib/core/axis.hpp: the texts say what each of the first four is.
func (g *Grid) Config(words int, rows, first, end, step string, more ...dataflow.Field) []dataflow.Field {
	return append([]dataflow.Field{
		{Name: "rows", Doc: rows, Value: g.Rows.Length},
		{Name: "first_row", Doc: first, Value: g.Rows.First},
		{Name: "end_row", Doc: end, Value: g.Rows.End},
		{Name: "row_step", Doc: step, Value: g.Rows.Step},
		{Name: "columns", Doc: "and so for columns", Value: g.Columns.Length},
		{Name: "first_column", Value: g.Columns.First},
		{Name: "end_column", Value: g.Columns.End},
		{Name: "column_step", Value: g.Columns.Step},
		{Name: "words", Doc: "words of a pixel", Value: words},
	}, more...)
}

// Padded is a type of elements among which a code may be: the element type is t's where it holds the code, and else the
// narrowest for all of them.
func Padded(t dataflow.Type, code int64) dataflow.Type {
	t.Range = slices.Clone(t.Range)
	for c, r := range t.Range {
		t.Range[c] = r.Union(num.Point(code))
	}
	if !t.Elem.Holds(code) {
		t.Elem = num.Smallest(t.Union())
	}
	return t
}

// A GridPosition is where an iteration stands in a grid: all at stage 0.
type GridPosition struct {
	Hit     circuit.Value // the pixel is one of the smaller frame
	First   circuit.Value // of the larger frame, this is the first word
	LastHit circuit.Value // of the smaller frame, this is the last word
}

// Circuit counts the words of pixels, and the pixels.
func (g *Grid) Circuit(b *circuit.Builder, words int) GridPosition {
	word := b.Counter("word", words, b.Constant(1))
	column := along(b, "column", g.Columns, word.Last)
	row := along(b, "row", g.Rows, b.Now(func() circuit.Value { return circuit.All(word.Last, column.last) }))
	var p GridPosition
	b.Now(func() circuit.Value {
		p.Hit = circuit.All(row.hit, column.hit)
		p.First = circuit.All(word.First, column.first, row.first)
		p.LastHit = circuit.All(word.Last, column.lastHit, row.lastHit)
		return p.Hit
	})
	return p
}

// An axisPosition is where an iteration stands along an axis.
type axisPosition struct{ hit, first, last, lastHit circuit.Value }

// along goes along an axis, a position further where the condition holds.
func along(b *circuit.Builder, name string, s dataflow.Stride, step circuit.Value) (p axisPosition) {
	at := b.Counter(name, s.Length, step)
	p.first, p.last = at.First, at.Last
	b.Now(func() circuit.Value {
		reached := circuit.Not(circuit.Exceeds(b.Constant(int64(s.First)), at.Index))
		p.lastHit = circuit.Same(at.Index, b.Constant(int64(s.First+(s.Hits()-1)*s.Step)))
		p.hit = circuit.All(reached, circuit.Exceeds(b.Constant(int64(s.End)), at.Index))
		if s.Step == 1 || s.Hits() == 1 {
			if s.Hits() == 1 {
				p.hit = p.lastHit
			}
			return p.hit
		}
		past := b.Register(name+"_past", 0, num.Range{Hi: int64(s.Step - 1)}).Starts(0) // since the last that is hit
		zero := b.Constant(0)
		next := circuit.Kept(circuit.Sum(past.Value(), b.Constant(1)), num.Range{Hi: int64(s.Step - 1)})
		again := circuit.Any(at.Last, circuit.Not(reached), circuit.Same(past.Value(), b.Constant(int64(s.Step-1))))
		past.Set(circuit.Choice(again, zero, next), step)
		p.hit = circuit.All(p.hit, circuit.Same(past.Value(), zero))
		return p.hit
	})
	return p
}
