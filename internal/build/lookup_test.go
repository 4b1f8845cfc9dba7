package build

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/quantise"
	"hlsgen/internal/engines"
	"hlsgen/internal/npy"
	"hlsgen/internal/options"
	"hlsgen/internal/simulate"
	"hlsgen/internal/testsupport/onnxtest"
	"hlsgen/internal/testsupport/samplefiles"
	"hlsgen/internal/testsupport/simtest"
	"hlsgen/internal/testsupport/tier"
)

// embedding is a network whose first layer looks rows of a table up by integers: with Gather, as a product with what
// OneHot gives, or with what Equal and Cast give.
func embedding(way string) []byte {
	const indices, rows, width = 6, 20, 4
	r := rand.New(rand.NewPCG(4, 3))
	m := onnxtest.New(14).Input("x", graph.DTypeInt64, 1, indices).Output("y", graph.DTypeFloat32)
	weights := func(name string, shape ...int) string {
		list := make([]float64, graph.ElementCount(shape))
		for i := range list {
			list[i] = float64(float32(0.5 * r.NormFloat64()))
		}
		m.Init(name, graph.DTypeFloat32, shape, list...)
		return name
	}
	table := weights("t", rows, width)
	switch way {
	case "Gather":
		m.Node("Gather", table, "x").Name("table").Out("rows")
	case "OneHot":
		m.Init("depth", graph.DTypeInt64, nil, rows).Init("values", graph.DTypeFloat32, []int{2}, 0, 1)
		m.Node("OneHot", "x", "depth", "values").Out("hot")
		m.Node("MatMul", "hot", table).Name("table").Out("rows")
	default:
		var all []float64
		for i := range rows {
			all = append(all, float64(i))
		}
		m.Init("axis", graph.DTypeInt64, []int{1}, 2).Init("all", graph.DTypeInt64, []int{rows}, all...)
		m.Node("Unsqueeze", "x", "axis").Out("each")
		m.Node("Equal", "each", "all").Out("is")
		m.Node("Cast", "is").Int("to", int64(graph.DTypeFloat32)).Out("hot")
		m.Node("MatMul", "hot", table).Name("table").Out("rows")
	}
	m.Node("Relu", "rows").Out("hidden")
	m.Node("Flatten", "hidden").Out("flat")
	m.Node("MatMul", "flat", weights("v", indices*width, 3)).Out("y")
	return m.Bytes()
}

// TestLookup holds where rows of tables are looked up, with each way to write that and each place to ask for: what
// becomes of the node, what arrives, and what is told of its costs. The engines agree each time.
func TestLookup(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	r := rand.New(rand.NewPCG(5, 6))
	x := &npy.Array{DType: "int64", Shape: []int{20, 6}}
	for range 20 * 6 {
		x.Data = append(x.Data, float64(r.IntN(20)))
	}
	const onHost = "host prefix"
	chosen := "looks rows of a table up, on the host: 24 bytes a sample; --lookup device sends 6 and keeps a table " +
		"of 640 bits"
	multiplied := "looks rows of a table up, on the device: of 120 ones and zeros that the host makes of integers, " +
		"480 MACs a sample, and 15 bytes or more; --lookup host sends 24"
	tabled := "looks rows of a table up, on the device: 6 bytes a sample, and a table of 640 bits; --lookup host " +
		"sends 24"
	stays := "looks rows of a table up, on the host: 24 bytes a sample; --lookup device sends 120 ones and zeros, 15 " +
		"bytes or more, and takes 480 MACs"
	for _, c := range []struct {
		way     string
		place   quantise.LookupPlace
		becomes string // the node named table
		says    string
		bits    int // of what arrives on the device
		bytes   int // 0: as many as words of so many bits make
	}{
		{"Gather", "", onHost, chosen, 24 * 8, 24},
		{"Gather", quantise.LookupPlaceHost, onHost, chosen, 24 * 8, 24},
		{"Gather", quantise.LookupPlaceDevice, "Lookup", tabled, 6 * 5, 6},
		{"OneHot", "", "MVAU", multiplied, 120, 0},
		{"OneHot", quantise.LookupPlaceHost, onHost, stays, 24 * 8, 24},
		{"OneHot", quantise.LookupPlaceDevice, "MVAU", multiplied, 120, 0},
		{"Equal", "", "MVAU", multiplied, 120, 0},
		{"Equal", quantise.LookupPlaceHost, onHost, stays, 24 * 8, 24},
		{"Equal", quantise.LookupPlaceDevice, "MVAU", multiplied, 120, 0},
	} {
		t.Run(fmt.Sprintf("%s on %q", c.way, c.place), func(t *testing.T) {
			t.Parallel()
			o := Options{Source: options.Source{Model: samplefiles.WriteFile(t, "m.onnx", embedding(c.way)),
				Quantisation: options.Quantisation{Calibrate: samplefiles.Write(t, x), SaveModel: t.TempDir() +
					"/q.onnx", Lookup: c.place},
				SampleFiles: options.SampleFiles{Data: samplefiles.Write(t, x)}},
				Hardware: options.Hardware{Board: "zcu104"},
				Goal:     options.Goal{Interval: 200}, Verification: options.Verification{NoCSim: true, Verify: 3}}
			res, list := told(t, o)
			if text := fmt.Sprint(list); len(list) != 1 || !strings.Contains(text, c.says) {
				t.Errorf("nobody says %q alone: %s", c.says, text)
			}
			found := false
			for _, f := range res.Imported.Fates {
				if f.Node == "table" && !strings.HasSuffix(f.Op, "Quant") {
					found = true
					if !strings.HasPrefix(f.Fate, c.becomes) {
						t.Errorf("%s becomes %s, want %s", f.Op, f.Fate, c.becomes)
					}
				}
			}
			if !found {
				t.Error("the table's node has no fate")
			}
			in := res.Design.PortOfStream(res.Imported.Model.Graph.In[0])
			if in.Words*in.PerWord*in.Elem.Width != c.bits || c.bytes > 0 && in.FrameBytes() != c.bytes {
				t.Errorf("%d bytes arrive a sample: %+v", in.FrameBytes(), in)
			}
			saved := simulate.Options{Source: options.Source{Model: o.SaveModel,
				SampleFiles: options.SampleFiles{Data: o.Data}}}
			simtest.SameByEngines(t, saved, engines.EngineReference, engines.EngineFast, engines.EngineEval,
				engines.EngineCycle)
		})
	}
}
