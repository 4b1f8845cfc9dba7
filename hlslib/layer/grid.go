package layer

import (
	"slices"

	"hlsgen/hlslib/cost"
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
