package build

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"hlsgen/boards"
	"hlsgen/folding"
	"hlsgen/frontend"
	"hlsgen/frontend/operators"
	"hlsgen/hlslib/rnn"
	"hlsgen/internal/crash"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/engines"
	"hlsgen/internal/report"
	"hlsgen/internal/samples"
	"hlsgen/internal/testsupport/rnntest"
	"hlsgen/internal/testsupport/tier"
	"hlsgen/internal/verify"
	"hlsgen/templates"
)

// A refused network has no model.
type refused struct{ list []diag.Diag }

func (r *refused) Error() string {
	d := slices.MaxFunc(r.list, func(a, b diag.Diag) int { return int(a.Severity) - int(b.Severity) })
	return fmt.Sprintf("%s refused at %s (%s): %s", d.Code, d.Node, d.Op, d.Msg)
}

// recurrentRuns draws data for a network, and what it makes of them.
func recurrentRuns(n *rnntest.Network, m *dataflow.Model, seed uint64) (runs *samples.RunInputs,
	want []engines.ModelTensors) {
	runs = &samples.RunInputs{}
	choices := rnntest.Seeded(seed)
	var list []rnntest.Sample
	for range max(3, n.Turns+1) {
		list = append(list, n.Sample(choices))
	}
	for i, outputs := range n.Run(list) {
		var in, out engines.ModelTensors
		for k, data := range list[i] {
			in = append(in, dataflow.RealTensor{Shape: m.In[k].Shape, Data: data})
		}
		for k, data := range outputs {
			out = append(out, dataflow.RealTensor{Shape: m.Out[k].Shape, Data: data})
		}
		runs.In, want = append(runs.In, in), append(want, out)
	}
	return runs, want
}

// recurrentOptions are what a network is imported with.
func recurrentOptions(n *rnntest.Network) (opt frontend.Options) {
	opt.Stateful, opt.Samples = n.Pieces, n.Turns
	if n.Formats != nil {
		opt.Cells = []frontend.CellFormatsFile{{Flag: operators.CellFormatsFlag, Cells: n.Formats}}
	}
	return opt
}

// recurrentReference compares what the model as written computes with what the network computes. It gives the data.
func recurrentReference(ctx context.Context, n *rnntest.Network, seed uint64) (runs *samples.RunInputs, err error) {
	defer crash.RecoverPanicIntoError(&err)
	var d diag.List
	im := frontend.ImportForReference("recurrent.onnx", n.ONNX(), recurrentOptions(n), &d)
	if im.Model == nil {
		return nil, &refused{d.Diags}
	}
	runs, want := recurrentRuns(n, im.Model, seed)
	got, err := engines.RunReference(ctx, im.Model, runs)
	if err != nil {
		return nil, err
	}
	return runs, verify.CompareModelOutputs("engine reference", got, want)
}

// recurrentAgrees builds a drawn network and compares what its engines compute with what the network computes.
func recurrentAgrees(ctx context.Context, n *rnntest.Network, seed uint64, compiled bool) (err error) {
	defer crash.RecoverPanicIntoError(&err)
	runs, err := recurrentReference(ctx, n, seed)
	if err != nil {
		return err
	}
	r, err := recurrentBuilt(ctx, n, recurrentOptions(n), func(g *dataflow.Graph) map[string]map[string]any {
		return drawFolds(rand.New(rand.NewPCG(seed, 5)), g)
	})
	if err != nil {
		return err
	}
	_, recorded, err := verify.Run(ctx, r.Imported.Model, r.Design.Design, runs, asGiven(runs), true)
	if err != nil || !compiled {
		return err
	}
	return recurrentCompiled(ctx, r.Design.Design, recorded.Frames)
}

// recurrentBuilt imports a network and folds it, as drawn folds say, if there are any.
func recurrentBuilt(ctx context.Context, n *rnntest.Network, opt frontend.Options,
	draw func(*dataflow.Graph) map[string]map[string]any) (*report.Build, error) {
	var d diag.List
	im, err := frontend.Import("recurrent.onnx", n.ONNX(), opt, &d)
	if err != nil {
		return nil, err
	}
	if im.Model == nil {
		return nil, &refused{d.Diags}
	}
	board, err := boards.FindBoard("zcu104")
	if err != nil {
		return nil, err
	}
	wanted := folding.Goal{}
	if folds := draw(im.Model.Graph); folds != nil {
		b, err := json.Marshal(folds)
		if err != nil {
			return nil, err
		}
		wanted.Fixed = folding.ParseFoldingFile(b, &d)
	}
	design, err := folding.FindBestDesign(ctx, im.Model, dataflow.Target{Board: board, ClockMHz: 200}, wanted, &d)
	if err != nil || design == nil {
		return nil, errors.Join(err, &refused{d.Diags})
	}
	return &report.Build{Imported: im, Design: design}, nil
}

// recurrentCompiled compares what a design's C++ computes with streams, and lints it.
func recurrentCompiled(ctx context.Context, design *dataflow.Design, streams []engines.FrameTensors) error {
	files, err := templates.GenerateHLSProject(design, templates.TestVectors{Frames: streams}, templates.Options{})
	if err != nil {
		return err
	}
	if lint := templates.LintProject(files); len(lint) > 0 {
		return fmt.Errorf("lint: %v", lint)
	}
	_, err = engines.RunCSim(ctx, design, files, streams)
	return err
}

// recurrentAxes are what TestRandomRecurrent draws.
var recurrentAxes = rnntest.All

// recurrentFails says what is wrong with a network, and what the smallest one that was found is like where the same is.
func recurrentFails(t *testing.T, n *rnntest.Network, seed uint64, compiled bool) {
	t.Helper()
	ctx := context.Background()
	err := recurrentAgrees(ctx, n, seed, compiled)
	if err == nil {
		return
	}
	is := func(err error) string {
		no := new(refused)
		if errors.As(err, &no) {
			return "refused"
		}
		return fmt.Sprintf("%T", err)
	}
	small, why := n, err
	rnntest.Shrink(n.Choices, 40, func(list []int) bool {
		m := rnntest.Draw(rnntest.Given(list), recurrentAxes)
		e := recurrentAgrees(ctx, m, seed, false)
		if e == nil || is(e) != is(err) {
			return false
		}
		small, why = m, e
		return true
	})
	t.Errorf("seed %d, %q: %v\na smaller one, %q: %v, of the choices %v", seed, n.Has, err, small.Has, why,
		small.Choices)
}

// TestRandomRecurrent draws recurrent networks: none is refused, and the outputs of all engines are those that exact
// arithmetic gives, step by step.
func TestRandomRecurrent(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	networks, compiled := tier.CasesToRun(60), tier.CasesToRun(3)
	if tier.Long() {
		networks, compiled = 2000, 60
	}
	for seed := range networks {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			n := rnntest.Draw(rnntest.Seeded(uint64(seed)), recurrentAxes)
			recurrentFails(t, n, uint64(seed), false)
			if seed*compiled%networks < compiled {
				t.Run("C++", func(t *testing.T) {
					tier.Needs(t, "g++")
					recurrentFails(t, n, uint64(seed), true)
				})
			}
		})
	}
}

// TestRecurrent has networks of each kind that recurrent layers come in, by what is special in them. Those whose layer
// has something special are compiled, too, one of two; the others in the long tier, and where the file says the same
// layer in another way.
func TestRecurrent(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	for i, c := range []struct {
		name  string
		has   []string
		steps int  // in place of those drawn
		file  bool // it is the file that is special
	}{
		{name: "scales far apart", has: []string{"scales far apart", "LSTM"}},
		{name: "dead row", has: []string{"a dead row"}},
		{name: "dead column", has: []string{"a dead column"}},
		{name: "dead gate", has: []string{"a dead gate"}},
		{name: "dead unit", has: []string{"a dead unit"}},
		{name: "dead matrix", has: []string{"a dead matrix"}},
		{name: "other activations", has: []string{"other functions"}},
		{name: "states as data", has: []string{"states as data", "bidirectional"}},
		{name: "samples first", has: []string{"samples first", "an operator of ONNX"}, file: true},
		{name: "formats of several operators", has: []string{"an operator of ONNX", "two layers"}, file: true},
		{name: "pieces of a stream", has: []string{"pieces of a stream"}},
		{name: "samples that take turns", has: []string{"samples take turns"}},
		{name: "stacked", has: []string{"two layers", "LSTM"}},
		{name: "behind a convolution", has: []string{"convolution in front"}},
		{name: "coupled gates", has: []string{"coupled: forget"}},
		{name: "peepholes", has: []string{"peepholes"}},
		{name: "projection", has: []string{"a projection"}},
		{name: "LSTM without quantised products", has: []string{"c = Q(f*c + i*g)"}},
		{name: "GRU without quantised products", has: []string{"h = Q((1-z)*n + z*h)"}},
		{name: "GRU, reset in front", has: []string{"GRU", "an operator of ONNX"}},
		{name: "GRU, reset behind", has: []string{"GRU", "an operator of ONNX", "reset after"}},
		{name: "RNN", has: []string{"RNN", "an operator of ONNX"}},
		{name: "Brevitas' cell", has: []string{"Brevitas' cell"}, file: true},
		{name: "clipped sums", has: []string{"clipped sums"}},
		{name: "directions with one set of weights", has: []string{"shared weights", "bidirectional"}},
		{name: "16 bits of state", has: []string{"a wide state"}},
		{name: "a Loop", has: []string{"a Loop", "LSTM"}, file: true},
		{name: "a Loop beside a Scan", has: []string{"a Loop", "bidirectional", "samples first"}, file: true},
		{name: "a Loop over pieces", has: []string{"a Loop", "pieces of a stream"}, file: true},
		{name: "pieces, written out step by step", has: []string{"pieces of a stream", "unrolled"}, file: true},
		{name: "shared initializers, unrolled", has: []string{"shared initializers", "unrolled"}, file: true},
		{name: "captured initializers", has: []string{"captured initializers", "shared initializers"}, file: true},
		{name: "100 steps of a GRU", has: []string{"GRU"}, steps: 100, file: true},
		{name: "100 steps of an RNN", has: []string{"RNN"}, steps: 100, file: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if c.steps > 0 || c.file {
				tier.NotQuick(t)
			}
			n, seed := rnntest.First(rnntest.All, c.has...)
			if c.steps > 0 {
				n.Steps = c.steps
				var d diag.List
				im, err := frontend.Import("recurrent.onnx", n.ONNX(), recurrentOptions(n), &d)
				if err != nil || im.Model == nil {
					t.Fatal(err, d.Diags)
				}
				if k := kinds(im.Model.Graph); !slices.Contains(k, rnn.KindName) || len(k) > 10 {
					t.Errorf("the layers are %v", k)
				}
			}
			compiled := tier.Full() && !c.file && i%2 == 0 || tier.Long()
			if compiled {
				tier.Needs(t, "g++")
			}
			if err := recurrentAgrees(context.Background(), n, seed, compiled); err != nil {
				t.Fatalf("seed %d, %q: %v", seed, n.Has, err)
			}
		})
	}
}
