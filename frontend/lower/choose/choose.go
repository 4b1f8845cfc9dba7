// Package choose says which layer computes a function of integers. What comes in is a Function, as far as a layer has
// to know it; what goes out is a Choice: the layers to make, not joined to anything. One table decides: the first row
// that fits.
//
// Files: choose.go reads the table; table.go is the table; function.go has the functions; activation.go, matrix.go and
// join.go what rows say of them. It may import layers, and what these are described with; it knows neither tensors nor
// streams.
//
// It sees graph, real, unmapped, whole, dataflow, diag, num, hlslib and mac of it.
package choose

import (
	"errors"

	"hlsgen/internal/dataflow"
)

// A Row is one way to compute a form of function. A new layer for one more form is one more row, in front of those that
// it is better than.
type Row struct {
	Form  string // of the functions
	Layer string // its kind; or Wire, or Fused
	Why   string // it stands where it stands
	try   func(Function) (Choice, error)
}

// What stands for a layer's kind where there is none, and where the layer is the one in front.
const (
	Wire  = "wire"
	Fused = "thresholds of the layer in front"
)

// errOther is a row's answer to a function that it has nothing for. Any other error says why its layer refuses.
var errOther = errors.New("choose: not of this row")

// A Choice is what computes a function.
type Choice struct {
	Row   *Row
	Ops   []dataflow.Op // none for a wire; each but the first takes what the one before makes, and the next input
	Front Front         // what stands between the data and the layer
	Waits *Product      // where the layer may still take an activation: Ops then is empty

	refused func(error) error
}

// Wire reports whether the integers are what is asked for as they are.
func (c *Choice) Wire() bool { return c.Row.Layer == Wire }

// Fused reports whether the layer takes the place of the product behind which the function stands.
func (c *Choice) Fused() bool { return c.Row.Layer == Fused }

// Refused is the reason of a layer that does not take its inputs: err is its own.
func (c *Choice) Refused(err error) error { return c.refused(err) }

// A Front is what brings data in the order of a layer.
type Front struct {
	Kind   FrontKind
	Groups int // of channels, where windows slide
}

// A FrontKind is a kind of Front.
type FrontKind int

// The kinds: the data as they are, a window that slides over pixels, or one pixel in so many.
const (
	Direct FrontKind = iota
	Sliding
	Strided
)

// Layer chooses what computes a function: the first row of the table that does.
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

// row is a row for functions of type F.
func row[F Function](layer, why string, try func(F) (Choice, error)) Row {
	var f F
	return Row{f.form(), layer, why, func(g Function) (Choice, error) { return try(g.(F)) }}
}

// elementwise is a row for a layer that computes a step function per channel, one integer at a time; op answers false
// where the function is none of the layer's.
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
