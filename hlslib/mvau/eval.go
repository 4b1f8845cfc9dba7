package mvau

import "hlsgen/internal/dataflow"

func (o *op) Eval(in []dataflow.Tensor) []dataflow.Tensor {
	groups := o.p.groups()
	channels := in[0].Shape.Channels()
	run := o.mw // of elements that lie side by side in a frame and meet the same weights
	if groups > 1 {
		run = channels / groups
	}
	y := dataflow.Tensor{Shape: o.out.Shape, Data: make([]int64, 0, o.vectors*o.mh)}
	for v := range o.vectors {
		x := in[0].Data[v*groups*o.mw : (v+1)*groups*o.mw]
		for c, row := range o.p.Weights {
			group := c / (o.mh / groups)
			sum := int64(0)
			for k := 0; k < o.mw/run; k++ {
				sum += o.dot(row[k*run:(k+1)*run], x[k*channels+group*run:])
			}
			if s, ok := o.unit.Step(c); ok {
				sum = s.Apply(sum)
			}
			y.Data = append(y.Data, sum)
		}
	}
	return []dataflow.Tensor{y}
}

// dot is the sum of the products of w with as many elements of x.
func (o *op) dot(w, x []int64) int64 {
	x = x[:len(w)]
	sum := int64(0)
	for i, v := range w {
		p := v * x[i]
		if o.p.Product != nil {
			p = o.p.Product.Apply(p)
		}
		sum += p
	}
	return sum
}
