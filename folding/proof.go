package folding

import (
	"fmt"
	"strings"
)

// A Proof is the certificate of a search: what is known of all foldings in the space, and why. The space is every choice
// of one fold per layer out of Options, with the width converters that it needs.
type Proof struct {
	Options     int // legal folds, summed over the layers
	Unavailable int // of these: what the device cannot build, or the folding file rules out
	// Interval is reached, and no folding within the budget has a shorter one than Floor. They are equal where the
	// shortest interval was asked for and is proved.
	Interval, Floor int
	// Below says what became of the options at the longest interval below Floor; nil where no layer offers one, or
	// where the shortest interval was not asked for.
	Below *Pruned
	// Bounds are what was minimised at the interval, in order.
	Bounds []Bound
	// Latency is the clocks to the first frame's end; nil where they were not minimised.
	Latency *Latency
	Labels  int  // partial foldings that were compared
	Cut     bool // an end of the effort, or Goal.SearchTime, cut the search
}

// A Latency is clocks from the first word of a frame to its last word at the outputs, and what no folding within the
// budget and the interval goes below.
type Latency struct{ Clocks, Least int }

// A Pruned tells why no folding keeps an interval within the budget: for each option, the first reason why it cannot be
// in one.
type Pruned struct {
	Interval  int
	TooSlow   int        // takes more clocks
	Dominated int        // another option of the same words takes no more of anything
	Unjoined  int        // no width converter joins it to any option of a neighbour
	Alone     [kinds]int // by kind: with it the rest of the network takes more of this kind than the budget
	Together  int        // weighing the kinds against each other proves that with it they do not all suffice
	Compared  int        // every combination of what is left was compared
}

// By is Alone with the names of the kinds, without those that exclude nothing.
func (p *Pruned) By() map[string]int {
	by := map[string]int{}
	for k, n := range p.Alone {
		if n > 0 {
			by[names[k]] = n
		}
	}
	return by
}

// Exact reports whether nothing is better: in interval, and in each measure after it.
func (p *Proof) Exact() bool {
	if p.Floor != p.Interval || p.Latency != nil && p.Latency.Least != p.Latency.Clocks {
		return false
	}
	for _, b := range p.Bounds {
		if b.Least != b.Value {
			return false
		}
	}
	return true
}

// effort says what there was to choose from, and whether the search could look at all that it had to.
func (p *Proof) effort() string {
	text := fmt.Sprintf("%d options, one per layer to choose", p.Options)
	if p.Unavailable > 0 {
		text = fmt.Sprintf("of %d options the device and the folding file leave %d, one per layer to choose", p.Options, p.Options-p.Unavailable)
	}
	if p.Cut {
		text += "; the search was ended before all was proved"
	}
	return text
}

// String says in a few lines what is proved and what is left open.
func (p *Proof) String() string {
	var lines []string
	switch {
	case p.Below != nil && p.Floor == p.Interval:
		lines = append(lines, fmt.Sprintf("no folding of these layers within the budget takes fewer than %s per frame: %s", clocks(p.Floor), p.Below))
	case p.Below != nil:
		lines = append(lines, fmt.Sprintf("%s per frame found, none below %d possible: %s", clocks(p.Interval), p.Floor, p.Below))
	case p.Floor < p.Interval:
		lines = append(lines, fmt.Sprintf("%s per frame found, none below %d possible", clocks(p.Interval), p.Floor))
	}
	for _, b := range p.Bounds {
		lines = append(lines, b.String())
	}
	if l := p.Latency; l != nil {
		lines = append(lines, fmt.Sprintf("latency %d clocks, %s", l.Clocks, gap(float64(l.Clocks), float64(l.Least), fmt.Sprint(l.Least))))
	}
	return strings.Join(lines, "\n")
}

func (b Bound) String() string {
	if b.Measure == LeastLoad {
		return fmt.Sprintf("load %.3f %% of the budget, %s", 100*b.Value, gap(b.Value, b.Least, fmt.Sprintf("%.3f %%", 100*b.Least)))
	}
	return fmt.Sprintf("%d %s, %s", int(b.Value), b.Measure, gap(b.Value, b.Least, fmt.Sprint(int(b.Least))))
}

// gap says how far a value is from what is proved.
func gap(value, least float64, text string) string {
	if value == least {
		return "the least there is"
	}
	return fmt.Sprintf("at most %.2f %% above the least there is (no less than %s)", 100*(value-least)/max(least, 1e-9), text)
}

// String lists the reasons: "of 486 options for 63 clocks, 300 are too slow, 120 dominated, 66 excluded by LUT".
func (p *Pruned) String() string {
	var parts []string
	add := func(n int, text string) {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, text))
		}
	}
	add(p.TooSlow, "too slow")
	add(p.Dominated, "dominated")
	add(p.Unjoined, "without a width converter")
	n := p.TooSlow + p.Dominated + p.Unjoined + p.Together + p.Compared
	for k, m := range p.Alone {
		add(m, "excluded by "+names[k])
		n += m
	}
	add(p.Together, "excluded by several resources together")
	add(p.Compared, "compared in every combination")
	return fmt.Sprintf("at %s, of %d options %s", clocks(p.Interval), n, strings.Join(parts, ", "))
}

// proof gathers what the search knows of the interval and of the best folding there.
func (s *space) proof(f fastest, o *optimum) Proof {
	p := Proof{Bounds: o.bounds, Labels: s.labels, Cut: s.cut}
	for i := range s.layers {
		l := &s.layers[i]
		p.Options += len(l.folds)
		p.Unavailable += len(l.folds) - len(l.options)
		p.Interval = max(p.Interval, l.options[o.options[i]].iterations)
	}
	p.Floor = p.Interval
	if f.searched {
		p.Floor = f.bound
	}
	if f.excluded > 0 {
		p.Below = s.at(f.excluded).pruned(s.budget)
	}
	return p
}

// pruned gives every option the first reason why it cannot be in a folding of the tree within caps.
func (t *tree) pruned(caps vector) *Pruned {
	p := &Pruned{Interval: t.interval}
	if t.excluder(caps) == nil {
		t.relax(caps)
	}
	for k := range t.single {
		t.around(&t.single[k])
	}
	for i := range t.prices {
		t.around(&t.prices[i])
	}
	for i := range t.plan {
		tb := &t.plan[i]
		if tb.layer < 0 {
			continue
		}
		fast, kept := 0, 0
		for _, o := range t.layers[tb.layer].options {
			if o.iterations <= t.interval {
				fast++
			}
		}
		p.TooSlow += len(t.layers[tb.layer].options) - fast
		for r, g := range t.groups[i] {
			kept += len(g)
			for k := range g {
				t.reason(p, g[k].cost, caps, i, r)
			}
		}
		p.Dominated += fast - kept
	}
	return p
}

// reason counts a choice of a leaf's row.
func (t *tree) reason(p *Pruned, cost, caps vector, table, row int) {
	if t.single[0].rest[table][row] >= never {
		p.Unjoined++
		return
	}
	for k := range t.single {
		if cost[k]+t.single[k].rest[table][row] > caps[k] {
			p.Alone[k]++
			return
		}
	}
	for i := range t.prices {
		if q := &t.prices[i]; q.unit.dot(cost)+q.rest[table][row] > q.unit.dot(caps) {
			p.Together++
			return
		}
	}
	p.Compared++
}
