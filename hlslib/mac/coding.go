package mac

import (
	"hlsgen/hlslib/price/cost"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// WeightEncoding says how a table stores weights: as numbers, or as codes of fewer bits if that saves resources.
type WeightEncoding struct {
	number  num.Type       // of a weight
	coding  *num.Coding    // nil if no coding has fewer bits
	decoder cost.Resources // cost of decoding one code
}

// lutBits is the number of memory bits that weigh as much as a lookup table. A device has about so many bits of block
// memory for each of its lookup tables.
const lutBits = 64

// codesOf returns the encoding of weights of a type. values lists all distinct weights, or is nil if there are too many
// for codes.
func codesOf(weight num.Type, values []int64) WeightEncoding {
	if len(values) > 0 {
		if c := num.CodingOf(weight, values); c != nil {
			return WeightEncoding{weight, c, cost.DecoderCost(c.Code.Width, c.LogicBitCount())}
		}
	}
	return WeightEncoding{number: weight}
}

// CodingForRows returns the coding for a table with the given rows, or nil if the table holds numbers. Codes pay if the
// bits that they save in all rows are worth the LUTs that decode a row.
func (c WeightEncoding) CodingForRows(rows int) *num.Coding {
	if c.coding == nil || lutBits*c.decoder.LUT > rows*(c.number.Width-c.coding.Code.Width) {
		return nil
	}
	return c.coding
}

// StoredType returns the element type of a table of weights with the given rows.
func (c WeightEncoding) StoredType(rows int) num.Type {
	if coding := c.CodingForRows(rows); coding != nil {
		return coding.Code
	}
	return c.number
}

// EncodedTable returns the table of the given rows of weights, as codes if that pays. doc describes it in the C++.
func (c WeightEncoding) EncodedTable(doc string, rows [][]int64) dataflow.Table {
	t := dataflow.Table{Name: "weights", Doc: doc, Elem: c.StoredType(len(rows)), Rows: rows}
	coding := c.CodingForRows(len(rows))
	if coding == nil {
		return t
	}
	t.Doc, t.Rows = doc+", as codes", make([][]int64, len(rows))
	for i, row := range rows {
		for _, w := range row {
			t.Rows[i] = append(t.Rows[i], coding.CodeOfValue(w))
		}
	}
	return t
}

// DecoderConfigFields returns the fields of the C++ for core/mac.hpp that decode the weights, or none if a table with
// the given rows holds numbers.
func (c WeightEncoding) DecoderConfigFields(rows int) []dataflow.ConfigField {
	coding := c.CodingForRows(rows)
	if coding == nil {
		return nil
	}
	return []dataflow.ConfigField{
		{Name: "weight_t", Doc: "a weight", Value: coding.Value},
		{Name: "weight_values", Doc: "by code", Value: coding.Values},
	}
}

// DecoderCost returns the cost of decoding the given number of weights per clock. It is nothing if a table with the
// given rows holds numbers, or if decoding needs no logic.
func (c WeightEncoding) DecoderCost(weights, rows int) []cost.CostPart {
	if c.CodingForRows(rows) == nil || c.decoder.LUT == 0 {
		return nil
	}
	return []cost.CostPart{c.decoder.Times(weights).AsPart("weight decoders")}
}

// values returns the distinct weights of all rows in increasing order, or nil if there are too many for codes.
func values(rows []*row) (list []int64) {
	for _, r := range rows {
		if r.values == nil {
			return nil
		}
		for _, v := range r.values {
			if list = with(list, v); len(list) > num.MaxCodingCodes {
				return nil
			}
		}
	}
	return list
}

// AllowZeroWeights changes the unit's type and encoding of weights so that tables can hold zeros, with which unused
// lanes are filled.
func AllowZeroWeights(u *Unit) {
	if u.Weight.Kind == num.KindBipolar {
		u.Weight = num.Type{Kind: num.KindTernary, Width: 2}
	}
	all := values(u.rows)
	if all != nil {
		all = with(all, 0)
	}
	u.Codes = codesOf(u.Weight, all)
}
