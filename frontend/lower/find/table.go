package find

import (
	"fmt"
	"math/big"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/lower/choose"
	"hlsgen/frontend/lower/unmapped"
	"hlsgen/frontend/lower/whole"
	"hlsgen/frontend/real"
	"hlsgen/frontend/scaled"
)

// maxRows bounds the tables that are looked up.
const maxRows = 1 << 16

// Table is the rows that a product chooses of a matrix, by an operand of row numbers. of is the real values of its outputs.
func (p *Program) Table(d *graph.Dot, w *graph.Tensor, o *Operand) (rows choose.Rows, of []real.Affine, reject error) {
	n, ok := matrixRows(d)
	if !ok {
		return rows, nil, unmapped.Because(fmt.Sprintf("a table of shape %v", w.Shape), "look up rows of one matrix")
	}
	f, ok := o.Affine(1)
	if !ok || o.Value != nil || len(o.Tensors) != 1 {
		return rows, nil, unmapped.Because("its indices are not those of one quantiser", "compute all indices alike")
	}
	r := p.Places[o.Tensors[0]].Type.Union()
	if r.Lo < 0 || r.Hi >= maxRows {
		return rows, nil, unmapped.Because(fmt.Sprintf("its indices lie in %v", r), fmt.Sprintf("use indices from 0 to %d", maxRows-1))
	}
	var table [][]*big.Rat
	for q := r.Lo; q <= r.Hi; q++ {
		v := new(big.Rat).Mul(f[0].Scale, new(big.Rat).SetInt64(q))
		v.Add(v, f[0].Bias)
		row := make([]*big.Rat, n)
		for c := range row {
			row[c] = new(big.Rat)
			if v.IsInt() && v.Sign() >= 0 && v.Num().IsInt64() && v.Num().Int64() < int64(d.K) {
				row[c].SetFloat64(w.At(int(d.BBase[c] + d.BOffset[v.Num().Int64()])))
			}
		}
		table = append(table, row)
	}
	values, affine, reject := tableOf(table, n)
	if reject != nil {
		return rows, nil, reject
	}
	return choose.Rows{Table: values}, scaled.Spread(affine, len(d.ABase), func(i int) int { return i % n }), nil
}

// tableOf makes integers of a table, column by column.
func tableOf(table [][]*big.Rat, n int) (values [][]int64, affine []real.Affine, reject error) {
	values = make([][]int64, len(table))
	same := make([]real.Affine, len(table))
	for i := range same {
		same[i] = scaled.Unit[0]
	}
	for c := range n {
		column := make([]*big.Rat, len(table))
		for i, row := range table {
			column[i] = row[c]
		}
		q, f, reject := whole.Column(column, same)
		if reject != nil {
			return nil, nil, reject
		}
		for i, v := range q {
			values[i] = append(values[i], v)
		}
		affine = append(affine, f)
	}
	return values, affine, nil
}
