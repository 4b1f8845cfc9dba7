package mac

import (
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// Lanes is the accumulators of PE channels side by side, each as wide as the channels need that it adds up one after
// the other: channel c is added up by PE c mod PE. It is nil where the target asks for accumulators that are all as
// wide as the layer's widest, or where they are so anyway. None is wider than that; an unsigned accumulator has
// unsigned lanes, a signed one signed lanes.
func (u *Unit) Lanes(f dataflow.Fold, t dataflow.Target) []num.Type {
	if !t.AccPerPE || u.room != nil {
		return nil
	}
	lanes, narrower := make([]num.Type, f.PE), false
	for pe := range lanes {
		r := u.accumulated(u.rows[pe].sum)
		for c := pe; c < len(u.rows); c += f.PE {
			r = r.Union(u.accumulated(u.rows[c].sum))
		}
		if u.Acc.Signed() {
			r = r.Union(num.Point(-1))
		}
		lanes[pe] = num.Type{Kind: u.Acc.Kind, Width: num.Smallest(r).Width}
		narrower = narrower || lanes[pe].Width < u.Acc.Width
	}
	if !narrower {
		return nil
	}
	return lanes
}

// Spare is the bits that the accumulators of a fold have less together than as wide as the widest.
func Spare(u *Unit, f dataflow.Fold, t dataflow.Target) (bits int) {
	for _, lane := range u.Lanes(f, t) {
		bits += u.Acc.Width - lane.Width
	}
	return bits
}

// LaneFields is the config field of core/mac.hpp for accumulators of several widths; none where all have one.
func LaneFields(u *Unit, f dataflow.Fold, t dataflow.Target) []dataflow.Field {
	lanes := u.Lanes(f, t)
	if lanes == nil {
		return nil
	}
	bits := make([]int, len(lanes))
	for pe, lane := range lanes {
		bits[pe] = lane.Width
	}
	return []dataflow.Field{{Name: "acc_bits", Doc: "of the accumulator of each PE", Value: bits}}
}
