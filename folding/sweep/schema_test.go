package sweep

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"hlsgen/internal/compiler"
	"hlsgen/internal/diag"
	_ "hlsgen/internal/golden" // the flag -update
	"hlsgen/internal/schema"
)

// sweep.json has the form that its schema says, whatever became of the points.
func TestPointsForm(t *testing.T) {
	t.Parallel()
	form := schema.Of(t, "sweep-points", "sweep.json of a sweep", sheet{})
	for _, bound := range []bool{false, true} {
		var d diag.List
		out := filepath.Join(t.TempDir(), "out")
		o := Options{Options: compiler.Options{Out: out}, Boards: []string{"pynq-z1"}, FPS: []float64{1000, 1e12}, Bound: bound}
		if _, err := Run(context.Background(), o, &d); err != nil || d.Failed() {
			t.Fatal(err, d.Diags)
		}
		text, err := os.ReadFile(filepath.Join(out, "sweep.json"))
		if err != nil {
			t.Fatal(err)
		}
		form.Check(t, text)
	}
}
