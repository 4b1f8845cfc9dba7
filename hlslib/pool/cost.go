package pool

import (
	"hlsgen/internal/cost"
	"hlsgen/internal/dataflow"
)

// Cost counts what joins two values SIMD-1 times within a word, and once more with what was kept where a window takes
// several words. FINN estimates nothing.
func (o *op) Cost(f dataflow.Fold, _ dataflow.Target) dataflow.Cost {
	width, words := o.out.Elem.Width, o.windows*o.channels/f.PE
	join := cost.Maximum(width)
	if o.p.Op == Sum {
		join = cost.Adder(width)
	}
	sf := o.positions / f.SIMD
	control, kept := cost.Counter(words*sf), cost.Resources{}
	if sf > 1 {
		control = control.Plus(cost.Counter(sf))
		kept = join.Plus(cost.Resources{FF: width}).Times(f.PE)
	}
	return dataflow.Cost{
		{Name: "stream control", Resources: dataflow.Resources(control)},
		{Name: "pooling tree", Resources: dataflow.Resources(join.Times(f.PE * (f.SIMD - 1)))},
		{Name: "accumulators", Resources: dataflow.Resources(kept)},
	}
}
