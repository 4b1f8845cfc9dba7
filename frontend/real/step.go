package real

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"

	"hlsgen/internal/num"
)

// ErrTooManySteps says that a function has more steps than were allowed, or that it varies so wildly that they were
// not found within maxEvaluations.
var ErrTooManySteps = errors.New("too many steps")

// maxEvaluations bounds a search. A step takes some hundred evaluations at most, unless intervals say little of the
// function: f(x)-g(x) of two steep functions is searched integer by integer. Where there are more integers than that,
// such a search ends when it has taken fewest evaluations, and so many for each step.
const (
	maxEvaluations = 1 << 22
	fewest         = 1 << 15
	perStep        = 1 << 10
)

// StepOver evaluates f, an integer-valued expression in variable 0, at every integer of r and returns it as a step
// function, exactly. Where the interval evaluation of a run of integers gives one value, the run is constant; otherwise
// fewer are tried together, and a single integer left open is decided in exact arithmetic. How many are tried first is
// guessed from the runs before. Nothing is assumed of f, neither monotony nor form. More than limit breakpoints give
// ErrTooManySteps, as does a search that would not end.
func (f *Func) StepOver(r num.Range, limit int) (num.Step, error) {
	return f.StepLike(num.Step{}, r, limit)
}

// StepLike is StepOver, and gives the same. It takes fewer evaluations where the steps are about as far from one
// another as those of like are: functions of channels often differ by a bias alone.
//
// A line that is rounded and clipped, as most quantisers are, is not searched: its steps follow from its scale.
func (f *Func) StepLike(like num.Step, r num.Range, limit int) (num.Step, error) {
	if s, ok, err := stairOf(f.code[len(f.code)-1].e, r, limit); ok {
		return s, err
	}
	b := &searcher{f: f.sharp(), limit: limit, like: like.At}
	b.endless = uint64(r.Hi)-uint64(r.Lo) > maxEvaluations
	if err := b.run(r.Lo, r.Hi); err != nil {
		return num.Step{}, err
	}
	return b.step, nil
}

// sharp is f in a form of which intervals say more: x/(1+|x|), where x is in two places, is 1/(1+max(-x,0)) -
// 1/(1+max(x,0)), where on either side of zero it is in one.
func (f *Func) sharp() *Func {
	if !slices.ContainsFunc(f.code, f.saturates) {
		return f
	}
	one, zero := Float(1), Float(0)
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

// saturates reports whether an instruction is x/(1+|x|).
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
	step  num.Step
	vars  [1]Interval
	count int // of evaluations; one in exact arithmetic counts as exactCount

	at      func(int64) float64 // what an integer stands for; nil: itself
	endless bool                // there are more integers than can be evaluated
	like    []int64             // where a function steps whose runs are about as long
}

// exactCount is about how many evaluations in float64 take as long as one in exact arithmetic.
const exactCount = 16

// spent reports whether the search is given up.
func (b *searcher) spent() bool {
	return b.count > maxEvaluations || b.endless && b.count > fewest+perStep*len(b.step.At)
}

// value is that of all integers from lo to hi, where float64 tells that it is one.
func (b *searcher) value(lo, hi int64) (v int64, ok bool) {
	b.count++
	b.vars[0] = b.between(lo, hi)
	y, _ := b.f.Interval(b.vars[:])
	return int64(y.Lo), y.Point() && math.Abs(y.Lo) < 1<<53 && y.Lo == math.Trunc(y.Lo)
}

// enclosed is the same in exact arithmetic: of a number that comes near an integer, and never reaches it, float64 sees
// that it may. Where a small number times a large one comes near, it takes more bits than most do. A Num lies strictly
// between its ends, so these are moved outwards from the numbers that lo and hi stand for.
func (b *searcher) enclosed(lo, hi int64) (v int64, ok bool) {
	for _, bits := range Precisions[:2] {
		b.count += exactCount
		end := func(x int64, dir int) *big.Float {
			v := new(big.Float).SetPrec(bits)
			if b.at != nil {
				return v.SetFloat64(math.Nextafter(b.at(x), math.Inf(dir)))
			}
			return v.Add(v.SetInt64(x), big.NewFloat(float64(dir)*0x1p-10))
		}
		y, err := b.f.Exact([]Num{{lo: end(lo, -1), hi: end(hi, +1)}}, bits)
		if err == nil && y.r != nil && y.r.IsInt() && y.r.Num().IsInt64() {
			return y.r.Num().Int64(), true
		}
	}
	return 0, false
}

// run finds the values of all integers from lo to hi, a piece at a time.
func (b *searcher) run(lo, hi int64) error {
	if v, ok := b.value(lo, hi); ok {
		return b.add(lo, v)
	}
	g := guess{start: lo, width: uint64(hi-lo)/2 + 1, probed: true, like: b.like}
	n := g.width // integers that are tried together
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

// A guess is where the value changes next: most functions have runs of one value that are about as long as the ones
// before, or as those of a function like them. Where they have not, runs are bisected.
type guess struct {
	start  int64   // of the run
	width  uint64  // of the run before, or a bit less than that of a function like this one
	like   []int64 // where such a function steps; none from the end of the run before this one on
	told   bool    // the width is from there
	probed bool    // whether another value begins right here
	halves bool    // bisect,
	grows  bool    // intervals say too little: twice as many after each success, half as many after each failure

	line   *line // which the function is likely to round; nil where none is known
	missed int   // how often it was wrong, of this run

	open    bool   // float64 does not tell the value of the integer before
	enclose uint64 // how many are enclosed together after two of these
}

// less is how many integers are tried instead of n, which have no one value that float64 tells. Where a guess was wrong
// by one, another value begins right here, or is a bit nearer than guessed.
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

// next is how many integers are tried after the n from lo on, which have one value; begins says that it is another one
// than that before them.
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
	case g.halves && !g.grows && n > 1: // what is left of those tried in vain has no one value
		return n / 2
	case g.halves:
		g.grows = true
		return min(2*n, 1<<62)
	case known < g.width:
		return g.width - known
	case g.told:
		return min(known-g.width+1, 1<<62)
	case known/2 > g.width: // much longer than the one before
		return min(known, 1<<62)
	}
	return g.width
}

// along is how many integers are tried from lo on, behind some of value v: the rest of those that the line says have
// it, or those of the next value. Where there are more of v than the line says, all the rest are tried: codes are
// clipped.
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

// tell guesses the width of the run that begins by that of a function like this one. Rounded, either end of a run may
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

// decided is the value of integer lo, which float64 does not tell, and of how many more it is that of: there may be
// many of that kind. Twice as many are enclosed next, or half as many where these have no one value: so a change that
// lies ahead is come near to in as many attempts as its distance has bits.
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
	in := []Num{Exactly(new(big.Rat).SetInt64(x))}
	if b.at != nil {
		in[0] = Exactly(new(big.Rat).SetFloat64(b.at(x)))
	}
	for _, prec := range Precisions {
		y, err := b.f.Exact(in, prec)
		if errors.Is(err, ErrPrecision) {
			continue
		}
		if err != nil {
			return 0, err
		}
		if y.r == nil || !y.r.IsInt() || !y.r.Num().IsInt64() {
			return 0, fmt.Errorf("value %v is no integer", y.Interval())
		}
		return y.r.Num().Int64(), nil
	}
	return 0, ErrPrecision
}

// between is the interval of what the integers from lo to hi stand for.
func (b *searcher) between(lo, hi int64) Interval {
	if b.at != nil {
		return Interval{b.at(lo), b.at(hi)}
	}
	return integers(lo, hi)
}

// integers is the interval around lo..hi: beyond 2^53 a float64 skips integers.
func integers(lo, hi int64) Interval {
	if -1<<53 <= lo && hi <= 1<<53 {
		return Interval{float64(lo), float64(hi)}
	}
	return Interval{around(new(big.Rat).SetInt64(lo)).Lo, around(new(big.Rat).SetInt64(hi)).Hi}
}
