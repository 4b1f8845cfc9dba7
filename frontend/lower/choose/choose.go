// Package choose decides which layer computes a function of integers. What comes in is a Function with all that a
// layer must know; what goes out is a Choice: the layers to make, not connected to anything. A single table
// decides: the first row that fits.
//
// Files: choose.go searches the table; table.go is the table; function.go has the functions; activation.go,
// matrix.go and join.go have the conditions of the rows. It may import layers, and the packages that describe
// these; it knows neither tensors nor streams.
//
// It sees graph, real, unmapped, whole, dataflow, diag, num, hlslib and mac of it.
package choose

import (
	"errors"

	"hlsgen/internal/dataflow"
)

// A Row is one way to compute a form of function. To add a layer for a form, add a row in front of those that it
// should replace.
type Row struct {
	Form  string // form of functions
	Layer string // kind of the layer; or Wire, or Fused
	Why   string // reason for the row and its position
	try   func(Function) (Choice, error)
}

// Values of Row.Layer if no layer is needed, and if the layer in front computes the function.
const (
	Wire  = "wire"
	Fused = "thresholds of the layer in front"
)

// errOther is a row's answer to a function that it does not support. Any other error states why its layer refuses.
var errOther = errors.New("choose: not of this row")

// A Choice is the result of Layer.
type Choice struct {
	Row   *Row
	Ops   []dataflow.Op // nil for a wire; each but the first takes the output of the one before, and the next input
	Front Front         // layer that the data need in front
	Waits *Product      // set if the layer may still take an activation; Ops is then empty

	refused func(error) error
}

// Wire reports whether the function changes nothing, so that no layer is needed.
func (c *Choice) Wire() bool { return c.Row.Layer == Wire }

// Fused reports whether the layer replaces the product behind which the function stands.
func (c *Choice) Fused() bool { return c.Row.Layer == Fused }

// Refused returns the reason for a layer that does not accept its inputs. err is the layer's error.
func (c *Choice) Refused(err error) error { return c.refused(err) }

// A Front brings data into the order of a layer.
type Front struct {
	Kind   FrontKind
	Groups int // groups of channels, for sliding windows
}

// A FrontKind is a kind of Front.
type FrontKind int

// The kinds: the data unchanged, a window that slides over pixels, or pixels at regular distances.
const (
	Direct FrontKind = iota
	Sliding
	Strided
)

// Layer chooses the layers for a function: those of the first row of the table that fits.
func Layer(f Function) (*Choice, error) { return from(Table, f) }

func from(table []Row, f Function) (*Choice, error) {
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

// row returns a row for functions of type F.
func row[F Function](layer, why string, try func(F) (Choice, error)) Row {
	var f F
	return Row{f.form(), layer, why, func(g Function) (Choice, error) { return try(g.(F)) }}
}

// elementwise returns a row for a layer that computes a step function per channel, one integer at a time. op
// returns false if the layer does not support the function.
func elementwise(layer, why string, op func(Activation) (dataflow.Op, bool)) Row {
	return row(layer, why, func(a Activation) (Choice, error) {
		op, ok := op(a)
		if !ok {
			return Choice{}, errOther
		}
		_, _, err := op.Bind([]dataflow.Type{a.In})
		return one(op), err
	})
}

func one(op dataflow.Op) Choice { return Choice{Ops: []dataflow.Op{op}} }
