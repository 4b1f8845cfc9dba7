package real

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"

	"hlsgen/internal/num"
)

// ErrTooManySteps is the error for a function that has more steps than the limit, or whose steps the search did not
// find within maxEvaluations.
var ErrTooManySteps = errors.New("too many steps")

// maxEvaluations bounds the number of evaluations in a search. A step takes some hundred evaluations, unless intervals
// say little of the function: f(x)-g(x) with two steep functions is searched integer by integer. If there are more
// integers than maxEvaluations, the search also ends after fewest evaluations plus perStep for each step found.
const (
	maxEvaluations = 1 << 22
	fewest         = 1 << 15
	perStep        = 1 << 10
)

// StepFunctionOver evaluates f, an integer-valued expression in variable 0, at every integer of r and returns the exact
// step function. f need not be monotonic. It tries runs of integers by interval arithmetic, and single ones that stay
// undecided in exact arithmetic. It returns ErrTooManySteps if there are more than limit breakpoints or the search does
// not end in time, and other errors if f has no value or no integer somewhere.
func (f *Func) StepFunctionOver(r num.Range, limit int) (num.StepFunction, error) {
	return f.StepFunctionLike(num.StepFunction{}, r, limit)
}

// StepFunctionLike returns the same result as StepFunctionOver. It takes fewer evaluations if the distances between f's
// steps resemble those of like. Functions of different channels often differ by a bias alone.
//
// A line that is rounded and clipped, as in most quantisers, needs no search: its steps follow from its scale.
func (f *Func) StepFunctionLike(like num.StepFunction, r num.Range, limit int) (num.StepFunction, error) {
	if s, ok, err := stairOf(f.code[len(f.code)-1].e, r, limit); ok {
		return s, err
	}
	b := &searcher{f: f.sharp(), limit: limit, like: like.At}
	b.endless = uint64(r.Hi)-uint64(r.Lo) > maxEvaluations
	if err := b.run(r.Lo, r.Hi); err != nil {
		return num.StepFunction{}, err
	}
	return b.step, nil
}

// sharp returns f in a form with narrower interval results. x/(1+|x|), in which x occurs twice, becomes 1/(1+max(-x,0))
// - 1/(1+max(x,0)), in which only one occurrence of x matters on either side of zero.
func (f *Func) sharp() *Func {
	if !slices.ContainsFunc(f.code, f.saturates) {
		return f
	}
	one, zero := ConstantExprOfFloat(1), ConstantExprOfFloat(0)
	made := make([]*Expr, len(f.code))
	for i, in := range f.code {
		e := *in.e
		for k, slot := range []int{in.a, in.b} {
			if e.args[k] != nil {
				e.args[k] = made[slot]
			}
		}
		if made[i] = &e; f.saturates(in) {
			x := made[in.a]
			made[i] = Sub(Div(one, Add(one, Max(Neg(x), zero))), Div(one, Add(one, Max(x, zero))))
		}
	}
	return Compile(made[len(made)-1])
}

// saturates reports whether the instruction in computes x/(1+|x|).
func (f *Func) saturates(in instr) bool {
	if in.op != div || f.code[in.b].op != add {
		return false
	}
	a, b := f.code[f.code[in.b].a], f.code[f.code[in.b].b]
	if a.op != constant {
		a, b = b, a
	}
	return a.op == constant && a.e.c.Cmp(big.NewRat(1, 1)) == 0 && b.op == abs && b.a == in.a
}

type searcher struct {
	f     *Func
	limit int
	step  num.StepFunction
	vars  [1]Interval
	count int // the number of evaluations; an exact one counts as exactCount

	at      func(int64) float64 // the number that an integer stands for; nil for the integer itself
	endless bool                // there are more integers than maxEvaluations
	like    []int64             // the steps of a function with runs of similar lengths
}

// exactCount is the number of float64 evaluations that take about as long as one in exact arithmetic.
const exactCount = 16

// spent reports whether the search has used up its evaluations.
func (b *searcher) spent() bool {
	return b.count > maxEvaluations || b.endless && b.count > fewest+perStep*len(b.step.At)
}

// value returns the value that f has at all integers from lo to hi. ok is false if float64 intervals do not show that
// there is only one.
func (b *searcher) value(lo, hi int64) (v int64, ok bool) {
	b.count++
	b.vars[0] = b.between(lo, hi)
	y, _ := b.f.EvaluateInterval(b.vars[:])
	return int64(y.Lo), y.IsPoint() && math.Abs(y.Lo) < 1<<53 && y.Lo == math.Trunc(y.Lo)
}

// enclosed is like value, but uses exact arithmetic. It decides a result that comes near an integer without reaching
// it, which float64 cannot tell from the integer. Products of small and large numbers need more bits than others. A Num
// lies strictly between its ends, so enclosed moves the numbers of lo and hi outwards.
func (b *searcher) enclosed(lo, hi int64) (v int64, ok bool) {
	for _, bits := range WorkingPrecisionBits[:2] {
		b.count += exactCount
		end := func(x int64, dir int) *big.Float {
			v := new(big.Float).SetPrec(bits)
			if b.at != nil {
				return v.SetFloat64(math.Nextafter(b.at(x), math.Inf(dir)))
			}
			return v.Add(v.SetInt64(x), big.NewFloat(float64(dir)*0x1p-10))
		}
		y, err := b.f.EvaluateExactly([]Num{{lo: end(lo, -1), hi: end(hi, +1)}}, bits)
		if err == nil && y.r != nil && y.r.IsInt() && y.r.Num().IsInt64() {
			return y.r.Num().Int64(), true
		}
	}
	return 0, false
}

// run finds the values of f at all integers from lo to hi, a run of equal values at a time. The error is that of
// StepFunctionOver.
func (b *searcher) run(lo, hi int64) error {
	if v, ok := b.value(lo, hi); ok {
		return b.add(lo, v)
	}
	g := guess{start: lo, width: uint64(hi-lo)/2 + 1, probed: true, like: b.like}
	n := g.width // how many integers are tried together
	if len(b.like) == 0 {
		if g.line = b.fit(lo, hi); g.line != nil {
			if v, ok := b.value(lo, lo); ok {
				n = g.line.count(lo, v)
			}
		}
	}
	for {
		if b.spent() {
			return ErrTooManySteps
		}
		if n > uint64(hi-lo) {
			n = uint64(hi-lo) + 1
		}
		v, ok := b.value(lo, lo+int64(n-1))
		if !ok && n > 1 {
			n = g.less(n)
			continue
		}
		g.open = !ok
		if ok {
			g.enclose = 0
		} else {
			var err error
			if v, n, err = b.decided(&g, lo, hi); err != nil {
				return err
			}
		}
		begins := len(b.step.Value) > 0 && b.step.Value[len(b.step.Value)-1] != v
		if err := b.add(lo, v); err != nil {
			return err
		}
		if n > uint64(hi-lo) {
			return nil
		}
		at := lo
		lo += int64(n)
		if n = g.next(at, n, begins); g.line != nil && !g.open && !g.halves {
			n = g.along(lo, v)
		}
	}
}

// A guess predicts where the value changes next. In most functions a run is about as long as the one before it, or as
// the corresponding run of a similar function. Otherwise the end of a run is found by bisection.
type guess struct {
	start  int64   // the first integer of the current run
	width  uint64  // the length of the run before, or slightly less than that of a similar function's run
	like   []int64 // the remaining steps of a similar function; empty if there is none
	told   bool    // width comes from like
	probed bool    // the search has tested whether the value changes at this integer
	halves bool    // bisect
	grows  bool    // after each success twice as many integers are tried, after each failure half as many

	line   *line // the line that the function probably rounds; nil if unknown
	missed int   // how often the line was wrong in this run

	open    bool   // float64 did not determine the value of the integer before
	enclose uint64 // how many integers the next exact evaluation covers
}

// less returns how many integers to try after a trial of n integers did not show a single value. If a prediction was
// off by one, the value changes at this integer, or one integer earlier than predicted.
func (g *guess) less(n uint64) uint64 {
	if g.line != nil && !g.halves && g.missed < 2 {
		if g.missed++; g.missed == 1 {
			return n - 1
		}
		return 1
	}
	if !g.probed && !g.halves {
		g.probed = true
		return 1
	}
	g.halves = true
	return n / 2
}

// next returns how many integers to try after the n integers from lo on, which have one value. begins says that this
// value differs from the one before lo.
func (g *guess) next(lo int64, n uint64, begins bool) uint64 {
	if begins {
		g.width, g.start, g.halves, g.grows, g.missed = uint64(lo-g.start), lo, false, false, 0
		g.tell()
	}
	g.probed = g.probed && n == 1
	known := uint64(lo-g.start) + n
	switch {
	case g.open:
		return 1
	case g.halves && !g.grows && n > 1: // the rest of a failed trial does not have a single value
		return n / 2
	case g.halves:
		g.grows = true
		return min(2*n, 1<<62)
	case known < g.width:
		return g.width - known
	case g.told:
		return min(known-g.width+1, 1<<62)
	case known/2 > g.width: // the run is much longer than the one before
		return min(known, 1<<62)
	}
	return g.width
}

// along returns how many integers to try from lo on, after integers with value v. It returns the rest of the integers
// that the line rounds to v, or the number that it rounds to the next value. If there are more integers with value v
// than the line predicts, the codes are clipped, and along returns all the rest.
func (g *guess) along(lo, v int64) uint64 {
	all, known := g.line.count(g.start, v), uint64(lo-g.start)
	switch {
	case known < all:
		return all - known
	case known <= all+1:
		return g.line.count(lo, g.line.next(v))
	}
	g.missed = 2
	return 1 << 62
}

// tell predicts the length of the new run from a similar function's run. Because of rounding, either end of a run may
// be off by one.
func (g *guess) tell() {
	if g.told = len(g.like) > 0; !g.told {
		return
	}
	if g.width = 1 << 62; len(g.like) > 1 {
		g.width = uint64(max(g.like[1]-g.like[0]-1, 1))
	}
	g.like = g.like[1:]
}

// decided returns the value of integer lo, which float64 does not determine, and the number n of integers from lo on
// that have it. After a success the next exact evaluation covers twice as many integers, after a failure half as many.
// So the search reaches a change in about as many attempts as its distance has bits.
func (b *searcher) decided(g *guess, lo, hi int64) (v int64, n uint64, err error) {
	for g.enclose = min(g.enclose, uint64(hi-lo)+1); g.enclose > 1; g.enclose /= 2 {
		if v, ok := b.enclosed(lo, lo+int64(g.enclose-1)); ok {
			n, g.enclose = g.enclose, 2*g.enclose
			return v, n, nil
		}
		if b.spent() {
			return 0, 0, ErrTooManySteps
		}
	}
	if v, err = b.exact(lo); err != nil {
		return 0, 0, fmt.Errorf("at %d: %w", lo, err)
	}
	g.enclose = 2
	return v, 1, nil
}

func (b *searcher) add(from, value int64) error {
	n := len(b.step.Value)
	switch {
	case n == 0:
		b.step.Value = append(b.step.Value, value)
	case b.step.Value[n-1] != value:
		if n > b.limit {
			return ErrTooManySteps
		}
		b.step.At, b.step.Value = append(b.step.At, from), append(b.step.Value, value)
	}
	return nil
}

func (b *searcher) exact(x int64) (int64, error) {
	b.count += exactCount
	in := []Num{NumberOfRational(new(big.Rat).SetInt64(x))}
	if b.at != nil {
		in[0] = NumberOfRational(new(big.Rat).SetFloat64(b.at(x)))
	}
	for _, prec := range WorkingPrecisionBits {
		y, err := b.f.EvaluateExactly(in, prec)
		if errors.Is(err, ErrInsufficientPrecision) {
			continue
		}
		if err != nil {
			return 0, err
		}
		if y.r == nil || !y.r.IsInt() || !y.r.Num().IsInt64() {
			return 0, fmt.Errorf("value %v is no integer", y.FloatInterval())
		}
		return y.r.Num().Int64(), nil
	}
	return 0, ErrInsufficientPrecision
}

// between returns the interval of the numbers for which the integers from lo to hi stand.
func (b *searcher) between(lo, hi int64) Interval {
	if b.at != nil {
		return Interval{b.at(lo), b.at(hi)}
	}
	return integers(lo, hi)
}

// integers returns the smallest float64 interval that holds lo to hi. Beyond 2^53 not every integer is a float64.
func integers(lo, hi int64) Interval {
	if -1<<53 <= lo && hi <= 1<<53 {
		return Interval{float64(lo), float64(hi)}
	}
	return Interval{around(new(big.Rat).SetInt64(lo)).Lo, around(new(big.Rat).SetInt64(hi)).Hi}
}
