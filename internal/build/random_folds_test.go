package build

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"testing"

	"hlsgen/folding"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
)

// jointFolds is a folding file with a fold drawn for every layer, such that both ends of a stream send it in one order.
func jointFolds(t *testing.T, rnd *rand.Rand, g *dataflow.Graph) *folding.FoldingFile {
	t.Helper()
	for range 200 {
		if file := drawFolds(rnd, g); file != nil {
			return foldingFile(t, file)
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
			return f.Memory == dataflow.MemoryURAM || !dataflow.Target{}.Builds(f)
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
		if f.Compute != dataflow.NoMultiplier {
			layer["resType"] = f.Compute.String()
		}
		file[n.Name] = layer
	}
	return file
}

// randomFolds is a folding file with a legal fold drawn for every layer.
func randomFolds(t *testing.T, rnd *rand.Rand, g *dataflow.Graph) *folding.FoldingFile {
	t.Helper()
	file := map[string]map[string]any{}
	for _, n := range g.Nodes {
		folds := slices.Collect(n.Op.Folds())
		folds = slices.DeleteFunc(folds, func(f dataflow.Fold) bool {
			return f.Memory == dataflow.MemoryURAM || !dataflow.Target{}.Builds(f)
		})
		f := folds[rnd.IntN(len(folds))]
		layer := map[string]any{"PE": f.PE}
		if n.Op.Kind() == "MVAU" {
			layer["SIMD"], layer["ram_style"], layer["resType"] = f.SIMD, f.Memory.String(), f.Compute.String()
		}
		file[n.Name] = layer
	}
	return foldingFile(t, file)
}

// foldingFile is a folding file of what is asked of every layer.
func foldingFile(t *testing.T, layers map[string]map[string]any) *folding.FoldingFile {
	t.Helper()
	b, err := json.Marshal(layers)
	if err != nil {
		t.Fatal(err)
	}
	var d diag.List
	out := folding.ParseFoldingFile(b, &d)
	if out == nil || d.HasErrors() {
		t.Fatalf("%s: %v", b, d.Diags)
	}
	return out
}

// TestRandomImages draws convolutional networks and folds: the model as written, Eval, the simulated design and, for
// some, the compiled C++ agree.
func TestRandomImages(t *testing.T) {
	t.Parallel()
	drawnAgree(t, 32, 1000, 3, 10, func(seed int) drawn {
		return drawn{onnx: halfPruned(seed, drawnImages(uint64(seed))), folds: jointFolds, samples: 4}
	})
}
