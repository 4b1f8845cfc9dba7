// Package stats counts what a model computes and stores, as the file has it. It counts products and bit operations
// (arXiv 2102.11289), zeros, and bits of weights and activations. It also computes the entropy of weights (arXiv
// 2301.13376) and of the states of layers (neural efficiency, arXiv 2102.11289). The counts do not depend on the
// hardware.
//
// In comes a program.Program, of one sample; out comes a ModelStats, whose layers are nodes of the file.
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

// OperationCounts holds the counts of a product, a layer or a network for one sample. For a layer in a loop they
// include all time steps.
type OperationCounts struct {
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

// add adds the counts o to c. It adds the counts of weights only if others is set.
func (c *OperationCounts) add(o *OperationCounts, others bool) {
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

// ProductsPerByte returns the number of products per byte of memory traffic, if each weight, input and output moves
// once. It returns 0 if nothing moves.
func (c *OperationCounts) ProductsPerByte() float64 {
	bits := c.WeightBits + c.InputBits + c.OutputBits
	if bits == 0 {
		return 0
	}
	return float64(c.MACs) * 8 / float64(bits)
}

// A LayerStats holds the counts of a layer: a node of the file that adds up products, such as a matrix product, a
// convolution or one direction of a recurrence. A node that adds, multiplies or compares data without weights has a
// WeightlessNodeStats instead.
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
	OperationCounts
	MACsPerStep int64             `json:"macs_per_step"`
	MACsPerByte float64           `json:"macs_per_byte"` // where each weight, input and output moves once
	Entropy     *WeightEntropy    `json:"entropy,omitempty"`
	States      *NeuronStateStats `json:"states,omitempty"` // only with data

	Products []ProductStats `json:"products"` // one product; in a recurrence, one per product in its body

	watch watch
	mean  mean // mean of the entropies of its products' weights
}

// A ProductKind is the kind of a layer's products.
type ProductKind string

// These are the kinds of products.
const (
	ProductKindDense       ProductKind = "dense"
	ProductKindConvolution ProductKind = "convolution"
	ProductKindGrouped     ProductKind = "grouped"   // a convolution in groups of channels
	ProductKindDepthwise   ProductKind = "depthwise" // a convolution with one channel per group
	ProductKindRecurrent   ProductKind = "recurrent"
	ProductKindDataByData  ProductKind = "data" // products of data with data
)

// A WeightlessNodeStats holds the counts of a node that computes without weights. Its operations do not count as MACs.
type WeightlessNodeStats struct {
	Index   int    `json:"index"`
	Node    string `json:"node"`
	Op      string `json:"op"`
	Becomes string `json:"becomes"`
	// additions and products of data with data, element by element, and terms of sums over windows or axes
	Operations int64 `json:"operations"`
}

// A ModelStats holds what ModelStatsOfProgram counts in a model, for one sample: its layers, its other nodes and their
// sums.
type ModelStats struct {
	Layers  []*LayerStats
	Others  []*WeightlessNodeStats
	Total   OperationCounts // a tensor of weights that several layers share counts once
	Entropy *WeightEntropy
}

// ModelStatsOfProgram returns the counts of a program for a single sample; it cannot tell an axis of samples from any
// other. Nodes on which no output depends do not count. carried, which may be nil, holds the types of tensors on
// streams of the hardware. They apply where the model declares no type. It sets neither Becomes nor States.
func ModelStatsOfProgram(p *program.Program, carried map[string]num.Type) *ModelStats {
	c := &counter{scope: scopeOf(p, nil, nil), n: &ModelStats{Layers: []*LayerStats{},
		Others: []*WeightlessNodeStats{}},
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

// A counter walks over a program and counts what it computes.
type counter struct {
	*scope
	n       *ModelStats
	tensors map[weights]bool // tensors of weights that have been counted
	all     mean             // mean of their entropies
}

// used returns the indices of the nodes on which outputs of the model depend.
func (c *counter) used() map[int]bool {
	used := map[int]bool{}
	part, err := execution.NewProgramPart(c.scope.Program, graph.ValueNames(c.Graph.Inputs),
		graph.ValueNames(c.Graph.Outputs))
	if err != nil {
		panic(err) // cannot happen, since all inputs are given
	}
	for _, n := range part.Nodes() {
		for _, index := range n.FileNodeIndices() {
			used[index] = true
		}
	}
	return used
}

// layer counts the sum of products that step s computes outside of loops.
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

// loop counts a recurrence: the products of its body in every time step, and its other computations. Without products
// it adds no layer.
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
	l := c.begin(s, ProductKindRecurrent, r.Length)
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

// sequence returns the step for that output of a loop which represents it. That is the first output that collects the
// results of every time step and is used, or else the output of s.
func (c *counter) sequence(s *program.Step) *program.Step {
	best := s
	for _, o := range c.Steps {
		if o.Recur == s.Recur && o.Result >= s.Recur.States && best.Result < s.Recur.States &&
			(len(c.ReadersOf(o.Output)) > 0 || c.given(o.Output)) {
			best = o
		}
	}
	return best
}

func (c *counter) begin(s *program.Step, kind ProductKind, steps int) *LayerStats {
	file := c.OriginOf(s.Node)
	return &LayerStats{Index: file.Index, Node: file.Label(), Op: file.QualifiedOpName(), Kind: kind, Steps: steps}
}

// add adds a product to a layer. It adds the product's weights to the network's total unless they count there already.
func (l *LayerStats) add(c *counter, p *product) {
	others := p.weights != nil && !c.tensors[*p.weights]
	l.Products = append(l.Products, p.ProductStats)
	l.OperationCounts.add(&p.OperationCounts, true)
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
	l.MACsPerStep, l.MACsPerByte = l.MACs/int64(l.Steps), l.ProductsPerByte()
	l.Entropy = l.mean.entropy()
	c.n.Total.add(&l.OperationCounts, false)
	c.n.Layers = append(c.n.Layers, l)
}

// other counts the operations of a step that computes element by element without weights. It counts none for a step
// that moves elements or computes a function of one element.
func (c *counter) other(at *scope, s *program.Step, of *graph.Node, steps int64) {
	ops := int64(0)
	switch {
	case s.Elem != nil && len(at.data(s)) > 1:
		ops = int64(len(at.data(s))-1) * int64(graph.ElementCount(s.Shape))
	case s.Dot != nil:
		ops = int64(s.Dot.K) * int64(graph.ElementCount(s.Shape))
	default:
		return
	}
	file := c.OriginOf(of)
	i := slices.IndexFunc(c.n.Others, func(o *WeightlessNodeStats) bool { return o.Index == file.Index })
	if i < 0 {
		i = len(c.n.Others)
		c.n.Others = append(c.n.Others, &WeightlessNodeStats{Index: file.Index, Node: file.Label(),
			Op: file.QualifiedOpName()})
	}
	c.n.Others[i].Operations += ops * steps
}

// given reports whether a tensor is an output of the model.
func (c *counter) given(name string) bool {
	return slices.Contains(graph.ValueNames(c.Graph.Outputs), name)
}

// bits returns the memory of a tensor, in bits of its declared type.
func (s *scope) bits(name string) int64 {
	return int64(graph.ElementCount(s.Known[name].Shape)) * int64(s.declared(name).Bits)
}

// behind returns the tensor that represents the output of a layer, whose sums step s computes. That is the output of
// the quantiser behind the sums, if only functions of single elements lie in between and nothing else reads them.
// Otherwise it is the output of the last such function. If a quantiser returns integers, it is the tensor of their real
// values.
func (c *counter) behind(s *program.Step) string {
	name, quantised := s.Output, false
	for {
		if quantised && c.Known[name].DType.IsReal() || c.given(name) {
			return name
		}
		readers := c.ReadersOf(name)
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
	return ok || operators.HasTrait(step.Node, operators.TraitMinifloatQuantiser)
}
