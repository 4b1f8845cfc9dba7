// Package stats counts what a model computes and stores, as the file has it: products and bit operations (arXiv
// 2102.11289), zeros, bits of weights and activations, the entropy of weights (arXiv 2301.13376) and that of the states
// that layers are in (neural efficiency, arXiv 2102.11289). It asks nothing of hardware: whatever executes is counted.
//
// In comes a graph.Program, of one sample; out comes a Network, whose layers are nodes of the file. It sees graph, real
// and num.
//
//   - stats.go has what is counted, and walks over the program; product.go counts one sum of products
//   - types.go says what tensors are declared to be; inferencecost.go has qonnx' figures
//   - entropy.go has the entropy of weights; states.go, of the states that layers are in, while samples pass by
package stats

import (
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/internal/num"
)

// Counts are what a product, a layer or a network takes for one sample. Those of a layer in a loop are of all steps.
type Counts struct {
	MACs int64 `json:"macs"` // products that are added up; of a padded convolution those with padding, too
	// of these, those with a weight other than 0
	EffectiveMACs int64 `json:"effective_macs"`
	// bit operations: effective_macs * input bits * weight bits + macs * (input bits + weight bits + log2(terms))
	BOPs float64 `json:"bops"`
	// the same where zeros are not left out
	DenseBOPs   float64 `json:"dense_bops"`
	Weights     int64   `json:"weights"` // elements
	ZeroWeights int64   `json:"zero_weights"`
	WeightBits  int64   `json:"weight_bits"` // memory, by the declared type
	InputBits   int64   `json:"input_bits"`  // memory of all data that are read, by the declared types
	OutputBits  int64   `json:"output_bits"` // of what is given, in the type of the quantiser behind it
}

// add adds up. Weights are added where they are others.
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

// Intensity is products per byte where each weight, input and output is moved once; 0 where nothing is moved.
func (c *Counts) Intensity() float64 {
	bits := c.WeightBits + c.InputBits + c.OutputBits
	if bits == 0 {
		return 0
	}
	return float64(c.MACs) * 8 / float64(bits)
}

// A Row is a layer: a node of the file that adds up products, such as a matrix, a convolution, or one direction of a
// recurrence. What adds, multiplies or compares data without weights is an Other.
type Row struct {
	Index   int    `json:"index"` // of the node in the file
	Node    string `json:"node"`
	Op      string `json:"op"`
	Kind    Kind   `json:"kind"`
	Becomes string `json:"becomes"`           // where it is computed, as in hlsgen check
	Reverse bool   `json:"reverse,omitempty"` // walks through its sequence from the end
	Steps   int    `json:"steps"`             // of its sequence; 1 without
	Output  []int  `json:"output_shape"`
	Type    string `json:"output_type"` // of the quantiser behind it; as it is stored where there is none
	Counts
	MACsPerStep int64    `json:"macs_per_step"`
	MACsPerByte float64  `json:"macs_per_byte"` // where each weight, input and output is moved once
	Entropy     *Entropy `json:"entropy,omitempty"`
	States      *States  `json:"states,omitempty"` // with data

	Products []Product `json:"products"` // one; in a recurrence, one per product in its body

	watch watch
	mean  mean // of the entropies of its products' weights
}

// Kind is what a layer's products are of.
type Kind string

// The kinds.
const (
	Dense       Kind = "dense"
	Convolution Kind = "convolution"
	Grouped     Kind = "grouped"   // a convolution in groups of channels
	Depthwise   Kind = "depthwise" // a channel each
	Recurrent   Kind = "recurrent"
	Data        Kind = "data" // products of data with data
)

// An Other is a node that computes without weights: what it takes is no product of the definitions above.
type Other struct {
	Index   int    `json:"index"`
	Node    string `json:"node"`
	Op      string `json:"op"`
	Becomes string `json:"becomes"`
	// additions and products of data with data, element by element, and terms of sums over windows or axes
	Operations int64 `json:"operations"`
}

// A Network is what is counted of a model, for one sample.
type Network struct {
	Layers  []*Row
	Others  []*Other
	Total   Counts // tensors of weights that several layers share are one here
	Entropy *Entropy
}

// Of counts. The program is of one sample: an axis that counts samples would be counted like any other. carried has
// the types of tensors that streams of the hardware carry; they count where the model declares nothing. It may be nil.
func Of(p *graph.Program, carried map[string]num.Type) *Network {
	c := &counter{scope: scopeOf(p, nil, nil), n: &Network{Layers: []*Row{}, Others: []*Other{}},
		tensors: map[weights]bool{}}
	c.carried = carried
	used := c.used()
	seen := map[*graph.Recur]bool{}
	for _, s := range p.Steps {
		switch {
		case !used[s.Node.Index] || p.Fixed(s.Output) || s.Recur != nil && seen[s.Recur]:
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
	n       *Network
	tensors map[weights]bool // that have been counted
	all     mean             // of their entropies
}

// used are the indices of the nodes that outputs depend on.
func (c *counter) used() map[int]bool {
	used := map[int]bool{}
	part, err := c.Part(graph.Names(c.Graph.Inputs), graph.Names(c.Graph.Outputs))
	if err != nil {
		panic(err) // all inputs are given
	}
	for _, n := range part.Nodes() {
		for _, index := range n.Indices() {
			used[index] = true
		}
	}
	return used
}

// layer counts a sum of products outside of loops.
func (c *counter) layer(s *graph.Step) {
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

// loop counts a recurrence: the products of its body in every step, and what else it computes.
func (c *counter) loop(s *graph.Step) {
	r := s.Recur
	body := scopeOf(r.Body, c.scope, s)
	var products []*product
	for _, b := range r.Body.Steps {
		switch {
		case r.Body.Fixed(b.Output):
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

// sequence is the output of a loop that stands for it: the first that has what every step gave, else its first.
func (c *counter) sequence(s *graph.Step) *graph.Step {
	best := s
	for _, o := range c.Steps {
		if o.Recur == s.Recur && o.Result >= s.Recur.States && best.Result < s.Recur.States &&
			(len(c.Readers(o.Output)) > 0 || c.given(o.Output)) {
			best = o
		}
	}
	return best
}

func (c *counter) begin(s *graph.Step, kind Kind, steps int) *Row {
	file := c.Origin(s.Node)
	return &Row{Index: file.Index, Node: file.Label(), Op: file.FullOp(), Kind: kind, Steps: steps}
}

// add adds a product to a layer.
func (l *Row) add(c *counter, p *product) {
	others := p.weights != nil && !c.tensors[*p.weights]
	l.Products = append(l.Products, p.Product)
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
func (c *counter) end(l *Row) {
	l.MACsPerStep, l.MACsPerByte = l.MACs/int64(l.Steps), l.Intensity()
	l.Entropy = l.mean.entropy()
	c.n.Total.add(&l.Counts, false)
	c.n.Layers = append(c.n.Layers, l)
}

// other counts what a step computes element by element: nothing where it moves elements or computes a function of one.
func (c *counter) other(at *scope, s *graph.Step, of *graph.Node, steps int64) {
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

// bits is the memory of a tensor.
func (s *scope) bits(name string) int64 {
	return int64(graph.Size(s.Known[name].Shape)) * int64(s.declared(name).Bits)
}

// behind is the tensor that stands for what a layer gives: that of the quantiser behind its sums, where nothing but
// functions of single elements stands between, that nothing else reads; else the last such function's. Where a
// quantiser gives integers, it is what they mean.
func (c *counter) behind(s *graph.Step) string {
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
func (s *scope) codes(step *graph.Step) bool {
	_, ok := s.quantised(step.Node)
	return ok || step.Node.Is(graph.Minifloat)
}
