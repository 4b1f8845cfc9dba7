package build

import (
	"context"
	"fmt"
	"testing"

	"hlsgen/frontend"
	"hlsgen/hlslib/rnn"
	"hlsgen/internal/diag"
	"hlsgen/internal/testsupport/rnntest"
	"hlsgen/internal/testsupport/tier"
)

// TestUnrolled has recurrences of 100 steps that the file has written out: each layer becomes one engine, whose
// outputs are those that exact arithmetic gives.
func TestUnrolled(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	axes := rnntest.Axes{GRU: true, RNN: true, Sums: true, Unrolled: true}
	for i, c := range []struct {
		has     []string
		how     rnntest.Unrolling
		outputs []string // in place of those drawn
	}{
		{[]string{"RNN"}, rnntest.Unrolling{Taken: "Gather"}, []string{"sequence"}},
		{[]string{"RNN", "reverse"}, rnntest.Unrolling{Taken: "Split", Shared: true}, []string{"h"}},
		{[]string{"RNN", "bidirectional"}, rnntest.Unrolling{Taken: "Slice"}, []string{"sequence"}},
		{[]string{"GRU"}, rnntest.Unrolling{Taken: "Gather", Short: true}, []string{"h"}},
		{[]string{"GRU", "reset after"}, rnntest.Unrolling{Taken: "Slice", Shared: true}, []string{"sequence", "h"}},
		{[]string{"GRU", "bidirectional"}, rnntest.Unrolling{Taken: "Split"}, []string{"last"}},
		{[]string{"LSTM"}, rnntest.Unrolling{Taken: "Split", Shared: true}, []string{"sequence"}},
		{[]string{"LSTM", "reverse"}, rnntest.Unrolling{Taken: "Gather", Short: true}, []string{"h", "c"}},
		{[]string{"LSTM", "bidirectional"}, rnntest.Unrolling{Taken: "Slice", Short: true}, []string{"sequence"}},
		{[]string{"LSTM", "two layers"}, rnntest.Unrolling{Taken: "Gather"}, []string{"last"}},
	} {
		if tier.Quick() && i%3 > 0 {
			continue // the first of each kind of cells, and the last
		}
		t.Run(fmt.Sprint(c.has), func(t *testing.T) {
			t.Parallel()
			n, seed := rnntest.First(axes, append([]string{"unrolled"}, c.has...)...)
			n.Steps, n.Outputs = 100, nil
			for _, of := range c.outputs {
				n.Outputs = append(n.Outputs, rnntest.Output{Of: of})
			}
			for _, l := range n.Layers {
				l.Form, l.Spelled.Unroll = "Unrolled", c.how
			}
			var d diag.List
			im, err := frontend.Import("recurrent.onnx", n.ONNX(), recurrentOptions(n), &d)
			if err != nil || im.Model == nil {
				t.Fatal(err, d.Diags)
			}
			list := 0
			for _, k := range kinds(im.Model.Graph) {
				if k == rnn.KindName {
					list++
				}
			}
			if list != len(n.Layers) {
				t.Errorf("the layers are %v", kinds(im.Model.Graph))
			}
			if !tier.Long() && i%3 > 0 || tier.Quick() {
				n.Steps = 8
			}
			if err := recurrentAgrees(context.Background(), n, seed, false); err != nil {
				t.Fatalf("seed %d, %q: %v", seed, n.Has, err)
			}
		})
	}
}

// TestTwoReaders has a sequence that is quantised once and read by two engines: one walks from its end, the other one
// from its begin, and they begin differently, so that they do not share an engine.
func TestTwoReaders(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	for _, form := range []string{"Scan", "Unrolled"} {
		for _, reverse := range [][]bool{{true, false}, {false, true}} {
			t.Run(fmt.Sprint(form, reverse), func(t *testing.T) {
				t.Parallel()
				n, seed := rnntest.First(rnntest.Axes{RNN: true, Data: true}, "RNN", "bidirectional", "states as data")
				l := n.Layers[0]
				l.Form, l.Spelled.Unroll = form, rnntest.Unrolling{Taken: "Slice", Shared: true}
				l.Reverse, l.Requant = reverse, nil
				l.Starts[0].Data, l.Starts[1].Data = false, true
				n.Steps, n.Layers = 5, n.Layers[:1]
				n.Outputs = []rnntest.Output{{Of: "sequence"}}
				if err := recurrentAgrees(context.Background(), n, seed, false); err != nil {
					t.Fatalf("seed %d, %q: %v", seed, n.Has, err)
				}
			})
		}
	}
}
