package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"hlsgen/folding"
	"hlsgen/internal/report"
	"hlsgen/internal/testsupport/tier"
)

// What is said to be the least, for TestOneTruth.

// beaten checks that no known design is better than one that is called proved.
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
		use, err := folding.ParseMaxUseFractions(t.use)
		if err != nil {
			x.Fatal(err)
		}
		budget := folding.BudgetOfBoard(x.known, use)
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
			if c == nil || c.Interval > limit || !budget.AllowsResources(c.Total) || c.Reached != t.Reached {
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
	return slices.ContainsFunc(t.Layers, func(l report.LayerReport) bool {
		return l.Total != nil && l.Total.DSP > 0 && slices.ContainsFunc(x.few, func(name string) bool {
			return l.Name == name || strings.HasPrefix(l.Name, name+"_")
		})
	})
}

// worth returns the amounts that a goal minimises, the most important one first.
func (x *teller) worth(t, c *truth, budget folding.Budget, limit float64) []float64 {
	if strings.Contains(t.goal, "--latency") {
		return []float64{float64(c.Latency)}
	}
	r := c.Total
	load := 0.0
	for _, s := range budget.ResourceSharesOf(r) {
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

// open checks that a design that is not proved has a small gap, or a reason for a larger one.
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
