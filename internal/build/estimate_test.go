package build_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hlsgen/folding"
	"hlsgen/internal/build"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/options"
	"hlsgen/internal/testsupport/tier"
)

// board writes a board with so many LUTs and a port to a processor.
func board(t *testing.T, lut string) string {
	return write(t, "board.json", []byte(strings.Replace(strings.Replace(tinyBoard, `"lut": 300`, `"lut": `+lut, 1),
		`"ff": 600`, `"ff": 100000`, 1)))
}

// The budget holds for the whole: layers, FIFOs and the host's port. Where nothing fits, the smallest budget that would
// do is told, and does.
func TestBudget(t *testing.T) {
	tier.NotQuick(t)
	for _, tt := range []struct {
		name, lut string
		over, ok  bool
		want      string // of what is printed
	}{
		{"room for all", "12000", false, true, ""},
		{"room beyond the budget", "8000", false, false,
			"error[budget-exceeded]: no design fits the budget; the least"},
		{"over the budget", "8000", true, true,
			"warning[budget-exceeded]: over the budget, as --over-budget allows: it takes"},
		{"no room", "5000", false, false, "hint: a larger board, or fewer bits or weights in the largest layers;"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			var d diag.List
			o := build.Options{Source: options.Source{Model: file(t, small())},
				Hardware: options.Hardware{Board: board(t, tt.lut)}, Goal: options.Goal{OverBudget: tt.over},
				Verification: options.Verification{NoCSim: true, Verify: 1},
				OutputFolder: options.OutputFolder{Out: "out"}}
			r, err := build.Run(context.Background(), o, &d)
			if err != nil || (r != nil) != tt.ok {
				t.Fatal(r, err, d)
			}
			var b strings.Builder
			d.Write(&b)
			if !strings.Contains(b.String(), tt.want) || tt.want == "" && b.Len() > 0 {
				t.Errorf("%q, want %q", b.String(), tt.want)
			}
			follow := func(o build.Options) *build.Result {
				t.Helper()
				d := diag.List{}
				o.Force = true
				r, err := build.Run(context.Background(), o, &d)
				if r == nil || err != nil || r.Design.Over || len(d.Diags) > 0 {
					t.Fatalf("--max-use %v --io %v, as the hint says: %v %v", o.MaxUse, o.IO, err, d.Diags)
				}
				return r
			}
			if strings.Contains(b.String(), "or --io stream") {
				o := o
				o.IO = dataflow.HostIOStream
				follow(o)
			}
			if _, hint, ok := strings.Cut(b.String(), "hint: --max-use "); ok {
				use, _, _ := strings.Cut(hint, ", a larger board")
				if o.MaxUse, err = folding.ParseMaxUseFractions(use); err != nil {
					t.Fatal(err)
				}
				if within := follow(o); !tt.over {
					r = within
				}
			}
			if r == nil {
				return
			}
			e := r.Design.Estimate
			sum := e.FIFOs.Total().Plus(e.Host.Total())
			for _, l := range r.LayerReports() {
				sum = sum.Plus(*l.Total)
			}
			if sum != e.Total || r.Design.Shares[0].Used != sum.LUT || sum.FF == 0 || e.Host.Total().LUT < 5000 {
				t.Errorf("%+v in all, the parts are %+v", e.Total, sum)
			}
			if r.Design.Over != tt.over || r.Design.Budget.AllowsResources(sum) == tt.over {
				t.Errorf("over the budget: %t, %+v of %+v", r.Design.Over, sum, r.Design.Budget.Resources)
			}
		})
	}
}

// The report says where everything goes, by the formula that was asked for.
func TestResourceReport(t *testing.T) {
	for _, formula := range []dataflow.CostFormulaChoice{dataflow.FittedCostFormula, dataflow.FINNCostFormula} {
		t.Run(formula.String(), func(t *testing.T) {
			t.Chdir(t.TempDir())
			var d diag.List
			o := build.Options{Source: options.Source{Model: file(t, small())},
				Hardware:     options.Hardware{Board: "zcu104", Formula: formula},
				Verification: options.Verification{NoCSim: true, Verify: 1},
				OutputFolder: options.OutputFolder{Out: "out"}}
			if r, err := build.Run(context.Background(), o, &d); r == nil || err != nil {
				t.Fatal(r, err, d)
			}
			var got struct {
				Formula       string
				Layers, Total dataflow.Resources
				FIFOs, Host   dataflow.Cost
			}
			data, err := os.ReadFile(filepath.Join("out", "report", "resources.json"))
			if err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(data, &got); err != nil {
				t.Fatal(err)
			}
			if got.Formula != formula.String() ||
				got.Total != got.Layers.Plus(got.FIFOs.Total()).Plus(got.Host.Total()) || got.Layers.LUT == 0 ||
				(formula == dataflow.FittedCostFormula) != (len(got.Host) == 3 && got.Layers.FF > 0) {
				t.Errorf("%s", data)
			}
		})
	}
}

// Rates are given for a clock that the layers allow; above it there is a warning, and another one above the clock whose
// stages have room for what kernels carry. Both name the slower of the two clocks.
func TestClock(t *testing.T) {
	tier.NotQuick(t)
	for _, tt := range []struct {
		asked, given float64
		warnings     int
	}{{100, 100, 0}, {300, 300, 0}, {324, 324, 0}, {325, 325, 1}, {393, 393, 1}, {394, 393, 2}, {1000, 393, 2}} {
		t.Chdir(t.TempDir())
		var d diag.List
		r, err := build.Run(context.Background(), build.Options{Source: options.Source{Model: file(t,
			small())}, Hardware: options.Hardware{Board: "zcu104", ClockMHz: tt.asked},
			Verification: options.Verification{NoCSim: true, Verify: 1},
			OutputFolder: options.OutputFolder{Out: "out"}}, &d)
		if err != nil || r == nil {
			t.Fatal(err, d)
		}
		clock, fps := r.Design.ReachedClockMHz(), r.Design.SamplesPerSecond()
		rate := folding.SamplesPerSecondForInterval(tt.given, r.Design.Clocks.Interval, 1)
		if clock != tt.given || fps != rate || len(d.Diags) != tt.warnings {
			t.Errorf("%v MHz: rates for %v MHz, %v frames per second, %v", tt.asked, clock, fps, d.Diags)
		}
		for _, x := range d.Diags {
			if x.Code != diag.LayerTooSlowForClock || x.Hint != "ask for --clock 324 or less" {
				t.Errorf("%v MHz: %v", tt.asked, x)
			}
		}
	}
}
