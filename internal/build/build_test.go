package build

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"hlsgen/folding"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/examples"
	"hlsgen/internal/npy"
	"hlsgen/internal/options"
	"hlsgen/internal/report"
	"hlsgen/internal/samples"
	"hlsgen/internal/source"
	"hlsgen/internal/testsupport/models"
	"hlsgen/internal/testsupport/samplefiles"
	"hlsgen/internal/testsupport/tier"
)

// TestBuildAgrees builds every real model: reference, eval and cycle must agree, stream by stream. Each is built for
// one of two boards, turn about; in the long tier for both. Below it one shared model of two is
// built. The smallest are compiled, too; more C++ is compiled in TestRandomNetworks.
func TestBuildAgrees(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	boards, smallest, built := []string{"pynq-z1", "zcu104"}, 8<<10, 0
	if tier.Full() {
		smallest = 24 << 10
	}
	for i, m := range models.All(t) {
		for _, file := range m.Files {
			refused, formats := m.Expect(t, file)
			switch {
			case !m.TierAllows(t, file), refused != "" && formats == nil:
				continue
			case m.Shared && m.HasOp(t, file, append([]string{"Conv", "QLinearConv"}, models.Recurrent...)...):
				continue
			case m.Shared && !tier.Long() && i%4 > 1: // both boards remain
				continue
			}
			if built++; tier.Quick() && built%3 > 0 {
				continue
			}
			csim := !m.Shared && len(m.Read(t, file)) <= smallest
			for k, board := range boards {
				if formats != nil && k == 0 || formats == nil && !tier.Long() && k != i%2 {
					continue // with formats for its gates, an LSTM takes more than the smaller board has
				}
				t.Run(m.Name+"/"+file+"/"+board, func(t *testing.T) {
					t.Parallel()
					opt := Options{Source: options.Source{Model: m.Path(file)},
						Hardware:     options.Hardware{Board: board},
						Verification: options.Verification{Verify: 4, NoCSim: !csim}}
					opt.Out = filepath.Join(t.TempDir(), "out")
					if formats != nil {
						opt.LSTM = m.Path(m.Info.LSTM)
					}
					buildAgrees(t, opt)
				})
			}
		}
	}
	if built < 15 && !tier.Quick() {
		t.Errorf("%d models", built)
	}
}

func buildAgrees(t *testing.T, opt Options) {
	want := []string{"eval", "cycle"}
	if !opt.NoCSim {
		tier.Needs(t, "g++")
		want = append(want, "csim")
	}
	var d diag.List
	r, err := Run(context.Background(), opt, &d)
	onHost := func(x diag.Diag) bool { return x.Code == diag.ProductsOnHost } // as the model has them
	if opt.LSTM == "" {
		samplefiles.WantClean(t, &diag.List{Diags: slices.DeleteFunc(slices.Clone(d.Diags), onHost)}, err)
	}
	if err != nil || d.HasErrors() {
		t.Fatal(err, d.Diags)
	}
	if r.Verified.Samples != 4 || !slices.Equal(r.Verified.Engines, want) {
		t.Errorf("verified %+v, want 4 samples and %v", r.Verified, want)
	}
	budget := folding.BudgetOfBoard(r.Design.Target.Board, folding.MaxUseFractions{})
	if total := r.Design.Estimate.Total; !budget.AllowsResources(total) || r.Design.Over {
		t.Errorf("%+v does not fit the budget", total)
	}
}

// TestFINNFolding holds the cycles and accumulators of finn-examples' foldings against FINN's own.
func TestFINNFolding(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	shared := tier.NeedsShared(t)
	for _, c := range []struct {
		model       string
		cycles, acc []int
	}{
		{"TFC_2W2A", []int{64, 64, 64, 8}, []int{10, 8, 8, 8}},
		{"kwsmlp_w3a3", []int{392, 256, 256, 384}, []int{18, 13, 13, 14}},
	} {
		r, _ := told(t, Options{Source: options.Source{Model: filepath.Join(shared, "models/zoo", c.model,
			"model.onnx")},
			Hardware: options.Hardware{Board: "zcu104"}, Goal: options.Goal{Folding: filepath.Join(shared,
				"reference/finn_estimates",
				c.model, "folding_config.json")}, Verification: options.Verification{Verify: 1, NoCSim: true}})
		narrow(t, r, c.acc)
		var cycles []int
		for i, n := range r.Design.Model.Graph.Nodes {
			if n.Op.Describe().Accumulators != nil {
				cycles = append(cycles, r.Design.LoopOfNode(i).IterationsPerFrame())
			}
		}
		if !slices.Equal(cycles, c.cycles) {
			t.Errorf("%s: %v cycles, FINN has %v", c.model, cycles, c.cycles)
		}
	}
}

func digest(t *testing.T, dir string) string {
	t.Helper()
	h := sha256.New()
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		rel, _ := filepath.Rel(dir, path)
		fmt.Fprintf(h, "%s %d\n%s", rel, len(b), b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

func TestDeterministic(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	var sums []string
	for range 2 {
		sums = append(sums, digest(t, built(t, Options{Hardware: options.Hardware{Board: "zcu104"},
			Verification: options.Verification{Verify: 2, NoCSim: true}}).Out))
	}
	if sums[0] != sums[1] {
		t.Error("two builds of the same model differ")
	}
}

// TestReports reads the reports back: sums agree, every ONNX node has a fate, the folding file gives the same design.
func TestReports(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	r := built(t, Options{Hardware: options.Hardware{Board: "pynq-z1"}, Verification: options.Verification{Verify: 2,
		NoCSim: true}})
	read := func(name string, v any) {
		t.Helper()
		if err := json.Unmarshal(readReport(t, r, name), v); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	var res map[string]dataflow.Resources
	read("report/estimate_layer_resources.json", &res)
	var sum dataflow.Resources
	for name, v := range res {
		if name != "total" {
			sum = sum.Plus(v)
		}
	}
	if sum != res["total"] {
		t.Errorf("layers sum to %+v, total says %+v", sum, res["total"])
	}
	var perf report.FINNPerformanceReport
	read("report/estimate_network_performance.json", &perf)
	c := r.Design.Clocks
	if perf.Max != c.Slowest || perf.Interval != c.Interval || perf.Simulated != c.Latency || c.Latency < c.Slowest {
		t.Errorf("performance %+v, clocks %v %d %d", perf, c.Interval, c.Latency, c.Slowest)
	}
	for _, f := range r.Imported.Fates {
		if f.Fate == "not mapped" || f.Fate == "not reached" {
			t.Errorf("%+v", f)
		}
	}
	again := built(t, Options{Hardware: options.Hardware{Board: "pynq-z1"},
		Goal: options.Goal{Folding: filepath.Join(r.Out,
			"folding.json")}, Verification: options.Verification{Verify: 2, NoCSim: true}})
	if fmt.Sprint(again.Design.Folds, again.Design.FIFO) != fmt.Sprint(r.Design.Folds, r.Design.FIFO) {
		t.Errorf("folding.json gave %v, %v, it was written for %v, %v",
			again.Design.Folds, again.Design.FIFO, r.Design.Folds, r.Design.FIFO)
	}
}

func TestAccuracy(t *testing.T) {
	t.Parallel()
	r := built(t, Options{Hardware: options.Hardware{Board: "zcu104"}, Verification: options.Verification{Verify: 1,
		NoCSim: true}})
	// Brevitas' own predictions on the same samples.
	src := source.ReadModelFile("", nil)
	b, err := examples.EmbeddedFiles.ReadFile(examples.DigitsName + "/outputs.npy")
	if err != nil {
		t.Fatal(err)
	}
	y, err := npy.ParseNPY(b)
	if err != nil {
		t.Fatal(err)
	}
	right, n := 0, 0
	for i, label := range src.Labels.Data {
		if label >= 0 {
			scores := y.Data[i*10 : (i+1)*10]
			if n++; slices.Index(scores, slices.Max(scores)) == int(label) {
				right++
			}
		}
	}
	if want := samples.NewAccuracy(right, n); *r.Accuracy != want {
		t.Errorf("accuracy %+v, Brevitas has %+v", *r.Accuracy, want)
	}
}

// FINN's own builds of TFC-W1A1: the clocks of one frame through the stitched design, by RTL simulation, against those
// of our simulation at the same folding, from the first FIFO to the last. FINN's figures are of the layers alone, which
// are fed a word in every clock: no host's port, no Reshape, no IODMA, and no processes at the ends.
func TestLatencyOfFINNBuilds(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	shared := tier.NeedsShared(t)
	for _, build := range []string{"tfc_w1a1_auto", "tfc_w1a1_custom_0", "tfc_w1a1_custom_2"} {
		dir := filepath.Join(shared, "reference", "finn_builds", build)
		var finn struct {
			Latency int `json:"latency_cycles"`
		}
		b, err := os.ReadFile(filepath.Join(dir, "rtlsim_performance.json"))
		if err = errors.Join(err, json.Unmarshal(b, &finn)); err != nil || finn.Latency == 0 {
			t.Fatal(err, finn)
		}
		r, _ := told(t, Options{Source: options.Source{Model: filepath.Join(shared, "models", "zoo", "labs_tfc_w1a1",
			"model.onnx"), ModelInputs: options.ModelInputs{InputType: byteInput(big.NewRat(1, 1))}},
			Hardware: options.Hardware{Board: "pynq-z1", IO: dataflow.HostIOStream},
			Goal: options.Goal{Folding: filepath.Join(dir,
				"final_hw_config.json")}, Verification: options.Verification{NoCSim: true, Verify: 1}})
		c := r.Design.Clocks
		latency := c.Latency - c.Ends.In - c.Ends.Out
		share := float64(latency) / float64(finn.Latency)
		t.Logf("%s: %d clocks, FINN's design %d: %.3f of it", build, latency, finn.Latency, share)
		if share < 0.98 || share > 1.02 {
			t.Errorf("%s: a frame takes %d clocks, FINN's design %d", build, latency, finn.Latency)
		}
	}
}
