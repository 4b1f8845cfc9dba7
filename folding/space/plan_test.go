package space

import (
	"cmp"
	"math/bits"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"hlsgen/boards"
	"hlsgen/folding/goal"
	"hlsgen/folding/search"
	"hlsgen/hlslib/add"
	"hlsgen/hlslib/concat"
	"hlsgen/hlslib/dup"
	"hlsgen/hlslib/mvau"
	"hlsgen/hlslib/swg"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/num"
	"hlsgen/internal/testsupport/tier"
)

// A drawing is a random network with activations and weights of 4 bits.
type drawing struct {
	*testing.T
	dataflow.GraphBuilder
	r    *rand.Rand
	step num.StepFunction
}

func draw(t *testing.T) *drawing {
	d := &drawing{T: t, r: rand.New(rand.NewPCG(1, 7)), step: num.StepFunction{Value: []int64{0}}}
	for i := range int64(15) {
		d.step.At, d.step.Value = append(d.step.At, 8*i+1), append(d.step.Value, i+1)
	}
	return d
}

func (d *drawing) image(channels int) int {
	elem := num.Type{Kind: num.KindUInt, Width: 4}
	return d.AddInput("x", dataflow.StreamType{Shape: dataflow.Shape{4, 4, channels}, Range: []num.Range{elem.Range()},
		Elem: elem})
}

func (d *drawing) put(op dataflow.Op, in ...int) []int {
	d.Helper()
	out, err := d.BindAndAddLayer(op, in, nil, nil)
	if err != nil {
		d.Fatal(err)
	}
	return out
}

// product adds a layer whose channels have the given number of inputs each.
func (d *drawing) product(in, size, channels int) int {
	weights := make([][]int64, channels)
	for c := range weights {
		for range size {
			weights[c] = append(weights[c], d.r.Int64N(15)-7)
		}
	}
	return d.put(mvau.New(mvau.Params{Weights: weights, Steps: []num.StepFunction{d.step}}), in)[0]
}

// space returns the space of the network with an output.
func (d *drawing) space(out int) *FoldingSpace {
	d.Helper()
	d.MarkOutput(out)
	g, err := d.VerifiedGraph()
	if err != nil {
		d.Fatal(err)
	}
	board, err := boards.FindBoard("pynq-z1")
	if err != nil {
		d.Fatal(err)
	}
	var told diag.List
	s := New(&dataflow.Model{Graph: g}, dataflow.Target{Board: board, ClockMHz: 100}, nil, goal.FIFODepthPolicy{},
		FoldFilterAll,
		&told)
	if s == nil {
		d.Fatal(told)
	}
	return s
}

// residual returns the space of a network with skip connections: blocks of two layers with equal sizes and other
// weights.
func residual(t *testing.T, blocks, channels int) *FoldingSpace {
	t.Helper()
	d := draw(t)
	x := d.image(channels)
	for range blocks {
		both := d.put(dup.New(dup.Params{Copies: 2}), x)
		w := d.put(swg.New(swg.Params{Kernel: [2]int{3, 3}, Stride: [2]int{1, 1}, Dilation: [2]int{1, 1},
			Before: [2]int{1, 1}, After: [2]int{1, 1}, Groups: 1}), both[0])[0]
		w = d.product(d.product(w, 9*channels, channels), channels, channels)
		x = d.put(add.New(add.Params{Factors: [2][]int64{{1}, {1}}, Steps: []num.StepFunction{d.step}}), w, both[1])[0]
	}
	return d.space(x)
}

// dense returns the space of a network in which every layer reads the outputs of the input and of all layers before it.
func dense(t *testing.T, layers, channels int) *FoldingSpace {
	t.Helper()
	d := draw(t)
	x := d.image(channels)
	var given [][]int // per layer: its outputs to later layers
	for i := range layers {
		given = append(given, d.put(dup.New(dup.Params{Copies: layers - i + 1}), x))
		var in []int
		for k := range given {
			in = append(in, given[k][0])
			given[k] = given[k][1:]
		}
		if x = in[0]; i > 0 {
			x = d.put(concat.New(concat.Params{Inputs: len(in)}), in...)[0]
		}
		x = d.product(x, (i+1)*channels, channels)
	}
	in := []int{x}
	for k := range given {
		in = append(in, given[k][0])
	}
	return d.space(d.put(concat.New(concat.Params{Inputs: len(in)}), in...)[0])
}

// TestDensePlan checks that the plan of a network whose every cut severs many streams drops ends, and stays small.
func TestDensePlan(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	s, all, most := dense(t, 16, 12), 0, 0
	for i := range s.plan.Tables {
		all, most = all+len(s.plan.Tables[i].Pairs), max(most, s.plan.Tables[i].Rows)
	}
	if len(s.Wide) < 10 || all > maxAll || most > maxRows {
		t.Errorf("a plan of %d pairs, %d rows in a table, drops ends of %d streams", all, most, len(s.Wide))
	}
}

// TestLooseBounds checks that a plan that drops no ends excludes everything that a plan with dropped ends excludes.
func TestLooseBounds(t *testing.T) {
	t.Parallel()
	for _, s := range []*FoldingSpace{residual(t, 3, 8), dense(t, 3, 12)} {
		if len(s.Wide) > 0 {
			t.Fatalf("ends of %v are dropped", s.Wide)
		}
		list := s.IntervalsToTry()
		for _, kind := range []int{goal.KindLUT, goal.KindDSP, goal.KindFF} {
			for _, clocks := range []int{list[0], list[len(list)/2], list[len(list)-1]} {
				bound := func(rows int) float64 {
					s.MakeSearchTables(rows)
					if dropped := len(s.Wide) > 0; dropped != (rows < maxRows) {
						t.Fatalf("%d rows: ends of %v are dropped", rows, s.Wide)
					}
					t := s.NewRegionChoiceTree(&FoldingRegion{Limit: clocks}, search.AmountVector{},
						&search.StepCounter{Limit: 1 << 40})
					return t.LowerBoundOf(search.Objective{Kind: kind}, search.UnlimitedCaps)
				}
				whole := bound(maxRows)
				for _, rows := range []int{1, 3, 12} {
					if loose := bound(rows); loose > whole {
						t.Errorf("kind %d in %d clocks: no less than %v, of %d rows no less than %v", kind, clocks,
							whole, rows, loose)
					}
				}
			}
		}
	}
}

// TestPlanOrder checks that the plan joins the two tables that make the smallest one by order of magnitude, and among
// equals the first two in the network.
func TestPlanOrder(t *testing.T) {
	t.Parallel()
	p := newPlanner(residual(t, 3, 8), maxRows)
	p.run()
	if slices.Contains(p.loose, true) {
		t.Fatalf("ends %v need not agree", p.loose)
	}
	var open []int
	for i := range p.beside() + 1 {
		open = append(open, i)
	}
	for made := len(open); made < len(p.tables); made++ {
		slices.SortFunc(open, func(a, b int) int {
			return cmp.Or(cmp.Compare(p.order[a], p.order[b]), cmp.Compare(a, b))
		})
		left, right, best := open[0], open[1], -1
		for i, x := range open {
			for _, y := range open[i+1:] {
				ix, _, _, _ := shared(p.tables[x].scope, p.tables[y].scope)
				if len(ix) == 0 {
					continue
				}
				size := bits.Len(uint(min(matching(p, x, y), p.product(x, y)))) / 2
				if best < 0 || size < best {
					left, right, best = x, y, size
				}
			}
		}
		if got := p.tables[made]; got.Left != left || got.Right != right {
			t.Fatalf("table %d joins %d and %d, not %d and %d", made, got.Left, got.Right, left, right)
		}
		if n := matching(p, left, right); n != len(p.tables[made].Pairs) {
			t.Fatalf("table %d has %d pairs, not %d", made, len(p.tables[made].Pairs), n)
		}
		open = slices.DeleteFunc(open, func(i int) bool { return i == left || i == right })
		open = append(open, made)
	}
}

// matching returns the number of pairs of rows of two tables that agree at common ends, counted one by one.
func matching(p *planner, a, b int) (n int) {
	x, y := &p.tables[a], &p.tables[b]
	ix, iy, _, _ := shared(x.scope, y.scope)
	for r := range x.Rows {
		for o := range y.Rows {
			if slices.Equal(x.pick(nil, r, ix), y.pick(nil, o, iy)) {
				n++
			}
		}
	}
	return n
}

// TestKeys checks that rows have the same key exactly if they have the same values, for any number of ends and forms.
func TestKeys(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(2, 7))
	const ends, forms = 6, 200
	p := planner{FoldingSpace: &FoldingSpace{Streams: make([]StreamEnds, ends)}}
	x, y := &planTable{}, &planTable{}
	for e := range ends {
		p.Streams[e].writer.forms = make([]form, forms)
		x.scope, y.scope = append(x.scope, writerEnd(e)), append(y.scope, writerEnd(ends-1-e))
	}
	for _, table := range []*planTable{x, y} {
		table.Rows = 60
		for range table.Rows * ends {
			table.values = append(table.values, int32(r.IntN(2)*r.IntN(forms)))
		}
	}
	for n := range ends + 1 {
		ix, iy, _, _ := shared(x.scope, y.scope)
		ix, iy = ix[:n], iy[:n]
		k := p.keys(list{x, ix}, list{y, iy})
		for a, key := range k.of[0] {
			if key < 0 || key >= k.n {
				t.Fatalf("%d ends: key %d of %d", n, key, k.n)
			}
			for b, other := range k.of[1] {
				if same := slices.Equal(x.pick(nil, a, ix), y.pick(nil, b, iy)); same != (key == other) {
					t.Fatalf("%d ends: rows %d and %d have keys %d and %d", n, a, b, key, other)
				}
			}
		}
	}
}

// TestAlikeStreams checks that streams that are alike share choices, and that each would have the same ones alone, also
// with the clocks of paths.
func TestAlikeStreams(t *testing.T) {
	t.Parallel()
	for _, rows := range []int{maxRows, 3} {
		s, alone := residual(t, 3, 8), residual(t, 3, 8)
		s.MakeSearchTables(rows)
		alone.MakeSearchTables(rows)
		if (len(s.Wide) > 0) != (rows == 3) {
			t.Errorf("streams %v are left out", s.Wide)
		}
		alone.like, alone.least = nil, nil
		alikeStreams(t, s, alone)
	}
}

func alikeStreams(t *testing.T, s, alone *FoldingSpace) {
	t.Helper()
	some := false
	path := PathClocksByClass{element: make([]int, len(s.Streams)), Clocks: make([][]int64, len(s.Layers))}
	for _, paths := range [][]PathClocksByClass{nil, {path}} {
		r := &FoldingRegion{Limit: goal.ClocksBeyondAnyInterval, Paths: paths}
		for id := range s.Streams {
			if !s.Streams[id].inner() {
				continue
			}
			some = some || s.like[id] < id
			if got, want := (menu{s, r}).stream(id), (menu{alone, r}).stream(id); !same(got, want) {
				t.Errorf("stream %d, %d paths: %v, alone %v", id, len(paths), got, want)
			}
		}
	}
	if !some {
		t.Error("no streams are alike")
	}
}

func same(a, b [][]search.LeafChoice) bool {
	return slices.EqualFunc(a, b, func(a, b []search.LeafChoice) bool { return reflect.DeepEqual(a, b) })
}
