package search

// A LeafExclusionCounts counts the choices of a leaf by the first reason that keeps them out of every solution within
// caps. Left counts those that none keeps out.
type LeafExclusionCounts struct {
	Impossible int // choices in no solution at all
	// per kind: choices for which the other leaves take more of the kind than the caps leave
	Alone    [maxAmountKinds]int
	Together int // choices that a price of several kinds excludes
	Left     int // choices that no price excludes
}

// ExplainExclusions returns for each leaf why its choices are in no solution within caps, as far as the known prices
// prove it.
func (t *ChoiceTree) ExplainExclusions(caps Caps) []LeafExclusionCounts {
	for i := range t.single {
		t.around(&t.single[i])
	}
	for i := range t.mixed {
		t.around(&t.mixed[i])
	}
	list := make([]LeafExclusionCounts, t.plan.Leaves)
	for leaf := range list {
		for row, choices := range t.choices[leaf] {
			for i := range choices {
				t.explain(&list[leaf], &choices[i], &caps, leaf, row)
			}
		}
	}
	return list
}

func (t *ChoiceTree) explain(why *LeafExclusionCounts, c *LeafChoice, caps *Caps, leaf, row int) {
	at := t.start[leaf] + row
	if t.single[0].rest[at] >= none {
		why.Impossible++
		return
	}
	for i := range t.single {
		p := &t.single[i]
		for k := range caps.AmountVector {
			if p.unit.kinds[k] == 1 && c.Cost[k]+p.rest[at] > caps.AmountVector[k] {
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
