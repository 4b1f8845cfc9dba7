package build

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hlsgen/folding"
	"hlsgen/hlslib/rnn"
	"hlsgen/internal/ctc"
	"hlsgen/internal/diag"
	"hlsgen/internal/engines"
	"hlsgen/internal/npy"
	"hlsgen/internal/options"
	"hlsgen/internal/simulate"
	"hlsgen/internal/testsupport/samplefiles"
	"hlsgen/internal/testsupport/tier"
)

// A finnl is a network of FINN-L (arXiv 1807.04093) with activations of so many bits: it reads lines of text.
type finnl struct {
	name string
	bits int
}

var finnls = []finnl{{"W2A2", 2}, {"W4A4", 4}, {"W4A8", 8}}

// finnlModels is the folder of the networks.
func finnlModels(t *testing.T) string {
	t.Helper()
	return filepath.Join(tier.NeedsShared(t), "models", "finnl")
}

// line writes the columns of a line of text as the network takes them.
func (n finnl) line(t *testing.T, dir string) string {
	t.Helper()
	arrays, err := npy.ReadArrays(filepath.Join(dir, "input_columns.npy"))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "line.npy")
	for _, a := range arrays {
		x := &npy.Array{DType: "float32", Shape: a.Shape}
		for _, v := range a.Data {
			x.Data = append(x.Data, v/float64(int(1)<<(n.bits-1)))
		}
		samplefiles.Save(t, file, x)
	}
	return file
}

// TestFINNLText holds that lines are read as FINN-L's hardware reads them, mistakes included.
func TestFINNLText(t *testing.T) {
	t.Parallel()
	models := finnlModels(t)
	for _, n := range finnls {
		for _, line := range []string{"010029", "010077"} {
			t.Run(n.name+"/"+line, func(t *testing.T) {
				t.Parallel()
				if n.name+line != "W2A2010077" && n.name+line != "W4A8010029" {
					tier.NeedsLong(t)
				}
				tier.NotQuick(t)
				dir := filepath.Join(models, n.name, line)
				var want struct{ Text string }
				text, err := os.ReadFile(filepath.Join(dir, "result.json"))
				if err != nil {
					t.Fatal(err)
				}
				if err := json.Unmarshal(text, &want); err != nil {
					t.Fatal(err)
				}
				var d diag.List
				r, err := simulate.Run(context.Background(),
					simulate.Options{Source: options.Source{Model: filepath.Join(models,
						n.name, "scan.onnx"), SampleFiles: options.SampleFiles{Data: n.line(t, dir)}},
						Engine: engines.EngineEval}, &d)
				samplefiles.WantClean(t, &d, err)
				if len(r.Texts) != 1 || r.Texts[0] != want.Text || r.Decoder.Method != ctc.MethodBestBetweenBlanks {
					t.Errorf("%q by %v, want %q", r.Texts, r.Decoder, want.Text)
				}
			})
		}
	}
}

// folded builds a network for lines of so many columns with FINN-L's folding of the recurrent part, on FINN-L's board.
func (n finnl) folded(t *testing.T, columns, verify int) *Result {
	t.Helper()
	return n.build(t, columns, Options{Hardware: options.Hardware{Board: "pynq-z1"},
		Goal:         options.Goal{Folding: filepath.Join("testdata", "finnl", n.name+".json")},
		Verification: options.Verification{Verify: verify, NoCSim: true}})
}

func (n finnl) build(t *testing.T, columns int, o Options) *Result {
	t.Helper()
	o.Model, o.Dims = filepath.Join(finnlModels(t), n.name, "scan.onnx"), map[string]int{"T": columns}
	if o.Board == "pynq-z1" {
		o.MaxUse = folding.MaxUseFractions{LUT: 1, LUTRAM: 1, FF: 1, BRAM: 1, URAM: 1, DSP: 1, Mean: 1}
	}
	return built(t, o)
}

// stepClocks is the clocks per time step and direction in the steady state: line after line, each of so many columns.
func stepClocks(r *Result, columns int) float64 {
	return r.Design.Clocks.Interval / float64(2*columns)
}

// TestFINNLClocks holds that with FINN-L's foldings a step of a direction takes no longer than its work, in the
// simulator: at most 82 clocks where FINN-L measured 124, 256 where it measured 284, 1024 where it measured 1066. What
// bounds them is the recurrent part, and what was folded to match it.
func TestFINNLClocks(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	finnlModels(t)
	for _, tt := range []struct {
		finnl
		pe, simd, clocks int
	}{{finnls[0], 2, 128, 64}, {finnls[1], 1, 64, 256}, {finnls[2], 1, 16, 1024}} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if tt.name == "W4A8" {
				tier.NeedsLong(t)
			}
			if tt.name != "W2A2" {
				tier.NotQuick(t)
			}
			columns := 16
			if tier.Long() {
				columns = 520
			}
			r := tt.folded(t, columns, 1)
			if got := stepClocks(r, columns); got != float64(tt.clocks) {
				t.Errorf("%v clocks per step and direction, want %d", got, tt.clocks)
			}
			engine := false
			for i, n := range r.Design.Model.Graph.Nodes {
				if f := r.Design.Folds[i]; n.Op.Kind() == rnn.KindName {
					engine = f.PE == tt.pe && f.SIMD == tt.simd &&
						r.Design.LoopOfNode(i).IterationsPerFrame() == 2*columns*tt.clocks
				}
			}
			if b := r.Design.Clocks.Trace.Bottleneck; !engine || b.Node == "" ||
				!strings.HasPrefix(b.Reason, b.Node+" works in every clock") {
				t.Errorf("bound by %+v; the recurrent layer is as asked for: %v", b, engine)
			}
		})
	}
}

// TestRecurrentBuilds builds networks with recurrent layers for a board, within its budget, and compares the compiled
// C++ stream by stream with what the simulator gets.
func TestRecurrentBuilds(t *testing.T) {
	t.Parallel()
	models := finnlModels(t)
	t.Run("bilstm-h32-w4a8", func(t *testing.T) {
		t.Parallel()
		tier.Needs(t, "g++")
		model := filepath.Join(models, "..", "brevitas", "bilstm-h32-w4a8", "model.onnx")
		withinBudget(t, built(t, Options{Source: options.Source{Model: model},
			Hardware:     options.Hardware{Board: "zcu104"},
			Verification: options.Verification{Verify: 4}}))
	})
	t.Run("W2A2", func(t *testing.T) {
		t.Parallel()
		tier.NeedsLong(t)
		withinBudget(t, finnls[0].build(t, 520, Options{Hardware: options.Hardware{Board: "zcu104"},
			Verification: options.Verification{Verify: 1}}))
	})
}

// withinBudget holds that a build was verified by every engine and fits.
func withinBudget(t *testing.T, r *Result) {
	t.Helper()
	for _, s := range r.Design.Shares {
		if s.Used > s.Budget {
			t.Errorf("%d %s, the budget is %d", s.Used, s.Name, s.Budget)
		}
	}
	if got := fmt.Sprint(r.Verified.Engines); got != "[eval cycle csim]" {
		t.Errorf("verified by %s", got)
	}
}
