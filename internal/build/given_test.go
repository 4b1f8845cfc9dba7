package build

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"hlsgen/boards"
	"hlsgen/folding"
	"hlsgen/frontend"
	"hlsgen/frontend/graph"
	"hlsgen/internal/datafile"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/engines"
	"hlsgen/internal/samples"
	"hlsgen/internal/simulate"
	"hlsgen/internal/testsupport/onnxtest"
	"hlsgen/internal/testsupport/samplefiles"
	"hlsgen/internal/testsupport/tier"
	"hlsgen/internal/verify"
	"hlsgen/templates"
)

// What the tests of this package start from: files, builds and simulations that went well.

// asGiven is runs that were verified, as if a user had given no others.
func asGiven(s *samples.RunInputs) *datafile.SamplesAndLabels {
	return &datafile.SamplesAndLabels{SampleSource: &samples.SampleSource{Count: len(s.In)}}
}

// told builds, to a folder of its own where o names none. There has to be a result, and what is told comes with it.
func told(t *testing.T, o Options) (*Result, []diag.Diag) {
	t.Helper()
	if o.Out == "" {
		o.Out = filepath.Join(t.TempDir(), "out")
	}
	var d diag.List
	r, err := Run(context.Background(), o, &d)
	if err != nil || r == nil {
		t.Fatal(err, d.Diags)
	}
	return r, d.Diags
}

// built is told where nothing is to be told.
func built(t *testing.T, o Options) *Result {
	t.Helper()
	r, list := told(t, o)
	samplefiles.WantClean(t, &diag.List{Diags: list}, nil)
	return r
}

// readReport reads a file of a build.
func readReport(t *testing.T, r *Result, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(r.Out, filepath.FromSlash(path)))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// A drawn network is one of many that a test draws.
type drawn struct {
	onnx    []byte
	opt     frontend.Options
	folds   func(*testing.T, *rand.Rand, *dataflow.Graph) *folding.FoldingFile
	samples int

	means func(in map[string]dataflow.RealTensor) []float64 // the first output; nil where the test does not know
}

// known holds the model as written against what a drawn network means.
func (n *drawn) known(t *testing.T, m *dataflow.Model, s *samples.RunInputs) {
	t.Helper()
	if n.means == nil {
		return
	}
	for i, x := range s.In {
		in := map[string]dataflow.RealTensor{}
		for k, v := range m.In {
			in[v.Name] = x[k]
		}
		got, err := m.Reference(x)
		if err != nil {
			t.Fatal(err)
		}
		if want := n.means(in); !slices.Equal(got[0].Data, want) {
			t.Fatalf("sample %d: the model gives %v, and means %v", i, got[0].Data, want)
		}
	}
}

// halfPruned makes parts of every second network dead.
func halfPruned(seed int, m *onnxtest.Model) []byte {
	if seed%2 == 1 {
		m.Prune(rand.New(rand.NewPCG(uint64(seed), 17)))
	}
	return m.Bytes()
}

// drawnAgree holds of networks, each drawn for its number, that the model as written, Eval, the simulated design and,
// for some, the compiled C++ agree, in folds that are drawn by a generator of the given stream. In the long tier
// there are 60 to compile.
func drawnAgree(t *testing.T, networks, long, compiled int, stream uint64, draw func(seed int) drawn) {
	compiled = tier.CasesToRun(compiled)
	if tier.Long() {
		networks, compiled = long, 60
	}
	board, err := boards.FindBoard("zcu104")
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	for seed := range networks {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			var d diag.List
			n := draw(seed)
			im, err := frontend.Import("random.onnx", n.onnx, n.opt, &d)
			if err != nil || d.HasErrors() {
				t.Fatalf("%v %v", err, d.Diags)
			}
			rnd := rand.New(rand.NewPCG(uint64(seed), stream))
			wanted := folding.Goal{Fixed: n.folds(t, rnd, im.Model.Graph)}
			found, err := folding.FindBestDesign(ctx, im.Model, dataflow.Target{Board: board, ClockMHz: 200}, wanted,
				&d)
			if err != nil || found == nil {
				t.Fatalf("%v %v", err, d.Diags)
			}
			s := samples.MakeRandomRuns(im.Model, n.samples)
			n.known(t, im.Model, s)
			_, recorded, err := verify.Run(ctx, im.Model, found.Design, s, asGiven(s), true)
			if err != nil {
				t.Fatal(err)
			}
			if seed%3 == 0 || tier.Long() {
				wide, err := split(ctx, rnd, found, im.Model)
				if err != nil {
					t.Fatal(err)
				}
				if wide != nil {
					found = wide
					if _, recorded, err = verify.Run(ctx, im.Model, wide.Design, s, asGiven(s), true); err != nil {
						t.Fatal(err)
					}
				}
			}
			streams := recorded.Frames
			if err := likeStreams(ctx, found.Model, s, streams); err != nil {
				t.Error(err)
			}
			if seed*compiled%networks >= compiled {
				return
			}
			files, err := templates.GenerateHLSProject(found.Design, templates.TestVectors{Frames: streams},
				templates.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if lint := templates.LintProject(files); len(lint) > 0 {
				t.Errorf("lint: %v", lint)
			}
			t.Run("C++", func(t *testing.T) {
				tier.Needs(t, "g++")
				if _, err := engines.RunCSim(ctx, found.Design, files, streams); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// pixels is a network that divides pixels by 255 itself, quantises, and multiplies.
func pixels(t *testing.T, quantised bool) string {
	t.Helper()
	m := onnxtest.New(14).Opset("qonnx.custom_op.general", 2)
	m.Input("x", graph.DTypeFloat32, 1, 4).Output("y", graph.DTypeFloat32, 1, 2)
	m.Init("d", graph.DTypeFloat32, nil, 255).Init("s", graph.DTypeFloat32, nil, 0.25).Init("z", graph.DTypeFloat32,
		nil, 0).Init("b",
		graph.DTypeFloat32, nil, 3)
	m.Init("w", graph.DTypeFloat32, []int{4, 2}, 1, -2, 3, 0, -1, 1, 2, 2)
	m.Node("Div", "x", "d").Out("n")
	in := "n"
	if quantised {
		m.Node("Quant", "n", "s", "z", "b").Domain("qonnx.custom_op.general").Int("signed", 1).Out("q")
		in = "q"
	}
	m.Node("MatMul", in, "w").Out("y")
	return samplefiles.WriteFile(t, "pixels.onnx", m.Bytes())
}

// narrow holds that accumulators have at most so many bits each, and that there are so many.
func narrow(t *testing.T, r *Result, bits []int) {
	t.Helper()
	layer := 0
	for _, n := range r.Imported.Model.Graph.Nodes {
		widths := n.Op.Describe().Accumulators
		if widths == nil {
			continue
		}
		if layer < len(bits) && widths().Used > bits[layer] {
			t.Errorf("%s: accumulator of %d bits, want at most %d", n.Name, widths().Used, bits[layer])
		}
		layer++
	}
	if layer != len(bits) {
		t.Errorf("%s: %d layers with accumulators, want %d", r.Source.Name, layer, len(bits))
	}
}

// kinds are the kinds of a graph's layers.
func kinds(g *dataflow.Graph) (out []string) {
	for _, n := range g.Nodes {
		out = append(out, n.Op.Kind())
	}
	return out
}

// simulationOf asks for the model and the hardware of a build, on an engine and a file of samples.
func simulationOf(o Options, e engines.EngineName, samples string) simulate.Options {
	s := simulate.Options{Source: o.Source, Hardware: o.Hardware, Goal: o.Goal, Engine: e}
	s.Data = samples
	return s
}
