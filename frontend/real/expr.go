// Package real is arithmetic on real numbers as models mean them: an expression (Expr) has one meaning, the exact one,
// and several readings: intervals of float64 (fast, and right about what it does not know), exact rationals with
// intervals of any precision where roots enter (slow, and decides), and affine form (is it scale*x + bias?).
//
// In come expressions that package graph makes, with exact constants; out come what they say of numbers. It sees num.
//
//   - expr.go makes expressions; rounding.go has the modes of rounding
//   - interval.go, exact.go, float32.go are the readings: surely holds, exactly is, may be in float32; infinite.go has
//     what infinities are for them
//   - transcendental.go does exponentials and logarithms for the first two, circular.go the error function, sines and
//     arcs
//   - floats.go is the reading that rounds: float64, many numbers at a time; elementary.go has its functions, the same
//     on every processor
//   - affine.go, linear.go, product.go, polynomial.go find forms: of one variable, of several, of products, of sums of
//     products; quantiser.go a line that is rounded and clipped
//   - step.go makes a step function over integers, line.go guesses where it steps; float_step.go does so over
//     numbers of a format; within.go simplifies where variables are known to lie; strict.go tells functions that keep
//     an order; whole.go says what surely is an integer; piecewise.go, what is linear but for bends; stairs.go
//     remembers where a quantiser was evaluated
package real

import (
	"math"
	"math/big"
	"slices"
)

// Prim is a primitive operation.
type Prim uint8

// The primitives. The zero value is invalid.
const (
	constant Prim = iota + 1
	variable
	add
	sub
	mul
	div
	neg
	abs
	minimum
	maximum
	sqrt
	exp
	log
	erf
	sin
	cos
	atan
	atLeast
	powerBelow
	round
	gate
)

// An Expr is an expression over numbered variables. Exprs are immutable and may share parts.
type Expr struct {
	op   Prim
	args [2]*Expr
	c    *big.Rat // of a constant
	ci   Interval // around c
	v    int      // number of a variable
	mode Rounding // of round
}

// Float is the constant that a float64 is, exactly. It panics on infinities and NaN, which no reader of models passes.
func Float(v float64) *Expr {
	r := new(big.Rat).SetFloat64(v)
	if r == nil {
		panic("real: constant is not finite")
	}
	return &Expr{op: constant, c: r, ci: Pt(v)}
}

// Rat is an exact constant.
func Rat(r *big.Rat) *Expr { return &Expr{op: constant, c: r, ci: around(r)} }

// Var is variable number i.
func Var(i int) *Expr { return &Expr{op: variable, v: i} }

func of(op Prim, x, y *Expr) *Expr { return &Expr{op: op, args: [2]*Expr{x, y}} }

// Add is x+y.
func Add(x, y *Expr) *Expr { return of(add, x, y) }

// Sub is x-y.
func Sub(x, y *Expr) *Expr { return of(sub, x, y) }

// Mul is x*y.
func Mul(x, y *Expr) *Expr { return of(mul, x, y) }

// Div is x/y.
func Div(x, y *Expr) *Expr { return of(div, x, y) }

// Neg is -x.
func Neg(x *Expr) *Expr { return of(neg, x, nil) }

// Abs is |x|.
func Abs(x *Expr) *Expr { return of(abs, x, nil) }

// Min is the smaller of x and y.
func Min(x, y *Expr) *Expr { return of(minimum, x, y) }

// Max is the larger of x and y.
func Max(x, y *Expr) *Expr { return of(maximum, x, y) }

// Sqrt is the square root of x.
func Sqrt(x *Expr) *Expr { return of(sqrt, x, nil) }

// Exp is e to the power of x.
func Exp(x *Expr) *Expr { return of(exp, x, nil) }

// Log is the natural logarithm of x.
func Log(x *Expr) *Expr { return of(log, x, nil) }

// Erf is the error function of x.
func Erf(x *Expr) *Expr { return of(erf, x, nil) }

// Sin is the sine of x.
func Sin(x *Expr) *Expr { return of(sin, x, nil) }

// Cos is the cosine of x.
func Cos(x *Expr) *Expr { return of(cos, x, nil) }

// Atan is the arc tangent of x.
func Atan(x *Expr) *Expr { return of(atan, x, nil) }

// AtLeast is 1 where x >= y and 0 elsewhere.
func AtLeast(x, y *Expr) *Expr { return of(atLeast, x, y) }

// PowerBelow is the greatest power of two that is not above |x|; 0 at 0.
func PowerBelow(x *Expr) *Expr { return of(powerBelow, x, nil) }

// Round is x rounded to an integer.
func Round(x *Expr, mode Rounding) *Expr { return &Expr{op: round, args: [2]*Expr{x}, mode: mode} }

// Gate is x where open is 1, and 0 where it is 0: a product that has a value where x is infinite.
func Gate(open, x *Expr) *Expr { return of(gate, open, x) }

// Substitute replaces variable i by with[i].
func (e *Expr) Substitute(with []*Expr) *Expr { return e.substitute(with, map[*Expr]*Expr{}) }

func (e *Expr) substitute(with []*Expr, done map[*Expr]*Expr) *Expr {
	switch e.op {
	case constant:
		return e
	case variable:
		return with[e.v]
	}
	if s, ok := done[e]; ok {
		return s
	}
	s := *e
	for i, a := range e.args {
		if a != nil {
			s.args[i] = a.substitute(with, done)
		}
	}
	done[e] = &s
	return &s
}

// Variables lists the variables of e in increasing order.
func (e *Expr) Variables() []int {
	var out []int
	seen := map[*Expr]bool{}
	var visit func(e *Expr)
	visit = func(e *Expr) {
		if e == nil || seen[e] {
			return
		}
		seen[e] = true
		if e.op == variable {
			out = append(out, e.v)
		}
		visit(e.args[0])
		visit(e.args[1])
	}
	visit(e)
	slices.Sort(out)
	return slices.Compact(out)
}

// around is the smallest interval of float64 that holds r.
func around(r *big.Rat) Interval {
	f, exact := r.Float64()
	if exact && (f != 0 || r.Sign() == 0) { // Float64 calls the zero of an underflow exact
		return Pt(f)
	}
	back := new(big.Rat).SetFloat64(f)
	if back == nil { // beyond float64
		return overflow(f, 1, 1)
	}
	return outward(f, float64(r.Cmp(back)))
}

// A Func is an Expr made ready for evaluation: instructions in order, one slot each, the result in the last. It keeps
// scratch space, so it belongs to one goroutine at a time; Fork gives another.
type Func struct {
	code   []instr
	slots  []Interval
	rounds []int      // instructions that give one of several values
	last   []Interval // the variables that slots were made of; nil: they were made otherwise
}

type instr struct {
	op   Prim
	a, b int // slots
	soft int // of a logarithm that is ln(1+e^x): the slot of x; else -1
	e    *Expr
	of   uint64 // the variables on which it depends: bitOf them, and first
}

// first is a bit that all instructions have: none has been evaluated.
const first = 1 << 63

// bitOf is the bit of a variable: one of its own, or one that the last ones share.
func bitOf(v int) uint64 { return 1 << min(v, 62) }

// Compile orders the instructions of e.
func Compile(e *Expr) *Func {
	f := &Func{code: make([]instr, 0, 32)} // as many as most have
	at := map[*Expr]int{}
	var emit func(e *Expr) int
	emit = func(e *Expr) int {
		if i, ok := at[e]; ok {
			return i
		}
		in := instr{op: e.op, soft: -1, e: e, of: first}
		if e.args[0] != nil {
			in.a = emit(e.args[0])
			in.of |= f.code[in.a].of
		}
		if e.args[1] != nil {
			in.b = emit(e.args[1])
			in.of |= f.code[in.b].of
		}
		if e.op == variable {
			in.of |= bitOf(e.v)
		}
		if x := e.softplus(); x != nil {
			in.soft = at[x]
		}
		if at[e] = len(f.code); e.op.decides() {
			f.rounds = append(f.rounds, at[e])
		}
		f.code = append(f.code, in)
		return len(f.code) - 1
	}
	emit(e)
	f.slots = make([]Interval, len(f.code))
	return f
}

// softplus is x where e is ln(1+e^x); else nil. Where e^x leaves all bounds, that is x and a little more.
func (e *Expr) softplus() *Expr {
	if e.op != log || e.args[0] == nil || e.args[0].op != add { // of no elements, there is no sum
		return nil
	}
	one, power := e.args[0].args[0], e.args[0].args[1]
	if one.op == exp {
		one, power = power, one
	}
	if power.op != exp || one.op != constant || one.c.Cmp(big.NewRat(1, 1)) != 0 {
		return nil
	}
	return power.args[0]
}

// Hash returns a number that Funcs of one expression, compiled alike, share, and few others (FNV-1a, of words).
func (f *Func) Hash() uint64 {
	h := uint64(0xcbf29ce484222325)
	for _, in := range f.code {
		for _, v := range []uint64{uint64(in.op), uint64(in.a), uint64(in.b), uint64(in.e.v), uint64(in.e.mode),
			math.Float64bits(in.e.ci.Lo), math.Float64bits(in.e.ci.Hi)} {
			h = (h ^ v) * 0x100000001b3
		}
	}
	return h
}

// Fork is a Func of the same expression with scratch space of its own.
func (f *Func) Fork() *Func {
	return &Func{code: f.code, slots: make([]Interval, len(f.code)), rounds: f.rounds}
}

// Interval evaluates f where variable i lies in vars[i]. sure is false where a rounding inside had more than one
// possible outcome (the result still holds the truth). What depends only on variables that lie where they did the last
// time is not evaluated again.
func (f *Func) Interval(vars []Interval) (y Interval, sure bool) {
	var changed uint64
	if f.last != nil && len(f.last) == len(vars) {
		for v := range vars {
			if !vars[v].same(f.last[v]) {
				changed |= bitOf(v)
				f.last[v] = vars[v]
			}
		}
	} else {
		changed, f.last = ^uint64(0), append([]Interval{}, vars...)
	}
	return f.evaluate(changed, vars, nil)
}

// interval is Interval, which applies after to the result of every arithmetic primitive.
func (f *Func) interval(vars []Interval, after func(Interval) Interval) (y Interval, sure bool) {
	f.last = nil
	return f.evaluate(^uint64(0), vars, after)
}

// evaluate evaluates what depends on one of the variables that have changed.
func (f *Func) evaluate(changed uint64, vars []Interval, after func(Interval) Interval) (y Interval, sure bool) {
	s := f.slots
	for i := range f.code {
		in := &f.code[i]
		if in.of&changed == 0 {
			continue
		}
		switch in.op {
		case constant:
			s[i] = in.e.ci
		case variable:
			s[i] = vars[in.e.v]
		case add:
			s[i] = s[in.a].Add(s[in.b])
		case sub:
			s[i] = s[in.a].Sub(s[in.b])
		case mul:
			if in.a == in.b {
				s[i] = square(s[in.a])
			} else {
				s[i] = s[in.a].Mul(s[in.b])
			}
		case gate:
			s[i] = s[in.a].Mul(s[in.b])
		case div:
			s[i] = s[in.a].Div(s[in.b])
		case neg:
			s[i] = s[in.a].Neg()
		case abs:
			s[i] = s[in.a].Abs()
		case minimum:
			s[i] = s[in.a].Min(s[in.b])
		case maximum:
			s[i] = s[in.a].Max(s[in.b])
		case sqrt:
			s[i] = s[in.a].Sqrt()
		case exp:
			s[i] = expInterval(s[in.a])
		case log:
			if s[i] = logInterval(s[in.a]); in.soft >= 0 && after == nil {
				s[i] = softplusInterval(s[in.soft])
			}
		case erf:
			s[i] = erfInterval(s[in.a])
		case sin:
			s[i] = sinInterval(s[in.a])
		case cos:
			s[i] = cosInterval(s[in.a])
		case atan:
			s[i] = atanInterval(s[in.a])
		case atLeast:
			s[i] = s[in.a].atLeast(s[in.b])
		case powerBelow:
			s[i] = s[in.a].powerBelow()
		case round:
			s[i] = Interval{in.e.mode.round(s[in.a].Lo), in.e.mode.round(s[in.a].Hi)}
		default:
			panic("real: invalid primitive")
		}
		if after != nil && in.op.rounds() {
			s[i] = after(s[i])
		}
	}
	sure = true
	for _, i := range f.rounds {
		sure = sure && s[i].Point()
	}
	return s[len(s)-1], sure
}

// decides reports whether a primitive gives one of several values, of which an interval may leave open which.
func (p Prim) decides() bool { return p == atLeast || p == powerBelow || p == round }

// rounds reports whether floating point rounds the result of a primitive.
func (p Prim) rounds() bool {
	switch p {
	case add, sub, mul, div, sqrt, exp, log, erf, sin, cos, atan:
		return true
	}
	return false
}

func square(x Interval) Interval {
	x = x.Abs()
	return Interval{mulPt(x.Lo, x.Lo).Lo, mulPt(x.Hi, x.Hi).Hi}
}

// Equal reports whether two expressions are written alike, constants by value.
func (e *Expr) Equal(o *Expr) bool { return e.equal(o, map[[2]*Expr]bool{}) }

// equal keeps the pairs already found alike: parts that are shared are compared once, not once per path to them.
func (e *Expr) equal(o *Expr, alike map[[2]*Expr]bool) bool {
	if e == o || alike[[2]*Expr{e, o}] {
		return true
	}
	if e == nil || o == nil || e.op != o.op || e.v != o.v || e.mode != o.mode || (e.c != nil && e.c.Cmp(o.c) != 0) {
		return false
	}
	if !e.args[0].equal(o.args[0], alike) || !e.args[1].equal(o.args[1], alike) {
		return false
	}
	alike[[2]*Expr{e, o}] = true
	return true
}
