package build

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"testing"

	"hlsgen/internal/options"
	"hlsgen/internal/testsupport/layertest"
	"hlsgen/internal/testsupport/models"
	"hlsgen/internal/testsupport/samplefiles"
	"hlsgen/internal/testsupport/tier"
	"hlsgen/templates"
)

// TestBipolarTakesOneBit holds that weights of -1 and +1 take one bit in every table and every estimate, where FINN
// widens those of TFC_1W2A to two, and TFC_1W1A's accumulators against FINN's forced conversion.
func TestBipolarTakesOneBit(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	accumulators := map[string][]int{"zoo/TFC_1W1A": {10, 7, 7, 7}, "zoo/TFC_1W2A": {11, 8, 8, 8},
		"digits-mlp-w1a1": {14, 8, 8}}
	for _, c := range models.All(t) {
		bits, ok := accumulators[c.Name]
		if !ok {
			continue
		}
		r := built(t, Options{Source: options.Source{Model: c.Path("model.onnx")},
			Hardware:     options.Hardware{Board: "zcu104"},
			Verification: options.Verification{Verify: 4, NoCSim: true}})
		narrow(t, r, bits)
		for i, n := range r.Design.Model.Graph.Nodes {
			if n.Op.Describe().Accumulators == nil {
				continue
			}
			bits := 0
			for _, table := range n.Op.Emit(r.Design.Folds[i], r.Design.Target).Tables {
				if table.Name == "weights" {
					bits = table.Elem.Width
				}
			}
			counts := n.Op.Describe().Counts()
			if _, ok := counts["param_weight_BIPOLAR"]; bits != 1 || !ok {
				t.Errorf("%s %s: weights of %d bits, counted as %v", c.Name, n.Name, bits, counts)
			}
		}
	}
}

// TestMemories builds networks of every family and walks the folders that are written: each memory that the estimate
// prices is bound in the C++ as it is priced. Networks take one of two boards in turns, and both in the long tier.
func TestMemories(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	nets := map[string]string{}
	for seed := range uint64(tier.CasesToRun(4)) {
		for name, onnx := range map[string][]byte{"a network": halfPruned(int(seed), drawnNetwork(seed)),
			"images": halfPruned(int(seed), drawnImages(seed))} {
			nets[fmt.Sprintf("%s %d", name, seed)] = samplefiles.WriteFile(t, "drawn.onnx", onnx)
		}
	}
	for _, m := range models.InRepository(t) {
		if m.Info.Refused == "" && !tier.Quick() {
			nets[m.Name] = m.Path(m.Files[0])
		}
	}
	for i, name := range slices.Sorted(maps.Keys(nets)) {
		for k, board := range []string{"pynq-z1", "vck190"} { // no UltraRAM, and UltraRAM for tables
			if k != i%2 && !tier.Long() {
				continue
			}
			t.Run(name+" "+board, func(t *testing.T) {
				t.Parallel()
				r, _ := told(t, Options{Source: options.Source{Model: nets[name]},
					Hardware:     options.Hardware{Board: board},
					Verification: options.Verification{NoCSim: true, Verify: 1}})
				layertest.CheckMemories(t, r.Design.Design, readFiles(t, r.Out))
			})
		}
	}
}

// readFiles is what a build has written.
func readFiles(t *testing.T, dir string) (files templates.ProjectFiles) {
	t.Helper()
	tree := os.DirFS(dir)
	err := fs.WalkDir(tree, ".", func(file string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := fs.ReadFile(tree, file)
		files = append(files, templates.GeneratedFile{Path: file, Data: data})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
