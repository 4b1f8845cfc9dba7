package layer

import (
	"fmt"

	"hlsgen/hlslib/cost"
	"hlsgen/internal/dataflow"
)

// Pooling is what one value is made of several by.
type Pooling string

// The ways.
const (
	Max Pooling = "max"
	Sum Pooling = "sum"
)

// Verify says what is wrong with p.
func (p Pooling) Verify() error {
	if p != Max && p != Sum {
		return fmt.Errorf("pooling by %.40q, want %q or %q", p, Max, Sum)
	}
	return nil
}

// PoolParams makes a layer that pools.
type PoolParams struct {
	Op Pooling `json:"op"`
}

// Verify says what is wrong with p whatever the inputs.
func (p PoolParams) Verify() error { return p.Op.Verify() }

// Of is n values of each channel of t pooled, as a frame of the shape.
func (p Pooling) Of(t dataflow.Type, n int, shape dataflow.Shape) (dataflow.Type, error) {
	if p == Sum {
		var err error
		if t, err = t.Sums(n); err != nil {
			return t, err
		}
	}
	t.Shape = shape
	return t, nil
}

// Join is both values pooled.
func (p Pooling) Join(a, b int64) int64 {
	if p == Sum {
		return a + b
	}
	return max(a, b)
}

// Joiner is what pools two values of so many bits.
func (p Pooling) Joiner(width int) cost.Resources {
	if p == Sum {
		return cost.Adder(width)
	}
	return cost.Maximum(width)
}

// Delay is that of a value which is joined every clock: an adder, or a comparison and a choice.
func (p Pooling) Delay() float64 {
	if p == Sum {
		return cost.CarriedDelay(1)
	}
	return cost.CarriedDelay(2)
}

// Field is the choice for the C++.
func (p Pooling) Field() dataflow.Field {
	return dataflow.Field{Name: "sum", Doc: "add up, else take the maximum", Value: p == Sum}
}
