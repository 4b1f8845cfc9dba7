package convert

import (
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"

	"hlsgen/frontend"
	"hlsgen/frontend/canon"
	"hlsgen/frontend/graph"
	"hlsgen/frontend/operators"
	"hlsgen/frontend/pass"
	"hlsgen/frontend/program"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
)

// A ConversionProof names the way in which it was proved that a converted file means the same as the original.
type ConversionProof string

// These are the ways.
const (
	// ConversionProofSameProgram: both files are read, and every quantiser of either dialect is taken apart. Both give
	// the same program, node by node, with the same constants. So they are equal for all real inputs.
	ConversionProofSameProgram ConversionProof = "program"
	// ConversionProofSameNetwork: both files become integer layers. The layers compute the same for every integer. The
	// host computes the same before and after them for a few sample inputs, which alone is no proof.
	ConversionProofSameNetwork ConversionProof = "network"
)

// prove compares the converted file, after, with the original, before. It returns the proof, or "" after adding an
// error.
func (c *conversion) prove(before, after []byte) ConversionProof {
	a, b := c.canonical(before), c.canonical(after)
	if a == nil || b == nil {
		if !c.list.HasErrors() {
			c.fail(nil, refuse("report this as a defect of hlsgen", "the converted file cannot be read back"))
		}
		return ""
	}
	s := &comparison{a: a.Graph, b: b.Graph, rank: func(tensor string) int { return len(a.Known[tensor].Shape) },
		inputs: map[string]string{}, known: map[[2]string]bool{}}
	if s.same() && len(s.ties) == 0 {
		return ConversionProofSameProgram
	}
	if len(s.ties) > 0 && s.differs == "" {
		return c.untied(before, after, s.ties)
	}
	if c.to == DialectQOperator {
		if c.network(before, after) {
			return ConversionProofSameNetwork
		}
		if c.list.HasErrors() {
			return ""
		}
	}
	c.fail(nil, refuse("keep the model in its dialect", "that the converted model computes the same could not be "+
		"proved: %s", s.differs))
	return ""
}

// canonical returns a file as a program of plain arithmetic and nodes that return codes. It returns nil after adding
// errors.
func (c *conversion) canonical(onnx []byte) *program.Program {
	var d diag.List
	defer func() {
		if d.HasErrors() {
			c.list.AddMissing(d.Diags)
		}
	}()
	g := c.read(onnx, &d)
	if g == nil {
		return nil
	}
	operators.DecomposeOperators(g)
	operators.RecoverExactWeights(g, c.file, new(diag.List))
	p := c.sized(g, c.size, &d)
	if p == nil {
		return nil
	}
	q, err := canon.NormaliseGraph(&canon.PassState{Program: p}, pass.Options[*canon.PassState]{}, &d)
	if err != nil {
		return nil
	}
	return q
}

// untied proves that quantisers that round ties differently never meet a tie. Their zero points are odd, and QONNX's
// Quant adds the zero point before rounding. If the two models become the same layers, each quantiser gives the same
// code for every sum that occurs. It returns the proof, or "" after adding an error.
func (c *conversion) untied(before, after []byte, ties []*graph.Node) ConversionProof {
	im, same := c.imported(before, after)
	layers := map[string]bool{} // labels of nodes that layers compute, and not the host in front of them
	if same {
		for _, l := range im.Model.Graph.Nodes {
			for _, label := range l.Origin {
				layers[label] = true
			}
		}
		for _, label := range im.Model.Prefix.Nodes {
			delete(layers, label)
		}
	}
	for _, n := range ties {
		if layers[n.Label()] {
			continue
		}
		why := fmt.Sprintf("its zero point is odd: at ties, x/scale = k + 1/2, Quant rounds k + 1/2 + zero point, to "+
			"another neighbour than QuantizeLinear, which rounds k + 1/2. That no tie occurs could not be proved: x = "+
			"%s is one", tie(c.program, n))
		c.fail(n, &refusal{why, "train with an even zero point (symmetric quantisers have 0), or keep the model in " +
			"its dialect"})
	}
	if c.list.HasErrors() {
		return ""
	}
	return ConversionProofSameNetwork
}

// tie returns, as text, a value at which quantiser n has to round a tie.
func tie(p *program.Program, n *graph.Node) string {
	for _, m := range p.Graph.Nodes {
		if m.Index != n.Index || len(m.Inputs) < 2 {
			continue
		}
		if k := p.Known[m.Inputs[1]]; k.Const != nil && k.Const.Len() > 0 {
			return fmt.Sprint(k.Const.FloatAt(0) / 2)
		}
	}
	return "scale/2"
}

// network reports whether both files become the same layers, and the host computes the same around them for sample
// inputs. It reports false if a file becomes no layers.
func (c *conversion) network(before, after []byte) bool {
	_, same := c.imported(before, after)
	return same
}

// imported returns the first of two files imported as layers, and whether the second becomes the same layers. The model
// is nil if the first file becomes none.
func (c *conversion) imported(before, after []byte) (*frontend.ImportedModel, bool) {
	var models [2]*frontend.ImportedModel
	for i, b := range [][]byte{before, after} {
		im, err := frontend.Import(c.file, b, frontend.Options{Dims: c.dims}, new(diag.List))
		if err != nil || im == nil || im.Model == nil {
			return models[0], false
		}
		models[i] = im
	}
	a, b := models[0].Model, models[1].Model
	return models[0], sameLayers(a.Graph, b.Graph) && sameEnds(a, b)
}

// sameLayers reports whether two graphs of layers are equal except for names: the same layers with the same numbers and
// connections.
func sameLayers(a, b *dataflow.Graph) bool {
	if len(a.Nodes) != len(b.Nodes) || len(a.Streams) != len(b.Streams) || !slices.Equal(a.In, b.In) ||
		!slices.Equal(a.Out, b.Out) {
		return false
	}
	for i, n := range a.Nodes {
		m := b.Nodes[i]
		if n.Op.Kind() != m.Op.Kind() || !slices.Equal(n.In, m.In) || !slices.Equal(n.Out, m.Out) ||
			!reflect.DeepEqual(n.Op.Params(), m.Op.Params()) {
			return false
		}
	}
	for i, s := range a.Streams {
		if !reflect.DeepEqual(s.Type, b.Streams[i].Type) {
			return false
		}
	}
	return true
}

// endSamples is the number of samples on which sameEnds compares two models.
const endSamples = 8

// sameEnds compares the outputs of two models for some inputs, which are the same in every run. As their layers are
// the same, a difference can only come from the host's ends.
func sameEnds(a, b *dataflow.Model) bool {
	for k := range endSamples {
		in := make([]dataflow.RealTensor, len(a.In))
		for i, r := range a.In {
			in[i] = sample(r, k)
		}
		x, err := a.Reference(in)
		if err != nil {
			return false
		}
		y, err := b.Reference(in)
		if err != nil {
			return false
		}
		for i := range x {
			if !slices.Equal(x[i].Data, y[i].Data) {
				return false
			}
		}
	}
	return true
}

// sample returns pseudo-random input number k: float32 values within the input's range.
func sample(r dataflow.RealTensorInfo, k int) dataflow.RealTensor {
	lo, hi := r.Range[0], r.Range[1]
	if lo >= hi || math.IsInf(lo, 0) || math.IsInf(hi, 0) {
		lo, hi = -1, 1
	}
	t := dataflow.RealTensor{Shape: r.Shape, Data: make([]float64, graph.ElementCount(r.Shape))}
	state := uint32(k)*2654435761 + 12345
	for i := range t.Data {
		state = state*1664525 + 1013904223
		t.Data[i] = float64(float32(lo + (hi-lo)*float64(state>>8)/(1<<24)))
		if _, _, integer := r.IntegerLimits(); integer {
			t.Data[i] = math.Round(t.Data[i])
		}
	}
	return t
}

// A comparison compares two canonical graphs, a and b, from their outputs backwards.
type comparison struct {
	a, b    *graph.Graph
	rank    func(tensor string) int // number of axes of a tensor of a
	makers  [2]map[string]*graph.Node
	inputs  map[string]string // from tensors of a to those of b
	known   map[[2]string]bool
	ties    []*graph.Node // nodes of a that equal those of b except at ties
	differs string        // the first difference
}

func (s *comparison) same() bool {
	for i, g := range []*graph.Graph{s.a, s.b} {
		s.makers[i] = map[string]*graph.Node{}
		for _, n := range g.Nodes {
			for _, o := range n.Outputs {
				s.makers[i][o] = n
			}
		}
	}
	if len(s.a.Inputs) != len(s.b.Inputs) || len(s.a.Outputs) != len(s.b.Outputs) {
		return s.no("the numbers of inputs or outputs differ")
	}
	for i, in := range s.a.Inputs {
		s.inputs[in.Name] = s.b.Inputs[i].Name
	}
	for i, o := range s.a.Outputs {
		if !s.tensors(o.Name, s.b.Outputs[i].Name) {
			return false
		}
	}
	return true
}

func (s *comparison) no(format string, args ...any) bool {
	if s.differs == "" {
		s.differs = fmt.Sprintf(format, args...)
	}
	return false
}

// tensors reports whether tensor x of the first graph and y of the second are computed alike.
func (s *comparison) tensors(x, y string) bool {
	key := [2]string{x, y}
	if same, ok := s.known[key]; ok {
		return same
	}
	s.known[key] = true
	same := s.compare(x, y)
	s.known[key] = same
	return same
}

func (s *comparison) compare(x, y string) bool {
	if x == "" || y == "" {
		return x == y || s.no("an input is left out of one of the two: %q, %q", x, y)
	}
	if t, u := s.a.Init[x], s.b.Init[y]; t != nil || u != nil {
		return t != nil && u != nil && alike(t, u) || s.no("the constants %q and %q differ", x, y)
	}
	if to, ok := s.inputs[x]; ok {
		return to == y || s.no("%q is an input, %q is not it", x, y)
	}
	m, n := s.makers[0][x], s.makers[1][y]
	if m == nil || n == nil {
		return s.no("%q and %q are not made alike", x, y)
	}
	if v, w := s.value(0, x), s.value(1, y); v != nil && w != nil {
		return s.meanings(v, w) || s.no("the values of %q and %q", x, y)
	}
	if m.Op == n.Op && m.Domain == n.Domain && s.a.Opsets[""] != s.b.Opsets[""] {
		m, n = s.settled(0, m), s.settled(1, n)
	}
	if m.Op != n.Op || m.Domain != n.Domain || len(m.Inputs) != len(n.Inputs) ||
		slices.Index(m.Outputs, x) != slices.Index(n.Outputs, y) {
		return s.no("%q is of %s, %q of %s", x, m.QualifiedOpName(), y, n.QualifiedOpName())
	}
	if !s.attrs(m, n) {
		return false
	}
	uniform := operators.HasTrait(m, operators.TraitUniformCodes)
	for i := range m.Inputs {
		if t, u := s.a.Init[m.Inputs[i]], s.b.Init[n.Inputs[i]]; uniform && t != nil && u != nil {
			if !alikeValues(t, u) {
				return s.no("the parameters of the quantisers of %q and %q differ", x, y)
			}
			continue
		}
		if !s.tensors(m.Inputs[i], n.Inputs[i]) {
			return false
		}
	}
	return true
}

// settled returns a node of graph a (side 0) or b (side 1) in one form for all versions of ONNX's operators. Inputs and
// defaults that depend on the version become attributes.
func (s *comparison) settled(side int, n *graph.Node) *graph.Node {
	g := []*graph.Graph{s.a, s.b}[side]
	with := *n
	with.Attrs = maps.Clone(n.Attrs)
	if with.Attrs == nil {
		with.Attrs = graph.AttributesByName{}
	}
	constant := func(i int, name string, of func(*graph.ConstantTensor) graph.Attr) {
		if t := g.Init[n.InputName(i)]; t != nil {
			with.Attrs[name] = of(t)
		}
	}
	switch n.Op {
	case "Squeeze", "Unsqueeze", "ReduceSum":
		constant(1, "axes", func(t *graph.ConstantTensor) graph.Attr {
			return graph.Attr{Kind: graph.AttrKindInts, Ints: t.Ints()}
		})
	case "Clip":
		for i, name := range []string{"min", "max"} {
			constant(i+1, name, func(t *graph.ConstantTensor) graph.Attr { return graph.NewFloatAttr(t.FloatAt(0)) })
		}
	case "Softmax", "LogSoftmax":
		axis := -1
		if g.Opsets[""] < 13 {
			axis = 1
		}
		if axis = int(n.IntAttrOr("axis", int64(axis))); axis < 0 && s.rank != nil {
			axis += s.rank(n.InputName(0))
		}
		with.Attrs["axis"] = graph.NewIntAttr(axis)
		return &with
	default:
		return n
	}
	with.Inputs = n.Inputs[:1]
	return &with
}

// A meaning describes a tensor as codes with the scale and the zero point that turn them into real numbers.
type meaning struct {
	codes       string
	scale, zero *graph.ConstantTensor
}

// value returns a tensor of graph a (side 0) or b (side 1) as (codes - zero point) * scale, in either spelling. It
// returns nil if the tensor has no such form.
func (s *comparison) value(side int, tensor string) *meaning {
	g := []*graph.Graph{s.a, s.b}[side]
	n := s.makers[side][tensor]
	switch {
	case n.Op == "DequantizeLinear" && n.Domain == "":
		zero := &graph.ConstantTensor{DType: graph.DTypeFloat32, F: []float64{0}}
		if name := n.InputName(2); name != "" {
			zero = g.Init[name]
		}
		if scale := g.Init[n.InputName(1)]; scale != nil && zero != nil {
			return &meaning{n.Inputs[0], scale, zero}
		}
	case n.Op == operators.OpMul && n.Domain == "":
		sub := s.makers[side][n.Inputs[0]]
		if sub == nil || sub.Op != operators.OpSub || sub.Domain != "" {
			return nil
		}
		if scale, zero := g.Init[n.Inputs[1]], g.Init[sub.Inputs[1]]; scale != nil && zero != nil {
			return &meaning{sub.Inputs[0], scale, zero}
		}
	}
	return nil
}

// meanings reports whether two meanings give the same values. Codes and zero points may differ by the same even number,
// which changes no value.
func (s *comparison) meanings(v, w *meaning) bool {
	if !alikeValues(v.scale, w.scale) {
		return false
	}
	if alikeValues(v.zero, w.zero) {
		return s.tensors(v.codes, w.codes)
	}
	by := w.zero.FloatAt(0) - v.zero.FloatAt(0)
	m, n := s.makers[0][v.codes], s.makers[1][w.codes]
	if m == nil || n == nil || !operators.HasTrait(m, operators.TraitUniformCodes) || !operators.HasTrait(n,
		operators.TraitUniformCodes) || math.Mod(by,
		2) != 0 {
		return false
	}
	shifted := *m
	shifted.Attrs, shifted.Inputs = maps.Clone(m.Attrs), slices.Clone(m.Inputs)
	for _, limit := range []string{"lo", "hi"} {
		shifted.Attrs[limit] = graph.NewFloatAttr(m.FloatAttrOr(limit, 0) + by)
	}
	zero := s.a.Init[m.InputName(2)]
	other := s.b.Init[n.InputName(2)]
	if zero == nil || other == nil || !shiftedBy(v.zero, w.zero, by) || !shiftedBy(zero, other, by) ||
		!alikeValues(s.a.Init[m.InputName(1)], s.b.Init[n.InputName(1)]) {
		return false
	}
	return s.attrs(&shifted, n) && s.tensors(m.Inputs[0], n.Inputs[0])
}

// shiftedBy reports whether the elements of u are those of t plus by.
func shiftedBy(t, u *graph.ConstantTensor, by float64) bool {
	if t.Len() != u.Len() {
		return false
	}
	for i := range t.Len() {
		if t.FloatAt(i)+by != u.FloatAt(i) {
			return false
		}
	}
	return true
}

// attrs compares attributes. Nodes that return codes may add the zero point before or after rounding. That makes no
// difference if the zero points are even. If they are odd, attrs notes the node in ties.
func (s *comparison) attrs(m, n *graph.Node) bool {
	names := map[string]bool{}
	maps.Copy(names, keys(m.Attrs))
	maps.Copy(names, keys(n.Attrs))
	_, _, codes := operators.CodeLimitsOfQuantiser(m)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		v, w := m.Attrs[name], n.Attrs[name]
		switch {
		case codes && (name == "tensor" || name == "axis"): // its name, and the axis of its parameters
			continue
		case codes && name == "zero_first" && v.I != w.I:
			if odd(s.a.Init[m.InputName(2)]) {
				s.ties = append(s.ties, m)
			}
			continue
		case v.G != nil && w.G != nil:
			in := &comparison{a: v.G, b: w.G, inputs: map[string]string{}, known: map[[2]string]bool{}}
			if in.same(); in.differs != "" {
				return s.no("in the body of %q: %s", m.Label(), in.differs)
			}
			s.ties = append(s.ties, in.ties...)
			continue
		case v.T != nil && w.T != nil && alike(v.T, w.T):
			continue
		}
		if v.Kind != w.Kind || v.I != w.I || v.F != w.F || v.S != w.S || !slices.Equal(v.Ints, w.Ints) ||
			!slices.Equal(v.Floats, w.Floats) || !slices.Equal(v.Strings, w.Strings) {
			return s.no("the attribute %q of %q is not that of %q", name, m.Label(), n.Label())
		}
	}
	return true
}

func keys(attrs graph.AttributesByName) map[string]bool {
	set := map[string]bool{}
	for name := range attrs {
		set[name] = true
	}
	return set
}

// odd reports whether a zero point is odd.
func odd(zero *graph.ConstantTensor) bool {
	for i := range zero.Len() {
		if math.Mod(zero.FloatAt(i), 2) != 0 {
			return true
		}
	}
	return false
}

// alike reports whether two constants have the same shape and elements.
func alike(t, u *graph.ConstantTensor) bool {
	return slices.Equal(t.Shape, u.Shape) && alikeValues(t, u)
}

// alikeValues reports whether two constants have the same elements in order, whatever their shapes. Parameters that
// broadcast have additional axes of one element.
func alikeValues(t, u *graph.ConstantTensor) bool {
	if t.Len() != u.Len() {
		return false
	}
	for i := range t.Len() {
		if t.FloatAt(i) != u.FloatAt(i) {
			return false
		}
	}
	return true
}
