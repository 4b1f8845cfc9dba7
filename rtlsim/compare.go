package rtlsim

import (
	"fmt"
	"slices"

	"hlsgen/internal/dataflow"
)

// An OutputDifference is the first element in which two outputs differ. Frames come first, then outputs, then elements.
type OutputDifference struct {
	Frame, Output int
	Shape         dataflow.Shape
	Index         int // row-major in the frame
	Got, Want     int64
	Frames        int // number of frames that differ anywhere
}

func (d *OutputDifference) Error() string {
	at := make([]int, len(d.Shape))
	for rest, k := d.Index, len(at)-1; k >= 0; k-- {
		at[k] = rest % d.Shape[k]
		rest /= d.Shape[k]
	}
	return fmt.Sprintf("frame %d, output %d, element %v: got %d, want %d; %d frames differ", d.Frame, d.Output, at,
		d.Got, d.Want, d.Frames)
}

// apart returns the first index at which two lists of the same length differ, or -1 if they are equal.
func apart(got, want []int64) int {
	const block = 8 // elements that are compared at a time
	i := 0
	for ; i+block <= len(want); i += block {
		g, w := (*[block]int64)(got[i:]), (*[block]int64)(want[i:])
		if *g != *w {
			break
		}
	}
	for ; i < len(want); i++ {
		if got[i] != want[i] {
			return i
		}
	}
	return -1
}

// CompareOutputs returns nil if the outputs of two engines, by frame and output, are equal. It returns an
// *OutputDifference if an element differs, or another error if their shapes differ.
func CompareOutputs(got, want [][]dataflow.Tensor) error {
	if len(got) != len(want) {
		return fmt.Errorf("%d frames, want %d", len(got), len(want))
	}
	var first *OutputDifference
	for f := range want {
		if len(got[f]) != len(want[f]) {
			return fmt.Errorf("frame %d has %d outputs, want %d", f, len(got[f]), len(want[f]))
		}
		differs := false
		for o, w := range want[f] {
			g := got[f][o]
			if !slices.Equal(g.Shape, w.Shape) || len(g.Data) != len(w.Data) {
				return fmt.Errorf("frame %d, output %d has shape %v and %d values, want %v and %d", f, o, g.Shape,
					len(g.Data), w.Shape, len(w.Data))
			}
			i := apart(g.Data, w.Data)
			if i < 0 {
				continue
			}
			differs = true
			if first == nil {
				first = &OutputDifference{Frame: f, Output: o, Shape: w.Shape, Index: i, Got: g.Data[i],
					Want: w.Data[i]}
			}
		}
		if differs {
			first.Frames++
		}
	}
	if first == nil {
		return nil
	}
	return first
}
