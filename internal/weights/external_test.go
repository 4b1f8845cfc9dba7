package weights_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hlsgen/boards"
	"hlsgen/frontend/graph"
	"hlsgen/internal/build"
	"hlsgen/internal/diag"
	"hlsgen/internal/options"
	"hlsgen/internal/testsupport/models"
	"hlsgen/internal/testsupport/onnxtest"
	"hlsgen/internal/testsupport/tier"
)

// large is a file of a network of two products with weights of 4 bits, of which the first one has 2 Mi.
func large(t *testing.T) string {
	t.Helper()
	rnd := rand.New(rand.NewPCG(16, 21))
	m := onnxtest.New(13).Opset("qonnx.custom_op.general", 1)
	m.Input("x", graph.DTypeFloat32, 1, 2048).Output("y", graph.DTypeFloat32, 1, 10)
	m.Init("one", graph.DTypeFloat32, nil, 1).Init("zero", graph.DTypeFloat32, nil, 0).Init("four", graph.DTypeFloat32,
		nil, 4)
	m.Init("coarse", graph.DTypeFloat32, nil, 64)
	quant := func(in, scale string, signed int64, out string) {
		m.Node("Quant", in, scale, "zero", "four").Domain("qonnx.custom_op.general").Int("signed", signed).
			Int("narrow", signed).Str("rounding_mode", "ROUND").Out(out)
	}
	quant("x", "one", 0, "x0")
	for i, n := range [][2]int{{2048, 1024}, {1024, 10}} {
		w := make([]float64, n[0]*n[1])
		for k := range w {
			w[k] = float64(rnd.IntN(15) - 7)
		}
		of := func(name string, k int) string { return fmt.Sprint(name, k) }
		m.Init(of("w", i), graph.DTypeFloat32, n[:], w...)
		quant(of("w", i), "one", 1, of("q", i))
		if i == 1 {
			m.Node("MatMul", of("x", i), of("q", i)).Out("y")
			continue
		}
		m.Node("MatMul", of("x", i), of("q", i)).Out(of("sums", i))
		quant(of("sums", i), "coarse", 0, of("x", i+1))
	}
	path := filepath.Join(t.TempDir(), "large.onnx")
	if err := os.WriteFile(path, m.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// slowed is the file of a board whose memory carries so much.
func slowed(t *testing.T, name string, gbps float64) string {
	t.Helper()
	b, err := boards.FindBoard(name)
	if err != nil {
		t.Fatal(err)
	}
	b.Name, b.Aliases, b.MemoryGBps = "slowed", nil, gbps
	text, err := json.Marshal(b)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "slowed.json")
	if err := os.WriteFile(path, text, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestExternalLarge builds a network whose weights are more than the device's memories hold. Its rate is what the
// memory's port carries, or the memory, and can be asked for.
func TestExternalLarge(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	model := large(t)
	build := func(board string, from options.WeightSource, interval int) (*build.Result, diag.List) {
		var d diag.List
		r, err := build.Run(context.Background(), build.Options{Source: options.Source{Model: model},
			Hardware: options.Hardware{Board: board,
				Backend: options.BackendRTL, Weights: from}, Goal: options.Goal{Interval: float64(interval)},
			Verification: options.Verification{NoCSim: true, Verify: 1},
			OutputFolder: options.OutputFolder{Out: filepath.Join(t.TempDir(), "out")}}, &d)
		if err != nil {
			t.Fatal(err)
		}
		return r, d
	}
	for _, from := range []options.WeightSource{options.WeightSourceConstant, options.WeightSourceStream} {
		if r, d := build("pynq-z1", from, 0); r != nil || !d.HasErrors() {
			t.Errorf("%s weights fit", from)
		}
	}
	for _, c := range []struct {
		board string
		least float64 // clocks of a frame
	}{
		{"pynq-z1", 1 << 20 / 8},                 // a port of 8 bytes
		{slowed(t, "pynq-z1", 0.4), 1 << 20 / 4}, // a memory of 4 bytes in a clock
	} {
		if tier.Quick() && c.board == "pynq-z1" {
			continue
		}
		r, d := build(c.board, options.WeightSourceExternal, 0)
		if r == nil {
			t.Fatalf("%s: %+v", c.board, d.Diags)
		}
		got, load := r.Design.Clocks.Interval, r.WeightLoadReport()
		if got < c.least || got > 1.05*c.least || r.Design.Over {
			t.Errorf("%s: a frame in %v clocks, want %v or little more", c.board, got, c.least)
		}
		if len(load.External) == 0 || load.External[0].Bytes != 1<<20 {
			t.Errorf("%s: %+v", c.board, load)
		}
		if p := r.HostPortReport(); p.Moved > p.MemoryGB || p.Bytes < 1<<20 {
			t.Errorf("%s: more moves than the memory carries: %+v", c.board, p)
		}
		again, d := build(c.board, options.WeightSourceExternal, int(got))
		if again == nil || again.Design.Clocks.Interval > got {
			t.Errorf("%s: asked for %v clocks: %+v", c.board, got, d.Diags)
		}
	}
}

// TestExternalLayers refuses layers that cannot read weights from memory, with the reason.
func TestExternalLayers(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	mlp := models.Find(t, "digits-mlp-w2a2").Path("model.onnx")
	for _, c := range []struct {
		board, from string
		change      func(*build.Options)
		want        string // empty: it builds
	}{
		{"zcu104", "external=MVAU_1", nil, ""},
		{"zcu104", "external", nil, "no layer reads each of its weights once per frame and has 4096 bytes"},
		{"zcu104", "external=MVAU_9", nil, `there is no layer "MVAU_9"; those that have one are MVAU_0, MVAU_1`},
		{"zcu104", "external=MVAU_0,MVAU_1,MVAU_2,MVAU_3", nil, "4 layers want a memory port each"},
		{"arty-a7-35", "external=MVAU_0", nil, "nothing is known of a memory port of arty-a7-35"},
		{"zcu104", "external=MVAU_0", func(o *build.Options) { o.Formula = 1 }, "does not go with --cost finn"},
		{"zcu104", "external=MVAU_0", func(o *build.Options) { o.Backend = options.BackendHLS }, "use --backend rtl"},
		{"zcu104", "external=MVAU_0", func(o *build.Options) { o.IO = 1 }, "--io stream"},
		{"zcu104", "external=MVAU_0", func(o *build.Options) {
			o.Folding = filepath.Join(t.TempDir(), "f.json")
			if err := os.WriteFile(o.Folding, []byte(`{"MVAU_0": {"PE": 64, "SIMD": 64}}`), 0o644); err != nil {
				t.Fatal(err)
			}
		}, "MVAU_0 reads 8192 bits of weights from memory in a clock at PE 64, SIMD 64; a port of the memory " +
			"of zcu104 carries 128; a smaller PE or SIMD"},
	} {
		o := build.Options{Source: options.Source{Model: mlp}, Hardware: options.Hardware{Board: c.board,
			Backend: options.BackendRTL},
			Verification: options.Verification{NoCSim: true, Verify: 1},
			OutputFolder: options.OutputFolder{Out: filepath.Join(t.TempDir(), "out")}}
		var err error
		if o.Weights, err = options.ParseWeightSource(c.from); err != nil {
			t.Fatal(err)
		}
		if c.change != nil {
			c.change(&o)
		}
		var d diag.List
		r, err := build.Run(context.Background(), o, &d)
		said := ""
		for _, x := range d.Diags {
			if x.Severity == diag.SeverityError {
				said += x.Msg + "; " + x.Hint + "\n"
			}
		}
		if err != nil || (r != nil) != (c.want == "") || !strings.Contains(said, c.want) {
			t.Errorf("%s, %s: %v, %q, want %q", c.board, c.from, err, said, c.want)
		}
	}
}

// TestParseWeights reads sources of weights.
func TestParseWeights(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"constant": "", "stream": "", "external": "", "external=A,B": "",
		"extern": "did you mean external", "stream=A": "no layers are named",
		"external=":    "no list of different layers",
		"external=A,A": "no list of different layers"} {
		w, err := options.ParseWeightSource(text)
		if (err == nil) != (want == "") || err == nil && string(w) != text ||
			err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %q, %v, want %q", text, w, err, want)
		}
	}
}
