package layer

import (
	"fmt"

	"hlsgen/hlslib/price/cost"
	"hlsgen/internal/dataflow"
)

// Pooling is an operation that combines several values into one, the maximum or the sum.
type Pooling string

// The operations of pooling.
const (
	PoolingMax Pooling = "max"
	PoolingSum Pooling = "sum"
)

// Verify returns an error if p is not a known operation.
func (p Pooling) Verify() error {
	if p != PoolingMax && p != PoolingSum {
		return fmt.Errorf("pooling by %.40q, want %q or %q", p, PoolingMax, PoolingSum)
	}
	return nil
}

// PoolParams are the parameters of a layer that pools.
type PoolParams struct {
	Op Pooling `json:"op"`
}

// Verify returns an error if the operation is not a known one.
func (p PoolParams) Verify() error { return p.Op.Verify() }

// OutputType returns the type of a stream of the given shape, each of whose elements combines n values of one channel
// of t. It returns an error if a sum is too wide.
func (p Pooling) OutputType(t dataflow.StreamType, n int, shape dataflow.Shape) (dataflow.StreamType, error) {
	if p == PoolingSum {
		var err error
		if t, err = t.TypeOfSums(n); err != nil {
			return t, err
		}
	}
	t.Shape = shape
	return t, nil
}

// PoolTwo returns the combination of two values: the greater, or the sum.
func (p Pooling) PoolTwo(a, b int64) int64 {
	if p == PoolingSum {
		return a + b
	}
	return max(a, b)
}

// Cost returns the cost of combining two values of the given width.
func (p Pooling) Cost(width int) cost.Resources {
	if p == PoolingSum {
		return cost.AdderCost(width)
	}
	return cost.LargerOfTwoCost(width)
}

// DelayNS returns the delay in nanoseconds of combining a value with the result so far in every clock. It is that of an
// adder, or of a comparison and a choice.
func (p Pooling) DelayNS() float64 {
	if p == PoolingSum {
		return cost.LoopCarriedDelayNSForLevels(1)
	}
	return cost.LoopCarriedDelayNSForLevels(2)
}

// ConfigField returns the field of the C++ that selects the operation.
func (p Pooling) ConfigField() dataflow.ConfigField {
	return dataflow.ConfigField{Name: "sum", Doc: "add up, else take the maximum", Value: p == PoolingSum}
}
