package sweep

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math"
	"slices"
	"strings"

	"hlsgen/folding"
	"hlsgen/internal/build"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
)

// The fates of a point.
const (
	Fits        = "fits"        // within the budget, and the asked rate is reached
	Over        = "over budget" // found, but it takes more than the budget
	Unreachable = "unreachable" // nothing within the budget reaches the rate, or fits at all
	Refused     = "refused"     // the styles or the clock are not possible
)

// A Point is one design of a sweep, or why there is none. What it takes and reaches are estimates: layers, FIFOs of two
// words, and the board's shell.
type Point struct {
	ID       string  `json:"id,omitempty"` // the same for the same design; empty where there is none
	Board    string  `json:"board"`
	Part     string  `json:"part"`
	ClockMHz float64 `json:"clock_mhz"` // asked for
	Target   float64 `json:"fps_asked,omitempty"`
	Memory   string  `json:"memory"`
	Compute  string  `json:"compute"`
	MaxUse   string  `json:"max_use"`

	Status string `json:"status"`
	Reason string `json:"reason,omitempty"` // of a status that is not Fits

	FPS        float64            `json:"fps,omitempty"`
	Reached    float64            `json:"clock_reached_mhz,omitempty"` // the asked clock, or what the slowest path allows
	Interval   int                `json:"interval_cycles,omitempty"`
	Latency    int                `json:"latency_cycles,omitempty"`
	Resources  dataflow.Resources `json:"resources,omitzero"`
	Share      float64            `json:"largest_share,omitempty"` // of the board, of what it takes most of
	Bottleneck string             `json:"bottleneck,omitempty"`
	Proved     bool               `json:"proved"` // no folding is better, by the certificate of the search
	Cycles     []Layer            `json:"cycles,omitempty"`
	Folding    map[string]Fold    `json:"folding,omitempty"` // as a folding file has it

	Front  []string `json:"front,omitempty"` // resources at which no other point of its board and clock is as fast with as little
	Chosen bool     `json:"chosen,omitempty"`
	Report *Report  `json:"synthesis,omitempty"` // of the vendor's tools, where it was collected
}

// A Layer is the clocks that a layer takes per frame.
type Layer struct {
	Name   string `json:"layer"`
	Clocks int    `json:"clocks"`
}

// A Fold is a layer's entry of a folding file.
type Fold struct {
	PE       int    `json:"PE"`
	SIMD     int    `json:"SIMD"`
	RAMStyle string `json:"ram_style,omitempty"`
	ResType  string `json:"resType,omitempty"`
}

func foldOf(f dataflow.Fold) Fold {
	o := Fold{PE: f.PE, SIMD: f.SIMD}
	if f.Memory != dataflow.NoMemory {
		o.RAMStyle = f.Memory.String()
	}
	if f.Compute != dataflow.NoCompute {
		o.ResType = f.Compute.String()
	}
	return o
}

// LatencyUS is the latency in microseconds at the clock that is reached.
func (p *Point) LatencyUS() float64 { return float64(p.Latency) / p.Reached }

// search makes the points of a spec. One that finds nothing is a point that says so.
func (s spec) search(ctx context.Context, all *spaces) (points []Point, err error) {
	defer build.Catch(&err)
	x, err := all.of(s)
	if err != nil {
		return nil, err
	}
	var d diag.List
	found, err := x.search(ctx, s, &d)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return []Point{s.none(&d)}, nil
	}
	for i := range found {
		points = append(points, s.point(&found[i], all.salt))
	}
	return points, nil
}

// blank is a point of which only the question is known.
func (s spec) blank() Point {
	return Point{Board: s.Board.Name, Part: s.Board.Part, ClockMHz: s.ClockMHz, Target: s.FPS, Memory: style(s.Memory), Compute: style(s.Compute), MaxUse: use(s.MaxUse)}
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

// point describes a design.
func (s spec) point(b *build.Point, salt string) Point {
	p, r := s.blank(), b.Folding
	p.FPS, p.Reached, p.Interval, p.Latency, p.Bottleneck, p.Proved = round(b.FPS()), b.ClockMHz, r.Interval, r.Latency, r.Bottleneck, r.Proof.Exact()
	p.Resources = b.Estimate.Total
	p.Folding = map[string]Fold{}
	for i, n := range r.Design.Model.Graph.Nodes {
		p.Cycles = append(p.Cycles, Layer{n.Name, r.Design.Loop(i).Iterations()})
		if len(n.Origin) > 0 { // else it follows from the folds of its neighbours
			p.Folding[n.Name] = foldOf(r.Design.Folds[i])
		}
	}
	p.Share = round(share(p.Resources, folding.Capacity(s.Board)))
	p.Status, p.ID = Fits, p.identify(s, salt)
	if over := p.Resources.Beyond(folding.Budget(s.Board, s.MaxUse)); over != (dataflow.Resources{}) {
		p.Status, p.Reason = Over, "with its FIFOs and the host's port it takes more than the budget: "+amounts(over)
	} else if b.FPS() < s.FPS {
		p.Status, p.Reason = Unreachable, "the slowest path allows "+number(p.Reached)+" MHz, too little for the rate"
	}
	return p
}

// identify names a design by what makes it; salt is the model and what shapes its import.
func (p *Point) identify(s spec, salt string) string {
	b, err := json.Marshal([]any{salt, s.Board, s.ClockMHz, s.Formula, p.Folding})
	if err != nil {
		panic(err) // texts and numbers always encode
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:6])
}

// round keeps six digits, which is more than an estimate means.
func round(f float64) float64 {
	if f == 0 {
		return 0
	}
	scale := math.Pow(10, 5-math.Floor(math.Log10(math.Abs(f))))
	return math.Round(f*scale) / scale
}

// amounts names what is not 0.
func amounts(r dataflow.Resources) string {
	var list []string
	for _, k := range kinds {
		if n := k.of(r); n > 0 {
			list = append(list, number(float64(n))+" "+k.name+" too many")
		}
	}
	return strings.Join(list, ", ")
}

// The kinds of resource, with the names of files and of axes.
var kinds = []struct {
	name, file string
	of         func(dataflow.Resources) int
	drawn      bool
}{
	{"LUT", "lut", func(r dataflow.Resources) int { return r.LUT }, true},
	{"FF", "ff", func(r dataflow.Resources) int { return r.FF }, false},
	{"RAMB18", "bram", func(r dataflow.Resources) int { return r.BRAM }, true},
	{"URAM", "uram", func(r dataflow.Resources) int { return r.URAM }, false},
	{"DSP", "dsp", func(r dataflow.Resources) int { return r.DSP }, true},
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
// with the least share of its board, of these the first.
func judge(points []Point) {
	best := -1
	for i := range points {
		p := &points[i]
		p.Front, p.Chosen = nil, false
		if p.Status != Fits {
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
		name := seriesName(p.Board, p.ClockMHz)
		k, ok := at[name]
		if !ok {
			k = len(groups)
			at[name], groups = k, append(groups, nil)
		}
		groups[k] = append(groups[k], p)
	}
	return groups
}
