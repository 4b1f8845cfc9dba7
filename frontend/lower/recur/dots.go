package recur

import (
	"errors"
	"fmt"
	"math/big"
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/lower/integers"
	"hlsgen/frontend/lower/unmapped"
	"hlsgen/frontend/program"
	"hlsgen/frontend/real"
	"hlsgen/frontend/scaled"
	"hlsgen/internal/num"
)

// A dot is a product of data with constant weights. Each element is a sum of parts, one for each vector of integers
// on which the data depend, plus a bias.
type dot struct {
	parts []dotPart
	bias  []*big.Rat
}

// A dotPart is the contribution of one vector to the elements of a dot.
type dotPart struct {
	vector  *vector    // nil for the input
	rows    [][]int64  // weights per element, over the vector
	scale   []*big.Rat // scale of the sum, per element; nil if all weights are zero
	product *num.Requant
}

// dot returns a product with constant weights. It reads each product only once.
func (b *reader) dot(step *program.Step) (*dot, error) {
	if d := b.dots[step]; d != nil {
		return d, nil
	}
	d := &dotReader{reader: b, step: step}
	if reject := d.operands(); reject != nil {
		return nil, reject
	}
	out, reject := d.read()
	if reject == nil {
		b.dots[step] = out
	}
	return out, reject
}

// part returns the sums of part k of a dot for the dot's elements at, or nil if they are zero.
func (b *reader) part(step *program.Step, d *dot, k int, at []int32) *value {
	p := &d.parts[k]
	id := key(fmt.Sprintf("%s\x00%d", step.Output, k), at)
	v := b.values[id]
	if v == nil {
		v = &value{kind: lane, units: len(at), vector: p.vector, product: p.product}
		if p.vector != nil {
			v.kind = sum
		}
		for _, u := range at {
			v.rows = append(v.rows, p.rows[u])
		}
		b.values[id] = v
		b.know(v)
	}
	if !slices.ContainsFunc(at, func(u int32) bool { return p.scale[u] != nil }) {
		return nil
	}
	return v
}

type dotReader struct {
	*reader
	step           *program.Step
	w              *graph.ConstantTensor
	data           string
	base, offset   []int32 // positions of the data
	wBase, wOffset []int32
	forms          *scaled.ElementForms
	leaves         [][]*scaled.FormVariable // per form
	elements       []int32                  // elements of the data that are added up
	affine         []*real.Affine           // real value of each element of the data; nil if not known yet
	sources        []source                 // sources of the parts
}

// operands records which input of the product is the weights, and which the data.
func (d *dotReader) operands() error {
	dot, in := d.step.Dot, d.step.Node.Inputs
	d.w, d.data = d.body.Known[in[dot.B]].Const, in[dot.A]
	d.base, d.offset, d.wBase, d.wOffset = dot.ABase.ToSlice(), dot.AOffset, dot.BBase.ToSlice(), dot.BOffset
	if d.w == nil { // weights times data
		d.w, d.data = d.body.Known[in[dot.A]].Const, in[dot.B]
		d.base, d.offset, d.wBase, d.wOffset = dot.BBase.ToSlice(), dot.BOffset, dot.ABase.ToSlice(), dot.AOffset
	}
	if d.w == nil || dot.Then != nil {
		return refuse(d.step, "multiplies two tensors of data")
	}
	return nil
}

func (d *dotReader) read() (*dot, error) {
	if n := len(d.base) * len(d.offset); n > maxWeights {
		return nil, d.tooManyWeights()
	}
	var err error
	d.elements = scaled.BasePlusOffsetIndices(d.base, d.offset)
	if d.forms, err = d.a.FormsOfElements(d.data, d.elements); err != nil {
		return nil, refuse(d.step, "does not work on integers: %v", err)
	}
	d.affine = make([]*real.Affine, graph.ElementCount(d.body.Known[d.data].Shape))
	for i := range d.forms.Of {
		d.leaves = append(d.leaves, d.forms.Of[i].IntegerVariables())
	}
	if form, leaf, ok := d.forms.SingleForm(); ok {
		if r, reject := d.rounding(leaf); r != nil || reject != nil {
			if reject != nil {
				return nil, reject
			}
			return d.rounded(form, leaf, r)
		}
	}
	if reject := d.find(); reject != nil {
		return nil, reject
	}
	return d.sums()
}

// A source is a vector of which some data are elements: an integer tensor, or polynomials of several tensors that
// become one value.
type source struct {
	tensor string
	form   int // form of the polynomials; -1 for a tensor
	vector *vector
	place  []int32 // position in the vector of each element of the tensor, or of the data
	length int     // length of the vector
	of     []real.Affine
}

// find records the sources of the data.
func (d *dotReader) find() error {
	for i, leaves := range d.leaves {
		var s source
		var reject error
		switch {
		case len(leaves) == 0 || len(leaves) == 1 && d.sourceOf(i) != nil:
			continue
		case len(leaves) == 1:
			s = source{tensor: leaves[0].Tensor, form: -1}
			var used []int32
			for k := range d.elements {
				if l := d.leaves[d.forms.FormIndexOf(k)]; len(l) == 1 && l[0].Tensor == s.tensor {
					used = append(used, l[0].Index[k])
				}
			}
			s.vector, s.place, s.length, reject = d.vectorOf(s.tensor, used)
		default:
			s, reject = d.polynomials(i)
		}
		if reject != nil {
			return reject
		}
		if n := len(d.base) * s.length; n > maxWeights {
			return d.tooManyWeights()
		}
		d.sources = append(d.sources, s)
	}
	return nil
}

// sourceOf returns the source of the elements of form i, or nil if it is not known yet.
func (d *dotReader) sourceOf(i int) *source {
	for k := range d.sources {
		s := &d.sources[k]
		if s.form == i || s.form < 0 && len(d.leaves[i]) == 1 && s.tensor == d.leaves[i][0].Tensor {
			return s
		}
	}
	return nil
}

// polynomials returns a source whose vector holds the elements of form i.
func (d *dotReader) polynomials(i int) (s source, reject error) {
	var used []int32
	for k, e := range d.elements {
		if d.forms.FormIndexOf(k) == i {
			used = append(used, e)
		}
	}
	s = source{form: i}
	at := slices.Compact(slices.Sorted(slices.Values(used)))
	s.place, s.length = places(at, graph.ElementCount(d.body.Known[d.data].Shape)), len(at)
	forms, err := d.a.FormsOfElements(d.data, at)
	v, of, reject := d.exact(d.step, forms, err, len(at))
	if reject == nil {
		s.vector, s.of = d.codeVector(v), of
	}
	return s, reject
}

// places returns, for elements 0 to size-1, the place of each in the list at. Elements that are not in it have place 0.
func places(at []int32, size int) []int32 {
	place := make([]int32, size)
	for k, i := range at {
		place[i] = int32(k)
	}
	return place
}

// vectorOf returns the vector that contains an integer tensor, the positions of the tensor's elements in it, and
// its length. A vector made from a code contains only the elements that are used.
func (d *dotReader) vectorOf(tensor string, used []int32) (v *vector, place []int32, length int, reject error) {
	size := graph.ElementCount(d.body.Known[tensor].Shape)
	if k := slices.Index(d.names, tensor); k >= 0 {
		if k < d.recur.States {
			return d.stateVector(k), scaled.NewCountingList(size), size, nil
		}
		place = scaled.NewCountingList(size)
		for i := range place {
			place[i] += int32(d.reader.offset[k-d.recur.States])
		}
		return nil, place, d.width, nil
	}
	if from := d.body.ProducerOf(tensor); from.Dot != nil {
		return nil, nil, 0, refuse(d.step, "multiplies the sums of %s: quantise them first",
			unmapped.DescribeNode(from.Node))
	}
	at := slices.Compact(slices.Sorted(slices.Values(used)))
	place = places(at, size)
	of, reject := d.value(tensor, at)
	if reject != nil {
		return nil, nil, 0, reject
	}
	if of.kind == state {
		return d.stateVector(of.state), place, len(at), nil
	}
	return d.codeVector(of), place, len(at), nil
}

// sums returns the dot, whose parts hold a row of weights for each element.
func (d *dotReader) sums() (*dot, error) {
	out := &dot{}
	for _, src := range d.sources {
		out.parts = append(out.parts, dotPart{vector: src.vector})
	}
	n := len(d.offset)
	for j := range d.base {
		columns, scales := make([][]float64, len(d.sources)), make([][]real.Affine, len(d.sources))
		at := make([][]int32, len(d.sources))
		bias := new(big.Rat)
		for k := range n {
			w := d.w.FloatAt(int(d.wBase[j] + d.wOffset[k]))
			i, place, f, ok := d.element(j*n + k)
			switch {
			case !ok:
				return nil, refuse(d.step, "does not work on scaled integers: quantise its input")
			case i < 0:
				c := new(big.Rat).SetFloat64(w)
				bias.Add(bias, c.Mul(c, f.Bias))
				continue
			}
			columns[i], scales[i], at[i] = append(columns[i], w), append(scales[i], f), append(at[i], place)
		}
		for i := range out.parts {
			p, length := &out.parts[i], d.sources[i].length
			if len(columns[i]) == 0 {
				p.rows, p.scale = append(p.rows, make([]int64, length)), append(p.scale, nil)
				continue
			}
			row, f, reject := integers.WeightColumnToIntegers(columns[i], scales[i])
			if reject != nil {
				return nil, reject
			}
			placed := make([]int64, length)
			for k, q := range row {
				placed[at[i][k]] += q
			}
			if f.Scale.Sign() == 0 || !slices.ContainsFunc(placed, func(q int64) bool { return q != 0 }) {
				placed, f.Scale = make([]int64, length), nil
			}
			bias.Add(bias, f.Bias)
			p.rows, p.scale = append(p.rows, placed), append(p.scale, f.Scale)
		}
		out.bias = append(out.bias, bias)
	}
	for i := range out.parts {
		out.parts[i].level()
	}
	return out, nil
}

// element returns the source of element e of the added elements, its position in the source's vector, and its real
// value. The source is -1 if the element is constant.
func (d *dotReader) element(e int) (i int, place int32, of real.Affine, ok bool) {
	which := d.forms.FormIndexOf(e)
	i = -1
	if src := d.sourceOf(which); src != nil {
		i = slices.IndexFunc(d.sources, func(s source) bool { return s.form == src.form && s.tensor == src.tensor })
		if src.of != nil {
			place = src.place[d.elements[e]]
			return i, place, src.of[place], true
		}
		place = src.place[d.leaves[which][0].Index[e]]
	}
	known := &d.affine[d.elements[e]]
	if *known == nil {
		if of, ok = d.forms.Of[which].AffineAtElement(e); !ok {
			return i, place, of, false
		}
		*known = &of
	}
	return i, place, **known, true
}

// level gives the sums of all elements a common scale, unless a weight would become wider than the widest one. Without
// this, rows whose weights happen to be even would have another scale than the rest, and gates would need separate
// functions.
func (p *dotPart) level() {
	scales := slices.DeleteFunc(slices.Clone(p.scale), func(s *big.Rat) bool { return s == nil })
	unit := integers.GreatestCommonUnitOf(scales)
	var all num.Range
	for _, row := range p.rows {
		all = all.Union(num.RangeOfValues(append([]int64{0}, row...)))
	}
	rows := make([][]int64, len(p.rows))
	for j, s := range p.scale {
		rows[j] = slices.Clone(p.rows[j])
		if s == nil {
			continue
		}
		m, reject := integers.CountUnits(s, unit)
		r, ok := num.RangeOfValues(append([]int64{0}, rows[j]...)).TimesConstant(m)
		if reject != nil || !ok || num.NarrowestIntTypeFor(all.Union(r)) != num.NarrowestIntTypeFor(all) {
			return
		}
		for k := range rows[j] {
			rows[j][k] *= m
		}
	}
	p.rows = rows
	for j, s := range p.scale {
		if s != nil {
			p.scale[j] = unit
		}
	}
}

// A rounding describes a tensor of products that are rounded one by one. Element i is weights[i] times an element of
// the vector.
type rounding struct {
	vector  *vector
	place   []int32
	length  int
	weights []int64
	from    []int32
	requant num.Requant
	scale   *big.Rat
}

// rounding returns a code as products that are rounded one by one. It returns nil if the code is not made of such
// products but is itself a vector.
func (d *dotReader) rounding(leaf *scaled.FormVariable) (*rounding, error) {
	step := d.body.ProducerOf(leaf.Tensor)
	if step == nil || !scaled.IsQuantiserStep(step) {
		return nil, nil
	}
	n := graph.ElementCount(step.Shape)
	forms, err := d.a.FormsOfElements(step.Node.Inputs[0], scaled.NewCountingList(n))
	form, of, ok := forms.SingleForm()
	if err != nil || !ok || graph.ElementCount(d.body.Known[of.Tensor].Shape) >= n {
		return nil, nil
	}
	if from := d.body.ProducerOf(of.Tensor); from != nil && from.Dot != nil {
		return nil, nil
	}
	q, err := integers.ProductRoundingOf(d.body, step)
	if err != nil {
		return nil, newUnsupported("%v", err)
	}
	r := &rounding{from: of.Index, scale: q.Scale}
	var reject error
	if r.vector, r.place, r.length, reject = d.vectorOf(of.Tensor, of.Index); reject != nil {
		return nil, reject
	}
	if r.weights, r.requant, err = q.IntegerProductsOf(form, n, d.spanOf(of.Tensor)); err != nil {
		var why *unmapped.Reason
		if errors.As(err, &why) {
			return nil, err
		}
		return nil, newUnsupported("%v", err)
	}
	return r, nil
}

// rounded returns a sum of rounded products as a dot.
func (d *dotReader) rounded(form *scaled.FormExpression, leaf *scaled.FormVariable, r *rounding) (*dot, error) {
	p := dotPart{vector: r.vector, product: &r.requant}
	out := &dot{}
	n := len(d.offset)
	for j := range d.base {
		row := make([]int64, r.length)
		for k := range n {
			f, ok := form.AffineAtElement(j*n + k)
			if !ok || f.Bias.Sign() != 0 || f.Scale.Cmp(r.scale) != 0 ||
				d.w.FloatAt(int(d.wBase[j]+d.wOffset[k])) != 1 {
				return nil, refuse(d.step, "does not just add up rounded products")
			}
			at := leaf.Index[j*n+k]
			to := r.place[r.from[at]]
			if row[to] != 0 && r.weights[at] != 0 {
				return nil, refuse(d.step, "takes a product twice")
			}
			row[to] += r.weights[at]
		}
		scale := r.scale
		if !slices.ContainsFunc(row, func(q int64) bool { return q != 0 }) {
			scale = nil
		}
		p.rows, p.scale, out.bias = append(p.rows, row), append(p.scale, scale), append(out.bias, new(big.Rat))
	}
	out.parts = []dotPart{p}
	return out, nil
}
