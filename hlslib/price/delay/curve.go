package delay

import "sync"

// delays holds a family's entries in the form in which they are looked up.
type delays struct {
	ops   [ops]curve
	units [units]unit
}

// A unit has registers between its inputs and outputs. in and out are the ns that it takes of its first and last stage.
type unit struct {
	clocks  int
	in, out float64
}

// A curve gives ns by bits: linear between entries, and constant beyond them.
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

// built returns every family's delays at each end of the range.
var built = sync.OnceValue(func() map[DelayFamily]map[RangeEnd]*delays {
	all := map[DelayFamily]map[RangeEnd]*delays{}
	for _, f := range []DelayFamily{Series7, UltraScale, Versal} {
		all[f] = map[RangeEnd]*delays{}
		for _, b := range []RangeEnd{MinDelay, ExpectedDelay, MaxDelay} {
			all[f][b] = build(f, b)
		}
	}
	return all
})

func tables(f DelayFamily, b RangeEnd) *delays {
	all := built()
	if of, ok := all[f]; ok {
		return of[b]
	}
	return all[UltraScale][b]
}

// spread returns how far an entry may be off, as a share, by its source.
func (g SourceGrade) spread() float64 {
	return [...]float64{GradeGuess: 0.4, GradeDataSheet: 0.25, GradeMeasured: 0.15}[g]
}

func build(f DelayFamily, b RangeEnd) *delays {
	d := &delays{}
	for _, e := range OpEntries(f) {
		off := 1 + float64(b)*e.Grade.spread()
		d.ops[e.Op] = append(d.ops[e.Op], knot{e.Bits, e.NS * off})
	}
	for _, u := range UnitEntries(f) {
		off := 1 + float64(b)*u.Grade.spread()
		d.units[u.Unit] = unit{u.Clocks, u.In * off, u.Out * off}
	}
	return d
}
