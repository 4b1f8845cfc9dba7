package layer

import (
	"slices"

	"hlsgen/hlslib/price/cost"
	"hlsgen/internal/circuit"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// A NestedFrame has the rows and columns of the larger of two frames, one of which lies in the other. A row or column
// that belongs to the smaller frame is hit. Pixels travel row by row, each in the same number of words.
type NestedFrame struct{ Rows, Columns dataflow.StridedPositions }

// IsPixelInSmallerFrame reports whether pixel i of the larger frame belongs to the smaller one.
func (g *NestedFrame) IsPixelInSmallerFrame(i int) bool {
	return g.Rows.IsHit(i/g.Columns.Length) && g.Columns.IsHit(i%g.Columns.Length)
}

// LoopOverLargerFrame returns the loop over the larger frame, with the given number of words per pixel. A word makes
// the moves hit if its pixel belongs to the smaller frame, else the moves miss. The latency is that of the C++: a read,
// a choice and a write.
func (g *NestedFrame) LoopOverLargerFrame(words int, hit, miss dataflow.PortMoves, t dataflow.Target) dataflow.Loop {
	pixel := func(m dataflow.PortMoves) []dataflow.LoopRun { return []dataflow.LoopRun{{Times: words, Moves: m}} }
	row, missed := g.Columns.LoopRunsAlong(pixel(hit), pixel(miss)), dataflow.RepeatLoopRuns(g.Columns.Length,
		pixel(miss)...)
	c := NewIterationChain(t)
	c.DoConditionalStreamRead()
	c.DoSelect(1)
	return dataflow.Loop{Body: g.Rows.LoopRunsAlong(row, missed), Latency: c.DoStreamWrite()}
}

// CounterCost returns the cost of the counters of rows, columns and words, with the given words per pixel.
func (g *NestedFrame) CounterCost(words int) cost.Resources {
	r := cost.CounterCost(words)
	for _, axis := range []dataflow.StridedPositions{g.Rows, g.Columns} {
		r = r.Plus(cost.CounterCost(axis.Length)).Plus(cost.CounterCost(axis.Step))
	}
	return r
}

// ConfigFields returns the fields of the C++ for hlslib/core/axis.hpp, followed by more. The texts rows, first, end and
// step describe the first four fields.
func (g *NestedFrame) ConfigFields(words int, rows, first, end, step string,
	more ...dataflow.ConfigField) []dataflow.ConfigField {
	return append([]dataflow.ConfigField{
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

// StreamTypeWithPaddingCode returns the stream type t with the given code added to every channel's range. The element
// type stays if it holds the code; otherwise it becomes the narrowest type that does.
func StreamTypeWithPaddingCode(t dataflow.StreamType, code int64) dataflow.StreamType {
	t.Range = slices.Clone(t.Range)
	for c, r := range t.Range {
		t.Range[c] = r.Union(num.SingleValueRange(code))
	}
	if !t.Elem.Holds(code) {
		t.Elem = num.NarrowestIntTypeFor(t.UnionOfRanges())
	}
	return t
}

// A NestedFramePosition says where an iteration stands in a NestedFrame. All its values are available at stage 0.
type NestedFramePosition struct {
	Hit     circuit.Value // the pixel belongs to the smaller frame
	First   circuit.Value // the word is the first of the larger frame
	LastHit circuit.Value // the word is the last of the smaller frame
}

// AddPositionCounters adds the counters of words, columns and rows to a circuit, and returns the position that they
// tell.
func (g *NestedFrame) AddPositionCounters(b *circuit.Builder, words int) NestedFramePosition {
	word := b.AddCounter("word", words, b.ConstantNumber(1))
	column := along(b, "column", g.Columns, word.Last)
	row := along(b, "row", g.Rows, b.BuildWithoutStageLimit(func() circuit.Value {
		return circuit.AllHold(word.Last,
			column.last)
	}))
	var p NestedFramePosition
	b.BuildWithoutStageLimit(func() circuit.Value {
		p.Hit = circuit.AllHold(row.hit, column.hit)
		p.First = circuit.AllHold(word.First, column.first, row.first)
		p.LastHit = circuit.AllHold(word.Last, column.lastHit, row.lastHit)
		return p.Hit
	})
	return p
}

// An axisPosition says where an iteration stands along an axis. It may be at a position of the smaller frame, at the
// first one, the last one, or the last of the smaller frame.
type axisPosition struct{ hit, first, last, lastHit circuit.Value }

// along adds the counter of the axis s, which advances by one position if the condition step holds, and returns the
// position that it tells.
func along(b *circuit.Builder, name string, s dataflow.StridedPositions, step circuit.Value) (p axisPosition) {
	at := b.AddCounter(name, s.Length, step)
	p.first, p.last = at.First, at.Last
	b.BuildWithoutStageLimit(func() circuit.Value {
		reached := circuit.Not(circuit.IsGreater(b.ConstantNumber(int64(s.First)), at.Index))
		p.lastHit = circuit.IsEqual(at.Index, b.ConstantNumber(int64(s.First+(s.HitCount()-1)*s.Step)))
		p.hit = circuit.AllHold(reached, circuit.IsGreater(b.ConstantNumber(int64(s.End)), at.Index))
		if s.Step == 1 || s.HitCount() == 1 {
			if s.HitCount() == 1 {
				p.hit = p.lastHit
			}
			return p.hit
		}
		// positions since the last hit
		past := b.AddRegister(name+"_past", 0, num.Range{Hi: int64(s.Step - 1)}).WithResetValue(0)
		zero := b.ConstantNumber(0)
		next := circuit.AssumeRange(circuit.SumOfTwo(past.ValueBefore(), b.ConstantNumber(1)),
			num.Range{Hi: int64(s.Step - 1)})
		again := circuit.AnyHolds(at.Last, circuit.Not(reached), circuit.IsEqual(past.ValueBefore(),
			b.ConstantNumber(int64(s.Step-1))))
		past.SetNext(circuit.MuxByCondition(again, zero, next), step)
		p.hit = circuit.AllHold(p.hit, circuit.IsEqual(past.ValueBefore(), zero))
		return p.hit
	})
	return p
}
