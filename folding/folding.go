// Package folding turns a network into a design for a device, a clock, a goal and a budget. A design says how far each
// layer is unrolled, which memories and multipliers it uses, and how deep its FIFOs are and in which memory. Only
// FindBestDesign decides this. Everything that prints a figure of a design takes it from there, so that users can ask
// one command for what another one prints.
//
// In come a model, a target and a goal; out comes a Design with its certificate, or diagnostics. This package is the
// entrance to the following packages, each of which sees only those above it:
//
//	search  makes one choice for each part, within caps; knows nothing of hardware
//	finn    folding files
//	goal    goals, measures, budgets
//	space   the options of each layer, how layers join, and trees of tables over any part of that
//	fit     the best design at an interval, or of the shortest latency: with FIFOs, simulated
//
// The files of this package are:
//
//	make.go         the answer to a goal; carried.go, if the latency has a limit
//	sequence.go     the intervals to try until there is a design, and then a better one
//	bound.go        bounds of all designs, without making one
//	front.go        the designs worth choosing from
//	design.go       the figures of a design; bottleneck.go, what sets its interval; cure.go, what makes it
//	                shorter; series.go, the clocks of many frames
//	certificate.go  what is proved of it; offers.go, the folds that its layers could have instead
//	trouble.go      why there is none, and a remedy; warnings.go, what to know of a design
//	outside.go      names of types for other modules
package folding

import (
	"context"
	"errors"
	"math"
	"sync"
	"time"

	"hlsgen/boards"
	"hlsgen/folding/finn"
	"hlsgen/folding/fit"
	"hlsgen/folding/goal"
	"hlsgen/folding/search"
	"hlsgen/folding/space"
	"hlsgen/hlslib/price/estimate"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
)

// The types of goals and answers.
type (
	Goal             = goal.Goal
	FIFODepthPolicy  = goal.FIFODepthPolicy
	ResourceMeasure  = goal.ResourceMeasure
	MaxUseFractions  = goal.MaxUseFractions
	Budget           = goal.Budget
	ResourceShare    = goal.ResourceShare
	FoldingFile      = finn.FoldingFile
	MeasureWithBound = fit.MeasureWithBound
	LatencyWithBound = fit.LatencyWithBound

	SearchStopper          = goal.SearchStopper
	BestDesignSoFarSummary = goal.BestDesignSoFarSummary
)

// The measures, and names and limits of flags.
const (
	ResourceMeasureLoad, ResourceMeasureLUT, ResourceMeasureFF = goal.ResourceMeasureLoad, goal.ResourceMeasureLUT,
		goal.ResourceMeasureFF
	ResourceMeasureBRAM, ResourceMeasureURAM, ResourceMeasureDSP = goal.ResourceMeasureBRAM, goal.ResourceMeasureURAM,
		goal.ResourceMeasureDSP

	DefaultMaxUseName = goal.DefaultMaxUseName
	MaxFIFODepthWords = finn.MaxFIFODepthWords
)

// DefaultMaxUseFractions holds the fractions of a board that designs may take unless the user says otherwise. Designs
// within them are known to reach their clock (docs/boards.md).
var DefaultMaxUseFractions = goal.DefaultMaxUseFractions

// ParseMaxUseFractions reads the value of --max-use: "guideline" (DefaultMaxUseFractions), one fraction for all
// resources, or fractions by resource, "lut=0.7,bram=0.9".
func ParseMaxUseFractions(s string) (MaxUseFractions, error) { return goal.ParseMaxUseFractions(s) }

// ParseResourceMeasure reads the value of --least: load, lut, ff, bram, uram or dsp.
func ParseResourceMeasure(s string) (ResourceMeasure, error) { return goal.ParseResourceMeasure(s) }

// ParseUnrollLimits reads the value of --max-unroll, the most products that a process computes in a clock. It is one
// number, or three: for factors of more than 4 bits, of 2 to 4 bits, and of 1 bit.
func ParseUnrollLimits(s string) (dataflow.UnrollLimits, error) { return goal.ParseUnrollLimits(s) }

// BudgetOfBoard returns the budget that a MaxUseFractions gives on a board. The zero MaxUseFractions means
// DefaultMaxUseFractions.
func BudgetOfBoard(b boards.Board, u MaxUseFractions) Budget { return goal.BudgetOfBoard(b, u) }

// ResourcesOfBoard returns the board's resources, in the units of a cost.
func ResourcesOfBoard(b boards.Board) dataflow.Resources { return goal.ResourcesOfBoard(b) }

// ReplaceRAMB18ByBoardName returns the text, such as the name of a ResourceShare, with block RAM named as in the
// board's data sheet.
func ReplaceRAMB18ByBoardName(text string, b boards.Board) string {
	return goal.ReplaceRAMB18ByBoardName(text, b)
}

// SamplesPerSecondForInterval returns the samples per second at an interval in clocks between frames of the given
// samples. It rounds down so that a user who asks for the rate gets the interval again.
func SamplesPerSecondForInterval(clockMHz, interval float64, samples int) float64 {
	return goal.SamplesPerSecondForInterval(clockMHz, interval, samples)
}

// MaxClocksPerFrameForRate returns the longest interval in whole clocks that reaches fps samples per second, with the
// given samples per frame.
func MaxClocksPerFrameForRate(clockMHz, fps float64, samples int) int {
	return goal.MaxClocksPerFrameForRate(clockMHz, fps, samples)
}

// CountedUnitForSamplesPerFrame returns the unit of rates as users read it: frames, or samples if a frame holds
// several.
func CountedUnitForSamplesPerFrame(samplesPerFrame int) string {
	return goal.CountedUnitForSamplesPerFrame(samplesPerFrame)
}

// ParseFoldingFile reads a folding file. It returns nil after adding errors to d. Layers that the design does not have,
// and values that a layer cannot take, show only when FindBestDesign applies the file.
func ParseFoldingFile(data []byte, d *diag.List) *FoldingFile { return finn.ParseFoldingFile(data, d) }

// FormatFoldingFile writes the design's folds as a folding file from which ParseFoldingFile gets the same folds. With
// depths it adds the depth of every FIFO, so that the whole design is the same.
func FormatFoldingFile(design *dataflow.Design, withDepths bool) []byte {
	if withDepths {
		return finn.FormatFoldingFile(design, finn.FileDetailFoldsAndDepths)
	}
	return finn.FormatFoldingFile(design, finn.FileDetailFoldsOnly)
}

// FormatFoldingFileWithFIFOMemories returns what FormatFoldingFile does with depths, and adds the memory of every FIFO.
// It is meant for a design of an incomplete search, because another search would choose better memories.
func FormatFoldingFileWithFIFOMemories(design *dataflow.Design) []byte {
	return finn.FormatFoldingFile(design, finn.FileDetailWholeDesign)
}

// A Space holds all foldings of a model on a target, for any number of designs. Several designs may be made at a time.
type Space struct {
	*space.FoldingSpace
	made *memory
	// whole returns the space that also has serial step functions that take much block RAM, large tables in LUTs, and
	// all FIFOs in any memory. It returns this space if this one has them already.
	whole func() *Space
	// beyond returns the space that also has options with more DSP slices than the board has, whose designs are no
	// answer, but show what is missing. It returns this space if there are none.
	beyond func() *Space
}

// NewSpace returns the space of a model on a target. fixed and fifo must be those of all its goals. If the target has
// no board, zcu104 takes its place; then only Goal.MaxCycles works without a budget. If the user has to change
// something, NewSpace adds a diagnostic to d and returns nil.
func NewSpace(m *dataflow.Model, t dataflow.Target, fixed *FoldingFile, fifo FIFODepthPolicy, d *diag.List) (*Space,
	error) {
	if len(m.Graph.Nodes) == 0 {
		d.AddError(diag.NothingQuantised, "", "there is no layer to fold", "")
		return nil, nil
	}
	if t.Board.Name == "" {
		b, err := boards.FindBoard("zcu104")
		if err != nil {
			return nil, err
		}
		t.Board = b
	}
	if estimate.UsesCircuitEstimates(t) {
		t = t.WithinDSPs(t.Board.DSP)
	}
	return newSpace(m, t, fixed, fifo, space.FoldFilterWorthwhile, d), nil
}

// newSpace returns a space of the given kind, or nil after adding a diagnostic to d.
func newSpace(m *dataflow.Model, t dataflow.Target, fixed *FoldingFile, fifo FIFODepthPolicy, filter space.FoldFilter,
	d *diag.List) *Space {
	s := space.New(m, t, fixed, fifo, filter, d)
	if s == nil {
		return nil
	}
	l := &Space{FoldingSpace: s, made: &memory{}}
	itself := func() *Space { return l }
	l.whole, l.beyond = itself, itself
	if filter != space.FoldFilterAll {
		l.whole = sync.OnceValue(func() *Space {
			return newSpace(m, t, fixed, fifo, space.FoldFilterAll, new(diag.List)) // d has the same diagnostics
		})
	}
	if t.MostDSPs > 0 {
		l.beyond = sync.OnceValue(func() *Space {
			if space.CountOver(s, math.MaxInt) == 0 {
				return l
			}
			return newSpace(m, t.WithinDSPs(0), fixed, fifo, filter, new(diag.List))
		})
	}
	return l
}

// FindBestDesign is Space.FindBestDesign on a new space of the model on a target, for one goal.
func FindBestDesign(ctx context.Context, m *dataflow.Model, t dataflow.Target, wanted Goal, d *diag.List) (*Design,
	error) {
	if err := wanted.Verify(t); err != nil {
		return nil, err
	}
	s, err := NewSpace(m, t, wanted.Fixed, wanted.FIFO, d)
	if err != nil || s == nil {
		return nil, err
	}
	return s.FindBestDesign(ctx, wanted, d)
}

// FindBestDesign returns the best design for a goal. It returns nil after adding a diagnostic with an alternative to d
// if the user has to change something, for example if no design fits the budget. The error is the context's, or a
// *rtlsim.Deadlock that given FIFO depths cause. Or it says that the clock or the goal is invalid, which the command
// line rules out.
//
// FindBestDesign leaves out serial step functions that take much block RAM, large tables in LUTs, and FIFOs of a few
// words in block RAM. It uses these only if no design exists without them. It also tries such FIFOs if they might make
// the design faster. For this, the goal must be the shortest latency, if that search was short, or the shortest
// interval with no rate given. Also, no folding file may fix anything, and no folds may be left out.
//
// The certificate states what the search did not prove. The answer does not depend on the machine, unless
// Goal.SearchTime ends the search, nor on earlier goals of the space.
func (l *Space) FindBestDesign(ctx context.Context, wanted Goal, d *diag.List) (*Design, error) {
	if len(l.Model.Feedback) > 0 || wanted.MaxLatency > 0 {
		return l.inTime(ctx, wanted, d)
	}
	return l.better(ctx, wanted, nil, d)
}

// better does the work of FindBestDesign. If than is not nil, it looks for a design that is better than that one, and
// returns errNoBetter if it finds none.
func (l *Space) better(ctx context.Context, wanted Goal, than *fit.MeasureToBeat, d *diag.List) (*Design, error) {
	if err := wanted.Verify(l.Target); err != nil {
		return nil, err
	}
	begun := time.Now()
	if wanted.MaxCycles > 0 { // without a budget
		l = l.beyond()
	}
	made, told, err := l.try(ctx, wanted, than)
	does := made != nil && !made.Over || wanted.MaxCycles > 0 || errors.Is(err, errNoBetter)
	if !does && ctx.Err() == nil && l.beyond() != l {
		return l.beyond().better(ctx, left(wanted, begun), than, d)
	}
	if !does && ctx.Err() == nil && (leavesOut(l.FoldingSpace, math.MaxInt) || l.short(wanted)) &&
		l.more(math.MaxInt) != l {
		if again, more, e := l.whole().try(ctx, left(wanted, begun), than); again != nil || made == nil {
			made, told, err = again, more, e
		}
	}
	if err == nil && made != nil && than == nil && l.quicker(wanted, made) &&
		l.more(made.Certificate.mostClocks()) != l {
		again, more, e := l.whole().quicken(ctx, left(wanted, begun), made)
		if e == nil && again != nil {
			made, told = again, more
		}
		made.Certificate.Interrupted = wanted.Interrupt.WasStopped()
	}
	d.AddMissing(told.Diags)
	if wanted.Cure && err == nil && made != nil && !wanted.Interrupt.WasStopped() &&
		(wanted.SearchTime == 0 || time.Since(begun) < wanted.SearchTime) {
		err = l.cured(ctx, wanted, made)
	}
	return made, err
}

// more returns the whole space, or this space if it leaves out no folds of at most the given clocks and no FIFOs.
func (l *Space) more(clocks int) *Space {
	if !space.CanBlockRAMFIFOsSaveLogic(l.FoldingSpace) && !leavesOut(l.FoldingSpace, clocks) {
		return l
	}
	return l.whole()
}

// leavesOut reports whether the space s leaves out some folds of at most the given clocks: those that cost too much
// block RAM, or have large tables in LUTs.
func leavesOut(s *space.FoldingSpace, clocks int) bool {
	return space.CountOmittedSerialFolds(s, clocks)+space.CountOmittedLargeTableFolds(s, clocks) > 0
}

// left returns the goal with the part of its search time that remains after the work since begun.
func left(wanted Goal, begun time.Time) Goal {
	if wanted.SearchTime > 0 {
		wanted.SearchTime = max(1, wanted.SearchTime-time.Since(begun))
	}
	return wanted
}

// latencySteps limits repeated searches. A search for the shortest latency is repeated with FIFOs of few words in block
// RAM only if it took no more steps than these.
const latencySteps = 240_000_000

// quicken looks for a design of this space that is faster than a design of another space, or returns nil. It reports no
// progress, because most often it finds none.
func (l *Space) quicken(ctx context.Context, wanted Goal, than *Design) (*Design, diag.List, error) {
	wanted.Tell = nil
	q := &inquiry{report: report{fit.NewDesignSearch(l.FoldingSpace, wanted)}, made: l.made, told: &diag.List{}}
	if !wanted.Latency {
		q.below = int(math.Ceil(than.Clocks.Interval))
	}
	made, err := q.answer(ctx)
	if made != nil && !faster(wanted, made, than) {
		made = nil
	}
	return made, *q.told, err
}

// faster reports whether the design d is faster than the design than, in the sense of the goal.
func faster(wanted Goal, d, than *Design) bool {
	if wanted.Latency {
		return d.Clocks.Latency < than.Clocks.Latency
	}
	return d.Clocks.Interval < than.Clocks.Interval
}

// quicker reports whether FIFOs in block RAM might make the design faster. The goal must be speed, and only LUTs, which
// FIFOs of few words take, must seem to be short. It reports false if folds are left out.
func (l *Space) quicker(wanted Goal, made *Design) bool {
	c := &made.Certificate
	if made.Over || wanted.MaxCycles > 0 || wanted.Fixed != nil || wanted.Interrupt.WasStopped() ||
		made.Clocks.Interval < 2 || c.Dear+c.Large > 0 {
		return false
	}
	if wanted.Latency && made.steps > latencySteps || !wanted.Latency && (wanted.FPS > 0 || wanted.Interval > 0) {
		return false
	}
	wanted.FPS, wanted.Interval = 0, made.Clocks.Interval-1
	return l.short(wanted)
}

// short reports whether a lack of LUTs may be the reason that no design reaches the goal.
func (l *Space) short(wanted Goal) bool {
	q := fit.NewDesignSearch(l.FoldingSpace, wanted)
	limit := l.IntervalsToTry()[0]
	if asked := q.MaxIntervalClocks(); asked != nil && goal.CappedFloorOfRational(asked) < limit {
		return false
	} else if asked != nil {
		limit = goal.CappedFloorOfRational(asked)
	}
	caps := q.CapsAtInterval(limit)
	caps.AmountVector[goal.KindLUT], caps.AmountVector[goal.KindLUTRAM], caps.AmountVector[goal.KindFF] = search.NoCap,
		search.NoCap,
		search.NoCap
	return !q.NewFoldingTree(limit).IsProvedUnsolvable(caps)
}

// try looks for the design of the goal in this space alone; made is nil if there is none, and told says why.
func (l *Space) try(ctx context.Context, wanted Goal, than *fit.MeasureToBeat) (made *Design, told diag.List,
	err error) {
	q := &inquiry{report: report{fit.NewDesignSearch(l.FoldingSpace, wanted)}, made: l.made, told: &told}
	q.Than = than
	made, err = q.answer(ctx)
	return made, told, err
}
