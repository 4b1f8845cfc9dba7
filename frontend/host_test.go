package frontend_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"hlsgen/frontend"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/models"
)

// TestHost holds what is said of the host as data against the model's prefix and suffix: on recorded samples, on inputs
// beside them, and on integers at random. Of our own models all is said.
func TestHost(t *testing.T) {
	t.Parallel()
	for _, m := range models.All(t) {
		for _, file := range m.Files {
			if !m.InTime(t, file) {
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

// tensorsInside: what the accelerator takes and gives inside of a model is quantised: every code is that of its own
// value.
func tensorsInside(t *testing.T, m *dataflow.Model, h *dataflow.Host) {
	for i, p := range h.In {
		if p == nil || h.Begins == nil {
			continue
		}
		for _, s := range p.Steps {
			if !slices.IsSorted(s.At) || len(s.Codes) != len(s.At)+1 {
				t.Errorf("input %d: %d codes between %v", i, len(s.Codes), s.At)
			}
		}
		if n := (dataflow.Shape)(h.Begins[i].Shape).Size(); len(p.Index) != n {
			t.Errorf("input %d is made of %d elements of %d", i, len(p.Index), n)
		}
	}
	for i, p := range h.Out {
		if p != nil && h.Ends != nil && len(p.Index) != (dataflow.Shape)(h.Ends[i].Shape).Size() {
			t.Errorf("output %d has %d elements of %v", i, len(p.Index), h.Ends[i].Shape)
		}
	}
}

func compareHost(t *testing.T, m *dataflow.Model, own bool) {
	r := rand.New(rand.NewPCG(1, 2))
	h := m.Host()
	if h.Begins != nil || h.Ends != nil {
		if own {
			t.Errorf("the host computes more than functions of one element: %v, %v", m.Prefix.Nodes, m.Suffix.Nodes)
		}
		tensorsInside(t, m, h)
		return
	}
	for n := range 3 {
		in := make([]dataflow.RealTensor, len(m.In))
		for k, of := range m.In {
			in[k].Shape = of.Shape
			for range (dataflow.Shape)(of.Shape).Size() {
				x := of.Range[0] + r.Float64()*(of.Range[1]-of.Range[0])
				if n == 1 {
					x = float64(float32(x * 8))
				}
				if x = float64(float32(x)); of.Grid != nil {
					x = of.Grid(x)
				}
				in[k].Data = append(in[k].Data, x)
			}
		}
		frames, err := m.Prefix.ToCodes(in)
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range h.In {
			if p == nil && own {
				t.Errorf("input %d is not said", i)
			}
			if p == nil {
				t.Logf("input %d is not said: %v", i, m.Prefix.Nodes)
				continue
			}
			for k, want := range frames[i].Data {
				x := in[p.Input].Data[p.Index[k]]
				if p.Steps == nil {
					if v := m.In[p.Input].Code(want); v != x {
						t.Fatalf("element %d of input %d: integer %d is %g, want %g", k, i, want, v, x)
					}
				} else if got := p.Of(k).Code(float32(x)); got != want {
					t.Fatalf("element %d of input %d: %g has code %d, want %d", k, i, x, got, want)
				}
			}
		}
		codes := make([]dataflow.Tensor, len(m.Graph.Out))
		for k, s := range m.Graph.Out {
			of := m.Graph.Streams[s].Type
			codes[k].Shape = of.Shape
			for i := range of.Shape.Size() {
				c := of.Channel(i % of.Shape[len(of.Shape)-1])
				codes[k].Data = append(codes[k].Data, c.Lo+r.Int64N(c.Hi-c.Lo+1))
			}
		}
		outs, err := m.Suffix.ToReal(in, codes)
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
			single := slices.Contains([]string{"float32", "float16", "bfloat16"}, m.Out[i].DType)
			var all []int64
			for _, frame := range codes {
				all = append(all, frame.Data...)
			}
			for k, want := range outs[i].Data {
				code := all[p.Index[k]]
				if got := p.Of(k).At(code, single); got != want {
					t.Fatalf("element %d of output %d: code %d means %v, want %v", k, i, code, got, want)
				}
			}
		}
	}
}
