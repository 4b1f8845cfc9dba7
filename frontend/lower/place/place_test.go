package place

import (
	"fmt"
	"slices"
	"testing"

	"hlsgen/hlslib/threshold"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

var step = threshold.New(threshold.Params{Steps: []num.StepFunction{{At: []int64{0}, Value: []int64{0, 1}}}})

func vector(n int) dataflow.StreamType {
	r := num.Range{Lo: -2, Hi: 1}
	return dataflow.StreamType{Shape: dataflow.Shape{n}, Range: []num.Range{r}, Elem: num.NarrowestIntTypeFor(r)}
}

// add adds a layer, which must accept its input.
func add(t *testing.T, n *Netlist, in int) int {
	t.Helper()
	out, err := n.AddLayer(step, []int{in}, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	return out[0]
}

// TestNetlist connects a stream of the host to a layer, to a layer that nothing reads, and to the host.
func TestNetlist(t *testing.T) {
	t.Parallel()
	n := &Netlist{}
	used, unused := NewStreamFromHost("x", "x", vector(4)), NewStreamFromHost("y", "y", vector(4))
	if used.IsOnWire() || !used.IsFromHost() {
		t.Error("a stream is on a wire before a layer asks for it")
	}
	x := used.EnsureWire(n, "")
	a, b := add(t, n, x), add(t, n, x)
	add(t, n, add(t, n, b)) // nothing reads it
	add(t, n, unused.EnsureWire(n, ""))
	n.AddHostOutput(a, "a")
	n.AddHostOutput(x, "x")
	n.PruneUnreadLayers()
	built, err := n.BuildGraph()
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(n.HostInputTensorNames(), []string{"x"}) || !slices.Equal(n.HostOutputTensorNames(), []string{"a",
		"x"}) {
		t.Errorf("the host writes %v and reads %v", n.HostInputTensorNames(), n.HostOutputTensorNames())
	}
	var kinds []string
	for _, node := range built.Graph.Nodes {
		kinds = append(kinds, node.Op.Kind())
	}
	if !slices.Equal(kinds, []string{"DuplicateStreams", "Thresholding"}) {
		t.Errorf("the graph has %s", kinds)
	}
	if s, ok := built.StreamIndexOf(&TensorPlace{WireStream: used}); !ok || s != 0 {
		t.Errorf("x is on stream %d, %t", s, ok)
	}
	if _, ok := built.StreamIndexOf(&TensorPlace{WireStream: unused}); ok {
		t.Error("a tensor that nobody reads is on a stream")
	}
}

// TestSend checks that the host sends elements in the order that their only reader needs.
func TestSend(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		at    []int32
		alone bool
		want  []int32 // order of the host's elements
		still bool    // nothing has to move after that
	}{
		{"turned round", []int32{3, 2, 1, 0}, true, []int32{3, 2, 1, 0}, true},
		{"another reader", []int32{3, 2, 1, 0}, false, nil, false},
		{"one twice", []int32{3, 3, 1, 0}, true, nil, false},
		{"a part", []int32{3, 2}, true, nil, false},
		{"as it is", []int32{0, 1, 2, 3}, false, nil, true},
	} {
		p := &TensorPlace{WireStream: NewStreamFromHost("x", "x", vector(4))}
		var m Movement
		for _, at := range c.at {
			m.AppendPosition(0, at)
		}
		p.SendFromHost(&m, dataflow.Shape{2, 2}, func() bool { return c.alone })
		n := &Netlist{}
		w, err := n.AddMovement([]int{p.EnsureWire(n, "")}, m, dataflow.Shape{len(c.at)}, 0, nil)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if !slices.Equal(p.At.ToSlice(), c.want) || (len(n.components) == 0) != c.still || w < 0 {
			t.Errorf("%s: the host sends %v, and %d layers move", c.name, p.At, len(n.components))
		}
	}
}

func TestChannelsLast(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		shape []int
		axis  int
		want  dataflow.Shape
		at    []int32
	}{
		{[]int{1, 2, 1, 3}, 1, dataflow.Shape{1, 3, 2}, []int32{0, 2, 4, 1, 3, 5}},
		{[]int{1, 2, 3}, 1, dataflow.Shape{1, 3, 2}, []int32{0, 2, 4, 1, 3, 5}},
		{[]int{1, 2, 2, 2}, 3, dataflow.Shape{2, 2, 2}, nil},
		{[]int{1, 4}, 1, dataflow.Shape{4}, nil},
		{[]int{2, 3}, 1, dataflow.Shape{2, 3}, nil},
	} {
		shape, at := ChannelsLastLayoutOf(c.shape, c.axis)
		if !slices.Equal(shape, c.want) || !slices.Equal(at.ToSlice(), c.at) {
			t.Errorf("%v along %d: %v at %v, want %v at %v", c.shape, c.axis, shape, at, c.want, c.at)
		}
	}
}

// TestMoves checks which layers are chosen for movements of elements.
func TestMoves(t *testing.T) {
	t.Parallel()
	image := func(h, w, c int, of func(y, x, c int) int) (at []int32) {
		for y := range h {
			for x := range w {
				for k := range c {
					at = append(at, int32(of(y, x, k)))
				}
			}
		}
		return at
	}
	twice := image(4, 6, 2, func(y, x, c int) int { return (y/2*3+x/2)*2 + c })
	if v, ok := scale(2, 3, 4, 6, 2, twice); !ok || v != [2]int{2, 2} {
		t.Errorf("a repetition is taken for %v, %t", v, ok)
	}
	part := image(2, 2, 2, func(y, x, c int) int { return ((2*y+1)*5+x+3)*2 + c })
	p, ok := cropping(4, 5, 2, 2, 2, part)
	if got := fmt.Sprint(p, ok); got != "{[1 3] [4 5] [2 1]} true" {
		t.Errorf("every second row from 1 on, columns from 3 on are taken for %s", got)
	}
	if _, ok := cropping(4, 5, 2, 2, 2, image(2, 2, 2, func(y, x, c int) int { return (y*5+x)*2 + 1 - c })); ok {
		t.Error("swapped channels are taken for a crop")
	}
	for _, c := range []struct {
		name     string
		from, to dataflow.Shape
		at       []int32
		want     string
	}{
		{"swapped channels", dataflow.Shape{2, 2, 2}, dataflow.Shape{2, 2, 2},
			image(2, 2, 2, func(y, x, c int) int { return (y*2+x)*2 + 1 - c }), "{2 1 [1 0] [2 2 2]} true"},
		{"rows turned round", dataflow.Shape{2, 2, 2}, dataflow.Shape{2, 2, 2},
			image(2, 2, 2, func(y, x, c int) int { return (y*2+1-x)*2 + c }), "{2 2 [1 0] [2 2 2]} true"},
		{"depth to space", dataflow.Shape{1, 2, 4}, dataflow.Shape{2, 4, 1},
			image(2, 4, 1, func(y, x, c int) int { return x/2*4 + y*2 + x%2 }), "{8 1 [0 1 4 5 2 3 6 7] [2 4 1]} true"},
		{"the second half of every pixel", dataflow.Shape{2, 2, 4}, dataflow.Shape{2, 2, 2},
			image(2, 2, 2, func(y, x, c int) int { return (y*2+x)*4 + 2 + c }), "{2 2 [1] [2 2 2]} true"},
		{"another shape", dataflow.Shape{6}, dataflow.Shape{1, 2, 3}, []int32{0, 1, 2, 3, 4, 5},
			"{1 3 [0] [1 2 3]} true"},
	} {
		p, ok := FindReorderParams(c.from, c.to, c.at)
		if got := fmt.Sprint(p, ok); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// TestManyReaders gives a stream more readers than a layer has outputs. Copies of copies give each reader a stream.
func TestManyReaders(t *testing.T) {
	t.Parallel()
	const most = dataflow.MaxPortsPerSide
	for _, readers := range []int{1, 2, most, most + 1, 1000, most*most + 1} {
		n := &Netlist{}
		x := NewStreamFromHost("x", "x", vector(4)).EnsureWire(n, "")
		for i := range readers {
			n.AddHostOutput(add(t, n, x), fmt.Sprint(i))
		}
		built, err := n.BuildGraph()
		if err != nil {
			t.Fatal(err)
		}
		layers := 0
		for _, node := range built.Graph.Nodes {
			if node.Op.Kind() == step.Kind() {
				layers++
			}
		}
		if layers != readers || len(built.Graph.Out) != readers {
			t.Errorf("%d readers have %d layers and %d outputs", readers, layers, len(built.Graph.Out))
		}
	}
}
