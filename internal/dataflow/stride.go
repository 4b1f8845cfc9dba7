package dataflow

import "slices"

// StridedPositions describes an axis of Length positions, some of which are hit: First, First+Step and so on below End.
// At least one is hit: 0 <= First < End <= Length, and Step is at least 1.
type StridedPositions struct{ Length, First, End, Step int }

// IsHit reports whether position i is hit.
func (s StridedPositions) IsHit(i int) bool {
	return s.First <= i && i < s.End && (i-s.First)%s.Step == 0
}

// HitCount returns the number of positions that are hit.
func (s StridedPositions) HitCount() int { return (s.End - s.First + s.Step - 1) / s.Step }

// LoopRunsAlong returns runs along the axis, with the body hit for each position that is hit, and miss for the others.
func (s StridedPositions) LoopRunsAlong(hit, miss []LoopRun) []LoopRun {
	n := s.HitCount()
	rest := s.Length - s.First - (n-1)*s.Step - 1
	return JoinLoopRuns(slices.Concat(
		RepeatLoopRuns(s.First, miss...),
		RepeatLoopRuns(n-1, slices.Concat(hit, RepeatLoopRuns(s.Step-1, miss...))...),
		hit,
		RepeatLoopRuns(rest, miss...),
	)...)
}
