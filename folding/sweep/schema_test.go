package sweep

import (
	"os"
	"testing"

	_ "hlsgen/internal/golden" // the flag -update
	"hlsgen/internal/schema"
)

// sweep.json has the form that its schema says, whatever became of the points.
func TestPointsForm(t *testing.T) {
	t.Parallel()
	form := schema.Of(t, "sweep-points", "sweep.json of a sweep", sheet{})
	for _, bound := range []bool{false, true} {
		o := onPynq(t)
		o.FPS, o.Bound = []float64{1000, 1e12}, bound
		text, err := os.ReadFile(run(t, o).Path("sweep.json"))
		if err != nil {
			t.Fatal(err)
		}
		form.Check(t, text)
	}
}
