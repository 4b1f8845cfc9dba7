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
	MaxPooling Pooling = "max"
	SumPooling Pooling = "sum"
)

// Verify returns an error if p is not a known operation.
func (p Pooling) Verify() error {
	if p != MaxPooling && p != SumPooling {
		return fmt.Errorf("pooling by %.40q, want %q or %q", p, MaxPooling, SumPooling)
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
	if p == SumPooling {
		var err error
		if t, err = t.Sums(n); err != nil {
			return t, err
		}
	}
	t.Shape = shape
	return t, nil
}

// Pool returns the combination of two values.
func (p Pooling) Pool(a, b int64) int64 {
	if p == SumPooling {
		return a + b
	}
	return max(a, b)
}

// Cost returns the cost of combining two values of the given width.
func (p Pooling) Cost(width int) cost.Resources {
	if p == SumPooling {
		return cost.Adder(width)
	}
	return cost.Maximum(width)
}

// Delay returns the delay in nanoseconds of combining a value with the result so far in every clock. It is that of an
// adder, or of a comparison and a choice.
func (p Pooling) Delay() float64 {
	if p == SumPooling {
		return cost.CarriedDelay(1)
	}
	return cost.CarriedDelay(2)
}

// Field returns the field of the C++ that selects the operation.
func (p Pooling) Field() dataflow.Field {
	return dataflow.Field{Name: "sum", Doc: "add up, else take the maximum", Value: p == SumPooling}
}
