package find

import (
	"errors"
	"fmt"
	"math/big"
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/lower/choose"
	"hlsgen/frontend/lower/integers"
	"hlsgen/frontend/lower/unmapped"
	"hlsgen/frontend/operators"
	"hlsgen/frontend/program"
	"hlsgen/frontend/real"
	"hlsgen/frontend/scaled"
)

// A MatrixVectors holds the vectors that a matrix multiplies, without elements that are constant.
type MatrixVectors struct {
	*LayerOperand     // one vector after the other
	Count, K      int // number of vectors, and elements of each

	dot       *program.Dot
	weights   *graph.ConstantTensor
	rows      int        // outputs per vector
	kept      []int      // elements that are data
	constants []*big.Rat // per element of the whole vector: its constant; nil for data
	affine    []real.Affine
	always    []*big.Rat // per element that is data: the value that it always has; nil if it changes
	inputs    *integers.InputAffines
}

// ElementIndicesOfProductVectors returns the elements of a product's data, vector by vector. rows is the number of
// outputs per vector. ok is false if the weights do not form a matrix.
func ElementIndicesOfProductVectors(d *program.Dot) (elements []int32, rows int, ok bool) {
	if rows, ok = matrixRows(d); !ok {
		return nil, 0, false
	}
	var bases []int32
	for at := 0; at < d.ABase.Len(); at += rows {
		bases = append(bases, d.ABase.At(at))
	}
	return scaled.BasePlusOffsetIndices(bases, d.AOffset), rows, true
}

// matrixRows returns the number of outputs that a matrix computes from one vector. ok is false if the product has
// no such form.
func matrixRows(d *program.Dot) (n int, ok bool) {
	n = 1
	for n < d.ABase.Len() && d.ABase.At(n) == d.ABase.At(0) {
		n++
	}
	if d.ABase.Len()%n != 0 {
		return 0, false
	}
	for i, base := range d.ABase.All {
		if base != d.ABase.At(i-i%n) || d.BBase.At(i) != d.BBase.At(i%n) {
			return 0, false
		}
	}
	return n, true
}

// MatrixVectorsOf returns the vectors that a product multiplies with the weights w. o holds its data, in the order of
// ElementIndicesOfProductVectors. The error is the reason why a matrix product cannot multiply them.
func MatrixVectorsOf(d *program.Dot, w *graph.ConstantTensor, rows int, o *LayerOperand) (*MatrixVectors, error) {
	v := &MatrixVectors{Count: d.ABase.Len() / rows, dot: d, weights: w, rows: rows}
	affine, ok := o.ChannelAffines(d.K)
	if !ok {
		return nil, unmapped.NewReason("vectors of its input are scaled differently",
			"quantise activations per tensor or per channel")
	}
	always := o.constantChannelValues(d.K)
	var reject error
	if v.constants, reject = o.constants(v.Count, d.K); reject != nil {
		return nil, reject
	}
	for k, c := range v.constants {
		if c == nil {
			v.kept, v.affine = append(v.kept, k), append(v.affine, affine[k])
			v.always = append(v.always, always[k])
		}
	}
	v.LayerOperand, v.K = o.columns(v.Count, d.K, v.kept), len(v.kept)
	return v, nil
}

// ScalePerTerm returns the scale of every element of a vector, nil for constants. ok is always true.
func (v *MatrixVectors) ScalePerTerm() (scales []*big.Rat, ok bool) {
	scales = make([]*big.Rat, len(v.constants))
	for i, k := range v.kept {
		scales[k] = scaleOf(v.affine[i], v.always[i])
	}
	return scales, true
}

// HasBlocksPerTap returns false, since an element of a vector has one weight.
func (v *MatrixVectors) HasBlocksPerTap() bool { return false }

// WeightBlockOfEachTerm returns the block of weights to which each element of the sum belongs, and the number of blocks
// (integers.GroupElementsByWeightUnit).
func (v *MatrixVectors) WeightBlockOfEachTerm() (of []int, count int) {
	one := make([]float64, 1)
	return integers.GroupElementsByWeightUnit(v.dot.K, v.rows, func(k, c int) []float64 {
		one[0] = v.weights.FloatAt(int(v.dot.BBase.At(c) + v.dot.BOffset[k]))
		return one
	})
}

// scaleOf returns the scale of an element, or nil if the element never changes.
func scaleOf(f real.Affine, always *big.Rat) *big.Rat {
	if always != nil || f.Scale.Sign() == 0 {
		return nil
	}
	return f.Scale
}

// NewMatrixProduct returns the product for a layer that reads vectors of the given length. There, element k of the
// vectors in v is at order[k]. of holds the real values of the product's outputs. reject is the reason why a column's
// weights are no integers with one scale.
func (v *MatrixVectors) NewMatrixProduct(order []int, length int) (m choose.MatrixProduct, of scaled.AffinesOfElements,
	reject error) {
	// Process several columns at a time, since their weights are adjacent.
	const together = 32
	affine := make([]real.Affine, v.rows)
	m.Weights = make([][]int64, v.rows)
	codes, floats := block[uint8](together, v.dot.K), block[float64](together, v.dot.K)
	meaning, alike := v.weights.NewCodeValuesFunc(v.dot.BOffset), v.alike()
	for at := 0; at < v.rows; at += together {
		n := min(together, v.rows-at)
		coded := alike
		for _, base := range v.dot.BBase.AppendRangeToSlice(nil, at, n) {
			coded = coded && meaning(base) != nil
		}
		if coded {
			v.codesOf(at, codes[:n])
		} else {
			v.weightsOf(at, floats[:n])
		}
		for i := range n {
			var row []int64
			if coded {
				row, affine[at+i], reject = integers.CodedWeightColumnToIntegers(codes[i],
					meaning(v.dot.BBase.At(at+i)),
					v.affine[0])
			} else {
				row, affine[at+i], reject = v.column(floats[i])
			}
			if reject != nil {
				return m, of, reject
			}
			m.Weights[at+i] = placed(row, order, length)
		}
	}
	return m, byColumn(affine, v.rows), nil
}

func block[E any](columns, k int) [][]E {
	out := make([][]E, columns)
	for i := range out {
		out[i] = make([]E, k)
	}
	return out
}

// alike reports whether all elements are data with one scale, which is not 0, and one bias.
func (v *MatrixVectors) alike() bool {
	for _, f := range v.affine {
		if !same(f, v.affine[0]) {
			return false
		}
	}
	return v.affine[0].Scale.Sign() != 0 && len(v.affine) == v.dot.K
}

// placed returns a row of the given length, with element k of the given row at order[k]. Elements that come to the same
// place are added.
func placed(row []int64, order []int, length int) []int64 {
	still := len(row) == length
	for k, at := range order {
		still = still && k == at
	}
	if still {
		return row
	}
	out := make([]int64, length)
	for k, q := range row {
		out[order[k]] += q
	}
	return out
}

// weightsOf fills columns with their weights, beginning with column from.
func (v *MatrixVectors) weightsOf(from int, columns [][]float64) {
	v.walk(from, len(columns), func(i, k int, at []int32, base int32) {
		for n, offset := range at {
			columns[i][k+n] = v.weights.FloatAt(int(base + offset))
		}
	})
}

// codesOf is weightsOf for weights that are codes.
func (v *MatrixVectors) codesOf(from int, columns [][]uint8) {
	codes := v.weights.Codes
	v.walk(from, len(columns), func(i, k int, at []int32, base int32) {
		column := columns[i][k : k+len(at)]
		for n, offset := range at {
			column[n] = codes[base+offset]
		}
	})
}

// walk visits the weights of n columns from column from on, a few adjacent rows at a time. For column i, visit gets
// the weights from k on, which are at base plus the offsets at.
func (v *MatrixVectors) walk(from, n int, visit func(i, k int, at []int32, base int32)) {
	const few = 64
	k := 0
	for at := range slices.Chunk(v.dot.BOffset, few) {
		for i, base := range v.dot.BBase.AppendRangeToSlice(nil, from, n) {
			visit(i, k, at, base)
		}
		k += len(at)
	}
}

// column returns the integers of a column's weights, without those of constant elements, and the real value of its
// sum.
func (v *MatrixVectors) column(weights []float64) (row []int64, of real.Affine, reject error) {
	kept := weights
	if len(v.kept) < len(weights) {
		kept = make([]float64, v.K)
		for i, k := range v.kept {
			kept[i] = weights[k]
		}
	}
	if v.inputs == nil {
		v.inputs = inputs(v.affine, v.always)
	}
	if row, of, reject = v.inputs.WeightColumnToIntegers(kept); reject != nil {
		return nil, of, reject
	}
	for k, constant := range v.constants {
		if constant != nil {
			w := new(big.Rat).SetFloat64(weights[k])
			of.Bias = new(big.Rat).Add(of.Bias, w.Mul(w, constant))
		}
	}
	return row, of, nil
}

// byColumn returns a function that gives each of n columns of a product its own real values, of[c] for column c.
func byColumn(of []real.Affine, n int) scaled.AffinesOfElements {
	return scaled.AffinesOfElements{Of: of, Group: func(i int32) int32 { return i % int32(n) }}
}

// constants returns the constant in each column of an operand of v vectors of k elements, nil in columns of data.
// At least one column must be data.
func (o *LayerOperand) constants(v, k int) ([]*big.Rat, error) {
	out := make([]*big.Rat, k)
	if o.Constants == nil {
		return out, nil
	}
	data := false
	for i := range v * k {
		first, this := o.constantAt(i%k), o.constantAt(i)
		if (first == nil) != (this == nil) || first != nil && first.Cmp(this) != 0 {
			return nil, unmapped.NewReason("constants that differ from vector to vector are put among its input's "+
				"elements", "pad all vectors alike")
		}
		out[i%k] = first
		data = data || first == nil
	}
	if !data {
		return nil, unmapped.NewReason("its input is constant", "remove the constant part of the model")
	}
	return out, nil
}

// columns returns an operand of v vectors of k elements with only the columns that are kept, or o itself if all are. It
// does not keep constants and scales.
func (o *LayerOperand) columns(v, k int, kept []int) *LayerOperand {
	if len(kept) == k {
		return o
	}
	out := &LayerOperand{Tensors: o.Tensors, Nodes: o.Nodes}
	for r := range v {
		for _, c := range kept {
			out.AppendPosition(o.SourceOf(r*k + c))
		}
	}
	return out
}

// OrderInStream returns where the vectors are in longer vectors of a single stream, or in shorter ones if elements are
// used twice. Element k of each is element order[k] there; length is the length there. ok is false if they have no such
// form.
func (v *MatrixVectors) OrderInStream(p *AnalysedProgram) (order []int, length int, ok bool) {
	if len(v.Tensors) != 1 {
		return nil, 0, false
	}
	t := p.Places[v.Tensors[0]].Type
	size := t.Shape.ElementCount()
	if size%v.Count != 0 {
		return nil, 0, false
	}
	length = size / v.Count
	if _, ok := t.AsVectors(length); !ok {
		return nil, 0, false
	}
	order = make([]int, v.K)
	for i := range v.Len() {
		_, at := v.SourceOf(i)
		j := int(at) - i/v.K*length
		if j < 0 || j >= length || i >= v.K && order[i%v.K] != j {
			return nil, 0, false
		}
		order[i%v.K] = j
	}
	return order, length, true
}

// OrderInConcatenation returns where a single vector is in the concatenation of several tensors with the same number of
// pixels, along their channels. Element k is element order[k] of the result, which has the given length per pixel. ok
// is false if there is no such form.
func (v *MatrixVectors) OrderInConcatenation(p *AnalysedProgram) (order []int, length int, ok bool) {
	if v.Count != 1 || len(v.Tensors) < 2 {
		return nil, 0, false
	}
	first := p.Places[v.Tensors[0]].Type.Shape
	pixels := first[:len(first)-1]
	offset, channels, total := make([]int, len(v.Tensors)), make([]int, len(v.Tensors)), 0
	for i, tensor := range v.Tensors {
		shape := p.Places[tensor].Type.Shape
		if !slices.Equal(pixels, shape[:len(shape)-1]) {
			return nil, 0, false
		}
		offset[i], channels[i] = total, shape.ChannelCount()
		total += channels[i]
	}
	for i, at := range v.VisitSources {
		order = append(order, int(at)/channels[i]*total+offset[i]+int(at)%channels[i])
	}
	return order, pixels.ElementCount() * total, true
}

// DeferProductRounding records a quantiser that rounds products one by one. The products wait for their sum.
func (p *AnalysedProgram) DeferProductRounding(code *program.Step) { p.rounded[code.Output] = code }

// IsQuantiserRoundingProducts reports whether a quantiser rounds products of data and weights one by one, and only sums
// of the results are used. Such a product of a matrix and a vector with rounded single products occurs in FINN-L.
func (p *AnalysedProgram) IsQuantiserRoundingProducts(c *QuantiserCodes) bool {
	form, _, ok := c.Forms.SingleForm()
	if !ok || !operators.HasTrait(c.Step.Node, operators.TraitUniformCodes) || len(form.Vars) < 2 {
		return false
	}
	products, err := p.Integers.FunctionOfElement(c.Step.Node.Inputs[0], 0)
	if err != nil || len(products.Leaves) != 1 {
		return false
	}
	f, ok := products.Expr.AsAffine()
	return ok && f.Bias.Sign() == 0 && p.onlySummed(c.Step.Output)
}

// onlySummed reports whether a tensor, possibly scaled and moved, is used only in sums.
func (p *AnalysedProgram) onlySummed(tensor string) bool {
	found := false
	for _, r := range p.Uses.ReadingSteps(tensor) {
		switch {
		case r.Dot != nil && r.Window == nil:
			w := p.Known[r.Node.Inputs[r.Dot.B]].Const
			if w == nil || !ones(w) {
				return false
			}
		case scaled.IsQuantiserStep(r), r.Elem == nil && r.Move == nil, r.Window != nil, !p.onlySummed(r.Output):
			return false
		}
		found = true
	}
	return found
}

func ones(w *graph.ConstantTensor) bool {
	for i := range w.Len() {
		if w.FloatAt(i) != 1 {
			return false
		}
	}
	return true
}

// RoundedProducts is a set of vectors whose single products with weights are rounded before they are added.
type RoundedProducts struct {
	*LayerOperand     // one vector after the other
	Count, K      int // number of vectors, and elements of each
	Matrix        choose.MatrixProduct
	Scale         real.Affine // real value of a sum
}

// RoundedProductsOf returns the vectors whose rounded products with the weights w a step adds. ok is false if the step
// adds no such products. If ok is true, reject may be the reason why no layer adds them; r is then nil.
func (p *AnalysedProgram) RoundedProductsOf(step *program.Step, w *graph.ConstantTensor) (r *RoundedProducts, ok bool,
	reject error) {
	if len(p.rounded) == 0 {
		return nil, false, nil
	}
	d := step.Dot
	terms, err := p.Integers.FormsOfElements(step.Node.Inputs[d.A], scaled.BasePlusOffsetIndices(d.ABase.ToSlice(),
		d.AOffset))
	form, leaf, ok := terms.SingleForm()
	if err != nil || !ok {
		return nil, false, nil
	}
	code, ok := p.rounded[leaf.Tensor]
	if ok {
		r, reject = p.roundedSums(d.K, w, code, form, leaf)
	}
	return r, ok, reject
}

// roundedSums reads sums of k codes each, in order. The codes are the leaf of a form.
func (p *AnalysedProgram) roundedSums(k int, w *graph.ConstantTensor, code *program.Step, sum *scaled.FormExpression,
	leaf *scaled.FormVariable) (*RoundedProducts,
	error) {
	if reject := p.CountTowardsTraceLimit(len(leaf.Index)); reject != nil {
		return nil, reject
	}
	scale, ok := sum.AffineAtElement(0)
	for i := range leaf.Index {
		ok = ok && sum.IsSameAtElements(0, i)
	}
	if !ok || scale.Bias.Sign() != 0 || !ones(w) {
		return nil, unmapped.NewReason("it does more than add up rounded products",
			"use the sum of the products itself")
	}
	products, err := p.Integers.FormsOfElements(code.Node.Inputs[0], leaf.Index) // in the order of the sums
	form, x, ok := products.SingleForm()
	if err != nil || !ok {
		return nil, unmapped.NewReason("it adds up products of several tensors",
			"use one tensor of data and one of weights")
	}
	n := 1 // outputs of one vector: sums over the same elements
	for n*k < len(x.Index) && slices.Equal(x.Index[n*k:(n+1)*k], x.Index[:k]) {
		n++
	}
	for i := range x.Index {
		if first := i % (n * k); x.Index[i] != x.Index[i-first+first%k] || !form.IsSameAtElements(first, i) {
			return nil, unmapped.NewReason("its weights are not one matrix for all vectors",
				"use one matrix of weights")
		}
	}
	rounding, err := integers.ProductRoundingOf(p.Program, code)
	if err != nil {
		return nil, notRounded(err)
	}
	weights, q, err := rounding.IntegerProductsOf(form, n*k, p.Places[x.Tensor].Type.UnionOfRanges())
	if err != nil {
		return nil, notRounded(err)
	}
	o := &LayerOperand{Tensors: []string{x.Tensor}, Nodes: append([]*graph.Node{code.Node}, form.Nodes...)}
	for i := 0; i < len(x.Index); i += n * k {
		for _, element := range x.Index[i : i+k] {
			o.AppendPosition(0, p.Places[x.Tensor].PositionOf(element))
		}
	}
	m := choose.MatrixProduct{Weights: slices.Collect(slices.Chunk(weights, k)), Product: &q}
	return &RoundedProducts{o, len(x.Index) / n / k, k, m, scale}, nil
}

func notRounded(err error) error {
	var why *unmapped.Reason
	if errors.As(err, &why) {
		return err
	}
	return unmapped.NewReason("its products are rounded one by one: "+err.Error(),
		"round them with one scale and zero point 0, or round their sum")
}

// maxRows is the largest number of rows of a table whose rows are looked up.
const maxRows = 1 << 16

// LookupTableOf returns the table of a product that selects rows of a matrix by an operand of row numbers. of holds the
// real values of its outputs. reject is the reason against a table, such as indices out of range or rows that are no
// integers with one scale per column.
func (p *AnalysedProgram) LookupTableOf(d *program.Dot, w *graph.ConstantTensor,
	o *LayerOperand) (rows choose.LookupTable, of scaled.AffinesOfElements,
	reject error) {
	n, ok := matrixRows(d)
	if !ok {
		return rows, of, unmapped.NewReason(fmt.Sprintf("a table of shape %v", w.Shape), "look up rows of one matrix")
	}
	f, ok := o.ChannelAffines(1)
	if !ok || o.Constants != nil || len(o.Tensors) != 1 {
		return rows, of, unmapped.NewReason("its indices are not those of one quantiser", "compute all indices alike")
	}
	r := p.Places[o.Tensors[0]].Type.UnionOfRanges()
	if r.Lo < 0 || r.Hi >= maxRows {
		return rows, of, unmapped.NewReason(fmt.Sprintf("its indices lie in %v", r),
			fmt.Sprintf("use indices from 0 to %d", maxRows-1))
	}
	var index []int
	for q := r.Lo; q <= r.Hi; q++ {
		v := new(big.Rat).Mul(f[0].Scale, new(big.Rat).SetInt64(q))
		v.Add(v, f[0].Bias)
		if v.IsInt() && v.Num().IsInt64() {
			index = append(index, int(v.Num().Int64()))
		} else {
			index = append(index, -1)
		}
	}
	table := chosen(d, w, n, index)
	values, affine, reject := tableOf(table, n)
	if reject != nil {
		return rows, of, reject
	}
	return choose.LookupTable{Table: values}, byColumn(affine, n), nil
}

// chosen returns rows of a product's matrix with n columns. A row that does not exist is zero.
func chosen(d *program.Dot, w *graph.ConstantTensor, n int, index []int) [][]float64 {
	table := make([][]float64, len(index))
	for i, at := range index {
		table[i] = make([]float64, n)
		for c := range table[i] {
			if at >= 0 && at < d.K {
				table[i][c] = w.FloatAt(int(d.BBase.At(c) + d.BOffset[at]))
			}
		}
	}
	return table
}

// tableOf converts a table to integers, column by column.
func tableOf(table [][]float64, n int) (values [][]int64, affine []real.Affine, reject error) {
	values = make([][]int64, len(table))
	same := make([]real.Affine, len(table))
	for i := range same {
		same[i] = scaled.IdentityAffines[0]
	}
	for c := range n {
		column := make([]float64, len(table))
		for i, row := range table {
			column[i] = row[c]
		}
		q, f, reject := integers.WeightColumnToIntegers(column, same)
		if reject != nil {
			return nil, nil, reject
		}
		for i, v := range q {
			values[i] = append(values[i], v)
		}
		affine = append(affine, f)
	}
	return values, affine, nil
}
