package compiler

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
	"hlsgen/frontend/graph"
	"hlsgen/internal/compiler/samples"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/rnntest"
	"hlsgen/internal/tier"
	"hlsgen/templates"
)

// A refused network has no model.
type refused struct{ list []diag.Diag }

func (r *refused) Error() string {
	d := slices.MaxFunc(r.list, func(a, b diag.Diag) int { return int(a.Severity) - int(b.Severity) })
	return fmt.Sprintf("%s refused at %s (%s): %s", d.Code, d.Node, d.Op, d.Msg)
}

// recurrentRuns draws data for a network, and what it makes of them.
func recurrentRuns(n *rnntest.Network, m *dataflow.Model, seed uint64) (runs *samples.Runs, want []reals) {
	runs = &samples.Runs{}
	choices := rnntest.Seeded(seed)
	var list []rnntest.Sample
	for range max(3, n.Turns+1) {
		list = append(list, n.Sample(choices))
	}
	for i, outputs := range n.Run(list) {
		var in, out reals
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
		opt.Cells = []frontend.Formats{{Flag: graph.CellFlag, Cells: n.Formats}}
	}
	return opt
}

// recurrentReference compares what the model as written computes with what the network computes. It gives the data.
func recurrentReference(ctx context.Context, n *rnntest.Network, seed uint64) (runs *samples.Runs, err error) {
	defer Catch(&err)
	var d diag.List
	im := frontend.ImportReference("recurrent.onnx", n.ONNX(), recurrentOptions(n), &d)
	if im.Model == nil {
		return nil, &refused{d.Diags}
	}
	runs, want := recurrentRuns(n, im.Model, seed)
	got, err := reference(ctx, im.Model, runs)
	if err != nil {
		return nil, err
	}
	return runs, sameReals("engine reference", got, want)
}

// recurrentAgrees builds a drawn network and compares what its engines compute with what the network computes.
func recurrentAgrees(ctx context.Context, n *rnntest.Network, seed uint64, compiled bool) (err error) {
	defer Catch(&err)
	runs, err := recurrentReference(ctx, n, seed)
	if err != nil {
		return err
	}
	var d diag.List
	im, err := frontend.Import("recurrent.onnx", n.ONNX(), recurrentOptions(n), &d)
	if err != nil {
		return err
	}
	if im.Model == nil {
		return &refused{d.Diags}
	}
	board, err := boards.Find("zcu104")
	if err != nil {
		return err
	}
	goal := folding.Goal{}
	if folds := drawFolds(rand.New(rand.NewPCG(seed, 5)), im.Model.Graph); folds != nil {
		b, err := json.Marshal(folds)
		if err != nil {
			return err
		}
		goal.Fixed = folding.ReadFile(b, &d)
	}
	design, err := folding.Make(ctx, im.Model, dataflow.Target{Board: board, ClockMHz: 200}, goal, &d)
	if err != nil || design == nil {
		return errors.Join(err, &refused{d.Diags})
	}
	r := &Result{Imported: im, Design: design}
	streams, err := r.simulate(ctx, runs)
	if err != nil || !compiled {
		return err
	}
	files, err := templates.Project(design.Design, templates.Vectors{Frames: streams}, templates.Options{})
	if err != nil {
		return err
	}
	if lint := templates.Lint(files); len(lint) > 0 {
		return fmt.Errorf("lint: %v", lint)
	}
	_, err = compile(ctx, design.Design, files, streams)
	return err
}

// recurrentAxes are what is drawn.
var recurrentAxes = rnntest.All

// TestRandomRecurrent draws recurrent networks: the outputs of all engines are those that exact arithmetic gives, step
// by step.
func TestRandomRecurrent(t *testing.T) {
	t.Parallel()
	networks, compiled := 100, tier.Few(10)
	if tier.Long() {
		networks, compiled = 2000, 60
	}
	for seed := range uint64(networks) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			ctx := context.Background()
			n := rnntest.Draw(rnntest.Seeded(seed), recurrentAxes)
			if err := recurrentAgrees(ctx, n, seed, false); err != nil {
				t.Errorf("%v: %v", n.Has, err)
			}
		})
	}
	_ = compiled
}
