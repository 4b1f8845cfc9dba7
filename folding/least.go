package folding

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// A Measure is what "least resources" means: the first thing that a search minimises at an interval. Ties are broken by
// the load, then by LUTs.
type Measure uint8

// The measures. LeastLoad is the largest share of the budget that any kind of resource takes; the others count one kind.
const (
	LeastLoad Measure = iota
	LeastLUT
	LeastFF
	LeastBRAM
	LeastURAM
	LeastDSP
)

// kind is the kind of resource that a measure counts; -1 for the load.
func (m Measure) kind() int { return int(m) - 1 }

func (m Measure) String() string {
	if m == LeastLoad {
		return "load"
	}
	return names[m.kind()]
}

// ParseMeasure reads --least: load, lut, ff, bram, uram or dsp.
func ParseMeasure(s string) (Measure, error) {
	i := slices.Index(measures, s)
	if i < 0 {
		return 0, fmt.Errorf("want %s", strings.Join(measures, ", "))
	}
	return Measure(i), nil
}

// measures are the names that ParseMeasure reads.
var measures = []string{"load", "lut", "ff", "bram", "uram", "dsp"}

// order is what is minimised, one after the other.
func (m Measure) order() []Measure {
	if m == LeastLUT || m == LeastLoad {
		return []Measure{m, LeastLoad + LeastLUT - m}
	}
	return []Measure{m, LeastLoad, LeastLUT}
}

// effort counts what a search does.
type effort struct {
	labels   int // ways to fold a part of the network that were looked at
	compared int // pairs of them
	limit    int // of the work, see done
	level    int // of the work that what is minimised now may be at
	beam     int // labels of a table that are kept at most
	deadline time.Time
	cut      bool // a limit was reached
}

// maxWork bounds the work of one search: a few seconds. It is not a time, so that the answer does not depend on the
// machine.
const maxWork = 12_000_000

// workPerSecond is what a slow machine does; with it an allowed time becomes an amount of work.
const workPerSecond = 5_000_000

// A search begins with a beam of narrowBeam, and ends beyond one of wideBeam.
const (
	narrowBeam = 400
	wideBeam   = 1 << 20
)

// begin starts to count anew.
func (e *effort) begin(allowed time.Duration) {
	*e = effort{limit: maxWork}
	if allowed > 0 {
		e.limit = max(1, int(allowed.Seconds()*workPerSecond))
		e.deadline = time.Now().Add(allowed)
	}
	e.again()
}

// again starts to count anew for one more folding of the same search.
func (e *effort) again() {
	e.labels, e.compared, e.beam, e.level = 0, 0, narrowBeam, e.limit
}

// done is the work done so far, in labels.
func (e *effort) done() int { return e.labels + e.compared/16 }

// spent reports whether the search has to end with what it has.
func (e *effort) spent() bool {
	over := e.done() > e.level || !e.deadline.IsZero() && time.Now().After(e.deadline)
	e.cut = e.cut || over
	return over
}

// A finding is what is known of the foldings of a tree within caps.
type finding struct {
	best  *folding // one, nil where none was found
	exact bool     // where best is nil: there is none; else: none takes less of the prime kind
}

// within looks for a folding within caps: among those that turned up, by prices, and where these leave it open by label.
func (t *tree) within(ctx context.Context, caps vector, prime int) (finding, error) {
	find := func() *folding { return t.leastOf(caps, prime) }
	switch {
	case !t.possible() || t.excluder(caps) != nil:
		return finding{nil, true}, nil
	case find() != nil:
		return finding{find(), false}, nil
	}
	t.relax(caps)
	switch {
	case t.excluder(caps) != nil:
		return finding{nil, true}, nil
	case find() != nil:
		return finding{find(), false}, nil
	case t.spent():
		return finding{nil, false}, nil
	case t.inner != nil:
		found, err := t.inner.within(ctx, caps, prime)
		return finding{found.best, false}, err
	}
	f, exact, err := t.label(ctx, caps, prime)
	if f != nil {
		t.keep(f)
	}
	return finding{f, exact}, err
}

// leastOf is the folding with the least of the prime kind among those within caps that turned up.
func (t *tree) leastOf(caps vector, prime int) (best *folding) {
	if t.inner != nil {
		return t.inner.leastOf(caps, prime) // those of an outer tree need not be foldings
	}
	for _, f := range t.found {
		if f.cost.within(caps) && (best == nil || t.compare(f, best, prime) < 0) {
			best = f
		}
	}
	return best
}

// compare orders foldings: the least of the prime kind, then the load, LUTs, converters, and the other kinds.
func (s *space) compare(a, b *folding, prime int) int {
	la, _ := load(a.cost, s.yard)
	lb, _ := load(b.cost, s.yard)
	return cmp.Or(
		cmp.Compare(a.cost[prime], b.cost[prime]),
		cmp.Compare(la, lb),
		cmp.Compare(a.cost[lut], b.cost[lut]),
		cmp.Compare(a.converters, b.converters),
		slices.Compare(a.cost[:], b.cost[:]),
	)
}

// value is what a folding of the cost measures.
func (s *space) value(m Measure, cost vector) float64 {
	if k := m.kind(); k >= 0 {
		return float64(cost[k])
	}
	share, _ := load(cost, s.yard)
	return share
}

// upTo is what may be taken within caps for the measure to be at most x.
func (s *space) upTo(m Measure, x float64, caps vector) vector {
	if k := m.kind(); k >= 0 {
		caps[k] = min(caps[k], int64(x))
		return caps
	}
	for k := range caps {
		caps[k] = min(caps[k], int64(x*float64(s.yard[k])))
	}
	return caps
}

// asGood is what may be taken within caps for the measure to be at most that of cost, or less for less = 1.
func (s *space) asGood(m Measure, cost vector, caps vector, less int64) vector {
	if k := m.kind(); k >= 0 {
		caps[k] = min(caps[k], cost[k]-less)
		return caps
	}
	_, kind := load(cost, s.yard)
	for k := range caps {
		amount := s.yard[k]*cost[kind] - less
		if amount < 0 {
			amount -= s.yard[kind] // round down
		}
		caps[k] = min(caps[k], amount/s.yard[kind])
	}
	return caps
}

// minimise replaces f, which is within caps, by a folding of the least measure within caps, by bisection between what is
// excluded and f. No folding measures less than bound; it is f's own measure where that is proved.
func (t *tree) minimise(ctx context.Context, m Measure, f *folding, caps vector) (best *folding, bound float64, err error) {
	low := -1.0 // the search has given up to find what measures so little
	bound = low // nothing measures so little
	part := nearest
	for first := true; ; first = false {
		high := t.value(m, f.cost)
		below := t.asGood(m, f.cost, caps, 1)
		bound = t.excluded(m, caps, bound, high)
		if low = max(low, bound); below.within(t.upTo(m, bound, caps)) || t.excluder(below) != nil {
			return f, high, nil
		}
		if t.spent() {
			return f, m.above(bound), nil
		}
		if below.within(t.upTo(m, low, caps)) {
			if t.inner != nil || t.beam > wideBeam {
				return f, m.above(bound), nil
			}
			low, t.beam, first = bound, 2*t.beam, false // once more, and more thoroughly
		}
		middle := low + (high-low)*part
		if m != LeastLoad && first || below.within(t.upTo(m, middle, caps)) {
			middle = high // the labels find the least of a kind at once; or all that is left lies above the middle
		}
		found, err := t.within(ctx, t.upTo(m, middle, caps).least(below), max(lut, m.kind()))
		switch {
		case err != nil:
			return nil, 0, err
		case found.best != nil:
			part = nearest
			if f = found.best; found.exact && m != LeastLoad {
				return f, t.value(m, f.cost), nil
			}
		case found.exact && middle == high:
			return f, high, nil
		case found.exact:
			low, bound, part = middle, middle, min(2*part, 0.5)
		case !first || m == LeastLoad:
			low, part = middle, min(2*part, 0.5)
		}
	}
}

// nearest is where minimise looks first, as a part of the way from what is excluded: prices leave few labels there.
const nearest = 1.0 / 16

// above is the least that something can measure that measures more than x.
func (m Measure) above(x float64) float64 {
	if m == LeastLoad {
		return max(0, x)
	}
	return math.Floor(x) + 1
}

// excluded is the largest measure, between two, of which prices prove that no folding within caps measures so little.
func (t *tree) excluded(m Measure, caps vector, low, high float64) float64 {
	for range 40 {
		if middle := (low + high) / 2; t.excluder(t.upTo(m, middle, caps)) != nil {
			low = middle
		} else {
			high = middle
		}
	}
	return low
}

// A Bound is one thing that a search minimised.
type Bound struct {
	Measure Measure
	Value   float64 // of the folding that was found: a share of the budget, or an amount
	Least   float64 // what every folding has at least that is as good in the measures before; Value where that is proved
}

// An optimum is the best folding that was found at an interval.
type optimum struct {
	*folding
	interval int
	bounds   []Bound
}

// optimise finds the best folding at an interval that some folding is known to keep: within the budget where fitting is
// one that is, else whatever the budget. It is nil where no converters join the layers.
func (s *space) optimise(ctx context.Context, interval int, fitting *folding, order []Measure) (*optimum, error) {
	t, caps := s.at(interval), s.budget
	if fitting == nil {
		caps = unlimited
		found, err := t.within(ctx, caps, lut)
		if err != nil || found.best == nil {
			return nil, err
		}
		fitting = found.best
	}
	o := &optimum{folding: fitting, interval: interval}
	for i, m := range order {
		// What comes first may take half of the work that is left.
		s.beam, s.level = narrowBeam, s.limit
		if i < len(order)-1 {
			s.level = (s.done() + s.limit) / 2
		}
		f, bound, err := t.minimise(ctx, m, o.folding, caps)
		if err != nil {
			return nil, err
		}
		o.folding, o.bounds = f, append(o.bounds, Bound{m, s.value(m, f.cost), bound})
		caps = s.asGood(m, f.cost, caps, 0)
	}
	return o, nil
}

// unlimited caps nothing.
var unlimited = vector{1 << 40, 1 << 40, 1 << 40, 1 << 40, 1 << 40}
