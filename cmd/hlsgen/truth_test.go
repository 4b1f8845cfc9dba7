package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"hlsgen/internal/testsupport/models"
	"hlsgen/internal/testsupport/tier"
)

// What one command prints, another can be asked for, and gives: TestOneTruth asks every command for the design of the
// same model, board, budget and goal.

// truthBoard is a board file of its own: few multipliers, no UltraRAM, an odd port.
const truthBoard = `{"name": "own", "part": "xc7z010clg400-1", "lut": 17600, "ff": 35200, "lutram": 6000,
	"bram36": 60, "uram": 0, "dsp": 80,
	"dsp_type": "DSP48E1", "host_port_bits": 32, "memory_gbps": 2.1, "default_clock_mhz": 90,
	"part_source": "mine", "resource_source": "mine"}`

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

// figures are the figures that commands are compared by.
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

// TestOneTruth makes the comparison described above for some cases, and in the long tier for all.
func TestOneTruth(t *testing.T) {
	tier.NotQuick(t)
	list := models.All(t)
	type group struct {
		model, board string
		budgets      []string
		goals        []string
	}
	groups := []group{
		{"digits-mlp-w2a2", "pynq-z1", truthBudgets[:1], truthGoals[:4]},
		{"iris-mlp-w3a3", "own.json", truthBudgets[1:2], truthGoals[4:9]},
		{"digits-cnn-w4a4", "kv260", truthBudgets[2:], truthGoals[10:]},
		{"a2qplus-mlp-signed-w4a4-p9", "kv260", truthBudgets[:1], truthGoals[9:10]},
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
				for _, wanted := range g.goals {
					all = append(all, x.one(wanted, use))
				}
			}
			if tier.Long() {
				all = append(all, x.kinds()...)
			}
			challengers := 5
			if tier.Long() {
				challengers = 8
			}
			x.beaten(all, append(x.challengers(all, challengers), all...))
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
