package fast

import (
	"sync/atomic"
	"testing"

	"hlsgen/frontend"
	"hlsgen/internal/diag"
	"hlsgen/internal/testsupport/models"
	"hlsgen/internal/testsupport/tier"
)

// TestThresholds compares the codes of inputs with the model's, for every set of kernels: at every threshold of
// every model, at the numbers beside it, and at both zeros.
func TestThresholds(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	var met atomic.Int32
	t.Cleanup(func() {
		if met.Load() == 0 {
			t.Error("no model has tables")
		}
	})
	for _, m := range models.All(t) {
		for _, file := range m.Files[:1] { // the other files have the same in another dialect
			if !m.TierAllows(t, file) {
				continue
			}
			t.Run(m.Name+"/"+file, func(t *testing.T) {
				t.Parallel()
				var d diag.List
				opt := frontend.Options{Data: map[string][]int{"": m.Recorded(t).X.Shape}}
				im, err := frontend.Import(file, m.Read(t, file), opt, &d)
				if err != nil || im.Model == nil {
					t.Skip("refused")
				}
				for _, k := range machines() {
					p, err := compile(im.Model.Graph, k)
					if err != nil {
						t.Skip(err)
					}
					e, ok := p.NewHostTables(im.Model)
					if !ok {
						t.Skip("its ends are no tables")
					}
					w := p.NewWorker()
					for in := range im.Model.Host().ProbeSamples(im.Model.In) {
						want, err := im.Model.Prefix.ToCodes(in)
						if err != nil {
							t.Fatal(err)
						}
						x := make([][]float32, len(in))
						for k, of := range in {
							for _, v := range of.Data {
								x[k] = append(x[k], float32(v))
							}
						}
						w.send(e, x, 1)
						for k, id := range p.g.In {
							for i, code := range want[k].Data {
								if got := w.at(&p.streams[id], 0, i); got != code {
									t.Fatalf("%s: element %d of frame %d is %d, want %d", p.ProcessorKind(), i, k, got,
										code)
								}
							}
						}
					}
					met.Add(1)
				}
			})
		}
	}
}
