// Package choose decides which layer computes a function of integers. What comes in is an IntegerFunction with all that
// a layer must know; what goes out is a LayerChoice: the layers to make, not connected to anything. A single table
// decides: the first row that fits.
//
// Files: choose.go searches the table; table.go is the table; function.go has the functions; lines.go has
// the parameters of functions that are lines with many steps; activation.go,
// matrix.go and join.go have the conditions of the rows. It may import layers, and the packages that describe
// these; it knows neither tensors nor streams.
package choose

import (
	"errors"

	"hlsgen/internal/dataflow"
)

// A LayerRule is one row of layerRules: a layer that computes functions of one form. To add a layer for a form, add a
// row in front of those that it should replace.
type LayerRule struct {
	Form  string // form of functions
	Layer string // kind of the layer; or LayerNameWire, or LayerNameFused
	Why   string // reason for the row and its position
	try   func(IntegerFunction) (LayerChoice, error)
}

// Special values of LayerRule.Layer. With LayerNameWire no layer is needed; with LayerNameFused the layer in front
// computes the function as well.
const (
	LayerNameWire  = "wire"
	LayerNameFused = "thresholds of the layer in front"
)

// errOther is the error with which a LayerRule tells that it does not fit a function. Any other error of a rule states
// why its layer refuses the function.
var errOther = errors.New("choose: not of this row")

// A LayerChoice holds the layers that ChooseLayersForFunction chose to compute an IntegerFunction, and the rule that
// chose them.
type LayerChoice struct {
	Row   *LayerRule
	Ops   []dataflow.Op            // nil for a wire; each but the first takes the previous output and the next input
	Front InputArranger            // layer that the data need in front
	Waits *ProductBeforeActivation // set if the layer may still take over the activation behind it; Ops is then empty

	refused func(error) error
}

// IsWire reports whether the function changes nothing, so that no layer is needed.
func (c *LayerChoice) IsWire() bool { return c.Row.Layer == LayerNameWire }

// IsFused reports whether the chosen layer also computes the product behind which the function stands, and so takes its
// place.
func (c *LayerChoice) IsFused() bool { return c.Row.Layer == LayerNameFused }

// RefusalReason returns the reason to show to the user if a chosen layer does not accept its inputs. err is that
// layer's error.
func (c *LayerChoice) RefusalReason(err error) error { return c.refused(err) }

// An InputArranger names the layer that brings an image into the order that the next layer reads.
type InputArranger struct {
	Kind   ArrangerKind
	Groups int // groups of channels, for sliding windows
}

// An ArrangerKind says how an InputArranger arranges an image.
type ArrangerKind int

// The kinds of arrangers: the data unchanged, a window that slides over pixels, or pixels at regular distances.
const (
	ArrangerKindDirect ArrangerKind = iota
	ArrangerKindSliding
	ArrangerKindStrided
)

// ChooseLayersForFunction returns the layers for a function, as chosen by the first rule in layerRules that fits and
// whose layer accepts the function. The error is the refusal of the last such layer, or says that no rule fits.
func ChooseLayersForFunction(f IntegerFunction) (*LayerChoice, error) { return from(layerRules, f) }

func from(table []LayerRule, f IntegerFunction) (*LayerChoice, error) {
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

// row returns a rule by which a kind of layer computes functions of type F. try makes the choice, or returns errOther
// if the rule does not fit.
func row[F IntegerFunction](layer, why string, try func(F) (LayerChoice, error)) LayerRule {
	var f F
	return LayerRule{f.form(), layer, why, func(g IntegerFunction) (LayerChoice, error) { return try(g.(F)) }}
}

// elementwise returns a rule for a kind of layer that computes a step function per channel, one integer at a time. op
// returns that layer, or false if it does not support the function.
func elementwise(layer, why string, op func(StepActivation) (dataflow.Op, bool)) LayerRule {
	return row(layer, why, func(a StepActivation) (LayerChoice, error) {
		op, ok := op(a)
		if !ok {
			return LayerChoice{}, errOther
		}
		_, _, err := op.Bind([]dataflow.StreamType{a.In})
		return one(op), err
	})
}

func one(op dataflow.Op) LayerChoice { return LayerChoice{Ops: []dataflow.Op{op}} }
