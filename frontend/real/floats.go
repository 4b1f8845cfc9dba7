package real

import "math"

// A BatchFloatFunc is an expression compiled for float64 arithmetic on many numbers at a time, with the same results on
// every processor. Every primitive rounds once. Only one goroutine may use it at a time; Fork returns a copy for
// another.
type BatchFloatFunc struct {
	code      []floatInstr
	constants []float64 // the contents of the first slots
	slots     [][]float64
	width     int
}

// A floatInstr computes a slot from its operands. An operand a >= 0 is a slot; an operand a < 0 is variable -1-a.
type floatInstr struct {
	op       PrimitiveOp
	mode     RoundingMode
	a, b, to int
}

// These are functions that are single primitives in float64. copied copies its operand.
const (
	curveTanh PrimitiveOp = iota + 128
	curveExpMinusOne
	curveSoftplus
	copied
)

// widest is the largest number of points that EvaluateBatch takes at a time, and narrow the smallest. Expressions with
// many slots or variables take fewer, so that they hold about atHand numbers in all.
const (
	widest = 256
	narrow = 16
	atHand = 1 << 16
)

// CompileBatchFloatFunc returns a BatchFloatFunc that evaluates e.
func CompileBatchFloatFunc(e *Expr) *BatchFloatFunc {
	c := &floatCompiler{BatchFloatFunc: &BatchFloatFunc{}, at: map[*Expr]int{}, uses: map[*Expr]int{}}
	c.count(e)
	out := c.emit(e)
	if out < 0 || out < len(c.constants) || len(c.code) == 0 {
		c.code = append(c.code, floatInstr{op: copied, a: out, to: c.take()})
	}
	f := c.BatchFloatFunc
	f.width = max(narrow, min(widest, atHand/max(c.slots, 1+len(e.VariableNumbers()))))
	f.ready(c.slots)
	return f
}

// ready allocates the scratch space, of the given number of slots, and fills the slots of constants.
func (f *BatchFloatFunc) ready(slots int) {
	room := make([]float64, slots*f.width)
	f.slots = make([][]float64, slots)
	for i := range f.slots {
		f.slots[i] = room[i*f.width : (i+1)*f.width]
		if i < len(f.constants) {
			for k := range f.slots[i] {
				f.slots[i][k] = f.constants[i]
			}
		}
	}
}

// Fork returns a BatchFloatFunc of the same expression that another goroutine may use at the same time.
func (f *BatchFloatFunc) Fork() *BatchFloatFunc {
	g := *f
	g.ready(len(f.slots))
	return &g
}

// MaxBatchSize returns the largest number of points that EvaluateBatch takes at a time.
func (f *BatchFloatFunc) MaxBatchSize() int { return f.width }

// A floatCompiler translates an expression to instructions.
type floatCompiler struct {
	*BatchFloatFunc
	at    map[*Expr]int // the operand that holds an expression
	uses  map[*Expr]int // how many uses of an expression are still to come
	free  []int
	slots int
}

// curveOf returns the primitive that computes e in float64, and its arguments.
func curveOf(e *Expr) (op PrimitiveOp, args []*Expr) {
	if x := e.softplus(); x != nil {
		return curveSoftplus, []*Expr{x}
	}
	if e.op == sub && e.args[0].op == exp && is(e.args[1], 1) {
		return curveExpMinusOne, e.args[0].args[:1]
	}
	if x := tanhOf(e); x != nil {
		return curveTanh, []*Expr{x}
	}
	for _, a := range e.args {
		if a != nil {
			args = append(args, a)
		}
	}
	return e.op, args
}

// is reports whether e is the constant n.
func is(e *Expr, n float64) bool { return e.op == constant && e.ci == NewPointInterval(n) }

// tanhOf returns x if e has the form 1 - 2/(e^2x + 1), and nil otherwise.
func tanhOf(e *Expr) *Expr {
	if e.op != sub || !is(e.args[0], 1) || e.args[1].op != div || !is(e.args[1].args[0], 2) {
		return nil
	}
	sum := e.args[1].args[1]
	if sum.op != add || sum.args[0].op != exp || !is(sum.args[1], 1) {
		return nil
	}
	if double := sum.args[0].args[0]; double.op == mul && is(double.args[0], 2) {
		return double.args[1]
	}
	return nil
}

// count counts the uses of each subexpression, and gives constants their slots.
func (c *floatCompiler) count(e *Expr) {
	if c.uses[e]++; c.uses[e] > 1 {
		return
	}
	if e.op == constant {
		v, _ := e.c.Float64()
		c.at[e], c.slots = c.slots, c.slots+1
		c.constants = append(c.constants, v)
		return
	}
	_, args := curveOf(e)
	for _, a := range args {
		c.count(a)
	}
}

// take returns the number of a slot that is free.
func (c *floatCompiler) take() int {
	if n := len(c.free); n > 0 {
		slot := c.free[n-1]
		c.free = c.free[:n-1]
		return slot
	}
	c.slots++
	return c.slots - 1
}

// emit emits the instructions for e and returns the operand that holds e.
func (c *floatCompiler) emit(e *Expr) int {
	if at, ok := c.at[e]; ok {
		return at
	}
	if e.op == variable {
		c.at[e] = -1 - e.v
		return -1 - e.v
	}
	op, args := curveOf(e)
	in := floatInstr{op: op, mode: e.mode}
	for i, a := range args {
		at := c.emit(a)
		if i == 0 {
			in.a = at
		} else {
			in.b = at
		}
	}
	for _, a := range args {
		if c.uses[a]--; c.uses[a] == 0 && c.at[a] >= len(c.constants) {
			c.free = append(c.free, c.at[a])
		}
	}
	in.to = c.take()
	c.code = append(c.code, in)
	c.at[e] = in.to
	return in.to
}

// EvaluateBatch writes to out the values of the expression at len(out) points, which must be at most MaxBatchSize.
// vars[i] holds the values of variable i.
func (f *BatchFloatFunc) EvaluateBatch(out []float64, vars [][]float64) {
	n := len(out)
	operand := func(i int) []float64 {
		if i < 0 {
			return vars[-1-i][:n]
		}
		return f.slots[i][:n]
	}
	for i := range f.code {
		in := &f.code[i]
		to := f.slots[in.to][:n]
		if i == len(f.code)-1 {
			to = out
		}
		switch a := operand(in.a); in.op {
		case add, sub, mul, div, minimum, maximum, atLeast, gate:
			in.two(to, a, operand(in.b))
		default:
			in.one(to, a)
		}
	}
}

// two executes an instruction with two operands.
func (in *floatInstr) two(to, a, b []float64) {
	a, b = a[:len(to)], b[:len(to)]
	switch in.op {
	case add:
		for i := range to {
			to[i] = a[i] + b[i]
		}
	case sub:
		for i := range to {
			to[i] = a[i] - b[i]
		}
	case mul:
		for i := range to {
			to[i] = a[i] * b[i]
		}
	case div:
		for i := range to {
			to[i] = a[i] / b[i]
		}
	case minimum:
		for i := range to {
			to[i] = min(a[i], b[i])
		}
	case maximum:
		for i := range to {
			to[i] = max(a[i], b[i])
		}
	case gate:
		for i := range to {
			if to[i] = 0; a[i] != 0 {
				to[i] = b[i]
			}
		}
	case atLeast:
		for i := range to {
			if to[i] = 0; a[i] >= b[i] {
				to[i] = 1
			}
		}
	}
}

// one executes an instruction with one operand.
func (in *floatInstr) one(to, a []float64) {
	f := in.mode.round
	switch in.op {
	case copied:
		copy(to, a)
		return
	case neg:
		f = func(x float64) float64 { return -x }
	case abs:
		f = math.Abs
	case sqrt:
		f = math.Sqrt
	case exp:
		f = exp64
	case log:
		f = log64
	case erf:
		f = erf64
	case sin:
		f = sin64
	case cos:
		f = cos64
	case atan:
		f = atan64
	case powerBelow:
		f = func(x float64) float64 { return NewPointInterval(x).powerBelow().Lo }
	case curveTanh:
		f = tanh64
	case curveExpMinusOne:
		f = expm164
	case curveSoftplus:
		f = softplus64
	}
	for i, x := range a[:len(to)] {
		to[i] = f(x)
	}
}
