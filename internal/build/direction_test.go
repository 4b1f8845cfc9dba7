package build

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"hlsgen/frontend"
	"hlsgen/internal/engines"
	"hlsgen/internal/npy"
	"hlsgen/internal/options"
	"hlsgen/internal/simulate"
	"hlsgen/internal/testsupport/simtest"
	"hlsgen/internal/testsupport/tier"
)

// lines renders lines of text with the script that stands beside the network, and returns their files: the pixels, and
// which of the lines are turned.
func lines(t *testing.T, script string, n, seed int) (x, y string) {
	t.Helper()
	const python = "../../bin/lines/bin/python" // make test-long puts it there
	dir := t.TempDir()
	x, y = filepath.Join(dir, "x.npy"), filepath.Join(dir, "y.npy")
	cmd := exec.Command(python, script, strconv.Itoa(n), strconv.Itoa(seed), x, y)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return x, y
}

// TestDirection holds a classifier of text lines that somebody has against what it becomes in integers.
func TestDirection(t *testing.T) {
	t.Parallel()
	tier.NeedsLong(t)
	folder := filepath.Join(tier.Shared(t), "models", "shelf", "direction_classifier")
	model, script := filepath.Join(folder, "float.onnx"), filepath.Join(folder, "..", "make.py")
	train, trained := lines(t, script, 64, 1)
	test, _ := lines(t, script, 200, 2)
	eight, _ := lines(t, script, 8, 3)
	float := Options{Source: options.Source{Model: model,
		ModelInputs: options.ModelInputs{Shapes: frontend.GivenInputShapes{"x": {1, 3, 48,
			192}}}}}
	was := simtest.SameByEngines(t, simulationOf(float, "", test), engines.EngineFloat)
	for _, c := range []struct {
		recipe string
		change func(*Options)
		want   int
	}{
		{"w8a8", func(*Options) {}, 198},
		{"w4a8", func(*Options) {}, 190},
		{"w4a8", func(o *Options) { o.Equalise = true }, 190},
		{"w4a8", func(o *Options) { o.CorrectBias = true }, 190},
		{"w4a8", func(o *Options) { o.Equalise, o.CorrectBias = true, true }, 190},
	} {
		recipe, err := frontend.ParseQuantisationRecipe(c.recipe)
		if err != nil {
			t.Fatal(err)
		}
		o := float
		o.Calibrate, o.LabelsFile, o.Recipe = train, trained, &recipe
		o.SaveModel = filepath.Join(t.TempDir(), "quantised.onnx")
		c.change(&o)
		if c.recipe == "w8a8" {
			o.Board, o.NoCSim, o.Verify = "zcu104", true, 1
			told(t, o)
		} else {
			noteOf(t, o)
		}
		made := simulate.Options{Source: options.Source{Model: o.SaveModel,
			SampleFiles: options.SampleFiles{Data: test}}}
		is := simtest.SameByEngines(t, made, engines.EngineFast)
		same := sameClasses(was[0], is[0])
		t.Logf("%s, equalised %v, corrected %v: the class is the same for %d of 200 lines", c.recipe, o.Equalise,
			o.CorrectBias, same)
		if same < c.want {
			t.Errorf("%s: the class is the same for %d of 200 lines, %d wanted", c.recipe, same, c.want)
		}
		if c.recipe == "w8a8" {
			simtest.SameByEngines(t, made, engines.EngineFast, engines.EngineReference)
			made.Data = eight
			simtest.SameByEngines(t, made, engines.EngineReference, engines.EngineFast, engines.EngineEval,
				engines.EngineCycle, engines.EngineCSim)
		}
	}
}

// sameClasses counts the samples whose largest output is at the same place in two arrays.
func sameClasses(a, b *npy.Array) (same int) {
	classes := a.Shape[len(a.Shape)-1]
	for i := 0; i < len(a.Data); i += classes {
		if best(a.Data[i:][:classes]) == best(b.Data[i:][:classes]) {
			same++
		}
	}
	return same
}

// best returns the index of the largest score.
func best(scores []float64) int { return slices.Index(scores, slices.Max(scores)) }
