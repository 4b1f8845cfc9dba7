package folding

import (
	"testing"

	"hlsgen/folding/fit"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/testsupport/tier"
)

// dense returns a network with a block in which every layer reads the outputs of all layers before it.
func dense(layers int) *dataflow.Model {
	p := newPainter()
	s := p.conv(p.image(16, 16, 3), 3, 1, 12)
	var given [][]int // per layer: its outputs to later layers
	for i := range layers {
		given = append(given, p.fork(s, layers+1-i))
		var in []int
		for k := range given {
			in = append(in, given[k][0])
			given[k] = given[k][1:]
		}
		s = in[0]
		if i > 0 {
			s = p.concat(in...)
		}
		s = p.conv(p.conv(s, 1, 1, 24), 3, 1, 12)
	}
	in := []int{s}
	for k := range given {
		in = append(in, given[k][0])
	}
	return p.model("dense", p.classify(p.concat(in...), 10))
}

// TestDense checks that a network whose cuts sever many streams has a design, although the plan drops many ends.
func TestDense(t *testing.T) {
	tier.NotQuick(t)
	t.Parallel()
	var d diag.List
	s := must(NewSpace(dense(16), dataflow.Target{Board: board("alveo-u250"), ClockMHz: 300}, nil, FIFODepthPolicy{},
		&d))
	if len(s.Wide) < 10 {
		t.Errorf("the plan drops ends of %d streams", len(s.Wide))
	}
	wanted := Goal{}
	q := &inquiry{report: report{fit.NewDesignSearch(s.FoldingSpace, wanted)}, made: &memory{}, told: &d}
	got, err := q.answer(t.Context())
	if err != nil || got == nil {
		t.Fatal(err, d.Diags)
	}
	consistent(t, got, wanted)
}
