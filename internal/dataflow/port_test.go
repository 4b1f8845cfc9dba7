package dataflow

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestPortOrder checks ToStreamOrder and FromStreamOrder with tiles, and the order for a window of 2 positions and 4
// channels.
func TestPortOrder(t *testing.T) {
	t.Parallel()
	in := Tensor{Shape{2, 2, 4}, []int64{0, 1, 2, 3, 4, 5, 6, 7, 10, 11, 12, 13, 14, 15, 16, 17}}
	for tile, want := range map[int][]int64{
		0: in.Data,
		1: {0, 4, 1, 5, 2, 6, 3, 7, 10, 14, 11, 15, 12, 16, 13, 17},
		2: {0, 1, 4, 5, 2, 3, 6, 7, 10, 11, 14, 15, 12, 13, 16, 17},
	} {
		p := Port{Tile: tile}
		if got := p.ToStreamOrder(in); !slices.Equal(got, want) || !slices.Equal(p.FromStreamOrder(in.Shape, got).Data,
			in.Data) {
			t.Errorf("tiles of %d: %v, want %v", tile, got, want)
		}
	}
	if a, b, c := (Shape{3, 2, 4}).PortTileFor(2), (Shape{3, 2, 4}).PortTileFor(4), (Shape{3, 1,
		4}).PortTileFor(2); a != 2 ||
		b != 0 ||
		c != 0 {
		t.Errorf("tiles %d %d %d", a, b, c)
	}
}

// TestPortWords checks Word and Last with a frame of numbered elements, sent word by word.
func TestPortWords(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 6))
	tiled := 0
	for range 2000 {
		c := 1 + rng.IntN(12)
		shape := Shape{1 + rng.IntN(3), 1 + rng.IntN(4), c}
		if rng.IntN(4) == 0 {
			shape = shape[1:]
		}
		pick := func(n int) int { d := Divisors(n); return d[rng.IntN(len(d))] }
		p := Port{PerWord: pick(shape.ElementCount())}
		if p.Tile = shape.PortTileFor(pick(c)); p.Tile > 0 {
			tiled++
		}
		p.Words = shape.ElementCount() / p.PerWord
		frame := Tensor{shape, make([]int64, shape.ElementCount())}
		for e := range frame.Data {
			frame.Data[e] = int64(e)
		}
		sent := p.ToStreamOrder(frame)
		for at, e := range sent {
			if got, want := p.WordIndexOfElement(shape, int(e)), at/p.PerWord; got != want {
				t.Fatalf("%v %+v: element %d in word %d, want %d", shape, p, e, got, want)
			}
		}
		for w := range p.Words {
			if got, want := p.LastElementIndexOfWord(shape, w), int(sent[(w+1)*p.PerWord-1]); got != want {
				t.Fatalf("%v %+v: word %d ends with element %d, want %d", shape, p, w, got, want)
			}
		}
	}
	if tiled < 300 {
		t.Errorf("%d ports send tiles", tiled)
	}
}
