package place

import (
	"slices"
	"strings"
	"testing"

	"hlsgen/hlslib/threshold"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

var step = threshold.New(threshold.Params{Steps: []num.Step{{At: []int64{0}, Value: []int64{0, 1}}}})

func vector(n int) dataflow.Type {
	r := num.Range{Lo: -2, Hi: 1}
	return dataflow.Type{Shape: dataflow.Shape{n}, Range: []num.Range{r}, Elem: num.Smallest(r)}
}

// add adds a layer, which must take its input.
func add(t *testing.T, n *Netlist, in int) int {
	t.Helper()
	out, err := n.Add(step, []int{in}, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	return out[0]
}

// TestNetlist joins a host's stream to a layer, to one that nobody reads, and to the host.
func TestNetlist(t *testing.T) {
	t.Parallel()
	n := &Netlist{}
	used, unused := FromHost("x", "x", vector(4)), FromHost("y", "y", vector(4))
	if used.OnWire() || !used.OnHost() {
		t.Error("a stream is on a wire before a layer asks for it")
	}
	x := used.Wire(n, "")
	a, b := add(t, n, x), add(t, n, x)
	add(t, n, add(t, n, b)) // read by nobody
	add(t, n, unused.Wire(n, ""))
	n.Output(a, "a")
	n.Output(x, "x")
	n.Prune()
	built, err := n.Build()
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(n.In(), []string{"x"}) || !slices.Equal(n.Out(), []string{"a", "x"}) {
		t.Errorf("the host writes %v and reads %v", n.In(), n.Out())
	}
	var kinds []string
	for _, node := range built.Graph.Nodes {
		kinds = append(kinds, node.Op.Kind())
	}
	if got := strings.Join(kinds, " "); got != "DuplicateStreams Thresholding" {
		t.Errorf("the graph has %s", got)
	}
	if s, ok := built.Carries(&Place{Stream: used}); !ok || s != 0 {
		t.Errorf("x is on stream %d, %t", s, ok)
	}
	if _, ok := built.Carries(&Place{Stream: unused}); ok {
		t.Error("a tensor that nobody reads is on a stream")
	}
}

// TestSend lets the host send elements in the order in which their only reader wants them.
func TestSend(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		at    []int32
		alone bool
		want  []int32 // of the host's elements
		still bool    // nothing has to move then
	}{
		{"turned round", []int32{3, 2, 1, 0}, true, []int32{3, 2, 1, 0}, true},
		{"another reader", []int32{3, 2, 1, 0}, false, nil, false},
		{"one twice", []int32{3, 3, 1, 0}, true, nil, false},
		{"a part", []int32{3, 2}, true, nil, false},
		{"as it is", []int32{0, 1, 2, 3}, false, nil, true},
	} {
		p := &Place{Stream: FromHost("x", "x", vector(4))}
		m := Movement{From: make([]int16, len(c.at)), At: slices.Clone(c.at)}
		p.Send(&m, dataflow.Shape{2, 2}, func() bool { return c.alone })
		n := &Netlist{}
		w, err := n.Move([]int{p.Wire(n, "")}, m, dataflow.Shape{len(c.at)}, 0, nil)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if !slices.Equal(p.At, c.want) || (len(n.components) == 0) != c.still || w < 0 {
			t.Errorf("%s: the host sends %v, and %d layers move", c.name, p.At, len(n.components))
		}
	}
}
