package mac

import (
	"hlsgen/hlslib/cost"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// Codes is how weights lie in tables: as numbers, or as codes of fewer bits where that takes less.
type Codes struct {
	number  num.Type       // of a weight
	coding  *num.Coding    // nil where there are no codes of fewer bits
	decoder cost.Resources // what makes a number of a code
}

// lutBits is the bits of memory in a lookup table. A device has about as many bits of block memory for each of its
// lookup tables.
const lutBits = 64

// codesOf is the codes of weights of a type. values are all that occur, nil where they are too many.
func codesOf(weight num.Type, values []int64) Codes {
	if len(values) > 0 {
		if c := num.CodingOf(weight, values); c != nil {
			return Codes{weight, c, cost.Decoder(c.Code.Width, c.Logic())}
		}
	}
	return Codes{number: weight}
}

// At is the coding in a table of so many rows; nil where that has numbers. It has codes where all its rows are shorter
// by as many bits, together, as the lookup tables hold that decode a row.
func (c Codes) At(rows int) *num.Coding {
	if c.coding == nil || lutBits*c.decoder.LUT > rows*(c.number.Width-c.coding.Code.Width) {
		return nil
	}
	return c.coding
}

// Stored is the type of an element of a table of so many rows.
func (c Codes) Stored(rows int) num.Type {
	if coding := c.At(rows); coding != nil {
		return coding.Code
	}
	return c.number
}

// Table is the one of rows of weights.
func (c Codes) Table(doc string, rows [][]int64) dataflow.Table {
	t := dataflow.Table{Name: "weights", Doc: doc, Elem: c.Stored(len(rows)), Rows: rows}
	coding := c.At(len(rows))
	if coding == nil {
		return t
	}
	t.Doc, t.Rows = doc+", as codes", make([][]int64, len(rows))
	for i, row := range rows {
		for _, w := range row {
			t.Rows[i] = append(t.Rows[i], coding.Encode(w))
		}
	}
	return t
}

// Fields are the config fields that core/mac.hpp asks for where a table of so many rows has codes.
func (c Codes) Fields(rows int) []dataflow.Field {
	coding := c.At(rows)
	if coding == nil {
		return nil
	}
	return []dataflow.Field{
		{Name: "weight_t", Doc: "a weight", Value: coding.Value},
		{Name: "weight_values", Doc: "by code", Value: coding.Values},
	}
}

// Logic is what decodes so many weights a clock, out of a table of so many rows; no part where that has numbers, or
// the bits of numbers are those of codes.
func (c Codes) Logic(weights, rows int) []cost.Part {
	if c.At(rows) == nil || c.decoder.LUT == 0 {
		return nil
	}
	return []cost.Part{c.decoder.Times(weights).As("weight decoders")}
}

// values is the different weights of rows, in order; nil where they are more than codes.
func values(rows []*row) (list []int64) {
	for _, r := range rows {
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

// Pad has a table have zeros beside the weights.
func Pad(u *Unit) {
	if u.Weight.Kind == num.Bipolar {
		u.Weight = num.Type{Kind: num.Ternary, Width: 2}
	}
	all := values(u.rows)
	if all != nil {
		all = with(all, 0)
	}
	u.Codes = codesOf(u.Weight, all)
}
