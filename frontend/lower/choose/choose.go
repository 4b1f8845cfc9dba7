// Package choose decides which layer computes a function of integers. What comes in is a Function with all that a
// layer must know; what goes out is a FunctionChoice: the layers to make, not connected to anything. A single table
// decides: the first row that fits.
//
// Files: choose.go searches the table; table.go is the table; function.go has the functions; activation.go,
// matrix.go and join.go have the conditions of the rows. It may import layers, and the packages that describe
// these; it knows neither tensors nor streams.
package choose

import (
	"errors"

	"hlsgen/internal/dataflow"
)

// A LayerRule is one row of LayerRules: a layer that computes functions of one form. To add a layer for a form, add a
// row in front of those that it should replace.
type LayerRule struct {
	Form  string // form of functions
	Layer string // kind of the layer; or LayerWire, or LayerFused
	Why   string // reason for the row and its position
	try   func(Function) (FunctionChoice, error)
}

// Values of LayerRule.Layer if no layer is needed, and if the layer in front computes the function.
const (
	LayerWire  = "wire"
	LayerFused = "thresholds of the layer in front"
)

// errOther is the error of a row that does not fit a function. Any other error of a row states why its layer refuses
// the function.
var errOther = errors.New("choose: not of this row")

// A FunctionChoice holds the layers that Layer chose for a function, and the row that chose them.
type FunctionChoice struct {
	Row   *LayerRule
	Ops   []dataflow.Op   // nil for a wire; each but the first takes the output of the one before, and the next input
	Front Arranger        // layer that the data need in front
	Waits *FusibleProduct // set if the layer may still take an activation; Ops is then empty

	refused func(error) error
}

// Wire reports whether the function changes nothing, so that no layer is needed.
func (c *FunctionChoice) Wire() bool { return c.Row.Layer == LayerWire }

// Fused reports whether the chosen layer also computes the product behind which the function stands, and so takes its
// place.
func (c *FunctionChoice) Fused() bool { return c.Row.Layer == LayerFused }

// Refused turns err, the error of a chosen layer that does not accept its inputs, into the reason for the user.
func (c *FunctionChoice) Refused(err error) error { return c.refused(err) }

// An Arranger names the layer that brings an image into the order that the next layer reads.
type Arranger struct {
	Kind   FrontKind
	Groups int // groups of channels, for sliding windows
}

// A FrontKind says how an Arranger arranges an image.
type FrontKind int

// The kinds: the data unchanged, a window that slides over pixels, or pixels at regular distances.
const (
	ArrangeDirect FrontKind = iota
	ArrangeSliding
	ArrangeStrided
)

// Layer chooses the layers for a function: those of the first row in LayerRules that fits. The error is the reason why
// none does.
func Layer(f Function) (*FunctionChoice, error) { return from(LayerRules, f) }

func from(table []LayerRule, f Function) (*FunctionChoice, error) {
	refusal := errOther
	for i := range table {
		if table[i].Form != f.form() {
			continue
		}
		c, err := table[i].try(f)
		if err == nil {
			c.Row, c.refused = &table[i], f.refused
			return &c, nil
		}
		if err != errOther {
			refusal = err
		}
	}
	return nil, f.refused(refusal)
}

// row returns a rule for functions of type F, computed by a layer kind. try makes the choice, or returns errOther if
// the rule does not fit.
func row[F Function](layer, why string, try func(F) (FunctionChoice, error)) LayerRule {
	var f F
	return LayerRule{f.form(), layer, why, func(g Function) (FunctionChoice, error) { return try(g.(F)) }}
}

// elementwise returns a rule for a layer that computes a step function per channel, one integer at a time. op returns
// false if the layer does not support the function.
func elementwise(layer, why string, op func(Activation) (dataflow.Op, bool)) LayerRule {
	return row(layer, why, func(a Activation) (FunctionChoice, error) {
		op, ok := op(a)
		if !ok {
			return FunctionChoice{}, errOther
		}
		_, _, err := op.Bind([]dataflow.StreamType{a.In})
		return one(op), err
	})
}

func one(op dataflow.Op) FunctionChoice { return FunctionChoice{Ops: []dataflow.Op{op}} }
