package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"hlsgen/boards"
	"hlsgen/folding"
	"hlsgen/folding/ask"
	"hlsgen/internal/compiler"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/models"
	"hlsgen/internal/npy"
	"hlsgen/internal/tier"
)

// What one command prints, another can be asked for, and gives: TestOneTruth asks every command for the design of the
// same model, board, budget and goal.

// truthBoard is a board file of its own: few multipliers, no UltraRAM, an odd port.
const truthBoard = `{"name": "own", "part": "xc7z010clg400-1", "lut": 17600, "ff": 35200, "lutram": 6000, "bram36": 60, "uram": 0, "dsp": 80,
	"dsp_type": "DSP48E1", "host_port_bits": 32, "memory_gbps": 2.1, "default_clock_mhz": 90, "part_source": "mine", "resource_source": "mine"}`

var (
	// truthShared are the shared models of the long tier; those of the repository are run in any case.
	truthShared = []string{"brevitas/a2q-base-cnn-w4a4", "brevitas/a2qplus-cnn-w8a8-p16", "brevitas/resnet8-w4a4",
		"zoo/TFC_1W1A", "zoo/TFC_1W2A", "zoo/TFC_2W2A"}
	truthBoards  = []string{"pynq-z1", "zcu104", "kv260", "own.json"}
	truthBudgets = []string{"guideline", "0.6", "0.8,lut=0.4,dsp=0.2"}
	// truthGoals are asked for in the units of the fastest design of the group: {fps/4} is a quarter of its rate,
	// {clocks*3} three times its interval.
	truthGoals = []string{"", "--least lut", "--least ff", "--least bram", "--least dsp", "--fps {fps/4}",
		"--fps {fps/3} --least lut", "--interval {clocks*3} --least ff",
		"--interval {clocks*7} --least bram", "--latency", "--latency --interval {clocks*2}"}
)

// A truth is a design as a command prints it.
type truth struct {
	goal, use string
	args      []string // that it was asked for with
	dir       string   // where build wrote it
	built
}

// what is compared between commands.
type figures struct {
	FPS, Interval float64
	Latency       int
	LUT, FF       int
	BRAM, DSP     int
	URAM, LUTRAM  int
}

func (t *truth) figures() figures {
	r := t.Total
	return figures{t.FPS, t.Interval, t.Latency, r.LUT, r.FF, r.BRAM, r.DSP, r.URAM, r.LUTRAM}
}

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
	if x.known, err = boards.Find(x.board); err != nil {
		if x.known, err = boards.Find(filepath.Join(dir, board)); err != nil {
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
	c, err := compiler.Check(context.Background(), compiler.Options{Model: x.model}, &d)
	if err != nil || c.Imported.Model == nil {
		x.Fatal(err, d.Diags)
	}
	target := dataflow.Target{Board: x.known, ClockMHz: x.known.ClockMHz}
	for _, n := range c.Imported.Model.Graph.Nodes {
		if m, ok := n.Op.(dataflow.Multiplying); ok && m.FactorBits() <= ask.FewBits {
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
	file, err := npy.Format(&npy.Array{DType: in.DType, Shape: in.Shape,
		Data: slices.Repeat([]float64{in.Range[0]}, n)})
	if err != nil {
		x.Fatal(err)
	}
	write(x.T, filepath.Join(x.dir, "one.npy"), string(file))
}

// goal is the flags of a goal.
func (x *teller) flags(goal, use string) []string {
	for _, word := range regexp.MustCompile(`\{(fps|clocks)[/*](\d+)\}`).FindAllStringSubmatch(goal, -1) {
		var n float64
		fmt.Sscan(word[2], &n)
		if word[1] == "fps" {
			n = x.best.FPS / n
		} else {
			n = math.Floor(x.best.Interval * n)
		}
		goal = strings.ReplaceAll(goal, word[0], fmt.Sprintf("%v", n))
	}
	return append(strings.Fields(goal), "--max-use", use)
}

// build builds; nil where the design is refused, with the hint.
func (x *teller) build(goal, use string, flags ...string) (*truth, string) {
	x.Helper()
	x.designs++
	dir := fmt.Sprintf("out%d", x.designs)
	args := append([]string{"build", x.model, "--board", x.board, "--json", "--no-csim", "--verify", "0", "--out", dir},
		flags...)
	got := say(x.dir, nil, args...)
	t := &truth{goal: goal, use: use, args: flags, dir: filepath.Join(x.dir, dir)}
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

// same holds that two commands tell of one design.
func (x *teller) same(what string, t *truth, got, want any) {
	x.Helper()
	if !reflect.DeepEqual(got, want) {
		x.Errorf("%s %s %v: %s gives\n%+v, build\n%+v", filepath.Base(filepath.Dir(x.model)), x.board, t.args, what,
			got, want)
	}
}

var asks = regexp.MustCompile(`--(fps|interval|max-use) (\S+)`)

// replaced is the flags with another value of one.
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

// hint follows what is said where nothing is good enough.
func (x *teller) hint(goal, use string, flags []string, hint string) {
	x.Helper()
	m := asks.FindStringSubmatch(hint)
	if m == nil {
		x.Errorf("%v: hint %q says nothing to ask for", flags, hint)
		return
	}
	flags = replaced(flags, m[1], strings.Trim(m[2], ",;"))
	t, again := x.build(goal, use, flags...)
	if t == nil {
		x.Errorf("%s on %s: hint %q followed: %v: %s", x.model, x.board, hint, flags, again)
		return
	}
	x.within(t)
}

// within holds that a design is inside the budget that it was asked for with.
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
func (x *teller) one(goal, use string) *truth {
	x.Helper()
	flags := x.flags(goal, use)
	t, hint := x.build(goal, use, flags...)
	if t == nil {
		x.refused++
		x.hint(goal, use, flags, hint)
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
	again, hint := x.build(goal, use, replaced(flags, "fps", plainText(t.FPS))...)
	x.again("the printed rate", t, again, hint)
	if t.Interval == math.Floor(t.Interval) {
		again, hint = x.build(goal, use, replaced(flags, "interval", plainText(t.Interval))...)
		x.again("the printed interval", t, again, hint)
	}
	again, hint = x.build(goal, use, append(slices.Clone(flags), "--folding", filepath.Join(t.dir, "folding.json"))...)
	x.again("the written folding", t, again, hint)
	if !strings.Contains(goal, "latency") {
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

// front asks for the front of which a design is a point, and for one of its points.
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

// beaten holds that no design that is known beats one that is called proved.
func (x *teller) beaten(all, by []*truth) {
	x.Helper()
	for _, t := range all {
		if t == nil || !t.Folding.Proved {
			continue
		}
		if t.Folding.Spares && x.spends(t) {
			x.Errorf("%s on %s: %v multiplies few bits in DSP slices, and says that none does", x.model, x.board,
				t.args)
		}
		use, err := folding.ParseMaxUse(t.use)
		if err != nil {
			x.Fatal(err)
		}
		budget := folding.BudgetOf(x.known, use)
		limit := math.Inf(1)
		for i, f := range t.args {
			var n float64
			if i+1 < len(t.args) {
				fmt.Sscan(t.args[i+1], &n)
			}
			switch f {
			case "--fps":
				limit = t.ClockMHz * 1e6 / n
			case "--interval":
				limit = n
			}
		}
		for _, c := range by {
			if c == nil || c.Interval > limit || !budget.Fits(c.Total) || c.Reached != t.Reached {
				continue
			}
			a, b := x.worth(t, t, budget, limit), x.worth(t, c, budget, limit)
			if t.Folding.Spares && x.spends(c) { // it is not among those that the least is of, but its interval counts
				a, b = a[:len(a)-1], b[:len(b)-1]
			}
			if slices.Compare(b, a) < 0 {
				x.Errorf("%s on %s: %v is called proved with %v, and %v has %v", x.model, x.board, t.args, a, c.args, b)
			}
		}
	}
}

// spends reports whether a layer that multiplies few bits does so in DSP slices, and has a choice. The parts of a layer
// have its name before theirs.
func (x *teller) spends(t *truth) bool {
	return slices.ContainsFunc(t.Layers, func(l compiler.LayerReport) bool {
		return l.Total != nil && l.Total.DSP > 0 && slices.ContainsFunc(x.few, func(name string) bool {
			return l.Name == name || strings.HasPrefix(l.Name, name+"_")
		})
	})
}

// worth is what a goal minimises, the first thing first.
func (x *teller) worth(t, c *truth, budget folding.Budget, limit float64) []float64 {
	if strings.Contains(t.goal, "--latency") {
		return []float64{float64(c.Latency)}
	}
	r := c.Total
	load := 0.0
	for _, s := range budget.Shares(r) {
		if s.Budget > 0 {
			load = max(load, math.Round(1e6*float64(s.Used)/float64(s.Budget)))
		}
	}
	least := map[string]float64{"lut": float64(r.LUT), "ff": float64(r.FF), "bram": float64(r.BRAM),
		"dsp": float64(r.DSP)}
	value := load
	if _, kind, ok := strings.Cut(t.goal, "--least "); ok {
		value = least[kind]
	}
	if math.IsInf(limit, 1) {
		return []float64{c.Interval, value}
	}
	return []float64{value}
}

// challengers are neighbours of designs: one layer of the written folding changed to another's values.
func (x *teller) challengers(all []*truth, n int) (list []*truth) {
	made := slices.DeleteFunc(slices.Clone(all), func(t *truth) bool { return t == nil })
	for range n {
		if len(made) == 0 {
			return nil
		}
		a, b := made[x.rand.IntN(len(made))], made[x.rand.IntN(len(made))]
		file := map[string]map[string]any{}
		other := map[string]map[string]any{}
		for dir, to := range map[string]*map[string]map[string]any{a.dir: &file, b.dir: &other} {
			text, err := os.ReadFile(filepath.Join(dir, "folding.json"))
			if err != nil {
				x.Fatal(err)
			}
			if err := json.Unmarshal(text, to); err != nil {
				x.Fatal(err)
			}
		}
		if a.dir == b.dir {
			other = file
		}
		for name, l := range file {
			if x.rand.IntN(2) == 0 && other[name] != nil {
				file[name] = other[name]
			}
			delete(l, "inFIFODepths")
			delete(l, "outFIFODepths")
			delete(file[name], "inFIFODepths")
			delete(file[name], "outFIFODepths")
		}
		text, _ := json.Marshal(file)
		write(x.T, filepath.Join(x.dir, "challenger.json"), string(text))
		if t, _ := x.build("", "guideline", "--max-use", "guideline", "--folding", "challenger.json",
			"--over-budget"); t != nil {
			list = append(list, t)
		}
	}
	return list
}

// TestOneTruth holds what is said above for 30 cases, and in the long tier for every one.
func TestOneTruth(t *testing.T) {
	tier.NotQuick(t)
	list := models.All(t)
	type group struct {
		model, board string
		budgets      []string
		goals        []string
	}
	groups := []group{
		{"digits-mlp-w2a2", "pynq-z1", truthBudgets[:1], truthGoals},
		{"iris-mlp-w3a3", "own.json", truthBudgets[1:2], truthGoals[4:8]},
		{"zoo/TFC_2W2A", "pynq-z1", truthBudgets[1:2], []string{"--least lut", "--latency"}},
		{"digits-cnn-w4a4", "kv260", truthBudgets[2:], []string{"", "--fps {fps/4}",
			"--latency --interval {clocks*2}"}},
		{"jets-qap-w6a6-s80", "zcu104", truthBudgets[:1], truthGoals[5:10]},
		{"a2qplus-mlp-signed-w4a4-p9", "kv260", truthBudgets[:1], truthGoals[3:6]},
		{"digits-conv1d-w4a4", "pynq-z1", truthBudgets[1:2], []string{"", "--interval {clocks*3} --least ff"}},
	}
	if tier.Long() {
		groups = nil
		for _, m := range list {
			if m.Info.Refused != "" || m.Shared && !slices.Contains(truthShared, m.Name) {
				continue
			}
			for _, board := range truthBoards {
				groups = append(groups, group{m.Name, board, truthBudgets, truthGoals})
			}
		}
	}
	var cases, proved atomic.Int64
	t.Cleanup(func() {
		if n, all := proved.Load(), cases.Load(); 10*n < 9*all {
			t.Errorf("%d of %d cases are proved", n, all)
		}
	})
	for _, g := range groups {
		at := slices.IndexFunc(list, func(m models.Model) bool { return m.Name == g.model })
		if at < 0 {
			continue // a shared one
		}
		t.Run(strings.ReplaceAll(g.model, "/", "-")+"-"+g.board, func(t *testing.T) {
			t.Parallel()
			x := tell(t, list[at], g.board)
			x.best, _ = x.build("", "guideline", "--max-use", "guideline", "--over-budget")
			if x.best == nil {
				t.Fatal("no design")
			}
			var all []*truth
			for _, use := range g.budgets {
				for _, goal := range g.goals {
					all = append(all, x.one(goal, use))
				}
			}
			if tier.Long() {
				all = append(all, x.kinds()...)
			}
			x.beaten(all, append(x.challengers(all, tier.Few(8)), all...))
			x.open(all)
			cases.Add(int64(x.cases))
			proved.Add(int64(x.proved))
			t.Logf("%d cases with a design, %d proved, and %d refused; %d builds", x.cases, x.proved, x.refused,
				x.designs)
		})
	}
}

// kinds asks for 20 % less and 20 % more of each kind than the fastest design takes of it.
func (x *teller) kinds() (all []*truth) {
	b, r := x.known, x.best.Total
	for _, k := range []struct {
		name       string
		used, have int
	}{{"lut", r.LUT, b.LUT}, {"lutram", r.LUTRAM, b.LUTRAM}, {"ff", r.FF, b.FF}, {"bram", r.BRAM, 2 * b.BRAM36},
		{"uram", r.URAM, b.URAM}, {"dsp", r.DSP, b.DSP}} {
		if k.used == 0 {
			continue
		}
		for _, f := range []float64{0.8, 1.2} {
			share := math.Min(1, f*float64(k.used)/float64(k.have))
			use := fmt.Sprintf("1,%s=%.4f", k.name, share)
			t := x.one("", use)
			all = append(all, t)
			if f > 1 && x.best.Fits && (t == nil || cmp.Compare(t.Interval, x.best.Interval) > 0) {
				x.Errorf("%s on %s: %s is slower than what fits in it", x.model, x.board, use)
			}
		}
	}
	return all
}

// open holds that what is not proved has a small gap, or the reason of a larger one.
func (x *teller) open(all []*truth) {
	for _, t := range all {
		if t == nil || t.Folding.Proved {
			continue
		}
		c := t.Folding
		gap, most := 0.0, 0.05
		if c.Floor > 0 {
			gap = c.Interval/float64(c.Floor) - 1
		}
		for _, m := range c.Minimised[:min(1, len(c.Minimised))] {
			if m.Least > 0 {
				gap = max(gap, m.Value/m.Least-1)
			}
		}
		if l := c.Latency; l != nil {
			gap, most = float64(l.Clocks)/float64(l.Least)-1, 0.1
		}
		x.Logf("open by %.1f %%: %v: %s", 100*gap, t.args, c.Gap)
		if gap > most && (c.Gap == "" || !tier.Long()) { // the cases of every run have small gaps, whatever the reason
			x.Errorf("%s on %s %v: open by %.1f %% for no reason: %s", x.model, x.board, t.args, 100*gap, c.Text)
		}
	}
}
