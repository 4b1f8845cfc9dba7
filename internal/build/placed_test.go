package build

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"hlsgen/folding"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/options"
	"hlsgen/internal/testsupport/maketest"
	"hlsgen/internal/testsupport/models"
	"hlsgen/internal/testsupport/tier"
)

// A placer is a board with open tools. It has the patterns of the logic cells and block RAMs that nextpnr reports, and
// two clocks in MHz.
type placer struct {
	board         string
	pypi          bool // the tools are those of bin/yowasp, PyPI's packages
	cells, blocks string
	clocks        [2]float64
}

var placers = []placer{
	{board: "icebreaker", cells: `ICESTORM_LC: +(\d+)/`, blocks: `ICESTORM_RAM: +(\d+)/`, clocks: [2]float64{12, 24}},
	{board: "ulx3s-85f", pypi: true, cells: `TRELLIS_COMB: +(\d+)/`, blocks: `DP16KD: +(\d+)/`,
		clocks: [2]float64{25, 50}},
}

// placedModels are small enough for an iCE40. placedGoals are the goals of the designs of each.
var (
	placedModels = []string{"digits-mlp-w2a2", "iris-mlp-w3a3", "digits-mlp-w1a1", "digits-mlp-w4a4-pot",
		"jets-qap-w6a6-s80"}
	placedGoals = []string{"fastest", "least", "drawn", "drawn again"}
)

// TestPlaced has 20 designs placed and routed for the boards with open tools: the fastest of a model, one of few LUTs,
// and two with drawn folds. A design that fits must be placed and close its clock. It takes the block RAMs that it is
// priced at, and as many logic cells within a tenth.
func TestPlaced(t *testing.T) {
	t.Parallel()
	tier.NeedsLong(t)
	tier.Needs(t, "make", "yosys", "nextpnr-ice40", "icepack")
	for i, model := range placedModels {
		for k, wanted := range placedGoals {
			p := placers[(i+k)%len(placers)]
			t.Run(fmt.Sprintf("%s %s %s", model, wanted, p.board), func(t *testing.T) {
				args := []string{"bitstream"}
				if p.pypi {
					args = append(args, maketest.PyPI(t))
				}
				r := rand.New(rand.NewPCG(uint64(i), uint64(k)))
				p.place(t, model, wanted, p.clocks[(i+k)/2%2], r, args)
			})
		}
	}
}

// place builds a model for the board at a clock, and has its design placed by make with the arguments.
func (p placer) place(t *testing.T, model, wanted string, mhz float64, r *rand.Rand, args []string) {
	t.Helper()
	o := Options{Source: options.Source{Model: models.Find(t, model).Path("model.onnx")},
		Hardware:     options.Hardware{Board: p.board, Backend: options.BackendRTL, ClockMHz: mhz},
		Verification: options.Verification{Verify: 1, NoCSim: true},
		OutputFolder: options.OutputFolder{Out: filepath.Join(t.TempDir(), "out"), Force: true}}
	if wanted != "fastest" {
		o.Interval, o.Least = 20_000, folding.ResourceMeasureLUT
	}
	res := placedBuild(t, o)
	for try := 0; wanted != "fastest" && wanted != "least"; try++ {
		if try == 20 {
			t.Fatal("no drawn design fits")
		}
		drawn := o
		drawn.Goal = options.Goal{FoldingFile: drawnFolds(t, r, res)}
		if other := placedBuild(t, drawn); other != nil {
			res = other
			break
		}
	}
	if res == nil {
		t.Fatal("no design fits")
	}
	said := maketest.Make(t, filepath.Join(res.Out, "rtl"), args...)
	mhz = maketest.Figure(t, said, `Max frequency for clock .*: ([0-9.]+) MHz`)
	blocks, cells := int(maketest.Figure(t, said, p.blocks)), int(maketest.Figure(t, said, p.cells))
	total, promised := res.Design.Estimate.Total, res.Design.Target.ClockMHz
	t.Logf("%.1f MHz of %g, %d block RAMs of %d, %d logic cells of %d", mhz, promised, blocks, total.BRAM, cells,
		total.LUT)
	if mhz < promised {
		t.Errorf("%g MHz, promised %g", mhz, promised)
	}
	if blocks != total.BRAM {
		t.Errorf("%d block RAMs, priced at %d", blocks, total.BRAM)
	}
	if 10*cells < 9*total.LUT || 10*cells > 11*total.LUT {
		t.Errorf("%d logic cells, priced at %d", cells, total.LUT)
	}
}

// placedBuild returns what a build makes, or nil if no design is within the budget.
func placedBuild(t *testing.T, o Options) *Result {
	t.Helper()
	var d diag.List
	res, err := Run(context.Background(), o, &d)
	if err != nil || res == nil && d.Diags[len(d.Diags)-1].Code != diag.BudgetExceeded {
		t.Fatal(err, d.Diags)
	}
	return res
}

// drawnFolds returns a file with a drawn PE and SIMD for every MVAU of a model. A design may have them in parts.
func drawnFolds(t *testing.T, r *rand.Rand, res *Result) *folding.FoldingFile {
	t.Helper()
	file := map[string]map[string]int{}
	for _, n := range res.Imported.Model.Graph.Nodes {
		if n.Op.Kind() != "MVAU" {
			continue
		}
		var folds []dataflow.Fold
		for f := range n.Op.Folds() {
			if f.PE*f.SIMD <= 16 {
				folds = append(folds, f)
			}
		}
		f := folds[r.IntN(len(folds))]
		file[n.Name] = map[string]int{"PE": f.PE, "SIMD": f.SIMD}
	}
	text, err := json.Marshal(file)
	if err != nil {
		t.Fatal(err)
	}
	var d diag.List
	parsed := folding.ParseFoldingFile(text, &d)
	if parsed == nil {
		t.Fatal(d.Diags)
	}
	return parsed
}
