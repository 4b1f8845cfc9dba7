// Package search finds the best choice for each part of a whole, such that neighbouring parts fit together and all
// choices stay within caps. In come a JoinPlan, Choices and Caps; out come Solutions. One measure of a solution is to
// be as small as possible: the package proves that no solution measures less, or says how far the result may be from
// the best. It knows nothing of hardware: amounts are vectors of integers, and parts are leaves of a tree of tables.
//
// A JoinPlan is the tree. A leaf is one part: a table with a row for each way to meet its neighbours. A join is a part
// made of two parts, with the pairs of their rows that fit together. The last table is the whole, with one row. This is
// the elimination of variables from a constraint network (R. Dechter, Bucket elimination, 1999). A ChoiceTree is a plan
// with the choices of each leaf's rows. For example, two leaves fit together if their rows are equal, and the caps are
// 7 and 7:
//
//		leaf 0, row 0: (1, 6)          leaf 1, row 0: (2, 2)
//		        row 1: (5, 1), (3, 3)          row 1: (3, 3), (1, 5)
//
//	  - Prices (price.go; Lagrangian relaxation: M. L. Fisher 1981) turn vectors into numbers. At a price of 1 and 1
//	    the cheapest whole costs 10 = (3,3)+(1,5), less than 11 = (1,6)+(2,2). So every whole costs at least 10, and
//	    nothing is within caps of 4 and 4. The best prices are the optimum of a game of prices against choices
//	    (game.go), to which one choice is added at a time (column generation: P. C. Gilmore and R. E. Gomory 1961).
//	  - The least cost of the other parts excludes single choices. Row 0 of leaf 0 needs 6 of the second kind, and
//	    row 0 of leaf 1 needs 2 more: 8 exceeds the cap. withoutExcludedChoices removes them.
//	  - Labels (label.go; Pareto labels, as in shortest paths with resources: M. Desrochers and F. Soumis 1988)
//	    carry all ways to choose for a part from the leaves to the whole. A label is dropped if another one beats it,
//	    or if nothing can complete it within the caps. Row 1 with row 1 has four ways, (8, 4), (6, 6), (6, 6) and
//	    (4, 8), of which a single (6, 6) is left.
//	  - If there are too many labels, the choices of one leaf are halved, and both halves are searched
//	    (branch.go; branch and bound: A. H. Land and A. G. Doig 1960), each with prices of its own.
//
// search.go declares these types. minimise.go looks for the least of an Objective. parts.go holds the choices, and
// columns.go their amounts by kind. The items above are in price.go, game.go, reduce.go, label.go with digest.go, and
// branch.go. room.go holds memory for reuse. explain.go says why a choice is in no solution. The package imports
// nothing of this module.
//
// Paths are a second sort of amounts. There may be any number of them, they share one cap, and the measure may be the
// longest of them. A tree with paths uses no labels.
package search

import (
	"cmp"
	"math"
	"slices"
)

// maxAmountKinds is the most kinds of amounts, not counting paths.
const maxAmountKinds = 9

// An AmountVector holds an amount of each kind of resource, which the caller numbers. Unused kinds are 0.
type AmountVector [maxAmountKinds]int64

// Plus returns v + o, kind by kind.
func (v AmountVector) Plus(o AmountVector) AmountVector {
	for i := range v {
		v[i] += o[i]
	}
	return v
}

// Minus returns v - o, kind by kind.
func (v AmountVector) Minus(o AmountVector) AmountVector {
	for i := range v {
		v[i] -= o[i]
	}
	return v
}

// IsWithin reports whether v takes at most as much as o of every kind of resource.
func (v *AmountVector) IsWithin(o *AmountVector) bool {
	for i := range v {
		if v[i] > o[i] {
			return false
		}
	}
	return true
}

// minPerKind returns the smaller of the two amounts of each kind.
func (v AmountVector) minPerKind(o AmountVector) AmountVector {
	for i := range v {
		v[i] = min(v[i], o[i])
	}
	return v
}

func (v *AmountVector) dot(o *AmountVector) int64 {
	sum := int64(0)
	for i := range v {
		sum += v[i] * o[i]
	}
	return sum
}

// NoCap is a cap so large that it never binds. The sum of two does not overflow at any price.
const NoCap = int64(1) << 40

// Caps holds the most that a solution may take of each kind, and of each path.
type Caps struct {
	AmountVector
	Path int64
}

// UnlimitedCaps holds caps that never bind: NoCap for every kind and for the paths.
var UnlimitedCaps = func() Caps {
	var v AmountVector
	for i := range v {
		v[i] = NoCap
	}
	return Caps{v, NoCap}
}()

// minPerKind returns the smaller cap of each kind and of the paths.
func (c Caps) minPerKind(o Caps) Caps {
	return Caps{c.AmountVector.minPerKind(o.AmountVector), min(c.Path, o.Path)}
}

// isWithin reports whether no cap of c exceeds that of o.
func (c *Caps) isWithin(o *Caps) bool {
	return c.AmountVector.IsWithin(&o.AmountVector) && c.Path <= o.Path
}

// A JoinPlan lists tables: first leaves, then joins of two earlier tables. The last table is the whole, with one row.
type JoinPlan struct {
	Tables []PlanTable
	Leaves int // the number of leaves; they come first
}

// A PlanTable is a leaf, or a join of two tables.
type PlanTable struct {
	Left, Right int // the tables that a join joins; -1 for a leaf
	Rows        int
	First       []int32 // for a join: the pairs of row i are Pairs[First[i]:First[i+1]]
	Pairs       []RowPair
}

// pairs returns the pairs of rows of a join that make up the given row.
func (t *PlanTable) pairs(row int) []RowPair { return t.Pairs[t.First[row]:t.First[row+1]] }

// A RowPair is a row of the left table and a row of the right table that fit together.
type RowPair struct{ Left, Right int32 }

// A LeafChoice is one way to choose for a leaf's row. The caller sets ID to recognise it. Paths are further amounts,
// which may be negative. All choices of a tree with paths have the same number of them, and all paths share one cap.
type LeafChoice struct {
	Cost  AmountVector
	Paths []int64
	ID    int32
}

// A Solution has one choice per leaf (Picks). Cost and Paths are the sums of the choices' amounts.
type Solution struct {
	Cost  AmountVector
	Paths []int64
	Picks []LeafPick
}

// isWithinCaps reports whether the solution's amounts, and all its paths, are within caps.
func (f *Solution) isWithinCaps(caps *Caps) bool {
	return f.Cost.IsWithin(&caps.AmountVector) && f.longestPathLength() <= caps.Path
}

// longestPathLength returns the largest path, or the least int64 if there are no paths.
func (f *Solution) longestPathLength() int64 {
	most := int64(math.MinInt64)
	for _, p := range f.Paths {
		most = max(most, p)
	}
	return most
}

// A LeafPick names a row and a choice of a leaf.
type LeafPick struct {
	Row int32
	ID  int32
}

// A StepCounter counts the steps of a search, of some ten nanoseconds each, and limits them. A search then ends at the
// same point on every machine. Several searches may share it one after the other.
type StepCounter struct {
	Done    int
	Limit   int
	Whole   *TotalStepCounter // the effort of the whole answer that these steps count for; nil if there is none
	Cut     bool              // whether a limit was reached
	counted int               // steps already added to TotalStepCounter
	room    *room             // memory that each search hands on to the next
}

// A TotalStepCounter sums up the steps of all StepCounters that count towards it. Its limit, or closing Stop, ends them
// all.
type TotalStepCounter struct {
	Limit int             // in steps; 0 for no limit
	Done  int             // steps that efforts have reported
	Stop  <-chan struct{} // closing it ends all searches
}

// NewSeparateCounter returns a new counter with a limit of its own, for searches between those of e. It does not count
// towards e, but reuses its memory.
func (e *StepCounter) NewSeparateCounter(limit int) StepCounter {
	return StepCounter{Limit: limit, room: e.room}
}

// MustEndSearch reports whether the search must end with its result so far, because the limit of e or of e.Whole is
// reached. If so, it sets e.Cut.
func (e *StepCounter) MustEndSearch() bool {
	over := e.MustEndAllSearches() || e.Done > e.Limit
	e.Cut = e.Cut || over
	return over
}

// MustEndAllSearches reports whether the counter Whole, if there is one, has ended all work. Results found later do not
// count.
func (e *StepCounter) MustEndAllSearches() bool {
	e.ReportStepsToTotal()
	return e.Whole.MustEndAllSearches()
}

// ReportStepsToTotal adds to e.Whole the steps made since the last call. It does nothing if e.Whole is nil.
func (e *StepCounter) ReportStepsToTotal() {
	if e.Whole != nil {
		e.Whole.Done += e.Done - e.counted
		e.counted = e.Done
	}
}

// MustEndAllSearches reports whether the limit is reached, or Stop is closed. It is false for nil.
func (w *TotalStepCounter) MustEndAllSearches() bool {
	if w == nil {
		return false
	}
	select {
	case <-w.Stop:
		return true
	default:
		return w.Limit > 0 && w.Done > w.Limit
	}
}

// A ChoiceTree holds a plan with the choices of each leaf's rows, and what searches have learned: prices and solutions.
type ChoiceTree struct {
	prices
	pool
}

// NewChoiceTree returns a tree of the plan. choices has the choices of each leaf and row; a row may have none. The tree
// does not change them.
func NewChoiceTree(plan *JoinPlan, choices [][][]LeafChoice, e *StepCounter) *ChoiceTree {
	rows := make([][]int32, plan.Leaves)
	for i := range rows {
		rows[i] = make([]int32, plan.Tables[i].Rows)
		for r := range rows[i] {
			rows[i][r] = int32(r)
		}
	}
	return newTree(plan, choices, rows, e)
}

func newTree(plan *JoinPlan, choices [][][]LeafChoice, rows [][]int32, e *StepCounter) *ChoiceTree {
	p := newParts(plan, choices, rows, e)
	return &ChoiceTree{prices: newPrices(p)}
}

// HasAnySolution reports whether there is any solution at all, whatever it takes.
func (t *ChoiceTree) HasAnySolution() bool { return t.single[0].least < none }

// PruneDominatedChoices returns the choices that no other equals or beats in every kind; of equal choices it keeps the
// first. It sorts the list in place, and the result lies in the list's memory.
func PruneDominatedChoices(all []LeafChoice) []LeafChoice {
	if len(all) < 2 {
		return all
	}
	slices.SortStableFunc(all, func(a, b LeafChoice) int {
		return cmp.Or(slices.Compare(a.Cost[:], b.Cost[:]), slices.Compare(a.Paths, b.Paths))
	})
	kept := all[:0]
	for _, c := range all {
		if !slices.ContainsFunc(kept, func(k LeafChoice) bool {
			return k.Cost.IsWithin(&c.Cost) && noLonger(k.Paths,
				c.Paths)
		}) {
			kept = append(kept, c)
		}
	}
	return kept
}

func noLonger(a, b []int64) bool {
	for i := range a {
		if a[i] > b[i] {
			return false
		}
	}
	return true
}
