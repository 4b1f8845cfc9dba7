package swg_test

import (
	"math"
	"slices"
	"testing"

	"hlsgen/hlslib/swg"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/testsupport/layertest"
)

// reference derives clocks from the definition, one at a time.
type reference struct {
	geometry
	windows    [2]int
	need, keep []int // pixels, by window
}

func newReference(g geometry) *reference {
	r := &reference{geometry: g}
	for a := range 2 {
		r.windows[a] = (g.frame[a]+g.before[a]+g.after[a]-g.dilation[a]*(g.kernel[a]-1)-1)/g.stride[a] + 1
	}
	for oy := range r.windows[0] {
		for ox := range r.windows[1] {
			need, keep := 0, math.MaxInt
			for i := range g.kernel[0] {
				for j := range g.kernel[1] {
					y := min(max(oy*g.stride[0]-g.before[0]+i*g.dilation[0], 0), g.frame[0]-1)
					x := min(max(ox*g.stride[1]-g.before[1]+j*g.dilation[1], 0), g.frame[1]-1)
					need, keep = max(need, y*g.frame[1]+x+1), min(keep, y*g.frame[1]+x)
				}
			}
			r.need, r.keep = append(r.need, need), append(r.keep, keep)
		}
	}
	for w := len(r.keep) - 2; w >= 0; w-- {
		r.keep[w] = min(r.keep[w], r.keep[w+1])
	}
	return r
}

func (r *reference) positions() int { return r.kernel[0] * r.kernel[1] }

func (r *reference) pixels() int { return r.frame[0] * r.frame[1] }

// serial returns the words read and written in each clock if one kernel position is read per clock. Each pixel has
// parts words, and the ring buffer has room for ring words. It returns nil if the ring cannot hold a window.
func (r *reference) serial(parts, ring int) (moves []dataflow.PortMoves) {
	got, w, written := 0, 0, 0
	for got < r.pixels()*parts || w < len(r.need) {
		var m dataflow.PortMoves
		if got < r.pixels()*parts && (w == len(r.need) || got-r.keep[w]*parts < ring) {
			m.Read = 1
		}
		if w < len(r.need) && got >= r.need[w]*parts {
			m.Write = 1
		}
		if m == (dataflow.PortMoves{}) {
			return nil // the ring does not hold a window
		}
		got += int(m.Read)
		if written += int(m.Write); written == r.positions()*parts {
			w, written = w+1, 0
		}
		moves = append(moves, m)
	}
	return moves
}

// ring is the pixels of the smallest ring that makes a frame as short as an ample one.
func (r *reference) ring() int {
	ample := 0
	for w := range r.need {
		ample = max(ample, max(r.need[w], r.need[min(w+1, len(r.need)-1)])-r.keep[w])
	}
	n := len(r.serial(1, ample))
	for ring := 1; ; ring++ {
		if m := r.serial(1, ring); m != nil && len(m) == n {
			return ring
		}
	}
}

// clocks is the recurrence of the package's comment.
func (r *reference) clocks(parts, ring int) int {
	got, slots := 0, 0
	for w := range r.need {
		wait := max(0, r.need[w]-got)
		got += wait
		got += max(0, min(r.positions(), min(r.pixels(), r.keep[w]+ring)-got))
		slots += wait + r.positions()
	}
	return parts * (slots + r.pixels() - got)
}

// due is the raster index of every window's last tap; ok is false where it does not increase.
func (r *reference) due() (due []int, ok bool) {
	for oy := range r.windows[0] {
		for ox := range r.windows[1] {
			y := oy*r.stride[0] - r.before[0] + (r.kernel[0]-1)*r.dilation[0]
			due = append(due, y*r.frame[1]+ox*r.stride[1]-r.before[1]+(r.kernel[1]-1)*r.dilation[1])
		}
	}
	return due, due[0] >= 0 && slices.IsSorted(due) && len(slices.Compact(slices.Clone(due))) == len(due)
}

// parallel returns the words read and written in each clock if all kernel positions are read in the same clock. The
// list due names the pixel at which each window is written.
func (r *reference) parallel(parts int, due []int) (moves []dataflow.PortMoves) {
	last := max(r.pixels(), due[len(due)-1]+1)
	for pixel := range last {
		var m dataflow.PortMoves
		if pixel < r.pixels() {
			m.Read = 1
		}
		if slices.Contains(due, pixel) {
			m.Write = 1
		}
		moves = append(moves, slices.Repeat([]dataflow.PortMoves{m}, parts)...)
	}
	return moves
}

// TestClocks compares the loop of every fold in the acceptance table with the definition and with the formulas. The
// contract checks that the kernels take these clocks.
func TestClocks(t *testing.T) {
	t.Parallel()
	for _, g := range geometries {
		op, out, err := swg.New(g.params(0)).Bind([]dataflow.StreamType{typ(uintN(4), g.shape()...)})
		if err != nil {
			t.Fatalf("%+v: %v", g, err)
		}
		r := newReference(g)
		if want := []int{r.windows[0], r.windows[1], r.positions(), g.channels}; !slices.Equal(out[0].Shape, want) {
			t.Errorf("%+v: windows %v, want %v", g, out[0].Shape, want)
		}
		ring := r.ring()
		due, increasing := r.due()
		parallel := false
		for f := range op.Folds() {
			parts := g.channels / f.SIMD
			moves, clocks := r.serial(parts, ring*parts), r.clocks(parts, ring)
			if f.PE > 1 {
				parallel = true
				if f.PE != r.positions() || !increasing {
					t.Errorf("%+v offers %+v", g, f)
					continue
				}
				moves, clocks = r.parallel(parts, due), parts*max(r.pixels(), due[len(due)-1]+1)
			}
			l := op.Loop(f, dataflow.Target{})
			if l.IterationsPerFrame() != clocks || len(moves) != clocks {
				t.Errorf("%+v, %+v: %d clocks, the formula says %d, the definition %d", g, f, l.IterationsPerFrame(),
					clocks,
					len(moves))
				continue
			}
			walk := l.NewWalker()
			for i, m := range moves {
				if walk.NextMoves() != m {
					t.Errorf("%+v, %+v: clock %d moves %v, want %v", g, f, i, walk.NextMoves(), m)
					break
				}
				walk.AdvanceIteration()
			}
		}
		if want := r.positions() > 1 && increasing; parallel != want {
			t.Errorf("%+v: all positions in a word: %v, want %v", g, parallel, want)
		}
	}
}

// TestStreams checks that windows stream without a gap if each output word has all kernel positions. With stride 1 and
// padding that keeps the size, the layer writes a word in every clock from the first to the last, across line ends.
func TestStreams(t *testing.T) {
	t.Parallel()
	for _, g := range []geometry{square(5, 6, 3, 1, 1, 1, 4, 1), square(8, 7, 5, 1, 1, 2, 4, 4),
		square(9, 9, 3, 1, 2, 2, 6, 2), line(16, 3, 1, 1, 1, 1, 4, 1), line(16, 4, 1, 3, 9, 0, 2, 1),
		square(112, 112, 7, 1, 1, 3, 3, 1)} {
		op, out, err := swg.New(g.params(0)).Bind([]dataflow.StreamType{typ(uintN(2), g.shape()...)})
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for f := range op.Folds() {
			if f.PE == 1 {
				continue
			}
			n++
			l := op.Loop(f, dataflow.Target{})
			words := g.frame[0] * g.frame[1] * g.channels / f.SIMD
			if _, ports := op.Ports(f); ports[0].Words != words || !slices.Equal(out[0].Shape[:2], g.frame[:]) {
				t.Errorf("%+v, %+v: %d words of windows %v", g, f, ports[0].Words, out[0].Shape)
			}
			if between := l.LastWriteClock(0) - l.FirstWriteClock(0) + 1; between != words {
				t.Errorf("%+v, %+v: %d words in %d clocks", g, f, words, between)
			}
		}
		if n == 0 {
			t.Errorf("%+v: no word holds all positions", g)
		}
	}
}

func runs(body []dataflow.LoopRun) int {
	n := len(body)
	for _, r := range body {
		n += runs(r.Body)
	}
	return n
}

// TestLoopIsSmall makes loops for frames of 224 by 224 pixels. They must be small, and a thousand of them must take
// little time.
func TestLoopIsSmall(t *testing.T) {
	t.Parallel()
	const most = 100
	for _, g := range []geometry{square(224, 224, 3, 1, 1, 1, 64, 1), square(224, 224, 3, 2, 1, 1, 64, 1),
		square(224, 224, 7, 2, 1, 3, 3, 1), square(224, 224, 3, 2, 1, 0, 64, 64), square(224, 224, 1, 2, 1, 0, 64, 1),
		square(224, 224, 3, 1, 3, 3, 64, 64), square(224, 224, 2, 2, 1, 0, 64, 64),
		line(160000, 16, 2, 1, 7, 8, 2, 1)} {
		op := layertest.Bind(t, swg.New(g.params(0)), typ(uintN(2), g.shape()...))
		for f := range op.Folds() {
			if n := runs(op.Loop(f, dataflow.Target{}).Body); n > most {
				t.Errorf("%+v, %+v: %d runs, want at most %d", g, f, n, most)
			}
		}
	}
}

func BenchmarkBind(b *testing.B) {
	op := swg.New(square(224, 224, 3, 2, 1, 1, 64, 1).params(0))
	in := []dataflow.StreamType{typ(uintN(2), 224, 224, 64)}
	for b.Loop() {
		if _, _, err := op.Bind(in); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkLoop(b *testing.B) {
	op, _, err := swg.New(square(224, 224, 3, 2, 1, 1, 64, 1).params(0)).Bind([]dataflow.StreamType{typ(uintN(2), 224,
		224,
		64)})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		op.Loop(dataflow.Fold{PE: 1, SIMD: 4, Memory: dataflow.MemoryBRAM}, dataflow.Target{})
	}
}
