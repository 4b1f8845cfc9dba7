package dataflow

import (
	"math/rand/v2"
	"testing"
)

// Word and Last against a frame whose elements are numbered, sent word by word.
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
		p := Port{PerWord: pick(shape.Size())}
		if p.Tile = shape.Tiled(pick(c)); p.Tile > 0 {
			tiled++
		}
		p.Words = shape.Size() / p.PerWord
		frame := Tensor{shape, make([]int64, shape.Size())}
		for e := range frame.Data {
			frame.Data[e] = int64(e)
		}
		sent := p.Send(frame)
		for at, e := range sent {
			if got, want := p.Word(shape, int(e)), at/p.PerWord; got != want {
				t.Fatalf("%v %+v: element %d in word %d, want %d", shape, p, e, got, want)
			}
		}
		for w := range p.Words {
			if got, want := p.Last(shape, w), int(sent[(w+1)*p.PerWord-1]); got != want {
				t.Fatalf("%v %+v: word %d ends with element %d, want %d", shape, p, w, got, want)
			}
		}
	}
	if tiled < 300 {
		t.Errorf("%d ports send tiles", tiled)
	}
}
