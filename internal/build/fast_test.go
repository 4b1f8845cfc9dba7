package build

import (
	"context"
	"fmt"
	"testing"

	"hlsgen/frontend"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/engines"
	"hlsgen/internal/fast"
	"hlsgen/internal/samples"
	"hlsgen/internal/testsupport/models"
	"hlsgen/internal/testsupport/tier"
	"hlsgen/internal/verify"
	"hlsgen/rtlsim"
)

// likeStreams holds the compiled engine against what eval has put on every stream: with tables at both ends, where the
// model has these, and with what runs the host's parts.
func likeStreams(ctx context.Context, m *dataflow.Model, s *samples.RunInputs, streams []engines.FrameTensors) error {
	want, err := engines.RunHostSuffix(ctx, m, s, engines.SelectStreams(streams, m.Graph.Out))
	if err != nil {
		return err
	}
	bare := *m
	bare.Host = nil
	for _, m := range []*dataflow.Model{m, &bare} {
		got, err := engines.RunFast(ctx, engines.CompileLayers(m), m, s)
		if err != nil {
			return err
		}
		if err := verify.CompareModelOutputs("engine fast against eval", got, want); err != nil {
			return err
		}
	}
	return likeMachines(m, streams)
}

// likeMachines holds the programs for all kinds of processor that this one is against what eval has put on every
// stream: one batch, and one frame alone.
func likeMachines(m *dataflow.Model, streams []engines.FrameTensors) error {
	programs, err := fast.CompileForProcessorKinds(m.Graph)
	if err != nil {
		return nil // frames depend on each other
	}
	in, want := engines.SelectStreams(streams, m.Graph.In), engines.SelectStreams(streams, m.Graph.Out)
	for _, p := range programs {
		w := p.NewWorker()
		for _, n := range []int{min(len(in), p.Batch), min(len(in), 1)} {
			if err := rtlsim.CompareOutputs(w.RunFrames(in[:n]), want[:n]); err != nil {
				return fmt.Errorf("engine fast on %s against eval, output: %w", p.ProcessorKind(), err)
			}
		}
	}
	return nil
}

// TestFast holds the compiled engine against eval on every model, of the shared ones on every third but in the long
// tier, with random samples and a number of them that is no
// whole number of batches. Their own samples go through it wherever simulate runs.
func TestFast(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	for i, of := range models.All(t) {
		for _, file := range of.Files {
			if refused, _ := of.Expect(t, file); refused != "" || !of.TierAllows(t, file) || tier.Quick() && i%3 > 0 ||
				of.Shared && !tier.Long() && i%3 > 0 {
				continue
			}
			t.Run(of.Name+"/"+file, func(t *testing.T) {
				t.Parallel()
				var d diag.List
				im, err := frontend.Import(file, of.Read(t, file), frontend.Options{}, &d)
				if err != nil || im == nil || im.Model == nil || d.HasErrors() {
					if of.Shared {
						t.Skip("it needs flags to be imported: ", d.Diags)
					}
					t.Fatal(err, d.Diags)
				}
				n := 70
				switch size := engines.StreamElementsPerFrame(im.Model.Graph); {
				case size > 1<<20: // smaller models have all layers of these
					tier.NeedsLong(t)
					n = 1
				case size > 1<<16:
					n = 3
				}
				if tier.Quick() {
					n = min(n, 5)
				}
				s := samples.MakeRandomRuns(im.Model, n)
				streams, _, err := engines.RunHostAndEvalKeepingStreams(t.Context(), im.Model, s)
				if err != nil {
					t.Fatal(err)
				}
				if err := likeStreams(t.Context(), im.Model, s, streams); err != nil {
					t.Error(err)
				}
			})
		}
	}
}
