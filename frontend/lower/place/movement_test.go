package place

import (
	"fmt"
	"slices"
	"testing"

	"hlsgen/internal/dataflow"
)

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
		shape, at := ChannelsLast(c.shape, c.axis)
		if !slices.Equal(shape, c.want) || !slices.Equal(at, c.at) {
			t.Errorf("%v along %d: %v at %v, want %v at %v", c.shape, c.axis, shape, at, c.want, c.at)
		}
	}
}

// TestMoves looks at which movement of elements is taken for what.
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
		p, ok := blocks(c.from, c.to, c.at)
		if got := fmt.Sprint(p, ok); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}
