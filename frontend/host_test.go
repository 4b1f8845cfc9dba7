package frontend_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"hlsgen/frontend"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/testsupport/models"
	"hlsgen/internal/testsupport/tier"
)

// TestHost compares the host's description as data with the model's prefix and suffix: on recorded samples, on inputs
// beside them, and on random integers. The description of our own models must be complete. Of the shared models, one in
// three is compared below the long tier.
func TestHost(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	for i, m := range models.All(t) {
		for _, file := range m.Files {
			if !m.TierAllows(t, file) || m.Shared && i%3 > 0 && !tier.Long() {
				continue
			}
			t.Run(m.Name+"/"+file, func(t *testing.T) {
				t.Parallel()
				rec := m.Recorded(t)
				var d diag.List
				opt := frontend.Options{Data: map[string][]int{"": rec.X.Shape}}
				im, err := frontend.Import(file, m.Read(t, file), opt, &d)
				if err != nil {
					t.Fatal(err)
				}
				if im.Model == nil {
					t.Skip("refused")
				}
				compareHost(t, im.Model, !m.Shared)
			})
		}
	}
}

// tensorsInside checks the tensors inside a model that the accelerator takes and gives. They are quantised: every code
// must be that of its own value.
func tensorsInside(t *testing.T, m *dataflow.Model, h *dataflow.HostDescription) {
	for i, p := range h.In {
		if p == nil || h.Begins == nil {
			continue
		}
		for _, s := range p.Steps {
			if !slices.IsSorted(s.At) || len(s.Codes) != len(s.At)+1 {
				t.Errorf("input %d: %d codes between %v", i, len(s.Codes), s.At)
			}
		}
		if n := (dataflow.Shape)(h.Begins[i].Shape).ElementCount(); len(p.Index) != n {
			t.Errorf("input %d is made of %d elements of %d", i, len(p.Index), n)
		}
	}
	for i, p := range h.Out {
		if p != nil && h.Ends != nil && len(p.Index) != (dataflow.Shape)(h.Ends[i].Shape).ElementCount() {
			t.Errorf("output %d has %d elements of %v", i, len(p.Index), h.Ends[i].Shape)
		}
	}
}

func compareHost(t *testing.T, m *dataflow.Model, own bool) {
	r := rand.New(rand.NewPCG(1, 2))
	h := m.Host()
	begins := m.In
	if h.Begins != nil || h.Ends != nil {
		if own {
			t.Errorf("the host computes more than functions of one element: %v, %v", m.Prefix.Nodes, m.Suffix.Nodes)
		}
		tensorsInside(t, m, h)
		begins = h.Begins
	}
	if h.Codes != nil && begins != nil {
		compareIn(t, m, h, begins, own)
	}
	if h.Ends != nil {
		return
	}
	for range 3 {
		codes := make([]dataflow.Tensor, len(m.Graph.Out))
		for k, s := range m.Graph.Out {
			of := m.Graph.Streams[s].Type
			codes[k].Shape = of.Shape
			for i := range of.Shape.ElementCount() {
				c := of.ChannelRange(i % of.Shape[len(of.Shape)-1])
				codes[k].Data = append(codes[k].Data, c.Lo+r.Int64N(c.Hi-c.Lo+1))
			}
		}
		outs, err := m.Suffix.ToReal(randomIn(r, m.In, 1), codes)
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range h.Out {
			if p == nil && own {
				t.Errorf("output %d is not said", i)
			}
			if p == nil {
				t.Logf("output %d is not said: %v", i, m.Suffix.Nodes)
				continue
			}
			for k, got := range p.DequantiseFrames(codes, m.Out[i].NumberFormat()) {
				if want := outs[i].Data[k]; got != want {
					t.Fatalf("element %d of output %d is %v, want %v", k, i, got, want)
				}
			}
		}
	}
}

// randomIn draws a sample of the inputs, spread over a multiple of the values that the first quantisers tell apart.
func randomIn(r *rand.Rand, inputs []dataflow.RealTensorInfo, times float64) (in []dataflow.RealTensor) {
	for _, of := range inputs {
		x := dataflow.RealTensor{Shape: of.Shape}
		for i := range (dataflow.Shape)(of.Shape).ElementCount() {
			v := of.NumberFormat().RoundToNearest(times * (of.Range[0] + r.Float64()*(of.Range[1]-of.Range[0])))
			if of.Grid != nil {
				v = of.Grid(i, v)
			}
			x.Data = append(x.Data, v)
		}
		in = append(in, x)
	}
	return in
}

// compareIn compares the tables of the accelerator's inputs with the model, at random numbers, and at and beside every
// threshold.
func compareIn(t *testing.T, m *dataflow.Model, h *dataflow.HostDescription, begins []dataflow.RealTensorInfo,
	own bool) {
	r := rand.New(rand.NewPCG(3, 4))
	for i, p := range h.In {
		if p == nil && own {
			t.Errorf("input %d is not said", i)
		}
		if p == nil {
			t.Logf("input %d is not said: %v", i, m.Prefix.Nodes)
			return
		}
	}
	samples := func(yield func([]dataflow.RealTensor) bool) {
		if h.Begins == nil && !(yield(randomIn(r, m.In, 1)) && yield(randomIn(r, m.In, 8))) {
			return
		}
		h.ProbeSamples(begins)(yield)
	}
	for in := range samples {
		frames, err := h.Codes(in)
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range h.In {
			got, want := p.QuantiseSample(in), frames[i].Data
			for k, at := range p.Index {
				x := in[p.Input].Data[at]
				if p.Steps == nil {
					a := m.In[p.Input].Arrives
					if v := a.Value(a.Of(in[p.Input].Shape, int(at)), want[k]); v != x {
						t.Fatalf("element %d of input %d: integer %d is %g, want %g", k, i, want[k], v, x)
					}
				} else if got[k] != want[k] {
					t.Fatalf("element %d of input %d: %g has code %d, want %d", k, i, x, got[k], want[k])
				}
			}
		}
	}
}
