// Package stats counts what a model computes and stores, as the file has it. It counts products and bit operations
// (arXiv 2102.11289), zeros, and bits of weights and activations. It also computes the entropy of weights (arXiv
// 2301.13376) and of the states of layers (neural efficiency, arXiv 2102.11289). The counts do not depend on the
// hardware.
//
// In comes a program.Program, of one sample; out comes a Totals, whose layers are nodes of the file.
//
//   - stats.go defines the counts, and walks over the program; product.go counts one sum of products
//   - types.go finds the declared types of tensors; inferencecost.go returns qonnx's figures
//   - entropy.go computes the entropy of weights; states.go observes the states of layers for samples
package stats

import (
	"slices"

	"hlsgen/frontend/execution"
	"hlsgen/frontend/graph"
	"hlsgen/frontend/operators"
	"hlsgen/frontend/program"
	"hlsgen/internal/num"
)

// Counts holds the counts of a product, a layer or a network for one sample. For a layer in a loop they include all
// time steps.
type Counts struct {
	MACs int64 `json:"macs"` // products that are added up, including products with padding
	// products whose weight is not 0
	EffectiveMACs int64 `json:"effective_macs"`
	// bit operations: effective_macs * input bits * weight bits + macs * (input bits + weight bits + log2(terms))
	BOPs float64 `json:"bops"`
	// bit operations if products with a weight of 0 count as well
	DenseBOPs   float64 `json:"dense_bops"`
	Weights     int64   `json:"weights"` // number of weights
	ZeroWeights int64   `json:"zero_weights"`
	WeightBits  int64   `json:"weight_bits"` // memory of the weights, by their declared type
	InputBits   int64   `json:"input_bits"`  // memory of all data that are read, by their declared types
	OutputBits  int64   `json:"output_bits"` // memory of the output, in the type of the quantiser behind it
}

// add adds the counts o. It adds the counts of weights only if others is set.
func (c *Counts) add(o *Counts, others bool) {
	c.MACs += o.MACs
	c.EffectiveMACs += o.EffectiveMACs
	c.BOPs += o.BOPs
	c.DenseBOPs += o.DenseBOPs
	c.InputBits += o.InputBits
	c.OutputBits += o.OutputBits
	if others {
		c.Weights += o.Weights
		c.ZeroWeights += o.ZeroWeights
		c.WeightBits += o.WeightBits
	}
}

// Intensity returns the products per byte of memory traffic, if each weight, input and output moves once. It returns 0
// if nothing moves.
func (c *Counts) Intensity() float64 {
	bits := c.WeightBits + c.InputBits + c.OutputBits
	if bits == 0 {
		return 0
	}
	return float64(c.MACs) * 8 / float64(bits)
}

// A LayerStats is a layer: a node of the file that adds up products, such as a matrix, a convolution, or one direction
// of a recurrence. A node that adds, multiplies or compares data without weights is an Other.
type LayerStats struct {
	Index   int         `json:"index"` // index of the node in the file
	Node    string      `json:"node"`
	Op      string      `json:"op"`
	Kind    ProductKind `json:"kind"`
	Becomes string      `json:"becomes"`           // where the node is computed, as in hlsgen check
	Reverse bool        `json:"reverse,omitempty"` // goes through its sequence from the end
	Steps   int         `json:"steps"`             // time steps of its sequence; 1 without a sequence
	Output  []int       `json:"output_shape"`
	Type    string      `json:"output_type"` // type of the quantiser behind it, or the stored type without one
	Counts
	MACsPerStep int64    `json:"macs_per_step"`
	MACsPerByte float64  `json:"macs_per_byte"` // where each weight, input and output moves once
	Entropy     *Entropy `json:"entropy,omitempty"`
	States      *States  `json:"states,omitempty"` // only with data

	Products []ProductStats `json:"products"` // one product; in a recurrence, one per product in its body

	watch watch
	mean  mean // mean of the entropies of its products' weights
}

// A ProductKind is the kind of a layer's products.
type ProductKind string

// The kinds.
const (
	Dense       ProductKind = "dense"
	Convolution ProductKind = "convolution"
	Grouped     ProductKind = "grouped"   // a convolution in groups of channels
	Depthwise   ProductKind = "depthwise" // a convolution with one channel per group
	Recurrent   ProductKind = "recurrent"
	DataByData  ProductKind = "data" // products of data with data
)

// An Other is a node that computes without weights. Its operations do not count as MACs.
type Other struct {
	Index   int    `json:"index"`
	Node    string `json:"node"`
	Op      string `json:"op"`
	Becomes string `json:"becomes"`
	// additions and products of data with data, element by element, and terms of sums over windows or axes
	Operations int64 `json:"operations"`
}

// A Totals holds what Count counts in a model, for one sample: its layers, its other nodes and their sums.
type Totals struct {
	Layers  []*LayerStats
	Others  []*Other
	Total   Counts // a tensor of weights that several layers share counts once
	Entropy *Entropy
}

// Count returns the counts of a program for a single sample; it would take an axis of samples for any other. carried,
// which may be nil, has types of tensors on streams of the hardware, for those whose type the model does not declare.
func Count(p *program.Program, carried map[string]num.Type) *Totals {
	c := &counter{scope: scopeOf(p, nil, nil), n: &Totals{Layers: []*LayerStats{}, Others: []*Other{}},
		tensors: map[weights]bool{}}
	c.carried = carried
	used := c.used()
	seen := map[*program.Recur]bool{}
	for _, s := range p.Steps {
		switch {
		case !used[s.Node.Index] || p.IsInexactConstant(s.Output) || s.Recur != nil && seen[s.Recur]:
		case s.Recur != nil:
			seen[s.Recur] = true
			c.loop(s)
		case s.Dot != nil && !c.sums(s):
			c.layer(s)
		default:
			c.other(c.scope, s, s.Node, 1)
		}
	}
	c.n.Entropy = c.all.entropy()
	return c.n
}

// A counter walks over a program.
type counter struct {
	*scope
	n       *Totals
	tensors map[weights]bool // tensors of weights that have been counted
	all     mean             // mean of their entropies
}

// used returns the indices of the nodes on which outputs depend.
func (c *counter) used() map[int]bool {
	used := map[int]bool{}
	part, err := execution.NewPart(c.scope.Program, graph.Names(c.Graph.Inputs), graph.Names(c.Graph.Outputs))
	if err != nil {
		panic(err) // cannot happen, since all inputs are given
	}
	for _, n := range part.Nodes() {
		for _, index := range n.Indices() {
			used[index] = true
		}
	}
	return used
}

// layer counts a sum of products outside of loops.
func (c *counter) layer(s *program.Step) {
	p := c.product(s, 1)
	l := c.begin(s, p.kind, 1)
	l.add(c, p)
	for _, slot := range p.data {
		l.InputBits += c.bits(s.Node.Inputs[slot])
	}
	out := c.behind(s)
	l.Output, l.Type, l.OutputBits = s.Shape, c.declared(out).Name, c.bits(out)
	l.watch = watch{tensor: out, axis: p.channels}
	c.end(l)
}

// loop counts a recurrence: the products of its body in every time step, and its other computations.
func (c *counter) loop(s *program.Step) {
	r := s.Recur
	body := scopeOf(r.Body, c.scope, s)
	var products []*product
	for _, b := range r.Body.Steps {
		switch {
		case r.Body.IsInexactConstant(b.Output):
		case b.Dot != nil && !body.sums(b):
			products = append(products, body.product(b, r.Length))
		default:
			c.other(body, b, s.Node, int64(r.Length))
		}
	}
	if len(products) == 0 {
		return
	}
	l := c.begin(s, Recurrent, r.Length)
	for _, p := range products {
		l.add(c, p)
	}
	for k, in := range s.Node.Inputs[r.States:] {
		if c.Known[in].Const == nil {
			l.InputBits += c.bits(in)
		}
		l.Reverse = l.Reverse || r.Scanned[k].Reverse
	}
	out := c.sequence(s)
	l.Output, l.Type, l.OutputBits = out.Shape, c.declared(out.Output).Name, c.bits(out.Output)
	l.watch = watch{tensor: out.Output, axis: -1, steps: true}
	if out.Result >= r.States {
		l.watch.axis = r.Gathered[out.Result-r.States].Axis
	}
	c.end(l)
}

// sequence returns the output of a loop that represents it: the first output that collects the results of every
// time step, or else the first output.
func (c *counter) sequence(s *program.Step) *program.Step {
	best := s
	for _, o := range c.Steps {
		if o.Recur == s.Recur && o.Result >= s.Recur.States && best.Result < s.Recur.States &&
			(len(c.Readers(o.Output)) > 0 || c.given(o.Output)) {
			best = o
		}
	}
	return best
}

func (c *counter) begin(s *program.Step, kind ProductKind, steps int) *LayerStats {
	file := c.Origin(s.Node)
	return &LayerStats{Index: file.Index, Node: file.Label(), Op: file.FullOp(), Kind: kind, Steps: steps}
}

// add adds a product to a layer.
func (l *LayerStats) add(c *counter, p *product) {
	others := p.weights != nil && !c.tensors[*p.weights]
	l.Products = append(l.Products, p.ProductStats)
	l.Counts.add(&p.Counts, true)
	if others {
		c.tensors[*p.weights] = true
		c.all.add(p.entropy, p.Weights)
		c.n.Total.Weights += p.Weights
		c.n.Total.ZeroWeights += p.ZeroWeights
		c.n.Total.WeightBits += p.WeightBits
	}
	l.mean.add(p.entropy, p.Weights)
}

// end adds a layer to the network.
func (c *counter) end(l *LayerStats) {
	l.MACsPerStep, l.MACsPerByte = l.MACs/int64(l.Steps), l.Intensity()
	l.Entropy = l.mean.entropy()
	c.n.Total.add(&l.Counts, false)
	c.n.Layers = append(c.n.Layers, l)
}

// other counts the operations of a step element by element. It counts none for a step that moves elements or
// computes a function of one element.
func (c *counter) other(at *scope, s *program.Step, of *graph.Node, steps int64) {
	ops := int64(0)
	switch {
	case s.Elem != nil && len(at.data(s)) > 1:
		ops = int64(len(at.data(s))-1) * int64(graph.Size(s.Shape))
	case s.Dot != nil:
		ops = int64(s.Dot.K) * int64(graph.Size(s.Shape))
	default:
		return
	}
	file := c.Origin(of)
	i := slices.IndexFunc(c.n.Others, func(o *Other) bool { return o.Index == file.Index })
	if i < 0 {
		i = len(c.n.Others)
		c.n.Others = append(c.n.Others, &Other{Index: file.Index, Node: file.Label(), Op: file.FullOp()})
	}
	c.n.Others[i].Operations += ops * steps
}

// given reports whether a tensor is an output of the model.
func (c *counter) given(name string) bool { return slices.Contains(graph.Names(c.Graph.Outputs), name) }

// bits returns the memory of a tensor in bits.
func (s *scope) bits(name string) int64 {
	return int64(graph.Size(s.Known[name].Shape)) * int64(s.declared(name).Bits)
}

// behind returns the tensor that represents a layer's output. That is the output of the quantiser behind its sums,
// if only functions of single elements lie in between and nothing else reads them. Otherwise it is the output of
// the last such function. If a quantiser returns integers, it is the tensor of their real values.
func (c *counter) behind(s *program.Step) string {
	name, quantised := s.Output, false
	for {
		if quantised && c.Known[name].DType.Float() || c.given(name) {
			return name
		}
		readers := c.Readers(name)
		if len(readers) == 0 || len(readers) > 1 && !quantised {
			return name
		}
		next := readers[0]
		if next.Elem == nil || len(c.data(next)) != 1 || !slices.Equal(next.Shape, s.Shape) || next.Window != nil {
			return name
		}
		name = next.Output
		quantised = quantised || c.codes(next)
	}
}

// codes reports whether a step is a quantiser.
func (s *scope) codes(step *program.Step) bool {
	_, ok := s.quantised(step.Node)
	return ok || operators.Has(step.Node, operators.TraitMinifloatQuantiser)
}
