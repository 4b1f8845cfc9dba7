package build

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"hlsgen/frontend"
	"hlsgen/frontend/graph"
	"hlsgen/frontend/onnxio"
	"hlsgen/frontend/operators"
	"hlsgen/internal/check"
	"hlsgen/internal/diag"
	"hlsgen/internal/npy"
	"hlsgen/internal/options"
	"hlsgen/internal/testsupport/onnxtest"
	"hlsgen/internal/testsupport/samplefiles"
)

// An uneven network is two products with a ReLU between, whose hidden channels differ in range by powers of two up to
// spread: what the first product makes larger, the second one makes smaller. loud multiplies all of the hidden ones.
func uneven(spread int, loud float64) []byte {
	const inputs, hidden, outputs = 12, 32, 10
	rnd := rand.New(rand.NewPCG(9, 10))
	a, b := make([]float64, inputs*hidden), make([]float64, hidden*outputs)
	for h := range hidden {
		by := loud * math.Exp2(float64(h%(spread+1)))
		for i := range inputs {
			a[i*hidden+h] = by * (rnd.NormFloat64() + 0.1)
		}
		for o := range outputs {
			b[h*outputs+o] = rnd.NormFloat64() / by
		}
	}
	m := onnxtest.New(13).Input("x", graph.DTypeFloat32, "batch", inputs).Output("y", graph.DTypeFloat32, "batch",
		outputs)
	m.Init("a", graph.DTypeFloat32, []int{inputs, hidden}, a...).Init("b", graph.DTypeFloat32, []int{hidden, outputs},
		b...)
	m.Node("MatMul", "x", "a").Name("first").Out("h")
	m.Node("Relu", "h").Out("r")
	m.Node("MatMul", "r", "b").Name("second").Out("y")
	return m.Bytes()
}

// positive are samples of numbers around 1.
func positive(n, each int, seed uint64) *npy.Array {
	rnd := rand.New(rand.NewPCG(seed, 12))
	a := &npy.Array{DType: "float32", Shape: []int{n, each}}
	for range n * each {
		a.Data = append(a.Data, float64(float32(1+rnd.NormFloat64()/2)))
	}
	return a
}

// noteOf returns the note that tells of a quantised model.
func noteOf(t *testing.T, o Options) string {
	t.Helper()
	var d diag.List
	c, err := check.Run(context.Background(), check.Options{Source: o.Source, AccBits: o.AccBits}, &d)
	if err != nil || c == nil || c.Imported.Model == nil || d.HasErrors() {
		t.Fatal(err, d.Diags)
	}
	return d.Diags[slices.IndexFunc(d.Diags, func(x diag.Diag) bool { return x.Code == diag.ModelRequantised })].Msg
}

var meanDifference = regexp.MustCompile(`differs by ([^ ]+) \(mean\)`)

// apart is the mean difference that a note tells.
func apart(t *testing.T, note string) float64 {
	t.Helper()
	m := meanDifference.FindStringSubmatch(note)
	if m == nil {
		t.Fatalf("no difference is told: %q", note)
	}
	v, err := strconv.ParseFloat(m[1], 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestEqualised holds that scales of channels bring a network of uneven channels nearer to what it was, and that
// corrected biases do so with few bits; and that the samples of --input are those that it is judged on.
func TestEqualised(t *testing.T) {
	t.Parallel()
	train, test := samplefiles.Write(t, positive(300, 12, 1)), samplefiles.Write(t, positive(50, 12, 2))
	model := samplefiles.WriteFile(t, "m.onnx", uneven(6, 1))
	of := func(recipe string, change func(*Options)) float64 {
		r, err := frontend.ParseQuantisationRecipe(recipe)
		if err != nil {
			t.Fatal(err)
		}
		o := Options{Source: options.Source{Model: model, Quantisation: options.Quantisation{Calibrate: train,
			Recipe: &r},
			SampleFiles: options.SampleFiles{Data: test}}}
		change(&o)
		note := noteOf(t, o)
		const of = "made new on 300 samples; on x.npy (--input): same class as the float network in "
		if !strings.Contains(note, of) || !strings.Contains(note, " of 50 samples; its output") {
			t.Errorf("it is told %q", note)
		}
		return apart(t, note)
	}
	plain := func(*Options) {}
	equal, correct := func(o *Options) { o.Equalise = true }, func(o *Options) { o.CorrectBias = true }
	if a, b := of("w8a4", plain), of("w8a4", equal); b > a/2 {
		t.Errorf("w8a4: %v apart as it is, %v equalised", a, b)
	}
	if a, b := of("w3a8", plain), of("w3a8", correct); b > a*2/3 {
		t.Errorf("w3a8: %v apart as it is, %v with corrected biases", a, b)
	}
}

// TestHardNamed has a layer named whose values are far larger than those next to it, and none else.
func TestHardNamed(t *testing.T) {
	t.Parallel()
	train := samplefiles.Write(t, positive(20, 12, 3))
	for _, c := range []struct {
		loud float64
		want bool
	}{{1, false}, {50, true}} {
		note := noteOf(t, Options{Source: options.Source{Model: samplefiles.WriteFile(t, "m.onnx", uneven(0, c.loud)),
			Quantisation: options.Quantisation{Calibrate: train}}})
		if got := strings.Contains(note, `"second" is hard to quantise: its values go up to `); got != c.want {
			t.Errorf("values times %v: %s", c.loud, note)
		}
		if strings.Contains(note, `"first" is hard`) {
			t.Errorf("the input is called hard: %s", note)
		}
	}
}

// TestQuantisedAgrees holds every engine against the model that was made with all that there is.
func TestQuantisedAgrees(t *testing.T) {
	t.Parallel()
	n := newFloatNet(false, 8)
	x := n.conv("x", 4, 3, 1)
	y := n.product(n.conv(x, 6, 3, 2), 5, 1, 1)
	n.Output(y, graph.DTypeFloat32, 1, 5, 4, 4)
	r, _ := told(t, Options{Source: options.Source{Model: samplefiles.WriteFile(t, "n.onnx", n.Bytes()),
		Quantisation: options.Quantisation{Calibrate: samplefiles.Write(t, scenes(6, 8)), Equalise: true,
			CorrectBias: true}},
		Hardware: options.Hardware{Board: "zcu104"}, Verification: options.Verification{Verify: 4, NoCSim: true}})
	if fmt.Sprint(r.Verified.Engines) != "[eval cycle]" {
		t.Errorf("verified by %v", r.Verified.Engines)
	}
}

// TestSurvivors holds that the scale in front of a MaxPool is that of what leaves it, where an activation may fall and
// the quantiser has to stand in front; and that it is that of all values where something else reads them.
func TestSurvivors(t *testing.T) {
	t.Parallel()
	for _, read := range []bool{false, true} { // whether something else reads the values, too
		n := newFloatNet(true, 16)
		x := n.conv("x", 4, 3, 1)
		_, y := n.op(4, "GlobalMaxPool", x)
		y = n.product(y, 5, 1, 1)
		if read {
			_, mean := n.op(4, "GlobalAveragePool", x)
			y = n.add(y, n.product(mean, 5, 1, 1))
		}
		n.Output(y, graph.DTypeFloat32, 1, 5, 1, 1)
		a := &npy.Array{DType: "float32", Shape: []int{20, 3, 16, 16}}
		for range 20 * 3 * 256 {
			a.Data = append(a.Data, float64(float32(n.rnd.NormFloat64())))
		}
		o := Options{Source: options.Source{Model: samplefiles.WriteFile(t, "m.onnx", n.Bytes()),
			Quantisation: options.Quantisation{Calibrate: samplefiles.Write(t,
				a), SaveModel: filepath.Join(t.TempDir(), "made.onnx")}}}
		noteOf(t, o)
		made, err := os.ReadFile(o.SaveModel)
		if err != nil {
			t.Fatal(err)
		}
		var d diag.List
		g := onnxio.ParseGraph("made.onnx", made, &d)
		found := 0
		for _, q := range g.Nodes {
			if q.Op != operators.OpQuant || q.Inputs[0] != x {
				continue
			}
			found++
			least, scale := 0.0, g.Init[q.Inputs[1]].FloatAt(0)
			if q.Attrs["signed"].I != 0 {
				least = -128 * scale
			}
			if read != (least < -0.27) { // the least of x times a sigmoid of x is -0.28
				t.Errorf("read by others %v: codes from %v, in steps of %v", read, least, scale)
			}
		}
		if found != 1 {
			t.Errorf("%d quantisers of what is pooled", found)
		}
	}
}
