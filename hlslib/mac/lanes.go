package mac

import (
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// LaneAccumulatorTypes returns the types of the accumulators of PE channels side by side. PE i adds up the channels c
// with c mod PE = i, and its accumulator is as wide as these need. It is signed if the unit's accumulator is. The
// result is nil if the target asks for one width, if all need it, or if weights are loaded.
func (u *Unit) LaneAccumulatorTypes(f dataflow.Fold, t dataflow.Target) []num.Type {
	if !t.AccPerPE || u.room != nil {
		return nil
	}
	lanes, narrower := make([]num.Type, f.PE), false
	for pe := range lanes {
		r := u.accumulated(u.rows[pe].sum)
		for c := pe; c < len(u.rows); c += f.PE {
			r = r.Union(u.accumulated(u.rows[c].sum))
		}
		if u.Acc.IsSigned() {
			r = r.Union(num.SingleValueRange(-1))
		}
		lanes[pe] = num.Type{Kind: u.Acc.Kind, Width: num.NarrowestIntTypeFor(r).Width}
		narrower = narrower || lanes[pe].Width < u.Acc.Width
	}
	if !narrower {
		return nil
	}
	return lanes
}

// SavedAccumulatorBits returns how many bits the fold's accumulators save in total, compared with accumulators of one
// width.
func SavedAccumulatorBits(u *Unit, f dataflow.Fold, t dataflow.Target) (bits int) {
	for _, lane := range u.LaneAccumulatorTypes(f, t) {
		bits += u.Acc.Width - lane.Width
	}
	return bits
}

// LaneAccumulatorConfigFieldsOf returns the field of the C++ for accumulators of individual widths, or none if all have
// the same width.
func LaneAccumulatorConfigFieldsOf(u *Unit, f dataflow.Fold, t dataflow.Target) []dataflow.ConfigField {
	lanes := u.LaneAccumulatorTypes(f, t)
	if lanes == nil {
		return nil
	}
	bits := make([]int, len(lanes))
	for pe, lane := range lanes {
		bits[pe] = lane.Width
	}
	return []dataflow.ConfigField{{Name: "acc_bits", Doc: "width of each PE's accumulator", Value: bits}}
}
