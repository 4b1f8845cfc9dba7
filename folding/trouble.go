package folding

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"slices"
	"sort"
	"strings"

	"hlsgen/boards"
	"hlsgen/folding/goal"
	"hlsgen/folding/search"
	"hlsgen/folding/space"
	"hlsgen/hlslib/price/estimate"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
)

// unreachable adds a diagnostic: no design within the budget has the requested interval. It says which interval is
// possible, and which budget would do.
func (q *inquiry) unreachable(ctx context.Context, f *found) error {
	best, err := q.design(ctx, f.Folding)
	if err != nil {
		return err
	}
	limit := q.MaxIntervalClocks()
	allowed, _ := limit.Float64()
	samples := q.Model.Turns.SamplesPerFrame()
	unit, frame, one := goal.CountedUnitForSamplesPerFrame(samples), "frame", "one"
	if samples > 1 {
		frame = fmt.Sprintf("frame of %d", samples)
		one = "one " + frame
	}
	asked := fmt.Sprintf("%s %s per second at %s MHz allow %s per %s", goal.FormatAllDecimals(q.Goal.FPS), unit,
		goal.FormatUpToSixDecimals(q.Clock),
		goal.FormatClocks(goal.CappedFloorOfRational(limit)), frame)
	if goal.CappedFloorOfRational(limit) < 1 {
		asked = fmt.Sprintf("%s %s per second are more than %s in a clock of %s MHz",
			goal.FormatAllDecimals(q.Goal.FPS),
			unit,
			one, goal.FormatUpToSixDecimals(q.Clock))
	}
	if q.Goal.Interval > 0 {
		asked = "asked for: " + goal.FormatClocks(q.Goal.Interval) + " per " + frame
	}
	hint, found := q.instead(best), "on"
	if float64(f.floor) < best.Clocks.Interval {
		found = "found on"
	}
	dg := diag.Diag{Severity: diag.SeverityError, Code: diag.FPSUnreachable,
		Msg: fmt.Sprintf("%s; the best %s %s is %s, %s %s per second",
			asked, found, q.Target.Board.Name, goal.FormatClocks(best.Clocks.Interval),
			goal.FormatAllDecimals(best.SamplesPerSecond()),
			unit)}
	if i, most := q.SlowestLayerAtFastestOptions(); float64(most) > allowed {
		l := &q.Layers[i]
		how := "in its widest fold"
		if _, ok := space.FindRaisedUnrollLimits(q.FoldingSpace, goal.CappedFloorOfRational(limit)); ok {
			how += " within " + q.Target.ProcessLimitText()
		}
		if l.Fixed {
			how = "as the folding file sets it"
		}
		dg.Node = l.FirstOriginNodeName()
		dg.Notes = append(dg.Notes, fmt.Sprintf("%s takes %s %s", l.Node.Name, goal.FormatClocks(most), how))
	}
	with := q.asked()
	if port := q.MinHostPortClocksPerFrame(); q.Target.HostPortBits() > 0 && float64(port) > allowed {
		with = with.anewWith("--io stream", func(a *attempt) { a.target.IO = dataflow.HostIOStream })
		dg.Notes = append(dg.Notes, fmt.Sprintf("the host's port of %d bits takes %s to move a frame",
			q.Target.HostPortBits(), goal.FormatClocks(port)))
	}
	if e, ok := space.FindRaisedUnrollLimits(q.FoldingSpace, goal.CappedFloorOfRational(limit)); ok {
		with = with.anewWith("--max-unroll "+e.String(), func(a *attempt) { a.target.Unroll = e })
	}
	if len(dg.Notes) > 0 {
		ok, err := q.would(ctx, with)
		if err != nil {
			return err
		}
		if ok {
			if hint += ", " + strings.Join(with.flags, " "); with.target.IO != q.Target.IO {
				hint += " where the network is fed from inside the FPGA,"
			}
		}
		if q.Goal.FPS > 0 {
			hint += " or a higher --clock"
		}
		dg.Hint = hint
		q.told.Add(dg)
		return nil
	}
	if found != "on" {
		dg.Notes = []string{fmt.Sprintf("none below %s is possible", goal.FormatClocks(f.floor))}
	}
	if dg.Hint = hint + " or a larger board"; q.Goal.FPS > 0 {
		dg.Hint = hint + ", a higher --clock or a larger board"
	}
	more, err := q.leastLoad(ctx, goal.CappedFloorOfRational(limit))
	if err != nil {
		return err
	}
	if more != nil {
		whole, err := q.design(ctx, more.Folding)
		if err != nil {
			return err
		}
		short := q.shortage(whole.Estimate.Total)
		use, err := q.enough(ctx, &short)
		if err != nil {
			return err
		}
		if use != "" {
			dg.Hint = fmt.Sprintf("%s, or --max-use %s", hint, use)
		}
		dg.Notes = append(dg.Notes, "at the asked rate: "+short.String())
	}
	q.told.Add(dg)
	return nil
}

// instead returns the flag, with its value, by which a user asks for the speed of the given design.
func (q report) instead(d *Design) string {
	if q.Goal.Interval > 0 {
		return "--interval " + goal.FormatAllDecimals(d.Clocks.Interval)
	}
	return "--fps " + goal.FormatAllDecimals(d.SamplesPerSecond())
}

// leastLoad returns the design with the least load at an interval, even if it exceeds the budget; nil if it finds none.
// The design uses no kind of resource whose budget is 0, or as little of it as possible.
func (q *inquiry) leastLoad(ctx context.Context, limit int) (*found, error) {
	fresh := q.WithNewStepCounter()
	loose := q.uncapped(limit)
	caps := loose
	most := q.Caps.AmountVector[:goal.KindMemoryBytesPerFrame]
	// a budget of nothing at all: use the board's resources instead
	if !slices.ContainsFunc(most, func(n int64) bool { return n > 0 }) {
		have := goal.AmountsByKind(q.Budget.Capacity)
		copy(fresh.Yard[:], have[:])
		most = nil
	}
	for k, n := range most {
		if n == 0 {
			caps.AmountVector[k], fresh.Yard[k] = 0, 1
		}
	}
	for i, c := range []search.Caps{caps, loose} {
		if i > 0 && c == caps {
			break
		}
		p := fresh.NewIntervalSearchWithinCaps(limit, c, ResourceMeasureLoad.MinimisationOrder())
		if err := p.ContinueSearch(ctx, 1, false); err != nil {
			return nil, err
		}
		if f, err := p.BestFoldingWithBounds(ctx); f != nil || err != nil {
			return &found{FoldingWithBounds: f}, err
		}
	}
	return nil, nil
}

// uncapped returns the caps of a design at an interval if there is no budget.
func (q *inquiry) uncapped(limit int) search.Caps {
	caps := search.UnlimitedCaps
	caps.AmountVector[goal.KindMemoryBytesPerFrame] = q.CapsAtInterval(limit).AmountVector[goal.KindMemoryBytesPerFrame]
	return caps
}

// leastLoadFrom calls leastLoad at the shortest interval from limit on that has a design.
func (q *inquiry) leastLoadFrom(ctx context.Context, list []int, limit int) (*found, error) {
	at, exact := slices.BinarySearch(list, limit)
	if !exact {
		list = slices.Insert(slices.Clone(list), at, limit)
	}
	list = list[at:]
	at = sort.Search(len(list)-1, func(i int) bool {
		return !math.IsInf(q.NewFoldingTree(list[i]).LowerBoundOf(q.ObjectiveOfMeasure(ResourceMeasureLoad),
			q.uncapped(list[i])), 1)
	})
	// The last interval is for given FIFO depths that allow no faster design.
	for _, limit := range []int{list[at], list[len(list)-1]} {
		if f, err := q.leastLoad(ctx, limit); f != nil || err != nil {
			return f, err
		}
	}
	return nil, nil
}

// overBudget returns the design with the least load at an interval, or at the shortest interval above it, if the goal
// allows that. Otherwise it tells the user how large the budget has to be for this design.
func (q *inquiry) overBudget(ctx context.Context, list []int, limit int) (*found, error) {
	if !q.Goal.OverBudget && !q.FIFOsMayLimitInterval() {
		small, err := q.small(ctx, list, limit)
		if small || err != nil {
			return nil, err
		}
	}
	f, err := q.leastLoadFrom(ctx, list, limit)
	if err != nil {
		return nil, err
	}
	if f == nil { // the neighbours can be joined: find checked that first
		q.told.AddError(diag.BudgetExceeded, "",
			"the search reached its limit of work without a design",
			"give it more --search-time, or set the folds of some layers in a folding file")
		return nil, nil
	}
	whole, err := q.design(ctx, f.Folding)
	if err != nil {
		return nil, err
	}
	reached := goal.IntervalMeetsLimit(whole.Clocks.Interval, q.MaxIntervalClocks())
	if q.Goal.OverBudget && reached {
		return f, nil
	}
	short, asked := q.shortage(whole.Estimate.Total), q.instead(whole)
	hint := "a larger board, or fewer bits or weights in the largest layers"
	if !reached {
		q.Goal.FPS, q.Goal.Interval = 0, whole.Clocks.Interval
	}
	use, err := q.enough(ctx, &short)
	if err != nil {
		return nil, err
	}
	if use != "" {
		hint = fmt.Sprintf("--max-use %s, a larger board, or --over-budget to build it all the same", use)
	}
	if !reached {
		hint = asked + " and " + hint
	}
	q.tellShort(&short, f.Options, hint)
	return nil, nil
}

// smallNodes is the number of nodes that the search looks at to decide whether a board is too small.
const smallNodes = 10

// small tells the user if the board is too small for the folding with the least load, even with FIFOs of least depth.
// Then no budget helps. It reports whether it told the user.
func (q *inquiry) small(ctx context.Context, list []int, limit int) (bool, error) {
	at, _ := slices.BinarySearch(list, limit)
	at = min(at, len(list)-1)
	if at += sort.Search(len(list)-1-at,
		func(i int) bool { return q.NewFoldingTree(list[at+i]).HasAnySolution() }); at == len(list) {
		return false, nil
	}
	least, err := q.leastMemory(ctx, list[at])
	if err == nil && least.Best == nil {
		least, err = q.WithNewStepCounter().NewFoldingTree(list[at]).FindMinimalSolution(ctx,
			q.ObjectiveOfMeasure(ResourceMeasureLoad), nil, q.uncapped(list[at]),
			smallNodes)
	}
	if least.Best == nil || err != nil {
		return false, err
	}
	f := q.FoldingOfSolution(&space.FoldingRegion{Limit: list[at]}, least.Best)
	b := q.BuildDesign(f)
	if b == nil {
		return false, nil
	}
	short := q.shortage(estimate.EstimateDesignResources(b.Design).Total)
	if _, ok := short.use(q.Goal.MaxUse); ok {
		return false, nil
	}
	short.when = " before any FIFO is deep"
	q.tellShort(&short, f.Options, "a larger board, or fewer bits or weights in the largest layers")
	return true, nil
}

// leastMemory returns the folding with the least share of the budget's memory, with everything else within the budget.
// Without it, a network whose weights do not fit in memory would be reported as short of LUTs.
func (q *inquiry) leastMemory(ctx context.Context, limit int) (search.MinimiseResult, error) {
	fresh, caps := q.WithNewStepCounter(), q.CapsAtInterval(limit)
	var yard search.AmountVector
	for _, kind := range []int{goal.KindBRAM, goal.KindURAM} {
		yard[kind], caps.AmountVector[kind] = fresh.Yard[kind], search.NoCap
	}
	caps.AmountVector[goal.KindMeanHardBlockShare] = search.NoCap
	return fresh.NewFoldingTree(limit).FindMinimalSolution(ctx, search.Objective{Yard: &yard}, nil, caps, smallNodes)
}

// tellShort tells the user that no design fits the budget, how much is missing, and which layer is the largest.
func (q *inquiry) tellShort(short *shortage, options []int32, hint string) {
	kind := short.kind
	at, most := 0, int64(-1)
	for i, o := range options {
		if n := q.Layers[i].Options[o].Cost[kind]; n > most {
			at, most = i, n
		}
	}
	l := &q.Layers[at]
	dg := l.NewLayerErrorDiag(diag.BudgetExceeded,
		"no design fits the budget; the least demanding one takes "+short.String(), hint)
	if kind < goal.KindMeanHardBlockShare {
		dg.Notes = []string{fmt.Sprintf("the largest layer is %s with %d %s", l.Node.Name, most, q.called(kind))}
		if host := q.Host[kind]; host > most {
			dg.Node = ""
			dg.Notes = append(dg.Notes, fmt.Sprintf("the host's port takes %d %s", host, q.called(kind)))
		}
	}
	if rest := short.amounts.Minus(q.Host); rest.IsWithin(&q.Caps.AmountVector) {
		dg.Hint += "; or --io stream where the network is fed from inside the FPGA"
	}
	q.told.Add(dg)
}

// called returns the name that the board's data sheet has for a kind of resource.
func (q report) called(kind int) string {
	return goal.ReplaceRAMB18ByBoardName(goal.KindNames[kind], q.Target.Board)
}

// A shortage says how far a design exceeds a budget.
type shortage struct {
	budget  Budget
	on      boards.Board
	total   dataflow.Resources
	amounts search.AmountVector // total as a vector
	caps    search.AmountVector
	kind    int    // the kind that exceeds the budget by the largest factor
	when    string // " before ..." if the design is not complete; else empty
}

func (q report) shortage(total dataflow.Resources) shortage {
	s := shortage{budget: q.Budget, on: q.Target.Board, total: total, caps: q.Caps.AmountVector}
	s.amounts = q.Budget.AmountVectorOf(s.total)
	worst := 0.0
	for k := range goal.KindMemoryBytesPerFrame {
		if f := float64(s.amounts[k]) / max(float64(s.caps[k]), 0.5); s.amounts[k] > s.caps[k] && f > worst {
			s.kind, worst = k, f
		}
	}
	return s
}

// String returns what is missing: "23,100 LUT of 18,432", the needed and the allowed amount.
func (s *shortage) String() string {
	if s.kind == goal.KindMeanHardBlockShare {
		return fmt.Sprintf("%s %% as the %s%s; the budget is %s %%",
			goal.FormatUpToSixDecimals(float64(int(1000*s.budget.MeanHardBlockShareOf(s.total)+0.999))/10),
			goal.ReplaceRAMB18ByBoardName(goal.KindNames[goal.KindMeanHardBlockShare], s.on), s.when,
			goal.FormatUpToSixDecimals(100*s.budget.Mean))
	}
	return fmt.Sprintf("%d %s%s; the budget on %s is %d of %d", s.amounts[s.kind],
		goal.ReplaceRAMB18ByBoardName(goal.KindNames[s.kind], s.on), s.when, s.on.Name, s.caps[s.kind],
		goal.AmountsByKind(s.budget.Capacity)[s.kind])
}

// use returns the smallest budget that the design fits, as a value of --max-use. It is one fraction for all kinds if
// the user gave one; otherwise it raises the fractions that are too small. ok is false if the board has too little.
func (s *shortage) use(given MaxUseFractions) (use string, ok bool) {
	if given == (MaxUseFractions{}) || given == DefaultMaxUseFractions {
		given = goal.GuidelineOf(s.on)
	}
	up := func(part, whole int64) float64 { // rounds up to four decimals
		const units = 10_000
		n := new(big.Int).Mul(big.NewInt(part), big.NewInt(units))
		n.Quo(n.Add(n, big.NewInt(whole-1)), big.NewInt(whole))
		f, _ := new(big.Rat).SetFrac(n, big.NewInt(units)).Float64()
		return f
	}
	need := [goal.KindMemoryBytesPerFrame]float64{
		goal.KindMeanHardBlockShare: up(s.amounts[goal.KindMeanHardBlockShare],
			goal.MeanHardBlockShareScale)}
	for k, have := range goal.AmountsByKind(s.budget.Capacity) {
		if have > 0 {
			need[k] = up(s.amounts[k], have)
		}
	}
	most := slices.Max(need[:])
	if most > 1 {
		return "", false
	}
	if given == goal.NewUniformMaxUse(given.LUT) {
		return goal.FormatUpToSixDecimals(max(given.LUT, most)), true
	}
	for k, share := range need {
		f := given.FractionPointerOf(k)
		*f = max(*f, share)
	}
	return given.String(), true
}

// enough returns the smallest budget that a design fits, as a value of --max-use, if a search with it finds a design.
// It returns "" otherwise.
func (q *inquiry) enough(ctx context.Context, short *shortage) (string, error) {
	text, ok := short.use(q.Goal.MaxUse)
	if !ok {
		return "", nil
	}
	use, err := goal.ParseMaxUseFractions(text)
	if err != nil {
		return "", err
	}
	a := q.asked()
	a.goal.MaxUse = use
	if ok, err = q.would(ctx, a); !ok {
		return "", err
	}
	return text, nil
}

// unjoined adds diagnostics that say which neighbours cannot be joined even at the longest interval.
func (q *inquiry) unjoined() {
	list := q.UnjoinableStreamDiags()
	for _, d := range list {
		q.told.Add(d)
	}
	if len(list) > 0 {
		return
	}
	var fixed []string
	for i := range q.Layers {
		if q.Layers[i].Fixed {
			fixed = append(fixed, q.Layers[i].Node.Name)
		}
	}
	q.told.AddError(diag.StreamWordTooWide, "",
		fmt.Sprintf("neighbours' words join two by two, but no folding of %s joins them all",
			strings.Join(fixed, ", ")), "leave PE and SIMD of some of these layers out of the folding file")
}
