package compiler

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hlsgen/boards"
	"hlsgen/folding"
	"hlsgen/frontend"
	"hlsgen/frontend/graph"
	"hlsgen/internal/compiler/samples"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/examples"
	"hlsgen/internal/npy"
	"hlsgen/internal/testsupport/onnxtest"
	"hlsgen/internal/testsupport/tier"
	"hlsgen/templates"
)

// What the tests of this package start from: files, builds and simulations that went well.

// unpack writes the embedded examples to a folder.
func unpack(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, examples.Files); err != nil {
		t.Fatal(err)
	}
	return dir
}

// kept writes a file of that name to a folder of its own.
func kept(t testing.TB, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func save(t *testing.T, path string, a *npy.Array) string {
	t.Helper()
	b, err := npy.Format(a)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// asGiven is runs that were verified, as if a user had given no others.
func asGiven(s *samples.Runs) *supply {
	return &supply{SampleSource: &samples.SampleSource{Count: len(s.In)}}
}

// data writes an array to a folder of its own.
func data(t *testing.T, a *npy.Array) string { return save(t, filepath.Join(t.TempDir(), "x.npy"), a) }

func load(t *testing.T, path string) *npy.Array {
	t.Helper()
	m, err := npy.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return m[""]
}

func clean(t *testing.T, d *diag.List, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	d.Write(&b)
	if b.Len() > 0 {
		t.Fatalf("diagnostics:\n%s", b.String())
	}
}

// told builds, to a folder of its own where o names none. There has to be a result, and what is told comes with it.
func told(t *testing.T, o Options) (*BuildResult, []diag.Diag) {
	t.Helper()
	if o.Out == "" {
		o.Out = filepath.Join(t.TempDir(), "out")
	}
	var d diag.List
	r, err := Build(context.Background(), o, &d)
	if err != nil || r == nil {
		t.Fatal(err, d.Diags)
	}
	return r, d.Diags
}

// built is told where nothing is to be told.
func built(t *testing.T, o Options) *BuildResult {
	t.Helper()
	r, list := told(t, o)
	clean(t, &diag.List{Diags: list}, nil)
	return r
}

// readReport reads a file of a build.
func readReport(t *testing.T, r *BuildResult, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(r.Out, filepath.FromSlash(path)))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// asked simulates a model.
func asked(t *testing.T, o SimOptions) (*SimResult, *diag.List) {
	t.Helper()
	var d diag.List
	r, err := Simulate(context.Background(), o, &d)
	if err != nil {
		t.Fatalf("engine %s: %v", o.Engine, err)
	}
	return r, &d
}

// ran is asked where nothing is to be told.
func ran(t *testing.T, o SimOptions) *SimResult {
	t.Helper()
	r, d := asked(t, o)
	clean(t, d, nil)
	return r
}

// simulated is asked where nothing fails; warnings may be told.
func simulated(t *testing.T, o SimOptions) *SimResult {
	t.Helper()
	r, d := asked(t, o)
	if d.Failed() {
		t.Fatalf("engine %s: %v", o.Engine, d.Diags)
	}
	return r
}

// agree has engines give the outputs that are wanted, and returns the results.
func agree(t *testing.T, list []Engine, o SimOptions, want []*npy.Array) (results []*SimResult) {
	t.Helper()
	for _, o.Engine = range list {
		got := simulated(t, o)
		for k, y := range want {
			if !slices.Equal(got.Outputs[k].Data, y.Data) {
				t.Errorf("engine %s, %d samples in turns: output %d is %v, want %v", o.Engine, max(1, o.Interleave), k,
					got.Outputs[k].Data, y.Data)
			}
		}
		results = append(results, got)
	}
	return results
}

// zipped writes arrays by name to a folder of its own.
func zipped(t *testing.T, arrays map[string]*npy.Array) string {
	t.Helper()
	b, err := npy.FormatZip(arrays)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "in.npz")
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// A drawn network is one of many that a test draws.
type drawn struct {
	onnx    []byte
	opt     frontend.Options
	folds   func(*testing.T, *rand.Rand, *dataflow.Graph) *folding.File
	samples int

	means func(in map[string]dataflow.RealTensor) []float64 // the first output; nil where the test does not know
}

// known holds the model as written against what a drawn network means.
func (n *drawn) known(t *testing.T, m *dataflow.Model, s *samples.Runs) {
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
	board, err := boards.Find("zcu104")
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
			if err != nil || d.Failed() {
				t.Fatalf("%v %v", err, d.Diags)
			}
			rnd := rand.New(rand.NewPCG(uint64(seed), stream))
			wanted := folding.Goal{Fixed: n.folds(t, rnd, im.Model.Graph)}
			found, err := folding.FindBestDesign(ctx, im.Model, dataflow.Target{Board: board, ClockMHz: 200}, wanted,
				&d)
			if err != nil || found == nil {
				t.Fatalf("%v %v", err, d.Diags)
			}
			r := &BuildResult{Imported: im, Design: found}
			s := samples.Random(im.Model, n.samples)
			n.known(t, im.Model, s)
			recorded, err := r.simulate(ctx, s, asGiven(s), true)
			if err != nil {
				t.Fatal(err)
			}
			if seed%3 == 0 || tier.Long() {
				wide, err := split(ctx, rnd, found, im.Model)
				if err != nil {
					t.Fatal(err)
				}
				if wide != nil {
					r.Design, found = wide, wide
					if recorded, err = r.simulate(ctx, s, asGiven(s), true); err != nil {
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
			files, err := templates.Project(found.Design, templates.TestVectors{Frames: streams}, templates.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if lint := templates.Lint(files); len(lint) > 0 {
				t.Errorf("lint: %v", lint)
			}
			t.Run("C++", func(t *testing.T) {
				tier.Needs(t, "g++")
				if _, err := compile(ctx, found.Design, files, streams); err != nil {
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
	m.Input("x", graph.Float32, 1, 4).Output("y", graph.Float32, 1, 2)
	m.Init("d", graph.Float32, nil, 255).Init("s", graph.Float32, nil, 0.25).Init("z", graph.Float32, nil, 0).Init("b",
		graph.Float32, nil, 3)
	m.Init("w", graph.Float32, []int{4, 2}, 1, -2, 3, 0, -1, 1, 2, 2)
	m.Node("Div", "x", "d").Out("n")
	in := "n"
	if quantised {
		m.Node("Quant", "n", "s", "z", "b").Domain("qonnx.custom_op.general").Int("signed", 1).Out("q")
		in = "q"
	}
	m.Node("MatMul", in, "w").Out("y")
	return kept(t, "pixels.onnx", m.Bytes())
}

// narrow holds that accumulators have at most so many bits each, and that there are so many.
func narrow(t *testing.T, r *BuildResult, bits []int) {
	t.Helper()
	layer := 0
	for _, n := range r.Imported.Model.Graph.Nodes {
		a, ok := n.Op.(dataflow.Accumulating)
		if !ok {
			continue
		}
		if layer < len(bits) && a.Accumulator().Used > bits[layer] {
			t.Errorf("%s: accumulator of %d bits, want at most %d", n.Name, a.Accumulator().Used, bits[layer])
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
