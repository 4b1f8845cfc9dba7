package search

// A Reason is how many choices of a leaf are in no solution within caps, and why: the first of these that holds.
type Reason struct {
	Impossible int        // in no solution
	Alone      [Kinds]int // the rest takes more of this kind than the caps leave
	Together   int        // a price of several kinds proves it
	Left       int        // no price does
}

// Explain gives the reason of every leaf, by the prices that are known.
func (t *Tree) Explain(caps Caps) []Reason {
	for i := range t.single {
		t.around(&t.single[i])
	}
	for i := range t.mixed {
		t.around(&t.mixed[i])
	}
	list := make([]Reason, t.plan.Leaves)
	for leaf := range list {
		for row, choices := range t.choices[leaf] {
			for i := range choices {
				t.explain(&list[leaf], &choices[i], &caps, leaf, row)
			}
		}
	}
	return list
}

func (t *Tree) explain(why *Reason, c *Choice, caps *Caps, leaf, row int) {
	at := t.start[leaf] + row
	if t.single[0].rest[at] >= none {
		why.Impossible++
		return
	}
	for i := range t.single {
		p := &t.single[i]
		for k := range caps.Vector {
			if p.unit.kinds[k] == 1 && c.Cost[k]+p.rest[at] > caps.Vector[k] {
				why.Alone[k]++
				return
			}
		}
	}
	capped := t.capped(*caps)
	for i := range t.mixed {
		if p := &t.mixed[i]; p.unit.of(&c.Cost, c.Paths)+p.rest[at] > t.limit(&p.unit, &capped) {
			why.Together++
			return
		}
	}
	why.Left++
}
