package delay

import "sync"

// delays holds a family's delays by operation and by unit, in the form in which they are looked up.
type delays struct {
	ops   [ops]curve
	units [units]unit
}

// A unit is a component with registers inside: its result comes that many clocks after its operands. in and out are the
// ns that it takes of its first and its last stage.
type unit struct {
	clocks  int
	in, out float64
}

// A curve gives a delay in ns by bits. It has knots of increasing bits, is linear between them, and constant outside.
type curve []knot

type knot struct {
	bits int
	ns   float64
}

func (c curve) at(bits int) float64 {
	if bits <= c[0].bits {
		return c[0].ns
	}
	for i := 1; i < len(c); i++ {
		if a, b := c[i-1], c[i]; bits <= b.bits {
			return a.ns + (b.ns-a.ns)*float64(bits-a.bits)/float64(b.bits-a.bits)
		}
	}
	return c[len(c)-1].ns
}

// built returns the delays of every family: the least, the expected and the largest. It computes them at the first
// call.
var built = sync.OnceValue(func() map[DelayFamily]map[DelayRangeEnd]*delays {
	all := map[DelayFamily]map[DelayRangeEnd]*delays{}
	for _, f := range []DelayFamily{FamilySeries7, FamilyUltraScale, FamilyVersal} {
		all[f] = map[DelayRangeEnd]*delays{}
		for _, b := range []DelayRangeEnd{DelayRangeMin, DelayRangeExpected, DelayRangeMax} {
			all[f][b] = build(f, b)
		}
	}
	return all
})

func tables(f DelayFamily, b DelayRangeEnd) *delays {
	all := built()
	if of, ok := all[f]; ok {
		return of[b]
	}
	return all[FamilyUltraScale][b]
}

// spread returns the possible error of an entry whose source has this grade, as a share of the entry's value.
func (g SourceReliability) spread() float64 {
	return [...]float64{gradeGuess: 0.4, gradeDataSheet: 0.25, gradeMeasured: 0.15}[g]
}

func build(f DelayFamily, b DelayRangeEnd) *delays {
	d := &delays{}
	for _, e := range OpDelaysOf(f) {
		off := 1 + float64(b)*e.Grade.spread()
		d.ops[e.Op] = append(d.ops[e.Op], knot{e.Bits, e.NS * off})
	}
	for _, u := range UnitTimingsOf(f) {
		off := 1 + float64(b)*u.Grade.spread()
		d.units[u.Unit] = unit{u.Clocks, u.In * off, u.Out * off}
	}
	return d
}
