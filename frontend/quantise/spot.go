package quantise

import (
	"cmp"
	"math"
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/operators"
	"hlsgen/frontend/program"
)

// A scope is a graph that is being rewritten: that of the model, or the body of a loop in it.
type scope struct {
	g      *graph.Graph // the graph in the program
	prog   *program.Program
	loop   *graph.Node // the loop to which the body belongs; nil for the model's graph
	within *scope      // the scope around it
	items  []*item     // the nodes and places in order
	names  graph.UsedTensorNames

	code    map[string]*spot  // by tensor: the place whose codes it holds, possibly moved; nil for sums and other reals
	raw     map[string]bool   // tensors that the host computes: functions of the inputs without a product
	fixed   map[string]bool   // those of raw that depend on a product, which stays on the host
	root    map[string]string // by tensor: the tensor of which it is a function, element by element
	spectra map[string]bool   // those of fixed that depend on a fixed transform
	owned   bool              // g and its table of constants are copies that may be changed
}

// An item is a node of the rewritten graph, or a place of a quantiser in it.
type item struct {
	node *graph.Node
	of   *graph.Node // the program's node, if node is a copy that reads other tensors; otherwise nil
	spot *spot
}

// origin returns the node of the program.
func (it *item) origin() *graph.Node { return cmp.Or(it.of, it.node) }

// A spot is a place at which activations are quantised, by the model's own quantiser or by a new one.
type spot struct {
	scope *scope
	label string      // the node's label, for messages
	node  *graph.Node // the model's own quantiser; nil if there is none
	from  string      // the tensor of reals
	to    string      // the tensor of quantised values
	given string      // the input of the model's own quantiser: from, except for Trunc

	stays     bool          // the model's own quantiser stays
	had       QuantFormat   // the format of the model's own quantiser; the zero value if it is none of these formats
	signed    bool          // whether had is signed
	limits    []*graph.Node // the nodes that clip the values in the float model; the last one writes to
	scale     float64       // the scale of the model's own quantiser; 0 if it has several
	lo, hi    float64       // the limits of the model's own codes, without the zero point
	grid      float64       // if not 0, the scale must be this times a power of two
	inner     bool          // in a loop, and not multiplied by weights
	more      int           // bits in addition to the recipe's, unless weights of a loop multiply it
	flags     bool          // its values are 0 and 1, from truth values
	rows      bool          // its values are a constant table, of which data select rows
	as        *spot         // the place whose format it has, because codes of one return at the other; may be nil
	equalised *equalisation // not nil if its channels may have their own scales

	values values
}

// A weight is a constant tensor of weights that a node multiplies with data.
type weight struct {
	scope  *scope
	node   *graph.Node
	slot   int
	tensor *graph.ConstantTensor
	axis   int
	data   string      // the tensor by which it is multiplied
	had    QuantFormat // the format of its own quantiser; the zero value if it has none of integers around 0
	stays  bool        // unchanged by any recipe
	grid   float64

	scales map[choosing][]float64 // the chosen scales, by channel

	means []float64 // the means of its inputs, by channel; nil if they are not known
	seen  int       // the number of runs in means
}

// reduced returns the input channel, of inputs, that element i of the weights multiplies. channels is the number of
// output channels.
func (w *weight) reduced(i, channels, inputs int) int {
	shape := w.tensor.Shape
	if w.axis > 0 { // K rows of output channels
		return i / channels
	}
	inner := graph.ElementCount(shape[2:])
	channel, rest := i/(shape[1]*inner), i%(shape[1]*inner)/inner
	group := inputs / shape[1]
	return channel/max(1, channels/max(1, group))*shape[1] + rest
}

// mean adds the inputs that the weights multiplied in one run to the means of their channels. It does nothing for
// weights whose inputs have no axis of channels that it knows.
func (w *weight) mean(shape []int, data []float64) {
	channels, inner := 0, 1
	switch {
	case w.slot != 1 || w.axis < 0 || len(shape) == 0 || w.node.IntAttrOr("transA", 0) != 0:
		return
	case len(w.tensor.Shape) > 2: // a convolution
		channels, inner = shape[1], graph.ElementCount(shape[2:])
	default:
		channels = shape[len(shape)-1]
	}
	if w.means == nil {
		w.means = make([]float64, channels)
	}
	share := float64(channels) / float64(len(data))
	w.seen++
	for c, was := range w.means {
		sum := 0.0
		for i := c * inner; i < len(data); i += channels * inner {
			for k := i; k < i+inner; k++ {
				sum += data[k]
			}
		}
		w.means[c] = was + (float64(sum*share)-was)/float64(w.seen)
	}
}

func scopesOf(p *program.Program) []*scope {
	top := &scope{g: p.Graph, prog: p}
	list := []*scope{top}
	for _, n := range p.Graph.Nodes {
		if r := p.LoopOfNode(n); r != nil {
			list = append(list, &scope{g: r.Body.Graph, prog: r.Body, loop: n, within: top})
		}
	}
	for _, s := range list {
		s.names, s.code, s.raw, s.root = s.g.UsedTensorNames(), map[string]*spot{}, map[string]bool{},
			map[string]string{}
		s.fixed, s.spectra = map[string]bool{}, map[string]bool{}
	}
	return list
}

// constant returns the value of a constant tensor, from the program or added later, or nil for other tensors.
func (s *scope) constant(name string) *graph.ConstantTensor {
	return cmp.Or(s.prog.Known[name].Const, s.g.Init[name])
}

// data returns the names of a node's inputs that depend on the model's inputs.
func (s *scope) data(n *graph.Node) (list []string) {
	for _, in := range n.Inputs {
		if in != "" && s.constant(in) == nil {
			list = append(list, in)
		}
	}
	return list
}

// survey visits the nodes of a scope, and records the places of its quantisers and its weights.
func (n *QuantisableNetwork) survey(s *scope) error {
	for _, in := range s.g.Inputs {
		s.raw[in.Name], s.root[in.Name] = s.loop == nil, in.Name
	}
	var lin linear
	for _, node := range s.g.Nodes {
		data := s.data(node)
		if len(data) == 0 {
			s.items = append(s.items, &item{node: node})
			continue
		}
		if r := n.scopes[0].prog.LoopOfNode(node); n.replace && s.loop == nil && r != nil && len(r.RealGates) > 0 {
			return refuse(node, "give the formats of its gates: --lstm-config or --cell-config",
				"the gates of its cells are real numbers")
		}
		items, err := n.visit(s, node, data, &lin)
		if err != nil {
			return err
		}
		s.items = append(s.items, items...)
	}
	return nil
}

// visit returns the items that replace a node that reads data.
func (n *QuantisableNetwork) visit(s *scope, node *graph.Node, data []string, lin *linear) ([]*item, error) {
	if !n.replace && operators.RoleOf(node) == operators.RolePlainSum && s.single(node) {
		node, data = s.moved(node), node.Inputs[:1]
	}
	out, role := node.Outputs[0], operators.RoleOf(node)
	keep := []*item{{node: node}}
	fixed, spectra := staysOnHost(n, s, node, data)
	for _, o := range node.Outputs {
		s.raw[o], s.root[o] = s.allRaw(data) && role != operators.RoleWeightedSum && role != operators.RolePlainSum &&
			role != operators.RoleScan, o
		if fixed {
			s.raw[o], s.fixed[o], s.spectra[o] = true, true, spectra
		}
	}
	switch role {
	case operators.RoleFakeQuantise, operators.RoleTrunc:
		return n.quantiser(s, node)
	case operators.RoleMultiThreshold:
		if n.replace {
			return nil, refuse(node, "give the model before its activations became thresholds",
				"it holds thresholds, from which no other format follows")
		}
		p := &spot{scope: s, label: node.Label(), node: node, from: node.Inputs[0], to: out, stays: true}
		s.code[out] = p
		return keep, nil
	case operators.RoleQuantizeLinear, operators.RoleDequantizeLinear:
		return n.linear(s, node, lin)
	case operators.RoleClip:
		if n.replace && lin.of[data[0]] != nil {
			return lin.narrowed(s, node), nil
		}
	case operators.RoleMovesCodes:
		p := s.code[data[0]]
		for _, d := range data[1:] {
			if s.code[d] != p {
				p = nil
			}
		}
		for _, o := range node.Outputs {
			s.code[o] = p
			if n.replace && lin.of[data[0]] != nil {
				lin.of[o] = lin.of[data[0]]
			}
		}
		return keep, nil
	case operators.RoleWeightedSum:
		if s.fixed[out] {
			if spectra {
				n.transforms = append(n.transforms, node)
			}
			break
		}
		n.matrix(s, node, data)
	case operators.RoleNone, operators.RoleElementwise:
		if len(data) == 1 || s.oneRoot(data) {
			s.root[out] = s.root[data[0]]
		}
	}
	if c := lin.reads(data); n.replace && c != "" {
		return nil, refuse(node, "use a model in the form QDQ, where DequantizeLinear stands in front of each operator",
			"it computes with the codes of %q", c)
	}
	return keep, nil
}

// single reports whether a mean is taken over single elements.
func (s *scope) single(node *graph.Node) bool {
	in, out := s.prog.Known[node.Inputs[0]].Shape, s.prog.Known[node.Outputs[0]].Shape
	return graph.ElementCount(in) == graph.ElementCount(out)
}

// moved replaces a mean over single elements by a Reshape, so that no layer has to add anything.
func (s *scope) moved(node *graph.Node) *graph.Node {
	out := node.Outputs[0]
	var shape []int64
	for _, d := range s.prog.Known[out].Shape {
		shape = append(shape, int64(d))
	}
	name := s.names.TakeFreshName(out, "shape")
	s.own()
	s.g.Init[name] = &graph.ConstantTensor{DType: graph.DTypeInt64, Shape: []int{len(shape)}, I: shape}
	return operators.NewReshapeNode(node, name)
}

func (s *scope) allRaw(data []string) bool {
	return !slices.ContainsFunc(data, func(d string) bool { return !s.raw[d] })
}

// oneRoot reports whether all tensors are functions of the same tensor, element by element.
func (s *scope) oneRoot(data []string) bool {
	return !slices.ContainsFunc(data, func(d string) bool { return s.root[d] != s.root[data[0]] })
}

// matrix records the weights of a node that multiplies data by constants.
func (n *QuantisableNetwork) matrix(s *scope, node *graph.Node, data []string) {
	for slot, in := range node.Inputs[:2] {
		t := s.constant(in)
		if t == nil || !t.DType.IsReal() {
			continue
		}
		w := &weight{scope: s, node: node, slot: slot, tensor: t, axis: operators.OutputChannelAxisOfWeights(node, slot,
			len(t.Shape)),
			data: data[0]}
		if q := s.quantiserOf(in); q != nil {
			if c := operators.SplitQuantiser(s.prog, q); c != nil && c.Op == operators.OpQuantiserCode &&
				operators.RoleOf(q) == operators.RoleFakeQuantise {
				w.had = QuantFormat{Bits: int(s.constant(q.Inputs[3]).FloatAt(0))}
			}
			w.stays = !n.replace
		}
		n.weights = append(n.weights, w)
	}
}

// lead returns the place whose format place p shares, which may be p itself. It returns nil if p is nil.
func (p *spot) lead() *spot {
	for p != nil && p.as != nil {
		p = p.as
	}
	return p
}

// join makes two places share one format.
func (p *spot) join(q *spot) {
	if a, b := p.lead(), q.lead(); a != b {
		a.as = b
	}
}

// quantiserOf returns the quantiser node from which a constant comes, possibly moved, or nil if there is none.
func (s *scope) quantiserOf(name string) *graph.Node {
	for _, node := range s.g.Nodes {
		if !slices.Contains(node.Outputs, name) {
			continue
		}
		switch operators.RoleOf(node) {
		case operators.RoleFakeQuantise, operators.RoleDequantizeLinear:
			return node
		case operators.RoleMovesCodes:
			return s.quantiserOf(node.Inputs[0])
		}
	}
	return nil
}

// quantiser records the place of a quantiser of the model, and returns the items that replace its node.
func (n *QuantisableNetwork) quantiser(s *scope, node *graph.Node) ([]*item, error) {
	in, out := node.Inputs[0], node.Outputs[0]
	p := &spot{scope: s, label: node.Label(), node: node, from: in, to: out, given: in, stays: !n.replace}
	s.code[out] = p
	n.spots = append(n.spots, p)
	p.read()
	items := []*item{{spot: p}}
	switch {
	case s.raw[in]: // the inputs of the host keep their format
		p.stays = true
	case n.replace && operators.RoleOf(node) == operators.RoleTrunc:
		p.from = s.names.TakeFreshName(out, "mean")
		factor := p.scope.constant(node.Inputs[len(node.Inputs)-2]).FloatAt(0)
		if len(node.Inputs) == 5 { // version 1 divides codes, and keeps the scale
			factor = math.Exp2(-p.bits(3) + p.bits(4))
		} else {
			divisor := math.Exp2(math.RoundToEven(math.Log2(factor / s.constant(node.Inputs[1]).FloatAt(0))))
			factor /= s.constant(node.Inputs[1]).FloatAt(0) * divisor
		}
		by := s.constantOf(out, "factor", nil, []float64{factor})
		items = []*item{{node: &graph.Node{Index: node.Index, Name: node.Name, Op: operators.OpMul, Inputs: []string{in,
			by},
			Outputs: []string{p.from}}}, {spot: p}}
	}
	return items, nil
}

// bits returns the number in an input slot of the model's own quantiser at a place.
func (p *spot) bits(slot int) float64 { return p.scope.constant(p.node.Inputs[slot]).FloatAt(0) }

// read reads the limits and the options of the model's own quantiser at a place.
func (p *spot) read() {
	n, s := p.node, p.scope
	scale, zero := s.constant(n.Inputs[1]), (*graph.ConstantTensor)(nil)
	if scale.Len() == 1 {
		p.scale = scale.FloatAt(0)
	}
	lo, hi := -1.0, 1.0 // the limits of BipolarQuant
	switch c := operators.SplitQuantiser(s.prog, n); {
	case operators.HasTrait(n, operators.TraitMinifloatQuantiser):
		p.had = QuantFormat{Exponent: int(p.bits(2)), Mantissa: int(p.bits(3))}
		e, m, bias, most := p.bits(2), p.bits(3), p.bits(4), p.bits(5)
		hi = min(most, (2-math.Exp2(-m))*math.Exp2(math.Exp2(e)-1-bias))
		lo, p.signed, p.had.largest = -hi, true, hi
		if bias != p.had.bias() {
			p.had.Exponent = 0
		}
	case c.Op == operators.OpQuantiserCode || operators.RoleOf(n) == operators.RoleTrunc:
		lo, hi, zero = c.Attrs["lo"].F, c.Attrs["hi"].F, s.constant(n.Inputs[2])
		p.signed = lo < 0
		p.had = QuantFormat{Bits: int(p.bits(len(n.Inputs) - 1))}
		if operators.RoleOf(n) == operators.RoleTrunc && len(n.Inputs) == 6 {
			scale = s.constant(n.Inputs[4])
		}
	}
	if zero != nil && zero.Len() == 1 {
		lo, hi = lo-zero.FloatAt(0), hi-zero.FloatAt(0)
	}
	if zero != nil && zero.Len() != 1 || math.IsInf(lo, 0) || math.IsInf(hi, 0) {
		p.limits = []*graph.Node{{Index: n.Index, Name: n.Name, Op: operators.OpIdentity, Inputs: []string{p.from},
			Outputs: []string{p.to}}}
		p.lo, p.hi = math.Inf(-1), math.Inf(1)
		return
	}
	p.lo, p.hi = lo, hi
	p.bound(scale, lo, hi)
}

// bound sets the nodes that clip a place's values in the float model, to the range from lo to hi times the scale.
func (p *spot) bound(scale *graph.ConstantTensor, lo, hi float64) {
	least, most := make([]float64, scale.Len()), make([]float64, scale.Len())
	for i := range least {
		a, b := lo*scale.FloatAt(i), hi*scale.FloatAt(i)
		least[i], most[i] = min(a, b), max(a, b)
	}
	middle := p.scope.names.TakeFreshName(p.to, "above")
	op := func(name, from, by, to string) *graph.Node {
		return &graph.Node{Index: p.index(), Name: p.label, Op: name, Inputs: []string{from, by}, Outputs: []string{to}}
	}
	p.limits = []*graph.Node{
		op(operators.OpMax, "", p.scope.constantOf(p.to, "least", scale.Shape, least), middle),
		op(operators.OpMin, middle, p.scope.constantOf(p.to, "most", scale.Shape, most), p.to),
	}
}

func (p *spot) index() int {
	if p.node == nil {
		return -1
	}
	return p.node.Index
}

// constantOf adds an initializer to the scope's graph, of which it first makes a copy, and returns its name.
func (s *scope) constantOf(base, suffix string, shape []int, data []float64) string {
	name := s.names.TakeFreshName(cmp.Or(base, "constant"), suffix)
	s.own()
	s.g.Init[name] = &graph.ConstantTensor{DType: graph.DTypeFloat32, Shape: shape, F: data}
	return name
}

// own replaces the scope's graph by a copy that may be changed.
func (s *scope) own() {
	if !s.owned {
		s.g, s.owned = s.g.ShallowCopy(), true
	}
}
