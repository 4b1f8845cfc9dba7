package layertest

import (
	"slices"
	"strings"
	"testing"

	"hlsgen/internal/dataflow"
	"hlsgen/templates"
)

// TestMemoriesBite changes a design after it was generated.
func TestMemoriesBite(t *testing.T) {
	t.Parallel()
	b := bindExample(t, spoilt{})
	at := slices.IndexFunc(b.folds, func(f dataflow.Fold) bool { return f.PE == 1 && f.Memory == dataflow.MemoryBRAM })
	made := func() *dataflow.Design {
		d := b.design(b.folds[at], 5)
		d.Target.Board.Part = "xczu3eg-sbva484-1-e"
		return d
	}
	files, err := templates.GenerateHLSProject(made(), templates.TestVectors{}, templates.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name   string
		change func(*dataflow.Design)
		want   string
	}{
		{"nothing", func(*dataflow.Design) {}, ""},
		{"a table's memory", func(d *dataflow.Design) { d.Folds[0].Memory = dataflow.MemoryLUTRAM },
			"Thresholding_0: storage thresholds 2x0 in distributed"},
		{"a FIFO's depth", func(d *dataflow.Design) { d.FIFO[1].Depth = 6 },
			"stream s1: 6 words in srl, the text has [5]"},
		{"a FIFO's memory", func(d *dataflow.Design) { d.FIFO[0].Memory = dataflow.MemoryBRAM },
			"stream s0: 5 words in block, the text has [5]"},
		{"a name", func(d *dataflow.Design) { d.Model.Graph.Nodes[0].Name = "Other" },
			"Thresholding_0 has memories and is no layer"},
		{"a cost", func(d *dataflow.Design) {
			n := d.Model.Graph.Nodes[0]
			n.Op = spoilt{Op: n.Op, cost: dataflow.Cost{{Name: "more", Resources: dataflow.Resources{BRAM: 1}}}}
		}, "Thresholding_0: {LUT:"},
	} {
		d := made()
		tt.change(d)
		got := strings.Join(memoryProblems(d, files), "\n")
		if tt.want == "" && got != "" || !strings.Contains(got, tt.want) {
			t.Errorf("%s: %s, want %q", tt.name, got, tt.want)
		}
	}
}
