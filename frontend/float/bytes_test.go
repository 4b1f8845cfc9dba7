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
	"hlsgen/frontend/operators"
	"hlsgen/internal/diag"
	"hlsgen/internal/testsupport/onnxtest"
	"hlsgen/internal/testsupport/tier"
)

// want is the checksum of the results of some drawn models, the same on every processor.
const want = "49ad8a68e371d213"

// TestBytes checks that the results of drawn models have the same bytes everywhere.
func TestBytes(t *testing.T) {
	t.Parallel()
	sum := fnv.New64a()
	for seed := range 80 {
		p, d := draw(t, uint64(seed))
		part, err := float.NewEvaluator(p, []string{"x"}, []string{d.tensor})
		if err != nil {
			t.Fatal(err)
		}
		in := make([]float64, graph.ElementCount(p.Known["x"].Shape))
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

// wantLayers is the checksum of the results of layers as large as those of networks.
const wantLayers = "bda5ea48adff2f5"

// TestLayerBytes checks that the results of layers have the same bytes everywhere: dense layers and depthwise
// convolutions, with lanes side by side or apart, and weights as codes, float32 or float64.
func TestLayerBytes(t *testing.T) {
	t.Parallel()
	r, sum := rand.New(rand.NewPCG(9, 10)), fnv.New64a()
	for n := range 120 {
		d := &drawing{Model: onnxtest.New(17), r: r, tensor: "x"}
		dt := graph.DTypeFloat32
		if r.IntN(4) == 0 {
			dt = graph.DTypeFloat64
		}
		weights := func(shape ...int) string {
			name := d.fresh()
			if dt == graph.DTypeFloat32 && r.IntN(3) == 0 {
				codes := make([]float64, graph.ElementCount(shape))
				for i := range codes {
					codes[i] = float64(r.IntN(255) - 127)
				}
				d.Init(name, graph.DTypeInt8, shape, codes...).Init(name+"s", graph.DTypeFloat32, nil, 0.0123)
				d.Node("DequantizeLinear", name, name+"s").Out(name + "d")
				return name + "d"
			}
			values := make([]float64, graph.ElementCount(shape))
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
		p := operators.Prepare(onnxio.ParseGraph("layer.onnx", d.Bytes(), &told), "layer.onnx", operators.Options{},
			&told)
		if p == nil {
			t.Fatal(told.Diags)
		}
		part, err := float.NewEvaluator(p, []string{"x"}, []string{"y"})
		if err != nil {
			t.Fatal(err)
		}
		data := make([]float64, graph.ElementCount(p.Known["x"].Shape))
		for i := range data {
			data[i] = d.number()
		}
		got := outputs(t, part, data)
		if others := outputs(t, part.Fork().UseGoroutines(3), data); !slices.Equal(got, others) {
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

// wantImages is the checksum of the results of convolutions of images.
const wantImages = "90b5e6e71e66c6a8"

// TestImageBytes checks that the results of convolutions of images have the same bytes everywhere, and equal those of
// plain loops: for all strides, dilations and padding, for large images, and for rows that do not fill a vector.
func TestImageBytes(t *testing.T) {
	t.Parallel()
	r, sum := rand.New(rand.NewPCG(11, 12)), fnv.New64a()
	for n := range 240 {
		d := &drawing{Model: onnxtest.New(17), r: r, tensor: "x"}
		v := image{batch: 1 + r.IntN(2), groups: 1 + r.IntN(3), in: 1 + r.IntN(4)/3, more: 1 + r.IntN(3)}
		for a := range 2 {
			v.kernel[a], v.stride[a], v.apart[a] = 1+r.IntN(5), 1+r.IntN(3), 1+r.IntN(3)*r.IntN(2)
			reach := (v.kernel[a]-1)*v.apart[a] + 1
			for side := range 2 {
				v.pads[2*side+a] = r.IntN(reach) * r.IntN(2)
			}
			v.size[a] = reach + r.IntN(30)
			if n%12 == 0 {
				v.size[a] += 60 // more than what is close to the processor
			}
		}
		x := []int{v.batch, v.groups * v.in, v.size[0], v.size[1]}
		w := []int{v.groups * v.more, v.in, v.kernel[0], v.kernel[1]}
		values := func(shape []int) []float64 {
			list := make([]float64, graph.ElementCount(shape))
			for i := range list {
				list[i] = d.number()
			}
			return list
		}
		data, weights := values(x), values(w)
		d.Input("x", graph.DTypeFloat64, x[0], x[1], x[2], x[3]).Init("w", graph.DTypeFloat64, w, weights...)
		pads := []int64{int64(v.pads[0]), int64(v.pads[1]), int64(v.pads[2]), int64(v.pads[3])}
		padded := "x"
		if n%4 == 0 { // with something else
			v.around = d.number()
			d.Init("pads", graph.DTypeInt64, []int{8}, 0, 0, float64(pads[0]), float64(pads[1]), 0, 0, float64(pads[2]),
				float64(pads[3])).Init("around", graph.DTypeFloat64, nil, v.around)
			d.Node("Pad", "x", "pads", "around").Out("padded")
			padded, pads = "padded", []int64{0, 0, 0, 0}
		}
		d.Node("Conv", padded, "w").Int("group", int64(v.groups)).Ints("pads", pads...).
			Ints("strides", int64(v.stride[0]), int64(v.stride[1])).
			Ints("dilations", int64(v.apart[0]), int64(v.apart[1])).Out("y")
		d.Output("y", graph.DTypeFloat64)
		var told diag.List
		g := onnxio.ParseGraph("image.onnx", d.Bytes(), &told)
		operators.DecomposeOperators(g)
		p := operators.Prepare(g, "image.onnx", operators.Options{}, &told)
		if p == nil {
			t.Fatal(told.Diags)
		}
		part, err := float.NewEvaluator(p, []string{"x"}, []string{"y"})
		if err != nil {
			t.Fatal(err)
		}
		got, want := outputs(t, part, data), v.convolve(data, weights)
		if !slices.Equal(got, want) {
			t.Fatalf("image %d, %+v: others than what is written out", n, v)
		}
		if others := outputs(t, part.Fork().UseGoroutines(3), data); !slices.Equal(got, others) {
			t.Fatalf("image %d, %+v: others on three goroutines", n, v)
		}
		for _, v := range got {
			fmt.Fprintf(sum, "%016x", math.Float64bits(v))
		}
	}
	if got := fmt.Sprintf("%x", sum.Sum64()); got != wantImages {
		t.Errorf("checksum %s, want %s", got, wantImages)
	}
}

// An image is a convolution of images: in channels of each group, more outputs.
type image struct {
	batch, groups, in, more     int
	size, kernel, stride, apart [2]int
	pads                        [4]int
	around                      float64
}

// convolve computes the convolution with plain loops.
func (v *image) convolve(x, w []float64) (y []float64) {
	var out [2]int
	for a := range out {
		out[a] = (v.size[a]+v.pads[a]+v.pads[2+a]-(v.kernel[a]-1)*v.apart[a]-1)/v.stride[a] + 1
	}
	for i := range v.batch * v.groups * v.more * out[0] * out[1] {
		column, row := i%out[1], i/out[1]%out[0]
		channel, batch := i/out[1]/out[0]%(v.groups*v.more), i/out[1]/out[0]/(v.groups*v.more)
		sum := 0.0
		for k := range v.kernel[0] * v.kernel[1] * v.in { // channels follow each other
			a, b, c := k/v.in/v.kernel[1], k/v.in%v.kernel[1], k%v.in
			read, r, s := v.around, row*v.stride[0]+a*v.apart[0]-v.pads[0], column*v.stride[1]+b*v.apart[1]-v.pads[1]
			if r >= 0 && r < v.size[0] && s >= 0 && s < v.size[1] {
				plane := (batch*v.groups+channel/v.more)*v.in + c
				read = x[(plane*v.size[0]+r)*v.size[1]+s]
			}
			sum += float64(read * w[((channel*v.in+c)*v.kernel[0]+a)*v.kernel[1]+b])
		}
		y = append(y, sum)
	}
	return y
}

// TestOtherProcessors runs these tests, and those of saved models, as compiled for other processors, and without
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
				line := append(append([]string{}, c.run...), file, "-test.v", "-test.run",
					"^Test(Layer|Image|Saved)?Bytes$")
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
