package compiler

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"hlsgen/boards"
	"hlsgen/folding"
	"hlsgen/frontend"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/tier"
	"hlsgen/templates"
)

// jointFolds is a folding file with a fold drawn for every layer, such that both ends of a stream send it in one order.
func jointFolds(t *testing.T, rnd *rand.Rand, g *dataflow.Graph) *folding.File {
	t.Helper()
	for range 200 {
		if file := drawFolds(rnd, g); file != nil {
			b, err := json.Marshal(file)
			if err != nil {
				t.Fatal(err)
			}
			var d diag.List
			out := folding.ReadFile(b, &d)
			if out == nil || d.Failed() {
				t.Fatalf("%s: %v", b, d.Diags)
			}
			return out
		}
	}
	t.Fatal("no folds agree")
	return nil
}

// drawFolds is nil where a layer has no fold whose orders are those that its writers have.
func drawFolds(rnd *rand.Rand, g *dataflow.Graph) map[string]map[string]any {
	file, tile := map[string]map[string]any{}, make([]int, len(g.Streams))
	for _, n := range g.Nodes {
		folds := slices.DeleteFunc(slices.Collect(n.Op.Folds()), func(f dataflow.Fold) bool {
			in, _ := n.Op.Ports(f)
			for i, p := range in {
				if p.Tile != tile[n.In[i]] {
					return true
				}
			}
			return f.Memory == dataflow.URAM
		})
		if len(folds) == 0 {
			return nil
		}
		f := folds[rnd.IntN(len(folds))]
		_, out := n.Op.Ports(f)
		for i, p := range out {
			tile[n.Out[i]] = p.Tile
		}
		layer := map[string]any{"PE": f.PE, "SIMD": f.SIMD}
		if f.Memory != dataflow.NoMemory {
			layer["ram_style"] = f.Memory.String()
		}
		if f.Compute != dataflow.NoCompute {
			layer["resType"] = f.Compute.String()
		}
		file[n.Name] = layer
	}
	return file
}

// TestRandomImages draws convolutional networks and folds: the model as written, Eval, the simulated design and, for some,
// the compiled C++ agree.
func TestRandomImages(t *testing.T) {
	t.Parallel()
	networks, compiled := 50, tier.Few(3)
	if tier.Long() {
		networks, compiled = 1000, 60
	}
	board, err := boards.Find("zcu104")
	if err != nil {
		t.Fatal(err)
	}
	for seed := range networks {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			var d diag.List
			im, err := frontend.Import("random.onnx", randomImages(uint64(seed)), frontend.Options{}, &d)
			if err != nil || d.Failed() {
				t.Fatalf("%v %v", err, d.Diags)
			}
			rnd := rand.New(rand.NewPCG(uint64(seed), 10))
			goal := folding.Goal{Fixed: jointFolds(t, rnd, im.Model.Graph)}
			found, err := folding.Make(context.Background(), im.Model, dataflow.Target{Board: board, ClockMHz: 200}, goal, &d)
			if err != nil || found == nil {
				t.Fatalf("%v %v", err, d.Diags)
			}
			r := &Result{Imported: im, Design: found}
			streams, err := r.simulate(context.Background(), Random(im.Model, 4))
			if err != nil {
				t.Fatal(err)
			}
			if seed*compiled%networks >= compiled {
				return
			}
			files, err := templates.Project(r.Design.Design, templates.Vectors{Frames: streams}, templates.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if lint := templates.Lint(files); len(lint) > 0 {
				t.Errorf("lint: %v", lint)
			}
			t.Run("C++", func(t *testing.T) {
				tier.Needs(t, "g++")
				if _, err := compile(context.Background(), r.Design.Design, files, streams); err != nil {
					t.Error(err)
				}
			})
		})
	}
}
