// Package real does arithmetic on real numbers. An expression (Expr) has one exact meaning. Evaluation in intervals of
// float64 is fast, but may leave a result undecided. Exact evaluation is slow, but decides: it uses rationals, and
// intervals of any precision for irrational numbers. Other functions find the form of an expression, such as
// scale*x + bias.
//
// In come expressions that package graph makes, with exact constants; out come their values and forms.
//
//   - expr.go makes and compiles expressions; rounding.go has the rounding modes
//   - interval.go evaluates in intervals of float64 and exact.go exactly; float32.go encloses the results of a float32
//     executor; infinite.go has the rules for infinities
//   - transcendental.go evaluates exponentials and logarithms; circular.go the error function, sines and arc tangents
//   - floats.go evaluates in float64, many numbers at a time; elementary.go has its functions, which give the same
//     result on every processor
//   - affine.go, linear.go, product.go and polynomial.go find forms: affine in one variable, a weighted sum, a product
//     of two, a polynomial; quantiser.go finds a rounded and clipped line; piecewise.go finds piecewise linear forms
//   - step.go makes a step function over integers, for which line.go predicts the steps; float_step.go makes a step
//     function over the numbers of a format; stairs.go caches the values of a quantiser
//   - within.go simplifies an expression for variables in given intervals; strict.go finds monotonic expressions;
//     whole.go finds expressions that are certainly integers
package real

import (
	"math"
	"math/big"
	"slices"
)

// A PrimitiveOp is a primitive operation of expressions, such as a sum, a rounding or a logarithm.
type PrimitiveOp uint8

// The primitives. The zero value is invalid.
const (
	constant PrimitiveOp = iota + 1
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
	op   PrimitiveOp
	args [2]*Expr
	c    *big.Rat     // the value of a constant
	ci   Interval     // the float64 interval around c
	v    int          // the number of a variable
	mode RoundingMode // the rounding mode of round
}

// ConstantExprOfFloat returns the constant whose value is exactly v. It panics for infinities and NaN, which no reader
// of models passes.
func ConstantExprOfFloat(v float64) *Expr {
	r := new(big.Rat).SetFloat64(v)
	if r == nil {
		panic("real: constant is not finite")
	}
	return &Expr{op: constant, c: r, ci: NewPointInterval(v)}
}

// ConstantExpr returns the constant whose value is exactly r, which must not change.
func ConstantExpr(r *big.Rat) *Expr { return &Expr{op: constant, c: r, ci: around(r)} }

// Var returns the expression that is variable number i.
func Var(i int) *Expr { return &Expr{op: variable, v: i} }

func of(op PrimitiveOp, x, y *Expr) *Expr { return &Expr{op: op, args: [2]*Expr{x, y}} }

// Add returns the expression x+y.
func Add(x, y *Expr) *Expr { return of(add, x, y) }

// Sub returns the expression x-y.
func Sub(x, y *Expr) *Expr { return of(sub, x, y) }

// Mul returns the expression x*y.
func Mul(x, y *Expr) *Expr { return of(mul, x, y) }

// Div returns the expression x/y, which has no value where y is 0.
func Div(x, y *Expr) *Expr { return of(div, x, y) }

// Neg returns the expression -x.
func Neg(x *Expr) *Expr { return of(neg, x, nil) }

// Abs returns the expression |x|.
func Abs(x *Expr) *Expr { return of(abs, x, nil) }

// Min returns the expression that is the smaller one of x and y.
func Min(x, y *Expr) *Expr { return of(minimum, x, y) }

// Max returns the expression that is the larger one of x and y.
func Max(x, y *Expr) *Expr { return of(maximum, x, y) }

// Sqrt returns the expression that is the square root of x, which has no value where x is negative.
func Sqrt(x *Expr) *Expr { return of(sqrt, x, nil) }

// Exp returns the expression that is e to the power of x.
func Exp(x *Expr) *Expr { return of(exp, x, nil) }

// Log returns the expression that is the natural logarithm of x, which has no value unless x is positive.
func Log(x *Expr) *Expr { return of(log, x, nil) }

// Erf returns the expression that is the error function of x.
func Erf(x *Expr) *Expr { return of(erf, x, nil) }

// Sin returns the expression that is the sine of x, in radians.
func Sin(x *Expr) *Expr { return of(sin, x, nil) }

// Cos returns the expression that is the cosine of x, in radians.
func Cos(x *Expr) *Expr { return of(cos, x, nil) }

// Atan returns the expression that is the arc tangent of x, in radians.
func Atan(x *Expr) *Expr { return of(atan, x, nil) }

// AtLeast returns the expression that is 1 if x >= y, and 0 otherwise.
func AtLeast(x, y *Expr) *Expr { return of(atLeast, x, y) }

// FloorPowerOfTwo returns the expression that is the greatest power of two not above |x|, and 0 if x is 0.
func FloorPowerOfTwo(x *Expr) *Expr { return of(powerBelow, x, nil) }

// Round returns the expression that is x rounded to an integer in the given way.
func Round(x *Expr, mode RoundingMode) *Expr { return &Expr{op: round, args: [2]*Expr{x}, mode: mode} }

// ZeroUnless returns the expression that is x if open is 1, and 0 if open is 0. Unlike a product it has a value if x is
// infinite.
func ZeroUnless(open, x *Expr) *Expr { return of(gate, open, x) }

// SubstituteVariables returns e with each variable i replaced by the expression with[i].
func (e *Expr) SubstituteVariables(with []*Expr) *Expr { return e.substitute(with, map[*Expr]*Expr{}) }

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

// VariableNumbers returns the numbers of the variables of e in increasing order.
func (e *Expr) VariableNumbers() []int {
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

// around returns the smallest float64 interval that holds r.
func around(r *big.Rat) Interval {
	f, exact := r.Float64()
	if exact && (f != 0 || r.Sign() == 0) { // Float64 reports an underflow to zero as exact
		return NewPointInterval(f)
	}
	back := new(big.Rat).SetFloat64(f)
	if back == nil { // r is beyond float64
		return overflow(f, 1, 1)
	}
	return outward(f, float64(r.Cmp(back)))
}

// A Func is an expression that is compiled for evaluation: a list of instructions, each with a slot for its result. The
// last slot holds the result of the expression. A Func has scratch space, so only one goroutine may use it at a time;
// Fork returns a copy for another goroutine.
type Func struct {
	code   []instr
	slots  []Interval
	rounds []int      // the instructions for which PrimitiveOp.decides holds
	last   []Interval // the variables of the last evaluation; nil if it was made in another way
}

type instr struct {
	op   PrimitiveOp
	a, b int // slots of the operands
	soft int // for a logarithm of the form ln(1+e^x), the slot of x; otherwise -1
	e    *Expr
	of   uint64 // the variables on which the result depends, as bitOf gives them, and the bit first
}

// first is a bit that the masks of all instructions have. It is set in the mask of a first evaluation, so that every
// instruction is evaluated.
const first = 1 << 63

// bitOf returns the bit of variable v in a mask. Variables from number 62 on share one bit.
func bitOf(v int) uint64 { return 1 << min(v, 62) }

// Compile returns a Func that evaluates e.
func Compile(e *Expr) *Func {
	f := &Func{code: make([]instr, 0, 32)} // most expressions have fewer instructions
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

// softplus returns x if e has the form ln(1+e^x), and nil otherwise. A caller can compute that form even if e^x exceeds
// all bounds: the result is slightly above x.
func (e *Expr) softplus() *Expr {
	if e.op != log || e.args[0] == nil || e.args[0].op != add { // a logarithm may lack its sum in an empty expression
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

// InstructionHash returns the FNV-1a hash of f's instructions. Funcs that are compiled from equal expressions have
// equal hashes; other Funcs rarely do.
func (f *Func) InstructionHash() uint64 {
	h := uint64(0xcbf29ce484222325)
	for _, in := range f.code {
		for _, v := range []uint64{uint64(in.op), uint64(in.a), uint64(in.b), uint64(in.e.v), uint64(in.e.mode),
			math.Float64bits(in.e.ci.Lo), math.Float64bits(in.e.ci.Hi)} {
			h = (h ^ v) * 0x100000001b3
		}
	}
	return h
}

// Fork returns a Func of the same expression that another goroutine may use at the same time.
func (f *Func) Fork() *Func {
	return &Func{code: f.code, slots: make([]Interval, len(f.code)), rounds: f.rounds}
}

// EvaluateInterval returns an interval that holds the value of f for variables that lie in vars. sure is false if a
// rounding inside has more than one possible outcome; the interval then holds all of them. An instruction is evaluated
// again only if one of its variables has changed since the last call.
func (f *Func) EvaluateInterval(vars []Interval) (y Interval, sure bool) {
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

// interval is like EvaluateInterval, but applies after to the result of every arithmetic primitive.
func (f *Func) interval(vars []Interval, after func(Interval) Interval) (y Interval, sure bool) {
	f.last = nil
	return f.evaluate(^uint64(0), vars, after)
}

// evaluate evaluates those instructions that depend on a variable in the mask changed, and returns the result of f as
// EvaluateInterval does.
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
			s[i] = s[in.a].sub(s[in.b])
		case mul:
			if in.a == in.b {
				s[i] = square(s[in.a])
			} else {
				s[i] = s[in.a].Mul(s[in.b])
			}
		case gate:
			s[i] = s[in.a].Mul(s[in.b])
		case div:
			s[i] = s[in.a].div(s[in.b])
		case neg:
			s[i] = s[in.a].neg()
		case abs:
			s[i] = s[in.a].abs()
		case minimum:
			s[i] = s[in.a].min(s[in.b])
		case maximum:
			s[i] = s[in.a].max(s[in.b])
		case sqrt:
			s[i] = s[in.a].sqrt()
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
		sure = sure && s[i].IsPoint()
	}
	return s[len(s)-1], sure
}

// decides reports whether p gives discrete values, so that an interval argument may leave several of them possible.
func (p PrimitiveOp) decides() bool { return p == atLeast || p == powerBelow || p == round }

// rounds reports whether floating-point arithmetic rounds the result of p.
func (p PrimitiveOp) rounds() bool {
	switch p {
	case add, sub, mul, div, sqrt, exp, log, erf, sin, cos, atan:
		return true
	}
	return false
}

func square(x Interval) Interval {
	x = x.abs()
	return Interval{mulPt(x.Lo, x.Lo).Lo, mulPt(x.Hi, x.Hi).Hi}
}

// HasSameForm reports whether two expressions have the same form, with equal constants.
func (e *Expr) HasSameForm(o *Expr) bool { return e.equal(o, map[[2]*Expr]bool{}) }

// equal implements HasSameForm. alike caches the pairs found equal, so that shared subexpressions are compared once,
// not once per path to them.
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
