// Package quantise quantises a network after its training: it takes a graph, finds what there is to be quantised, looks
// at the values that data have there, and writes the graph with other quantisers. Everything behind reads the result
// like any other model.
//
// In come programs and samples; out come graphs, as values to be written to a file. It sees float, graph, real,
// num and diag.
//
//   - quantise.go is the short story: what a graph is asked to become, and Observe, which runs samples
//   - format.go has formats of numbers; rule.go chooses scales for values; ball.go keeps accumulators narrow
//   - spot.go finds the places of quantisers in a graph, insert.go those that lack one, cell.go in the bodies of
//     loops; transform.go knows transforms that stay on the host, lookup.go where rows of tables are looked up,
//     normal.go what is divided by its own statistics
//   - linear.go reads QuantizeLinear and DequantizeLinear
//   - calibrate.go runs samples and keeps the values of each place
//   - rewrite.go writes the graph, loop.go finds the steps of recurrences, equalise.go the scales of channels
//   - hard.go names what is hard to quantise
package quantise

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"hlsgen/frontend/graph"
)

// A Recipe is what a network is to become.
type Recipe struct {
	Weights, Activations Format
	Scales               Rule
	// not 0: the bits that the accumulator of every output channel is to fit: weights of a channel have the mean 0, and
	// an l1 norm that leaves them no other (A2Q+, arXiv 2401.10432)
	AccBits int
	// whether channels have scales of their own where that costs no layer anything (evening), and whether sums get back
	// what the rounding of weights takes off their means
	Equalise, CorrectBias bool
	// the fewest bits, layer by layer, with which enough samples keep their class: a search finds the formats of each
	Least bool
	mix   *Mix // the formats of each; nil: all have those above
}

// A Mix is the bits of the quantisers of activations, and of the tensors of weights, each in the order of a Network.
type Mix struct{ Activations, Weights []int }

// By is a recipe with the bits of a mix.
func (r Recipe) By(m Mix) Recipe {
	r.mix = &m
	return r
}

// spot is the recipe of a place, and weight that of weights, by their order.
func (r Recipe) spot(i int) Recipe {
	if r.mix != nil {
		r.Activations = Format{Bits: r.mix.Activations[i]}
	}
	return r
}

func (r Recipe) weight(i int) Recipe {
	if r.mix != nil {
		r.Weights = Format{Bits: r.mix.Weights[i]}
	}
	return r
}

// String is the name of a recipe, such as w4a8 or w4a4p12.
func (r Recipe) String() string {
	if r.Least {
		return Least
	}
	s := "w" + r.Weights.String() + "a" + r.Activations.String()
	if r.AccBits > 0 {
		s += fmt.Sprintf("p%d", r.AccBits)
	}
	return s
}

// Whole is the name of a recipe, with how it comes to its numbers.
func (r Recipe) Whole() string {
	s := r.String()
	if r.Equalise {
		s += ", equalised"
	}
	if r.CorrectBias {
		s += ", biases corrected"
	}
	return s
}

// Least is the name of the recipe whose formats are searched.
const Least = "least"

// ParseRecipe reads the name of a recipe.
func ParseRecipe(s string) (r Recipe, err error) {
	if s == Least {
		return Recipe{Least: true}, nil
	}
	malformed := fmt.Errorf("%.40q is not of the form w8a8, w4a8, we4m3ae5m2 or w4a4p12", s)
	rest, ok := strings.CutPrefix(s, "w")
	w, a, ok2 := strings.Cut(rest, "a")
	if !ok || !ok2 {
		return r, malformed
	}
	if a, bits, has := strings.Cut(a, "p"); has {
		if _, err := fmt.Sscanf(bits, "%d", &r.AccBits); err != nil || fmt.Sprint(r.AccBits) != bits {
			return r, malformed
		}
		return r.with(w, a)
	}
	return r.with(w, a)
}

func (r Recipe) with(w, a string) (_ Recipe, err error) {
	if r.Weights, err = ParseFormat(w); err == nil {
		r.Activations, err = ParseFormat(a)
	}
	return r, errors.Join(err, r.Check())
}

// The bits that accumulators may be asked to fit.
const (
	minAccBits = 4
	maxAccBits = 48
)

// Check says what a recipe cannot be.
func (r Recipe) Check() error {
	switch p := r.AccBits; {
	case p == 0:
	case p < minAccBits || p > maxAccBits:
		return fmt.Errorf("accumulators of %d bits: want %d to %d", p, minAccBits, maxAccBits)
	case r.Weights.Bits == 0 || r.Activations.Bits == 0:
		return fmt.Errorf("accumulators of %d bits are asked for integers: %s and %s are none", p, r.Weights,
			r.Activations)
	}
	return nil
}

// A Network is a graph whose places of quantisers are known.
type Network struct {
	prog    *graph.Program
	scopes  []*scope // the graph, then the bodies of its loops in order
	spots   []*spot
	weights []*weight
	replace bool
	lookup  LookupAt

	transforms []*graph.Node // products that stay on the host
	runs       int           // that were observed
}

// A Refusal is why a graph cannot be quantised: a node, what is wrong with it, and what to do.
type Refusal struct {
	Node      *graph.Node
	Msg, Hint string
}

func (e *Refusal) Error() string {
	return fmt.Sprintf("%s %q: %s", e.Node.FullOp(), e.Node.Label(), e.Msg)
}

func refuse(n *graph.Node, hint, format string, args ...any) error {
	return &Refusal{n, fmt.Sprintf(format, args...), hint}
}

// Find finds the places of quantisers. With replace, those that the graph has are to take other formats, in the bodies
// of loops, too; without, they stay. What lacks one gets it. Rows of tables are looked up at a place. The error is a
// *Refusal.
func Find(p *graph.Program, replace bool, lookup LookupAt) (*Network, error) {
	n := &Network{prog: p, replace: replace, lookup: lookup}
	n.scopes = scopesOf(p)
	for _, s := range n.scopes {
		if err := n.survey(s); err != nil {
			return nil, err
		}
	}
	n.insert()
	n.joinLoops()
	n.evenings()
	return n, nil
}

// Transforms lists the products that stay on the host: fixed transforms of what arrives.
func (n *Network) Transforms() []*graph.Node { return n.transforms }

// Bare reports whether the graph has no quantisers.
func (n *Network) Bare() bool {
	return !slices.ContainsFunc(n.spots, func(p *spot) bool { return p.node != nil }) &&
		!slices.ContainsFunc(n.weights, func(w *weight) bool { return w.had != Format{} })
}

// A Part is what a mix has bits of: activations in front of a node, or its weights.
type Part struct {
	Node    string
	Weights bool
	Stays   bool // whatever the mix
	Size    int  // elements, of weights
}

// Parts lists what a mix has bits of, activations first, in the order of both.
func (n *Network) Parts() (activations, weights []Part) {
	for _, p := range n.spots {
		activations = append(activations, Part{Node: p.label, Stays: p.stays || p.grid > 0})
	}
	for _, w := range n.weights {
		weights = append(weights, Part{w.node.Label(), true, w.stays || w.grid > 0, w.tensor.Len()})
	}
	return activations, weights
}
