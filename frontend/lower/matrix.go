package lower

import (
	"errors"
	"fmt"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/lower/choose"
	"hlsgen/frontend/lower/find"
	"hlsgen/frontend/lower/place"
	"hlsgen/frontend/lower/unmapped"
	"hlsgen/frontend/program"
	"hlsgen/frontend/real"
	"hlsgen/frontend/scaled"
	"hlsgen/hlslib/concat"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
)

// A product is a product of data with constant weights that has no layer yet, since the activation behind it may join
// it.
type product struct {
	*choose.ProductBeforeActivation
	step  *program.Step
	in    int           // wire
	nodes []*graph.Node // nodes between the input's quantiser and the product
}

// EnsureWire adds the layer of the product without an activation, and returns its output's wire.
func (p *product) EnsureWire(n *place.Netlist, name string) int {
	out, err := n.AddLayer(p.OpWithoutActivation(), []int{p.in}, name, p.all())
	if err != nil {
		panic(fmt.Sprintf("lower: %s: %v", name, err)) // cannot happen: the rule for products has bound it before
	}
	return out[0]
}

// all returns the nodes that the product's layer computes, the product's own node first. Layers are named after the
// first.
func (p *product) all() []*graph.Node { return append([]*graph.Node{p.step.Node}, p.nodes...) }

// waiting returns the product whose integers a stream carries. ok is false if that is not a product, or has a layer
// already.
func waiting(s *place.WireStream) (p *product, ok bool) {
	if s.IsOnWire() {
		return nil, false
	}
	p, ok = s.Source.(*product)
	return p, ok
}

func matrix(l *lowering, step *program.Step) (bool, error) {
	if step.Dot == nil {
		return false, nil
	}
	reject := l.multiply(step)
	if errors.Is(reject, find.ErrSeveralIntegers) && (!l.Uses.FeedsQuantiser(step.Output) || l.Uses.IsHostTail(step)) ||
		unlayered(reject) && !l.Uses.FeedsProductOrLoop(step.Output) && addsUp(l, step) {
		l.hosted[step.Output] = true
		l.leave(step, "matrix", reject)
		return true, nil
	}
	return true, reject
}

// addsUp reports whether all weights of a product that are not 0 are one number, so that it only adds up or takes
// means.
func addsUp(l *lowering, step *program.Step) bool {
	w := l.Known[step.Node.Inputs[step.Dot.B]].Const
	if w == nil {
		return false
	}
	one := 0.0
	for i := range w.Len() {
		switch v := w.FloatAt(i); {
		case v == 0 || v == one:
		case one != 0:
			return false
		default:
			one = v
		}
	}
	return true
}

func (l *lowering) multiply(step *program.Step) error {
	d, in := step.Dot, step.Node.Inputs
	w := l.Known[in[d.B]].Const
	switch {
	case l.Integers.IsFromIntegers(in[d.A]) && l.Integers.IsFromIntegers(in[d.B]):
		return unmapped.NewReasonWithCause(find.ErrSeveralIntegers, diag.NodeNotMapped, "both operands depend on data",
			"a product of two tensors of data, as in attention, needs weights that arrive on a stream. No layer "+
				"takes these; behind the last quantiser it would stay on the host")
	case l.Integers.IsFromIntegers(in[d.B]):
		return unmapped.NewReason("the constant is on the left",
			"export the layer as data times weights (transpose both)")
	case w == nil:
		return unmapped.NewReasonWithCode(diag.WeightsNotInteger, "the weights are not constant",
			"weights must be constants of the model")
	case d.Then != nil:
		return notOneMatrix(w)
	case step.Window != nil:
		return l.convolution(step, w)
	}
	if one := l.OneHotStepOf(in[d.A]); one != nil {
		return l.lookup(step, one, w)
	}
	if r, ok, reject := l.RoundedProductsOf(step, w); ok {
		return l.rounded(step, r, reject)
	}
	return l.vectors(step, w)
}

func notOneMatrix(w *graph.ConstantTensor) error {
	return unmapped.NewReason(fmt.Sprintf("weights of shape %v", w.Shape), "weights must be one matrix for all samples")
}

// vectors makes an integer tensor of a product of the weights w with vectors. The error is the reason why it cannot.
func (l *lowering) vectors(step *program.Step, w *graph.ConstantTensor) error {
	elements, n, ok := find.ElementIndicesOfProductVectors(step.Dot)
	if !ok {
		return notOneMatrix(w)
	}
	o, reject := l.operand(step.Node.Inputs[step.Dot.A], program.NewIndexList(elements))
	if reject != nil {
		return reject
	}
	v, reject := find.MatrixVectorsOf(step.Dot, w, n, o)
	if reject != nil {
		return reject
	}
	p := &product{step: step, nodes: v.Nodes}
	var order []int
	var length int
	if p.in, order, length, reject = l.inOrder(v); reject != nil {
		return reject
	}
	m, affine, reject := v.NewMatrixProduct(order, length)
	if reject == nil {
		reject = l.wait(p, m, nil, nil, affine)
	}
	return l.splits(step, v, reject)
}

// inOrder returns a wire with vectors, and their length there. Element k of the vectors in v is element order[k] of
// those on the wire. It adds layers only if no stream has such vectors.
func (c *circuit) inOrder(v *find.MatrixVectors) (wire int, order []int, length int, reject error) {
	outermost := c.outermost(v)
	if order, length, ok := v.OrderInStream(c.AnalysedProgram); ok && !outermost {
		return c.take(v.Tensors[0]), order, length, nil
	}
	if order, length, ok := v.OrderInConcatenation(c.AnalysedProgram); ok && !outermost {
		ins := make([]int, len(v.Tensors))
		for i, tensor := range v.Tensors {
			ins[i] = c.take(tensor)
		}
		if wire, err := c.net.AddMoverLayer(concat.New(concat.Params{Inputs: len(ins)}), ins, v.Nodes); err == nil {
			return wire, order, length, nil
		}
	}
	wire, reject = c.arrange(v.LayerOperand, dataflow.Shape{v.Count, v.K}, 0)
	for k := range v.K {
		order = append(order, k)
	}
	return wire, order, v.K, reject
}

// outermost reports whether a vector consists of elements of the first and the last of many vectors of a stream, as
// at the end of a sequence.
func (c *circuit) outermost(v *find.MatrixVectors) bool {
	if v.Count > 1 {
		return false
	}
	found := false
	for i, tensor := range v.Tensors {
		var at []int32
		for from, place := range v.VisitSources {
			if int(from) == i {
				at = append(at, place)
			}
		}
		shape := c.Places[tensor].Type.Shape
		_, ok := place.FindFirstLastParams(shape, dataflow.Shape{len(at)}, at)
		if !ok && shape.VectorCount() > 1 {
			return false
		}
		found = found || ok
	}
	return found
}

// rounded adds a product of a matrix with vectors whose single products are rounded. reject is an earlier reason
// against it, or nil.
func (l *lowering) rounded(step *program.Step, r *find.RoundedProducts, reject error) error {
	if reject != nil {
		return reject
	}
	p := &product{step: step, nodes: r.Nodes}
	if p.in, reject = l.arrange(r.LayerOperand, dataflow.Shape{r.Count, r.K}, 0); reject != nil {
		return reject
	}
	return l.wait(p, r.Matrix, nil, nil, scaled.AffinesOfElements{Of: []real.Affine{r.Scale}})
}

// convolution makes an integer tensor of a product of the weights w with the windows of an image. The error is the
// reason why it cannot.
func (l *lowering) convolution(step *program.Step, w *graph.ConstantTensor) error {
	im, wire, reject := l.image(step, step.Node.Inputs[step.Dot.A])
	if reject != nil {
		return reject
	}
	m, affine, reject := im.ConvolutionProduct(step, w)
	if reject == nil {
		_, at := l.Layouts.WindowLayoutOf(step.Window, step.Shape)
		reject = l.wait(&product{step: step, in: wire, nodes: im.Nodes}, m, im, at, affine)
	}
	return l.splits(step, im.ConvolutionTermsOf(step, w), reject)
}

// wait makes an integer tensor of a product's output. The product gets its layer only when it is known whether a
// quantiser joins it. im is the image over which its windows slide, or nil for vectors.
func (c *circuit) wait(p *product, m choose.MatrixProduct, im *find.PaddedImage, at *program.IndexList,
	affine scaled.AffinesOfElements) error {
	choice, reject := choose.ChooseLayersForFunction(m)
	if reject != nil {
		return reject
	}
	if p.in, reject = c.front(choice.Front, im, p.in, p.step.Window); reject != nil {
		return reject
	}
	p.ProductBeforeActivation = choice.Waits
	p.In = c.net.WireType(p.in)
	_, types, err := p.OpWithoutActivation().Bind([]dataflow.StreamType{p.In})
	if err != nil {
		return choice.RefusalReason(err)
	}
	c.Places[p.step.Output] = &place.TensorPlace{WireStream: &place.WireStream{Type: types[0], Source: p}, At: at}
	c.Integers.DeclareGroupedIntegers(p.step.Output, affine)
	return nil
}

// lookup adds a layer with a table, the weights w, whose rows are selected by indices. Step one turns the indices into
// vectors with a single 1.
func (l *lowering) lookup(step, one *program.Step, w *graph.ConstantTensor) error {
	index := one.Node.Inputs[one.Elem.Args[0]]
	o, reject := l.operand(index,
		program.NewIndexList(scaled.NewCountingList(graph.ElementCount(l.Known[index].Shape))))
	if reject != nil {
		return reject
	}
	rows, affine, reject := l.LookupTableOf(step.Dot, w, o)
	if reject != nil {
		return reject
	}
	wire, reject := l.arrange(o, dataflow.Shape{o.Len()}, 0)
	if reject != nil {
		return reject
	}
	if wire, reject = l.make(rows, []int{wire}, step.Output,
		append([]*graph.Node{step.Node}, o.Nodes...)); reject != nil {
		return reject
	}
	l.put(step.Output, wire, nil)
	l.Integers.DeclareGroupedIntegers(step.Output, affine)
	return nil
}
