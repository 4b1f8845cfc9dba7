package lookup

import (
	"math/bits"

	"hlsgen/internal/cost"
	"hlsgen/internal/dataflow"
)

var memories = map[dataflow.Memory]cost.Memory{dataflow.LUTRAM: cost.Distributed, dataflow.BRAM: cost.Block, dataflow.URAM: cost.Ultra}

// Cost is the table, what counts, and, where a row takes several clocks, the index kept and the adder that makes an
// address of it. FINN has a formula for a Lookup in block RAM alone, and no LUTs.
func (o *op) Cost(f dataflow.Fold, _ dataflow.Target) dataflow.Cost {
	folds := o.depth / f.PE
	var address cost.Resources
	if folds > 1 {
		address = cost.Adder(bits.Len(uint(o.rows(f.PE) - 1))).Plus(cost.Buffer(o.in.Elem.Width, 1))
	}
	return dataflow.Cost{
		{Name: "table", Resources: dataflow.Resources(cost.Table(f.PE*o.out.Elem.Width, o.rows(f.PE), memories[f.Memory]))},
		{Name: "counters", Resources: dataflow.Resources(cost.Counter(o.indices).Plus(cost.Counter(folds)))},
		{Name: "address", Resources: dataflow.Resources(address)},
	}
}
