package layer

import (
	"fmt"

	"hlsgen/hlslib/price/cost"
	"hlsgen/internal/dataflow"
)

// Pooling is an operation that combines several values into one.
type Pooling string

// The operations of pooling.
const (
	MaxPooling Pooling = "max"
	SumPooling Pooling = "sum"
)

// Verify reports whether p is a known operation.
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

// Verify reports what is wrong with the parameters, whatever the inputs are.
func (p PoolParams) Verify() error { return p.Op.Verify() }

// OutputType returns the type of t after pooling n values of each channel, with the given shape.
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

// Pool pools two values.
func (p Pooling) Pool(a, b int64) int64 {
	if p == SumPooling {
		return a + b
	}
	return max(a, b)
}

// Cost returns the cost of pooling two values of the given width.
func (p Pooling) Cost(width int) cost.Resources {
	if p == SumPooling {
		return cost.Adder(width)
	}
	return cost.Maximum(width)
}

// Delay returns the delay of pooling a value in every clock, in nanoseconds: an adder, or a comparison and a choice.
func (p Pooling) Delay() float64 {
	if p == SumPooling {
		return cost.CarriedDelay(1)
	}
	return cost.CarriedDelay(2)
}

// Field returns the config field that selects the operation in the C++.
func (p Pooling) Field() dataflow.Field {
	return dataflow.Field{Name: "sum", Doc: "add up, else take the maximum", Value: p == SumPooling}
}
