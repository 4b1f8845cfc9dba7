package swg

import (
	"hlsgen/hlslib/layer"
	"hlsgen/internal/circuit"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// Circuit returns the layer's RTL. With one kernel position per clock it has a ring, with all positions per clock
// delays.
func (o *op) Circuit(f dataflow.Fold, t dataflow.Target) *circuit.Module {
	b := circuit.NewBuilder(t.CircuitTiming())
	if o.all(f) {
		(&shifting{o, f, b}).build()
	} else {
		(&ringing{o, f, b}).build()
	}
	return b.FinishLayer()
}

// A variable is a register that is set to its first value again at the end of every frame. Its value is available at
// stage 0.
type variable struct {
	circuit.Value
	set func(next, when circuit.Value)
}

// newVariable returns a variable that begins with first and has values in r. end holds in the last iteration of a
// frame.
func newVariable(b *circuit.Builder, name string, first int, r num.Range, end circuit.Value) variable {
	if r.Lo == r.Hi {
		return variable{b.ConstantNumber(r.Lo), func(_, _ circuit.Value) {}}
	}
	reg := b.AddRegister(name, 0, r).WithResetValue(int64(first))
	return variable{reg.ValueBefore(), func(next, when circuit.Value) {
		b.BuildWithoutStageLimit(func() circuit.Value {
			reg.SetNext(circuit.MuxByCondition(end, b.ConstantNumber(int64(first)), circuit.AssumeRange(next, r)),
				circuit.AnyHolds(end, when))
			return end
		})
	}}
}

func bit(is bool) int {
	if is {
		return 1
	}
	return 0
}

// span returns the range of numbers from lo to hi.
func span(lo, hi int) num.Range { return num.Range{Lo: int64(lo), Hi: int64(hi)} }

// plus returns the sum v + n as a value of the circuit.
func plus(v circuit.Value, n int) circuit.Value {
	return circuit.SumOfTwo(v, circuit.ConstantInCircuitOf(v, int64(n)))
}

func lies(v circuit.Value, lo, hi int) circuit.Value {
	return circuit.AllHold(circuit.IsGreater(v, circuit.ConstantInCircuitOf(v, int64(lo-1))),
		circuit.IsGreater(circuit.ConstantInCircuitOf(v, int64(hi)), v))
}

// tap returns a word of the frame in the output's type, or a word of padding if the condition inside does not hold.
func tap(o *op, b *circuit.Builder, word, inside circuit.Value) circuit.Value {
	elements := layer.ElementsOfWord(word, o.in.Elem)
	padding := make([]circuit.Value, len(elements))
	for i, x := range elements {
		elements[i], padding[i] = circuit.AssumeRange(x, o.in.UnionOfRanges()), b.ConstantNumber(o.P.Pad)
	}
	if o.in.Elem != o.out.Elem {
		word = circuit.PackIntoWord(o.out.Elem, elements...)
	}
	if !o.padded {
		return word
	}
	return circuit.MuxByCondition(inside, word, circuit.PackIntoWord(o.out.Elem, padding...))
}

// A ringing builds the circuit for folds with one kernel position per clock, which keeps words in a ring.
type ringing struct {
	*op
	f dataflow.Fold
	b *circuit.Builder
}

func (c *ringing) build() {
	b, g, start := c.b, &c.g, newWalk(&c.g, c.parts(c.f))
	end := b.AddCounter("clock", c.serial.slots*start.parts, b.ConstantNumber(1)).Last
	rows := c.depth(c.f)
	got := newVariable(b, "got", 0, span(0, start.frame), end)
	need := newVariable(b, "need", start.need(), span(0, start.frame+1), end)
	limit := newVariable(b, "limit", min(start.limit(rows), start.frame), span(0, start.frame), end)
	var reads, writes circuit.Value
	b.BuildWithoutStageLimit(func() circuit.Value {
		reads, writes = circuit.IsGreater(limit.Value, got.Value), circuit.Not(circuit.IsGreater(need.Value,
			got.Value))
		got.set(plus(got.Value, 1), reads)
		return reads
	})

	tile := c.tile(c.f) / c.f.SIMD
	steps := []circuit.Value{writes}
	var lasts []circuit.Value
	for _, l := range []struct {
		name string
		n    int
	}{{"word", tile}, {"tap_column", g.kernel[1]}, {"tap_row", g.kernel[0]}, {"tile", start.parts / tile}} {
		last := b.AddCounter(l.name, l.n, steps[len(lasts)]).Last
		lasts = append(lasts, last)
		steps = append(steps, b.BuildWithoutStageLimit(func() circuit.Value {
			return circuit.AllHold(steps[len(lasts)-1],
				last)
		}))
	}
	newRow := c.windows(start, rows, need, limit, steps[4], end)

	to := newVariable(b, "to", 0, span(0, rows-1), end)
	from := newVariable(b, "from", wrap(start.y+start.x, rows), span(0, rows-1), end)
	b.BuildWithoutStageLimit(func() circuit.Value {
		one := b.ConstantNumber(int64(wrap(1, rows)))
		to.set(turn(to.Value, one, plus(one, -rows)), reads)
		step := func(more int) circuit.Value { return c.step(start, rows, more, lasts, newRow) }
		from.set(turn(from.Value, step(0), step(-rows)), writes)
		return newRow
	})
	ring := b.AddArray("ring", dataflow.CircuitStyleOf(c.storage(c.f), "ring"), rows, c.f.SIMD*c.in.Elem.Width)
	ring.WriteRow(to.Value, b.AddInputStream(c.f.SIMD*c.in.Elem.Width, reads), reads)
	inside := circuit.AllHold(c.within(0, steps, lasts, newRow, end), c.within(1, steps, lasts, newRow, end))
	b.AddOutputStream(tap(c.op, b, ring.ReadRowBefore(from.Value), inside), writes)
}

// windows keeps two counts for the current window. They are the words that it needs, and the words that fit into the
// ring before the next window begins. Both are sums of a part for the window's row and one for its column. The parts
// are computed one window ahead. So no path within a clock leads from a window's position to the decision to read or
// write. The result newRow says whether the next window begins a row of windows.
func (c *ringing) windows(start walk, rows int, need, limit variable, enter, end circuit.Value) (newRow circuit.Value) {
	b, ahead := c.b, start
	ahead.next()
	w := ahead
	if !w.over() {
		w.next()
	}
	nextY, nextX := start.stride[0]*start.line, start.stride[1]*start.parts
	oy := newVariable(b, "behind_row", w.oy, span(0, start.windows[0]), end)
	ox := newVariable(b, "behind_column", w.ox, span(0, start.windows[1]-1), end)
	y := newVariable(b, "behind_y", w.y, span(start.y, start.y+start.windows[0]*nextY), end)
	x := newVariable(b, "behind_x", w.x, span(start.x, start.x+(start.windows[1]-1)*nextX), end)
	over := newVariable(b, "ahead_over", bit(ahead.over()), span(0, 1), end)
	begins := newVariable(b, "ahead_begins", bit(ahead.ox == 0), span(0, 1), end)
	leastY, leastX := start.needs()
	firstY, firstX := ahead.needs()
	needY := newVariable(b, "need_y", firstY, span(leastY, start.frame-start.line), end)
	needX := newVariable(b, "need_x", firstX, span(leastX, start.line), end)
	firstY, firstX = ahead.limits(rows)
	limitY := newVariable(b, "limit_y", firstY, span(rows, rows+max(0, int(y.Range().Hi))), end)
	limitX := newVariable(b, "limit_x", firstX, span(0, max(0, int(x.Range().Hi))), end)
	return b.BuildWithoutStageLimit(func() circuit.Value {
		number := func(n int) circuit.Value { return b.ConstantNumber(int64(n)) }
		none, zero := circuit.IsEqual(oy.Value, number(start.windows[0])), number(0)
		last := circuit.IsEqual(ox.Value, number(start.windows[1]-1))
		next := b.AllHold(enter, circuit.Not(none))
		ox.set(circuit.MuxByCondition(last, zero, plus(ox.Value, 1)), next)
		x.set(circuit.MuxByCondition(last, number(start.x), plus(x.Value, nextX)), next)
		oy.set(plus(oy.Value, 1), b.AllHold(next, last))
		y.set(plus(y.Value, nextY), b.AllHold(next, last))

		need.set(circuit.MuxByCondition(over.Value, number(start.frame+1), circuit.SumOfTwo(needY.Value, needX.Value)),
			enter)
		room := circuit.LesserOf(circuit.SumOfTwo(limitY.Value, limitX.Value), number(start.frame))
		limit.set(circuit.MuxByCondition(over.Value, number(start.frame), room), enter)
		over.set(none, enter)
		begins.set(circuit.IsEqual(ox.Value, zero), enter)
		needY.set(atMost(y.Value, start.span(0)*start.line, start.frame-start.line), enter)
		needX.set(atMost(x.Value, start.span(1)*start.parts+start.parts, start.line), enter)
		inside := circuit.IsGreater(y.Value, zero)
		limitY.set(circuit.MuxByCondition(inside, plus(y.Value, rows), number(rows)), enter)
		slides := circuit.AnyHolds(circuit.IsGreater(plus(y.Value, nextY), zero),
			circuit.IsEqual(oy.Value, number(start.windows[0]-1)))
		limitX.set(circuit.MuxByCondition(b.AllHold(slides, circuit.IsGreater(x.Value, zero)), x.Value, zero), enter)
		return begins.Value
	})
}

// atMost returns the smaller of v + n and most, as a value of the circuit.
func atMost(v circuit.Value, n, most int) circuit.Value {
	number := func(n int) circuit.Value { return circuit.ConstantInCircuitOf(v, int64(n)) }
	return circuit.MuxByCondition(circuit.IsGreater(v, number(most-n)), number(most), plus(v, n))
}

// step returns the distance in the ring, plus more, from the word that is written to the next. That may be the next
// word, tap, line of taps, tile, window, or row of windows. lasts tells which loops end, and newRow whether a row of
// windows begins.
func (c *ringing) step(w walk, rows, more int, lasts []circuit.Value, newRow circuit.Value) circuit.Value {
	tapY, tapX, tall, wide := w.dilation[0]*w.line, w.dilation[1]*w.parts, w.span(0)*w.line, w.span(1)*w.parts
	nextY, nextX := w.stride[0]*w.line, w.stride[1]*w.parts
	tile, window := c.tile(c.f)/c.f.SIMD, tall+wide+w.parts-1
	at := func(n int) circuit.Value { return c.b.ConstantNumber(int64(wrap(n, rows) + more)) }
	step := circuit.MuxByCondition(newRow, at(nextY-(w.windows[1]-1)*nextX-window), at(nextX-window))
	for i, n := range []int{1 - tall - wide, tapY - wide - tile + 1, tapX - tile + 1, 1} {
		step = circuit.MuxByCondition(lasts[3-i], step, at(n))
	}
	return step
}

// within returns a condition of the circuit: the current tap lies in the frame along an axis, and not in the padding.
func (c *ringing) within(axis int, steps, lasts []circuit.Value, newRow, end circuit.Value) circuit.Value {
	if !c.padded {
		return c.b.ConstantNumber(1)
	}
	b, g, name := c.b, &c.g, [2]string{"y", "x"}[axis]
	first := -g.before[axis]
	corners := span(first, first+(g.windows[axis]-1)*g.stride[axis])
	corner := newVariable(b, "corner_"+name, first, corners, end)
	tap := newVariable(b, name, first, span(first, int(corners.Hi)+g.span(axis)), end)
	return b.BuildWithoutStageLimit(func() circuit.Value {
		next, enters, again := plus(corner.Value, g.stride[axis]), newRow, b.AllHold(lasts[3])
		if axis == 1 {
			next, enters = circuit.MuxByCondition(newRow, b.ConstantNumber(int64(first)), next), b.ConstantNumber(1)
			again = b.AllHold(lasts[2], lasts[3])
		}
		next = circuit.MuxByCondition(enters, circuit.AssumeRange(next, corners), corner.Value)
		corner.set(next, steps[4])
		next = circuit.MuxByCondition(again, next, corner.Value)
		tap.set(circuit.MuxByCondition(lasts[2-axis], next, plus(tap.Value, g.dilation[axis])), steps[2-axis])
		return lies(tap.Value, 0, g.frame[axis])
	})
}

// turn returns the place in a ring that lies step words after the place at. back is step minus the length of the ring;
// both sums are computed at once.
func turn(at, step, back circuit.Value) circuit.Value {
	before := circuit.SumOfTwo(at, back)
	return circuit.MuxByCondition(circuit.IsNegative(before), circuit.SumOfTwo(at, step), before)
}

// wrap returns the place in a ring of rows words that the number at stands for: at modulo rows, also if at is negative.
func wrap(at, rows int) int { return (at%rows + rows) % rows }

// A shifting builds the circuit for folds with all kernel positions per clock, which keeps words in delays.
type shifting struct {
	*op
	f dataflow.Fold
	b *circuit.Builder
}

func (c *shifting) build() {
	b, g := c.b, &c.g
	part := b.AddCounter("part", c.parts(c.f), b.ConstantNumber(1))
	pixel := b.AddCounter("pixel", c.parallel.slots, part.Last)
	end := b.BuildWithoutStageLimit(func() circuit.Value { return b.AllHold(part.Last, pixel.Last) })
	due := newVariable(b, "due", g.due(0, 0), span(0, c.parallel.slots), end)
	var reads, writes, next circuit.Value
	b.BuildWithoutStageLimit(func() circuit.Value {
		reads = circuit.IsGreater(b.ConstantNumber(int64(g.pixels())), pixel.Index)
		writes = circuit.IsEqual(pixel.Index, due.Value)
		next = b.AllHold(writes, part.Last)
		return next
	})
	column := b.AddCounter("column", g.windows[1], next)
	row := b.AddCounter("row", g.windows[0], b.BuildWithoutStageLimit(func() circuit.Value {
		return b.AllHold(next,
			column.Last)
	}))
	b.BuildWithoutStageLimit(func() circuit.Value {
		step := b.ConstantNumber(int64(g.stride[0]*g.frame[1] - (g.windows[1]-1)*g.stride[1]))
		then := circuit.SumOfTwo(due.Value, circuit.MuxByCondition(column.Last, step,
			b.ConstantNumber(int64(g.stride[1]))))
		never := b.ConstantNumber(int64(c.parallel.slots))
		due.set(circuit.MuxByCondition(b.AllHold(column.Last, row.Last), never, then), next)
		return then
	})

	list := c.storage(c.f)
	newest := b.AddInputStream(c.f.SIMD*c.in.Elem.Width, reads)
	lines := c.delay("lines", dataflow.CircuitStyleOf(list, "lines"), g.kernel[0]-1, c.depth(c.f), newest)
	taps := c.delay("columns", dataflow.CircuitStyleOf(list, "columns"), g.kernel[1]-1, c.spacing(c.f), lines)
	y, x := c.inside(0, next, column.Last, end), c.inside(1, next, column.Last, end)
	var words []circuit.Value
	for i := range g.kernel[0] {
		for j := range g.kernel[1] {
			word := circuit.SliceBits(taps, (j*g.kernel[0]+i)*newest.Width(), newest.Width())
			words = append(words, tap(c.op, b, word, b.AllHold(y[i], x[j])))
		}
	}
	b.AddOutputStream(circuit.ConcatenateWords(words...), writes)
}

// inside returns, for each tap of a window along an axis, a condition of the circuit. It holds if the tap lies in the
// frame, and not in the padding.
func (c *shifting) inside(axis int, next, last, end circuit.Value) []circuit.Value {
	b, g := c.b, &c.g
	first := -g.before[axis]
	corners := span(first, first+(g.windows[axis]-1)*g.stride[axis])
	corner := newVariable(b, [2]string{"y", "x"}[axis], first, corners, end)
	b.BuildWithoutStageLimit(func() circuit.Value {
		then, when := plus(corner.Value, g.stride[axis]), b.AllHold(next, last)
		if axis == 1 {
			then, when = circuit.MuxByCondition(last, b.ConstantNumber(int64(first)), then), next
		}
		corner.set(then, when)
		return when
	})
	taps := make([]circuit.Value, g.kernel[axis])
	for i := range taps {
		at := i * g.dilation[axis]
		taps[i] = lies(corner.Value, -at, g.frame[axis]-at)
	}
	return taps
}

// delay returns the words of a delay with the given stages, oldest first, followed by newest. Each of its places holds
// a word of each stage. Places are used in turn, so a word waits in a stage for as many clocks as there are places.
func (c *shifting) delay(name string, style circuit.StorageStyle, stages, places int,
	newest circuit.Value) circuit.Value {
	if stages == 0 {
		return newest
	}
	b, always, width, stage := c.b, c.b.ConstantNumber(1), newest.Width(), newest.Stage()
	rest := func(all circuit.Value) circuit.Value { return circuit.SliceBits(all, width, stages*width) }
	if places == 1 {
		kept := b.AddWordRegister(name, stage, stages*width)
		all := circuit.ConcatenateWords(kept.ValueBefore(), newest)
		kept.SetNext(rest(all), always)
		return all
	}
	place := b.AddCounter(name+"_place", places, always).Index
	if style == circuit.BlockRAMStyle || style == circuit.UltraRAMStyle {
		stage = max(0, stage-circuit.BlockRAMLatencyClocks)
	}
	place = place.AtStage(stage)
	memory := b.AddArray(name, style, places, stages*width)
	all := circuit.ConcatenateWords(memory.ReadRowBefore(place), newest)
	memory.WriteRow(place, rest(all), always)
	return all
}
