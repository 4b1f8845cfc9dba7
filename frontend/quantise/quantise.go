// Package quantise quantises a trained network. It finds the places of quantisers in a graph, records the values that
// samples have there, and writes the graph with new quantisers. The result is used like any other model.
//
// In come programs and samples; out come graphs, as values to be written to a file.
//
//   - quantise.go has recipes, which say how to quantise a graph, and NewQuantisableNetwork, which finds the places
//   - format.go has formats of numbers; rule.go chooses scales for values; ball.go keeps accumulators narrow
//   - spot.go finds the places of a graph's own quantisers, insert.go those that lack one, cell.go those in bodies of
//     loops; transform.go finds transforms that stay on the host, lookup.go lookups of rows of tables,
//     normal.go normalisations by statistics
//   - linear.go reads QuantizeLinear and DequantizeLinear
//   - calibrate.go runs samples and records the values of each place
//   - rewrite.go writes the graph; loop.go aligns the scales in recurrences; equalise.go finds scales of channels
//   - hard.go names the layers that are hard to quantise
package quantise

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/program"
)

// A Recipe says how a network is quantised.
type Recipe struct {
	Weights, Activations QuantFormat
	Scales               ScaleRule
	// AccBits, if not 0, is the width in bits that the accumulator of every output channel must fit. The weights of a
	// channel then get the mean 0 and a small enough l1 norm (A2Q+, arXiv 2401.10432).
	AccBits int
	// Equalise gives channels their own scales where that costs no layer anything (see equalisation). CorrectBias adds
	// to sums the mean error that the rounding of weights causes.
	Equalise, CorrectBias bool
	// Least asks for the fewest bits, layer by layer, with which enough samples keep their class. A search finds the
	// format of each layer.
	Least bool
	mix   *MixedBits // individual formats; nil if all have the formats above
}

// A MixedBits holds the number of bits of each quantiser of activations and of each tensor of weights, in the order of
// a QuantisableNetwork.
type MixedBits struct{ Activations, Weights []int }

// WithMixedBits returns the recipe with the numbers of bits in m in place of those for all quantisers.
func (r Recipe) WithMixedBits(m MixedBits) Recipe {
	r.mix = &m
	return r
}

// spot returns the recipe for the i-th place of activations, with the number of bits that a mix gives that place.
func (r Recipe) spot(i int) Recipe {
	if r.mix != nil {
		r.Activations = QuantFormat{Bits: r.mix.Activations[i]}
	}
	return r
}

func (r Recipe) weight(i int) Recipe {
	if r.mix != nil {
		r.Weights = QuantFormat{Bits: r.mix.Weights[i]}
	}
	return r
}

// String returns the name of the recipe, such as w4a8 or w4a4p12.
func (r Recipe) String() string {
	if r.Least {
		return LeastBitsRecipeName
	}
	s := "w" + r.Weights.String() + "a" + r.Activations.String()
	if r.AccBits > 0 {
		s += fmt.Sprintf("p%d", r.AccBits)
	}
	return s
}

// DescribeWithOptions returns the name of the recipe, followed by its options in words.
func (r Recipe) DescribeWithOptions() string {
	s := r.String()
	if r.Equalise {
		s += ", equalised"
	}
	if r.CorrectBias {
		s += ", biases corrected"
	}
	return s
}

// LeastBitsRecipeName is the name of the recipe whose formats are found by a search.
const LeastBitsRecipeName = "least"

// ParseRecipe parses the name of a recipe, such as w4a8, w4a4p12 or least. It returns an error for another form, for
// formats that are not supported, and for an AccBits that does not go with them.
func ParseRecipe(s string) (r Recipe, err error) {
	if s == LeastBitsRecipeName {
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
	if r.Weights, err = parseQuantFormat(w); err == nil {
		r.Activations, err = parseQuantFormat(a)
	}
	return r, errors.Join(err, r.checkConsistency())
}

// These bounds apply to the width of accumulators in a recipe.
const (
	minAccBits = 4
	maxAccBits = 48
)

// checkConsistency returns an error if the parts of a recipe contradict each other.
func (r Recipe) checkConsistency() error {
	switch p := r.AccBits; {
	case p == 0:
	case p < minAccBits || p > maxAccBits:
		return fmt.Errorf("accumulators of %d bits: want %d to %d", p, minAccBits, maxAccBits)
	case r.Weights.Bits == 0 || r.Activations.Bits == 0:
		return fmt.Errorf("accumulators of %d bits need integers: %s and %s are not both integers", p, r.Weights,
			r.Activations)
	}
	return nil
}

// A QuantisableNetwork is a graph whose places of quantisers and tensors of weights are known, so that
// BuildQuantisedGraph can quantise it by any recipe.
type QuantisableNetwork struct {
	prog    *program.Program
	scopes  []*scope // the graph, and then the bodies of its loops in order
	spots   []*spot
	weights []*weight
	replace bool
	lookup  LookupPlace

	transforms []*graph.Node // products that stay on the host
	runs       int           // the number of recorded runs
}

// A RefusalError says why a graph cannot be quantised: at which node, what is wrong, and what to do.
type RefusalError struct {
	Node      *graph.Node
	Msg, Hint string
}

func (e *RefusalError) Error() string {
	return fmt.Sprintf("%s %q: %s", e.Node.QualifiedOpName(), e.Node.Label(), e.Msg)
}

func refuse(n *graph.Node, hint, format string, args ...any) error {
	return &RefusalError{n, fmt.Sprintf(format, args...), hint}
}

// NewQuantisableNetwork returns the network of p's graph, with the places of quantisers. With replace, the quantisers
// of the graph and of loops' bodies get other formats; otherwise they stay. Places that lack a quantiser get one.
// lookup says where rows of tables are looked up. The error is a *RefusalError.
func NewQuantisableNetwork(p *program.Program, replace bool, lookup LookupPlace) (*QuantisableNetwork, error) {
	n := &QuantisableNetwork{prog: p, replace: replace, lookup: lookup}
	n.scopes = scopesOf(p)
	for _, s := range n.scopes {
		if err := n.survey(s); err != nil {
			return nil, err
		}
	}
	n.insert()
	n.joinLoops()
	n.findEqualisations()
	return n, nil
}

// HostInputTransforms returns the nodes of products that stay on the host, because they are fixed transforms of the
// inputs, such as a Fourier transform.
func (n *QuantisableNetwork) HostInputTransforms() []*graph.Node { return n.transforms }

// HasNoQuantisers reports whether the graph has no quantisers of activations, and none of weights that gives integers
// around 0.
func (n *QuantisableNetwork) HasNoQuantisers() bool {
	return !slices.ContainsFunc(n.spots, func(p *spot) bool { return p.node != nil }) &&
		!slices.ContainsFunc(n.weights, func(w *weight) bool { return w.had != QuantFormat{} })
}

// A MixedBitsTarget is a thing for which a MixedBits holds a number of bits: the activations in front of a node, or its
// weights.
type MixedBitsTarget struct {
	Node    string
	Weights bool
	Stays   bool // the bits of a MixedBits do not apply to it
	Size    int  // the number of weights
}

// MixedBitsTargets returns the activations and the weights of the network for which a MixedBits holds bits, both in the
// order of the MixedBits.
func (n *QuantisableNetwork) MixedBitsTargets() (activations, weights []MixedBitsTarget) {
	for _, p := range n.spots {
		activations = append(activations, MixedBitsTarget{Node: p.label, Stays: p.stays || p.grid > 0})
	}
	for _, w := range n.weights {
		weights = append(weights, MixedBitsTarget{w.node.Label(), true, w.stays || w.grid > 0, w.tensor.Len()})
	}
	return activations, weights
}
