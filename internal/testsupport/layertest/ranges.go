package layertest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// evals limits the frames that a search for a bound tries. A search that reaches the limit proves nothing, so ranges
// are checked on small inputs only.
const evals = 3000

// starts is the number of frames from which a search starts.
const starts = 24

// checkRanges searches for inputs that attain the bounds of the output types: per output and range, the lowest and
// the highest value. It changes one element of a frame after the other as long as that helps, several times from
// different frames. It also counts values found in other searches. A bound that it cannot reach is too wide, unless
// the case gives a reason in Loose.
func (b *bound) checkRanges(r *rand.Rand) error {
	if b.Loose != "" {
		return nil
	}
	seen := make([][]num.Range, len(b.out))
	for port, typ := range b.out {
		seen[port] = slices.Repeat([]num.Range{{Lo: math.MaxInt64, Hi: math.MinInt64}}, len(typ.Range))
	}
	first := search{b: b, seen: seen}
	for n := range starts {
		first.value(frame(r, b.In, n))
	}
	for port, typ := range b.out {
		for c, want := range typ.Range {
			highest := search{b: b, seen: seen, port: port, channel: c, left: evals, bound: want.Hi}
			if best, sure := highest.climb(r); sure && best < want.Hi {
				return fmt.Errorf("output %d, range %d is %v, the highest found is %d", port, c, want, best)
			}
			lowest := search{b: b, seen: seen, port: port, channel: c, left: evals, bound: ^want.Lo, down: true}
			if best, sure := lowest.climb(r); sure && ^best > want.Lo {
				return fmt.Errorf("output %d, range %d is %v, the lowest found is %d", port, c, want, ^best)
			}
		}
	}
	return nil
}

// A search maximises a channel of an output, or its complement, which minimises the channel.
type search struct {
	b             *bound
	seen          [][]num.Range // by output and range: the lowest and highest value of all searches
	port, channel int
	down          bool
	bound         int64
	left          int // frames that may still be tried
}

// signed returns the number that is maximised for the value v.
func (s *search) signed(v int64) int64 {
	if s.down {
		return ^v
	}
	return v
}

// climb returns the greatest value found, and whether the search is conclusive. It is not if no change of an element
// ever lowered the value, as can happen between the thresholds of a sum.
func (s *search) climb(r *rand.Rand) (best int64, sure bool) {
	seen := s.seen[s.port][s.channel]
	if best = max(s.signed(seen.Lo), s.signed(seen.Hi)); best >= s.bound {
		return best, true
	}
	for n := range starts {
		at := frame(r, s.b.In, n)
		value := s.value(at)
		for pass, better := 0, true; better && value < s.bound; pass++ {
			better = false
			for p, typ := range s.b.In {
				for i := range at[p].Data {
					for _, v := range candidates(r, typ, i) {
						if v == at[p].Data[i] {
							continue
						}
						if s.left--; s.left < 0 {
							return max(best, value), false
						}
						old := at[p].Data[i]
						at[p].Data[i] = v
						switch now := s.value(at); {
						case now > value:
							value, better = now, true
						case now < value:
							at[p].Data[i], sure = old, true
						case pass > 0: // cross a plateau once
							at[p].Data[i] = old
						}
					}
				}
			}
		}
		if best = max(best, value); best >= s.bound {
			break
		}
	}
	return best, sure
}

// candidates returns the values to try for an element: all values, if there are few, or the ends, those around zero
// and two random ones.
func candidates(r *rand.Rand, t dataflow.StreamType, i int) []int64 {
	x := t.ChannelRange(i % t.Shape.ChannelCount())
	var list []int64
	if x.ValueCount() <= 256 {
		for v := x.Lo; v <= x.Hi; v++ {
			list = append(list, v)
		}
	} else {
		list = []int64{x.Lo, x.Hi, RandomInRange(r, x), RandomInRange(r, x)}
		for v := int64(-1); v <= 1; v++ {
			if x.Contains(v) {
				list = append(list, v)
			}
		}
	}
	return slices.DeleteFunc(list, func(v int64) bool { return !t.Elem.Holds(v) })
}

// value returns the greatest value of the channel in a frame's output. It records the values of all outputs.
func (s *search) value(in []dataflow.Tensor) int64 {
	best := int64(math.MinInt64)
	for port, out := range s.b.op.Eval(in) {
		seen := s.seen[port]
		for i, v := range out.Data {
			c := i % len(seen)
			seen[c] = num.Range{Lo: min(seen[c].Lo, v), Hi: max(seen[c].Hi, v)}
			if port == s.port && c == s.channel {
				best = max(best, s.signed(v))
			}
		}
	}
	return best
}
