package sweep

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"

	"hlsgen/boards"
	"hlsgen/folding"
	"hlsgen/internal/crash"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/options"
	"hlsgen/internal/report"
	"hlsgen/internal/samples"
	"hlsgen/internal/synthesis"
	"hlsgen/rtlsim"
)

// The values of PointResult.Status.
const (
	// PointStatusFits: the design was made with FIFOs sized by simulation, is within the budget and as fast as asked.
	PointStatusFits        = "fits"
	PointStatusUnreachable = "unreachable" // no design within the budget is as fast as asked, or none fits at all
	PointStatusRefused     = "refused"     // the styles or the clock are not possible
	PointStatusBoundsOnly  = "bound"       // no design was made; Bounds has limits that no design exceeds
)

// A PointResult is the result of one search of a sweep: a design, the reason why there is none, or bounds of all
// designs.
type PointResult struct {
	ID       string  `json:"id,omitempty"` // the same for equal designs; empty if there is no design
	Board    string  `json:"board"`
	Part     string  `json:"part"`
	ClockMHz float64 `json:"clock_mhz"`                       // the requested clock
	FPSAsked float64 `json:"fps_asked,omitempty"`             // samples per second
	Asked    float64 `json:"interval_asked_clocks,omitempty"` // the requested interval
	Memory   string  `json:"memory"`
	Compute  string  `json:"compute"`
	MaxUse   string  `json:"max_use"`
	Samples  int     `json:"interleave"` // samples that take turns, all in one frame
	Backend  string  `json:"backend,omitempty"`
	// what a design may take of the board: the part that MaxUse allows
	Budget dataflow.Resources `json:"budget,omitempty,omitzero"`

	// the precision that the model was quantised to again, and its accuracy; empty if the model stays as it is
	Precision string            `json:"precision,omitempty"`
	Accuracy  *samples.Accuracy `json:"accuracy,omitempty"`

	Status string `json:"status"`
	Reason string `json:"reason,omitempty"` // why Status is not Fits

	FPS float64 `json:"fps,omitempty"` // samples per second
	// the requested clock, or the fastest that every layer has a fold for
	Reached   float64            `json:"clock_reached_mhz,omitempty"`
	Interval  float64            `json:"interval_clocks,omitempty"`
	Latency   int                `json:"latency_clocks,omitempty"`
	Resources dataflow.Resources `json:"resources,omitempty,omitzero"`
	// the largest share of the board's amount of any resource
	Share      float64               `json:"largest_share,omitempty"`
	Bottleneck string                `json:"bottleneck,omitempty"`
	Proved     bool                  `json:"proved"` // whether the search proved that no design is better
	Cycles     []LayerClocksPerFrame `json:"clocks,omitempty"`
	// the folding file of the design, with the depths of its FIFOs
	Folding json.RawMessage `json:"folding,omitempty"`
	Bounds  *PointBounds    `json:"bounds,omitempty"` // for Status Bound
	// for Status Unreachable, if the budget is the reason: the design of the least load that is as fast as asked
	Over *OverBudgetDesign `json:"over_budget,omitempty"`
	// for sequences of several lengths; all other figures are those of the longest
	Sequences *report.SequenceRatesReport `json:"sequences,omitempty"`

	// the resources in which no other point with this board and clock is as fast and takes as little
	Front  []string                `json:"front,omitempty"`
	Chosen bool                    `json:"chosen,omitempty"`
	Report *synthesis.VendorReport `json:"synthesis,omitempty"` // the vendor's reports, once collected
}

// PointBounds holds limits that no design within the budget exceeds. If no rate or interval was given, FPS and Interval
// bound the speed, and Least is the least amount at that speed. Otherwise Least is the least amount at the given speed.
type PointBounds struct {
	FPS      float64 `json:"fps_at_most,omitempty"` // samples per second
	Interval int     `json:"interval_clocks_at_least,omitempty"`
	Measure  string  `json:"measure"`
	Least    float64 `json:"at_least"` // the least value of Measure: a share of the budget, or an amount
}

// An OverBudgetDesign is a design that does not fit: the speed and the resources of what the request would take.
type OverBudgetDesign struct {
	FPS       float64            `json:"fps"` // samples per second
	Interval  float64            `json:"interval_clocks"`
	Latency   int                `json:"latency_clocks"`
	Resources dataflow.Resources `json:"resources"`
	Share     float64            `json:"largest_share"` // of the board's amount of any resource
}

// LayerClocksPerFrame holds the clocks per frame of a layer.
type LayerClocksPerFrame struct {
	Name   string `json:"layer"`
	Clocks int    `json:"clocks"`
}

// latencyMicroseconds returns the latency in microseconds at the reached clock.
func (p *PointResult) latencyMicroseconds() float64 { return float64(p.Latency) / p.Reached }

// BoardArgument returns the name or path, among those given by the user, that names the point's board. It returns
// p.Board if none does.
func (p *PointResult) BoardArgument(given []string) string {
	for _, name := range given {
		if b, ok := options.FindBoardOrAddDiag(name, &diag.List{}); ok && b.Name == p.Board && b.Part == p.Part {
			return name
		}
	}
	return p.Board
}

// search returns the points that the search finds. If there is no design, it returns one point that says why.
func (s spec) search(ctx context.Context, all *spaces) (points []PointResult, err error) {
	defer crash.RecoverPanicIntoError(&err)
	if why := all.refused[s.Precision]; why != "" {
		p := s.blank()
		p.Status, p.Reason = PointStatusRefused, why
		return []PointResult{p}, nil
	}
	x, err := all.of(s)
	switch {
	case err != nil:
		return nil, err
	case x.list == nil:
		return []PointResult{s.none(&x.told)}, nil
	case s.Bound:
		p, err := s.bound(ctx, x)
		return []PointResult{p}, err
	}
	var d diag.List
	found, err := x.search(ctx, s, &d)
	dead := new(rtlsim.Deadlock)
	switch {
	case errors.As(err, &dead):
		p := s.blank()
		p.Status, p.Reason = PointStatusRefused, dead.Error()
		return []PointResult{p}, nil
	case err != nil:
		return nil, err
	case len(found) == 0:
		p := s.none(&d)
		p.Over, err = s.over(ctx, x, &p)
		return []PointResult{p}, err
	}
	for _, f := range found {
		points = append(points, s.point(f, all.saltOf(s)))
	}
	return points, nil
}

// over returns the design of the least load that does what is asked, where p says that none within the budget does. It
// returns nil if the budget is not the reason.
func (s spec) over(ctx context.Context, x *space, p *PointResult) (*OverBudgetDesign, error) {
	if p.Status != PointStatusUnreachable {
		return nil, nil
	}
	wanted := s.goal()
	wanted.OverBudget = true
	var d diag.List
	made, err := x.list.FindBestDesign(ctx, wanted, &d)
	if dead := new(rtlsim.Deadlock); errors.As(err, &dead) || made == nil {
		return nil, err
	}
	if err != nil || !made.Over {
		return nil, err
	}
	of := &OverBudgetDesign{Latency: made.Clocks.Latency, Resources: made.Estimate.Total,
		Share: round(share(made.Estimate.Total, folding.ResourcesOfBoard(s.Board)))}
	of.FPS, of.Interval = made.SamplesPerSecondAndInterval()
	return of, nil
}

// blank returns a point with only the requested values.
func (s spec) blank() PointResult {
	return PointResult{Board: s.Board.Name, Part: s.Board.Part, ClockMHz: s.ClockMHz, FPSAsked: s.FPS,
		Asked:  s.Interval,
		Memory: style(s.Memory), Compute: style(s.Compute), MaxUse: s.MaxUse.String(), Samples: s.Samples,
		Precision: s.Precision, Backend: s.Backend.Decides().Name,
		Budget: folding.BudgetOfBoard(s.Board, s.MaxUse).Resources}
}

// none returns a point with the reason, from the errors in d, why a search found nothing.
func (s spec) none(d *diag.List) PointResult {
	p := s.blank()
	p.Status = PointStatusRefused
	for _, x := range d.Diags {
		if x.Severity != diag.SeverityError {
			continue
		}
		switch p.Reason = x.Msg; {
		case x.Code == diag.FPSUnreachable || x.Code == diag.BudgetExceeded || x.Code == diag.LatencyUnreachable:
			p.Status = PointStatusUnreachable
		case x.Hint != "":
			p.Reason += ": " + x.Hint
		}
		break
	}
	return p
}

// bound returns a point with bounds on all designs of a space. It makes no design.
func (s spec) bound(ctx context.Context, x *space) (PointResult, error) {
	p := s.blank()
	b, err := x.list.ComputeDesignBounds(ctx, s.goal())
	switch {
	case err != nil:
		return p, err
	case b.Interval == 0:
		p.Status, p.Reason = PointStatusUnreachable, "no design within the budget is as fast"
		if s.FPS == 0 && s.Interval == 0 {
			p.Reason = "no design fits the budget"
		}
		return p, nil
	}
	p.Status = PointStatusBoundsOnly
	p.Bounds = &PointBounds{Measure: s.Least.String(), Least: roundDown(b.Measure)}
	if s.FPS == 0 && s.Interval == 0 {
		p.Bounds.FPS, p.Bounds.Interval = b.FPS, b.Interval
	}
	return p, nil
}

// point describes a design as a point. salt is the hash of the model and of all that shapes its import.
func (s spec) point(d *folding.Design, salt string) PointResult {
	p := s.blank()
	p.Status = PointStatusFits
	p.FPS, p.Interval = d.SamplesPerSecondAndInterval()
	p.Reached, p.Latency, p.Proved = d.ReachedClockMHz(), d.Clocks.Latency, d.Certificate.IsProvedBest()
	p.Bottleneck = strings.Join(d.Bottleneck.LimitingPartNames(), " ")
	p.Resources = d.Estimate.Total
	// the same bytes as read back from the journal, but for spaces
	p.Folding = bytes.TrimSpace(folding.FormatFoldingFile(d.Design, true))
	for i, n := range d.Model.Graph.Nodes {
		p.Cycles = append(p.Cycles, LayerClocksPerFrame{n.Name, d.LoopOfNode(i).IterationsPerFrame()})
	}
	p.Sequences = report.NewSequenceRatesReport(d)
	p.Share = round(share(p.Resources, folding.ResourcesOfBoard(s.Board)))
	p.ID = p.identify(s, salt)
	return p
}

// identify returns an ID that depends on everything that makes the design. salt is the hash of the model and of all
// that shapes its import.
func (p *PointResult) identify(s spec, salt string) string {
	by := []any{salt, s.Board, s.ClockMHz, s.Formula, s.IO, s.Samples, p.Folding}
	if s.Unroll != (dataflow.UnrollLimits{}) {
		by = append(by, s.Unroll)
	}
	if s.Calibration != nil {
		by = append(by, s.Calibration)
	}
	if s.Backend != "" {
		by = append(by, s.Backend)
	}
	if s.AccPerPE {
		by = append(by, "acc-per-pe")
	}
	b, err := json.Marshal(by)
	if err != nil {
		panic(err) // texts and numbers can always be encoded
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:6])
}

// round returns f rounded to six significant digits, which are more than the estimates are accurate to.
func round(f float64) float64 { return sixDigits(f, math.Round) }

// roundDown returns f with six significant digits, rounded down. So lower bounds stay true.
func roundDown(f float64) float64 { return sixDigits(f, math.Floor) }

func sixDigits(f float64, whole func(float64) float64) float64 {
	if f == 0 {
		return 0
	}
	scale := math.Pow(10, 5-math.Floor(math.Log10(math.Abs(f))))
	return whole(f*scale) / scale
}

// blocks is the name of block RAM in the data files, for every device.
const blocks = "RAMB18"

// A kind is a kind of resource, with its name in tables and its field in dataflow.Resources.
type kind struct {
	name, column, file string // names on axes, in columns and in files
	in                 func(*dataflow.Resources) *int
	drawn              bool
}

// on returns the name of the kind in pictures and pages of these points. For block RAM, it is the name in the data
// sheets of their devices.
func (k *kind) on(points []PointResult) string {
	if k.name != blocks {
		return k.name
	}
	return BlockRAMNameOfPoints(points)
}

// BlockRAMNameOfPoints returns the name of a block RAM on the devices of all points. If they have several names, it
// returns these with "or" in between.
func BlockRAMNameOfPoints(points []PointResult) string {
	var names []string
	for i := range points {
		name := boards.Board{Family: boards.FamilyOfPart(points[i].Part)}.BlockRAMUnitName()
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return strings.Join(names, " or ")
}

// FrontResourceNames returns the kinds of resource on whose fronts the point is, separated by spaces, as its device's
// data sheet names them.
func (p *PointResult) FrontResourceNames() string {
	names := slices.Clone(p.Front)
	if i := slices.Index(names, blocks); i >= 0 {
		names[i] = BlockRAMNameOfPoints([]PointResult{*p})
	}
	return strings.Join(names, " ")
}

// of returns the amount of the kind in r.
func (k *kind) of(r dataflow.Resources) int { return *k.in(&r) }

// The kinds of resource, in the order of tables.
var kinds = []kind{
	{"LUT", "lut", "lut", func(r *dataflow.Resources) *int { return &r.LUT }, true},
	{"FF", "ff", "ff", func(r *dataflow.Resources) *int { return &r.FF }, false},
	{blocks, "bram18", "bram", func(r *dataflow.Resources) *int { return &r.BRAM }, true},
	{"URAM", "uram", "uram", func(r *dataflow.Resources) *int { return &r.URAM }, false},
	{"DSP", "dsp", "dsp", func(r *dataflow.Resources) *int { return &r.DSP }, true},
}

// share returns the largest share of any kind of the board's resources that r takes.
func share(r, board dataflow.Resources) (most float64) {
	for _, k := range kinds {
		if n := k.of(board); n > 0 {
			most = max(most, float64(k.of(r))/float64(n))
		}
	}
	return most
}

// judge marks the points of each front, and the chosen point. Chosen is the fastest point that fits; among equally fast
// ones the one with the smallest share of its board, then the first. If the model was quantised again, only points
// count that are as accurate as the float model, as far as the samples tell; if there are none, the most accurate
// points.
func judge(points []PointResult, of *PrecisionAccuracies) {
	enough := of.enough(points)
	best := -1
	for i := range points {
		p := &points[i]
		p.Front, p.Chosen = nil, false
		if p.Status != PointStatusFits {
			continue
		}
		if p.Accuracy != nil && p.Accuracy.ShareRight() < enough {
			continue
		}
		if best < 0 || cmp.Or(cmp.Compare(points[best].FPS, p.FPS), cmp.Compare(p.Share, points[best].Share)) < 0 {
			best = i
		}
	}
	if best < 0 {
		return
	}
	points[best].Chosen = true
	for _, k := range kinds {
		if !k.drawn {
			continue
		}
		for _, group := range bySeries(points) {
			slices.SortStableFunc(group, func(a, b *PointResult) int {
				return cmp.Or(cmp.Compare(k.of(a.Resources), k.of(b.Resources)), cmp.Compare(b.FPS, a.FPS))
			})
			fastest := 0.0
			for _, p := range group {
				if p.FPS > fastest {
					p.Front, fastest = append(p.Front, k.name), p.FPS
				}
			}
		}
	}
}

// bySeries returns the points that fit, grouped by precision, board and clock, in the order of the sweep.
func bySeries(points []PointResult) (groups [][]*PointResult) {
	at := map[string]int{}
	for i := range points {
		p := &points[i]
		if p.Status != PointStatusFits {
			continue
		}
		name := p.Precision + " " + seriesName(p.Board, p.ClockMHz)
		k, ok := at[name]
		if !ok {
			k = len(groups)
			at[name], groups = k, append(groups, nil)
		}
		groups[k] = append(groups[k], p)
	}
	return groups
}
