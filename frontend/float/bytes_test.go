package float_test

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hlsgen/frontend/float"
	"hlsgen/frontend/graph"
	"hlsgen/frontend/onnxio"
	"hlsgen/frontend/onnxio/onnxtest"
	"hlsgen/internal/diag"
	"hlsgen/internal/tier"
)

// want is the checksum of what some drawn models give, on every processor.
const want = "49ad8a68e371d213"

// TestBytes holds that the results of drawn models are the same bytes everywhere.
func TestBytes(t *testing.T) {
	t.Parallel()
	sum := fnv.New64a()
	for seed := range 80 {
		p, d := draw(t, uint64(seed))
		part, err := float.New(p, []string{"x"}, []string{d.tensor})
		if err != nil {
			t.Fatal(err)
		}
		in := make([]float64, graph.Size(p.Known["x"].Shape))
		for i := range in {
			in[i] = d.number()
		}
		for _, v := range outputs(t, part, in) {
			fmt.Fprintf(sum, "%016x", math.Float64bits(v))
		}
	}
	if got := fmt.Sprintf("%x", sum.Sum64()); got != want {
		t.Errorf("checksum %s, want %s", got, want)
	}
}

// wantLayers is the checksum of what layers give that are as large as those of networks.
const wantLayers = "bda5ea48adff2f5"

// TestLayerBytes holds that the results of layers are the same bytes everywhere: of dense layers and depthwise
// convolutions, whose lanes lie side by side or apart, of weights that are codes, float32 and float64.
func TestLayerBytes(t *testing.T) {
	t.Parallel()
	r, sum := rand.New(rand.NewPCG(9, 10)), fnv.New64a()
	for n := range 120 {
		d := &drawing{Model: onnxtest.New(17), r: r, tensor: "x"}
		dt := graph.Float32
		if r.IntN(4) == 0 {
			dt = graph.Float64
		}
		weights := func(shape ...int) string {
			name := d.fresh()
			if dt == graph.Float32 && r.IntN(3) == 0 {
				codes := make([]float64, graph.Size(shape))
				for i := range codes {
					codes[i] = float64(r.IntN(255) - 127)
				}
				d.Init(name, graph.Int8, shape, codes...).Init(name+"s", graph.Float32, nil, 0.0123)
				d.Node("DequantizeLinear", name, name+"s").Out(name + "d")
				return name + "d"
			}
			values := make([]float64, graph.Size(shape))
			for i := range values {
				values[i] = d.number()
			}
			d.Init(name, dt, shape, values...)
			return name
		}
		in, out := 1+r.IntN(90), 1+r.IntN(90)
		switch n % 3 {
		case 0:
			d.Input("x", dt, 1+r.IntN(3), in)
			d.Node("Gemm", "x", weights(out, in)).Int("transB", 1).Out("y")
		case 1:
			d.Input("x", dt, 1+r.IntN(3), in)
			d.Node("MatMul", "x", weights(in, out)).Out("y")
		default:
			c, k, more := 1+r.IntN(6), 1+r.IntN(4), 1+r.IntN(2)
			d.Input("x", dt, 1, c, k+r.IntN(40), k+r.IntN(40))
			edge, step := int64(r.IntN(k)), []int64{int64(1 + r.IntN(3)), int64(1 + r.IntN(3))}
			d.Node("Conv", "x", weights(c*more, 1, k, k)).Int("group", int64(c)).Ints("strides", step...).
				Ints("pads", edge, edge, edge, edge).Out("y")
		}
		d.Output("y", dt)
		var told diag.List
		p := graph.Prepare(onnxio.Read("layer.onnx", d.Bytes(), &told), "layer.onnx", graph.Options{}, &told)
		if p == nil {
			t.Fatal(told.Diags)
		}
		part, err := float.New(p, []string{"x"}, []string{"y"})
		if err != nil {
			t.Fatal(err)
		}
		data := make([]float64, graph.Size(p.Known["x"].Shape))
		for i := range data {
			data[i] = d.number()
		}
		got := outputs(t, part, data)
		if others := outputs(t, part.Fork().On(3), data); !slices.Equal(got, others) {
			t.Fatalf("layer %d: others on three goroutines", n)
		}
		for _, v := range got {
			fmt.Fprintf(sum, "%016x", math.Float64bits(v))
		}
	}
	if got := fmt.Sprintf("%x", sum.Sum64()); got != wantLayers {
		t.Errorf("checksum %s, want %s", got, wantLayers)
	}
}

// TestOtherProcessors has these tests, and what holds saved models, run as they are compiled for others, and without
// vectors.
func TestOtherProcessors(t *testing.T) {
	t.Parallel()
	tier.NeedsLong(t)
	qemu := tier.Needs(t, "qemu-aarch64-static")[0]
	for _, c := range []struct {
		name string
		env  []string
		run  []string
	}{
		{"any amd64", []string{"GOARCH=amd64", "GOAMD64=v1"}, nil},
		{"amd64 with FMA", []string{"GOARCH=amd64", "GOAMD64=v3"}, nil},
		{"amd64 without AVX2", []string{"GOARCH=amd64", "GOAMD64=v1"}, []string{"env", "GODEBUG=cpu.avx2=off"}},
		{"arm64", []string{"GOARCH=arm64"}, []string{qemu}},
	} {
		for _, folder := range []string{"frontend/float", "frontend"} {
			t.Run(c.name+", "+folder, func(t *testing.T) {
				t.Parallel()
				file := filepath.Join(t.TempDir(), "test")
				build := exec.CommandContext(t.Context(), "go", "test", "-c", "-o", file, "./"+folder)
				build.Dir, build.Env = tier.Root(t), append(os.Environ(), append(c.env, "CGO_ENABLED=0")...)
				if out, err := build.CombinedOutput(); err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
				line := append(append([]string{}, c.run...), file, "-test.v", "-test.run", "^Test(Layer|Saved)?Bytes$")
				run := exec.CommandContext(t.Context(), line[0], line[1:]...)
				run.Dir = filepath.Join(tier.Root(t), folder)
				out, err := run.CombinedOutput()
				if err != nil || !strings.Contains(string(out), "--- PASS") {
					t.Errorf("%v\n%s", err, out)
				}
			})
		}
	}
}
