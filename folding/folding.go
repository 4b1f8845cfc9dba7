// Package folding makes a design of a network: how far each layer is unrolled, where its tables and multipliers lie,
// how deep FIFOs are and of what memory, for a device, a clock, a goal and a budget. Make is the only place where that
// is decided; whatever prints a figure of a design has it from there, so that what one command prints, another can ask
// for.
//
// In come a model, a target and a goal; out comes a Design with its certificate, or diagnostics. This package is the
// door; the rooms behind it, each of which sees the ones above it alone:
//
//	search  choosing one of several ways for each part, within caps; knows nothing of hardware
//	finn    folding files
//	ask     goals, measures, budgets
//	space   what each layer may be, what joins layers, and trees of tables over any part of that
//	fit     the best whole design at an interval, or of the shortest latency: with FIFOs, simulated
//
// and its own files:
//
//	make.go         the answer to a goal; carried.go, where a state comes back before the next frame
//	sequence.go     which interval to look at, until there is a design, and then a better one
//	bound.go        what nothing goes below, without making a design
//	front.go        all that is worth choosing from
//	design.go       the figures of a design; bottleneck.go, where its interval comes from; cure.go, what makes it
//	                shorter; series.go, what many frames take
//	certificate.go  what is proved of it
//	trouble.go      why there is none, and what would do; warnings.go, what to know of one
//	outside.go      names of types for other modules
package folding

import (
	"context"
	"errors"
	"math"
	"sync"
	"time"

	"hlsgen/boards"
	"hlsgen/folding/ask"
	"hlsgen/folding/finn"
	"hlsgen/folding/fit"
	"hlsgen/folding/search"
	"hlsgen/folding/space"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
)

// What users ask, and what is answered.
type (
	Goal    = ask.Goal
	FIFO    = ask.FIFO
	Measure = ask.Measure
	Use     = ask.Use
	Budget  = ask.Budget
	Share   = ask.Share
	File    = finn.File
	Bound   = fit.Bound
	Latency = fit.Latency

	Interrupt = ask.Interrupt
	Standing  = ask.Standing
)

// The measures, and the names and limits that flags have.
const (
	LeastLoad, LeastLUT, LeastFF   = ask.LeastLoad, ask.LeastLUT, ask.LeastFF
	LeastBRAM, LeastURAM, LeastDSP = ask.LeastBRAM, ask.LeastURAM, ask.LeastDSP

	Guideline = ask.Guideline
	MaxDepth  = finn.MaxDepth
)

// DefaultMaxUse is what designs are known to close with (docs/boards.md).
var DefaultMaxUse = ask.DefaultMaxUse

// ParseMaxUse reads --max-use.
func ParseMaxUse(s string) (Use, error) { return ask.ParseMaxUse(s) }

// ParseMeasure reads --least.
func ParseMeasure(s string) (Measure, error) { return ask.ParseMeasure(s) }

// ParseMaxUnroll reads --max-unroll.
func ParseMaxUnroll(s string) (dataflow.Envelope, error) { return ask.ParseMaxUnroll(s) }

// BudgetOf is the budget of a board; the zero Use means DefaultMaxUse.
func BudgetOf(b boards.Board, u Use) Budget { return ask.BudgetOf(b, u) }

// Capacity is what the board has, in the units of a cost.
func Capacity(b boards.Board) dataflow.Resources { return ask.Capacity(b) }

// Called is a text of ours, such as the name of a Share, with the block RAM of a board as its data sheet calls it.
func Called(text string, b boards.Board) string { return ask.Called(text, b) }

// Rate is the samples per second of an interval in clocks between frames of so many samples, as it may be printed and
// asked for.
func Rate(clockMHz, interval float64, samples int) float64 {
	return ask.Rate(clockMHz, interval, samples)
}

// ClocksPerFrame is the longest interval in whole clocks that reaches a rate, with frames of so many samples.
func ClocksPerFrame(clockMHz, fps float64, samples int) int {
	return ask.ClocksPerFrame(clockMHz, fps, samples)
}

// Unit is what rates count, as users read it: frames, or samples where a frame holds several.
func Unit(samplesPerFrame int) string { return ask.Unit(samplesPerFrame) }

// ReadFile reads a folding file. It is nil where the file has errors, which d then says; layers that the design does
// not have and values that a layer cannot take show when Make applies it.
func ReadFile(data []byte, d *diag.List) *File { return finn.Read(data, d) }

// Format writes the design's folds as a folding file that ReadFile reads back to the same folds; with depths also the
// words of every FIFO, so that the whole design comes back.
func Format(design *dataflow.Design, withDepths bool) []byte {
	if withDepths {
		return finn.Format(design, finn.OfDepths)
	}
	return finn.Format(design, finn.OfFolds)
}

// FormatWhole is Format with where every FIFO lies, too: for a design of a search that was cut, which another search
// would build in a better way.
func FormatWhole(design *dataflow.Design) []byte { return finn.Format(design, finn.OfWhole) }

// A Space is what a model may become on a target, listed once for any number of designs. These may be made at the same
// time.
type Space struct {
	*space.Space
	made *memory
	// whole is the space that has serial step functions dear in block RAM and large tables in LUTs as well, and all
	// FIFOs in any memory; this one where it lacks none
	whole func() *Space
}

// List lists the options of every layer, and how they join. fixed and fifo are those of the goals that are asked of it.
// Where the target has no board, zcu104 stands in for it; only Goal.MaxCycles does without a budget. What the user has
// to change goes to d, and the result is nil.
func List(m *dataflow.Model, t dataflow.Target, fixed *File, fifo FIFO, d *diag.List) (*Space, error) {
	if len(m.Graph.Nodes) == 0 {
		d.Fail(diag.NothingQuantised, "", "there is no layer to fold", "")
		return nil, nil
	}
	if t.Board.Name == "" {
		b, err := boards.Find("zcu104")
		if err != nil {
			return nil, err
		}
		t.Board = b
	}
	s := space.New(m, t, fixed, fifo, space.Worthwhile, d)
	if s == nil {
		return nil, nil
	}
	l := &Space{Space: s, made: &memory{}}
	l.whole = sync.OnceValue(func() *Space {
		if !leavesOut(s) && !space.Spared(s) {
			return l
		}
		var told diag.List // what d has
		w := &Space{Space: space.New(m, t, fixed, fifo, space.Any, &told), made: &memory{}}
		w.whole = func() *Space { return w }
		return w
	})
	return l, nil
}

// Make is Space.Make of a space that is listed for this goal alone.
func Make(ctx context.Context, m *dataflow.Model, t dataflow.Target, goal Goal, d *diag.List) (*Design, error) {
	if err := goal.Verify(t); err != nil {
		return nil, err
	}
	s, err := List(m, t, goal.Fixed, goal.FIFO, d)
	if err != nil || s == nil {
		return nil, err
	}
	return s.Make(ctx, goal, d)
}

// Make makes the design for a goal. What the user has to change - a goal that cannot be reached, a budget that nothing
// fits - goes to d, with what can be had instead, and the result is nil. The error is the context's, a *rtlsim.Deadlock
// that depths which were given bring about, or says that the clock or the goal is malformed, which the command line
// rules out.
//
// Folds with serial step functions that are dear in block RAM are no choice, nor are large tables in LUTs and FIFOs of
// a few words in block RAM, unless nothing does without them. Such FIFOs are one, too, where nothing is as fast (the
// shortest latency, where its search was short, or the shortest interval and no rate is asked for), nothing is fixed,
// and no folds are left out.
//
// What the search leaves open, the certificate states. The answer does not depend on the machine, unless
// Goal.SearchTime ends the search, nor on what else was asked of the space.
func (l *Space) Make(ctx context.Context, goal Goal, d *diag.List) (*Design, error) {
	if len(l.Model.Feedback) > 0 {
		return l.carried(ctx, goal, d)
	}
	return l.better(ctx, goal, nil, d)
}

// better is Make of a design that is better than another one, unless that is nil. Where none is found that is, the
// error is errNoBetter.
func (l *Space) better(ctx context.Context, goal Goal, than *fit.Rival, d *diag.List) (*Design, error) {
	if err := goal.Verify(l.Target); err != nil {
		return nil, err
	}
	begun := time.Now()
	made, told, err := l.try(ctx, goal, than)
	does := made != nil && !made.Over || goal.MaxCycles > 0 || errors.Is(err, errNoBetter)
	if !does && ctx.Err() == nil && (leavesOut(l.Space) || l.short(goal)) && l.whole() != l {
		if again, more, e := l.whole().try(ctx, left(goal, begun), than); again != nil || made == nil {
			made, told, err = again, more, e
		}
	}
	if err == nil && made != nil && than == nil && l.quicker(goal, made) && l.whole() != l {
		again, more, e := l.whole().quicken(ctx, left(goal, begun), made)
		if e == nil && again != nil {
			made, told = again, more
		}
		made.Certificate.Interrupted = goal.Interrupt.Taken()
	}
	d.Merge(told.Diags)
	if goal.Cure && err == nil && made != nil && !goal.Interrupt.Taken() &&
		(goal.SearchTime == 0 || time.Since(begun) < goal.SearchTime) {
		err = l.cured(ctx, goal, made)
	}
	return made, err
}

// leavesOut reports whether some folds are no choice unless nothing does without them.
func leavesOut(s *space.Space) bool {
	return space.Dear(s, math.MaxInt)+space.Large(s, math.MaxInt) > 0
}

// left is a goal with what is left of its time.
func left(goal Goal, begun time.Time) Goal {
	if goal.SearchTime > 0 {
		goal.SearchTime = max(1, goal.SearchTime-time.Since(begun))
	}
	return goal
}

// latencySteps bounds the steps of a search for the shortest latency that is worth another one, with FIFOs of few words
// in block RAM.
const latencySteps = 240_000_000

// quicken looks for a design of this space that is a better answer to a goal of speed than one of another space; nil
// where it finds none. It tells no progress, since most often there is none.
func (l *Space) quicken(ctx context.Context, goal Goal, than *Design) (*Design, diag.List, error) {
	goal.Tell = nil
	q := &inquiry{report: report{fit.Ask(l.Space, goal)}, made: l.made, told: &diag.List{}}
	if !goal.Latency {
		q.below = int(math.Ceil(than.Clocks.Interval))
	}
	made, err := q.answer(ctx)
	if made != nil && !faster(goal, made, than) {
		made = nil
	}
	return made, *q.told, err
}

// faster reports whether a design is a better answer than another one to a goal of speed.
func faster(goal Goal, d, than *Design) bool {
	if goal.Latency {
		return d.Clocks.Latency < than.Clocks.Latency
	}
	return d.Clocks.Interval < than.Clocks.Interval
}

// quicker reports whether a design that is to be as fast as can be may only be slower than others for lack of lookup
// tables, which FIFOs of few words take. Where folds are left out, these stay so.
func (l *Space) quicker(goal Goal, made *Design) bool {
	c := &made.Certificate
	if made.Over || goal.MaxCycles > 0 || goal.Fixed != nil || goal.Interrupt.Taken() ||
		made.Clocks.Interval < 2 || c.Dear+c.Large > 0 {
		return false
	}
	if goal.Latency && made.steps > latencySteps || !goal.Latency && (goal.FPS > 0 || goal.Interval > 0) {
		return false
	}
	goal.FPS, goal.Interval = 0, made.Clocks.Interval-1
	return l.short(goal)
}

// short reports whether it may be for lack of lookup tables that there is no design for a goal.
func (l *Space) short(goal Goal) bool {
	q := fit.Ask(l.Space, goal)
	limit := l.Intervals()[0]
	if asked := q.Limit(); asked != nil && ask.Floor(asked) < limit {
		return false
	} else if asked != nil {
		limit = ask.Floor(asked)
	}
	caps := q.CapsAt(limit)
	caps.Vector[ask.LUT], caps.Vector[ask.LUTRAM], caps.Vector[ask.FF] = search.Most, search.Most, search.Most
	return !q.Tree(limit).Hopeless(caps)
}

// try is better of the designs of this space alone.
func (l *Space) try(ctx context.Context, goal Goal, than *fit.Rival) (made *Design, told diag.List, err error) {
	q := &inquiry{report: report{fit.Ask(l.Space, goal)}, made: l.made, told: &told}
	q.Than = than
	made, err = q.answer(ctx)
	return made, told, err
}
