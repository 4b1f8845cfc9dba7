// Package fit finds whole designs: foldings with FIFOs as deep as they have to be and with the host's port, within a
// budget. In come a space and a goal (Question); out come the design of the least of some measure at an interval, of
// the shortest latency, and a bound that no whole design goes below (Found).
//
// A tree of package space says what foldings take at least, whatever FIFOs need. Its best folding is built and
// simulated (package rtlsim); where it does not keep the interval with the FIFOs that it was priced with, the region is
// divided. Package search looks for the best folding of each region. It may import
// these, ask, finn and hlslib/estimate.
//
//	question.go  what is asked, and the work that is done for it
//	found.go     what was found, and what is proved of it
//	pursuit.go   the best design at an interval, with little work and with more: one measure after the other
//	hunt.go      the least of one measure, and the best folding of a region made whole
//	size.go      the FIFOs of one folding: how deep, and of what
//	latency.go   the shortest latency
//
// It sees ask, search, space, estimate, dataflow and rtlsim.
package fit

import (
	"math/big"

	"hlsgen/folding/ask"
	"hlsgen/folding/search"
	"hlsgen/folding/space"
	"hlsgen/hlslib/estimate"
)

// maxWork bounds the work of one design of a small network: a few seconds. It is not a time, so that the answer does
// not depend on the machine. What large networks get besides, line.work says.
const maxWork = 60_000_000

// A Question is what is asked of a space, and what was done for the answer.
type Question struct {
	*space.Space
	Goal   ask.Goal
	Budget ask.Budget
	Caps   search.Caps   // the budget, without what depends on the interval
	Host   search.Vector // what joins the network to the processor's memory
	Around search.Vector // that, and what tells layers where sequences end
	Effort search.Effort
	Words  int           // that the sizing of one folding's FIFOs may move
	Yard   search.Vector // what a load is measured against
	// FIFOs are sized for sequences of every length; else for the longest, which does for all of them but in rare cases
	Shorter bool
	Spares  bool // DSP slices multiply no few bits
	// Than is a design that others have to beat; nil where there is none. A design that does not beat it is not run,
	// where its depths are trusted.
	Than *Rival
}

// A Rival is a design that there is already, as fast as any that is asked for.
type Rival struct {
	Value  float64 // of Goal.Least
	Spares bool    // DSP slices, which makes it better than any that does not
}

// Ask is the question for a goal that is well formed.
func Ask(s *space.Space, goal ask.Goal) *Question {
	q := &Question{Space: s, Goal: goal, Budget: ask.BudgetOf(s.Target.Board, goal.MaxUse), Words: sizingWords}
	if goal.MaxCycles > 0 {
		q.Budget = ask.BudgetOf(s.Target.Board, ask.DefaultMaxUse)
	}
	q.Caps, q.Yard = q.Budget.Caps(), q.Budget.Yard()
	q.Host = s.Board.Vector(estimate.Host(s.Target, s.Model.Graph).Total())
	q.Around = q.Host.Plus(s.Ends)
	q.Effort.Limit = maxWork
	return q
}

// Within bounds the work of sizing one folding by the steps that there are for all.
func (q *Question) Within(steps int) { q.Words = min(q.Words, 1+steps/wordSteps) }

// Fresh is the question before anything was done for it.
func (q *Question) Fresh() *Question {
	f := *q
	f.Effort = q.Effort.Apart(maxWork)
	return &f
}

// Limit is the longest interval that reaches the goal; nil where any does.
func (q *Question) Limit() *big.Rat { return q.Goal.Limit(q.Clock, q.Model.Turns.PerFrame()) }

// CapsAt is what a design may take at an interval: the budget, and what the processor's memory carries in that time.
func (q *Question) CapsAt(interval int) search.Caps {
	caps := search.Unlimited
	if q.Goal.MaxCycles == 0 {
		caps = q.Caps
		caps.Vector[ask.Traffic] = q.Carries(interval)
	}
	if q.Spares {
		caps.Vector[ask.Few] = 0
	}
	return caps
}

// Sparing is the question in which DSP slices multiply no few bits (ask.Few). It is asked first; only where it has no
// answer is the question itself, so that LUTs are what is short then.
func (q *Question) Sparing() *Question {
	s := *q
	s.Spares = true
	return &s
}

// useless reports whether a design is no better than the one that there is already.
func (q *Question) useless(f *space.Folding, spares bool) bool {
	switch r := q.Than; {
	case r == nil:
		return false
	case r.Spares != spares:
		return r.Spares
	default:
		return f.Measures(q.Measure(q.Goal.Least)) >= r.Value
	}
}

// Tree is the tree of all foldings that take no more clocks per frame.
func (q *Question) Tree(clocks int) *search.Tree { return q.tree(&space.Region{Limit: clocks}) }

func (q *Question) tree(r *space.Region) *search.Tree { return q.Space.Tree(r, q.Around, &q.Effort) }

// Measure is a measure of designs as the search has it.
func (q *Question) Measure(m ask.Measure) search.Measure { return m.Of(&q.Yard) }
