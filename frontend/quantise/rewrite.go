package quantise

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/operators"
)

// BuildQuantisedGraph returns the graph quantised by a recipe, based on the values that the places had in the runs of
// CalibrationRunner.RunSample. The quantisers are those of QONNX. The error is a *RefusalError.
func (n *QuantisableNetwork) BuildQuantisedGraph(r Recipe) (*graph.Graph, error) {
	for _, s := range n.scopes { // so that the names in one result do not depend on earlier results
		defer func(names graph.UsedTensorNames) { s.names = names }(s.names)
		s.names = maps.Clone(s.names)
	}
	chosen, scaled := map[*spot]choice{}, map[*weight][]float64{}
	for i, p := range n.spots {
		if own := r.spot(i); !p.keeps(own) {
			chosen[p] = p.choose(own)
			if s := chosen[p].channels; s != nil {
				for _, w := range p.equalised.readers {
					scaled[w] = s
				}
			}
		}
	}
	made := map[*graph.Node][]*graph.Node{} // by node: the quantisers of its weights, which go before it
	slots := map[*graph.Node]map[int]string{}
	shifts := map[*graph.Node]*graph.Node{} // by node: the correction of its sums, which goes after it
	var refused error
	weights := func(s *scope, g *graph.Graph) {
		for i, w := range n.weights {
			own := r.weight(i)
			if w.scope != s || w.keeps(own) && scaled[w] == nil {
				continue
			}
			b, err := n.ballOf(w, own, chosen)
			if err != nil {
				refused = err
				return
			}
			node, name, shift := w.quantised(g, own, b, scaled[w])
			made[w.node] = append(made[w.node], node)
			if shift != nil {
				shifts[w.node] = w.shifting(g, shift)
			}
			if slots[w.node] == nil {
				slots[w.node] = map[int]string{}
			}
			slots[w.node][w.slot] = name
		}
	}
	began := map[*graph.Graph]bool{}
	g := n.write(func(s *scope, g *graph.Graph, it *item) []*graph.Node {
		if !began[g] {
			began[g] = true
			weights(s, g)
		}
		if p := it.spot; p != nil {
			if c, ok := chosen[p]; ok {
				return p.quantiser(g, c)
			}
			return []*graph.Node{p.own()}
		}
		m := *it.node
		if m.Domain == operators.InternalDomain { // a Scan, which belongs to ONNX
			m = *operators.CopyLoopNodeAsQuantised(&m)
			m.Domain = ""
		}
		m.Inputs = slices.Clone(m.Inputs)
		for slot, name := range slots[it.origin()] {
			m.Inputs[slot] = name
		}
		nodes := append(slices.Clone(made[it.origin()]), &m)
		if shift := shifts[it.origin()]; shift != nil {
			m.Outputs = shift.Inputs[:1]
			nodes = append(nodes, shift)
		}
		return nodes
	}, nil)
	if refused != nil {
		return nil, refused
	}
	g.Opsets = opsets(g)
	prune(g)
	return g, nil
}

// A choice is the quantiser that a recipe gives to a place: its code and its scales.
type choice struct {
	code
	scale    float64
	channels []float64 // factors of the scale by channel; nil if all are 1
}

// keeps reports whether a place keeps the model's own quantiser, because that must stay or already has the recipe's
// format.
func (p *spot) keeps(r Recipe) bool {
	return p.node != nil && (p.stays || p.had == r.Activations &&
		operators.RoleOf(p.node) != operators.RoleQuantizeLinear ||
		p.inner && r.Activations.Bits == 0)
}

// choose returns the quantiser that a recipe gives a place.
func (p *spot) choose(r Recipe) choice {
	p = p.lead()
	if p.flags {
		return choice{QuantFormat{Bits: 1}.of(false, false), 1, nil}
	}
	if r.Equalise && p.equalised != nil {
		if s := p.equalised.scales(r); s != nil {
			c, scale := p.equalised.quantiser(r, s)
			return choice{c, scale, s}
		}
	}
	return p.values.quantiser(r.Scales, p.format(r), p.grid)
}

// format returns the format that a recipe gives a place.
func (p *spot) format(r Recipe) QuantFormat {
	f := r.Activations
	if p.inner && p.node == nil && f.Bits == 0 {
		f = QuantFormat{Bits: bitsOfGates}
	}
	if f.Bits > 0 && (p.inner || p.scope.loop == nil) {
		f.Bits = min(f.Bits+p.more, maxBits)
	}
	return f
}

// quantiser returns the nodes that quantise the tensor of a place as c says, and adds their parameters to g.
func (p *spot) quantiser(g *graph.Graph, c choice) (nodes []*graph.Node) {
	taken, from := p.scope.names, p.from
	if c.channels != nil {
		equalised := p.equaliser(g, c.channels)
		nodes, from = append(nodes, equalised), equalised.Outputs[0]
	}
	return append(nodes, quantiserNode(g, taken, p.index(), p.label, from, p.to, c.code,
		&graph.ConstantTensor{DType: graph.DTypeFloat32, F: []float64{c.scale}}))
}

// quantiserNode returns a QONNX node that quantises to a code with the given scales. It adds the parameters to the
// graph.
func quantiserNode(g *graph.Graph, taken graph.UsedTensorNames, index int, name, from, to string, c code,
	scale *graph.ConstantTensor) *graph.Node {
	constant := func(suffix string, t *graph.ConstantTensor) string {
		name := taken.TakeFreshName(to, suffix)
		g.Init[name] = t
		return name
	}
	number := func(suffix string, v float64) string {
		return constant(suffix, &graph.ConstantTensor{DType: graph.DTypeFloat32, F: []float64{v}})
	}
	n := &graph.Node{Index: index, Name: name, Domain: operators.QONNXDomain, Outputs: []string{to}}
	if c.Bits > 0 {
		n.Op = operators.OpQuant
		n.Inputs = []string{from, constant("scale", scale), number("zero", 0), number("bits", float64(c.Bits))}
		n.Attrs = graph.AttributesByName{"signed": graph.NewFlagAttr(c.lo < 0),
			"narrow":        graph.NewFlagAttr(c.lo == -c.hi),
			"rounding_mode": graph.NewStringAttr("ROUND")}
		return n
	}
	n.Op = operators.OpFloatQuant
	n.Inputs = []string{from, constant("scale", scale), number("exponent", float64(c.Exponent)),
		number("mantissa", float64(c.Mantissa)), number("bias", c.bias()), number("largest", c.largest)}
	n.Attrs = graph.AttributesByName{"has_inf": graph.NewFlagAttr(false), "has_nan": graph.NewFlagAttr(false),
		"has_subnormal": graph.NewFlagAttr(true), "saturation": graph.NewFlagAttr(true),
		"rounding_mode": graph.NewStringAttr("ROUND")}
	return n
}

// keeps reports whether weights stay unchanged, because they must or have no more bits than the recipe allows.
func (w *weight) keeps(r Recipe) bool {
	switch {
	case w.stays:
		return true
	case r.AccBits > 0 || r.Weights.Bits == 0 || w.grid > 0:
		return false
	case w.had.Bits > 0:
		return w.had.Bits <= r.Weights.Bits
	}
	shaped, axis := w.shaped()
	return r.Weights.Bits <= 8 && operators.HasCommonStepPerChannel(shaped, axis,
		math.Exp2(float64(r.Weights.Bits-1))-1)
}

// shaped returns the weights and their axis of output channels. Weights without such an axis are returned as a single
// channel.
func (w *weight) shaped() (*graph.ConstantTensor, int) {
	if w.axis >= 0 {
		return w.tensor, w.axis
	}
	t := *w.tensor
	t.Shape = []int{1, w.tensor.Len()}
	return &t, 0
}

// keepScales caches the scales chosen for the unchanged weights.
func (w *weight) keepScales(by choosing, scales []float64) {
	if w.scales == nil {
		w.scales = map[choosing][]float64{}
	}
	w.scales[by] = scales
}

// quantised adds the weights, quantised by a recipe, as values of their codes. It returns the quantiser after them and
// its output. by, if not nil, holds the scales of input channels, which multiply the weights. shift holds, by output
// channel, how much the sums of mean inputs lose. It is nil unless the weights were put on a ball, or biases are to be
// corrected.
func (w *weight) quantised(g *graph.Graph, r Recipe, b *ball, by []float64) (node *graph.Node, name string,
	shift []float64) {
	shaped, axis := w.shaped()
	c := r.Weights.of(true, true)
	channels, inner := shaped.Shape[axis], graph.ElementCount(shaped.Shape[axis+1:])
	all, corrects := slices.Clone(shaped.Floats()), w.means != nil && (b != nil || r.CorrectBias)
	for i := range all {
		if by != nil {
			all[i] *= by[w.reduced(i, channels, len(by))]
		}
	}
	out := make([]float64, len(all))
	scales, before := make([]float64, channels), w.scales[choosing{r.Scales, c, w.grid}]
	if by != nil {
		before = nil
	}
	var chosen []float64
	for k := range channels {
		var at []int
		for i := k * inner; i < len(all); i += channels * inner {
			for j := i; j < i+inner; j++ {
				at = append(at, j)
			}
		}
		list := make([]float64, len(at))
		for i, j := range at {
			list[i] = all[j]
		}
		codes := func(s float64) []float64 {
			q := make([]float64, len(list))
			for i, v := range list {
				q[i] = c.nearest(v / s)
			}
			return q
		}
		if before != nil {
			scales[k] = before[k]
		} else {
			scales[k] = r.Scales.scale(c, list, w.grid)
		}
		chosen = append(chosen, scales[k])
		if b != nil && !b.holds(codes(scales[k])) {
			scales[k], codes = b.scale(c, list), func(s float64) []float64 { return b.fitting(list, s, c) }
		}
		sum := 0.0
		for i, q := range codes(scales[k]) {
			out[at[i]] = float64(float32(q * scales[k]))
			if corrects {
				from, lost := w.reduced(at[i], channels, len(w.means)), list[i]-out[at[i]]
				if by != nil {
					lost /= by[from]
				}
				sum += float64(lost * w.means[from])
			}
		}
		shift = append(shift, float64(float32(sum)))
	}
	if by == nil {
		w.keepScales(choosing{r.Scales, c, w.grid}, chosen)
	}
	shape := []int(nil)
	if w.axis >= 0 {
		shape = slices.Repeat([]int{1}, len(w.tensor.Shape))
		shape[w.axis] = channels
	}
	taken := w.scope.names
	base := w.node.Inputs[w.slot]
	raw, name := taken.TakeFreshName(base, "weights"), taken.TakeFreshName(base, "requantised")
	g.Init[raw] = &graph.ConstantTensor{DType: graph.DTypeFloat32, Shape: w.tensor.Shape, F: out}
	q := quantiserNode(g, taken, w.node.Index, w.node.Name, raw, name, c,
		&graph.ConstantTensor{DType: graph.DTypeFloat32,
			Shape: shape, F: scales})
	if !corrects {
		shift = nil
	}
	return q, name, shift
}

// shifting returns a node that adds a correction to the sums of a node, by output channel.
func (w *weight) shifting(g *graph.Graph, by []float64) *graph.Node {
	out, taken := w.node.Outputs[0], w.scope.names
	shape := []int{len(by)}
	for range w.tensor.Shape[min(2, len(w.tensor.Shape)):] {
		shape = append(shape, 1) // axes after the channels of an image
	}
	constant := taken.TakeFreshName(out, "shift")
	g.Init[constant] = &graph.ConstantTensor{DType: graph.DTypeFloat32, Shape: shape, F: by}
	return &graph.Node{Index: w.node.Index, Name: w.node.Name, Op: operators.OpAdd,
		Inputs: []string{taken.TakeFreshName(out, "sums"), constant}, Outputs: []string{out}}
}

// ballOf returns the set of weights that the recipe allows, or nil if the recipe does not limit accumulators. The
// error, a *RefusalError, says why their sums cannot be bounded.
func (n *QuantisableNetwork) ballOf(w *weight, r Recipe, chosen map[*spot]choice) (*ball, error) {
	if r.AccBits == 0 {
		return nil, nil
	}
	const hint = "leave p= out, or give a model with a quantiser in front of every product"
	p := w.scope.code[w.data]
	switch {
	case w.scope.loop != nil:
		return nil, refuse(w.node, hint, "in a recurrence, several products share an accumulator")
	case w.axis < 0:
		return nil, refuse(w.node, hint, "its output channels are not along one axis of its weights")
	case p == nil:
		return nil, refuse(w.node, hint, "what it multiplies comes from no quantiser, so its range is not known")
	}
	b := &ball{r.AccBits, p.lo, p.hi}
	if c, ok := chosen[p]; ok {
		b.lo, b.hi = c.lo, c.hi
	}
	if math.IsInf(b.lo, 0) || math.IsInf(b.hi, 0) {
		return nil, refuse(w.node, hint, "the codes of %q have no limits", p.label)
	}
	return b, nil
}

// scale returns the scale at which the fitting weights are nearest to the original ones. If the accumulator is narrow,
// larger steps let more weights stay different from 0.
func (b *ball) scale(c code, weights []float64) float64 {
	full := c.covering(weights)
	if full == 0 {
		return 1
	}
	norm := 0.0
	for _, w := range weights {
		norm += math.Abs(w)
	}
	best, least := usable(full), math.Inf(1)
	for s := full / 4; s < 2*max(full, norm/b.radius()); s *= 2 * eighths[7] {
		sum := 0.0
		for i, q := range b.fitting(weights, usable(s), c) {
			e := float64(q*usable(s)) - weights[i]
			sum += float64(e * e)
		}
		if sum < least {
			best, least = usable(s), sum
		}
	}
	return best
}

// fitting returns weights as values of code c at a scale: the nearest ones if these fit the accumulator, and otherwise
// ones on the ball.
func (b *ball) fitting(weights []float64, scale float64, c code) []float64 {
	at, nearest := make([]float64, len(weights)), make([]float64, len(weights))
	for i, w := range weights {
		at[i] = w / scale
		nearest[i] = c.nearest(at[i])
	}
	if b.holds(nearest) {
		return nearest
	}
	return b.onto(at, c)
}

// opsets returns the versions of a graph's operators by domain, including QONNX's domain.
func opsets(g *graph.Graph) map[string]int64 {
	all := map[string]int64{operators.QONNXDomain: 2}
	for domain, v := range g.Opsets {
		all[domain] = v
	}
	return all
}

// prune removes, in place, the nodes and constants of a graph on which none of its outputs depends, also in the bodies
// of loops. It removes all annotations.
func prune(g *graph.Graph) {
	read := map[string]bool{}
	for _, o := range g.Outputs {
		read[o.Name] = true
	}
	var nodes []*graph.Node
	for _, n := range slices.Backward(g.Nodes) {
		if !slices.ContainsFunc(n.Outputs, func(o string) bool { return read[o] }) {
			continue
		}
		for _, in := range n.Inputs {
			read[in] = true
		}
		if body := n.Attrs["body"].G; body != nil {
			prune(body)
			for _, m := range body.Nodes {
				for _, in := range m.Inputs {
					read[in] = true // a tensor of the graph around the body
				}
			}
		}
		nodes = append(nodes, n)
	}
	slices.Reverse(nodes)
	g.Nodes = nodes
	for name := range g.Init {
		if !read[name] {
			delete(g.Init, name)
		}
	}
	g.Annotations = nil
}

// DescribeChanges returns a text that says what a recipe changes: how many quantisers of each kind are new.
func (n *QuantisableNetwork) DescribeChanges(r Recipe) string {
	activations, weights := 0, 0
	for i, p := range n.spots {
		if !p.keeps(r.spot(i)) {
			activations++
		}
	}
	for i, w := range n.weights {
		if !w.keeps(r.weight(i)) {
			weights++
		}
	}
	return fmt.Sprintf("%d of %d quantisers of activations and %d of %d tensors of weights were made new on %d samples",
		activations, len(n.spots), weights, len(n.weights), n.runs)
}
