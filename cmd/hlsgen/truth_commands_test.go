package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"hlsgen/boards"
	"hlsgen/folding/goal"
	"hlsgen/internal/check"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/npy"
	"hlsgen/internal/options"
	"hlsgen/internal/testsupport/models"
)

// What the commands say of one design, for TestOneTruth.

// A teller asks the commands about one model on one board.
type teller struct {
	*testing.T
	dir, model, board string
	known             boards.Board
	few               []string // layers that multiply few bits, and may do so in LUTs
	rand              *rand.Rand
	designs           int
	cases, proved     int // that have a design
	refused           int
	best              *truth // the fastest within the guideline
}

func tell(t *testing.T, model models.Model, board string) *teller {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "own.json"), truthBoard)
	x := &teller{T: t, dir: dir, model: model.Path(model.Files[0]), board: board,
		rand: rand.New(rand.NewPCG(11, uint64(len(model.Name)+len(board))))}
	if strings.HasSuffix(board, ".json") {
		x.board = "./" + board
	}
	var err error
	if x.known, err = boards.FindBoard(x.board); err != nil {
		if x.known, err = boards.FindBoard(filepath.Join(dir, board)); err != nil {
			t.Fatal(err)
		}
	}
	x.look()
	return x
}

// look finds the layers of few bits, and writes one sample of the model's inputs, all of the least value that the first
// quantiser tells apart.
func (x *teller) look() {
	x.Helper()
	var d diag.List
	c, err := check.Run(context.Background(), check.Options{Source: options.Source{Model: x.model}}, &d)
	if err != nil || c.Imported.Model == nil {
		x.Fatal(err, d.Diags)
	}
	target := dataflow.Target{Board: x.known, ClockMHz: x.known.ClockMHz}
	for _, n := range c.Imported.Model.Graph.Nodes {
		if bits := n.Op.Describe().NarrowerFactorBits; bits != nil && bits() <= goal.MaxNarrowFactorBits {
			for f := range n.Op.Folds() {
				if n.Op.Cost(f, target).Total().DSP == 0 {
					x.few = append(x.few, n.Name)
					break
				}
			}
		}
	}
	in := c.Imported.Model.In[0]
	n := 1
	for _, size := range in.Shape {
		n *= size
	}
	file, err := npy.EncodeNPY(&npy.Array{DType: in.DType, Shape: in.Shape,
		Data: slices.Repeat([]float64{in.Range[0]}, n)})
	if err != nil {
		x.Fatal(err)
	}
	write(x.T, filepath.Join(x.dir, "one.npy"), string(file))
}

// goal is the flags of a goal.
func (x *teller) flags(wanted, use string) []string {
	for _, word := range regexp.MustCompile(`\{(fps|clocks)[/*](\d+)\}`).FindAllStringSubmatch(wanted, -1) {
		var n float64
		fmt.Sscan(word[2], &n)
		if word[1] == "fps" {
			n = x.best.FPS / n
		} else {
			n = math.Floor(x.best.Interval * n)
		}
		wanted = strings.ReplaceAll(wanted, word[0], fmt.Sprintf("%v", n))
	}
	return append(strings.Fields(wanted), "--max-use", use)
}

// build builds; nil where the design is refused, with the hint.
func (x *teller) build(wanted, use string, flags ...string) (*truth, string) {
	x.Helper()
	x.designs++
	dir := fmt.Sprintf("out%d", x.designs)
	args := append([]string{"build", x.model, "--board", x.board, "--json", "--no-csim", "--verify", "0", "--out", dir},
		flags...)
	got := say(x.dir, nil, args...)
	t := &truth{goal: wanted, use: use, args: flags, dir: filepath.Join(x.dir, dir)}
	if err := json.Unmarshal([]byte(got.stdout), &t.built); err != nil {
		x.Fatalf("%v: %v: %+v", args, err, got)
	}
	switch got.code {
	case exitOK:
		return t, ""
	case exitDiagnostics:
		if len(t.Diagnostics) == 0 {
			x.Fatalf("%v: %+v", args, got)
		}
		return nil, t.Diagnostics[0].Hint
	}
	x.Fatalf("%v: %+v", args, got)
	return nil, ""
}

// same checks that two commands print the same design.
func (x *teller) same(what string, t *truth, got, want any) {
	x.Helper()
	if !reflect.DeepEqual(got, want) {
		x.Errorf("%s %s %v: %s gives\n%+v, build\n%+v", filepath.Base(filepath.Dir(x.model)), x.board, t.args, what,
			got, want)
	}
}

var asks = regexp.MustCompile(`--(fps|interval|max-use) (\S+)`)

// replaced returns the flags with another value of one.
func replaced(flags []string, name, value string) []string {
	out := slices.Clone(flags)
	for i, f := range out {
		switch {
		case f == "--"+name:
			out[i+1] = value
			return out
		case name == "fps" && f == "--interval", name == "interval" && f == "--fps":
			out[i], out[i+1] = "--"+name, value
			return out
		}
	}
	return append(out, "--"+name, value)
}

// hint follows the hint of a message that no design is good enough.
func (x *teller) hint(wanted, use string, flags []string, hint string) {
	x.Helper()
	m := asks.FindStringSubmatch(hint)
	if m == nil {
		x.Errorf("%v: hint %q says nothing to ask for", flags, hint)
		return
	}
	flags = replaced(flags, m[1], strings.Trim(m[2], ",;"))
	t, again := x.build(wanted, use, flags...)
	if t == nil {
		x.Errorf("%s on %s: hint %q followed: %v: %s", x.model, x.board, hint, flags, again)
		return
	}
	x.within(t)
}

// within checks that a design is inside the budget that it was asked for with.
func (x *teller) within(t *truth) {
	x.Helper()
	if !t.Fits {
		x.Errorf("%v: does not fit, without --over-budget", t.args)
	}
	share := map[string]float64{"LUT": 0.7, "LUTRAM": 0.25, "FF": 0.5, "RAMB18": 0.8, "URAM": 0.8, "DSP": 0.8}
	use := t.args[slices.Index(t.args, "--max-use")+1]
	mean := use == "guideline"
	for i, part := range strings.Split(use, ",") {
		if use == "guideline" {
			break
		}
		name, text, named := strings.Cut(part, "=")
		var f float64
		if !named {
			text = name
		}
		fmt.Sscan(text, &f)
		if i == 0 && !named {
			for k := range share {
				share[k] = f
			}
		}
		if named {
			share[map[string]string{"lut": "LUT", "lutram": "LUTRAM", "ff": "FF", "bram": "RAMB18", "uram": "URAM",
				"dsp": "DSP"}[name]] = f
		}
	}
	b, r := x.known, t.Total
	have := map[string]int{"LUT": b.LUT, "LUTRAM": b.LUTRAM, "FF": b.FF, "RAMB18": 2 * b.BRAM36, "URAM": b.URAM,
		"DSP": b.DSP}
	used := map[string]int{"LUT": r.LUT, "LUTRAM": r.LUTRAM, "FF": r.FF, "RAMB18": r.BRAM, "URAM": r.URAM, "DSP": r.DSP}
	sum, kinds := 0.0, 0
	for _, k := range slices.Sorted(maps.Keys(used)) {
		if float64(used[k]) > share[k]*float64(have[k])+1e-6 {
			x.Errorf("%s on %s %v: %d of %d %s, asked for no more than %v of it", x.model, x.board, t.args, used[k],
				have[k], k, share[k])
		}
		if k != "LUT" && k != "FF" && k != "LUTRAM" && have[k] > 0 {
			sum, kinds = sum+float64(used[k])/float64(have[k]), kinds+1
		}
	}
	if mean && sum/float64(kinds) > 0.7+1e-9 {
		x.Errorf("%s on %s %v: mean of memories and multipliers is %v", x.model, x.board, t.args, sum/float64(kinds))
	}
}

// one asks every command for a goal, and follows everything that is printed.
func (x *teller) one(wanted, use string) *truth {
	x.Helper()
	flags := x.flags(wanted, use)
	t, hint := x.build(wanted, use, flags...)
	if t == nil {
		x.refused++
		x.hint(wanted, use, flags, hint)
		x.sweep(&truth{args: flags}, false)
		return nil
	}
	x.cases++
	x.within(t)
	if t.Folding.Proved {
		x.proved++
	}

	got := say(x.dir, nil, append([]string{"simulate", x.model, "--engine", "cycle", "--input", "one.npy", "--board",
		x.board, "--json"}, flags...)...)
	var s simulated
	if err := json.Unmarshal([]byte(got.stdout), &s); err != nil || got.code != exitOK {
		x.Fatalf("%v: %v %+v", flags, err, got)
	}
	x.same("simulate", t, figures{FPS: s.FPS, Interval: s.Interval, Latency: s.Latency},
		figures{FPS: t.FPS, Interval: t.Interval, Latency: t.Latency})
	folds := map[string]folded{}
	for _, l := range t.Layers {
		folds[l.Name] = folded{l.Fold.PE, l.Fold.SIMD}
	}
	x.same("simulate's folding", t, s.Folds, folds)

	x.sweep(t, true)
	again, hint := x.build(wanted, use, replaced(flags, "fps", plainText(t.FPS))...)
	x.again("the printed rate", t, again, hint)
	if t.Interval == math.Floor(t.Interval) {
		again, hint = x.build(wanted, use, replaced(flags, "interval", plainText(t.Interval))...)
		x.again("the printed interval", t, again, hint)
	}
	again, hint = x.build(wanted, use, append(slices.Clone(flags), "--folding", filepath.Join(t.dir,
		"folding.json"))...)
	x.again("the written folding", t, again, hint)
	if !strings.Contains(wanted, "latency") {
		x.front(t)
	}
	return t
}

func plainText(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

func (x *teller) again(what string, t, again *truth, hint string) {
	x.Helper()
	if again == nil {
		x.Errorf("%s on %s %v: %s is refused: %s", x.model, x.board, t.args, what, hint)
		return
	}
	x.same(what, t, again.figures(), t.figures())
	x.same(what+": layers", t, again.Layers, t.Layers)
}

// sweep asks for the point of a sweep.
func (x *teller) sweep(t *truth, fits bool) {
	x.Helper()
	x.designs++
	args := append([]string{"sweep", x.model, "--board", x.board, "--json", "--out", fmt.Sprintf("sweep%d", x.designs)},
		t.args...)
	got := say(x.dir, nil, args...)
	var s struct {
		Chosen *struct {
			Status    string
			FPS       float64
			Interval  float64 `json:"interval_clocks"`
			Latency   int     `json:"latency_clocks"`
			Proved    bool
			Resources map[string]int
		}
		Fates map[string]int
	}
	if err := json.Unmarshal([]byte(got.stdout), &s); err != nil {
		x.Fatalf("%v: %v %+v", args, err, got)
	}
	if !fits {
		if s.Chosen != nil || s.Fates["fits"] > 0 {
			x.Errorf("%v: build refuses it, sweep says %+v", args, s)
		}
		return
	}
	if s.Chosen == nil || s.Chosen.Status != "fits" {
		x.Errorf("%v: build makes it, sweep says %s %s", args, got.stdout, got.stderr)
		return
	}
	c, r := s.Chosen, s.Chosen.Resources
	x.same("sweep", t, figures{c.FPS, c.Interval, c.Latency, r["LUT"], r["FF"], r["BRAM_18K"], r["DSP"], r["URAM"],
		r["LUTRAM"]}, t.figures())
	if c.Proved != t.Folding.Proved {
		x.Errorf("%v: sweep says proved %v, build %v", args, c.Proved, t.Folding.Proved)
	}
}

// front asks for the front that contains a design, and for one of its points.
func (x *teller) front(t *truth) {
	x.Helper()
	args := append([]string{"build", x.model, "--board", x.board, "--json", "--pareto", "--points", "4"}, t.args...)
	got := say(x.dir, nil, args...)
	var f frontJSON
	if err := json.Unmarshal([]byte(got.stdout), &f); err != nil || got.code != exitOK || len(f.Points) == 0 {
		x.Fatalf("%v: %v %+v", args, err, got)
	}
	of := func(p frontItem) figures {
		r := p.Total
		return figures{p.FPS, p.Interval, p.Latency, r.LUT, r.FF, r.BRAM, r.DSP, r.URAM, r.LUTRAM}
	}
	if !strings.Contains(t.goal, "fps") && !strings.Contains(t.goal, "interval") {
		x.same("the fastest of --pareto", t, of(f.Points[0]), t.figures())
	}
	p := f.Points[x.rand.IntN(len(f.Points))]
	again, hint := x.build(t.goal, t.use, replaced(t.args, "fps", plainText(p.FPS))...)
	if again == nil {
		x.Errorf("%v: a rate of the front, %v, is refused: %s", args, p.FPS, hint)
		return
	}
	x.same("a rate of --pareto", again, of(p), again.figures())
}
