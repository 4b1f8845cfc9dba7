// Package search chooses one of several ways for each part of something whose parts must fit together, such that what
// all take together stays within caps and one measure is as small as it can be. It knows nothing of hardware: amounts
// are vectors of integers, parts are leaves of a tree of tables. It proves that there is nothing better, or says how
// far it is from that.
//
// A Plan is the tree. A leaf is one part: a table with a row for every way in which it may meet its neighbours. A join
// is a part made of two, with the pairs of their rows that fit together; the last table is the whole, with one row.
// This is the elimination of variables from a constraint network (R. Dechter, Bucket elimination, 1999). A Tree is a
// plan with the choices of each leaf's rows. For example, two leaves that fit where their rows are equal, and caps of 7
// and 7:
//
//			leaf 0, row 0: (1, 6)          leaf 1, row 0: (2, 2)
//			        row 1: (5, 1), (3, 3)          row 1: (3, 3), (1, 5)
//
//	  - Prices (price.go; Lagrangian relaxation: M. L. Fisher 1981) turn vectors into numbers. At a price of 1 and 1
//	    the cheapest whole takes 10 = (3,3)+(1,5) rather than 11 = (1,6)+(2,2): whatever is chosen takes 10 or more,
//	    so nothing is within caps of 4 and 4. The best prices are the optimum of a game of prices against choices
//	    (game.go), of which a choice is added at a time (column generation: P. C. Gilmore and R. E. Gomory 1961).
//	  - What a row's rest costs at least excludes single choices: row 0 of leaf 0 needs 6 of the second kind, and
//	    leaf 1's row 0 two more: 8, beyond the caps. Reduce leaves such rows out.
//	  - Labels (label.go; Pareto labels, as in shortest paths with resources: M. Desrochers and F. Soumis 1988)
//	    carry every way to choose for a part, from the leaves to the whole, and drop those that another one beats or
//	    that no rest brings within the caps: of row 1 with row 1 four ways, (8, 4), (6, 6), (6, 6), (4, 8), of which
//	    one (6, 6) is left.
//	  - Where there are too many labels, the choices of one leaf are halved, and both halves are searched
//	    (branch.go; branch and bound: A. H. Land and A. G. Doig 1960), each with prices of its own.
//
// The files: search.go has what comes in, a Plan and its Choices, and what goes out, Solutions within Caps; minimise.go
// looks for the least of a Measure; parts.go is what there is to choose from, and columns.go has it by kind; price.go,
// game.go, label.go, with digest.go, branch.go and reduce.go are the items above; room.go is what trees hand on;
// explain.go says why a choice is in no solution. The package imports nothing of ours.
//
// Paths are amounts of another kind: there may be many, they share one cap, and what is minimised may be the longest of
// them. Where there are any, there are no labels.
package search

import (
	"cmp"
	"math"
	"slices"
)

// Kinds is how many kinds of amounts there are at most, beside the paths.
const Kinds = 9

// A Vector is an amount of each kind. Kinds that are not used are 0.
type Vector [Kinds]int64

// Plus adds.
func (v Vector) Plus(o Vector) Vector {
	for i := range v {
		v[i] += o[i]
	}
	return v
}

// Minus subtracts.
func (v Vector) Minus(o Vector) Vector {
	for i := range v {
		v[i] -= o[i]
	}
	return v
}

// Within reports whether v is no more of any kind than o.
func (v *Vector) Within(o *Vector) bool {
	for i := range v {
		if v[i] > o[i] {
			return false
		}
	}
	return true
}

// Least is the smaller amount of each kind.
func (v Vector) Least(o Vector) Vector {
	for i := range v {
		v[i] = min(v[i], o[i])
	}
	return v
}

func (v *Vector) dot(o *Vector) int64 {
	sum := int64(0)
	for i := range v {
		sum += v[i] * o[i]
	}
	return sum
}

// Most is an amount that caps nothing, and that two of do not overflow at any price.
const Most = int64(1) << 40

// Caps is what a solution may take: of each kind, and of each path.
type Caps struct {
	Vector
	Path int64
}

// Unlimited caps nothing.
var Unlimited = func() Caps {
	var v Vector
	for i := range v {
		v[i] = Most
	}
	return Caps{v, Most}
}()

// Least is the smaller of both caps.
func (c Caps) Least(o Caps) Caps { return Caps{c.Vector.Least(o.Vector), min(c.Path, o.Path)} }

// Within reports whether c caps no less than o.
func (c *Caps) Within(o *Caps) bool { return c.Vector.Within(&o.Vector) && c.Path <= o.Path }

// A Plan is tables: leaves, and joins of two tables before them. The last one is the whole, with one row.
type Plan struct {
	Tables []Table
	Leaves int // how many tables are leaves; these come first
}

// A Table is a leaf, or a join of two tables.
type Table struct {
	Left, Right int // tables that a join joins; -1 in a leaf
	Rows        int
	First       []int32 // of a join: the pairs of row i are Pairs[First[i]:First[i+1]]
	Pairs       []Pair
}

// pairs are those of a row.
func (t *Table) pairs(row int) []Pair { return t.Pairs[t.First[row]:t.First[row+1]] }

// A Pair is a row of the left table and one of the right that fit together.
type Pair struct{ Left, Right int32 }

// A Choice is one way to choose for a leaf's row. ID is the caller's. Paths are further amounts, which may be negative:
// any number of them, the same in all choices of a tree that have any. They share a cap.
type Choice struct {
	Cost  Vector
	Paths []int64
	ID    int32
}

// A Solution is one choice per leaf.
type Solution struct {
	Cost  Vector
	Paths []int64
	Picks []Pick
}

// Within reports whether a solution is within caps.
func (f *Solution) Within(caps *Caps) bool {
	return f.Cost.Within(&caps.Vector) && f.Longest() <= caps.Path
}

// Longest is the largest amount of any path; the least there is without any.
func (f *Solution) Longest() int64 {
	most := int64(math.MinInt64)
	for _, p := range f.Paths {
		most = max(most, p)
	}
	return most
}

// A Pick is the row and the choice of a leaf.
type Pick struct {
	Row int32
	ID  int32
}

// Effort counts what a search does, in steps of some ten nanoseconds, so that where it ends does not depend on the
// machine. It may be shared by several searches, one after the other.
type Effort struct {
	Done    int
	Limit   int
	Whole   *Whole // of which these steps are a part; nil: of none
	Cut     bool   // a limit was reached
	counted int    // steps that the whole knows of
	room    *room  // that the last of these searches leaves to the next
}

// A Whole is all that is done for one answer, by efforts one after the other. It ends them all.
type Whole struct {
	Limit int             // steps; 0: any number
	Done  int             // steps that efforts have told of
	Stop  <-chan struct{} // closed: there is to be an end
}

// Apart is an effort of its own, for searches that come before the next of these.
func (e *Effort) Apart(limit int) Effort { return Effort{Limit: limit, room: e.room} }

// Spent reports whether the search has to end with what it has.
func (e *Effort) Spent() bool {
	over := e.Over() || e.Done > e.Limit
	e.Cut = e.Cut || over
	return over
}

// Over reports whether the whole has come to its end. What is found from then on does not count.
func (e *Effort) Over() bool {
	e.Tell()
	return e.Whole.Over()
}

// Tell tells the whole of the steps that were done.
func (e *Effort) Tell() {
	if e.Whole != nil {
		e.Whole.Done += e.Done - e.counted
		e.counted = e.Done
	}
}

// Over reports whether there is to be an end. The nil Whole has none.
func (w *Whole) Over() bool {
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

// A Tree is the choices of every leaf's rows, and what is known of the solutions.
type Tree struct {
	prices
	pool
}

// NewTree is a tree of the plan with the choices of each leaf's rows; a row may have none. The choices are not changed.
func NewTree(plan *Plan, choices [][][]Choice, e *Effort) *Tree {
	rows := make([][]int32, plan.Leaves)
	for i := range rows {
		rows[i] = make([]int32, plan.Tables[i].Rows)
		for r := range rows[i] {
			rows[i][r] = int32(r)
		}
	}
	return newTree(plan, choices, rows, e)
}

func newTree(plan *Plan, choices [][][]Choice, rows [][]int32, e *Effort) *Tree {
	p := newParts(plan, choices, rows, e)
	return &Tree{prices: newPrices(p)}
}

// Possible reports whether there is any solution.
func (t *Tree) Possible() bool { return t.single[0].least < none }

// Undominated is the choices that none other is at least as good as in every kind; of equal ones the first. The list is
// sorted in place.
func Undominated(all []Choice) []Choice {
	if len(all) < 2 {
		return all
	}
	slices.SortStableFunc(all, func(a, b Choice) int {
		return cmp.Or(slices.Compare(a.Cost[:], b.Cost[:]), slices.Compare(a.Paths, b.Paths))
	})
	kept := all[:0]
	for _, c := range all {
		if !slices.ContainsFunc(kept, func(k Choice) bool {
			return k.Cost.Within(&c.Cost) && noLonger(k.Paths,
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
