// Package fit finds designs within a budget: foldings with FIFOs as deep as they have to be, and with the host's port.
// In come a space and a goal (DesignSearch). Out come the design with the least of some measure at an interval, and the
// design of the shortest latency. Bounds that no design goes below come with them (FoldingWithBounds).
//
// A tree of package space bounds the cost of foldings from below, whatever depth their FIFOs need. Its best folding is
// built and simulated (package rtlsim). If it does not keep the interval with the FIFOs that the tree counts, the
// region is divided. Package search finds the best folding of each region. The package may import these, goal and
// hlslib/price/estimate.
//
//	question.go  the question, and the work done for it
//	found.go     the answer, with its proofs
//	pursuit.go   the best design at an interval, with little work and with more: one measure after the other
//	hunt.go      the least of one measure: the best folding of a region, built and simulated
//	size.go      the depths and memories of one folding's FIFOs
//	latency.go   the shortest latency
package fit

import (
	"math/big"

	"hlsgen/folding/goal"
	"hlsgen/folding/search"
	"hlsgen/folding/space"
	"hlsgen/hlslib/price/estimate"
)

// maxWork limits the steps of work for one design of a small network; they take some seconds. It counts steps and not
// time, so that the answer does not depend on the machine. line.work adds more for large networks.
const maxWork = 60_000_000

// A DesignSearch asks for designs that reach a goal in a space of foldings, and counts the work done for the answer.
type DesignSearch struct {
	*space.FoldingSpace
	Goal   goal.Goal
	Budget goal.Budget
	Caps   search.Caps         // the budget, without the kinds that depend on the interval
	Host   search.AmountVector // what the logic between the network and the processor's memory takes
	Around search.AmountVector // Host, and what tells layers where sequences end
	Effort search.StepCounter
	Words  int                 // the most words that sizing one folding's FIFOs may move
	Yard   search.AmountVector // the amounts that a load is a share of
	// whether FIFOs are sized for sequences of every length; if not, for the longest, which rarely makes a difference
	Shorter bool
	Spares  bool // whether DSP slices may not multiply few bits
	// Than is a design that others have to beat, or nil. A design that does not beat it is not simulated if its FIFO
	// depths are trusted.
	Than *MeasureToBeat
}

// A MeasureToBeat describes a known design that is as fast as the requested ones.
type MeasureToBeat struct {
	Value  float64 // the measure Goal.Least
	Spares bool    // whether it spares DSP slices; such a design is better than any other
}

// NewDesignSearch returns the search for a goal, which must be valid (Goal.Verify). No work is done yet.
func NewDesignSearch(s *space.FoldingSpace, wanted goal.Goal) *DesignSearch {
	q := &DesignSearch{FoldingSpace: s, Goal: wanted, Budget: goal.BudgetOfBoard(s.Target.Board, wanted.MaxUse),
		Words: sizingWords}
	if wanted.MaxCycles > 0 {
		q.Budget = goal.BudgetOfBoard(s.Target.Board, goal.DefaultMaxUseFractions)
	}
	q.Caps, q.Yard = q.Budget.SearchCaps(), q.Budget.LoadDenominators()
	q.Host = s.Board.AmountVectorOf(estimate.HostInterfaceCost(s.Target, s.Model.Graph).Total())
	q.Around = q.Host.Plus(s.Ends)
	q.Effort.Limit = maxWork
	return q
}

// LimitFIFOSizingSteps lets the sizing of one folding's FIFOs take at most about the given number of steps. It changes
// q, and never raises the limit.
func (q *DesignSearch) LimitFIFOSizingSteps(steps int) { q.Words = min(q.Words, 1+steps/wordSteps) }

// WithNewStepCounter returns a copy of the search that has counted no steps of work, with the usual limit of steps.
func (q *DesignSearch) WithNewStepCounter() *DesignSearch {
	f := *q
	f.Effort = q.Effort.NewSeparateCounter(maxWork)
	return &f
}

// MaxIntervalClocks returns the longest interval in clocks that reaches the goal, or nil if every interval does.
func (q *DesignSearch) MaxIntervalClocks() *big.Rat {
	return q.Goal.MaxIntervalClocks(q.Clock, q.Model.Turns.SamplesPerFrame())
}

// CapsAtInterval returns the caps of a design at an interval in clocks: the budget, and the bytes that the processor's
// memory carries in that time. Goals with MaxCycles have neither. With Spares, no DSP slice may multiply few bits,
// whatever the goal.
func (q *DesignSearch) CapsAtInterval(interval int) search.Caps {
	caps := search.UnlimitedCaps
	if q.Goal.MaxCycles == 0 {
		caps = q.Caps
		caps.AmountVector[goal.KindMemoryBytesPerFrame] = q.BytesInClocks(interval)
	}
	if q.Spares {
		caps.AmountVector[goal.KindNarrowFactorDSP] = 0
	}
	return caps
}

// withoutNarrowDSPs returns a copy of the search whose designs use no DSP slices for factors of few bits
// (goal.KindNarrowFactorDSP). Only if it finds nothing, which means that LUTs are short, may designs use them.
func (q *DesignSearch) withoutNarrowDSPs() *DesignSearch {
	s := *q
	s.Spares = true
	return &s
}

// useless reports whether the design f is no better than the known design Than. spares says whether f spares DSP
// slices.
func (q *DesignSearch) useless(f *space.Folding, spares bool) bool {
	switch r := q.Than; {
	case r == nil:
		return false
	case r.Spares != spares:
		return r.Spares
	default:
		return f.MeasureOf(q.ObjectiveOfMeasure(q.Goal.Least)) >= r.Value
	}
}

// NewFoldingTree returns the tree for package search of all foldings whose layers take at most the given clocks per
// frame.
func (q *DesignSearch) NewFoldingTree(clocks int) *search.ChoiceTree {
	return q.tree(&space.FoldingRegion{Limit: clocks})
}

func (q *DesignSearch) tree(r *space.FoldingRegion) *search.ChoiceTree {
	own := *r
	own.Spares = q.Spares
	return q.FoldingSpace.NewRegionChoiceTree(&own, q.Around, &q.Effort)
}

// ObjectiveOfMeasure returns a measure as an objective for package search; a load is a share of q.Yard.
func (q *DesignSearch) ObjectiveOfMeasure(m goal.ResourceMeasure) search.Objective {
	return m.SearchObjective(&q.Yard)
}
