package folding

import (
	"fmt"
	"strconv"
	"strings"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
)

// unreachable tells that the asked rate cannot be had, what can, and what is in the way.
func (s *space) unreachable(goal Goal, want int, f fastest, d *diag.List) {
	best := frameRate(s.target, f.interval)
	if best >= 1 {
		best = float64(int64(best)) // down: what is reported can be asked for
	}
	dg := diag.Diag{
		Severity: diag.Error, Code: diag.FPSUnreachable,
		Msg: fmt.Sprintf("%s frames per second at %s MHz allow %s per frame; the best on %s is %s, %s frames per second",
			plain(goal.FPS), plain(s.target.ClockMHz), clocks(want), s.target.Board.Name, clocks(f.interval), plain(best)),
		Hint:  fmt.Sprintf("--fps %s, a higher --clock, a larger --max-use or a larger board", plain(best)),
		Notes: []string{f.why},
	}
	if i, most := s.slowest(); most > want {
		dg.Node = s.layers[i].origin()
		if dg.Notes = []string{s.floor()}; f.interval > most {
			dg.Notes = append(dg.Notes, f.why) // more hardware alone would not do
		}
	}
	d.Add(dg)
}

// exceeded tells that no folding at the interval, the longest there is, fits the budget: what is missing, how much is
// needed at least, and which layer takes most of it.
func (s *space) exceeded(t *tree, severity diag.Severity, d *diag.List) {
	f := t.nearest()
	kind := s.scarcest(f.cost)
	msg := fmt.Sprintf("no folding fits every budget at once; the least demanding one takes %d %s", f.cost[kind], names[kind])
	worst := 1.0
	for k, p := range t.single {
		need := p.least
		if share := float64(need) / float64(s.budget[k]); need > s.budget[k] && share > worst {
			kind, worst = k, share
			msg = fmt.Sprintf("the smallest folding needs %d %s", need, names[k])
			f = t.cheapest(p)
		}
	}
	at, most := 0, int64(-1)
	for i, o := range f.options {
		if n := s.layers[i].options[o].cost[kind]; n > most {
			at, most = i, n
		}
	}
	hint := "a larger board or --max-use, or fewer bits or weights in that layer"
	if severity == diag.Warning {
		hint = "built as the folding file asks"
	}
	dg := s.layers[at].diag(severity, diag.BudgetExceeded, fmt.Sprintf("%s; the budget on %s is %d of %d", msg, s.target.Board.Name,
		s.budget[kind], vectorOf(Capacity(s.target.Board))[kind]), hint)
	dg.Notes = []string{fmt.Sprintf("the largest layer is %s with %d", s.layers[at].node.Name, most)}
	d.Add(dg)
}

// unjoined tells that neighbours cannot be joined even at the longest interval.
func (s *space) unjoined(d *diag.List) {
	d.Add(diag.Diag{Severity: diag.Error, Code: diag.WordTooWide,
		Msg:  fmt.Sprintf("no width converter of at most %d bits joins the words of some neighbouring layers", dataflow.MaxWord),
		Hint: "leave PE and SIMD of these layers out of the folding file"})
}

// diag is a diagnostic about the layer.
func (l *layer) diag(severity diag.Severity, code diag.Code, msg, hint string) diag.Diag {
	return diag.Diag{Severity: severity, Code: code, Node: l.origin(), Msg: msg, Hint: hint}
}

// origin is the first ONNX node that the layer computes, empty where there is none.
func (l *layer) origin() string {
	if len(l.node.Origin) == 0 {
		return ""
	}
	return l.node.Origin[0]
}

func frameRate(t dataflow.Target, clocks int) float64 { return t.ClockMHz * 1e6 / float64(clocks) }

// plain writes a number without an exponent, to at most six decimals.
func plain(f float64) string {
	return strings.TrimSuffix(strings.TrimRight(strconv.FormatFloat(f, 'f', 6, 64), "0"), ".")
}

// clocks counts clocks in words.
func clocks(n int) string {
	if n == 1 {
		return "1 clock"
	}
	return strconv.Itoa(n) + " clocks"
}
