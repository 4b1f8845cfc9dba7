package folding

import (
	"context"
	"testing"
	"time"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
)

func TestLarge(t *testing.T) {
	for _, c := range []struct {
		name string
		m    func() *dataflow.Model
	}{
		{"mobilenet", mobileNet},
		{"resnet8", func() *dataflow.Model { return resNet(3, 16) }},
		{"mmfi", func() *dataflow.Model { return resNet(12, 16) }},
		{"unet", func() *dataflow.Model { return uNet(4, 4, 8) }},
		{"inception", func() *dataflow.Model { return inception(6) }},
	} {
		m := c.m()
		for _, goal := range []Goal{{}, {FPS: 100}} {
			begin := time.Now()
			var d diag.List
			r, err := Search(context.Background(), m, dataflow.Target{Board: board("zcu104"), ClockMHz: 200}, goal, &d)
			if err != nil || r == nil {
				t.Fatal(c.name, err, d.Diags)
			}
			t.Logf("%s: %d nodes, %v\n%s\n%d labels, %s", c.name, len(m.Graph.Nodes), time.Since(begin), r.Proof.String(), r.Proof.Labels, r.Why)
		}
	}
}
