package dataflow

import (
	"iter"
	"reflect"
	"slices"
	"strings"
	"testing"

	"hlsgen/internal/num"
)

func TestBuilder(t *testing.T) {
	t.Parallel()
	g := diamond()
	var names []string
	for _, n := range g.Nodes {
		names = append(names, n.Name)
	}
	if want := []string{"Scale_0", "Fork_0", "Scale_1", "Scale_2", "Sum_0"}; !slices.Equal(names, want) {
		t.Errorf("nodes %v, want %v", names, want)
	}
	// -3*[0,255] is [-765,0]; 2 and 5 times that add up to [-5355,0].
	y := g.Streams[g.Out[0]]
	if want := (num.Range{Lo: -5355, Hi: 0}); y.Name != "y" || y.Type.UnionOfRanges() != want ||
		y.Type.Elem.String() != "INT14" {
		t.Errorf("output %q has %v %v, want y %v INT14", y.Name, y.Type.UnionOfRanges(), y.Type.Elem, want)
	}
	if node, port := g.WriterOfStream(g.Nodes[3].In[0]); node != 1 || port != 1 {
		t.Errorf("the right path comes from node %d port %d, want 1 and 1", node, port)
	}
	if node, port := g.ReaderOfStream(g.Nodes[3].Out[0]); node != 4 || port != 1 {
		t.Errorf("the right path goes to node %d port %d, want 4 and 1", node, port)
	}
	if node, _ := g.WriterOfStream(g.In[0]); node != -1 {
		t.Errorf("the input is written by node %d", node)
	}
	if node, _ := g.ReaderOfStream(g.Out[0]); node != -1 {
		t.Errorf("the output is read by node %d", node)
	}
}

func TestBuilderKeepsNothingOfItsArguments(t *testing.T) {
	t.Parallel()
	var b GraphBuilder
	in, origin := []int{b.AddInput("x", uint8s(4))}, []string{"a"}
	out, err := b.BindAndAddLayer(scale(1), in, nil, origin)
	if err != nil {
		t.Fatal(err)
	}
	if typ := b.TypeOfStream(out[0]); typ.UnionOfRanges() != (num.Range{Lo: 0, Hi: 255}) {
		t.Errorf("type %+v", typ)
	}
	b.MarkOutput(out[0])
	in[0], out[0] = 9, 9
	g, err := b.VerifiedGraph()
	if err != nil {
		t.Fatal(err)
	}
	if n := g.Nodes[0]; n.In[0] != 0 || n.Out[0] != 1 || n.Origin[0] != "a" {
		t.Errorf("the node follows the slices it was made from: %+v", n)
	}
}

func TestBuilderReportsBind(t *testing.T) {
	t.Parallel()
	var b GraphBuilder
	x := b.AddInput("x", uint8s(4))
	if _, err := b.BindAndAddLayer(sum(2), []int{x}, nil, nil); err == nil || err.Error() != "1 inputs, want 2" {
		t.Errorf("error %v", err)
	}
}

func TestGraphVerify(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		spoil func(*Graph)
		want  string
	}{
		{func(*Graph) {}, ""},
		{func(g *Graph) { g.Streams[1].ID = 4 }, "stream 1 has id 4"},
		{func(g *Graph) { g.Nodes[1].Name = "Scale_0" }, `a node is called "Scale_0" where Fork_0 is due`},
		{func(g *Graph) { g.Nodes[0].In[0] = 17 }, "Scale_0 names stream 17 of 7"},
		{func(g *Graph) { g.Out = []int{-1} }, "output names stream -1 of 7"},
		{func(g *Graph) { g.Nodes[2], g.Nodes[4] = g.Nodes[4], g.Nodes[2] },
			"Sum_0 reads stream s4 before it is written"},
		{func(g *Graph) { g.Nodes[2], g.Nodes[3] = g.Nodes[3], g.Nodes[2] },
			`a node is called "Scale_2" where Scale_1 is due`},
		{func(g *Graph) { g.Nodes[0].In[0] = 5 }, "Scale_0 reads stream s5 before it is written"},
		{func(g *Graph) { g.Nodes[4].In[1] = g.Nodes[4].In[0] }, "stream s4 has 1 writers and 2 readers"},
		{func(g *Graph) { g.Out = nil }, "stream s6 has 1 writers and 0 readers"},
		{func(g *Graph) { g.In = append(g.In, g.In[0]) }, "stream s0 has 2 writers"},
		{func(g *Graph) {
			g.Streams = append(g.Streams, &Stream{ID: 7, Type: uint8s(1)})
			g.In, g.Out = append(g.In, 7), append(g.Out, 7)
		}, "stream s7 is an input and an output"},
		{func(g *Graph) { g.Streams[2].Type.Elem = num.Type{} }, "stream s2: no valid element type"},
		{func(g *Graph) { g.Streams[2].Type.Elem = num.Type{Kind: num.KindBipolar, Width: 3} },
			"no valid element type"},
		{func(g *Graph) { g.Streams[0].Type = uint8s(3, 0) }, "shape [3 0] has an empty axis"},
		{func(g *Graph) { g.Streams[0].Type = uint8s(1<<40, 1<<40, 1<<40) }, "has more than 1073741824 elements"},
		{func(g *Graph) { g.Streams[0].Type = uint8s(1 << 23) }, "has more than 4194304 channels"},
		{func(g *Graph) { g.Streams[0].Type.Range = make([]num.Range, 3) }, "3 ranges for 4 channels"},
		{func(g *Graph) { g.Streams[0].Type.Range = []num.Range{{Lo: 2, Hi: 1}} }, "UINT8 does not hold [2,1]"},
		{func(g *Graph) { g.Streams[0].Type.Range = []num.Range{{Lo: 0, Hi: 256}} }, "UINT8 does not hold [0,256]"},
		{func(g *Graph) {
			g.Streams[0].Type.Elem = num.Type{Kind: num.KindBipolar, Width: 1}
			g.Streams[0].Type.Range = []num.Range{{Lo: -1, Hi: 0}}
		}, "BIPOLAR does not hold [-1,0]"},
	} {
		g := diamond()
		c.spoil(g)
		match(t, g.Verify(), c.want)
	}
}

func match(t *testing.T, err error, want string) {
	t.Helper()
	switch {
	case want == "" && err != nil:
		t.Errorf("error %q, want none", err)
	case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
		t.Errorf("error %v, want %q", err, want)
	}
}

func TestTypeCheck(t *testing.T) {
	t.Parallel()
	perChannel := uint8s(2, 2)
	perChannel.Range = []num.Range{{Lo: 0, Hi: 3}, {Lo: 5, Hi: 9}}
	bipolar := StreamType{Shape: Shape{2}, Range: []num.Range{{Lo: -1, Hi: 1}}, Elem: num.Type{Kind: num.KindBipolar,
		Width: 1}}
	for _, c := range []struct {
		typ  StreamType
		v    Tensor
		want string
	}{
		{perChannel, Tensor{Shape{2, 2}, []int64{3, 5, 0, 9}}, ""},
		{perChannel, Tensor{Shape{2, 2}, []int64{3, 5, 0, 10}}, "value 10 at index 3 is not UINT8 in [5,9]"},
		{perChannel, Tensor{Shape{2, 2}, []int64{4, 5, 0, 9}}, "value 4 at index 0 is not UINT8 in [0,3]"},
		{perChannel, Tensor{Shape{4}, []int64{3, 5, 0, 9}}, "shape [4], want [2 2]"},
		{perChannel, Tensor{Shape{2, 2}, []int64{3, 5, 0}}, "3 values, want 4"},
		{bipolar, Tensor{Shape{2}, []int64{1, -1}}, ""},
		{bipolar, Tensor{Shape{2}, []int64{1, 0}}, "value 0 at index 1 is not BIPOLAR"},
	} {
		match(t, c.typ.CheckFrame(c.v), c.want)
	}
}

// A bent layer is a fake with a wrong loop or wrong ports.
type bent struct {
	fake
	loop  func(*Loop)
	ports func(in, out []Port) ([]Port, []Port)
}

func (b bent) Folds() iter.Seq[Fold] { return b.fake.Folds() }

func (b bent) Loop(f Fold, t Target) Loop {
	l := b.fake.Loop(f, t)
	if b.loop != nil {
		b.loop(&l)
	}
	return l
}

func (b bent) Ports(f Fold) (in, out []Port) {
	in, out = b.fake.Ports(f)
	if b.ports != nil {
		return b.ports(in, out)
	}
	return in, out
}

func TestDesignVerify(t *testing.T) {
	t.Parallel()
	bend := func(loop func(*Loop)) func(*Design) {
		return func(d *Design) {
			n := d.Model.Graph.Nodes[0]
			n.Op = bent{fake: n.Op.(fake), loop: loop}
		}
	}
	ports := func(f func(in, out []Port) ([]Port, []Port)) func(*Design) {
		return func(d *Design) {
			n := d.Model.Graph.Nodes[0]
			n.Op = bent{fake: n.Op.(fake), ports: f}
		}
	}
	for _, c := range []struct {
		spoil func(*Design)
		want  string
	}{
		{func(*Design) {}, ""},
		{func(d *Design) { d.Model.Graph.Out = nil }, "stream s6"},
		{func(d *Design) { d.Folds = d.Folds[1:] }, "4 folds for 5 nodes"},
		{func(d *Design) { d.FIFO = append(d.FIFO, FIFO{2, MemorySRL}) }, "8 FIFOs for 7 streams"},
		{func(d *Design) { d.FIFO[3].Depth = 0 }, "stream s3: depth 0"},
		{func(d *Design) { d.FIFO[3].Memory = NoMemory }, "stream s3: memory 0"},
		{func(d *Design) { d.Folds[2].PE = 3 }, "Scale_1: no fold PE=3 SIMD=1 memory=none compute=none"},
		{func(d *Design) { d.Folds[2].Memory = MemoryBRAM }, "Scale_1: no fold PE=2 SIMD=1 memory=block"},
		{func(d *Design) { d.Folds[2].PE = 4 },
			"Scale_1: words of 4 elements in tiles of 0 on stream s2, its other end has 2"},
		{ports(func(in, out []Port) ([]Port, []Port) { return in, nil }),
			"Scale_0: 1 inputs and 0 outputs on 1 and 1 streams"},
		{ports(func(in, out []Port) ([]Port, []Port) { out[0].Words = 5; return in, out }),
			"Scale_0: 5 words of 2 INT11 on stream s1 of 8 INT11"},
		{ports(func(in, out []Port) ([]Port, []Port) { in[0].Elem.Width = 9; return in, out }),
			"4 words of 2 UINT9 on stream s0 of 8 UINT8"},
		{bend(func(l *Loop) { l.Latency = 0 }), "Scale_0: a loop of latency 0"},
		{bend(func(l *Loop) { l.Body[0].Times = 0 }), "Scale_0: a malformed loop"},
		{bend(func(l *Loop) { l.Body = nil }), "a malformed loop"},
		{bend(func(l *Loop) { l.Body = []LoopRun{{Times: 1 << 40, Body: []LoopRun{{Times: 1 << 40}}}} }),
			"a malformed loop"},
		{bend(func(l *Loop) { l.Body = []LoopRun{{Times: 1, Moves: PortMoves{Read: 2}}} }), "a malformed loop"},
		{bend(func(l *Loop) { l.Body = []LoopRun{{Times: 2, Moves: PortMoves{Read: 1}, Body: l.Body}} }),
			"a malformed loop"},
		{bend(func(l *Loop) { l.Body[0].Moves.Write = 0 }), "the loop moves 0 words, output port 0 has 4"},
		{bend(func(l *Loop) { l.Body[0].Times++ }), "the loop moves 5 words, input port 0 has 4"},
		{ports(func(in, out []Port) ([]Port, []Port) { out[0].Tile = 3; return in, out }),
			"Scale_0: tiles of 3 channels on stream s1"},
		{ports(func(in, out []Port) ([]Port, []Port) { out[0].Tile = 2; return in, out }),
			"in tiles of 0 on stream s1, its other end has 2 in tiles of 2"},
	} {
		d := design(diamond())
		c.spoil(d)
		match(t, d.Verify(), c.want)
	}
}

func TestDesign(t *testing.T) {
	t.Parallel()
	d := design(diamond())
	for i := range d.Folds {
		d.Folds[i].PE = 4
	}
	d.Folds[0].PE = 1 // 2 vectors of 4 channels
	if clocks, node := d.BottleneckInterval(); clocks != 8 || node != 0 {
		t.Errorf("interval %d by node %d, want 8 by 0", clocks, node)
	}
	if p := d.PortOfStream(d.Model.Graph.In[0]); p.PerWord != 1 || p.Words != 8 || p.Width() != 8 {
		t.Errorf("input words %+v", p)
	}
	if p := d.PortOfStream(d.Model.Graph.Out[0]); p.PerWord != 4 || p.Words != 2 || p.Width() != 4*14 {
		t.Errorf("output words %+v", p)
	}
	per, total := d.CostPerNode()
	if want := (Resources{LUT: 10*17 + 5*5, FF: 5 * 7, DSP: 17}); len(per) != 5 || total != want {
		t.Errorf("%d costs, total %+v, want 5 and %+v", len(per), total, want)
	}
	if per[0].Total() != (Resources{LUT: 15, FF: 7, DSP: 1}) {
		t.Errorf("cost of the first node %+v", per[0].Total())
	}
}

func TestResourcesWithin(t *testing.T) {
	t.Parallel()
	all := reflect.TypeFor[Resources]().NumField()
	for i := range all {
		var have, limit Resources
		reflect.ValueOf(&have).Elem().Field(i).SetInt(2)
		reflect.ValueOf(&limit).Elem().Field(i).SetInt(1)
		if have.IsWithin(limit) {
			t.Errorf("%+v is within %+v", have, limit)
		}
		if twice := limit.Plus(limit); !have.IsWithin(twice) {
			t.Errorf("%+v is not within %+v", have, twice)
		}
	}
}

func TestEval(t *testing.T) {
	t.Parallel()
	g := diamond()
	in := Tensor{Shape{2, 4}, []int64{0, 1, 2, 3, 4, 5, 6, 255}}
	streams, err := g.EvalFirstFrameByStream(t.Context(), []Tensor{in})
	if err != nil {
		t.Fatal(err)
	}
	for i, x := range in.Data { // (-3x)*2 + (-3x)*5
		if got := streams[g.Out[0]].Data[i]; got != -21*x {
			t.Errorf("element %d is %d, want %d", i, got, -21*x)
		}
	}
	for s, v := range streams {
		match(t, g.Streams[s].Type.CheckFrame(v), "")
	}
	_, err = g.EvalFirstFrameByStream(t.Context(), nil)
	match(t, err, "0 inputs, want 1")
	in.Data = []int64{0, 0, 0, 0, 0, 0, 0, 256}
	_, err = g.EvalFirstFrameByStream(t.Context(), []Tensor{in})
	match(t, err, "input 0: value 256 at index 7")
}

func TestShape(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		shape                   Shape
		size, channels, vectors int
	}{
		{nil, 1, 1, 1},
		{Shape{7}, 7, 7, 1},
		{Shape{2, 3, 5}, 30, 5, 6},
		{Shape{3, 0}, 0, 0, 0},
	} {
		if s := c.shape; s.ElementCount() != c.size || s.ChannelCount() != c.channels || s.VectorCount() != c.vectors {
			t.Errorf("%v: size %d, %d channels, %d vectors; want %+v", s, s.ElementCount(), s.ChannelCount(),
				s.VectorCount(), c)
		}
	}
}

func TestRealLimits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		dtype   string
		lo, hi  float64
		integer bool
	}{
		{"bool", 0, 1, true},
		{"int8", -128, 127, true},
		{"uint16", 0, 65535, true},
		{"int64", -1 << 52, 1<<52 - 1, true},
		{"uint64", 0, 1<<53 - 1, true},
		{"float32", 0, 0, false},
		{"int4x", 0, 0, false},
	} {
		if lo, hi, integer := (RealTensorInfo{DType: c.dtype}).IntegerLimits(); lo != c.lo || hi != c.hi ||
			integer != c.integer {
			t.Errorf("%s: %v to %v, integer %t; want %+v", c.dtype, lo, hi, integer, c)
		}
	}
}

func TestTypeVectors(t *testing.T) {
	t.Parallel()
	perChannel := uint8s(3, 2, 2)
	perChannel.Range = []num.Range{{Lo: 0, Hi: 1}, {Lo: 0, Hi: 9}}
	for _, c := range []struct {
		n     int
		shape Shape // nil if no trailing axes make n
	}{
		{0, nil}, {1, nil}, {2, Shape{3, 2, 2}}, {3, nil}, {4, Shape{3, 4}}, {8, nil}, {12, Shape{12}}, {24, nil},
	} {
		v, ok := perChannel.AsVectors(c.n)
		if ok != (c.shape != nil) || !slices.Equal(v.Shape, c.shape) {
			t.Errorf("vectors of %d: shape %v, %t; want %v", c.n, v.Shape, ok, c.shape)
		}
		if ok {
			match(t, v.Verify(), "")
			for i := range c.n {
				if v.ChannelRange(i) != perChannel.ChannelRange(i%2) {
					t.Errorf("vectors of %d: element %d has range %v", c.n, i, v.ChannelRange(i))
				}
			}
		}
	}
	for _, s := range []Shape{nil, {1}, {5, 1}} {
		if v, ok := uint8s(s...).AsVectors(1); !ok || v.Shape.ChannelCount() != 1 ||
			v.Shape.ElementCount() != s.ElementCount() {
			t.Errorf("%v as vectors of one: %v, %t", s, v.Shape, ok)
		}
	}
}
