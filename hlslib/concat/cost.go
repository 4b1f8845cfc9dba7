package concat

import (
	"hlsgen/internal/cost"
	"hlsgen/internal/dataflow"
)

// Cost is what chooses among the inputs. FINN counts nothing for its StreamingConcat.
func (o *op) Cost(f dataflow.Fold, _ dataflow.Target) dataflow.Cost {
	return dataflow.Cost{
		{Name: "counters", Resources: dataflow.Resources(cost.Counter(o.out.Shape.Channels() / f.SIMD).Plus(cost.Counter(o.vectors)))},
		{Name: "multiplexers", Resources: dataflow.Resources(cost.Multiplexer(len(o.in), f.SIMD*o.out.Elem.Width))},
	}
}
