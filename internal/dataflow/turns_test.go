package dataflow

import (
	"slices"
	"testing"
)

// TestTurns puts samples into frames and extracts them again.
func TestTurns(t *testing.T) {
	t.Parallel()
	turns := &SampleInterleaving{Samples: 2, In: []int{2, 1}}
	samples := [][]Tensor{
		{{Shape{2, 2}, []int64{1, 2, 3, 4}}, {Shape{3}, []int64{10, 11, 12}}},
		{{Shape{2, 2}, []int64{5, 6, 7, 8}}, {Shape{3}, []int64{20, 21, 22}}},
		{{Shape{2, 2}, []int64{9, 0, 1, 2}}, {Shape{3}, []int64{30, 31, 32}}},
	}
	want := [][]Tensor{
		{{Shape{2, 2, 2}, []int64{1, 2, 5, 6, 3, 4, 7, 8}}, {Shape{2, 3}, []int64{10, 11, 12, 20, 21, 22}}},
		{{Shape{2, 2, 2}, []int64{9, 0, 9, 0, 1, 2, 1, 2}}, {Shape{2, 3}, []int64{30, 31, 32, 30, 31, 32}}},
	}
	frames := turns.MakeFrames(samples)
	if len(frames) != len(want) {
		t.Fatalf("%d frames, want %d", len(frames), len(want))
	}
	for i, f := range frames {
		for k, x := range f {
			if !slices.Equal(x.Data, want[i][k].Data) || !slices.Equal(x.Shape, want[i][k].Shape) {
				t.Errorf("frame %d, input %d: %v, want %v", i, k, x, want[i][k])
			}
		}
	}
	for i, s := range turns.ExtractSamples(func(t *SampleInterleaving) []int { return t.In }, frames, len(samples)) {
		for k, x := range s {
			if !slices.Equal(x.Data, samples[i][k].Data) {
				t.Errorf("sample %d, input %d: %v, want %v", i, k, x.Data, samples[i][k].Data)
			}
		}
	}
	if none := (*SampleInterleaving)(nil); none.SamplesPerFrame() != 1 || len(none.MakeFrames(samples)) != 3 ||
		turns.SamplesPerFrame() != 2 {
		t.Error("without turns, a frame is a sample")
	}
}
