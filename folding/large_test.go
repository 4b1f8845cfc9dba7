package folding

import (
	"context"
	"testing"
	"time"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/tier"
)

// large are networks of the size that people build, in form: MobileNet-v1 0.25, ResNet8, residual networks of 25
// convolutions, U-Nets with skip connections within each other, blocks of four branches.
var large = []struct {
	name string
	m    func() *dataflow.Model
	gap  float64 // of the load at the shortest interval, at most
}{
	{"mobilenet", mobileNet, 0.01},
	{"resnet8", func() *dataflow.Model { return resNet(3, 16) }, 0.01},
	{"resnet26", func() *dataflow.Model { return resNet(12, 16) }, 0.04},
	{"unet", func() *dataflow.Model { return uNet(4, 4, 8) }, 0.02},
	{"inception", func() *dataflow.Model { return inception(6) }, 0.01},
}

// The shortest interval of large networks is proved, the least load nearly, in seconds.
func TestLarge(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	for _, c := range large {
		m := c.m()
		goals := []Goal{{}}
		if tier.Long() {
			goals = append(goals, Goal{FPS: 100}, Goal{FPS: 100, Least: LeastDSP}, Goal{Latency: true}, Goal{SearchTime: 20 * time.Second})
		}
		for _, goal := range goals {
			begin := time.Now()
			var d diag.List
			r, err := Search(context.Background(), m, dataflow.Target{Board: board("zcu104"), ClockMHz: 200}, goal, &d)
			if err != nil || r == nil {
				t.Fatal(c.name, err, d.Diags)
			}
			p := &r.Proof
			t.Logf("%s: %d nodes, %v, %d labels, latency %d, %s\n%s", c.name, len(m.Graph.Nodes), time.Since(begin).Round(time.Millisecond), p.Labels, r.Latency, r.Why, p)
			if err := r.Design.Verify(); err != nil {
				t.Error(c.name, err)
			}
			if p.Floor != p.Interval || !r.Total.Within(Budget(board("zcu104"), goal.MaxUse)) {
				t.Errorf("%s: the shortest interval is not proved, or it is not within the budget", c.name)
			}
			for _, b := range p.Bounds {
				if b.Measure == LeastLoad && b.Value > b.Least*(1+c.gap) {
					t.Errorf("%s: %v", c.name, b)
				}
			}
		}
	}
}
