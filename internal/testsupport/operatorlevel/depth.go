package operatorlevel

import (
	"math/bits"
	"slices"

	"hlsgen/hlslib/layer"
	"hlsgen/hlslib/price/delay"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// A point is the place in a pipeline at which a value is there; nil stands for a constant.
type point = *delay.PipelineCursor

// LatencyClocks returns the clocks of an iteration of the graph, by the delays and the stages of synthesis from C++. ok
// is false for a graph with a step function whose search takes several iterations.
func (g *Graph) LatencyClocks(clock delay.StageDelayModel) (clocks int, ok bool) {
	r := reader{g: g, start: clock.NewCursorAfterLoopControl()}
	for id := range g.Operators {
		o := &g.Operators[id]
		if o.Kind == Steps && field[int](o.Steps, "search_steps") > 0 {
			return 0, false
		}
		r.at = append(r.at, r.read(o))
	}
	end := r.latest(g.Result)
	if !g.Bare {
		end.DoOp(delay.OpStreamWrite, 1)
	}
	return end.LatencyClocks(), true
}

// A reader finds the points of a graph's values, in the order of the operators.
type reader struct {
	g     *Graph
	start delay.PipelineCursor // what an iteration does is known
	at    []point
}

// latest returns the point at which all operands are there.
func (r *reader) latest(of ...ID) point {
	p := r.start
	for _, id := range of {
		if at := r.at[id]; at != nil {
			p.WaitForCursor(*at)
		}
	}
	return &p
}

// read returns the point at which an operator's values are there.
func (r *reader) read(o *Operator) point {
	p := r.latest(o.Args...)
	width := o.width()
	switch o.Kind {
	case Constant:
		return nil
	case Index:
	case First, Last:
		if r.g.count(o.From, o.To) == 1 {
			return nil
		}
		p.DoOp(delay.OpCompare, bits.Len(uint(r.g.count(o.From, o.To)-1)))
	case Word:
		if !r.g.Bare {
			p.DoOp(delay.OpStreamRead, 1)
		}
	case Keep:
		kept := *r.latest(o.Args[2])
		readMemory(&kept, o.Storage)
		p.WaitForCursor(kept)
		p.DoOp(delay.OpSelect, width)
	case Row:
		if o.Storage.Rows <= 1 {
			return nil
		}
		readMemory(p, o.Storage)
		if o.Decoded && o.Storage.Width/(o.Rows*o.Cols) > 1 {
			p.DoOp(delay.OpLogicGate, 1)
		}
	case Product:
		multiply(p, o)
	case Match:
		p.DoOp(delay.OpLogicGate, 1)
	case Requantise:
		requantise(p, o, r.g.at(o.Args[0]).width())
	case Sum, Greatest:
		reduce(p, o.Kind, r.g.at(o.Args[0]))
	case RunningSum:
		p.DoInOneStage(width, delay.OpSelect, delay.OpAdd)
	case RunningGreatest:
		p.DoInOneStage(width, delay.OpCompare, delay.OpSelect, delay.OpSelect)
	case Steps:
		r.step(p, o)
	case Affine:
		p.DoOp(delay.OpAdd, width)
	}
	return p
}

// readMemory adds the reading of a row. A memory with one row takes no time, and one of registers a choice for each bit
// of the index.
func readMemory(p point, s dataflow.Storage) {
	switch {
	case s.Rows <= 1:
	case s.In == dataflow.MemoryRegisters:
		for range bits.Len(uint(s.Rows - 1)) {
			p.DoOp(delay.OpSelect, s.Width)
		}
	case s.In == dataflow.MemoryBRAM:
		p.DoUnit(delay.UnitBlockRAM)
	case s.In == dataflow.MemoryURAM:
		p.DoUnit(delay.UnitUltraRAM)
	default:
		p.DoUnit(delay.UnitLUTMemory)
	}
}

// multiply adds a product. A factor of one bit that is a sign takes a negation and a choice. Minifloats take the
// product of their significands, and a shift by both exponents.
func multiply(p point, o *Operator) {
	a, b := o.Factors[0], o.Factors[1]
	switch {
	case a.IsMinifloat() || b.IsMinifloat():
		var significand, shifts [2]int
		for i, t := range o.Factors {
			if significand[i] = t.Width; t.IsMinifloat() {
				significand[i], shifts[i] = t.Mantissa+1, max(0, 1<<t.ExponentBits()-2)
			}
		}
		p.DoOp(delay.OpLogicGate, significand[0]+significand[1]) // tells whether exponents are 0
		p.DoProduct(significand[0], significand[1], false)
		for range bits.Len(uint(shifts[0] + shifts[1])) {
			p.DoOp(delay.OpSelect, o.width())
		}
		p.DoOp(delay.OpAdd, o.width()) // negates the product
	case a.Kind == num.KindBipolar || b.Kind == num.KindBipolar:
		p.DoOp(delay.OpAdd, o.width())
		p.DoOp(delay.OpSelect, o.width())
	default:
		p.DoProduct(a.Width, b.Width, o.DSP)
	}
}

// requantise adds a multiplication by a constant, the rounding and the clipping of a value with the given bits.
func requantise(p point, o *Operator, width int) {
	q := o.Requant
	if q.Multiplier < 0 || !layer.IsShiftFactor(q.Multiplier) {
		factor := num.NarrowestIntTypeFor(num.SingleValueRange(q.Multiplier)).Width
		p.DoProduct(width, factor, o.DSP)
		width += factor
	}
	if q.Shift > 0 && q.Mode != num.RoundingFloor {
		p.DoOp(delay.OpAdd, width)
	}
	clip(p, width)
}

// clip adds a comparison with a limit and a choice.
func clip(p point, width int) {
	p.DoOp(delay.OpCompare, width)
	p.DoOp(delay.OpSelect, width)
}

// reduce adds a tree over the columns of the operand of. A sum of n numbers is as wide as its range needs.
func reduce(p point, kind Kind, of *Operator) {
	joined := 1
	for n := of.Cols; n > 1; n = (n + 1) / 2 {
		if kind == Greatest {
			clip(p, of.width())
			continue
		}
		joined = min(2*joined, of.Cols)
		p.DoOp(delay.OpAdd, num.NarrowestIntTypeFor(sums(of.Range, joined)).Width)
	}
}

// The numbers of the forms in the field form of an instance.
const (
	formComparators = 1 + iota
	formTable
	formSegments
	formSearch
	formScaled
)

// step adds a step function in the form of its instance. Tables whose rows depend on the value are read behind it, all
// others from the start of the iteration on.
func (r *reader) step(p point, o *Operator) {
	i := o.Steps
	ahead := func(name string) {
		row := *r.latest(o.Args[1])
		readMemory(&row, i.StorageOf(name))
		p.WaitForCursor(row)
	}
	switch field[int](i, "form") {
	case formComparators:
		ahead("thresholds")
		ahead("base")
		ahead("deltas")
		count(p, i, o, field[int](i, "steps"), i.StorageOf("deltas").Rows > 0)
	case formTable:
		window(p, o)
		readMemory(p, i.StorageOf("codes"))
	case formSegments:
		window(p, o)
		readMemory(p, i.StorageOf("codes")) // and beside it the thresholds
		count(p, i, o, field[int](i, "steps"), i.StorageOf("deltas").Rows > 0)
	case formSearch:
		for stage, found := range field[[]int](i, "stage_bits") {
			name := "stage" + string(rune('a'+stage))
			if stage == 0 { // the same thresholds for all values
				ahead(name)
			} else {
				readMemory(p, i.StorageOf(name))
			}
			p.DoOp(delay.OpCompare, o.Bits)
			p.DoPopCount(1<<found - 1)
		}
		if field[bool](i, "coded") {
			readMemory(p, i.StorageOf("codes"))
		} else {
			ahead("codes")
			affine(p, i, o)
		}
	case formScaled:
		ahead("biases")
		width := field[int](i, "sum_width")
		p.DoReductionTree(addends(i), width-1, delay.OpAdd)
		if field[int](i, "shift") > 0 && field[int](i, "mode") != num.RoundingFloor.KernelCode() {
			p.DoOp(delay.OpAdd, width)
		}
		if field[bool](i, "clip_lo") || field[bool](i, "clip_hi") {
			clip(p, width)
		}
	}
}

// addends returns the number of words that a multiplier's form adds: the digits of the factor, and the biases if there
// are any.
func addends(i dataflow.KernelInstance) int {
	n := field[int](i, "digit_count")
	for _, t := range i.Tables {
		for _, row := range t.Rows {
			if t.Name == "biases" && slices.ContainsFunc(row, func(v int64) bool { return v != 0 }) {
				return n + 1
			}
		}
	}
	return n
}

// window adds the clipping of a value to a window, if the form has one.
func window(p point, o *Operator) {
	if field[bool](o.Steps, "window") {
		p.DoOp(delay.OpAdd, o.Bits)
		clip(p, o.Bits)
	}
}

// count adds comparisons with n thresholds, and the sum of what each adds: one, or a number of its own.
func count(p point, i dataflow.KernelInstance, o *Operator, n int, own bool) {
	p.DoOp(delay.OpCompare, o.Bits)
	if own {
		p.DoOp(delay.OpSelect, o.width())
		p.DoReductionTree(n+1, o.width()-1, delay.OpAdd)
		return
	}
	p.DoPopCount(n)
	affine(p, i, o)
}

// affine adds the base and the unit of a step function, unless the count is the code but for a shift.
func affine(p point, i dataflow.KernelInstance, o *Operator) {
	if field[int](i, "base") != 0 || i.StorageOf("base").Rows > 0 || i.StorageOf("codes").Rows > 0 ||
		!layer.IsShiftFactor(int64(field[int](i, "unit"))) {
		p.DoOp(delay.OpAdd, o.width())
	}
}
