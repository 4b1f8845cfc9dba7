package dataflow

import "slices"

// A Stride is an axis of Length positions, some of which are hit: First, First+Step and so on below End. At least one
// is hit: 0 <= First < End <= Length, and Step is at least 1.
type Stride struct{ Length, First, End, Step int }

// Hit reports whether position i is hit.
func (s Stride) Hit(i int) bool {
	return s.First <= i && i < s.End && (i-s.First)%s.Step == 0
}

// Hits returns the number of positions that are hit.
func (s Stride) Hits() int { return (s.End - s.First + s.Step - 1) / s.Step }

// Runs returns runs along the axis, with the body hit for each position that is hit, and miss for the others.
func (s Stride) Runs(hit, miss []LoopRun) []LoopRun {
	n := s.Hits()
	rest := s.Length - s.First - (n-1)*s.Step - 1
	return Join(slices.Concat(
		Repeat(s.First, miss...),
		Repeat(n-1, slices.Concat(hit, Repeat(s.Step-1, miss...))...),
		hit,
		Repeat(rest, miss...),
	)...)
}
