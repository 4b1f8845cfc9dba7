package build

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"testing"

	"hlsgen/frontend/graph"
	"hlsgen/internal/check"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/engines"
	"hlsgen/internal/options"
	"hlsgen/internal/testsupport/onnxtest"
	"hlsgen/internal/testsupport/samplefiles"
	"hlsgen/internal/testsupport/tier"
	"hlsgen/rtlsim"
)

// A pictured is a network of 3 x 3 convolutions of square pictures, each as wide as the one before, and a mean.
type pictured struct{ side, channels, layers int }

func (p pictured) onnx() []byte {
	m := onnxtest.New(13).Opset("qonnx.custom_op.general", 1)
	number := func(name string, v float64) { m.Init(name, graph.DTypeFloat32, nil, v) }
	number("step", 0.25)
	number("zero", 0)
	number("bits", 4)
	quant := func(in, out string, signed int) {
		q := m.Node("Quant", in, "step", "zero", "bits").Domain("qonnx.custom_op.general")
		q.Int("signed", int64(signed)).Out(out)
	}
	m.Input("x", graph.DTypeFloat32, 1, p.channels, p.side, p.side)
	quant("x", "t0", 1)
	for i := range p.layers {
		w := make([]float64, p.channels*p.channels*9)
		for k := range w {
			w[k] = float64((k*7919+i)%13-6) / 4
		}
		name := fmt.Sprint("w", i)
		m.Init(name, graph.DTypeFloat32, []int{p.channels, p.channels, 3, 3}, w...)
		quant(name, name+"q", 1)
		t := fmt.Sprint("t", i)
		m.Node("Conv", t, name+"q").Ints("kernel_shape", 3, 3).Ints("pads", 1, 1, 1, 1).Out(t + "sum")
		m.Node("Relu", t+"sum").Out(t + "relu")
		quant(t+"relu", fmt.Sprint("t", i+1), 0)
	}
	m.Node("GlobalAveragePool", fmt.Sprint("t", p.layers)).Out("mean")
	quant("mean", "y", 0)
	m.Output("y", graph.DTypeFloat32, 1, p.channels, 1, 1)
	return m.Bytes()
}

// TestMemoryGrows holds that what check and build allocate grows as pixels, weights and layers do: four times as much
// of one of them takes no more than the exponent 1.1. It counts what the process allocates, so it runs alone.
func TestMemoryGrows(t *testing.T) {
	tier.NotQuick(t)
	dir := t.TempDir()
	check := func(o Options, d *diag.List) error {
		_, err := check.Run(t.Context(), check.Options{Source: o.Source, AccBits: o.AccBits}, d)
		return err
	}
	build := func(o Options, d *diag.List) error {
		o.Board, o.NoCSim, o.Verify, o.Out, o.Force = "alveo-u250", true, 1, dir+"/out", true
		_, err := Run(t.Context(), o, d)
		return err
	}
	for _, c := range []struct {
		name         string
		small, large pictured
		run          func(Options, *diag.List) error
	}{
		{"check, pixels", pictured{64, 4, 2}, pictured{128, 4, 2}, check},
		{"check, weights", pictured{4, 64, 2}, pictured{4, 128, 2}, check},
		{"check, layers", pictured{16, 4, 8}, pictured{16, 4, 32}, check},
		{"build, pixels", pictured{64, 4, 2}, pictured{128, 4, 2}, build},
		{"build, weights", pictured{4, 16, 2}, pictured{4, 32, 2}, build},
		{"build, layers", pictured{8, 4, 4}, pictured{8, 4, 16}, build},
	} {
		t.Run(c.name, func(t *testing.T) {
			var took [2]float64
			for i, p := range []pictured{c.small, c.large} {
				model := samplefiles.WriteFile(t, fmt.Sprint("net", i, ".onnx"), p.onnx())
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				var d diag.List
				if err := c.run(Options{Source: options.Source{Model: model}}, &d); err != nil || d.HasErrors() {
					t.Fatal(err, d.Diags)
				}
				runtime.ReadMemStats(&after)
				took[i] = float64(after.TotalAlloc - before.TotalAlloc)
			}
			e := math.Log(took[1]/took[0]) / math.Log(4)
			t.Logf("%+v takes %.0f bytes, %+v %.0f: the exponent is %.2f", c.small, took[0], c.large, took[1], e)
			if e > 1.1 {
				t.Errorf("%+v takes %.0f bytes, %+v %.0f: the exponent is %.2f", c.small, took[0], c.large, took[1], e)
			}
		})
	}
}

// TestParts holds that what passes part by part is what Eval gives of whole frames, on every stream, and that an
// element that a kernel makes otherwise is found where it lies in the whole frame.
func TestParts(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	model := samplefiles.WriteFile(t, "net.onnx", pictured{96, 4, 2}.onnx())
	r := built(t, Options{Source: options.Source{Model: model}, Hardware: options.Hardware{Board: "alveo-u250"},
		Verification: options.Verification{NoCSim: true, Verify: 1}})
	d, g := r.Design.Design, r.Design.Model.Graph
	parts := 0
	for _, p := range d.LayerGroups() {
		parts = max(parts, p.Parts)
	}
	if parts < 2 {
		t.Fatal("all frames pass in one part")
	}
	in := make([]engines.FrameTensors, 2)
	for f := range in {
		for _, s := range g.In {
			x := dataflow.Tensor{Shape: g.Streams[s].Type.Shape, Data: make([]int64,
				g.Streams[s].Type.Shape.ElementCount())}
			for i := range x.Data {
				x.Data[i] = int64((i*31+f)%15 - 7)
			}
			in[f] = append(in[f], x)
		}
	}
	whole, err := engines.RunEval(t.Context(), d.Model, in)
	if err != nil {
		t.Fatal(err)
	}
	told := make([]map[int][]int64, len(in))
	_, err = rtlsim.CompareKernelsWithEval(t.Context(), d, in, func(f, s int, rows dataflow.Tensor) error {
		if told[f] == nil {
			told[f] = map[int][]int64{}
		}
		told[f][s] = append(told[f][s], rows.Data...)
		return nil
	}, engines.NewStreamMismatchMaker(engines.EngineCycle, g))
	if err != nil {
		t.Fatal(err)
	}
	for f := range in {
		for s := range g.Streams {
			got := dataflow.Tensor{Shape: whole[f][s].Shape, Data: told[f][s]}
			if err := rtlsim.CompareOutputs([]engines.FrameTensors{{got}},
				[]engines.FrameTensors{{whole[f][s]}}); err != nil {
				t.Errorf("frame %d, stream %d: %v", f, s, err)
			}
		}
	}
	spoilt(t, d, in)
}

// spoilt has each layer's kernel give one other element, in the second half of a frame.
func spoilt(t *testing.T, d *dataflow.Design, in []engines.FrameTensors) {
	g := d.Model.Graph
	for i, n := range g.Nodes {
		out := n.Out[0]
		shape, port := g.Streams[out].Type.Shape, d.PortOfStream(out)
		word := (port.Words + 1) / 2
		m, changed, node, bad := *d.Model, *g, *n, *d
		node.Op = spoiling{n.Op, word, port}
		changed.Nodes = slices.Clone(g.Nodes)
		changed.Nodes[i] = &node
		m.Graph, bad.Model = &changed, &m
		stream := -1
		_, err := rtlsim.CompareKernelsWithEval(t.Context(), &bad, in[:1], nil, func(_, s int, why error) error {
			stream = s
			return why
		})
		where := new(rtlsim.OutputDifference)
		if stream != out || !errors.As(err, &where) || !slices.Equal(where.Shape, shape) ||
			port.WordIndexOfElement(shape, where.Index) != min(word, port.Words-1) {
			t.Errorf("%s: %v on stream %d; want word %d of stream %d", n.Name, err, stream, word, out)
		}
	}
}

// spoiling is a layer whose kernel gives another element in a word of each frame.
type spoiling struct {
	dataflow.Op
	word int
	port dataflow.Port
}

// Describe has what says how a frame is computed part by part.
func (s spoiling) Describe() dataflow.LayerDescription {
	d := s.Op.Describe()
	return dataflow.LayerDescription{Dependence: d.Dependence, EvalRows: d.EvalRows}
}

func (s spoiling) Kernel(f dataflow.Fold, t dataflow.Target) dataflow.Kernel {
	return &spoilingKernel{s.Op.Kernel(f, t), s, 0}
}

type spoilingKernel struct {
	dataflow.Kernel
	of    spoiling
	words int // that were written
}

func (k *spoilingKernel) Step(iteration int, in []dataflow.Word) []dataflow.Word {
	out := slices.Clone(k.Kernel.Step(iteration, in))
	if out[0] == nil {
		return out
	}
	if k.words == min(k.of.word, k.of.port.Words-1) {
		out[0] = slices.Clone(out[0])
		if least := k.of.port.Elem.Range().Lo; out[0][0] == least {
			out[0][0]++
		} else {
			out[0][0] = least
		}
	}
	k.words++
	return out
}
