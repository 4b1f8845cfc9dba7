package build

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"hlsgen/frontend"
	"hlsgen/hlslib/rnn"
	"hlsgen/internal/diag"
	"hlsgen/internal/testsupport/rnntest"
	"hlsgen/internal/testsupport/tier"
)

// beginsBy lets the states of a network's cells begin with codes of other quantisers than the states' own, which by
// makes of these; as data, or as constants: the least and the greatest code, and those between.
func beginsBy(n *rnntest.Network, data bool, by func(rnntest.Quantiser) rnntest.Quantiser) {
	for _, l := range n.Layers {
		for d, c := range l.Cells {
			s := rnntest.Start{Data: data}
			begin := func(q *rnntest.Quantiser, units int) (*rnntest.Quantiser, []int64) {
				other := by(*q)
				lo, hi := other.Limits()
				var codes []int64
				for u := range units {
					codes = append(codes, []int64{hi, lo, hi / 3, lo + 1}[u%4])
				}
				return &other, codes
			}
			s.ByH, s.H = begin(c.Hidden(), c.Width())
			if c.Kind == rnntest.LSTM {
				s.ByC, s.C = begin(c.State, c.Units)
			}
			l.Starts[d] = s
		}
	}
}

// beginnings are quantisers of what states begin with, made of those of the states.
var beginnings = []struct {
	name     string
	compiled bool // in the full tier for some cells; in the long one for all, with data and without
	by       func(q rnntest.Quantiser) rnntest.Quantiser
}{
	{"more bits", false, func(q rnntest.Quantiser) rnntest.Quantiser {
		q.Bits, q.Linear = q.Bits+2, false // there is no QuantizeLinear of so many
		return q
	}},
	{"a coarser scale", false, func(q rnntest.Quantiser) rnntest.Quantiser {
		q.Scale *= 4
		return q
	}},
	{"a finer scale", false, func(q rnntest.Quantiser) rnntest.Quantiser {
		q.Scale /= 8
		return q
	}},
	{"a scale of three halves", true, func(q rnntest.Quantiser) rnntest.Quantiser {
		q.Scale *= 1.5
		return q
	}},
	{"a zero point", false, func(q rnntest.Quantiser) rnntest.Quantiser {
		q.Zero += 3
		return q
	}},
	{"a zero point of a finer scale", true, func(q rnntest.Quantiser) rnntest.Quantiser {
		q.Scale, q.Zero = q.Scale/2, 5
		return q
	}},
	{"no sign", false, func(q rnntest.Quantiser) rnntest.Quantiser {
		q.Signed, q.Narrow = !q.Signed, false
		return q
	}},
}

// TestBeginnings has states that begin with other integers than those that they become: of another scale, with another
// zero point, beyond their range. Each layer is one engine, and all engines compute what exact arithmetic gives.
func TestBeginnings(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	for i, c := range []struct {
		has  []string
		form string
	}{
		{[]string{"RNN"}, "Scan"}, {[]string{"GRU"}, "Scan"}, {[]string{"LSTM"}, "Scan"},
		{[]string{"RNN", "bidirectional"}, "Scan"}, {[]string{"LSTM", "unrolled"}, "Unrolled"},
	} {
		for k, b := range beginnings {
			if !tier.Full() && k%5 != i || !tier.Long() && (i+k)%3 == 2 {
				continue // each with one kind of cells; in the full tier with two of three
			}
			for _, data := range []bool{false, true} {
				t.Run(fmt.Sprint(c.has, " ", b.name, ", data ", data), func(t *testing.T) {
					t.Parallel()
					axes := rnntest.Axes{GRU: true, RNN: true, Sums: true, Zeros: i%2 == 0,
						Unrolled: c.form == "Unrolled"}
					n, seed := rnntest.First(axes, c.has...)
					n.Steps, n.Layers = 4, n.Layers[:1]
					n.Layers[0].Form = c.form
					n.Outputs = []rnntest.Output{{Of: "sequence"}, {Of: "h"}}
					beginsBy(n, data, b.by)
					var d diag.List
					im, err := frontend.Import("recurrent.onnx", n.ONNX(), recurrentOptions(n), &d)
					if err != nil || im.Model == nil {
						t.Fatal(err, d.Diags)
					}
					if k := strings.Join(kinds(im.Model.Graph), " "); !strings.Contains(k, rnn.KindName) {
						t.Errorf("seed %d: the layers are %s", seed, k)
					}
					compiled := b.compiled && (tier.Full() && i%2 == k/2%2 && data == (i < 2) || tier.Long())
					if compiled {
						tier.Needs(t, "g++")
					}
					if err := recurrentAgrees(context.Background(), n, seed, compiled); err != nil {
						t.Fatalf("seed %d, %q: %v", seed, n.Has, err)
					}
				})
			}
		}
	}
}
