package folding

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/testsupport/tier"
)

// randomLarge returns a random network of convolutions, poolings, residual blocks and branches, with roughly the given
// number of layers.
func randomLarge(r *rand.Rand, layers int) *dataflow.Model {
	p := &painter{r: r}
	c := 4 << r.IntN(2)
	edge := 16 << r.IntN(2)
	s := p.conv(p.image(edge, edge, 3), 3, 1, c)
	for n := 3; n < layers; {
		switch what := r.IntN(8); {
		case what < 3:
			s, n = p.conv(s, 1+2*r.IntN(2), 1, c), n+2
		case what == 3:
			s, n = p.conv(p.depthwise(s, 1), 1, 1, c), n+3
		case what == 4 && edge > 4:
			edge, c = edge/2, min(2*c, 32)
			s, n = p.conv(p.pool(s, 2), 1, 1, c), n+3
		case what == 5:
			f := p.fork(s, 2)
			s, n = p.concat(p.conv(f[0], 1, 1, c/2), p.conv(f[1], 3, 1, c/2)), n+5
		default:
			f := p.fork(s, 2)
			s, n = p.join(p.conv(p.conv(f[0], 1, 1, c), 3, 1, c), f[1]), n+5
		}
	}
	return p.model("large", p.classify(s, 10))
}

// TestLargeNetworks tries to beat proved or found designs of networks of 20 to 60 layers: by asking for a few clocks
// more or less, for an interval above the bound, or for a random fold of a layer.
func TestLargeNetworks(t *testing.T) {
	t.Parallel()
	nets, most := 2, 30
	if tier.Long() {
		nets, most = 10, 60
	} else {
		tier.NotQuick(t)
	}
	for seed := range uint64(nets) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(seed, 35))
			m := randomLarge(r, 20+r.IntN(most-19))
			target := dataflow.Target{Board: part(board("zcu104"), 0.1+0.3*r.Float64()), ClockMHz: 200}
			d, told := designed(t, m, target, Goal{})
			if d == nil {
				t.Skip(text(told)) // no such board would do
			}
			large{t, m, target, d}.unbeaten(r)
		})
	}
}

// A large is the fastest design of a network, which others try to beat.
type large struct {
	*testing.T
	model  *dataflow.Model
	target dataflow.Target
	found  *Design
}

func (l large) unbeaten(r *rand.Rand) {
	c := &l.found.Certificate
	found, floor := int(l.found.Clocks.Interval), c.Floor
	const near = 5
	asked := []int{}
	for k := 1; k <= near; k += 2 {
		asked = append(asked, found-k, found+k)
	}
	if tier.Long() {
		for k := range 12 {
			if n := floor + (found-floor)*k/12; n < found && n >= floor {
				asked = append(asked, n)
			}
		}
	}
	for _, n := range asked {
		other, _ := designed(l, l.model, l.target, Goal{Interval: float64(n)})
		l.compare(other, fmt.Sprintf("--interval %d", n))
	}
	s := must(NewSpace(l.model, l.target, nil, FIFODepthPolicy{}, nil))
	tries := 2
	if tier.Long() {
		tries = 20
	}
	for range tries {
		layer := &s.Layers[r.IntN(len(s.Layers))]
		if layer.Node.Op.Kind() != "MVAU" {
			continue
		}
		f := layer.Options[r.IntN(len(layer.Options))].Fold
		file := fmt.Sprintf(`{"%s": {"PE": %d, "SIMD": %d}}`, layer.Node.Name, f.PE, f.SIMD)
		other, told := withFileOn(l, l.model, l.target, file, Goal{})
		if other == nil {
			l.Log(text(told))
			continue
		}
		l.compare(other, file)
	}
}

// compare checks the bounds of the found design against another design.
func (l large) compare(other *Design, how string) {
	if other == nil {
		return
	}
	c := &l.found.Certificate
	is, found := other.Clocks.Interval, l.found.Clocks.Interval
	if is < float64(c.Floor) {
		l.Errorf("%s: %v clocks, where none below %d was said to be", how, is, c.Floor)
	}
	if is < found {
		l.Errorf("%s: %v clocks, where the fastest is %v", how, is, found)
	}
	if least := c.Bounds[0].Least; is == found && other.Certificate.Spares == c.Spares &&
		other.Certificate.Bounds[0].Value < least-rounding {
		l.Errorf("%s: %v %v, where none below %v was said to be", how, c.Bounds[0].Measure,
			other.Certificate.Bounds[0].Value, least)
	}
}
