package engines

import (
	"testing"

	"hlsgen/internal/dataflow"
)

// TestPerBench holds how many frames a bench has: what it holds is bounded, and there are two at least.
func TestPerBench(t *testing.T) {
	t.Parallel()
	for size, want := range map[int]int{1: maxBench / 4, maxBench / 12: 3, maxBench: 2} {
		of := dataflow.StreamType{Shape: dataflow.Shape{size, 4}}
		if got := FramesPerBench(&dataflow.Graph{Streams: []*dataflow.Stream{{Type: of}}}); got != want {
			t.Errorf("%d frames of %d elements, want %d", got, 4*size, want)
		}
	}
}
