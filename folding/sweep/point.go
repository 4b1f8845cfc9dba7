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
	"hlsgen/internal/compiler"
	"hlsgen/internal/compiler/samples"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/synthesis"
	"hlsgen/rtlsim"
)

// The fates of a point.
const (
	// made whole, with its FIFOs sized by simulation: within the budget, and as fast as asked
	Fits        = "fits"
	Unreachable = "unreachable" // nothing within the budget is as fast as asked, or fits at all
	Refused     = "refused"     // the styles or the clock are not possible
	Bound       = "bound"       // not made: what no design there goes below
)

// A Point is one design of a sweep, or why there is none, or what no design there goes below.
type Point struct {
	ID       string  `json:"id,omitempty"` // the same for the same design; empty where there is none
	Board    string  `json:"board"`
	Part     string  `json:"part"`
	ClockMHz float64 `json:"clock_mhz"`                       // asked for
	FPSAsked float64 `json:"fps_asked,omitempty"`             // samples per second
	Asked    float64 `json:"interval_asked_clocks,omitempty"` // from frame to frame
	Memory   string  `json:"memory"`
	Compute  string  `json:"compute"`
	MaxUse   string  `json:"max_use"`
	Samples  int     `json:"interleave"` // that take turns: a frame holds so many

	// what the model is quantised to, again, and what comes of it; of points of models that stay, left out
	Precision string            `json:"precision,omitempty"`
	Accuracy  *samples.Accuracy `json:"accuracy,omitempty"`

	Status string `json:"status"`
	Reason string `json:"reason,omitempty"` // of a status that is not Fits

	FPS float64 `json:"fps,omitempty"` // samples per second
	// the asked clock, or what every layer has a fold for
	Reached    float64            `json:"clock_reached_mhz,omitempty"`
	Interval   float64            `json:"interval_clocks,omitempty"`
	Latency    int                `json:"latency_clocks,omitempty"`
	Resources  dataflow.Resources `json:"resources,omitempty,omitzero"`
	Share      float64            `json:"largest_share,omitempty"` // of the board, of what it takes most of
	Bottleneck string             `json:"bottleneck,omitempty"`
	Proved     bool               `json:"proved"` // nothing is better, by the certificate of the search
	Cycles     []LayerClocks      `json:"clocks,omitempty"`
	// the folding file that gives the design, with the depths of FIFOs
	Folding json.RawMessage `json:"folding,omitempty"`
	Bounds  *Bounds         `json:"bounds,omitempty"` // of a point that is a bound
	// where frames are sequences of different lengths, of which all figures above are of the longest
	Sequences *compiler.SequencesReport `json:"sequences,omitempty"`

	// resources at which no other point of its board and clock is as fast with as little
	Front  []string          `json:"front,omitempty"`
	Chosen bool              `json:"chosen,omitempty"`
	Report *synthesis.Report `json:"synthesis,omitempty"` // of the vendor's tools, where it was collected
}

// Bounds is what no design within the budget goes beyond: where no rate or interval was asked for, how fast it may be,
// and what it takes at least then; else what it takes at least to be as fast as asked.
type Bounds struct {
	FPS      float64 `json:"fps_at_most,omitempty"` // samples per second
	Interval int     `json:"interval_clocks_at_least,omitempty"`
	Measure  string  `json:"measure"`
	Least    float64 `json:"at_least"` // of the measure: a share of the budget, or an amount
}

// LayerClocks is the clocks that a layer takes per frame.
type LayerClocks struct {
	Name   string `json:"layer"`
	Clocks int    `json:"clocks"`
}

// LatencyUS is the latency in microseconds at the clock that is reached.
func (p *Point) LatencyUS() float64 { return float64(p.Latency) / p.Reached }

// search makes the points of a spec. One that finds nothing is a point that says so.
func (s spec) search(ctx context.Context, all *spaces) (points []Point, err error) {
	defer compiler.Catch(&err)
	if why := all.refused[s.Precision]; why != "" {
		p := s.blank()
		p.Status, p.Reason = Refused, why
		return []Point{p}, nil
	}
	x, err := all.of(s)
	switch {
	case err != nil:
		return nil, err
	case x.list == nil:
		return []Point{s.none(&x.told)}, nil
	case s.Bound:
		p, err := s.bound(ctx, x)
		return []Point{p}, err
	}
	var d diag.List
	found, err := x.search(ctx, s, &d)
	dead := new(rtlsim.Deadlock)
	switch {
	case errors.As(err, &dead):
		p := s.blank()
		p.Status, p.Reason = Refused, dead.Error()
		return []Point{p}, nil
	case err != nil:
		return nil, err
	case len(found) == 0:
		return []Point{s.none(&d)}, nil
	}
	for _, f := range found {
		points = append(points, s.point(f, all.saltOf(s)))
	}
	return points, nil
}

// blank is a point of which only the question is known.
func (s spec) blank() Point {
	return Point{Board: s.Board.Name, Part: s.Board.Part, ClockMHz: s.ClockMHz, FPSAsked: s.FPS, Asked: s.Interval,
		Memory: style(s.Memory), Compute: style(s.Compute), MaxUse: s.MaxUse.String(), Samples: s.Samples,
		Precision: s.Precision}
}

// none says why a search has found nothing.
func (s spec) none(d *diag.List) Point {
	p := s.blank()
	p.Status = Refused
	for _, x := range d.Diags {
		if x.Severity != diag.Error {
			continue
		}
		switch p.Reason = x.Msg; {
		case x.Code == diag.FPSUnreachable || x.Code == diag.BudgetExceeded:
			p.Status = Unreachable
		case x.Hint != "":
			p.Reason += ": " + x.Hint
		}
		break
	}
	return p
}

// bound says what no design goes below, without making one.
func (s spec) bound(ctx context.Context, x *space) (Point, error) {
	p := s.blank()
	b, err := x.list.Bound(ctx, s.goal())
	switch {
	case err != nil:
		return p, err
	case b.Interval == 0:
		p.Status, p.Reason = Unreachable, "no design within the budget is as fast"
		if s.FPS == 0 && s.Interval == 0 {
			p.Reason = "no design fits the budget"
		}
		return p, nil
	}
	p.Status = Bound
	p.Bounds = &Bounds{Measure: s.Least.String(), Least: roundDown(b.Measure)}
	if s.FPS == 0 && s.Interval == 0 {
		p.Bounds.FPS, p.Bounds.Interval = b.FPS, b.Interval
	}
	return p, nil
}

// point describes a design.
func (s spec) point(d *folding.Design, salt string) Point {
	p := s.blank()
	p.Status = Fits
	p.FPS, p.Interval = d.Pace()
	p.Reached, p.Latency, p.Proved = d.ClockMHz(), d.Clocks.Latency, d.Certificate.Proved()
	p.Bottleneck = strings.Join(d.Bottleneck.Names(), " ")
	p.Resources = d.Estimate.Total
	// as it comes back out of the journal, but for spaces in it
	p.Folding = bytes.TrimSpace(folding.Format(d.Design, true))
	for i, n := range d.Model.Graph.Nodes {
		p.Cycles = append(p.Cycles, LayerClocks{n.Name, d.Loop(i).Iterations()})
	}
	p.Sequences = compiler.SequencesOf(d)
	p.Share = round(share(p.Resources, folding.Capacity(s.Board)))
	p.ID = p.identify(s, salt)
	return p
}

// identify names a design by what makes it; salt is the model and what shapes its import.
func (p *Point) identify(s spec, salt string) string {
	by := []any{salt, s.Board, s.ClockMHz, s.Formula, s.IO, s.Samples, p.Folding}
	if s.Unroll != (dataflow.Envelope{}) {
		by = append(by, s.Unroll)
	}
	if s.Calibration != nil {
		by = append(by, s.Calibration)
	}
	if s.RTL {
		by = append(by, "rtl")
	}
	if s.AccPerPE {
		by = append(by, "acc-per-pe")
	}
	b, err := json.Marshal(by)
	if err != nil {
		panic(err) // texts and numbers always encode
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:6])
}

// round keeps six digits, which is more than an estimate means.
func round(f float64) float64 { return sixDigits(f, math.Round) }

// roundDown keeps six digits of what is a bound below.
func roundDown(f float64) float64 { return sixDigits(f, math.Floor) }

func sixDigits(f float64, whole func(float64) float64) float64 {
	if f == 0 {
		return 0
	}
	scale := math.Pow(10, 5-math.Floor(math.Log10(math.Abs(f))))
	return whole(f*scale) / scale
}

// blocks is the block RAM in data, whatever the device.
const blocks = "RAMB18"

// A kind is a kind of resource.
type kind struct {
	name, column, file string // of axes, columns and files
	in                 func(*dataflow.Resources) *int
	drawn              bool
}

// on is what a kind is called where points are drawn or shown: as the data sheets of all their devices have it.
func (k *kind) on(points []Point) string {
	if k.name != blocks {
		return k.name
	}
	return BlockName(points)
}

// BlockName is what a block RAM of the devices of all points is called.
func BlockName(points []Point) string {
	var names []string
	for i := range points {
		name := boards.Board{Family: boards.FamilyOf(points[i].Part)}.BlockName()
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return strings.Join(names, " or ")
}

// Best is the kinds of resource whose fronts the point is on, as its device's data sheet calls them.
func (p *Point) Best() string {
	names := slices.Clone(p.Front)
	if i := slices.Index(names, blocks); i >= 0 {
		names[i] = BlockName([]Point{*p})
	}
	return strings.Join(names, " ")
}

// of is the amount of the kind.
func (k *kind) of(r dataflow.Resources) int { return *k.in(&r) }

// The kinds of resource, in the order of tables.
var kinds = []kind{
	{"LUT", "lut", "lut", func(r *dataflow.Resources) *int { return &r.LUT }, true},
	{"FF", "ff", "ff", func(r *dataflow.Resources) *int { return &r.FF }, false},
	{blocks, "bram18", "bram", func(r *dataflow.Resources) *int { return &r.BRAM }, true},
	{"URAM", "uram", "uram", func(r *dataflow.Resources) *int { return &r.URAM }, false},
	{"DSP", "dsp", "dsp", func(r *dataflow.Resources) *int { return &r.DSP }, true},
}

// share is the largest share of a board that an amount takes.
func share(r, board dataflow.Resources) (most float64) {
	for _, k := range kinds {
		if n := k.of(board); n > 0 {
			most = max(most, float64(k.of(r))/float64(n))
		}
	}
	return most
}

// judge marks the points of each front, and the chosen one: of those that fit the fastest, of equally fast ones the one
// with the least share of its board, of these the first. Of models that were quantised again, only those count that are
// as accurate as the float model, as far as the samples tell; where none is, the most accurate ones.
func judge(points []Point, of *Precisions) {
	enough := of.enough(points)
	best := -1
	for i := range points {
		p := &points[i]
		p.Front, p.Chosen = nil, false
		if p.Status != Fits {
			continue
		}
		if p.Accuracy != nil && p.Accuracy.Share() < enough {
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
			slices.SortStableFunc(group, func(a, b *Point) int {
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

// bySeries is the points that fit, those of one board and clock together, in the order of the sweep.
func bySeries(points []Point) (groups [][]*Point) {
	at := map[string]int{}
	for i := range points {
		p := &points[i]
		if p.Status != Fits {
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
