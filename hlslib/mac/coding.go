package mac

import (
	"hlsgen/hlslib/cost"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// lutBits is the bits of memory in a lookup table. A device has about as many bits of block memory for each of its
// lookup tables.
const lutBits = 64

// Coding is how weights lie in a table of so many rows: as codes; nil where they lie there as numbers. Codes are taken
// where a row's have as many bits less, in all rows, as the lookup tables hold that make numbers of a row.
func (u *Unit) Coding(rows int) *num.Coding {
	c := u.coding
	if c == nil || lutBits*u.decoder.LUT > rows*(c.Value.Width-c.Code.Width) {
		return nil
	}
	return c
}

// Stored is the type of an element of a table of weights of so many rows.
func (u *Unit) Stored(rows int) num.Type {
	if c := u.Coding(rows); c != nil {
		return c.Code
	}
	return u.Weight
}

// Coded is the table of rows of weights, as they are stored.
func (u *Unit) Coded(doc string, rows [][]int64) dataflow.Table {
	t := dataflow.Table{Name: "weights", Doc: doc, Elem: u.Stored(len(rows)), Rows: rows}
	c := u.Coding(len(rows))
	if c == nil {
		return t
	}
	t.Doc, t.Rows = doc+", as codes", make([][]int64, len(rows))
	for i, row := range rows {
		for _, w := range row {
			t.Rows[i] = append(t.Rows[i], c.Encode(w))
		}
	}
	return t
}

// CodingFields are the config fields that core/mac.hpp asks for where a table of so many rows has codes.
func (u *Unit) CodingFields(rows int) []dataflow.Field {
	c := u.Coding(rows)
	if c == nil {
		return nil
	}
	return []dataflow.Field{
		{Name: "weight_t", Doc: "a weight", Value: c.Value},
		{Name: "weight_values", Doc: "by code", Value: c.Values},
	}
}

// Logic is what step functions take beside their tables, and what makes numbers of codes.
func (u *Unit) Logic(m cost.Model, f dataflow.Fold) []cost.Part {
	return append(u.tail.Logic(m, f), u.Decoders(f.PE*f.SIMD, u.tableRows(f))...)
}

// Decoders is what makes numbers of so many weights a clock, out of a table of so many rows; nothing where these are
// numbers, or their bits those of codes.
func (u *Unit) Decoders(weights, rows int) []cost.Part {
	if u.Coding(rows) == nil || u.decoder.LUT == 0 {
		return nil
	}
	return []cost.Part{u.decoder.Times(weights).As("weight decoders")}
}

// bindCoding finds codes of the weights; those that are loaded have the codes that there is room for.
func (u *Unit) bindCoding() {
	if u.room != nil {
		u.coding = u.room.Coding
		return
	}
	u.code(u.values())
}

// code has the table have codes of such weights.
func (u *Unit) code(values []int64) {
	if u.coding, u.decoder = nil, (cost.Resources{}); values == nil {
		return
	}
	if c := num.CodingOf(u.Weight, values); c != nil {
		u.coding, u.decoder = c, cost.Decoder(c.Code.Width, c.Logic())
	}
}

// values is the different weights of all rows; nil where there are more than codes.
func (u *Unit) values() (list []int64) {
	for _, r := range u.rows {
		if r.values == nil {
			return nil
		}
		for _, v := range r.values {
			if list = with(list, v); len(list) > num.MostCodes {
				return nil
			}
		}
	}
	return list
}

// Padded has the table have zeros beside the weights.
func (u *Unit) Padded() {
	if u.Weight.Kind == num.Bipolar {
		u.Weight = num.Type{Kind: num.Ternary, Width: 2}
	}
	if u.coding != nil {
		u.code(with(u.values(), 0))
	}
}
