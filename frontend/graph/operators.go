package graph

import (
	"maps"
	"math"
	"slices"
	"strings"

	"hlsgen/frontend/real"
	"hlsgen/internal/diag"
)

// An operator is a row of the table: how many inputs it has, what is asked about it elsewhere, and how it becomes steps.
type operator struct {
	min, max int
	is       Trait
	build    func(*call) *reject
}

// A Trait is what others ask of an operator: nobody but the files operators*.go knows one by its name.
type Trait uint16

// The traits.
const (
	Plain        Trait = 1 << iota // makes scaled integers of scaled integers
	WholeRow                       // each element depends on its whole row, and rises strictly with its own input
	Clips                          // bounds each element by inputs 1 and 2, or by attributes
	TakesFormats                   // its gates have formats only where --lstm-config gives them
	Minifloat                      // quantises to floats
	OneHot                         // a row of zeros with a one for each index
	Uniform                        // gives codes of equal steps: inputs are the data, the scale and the zero point

	loops   // runs along a sequence
	codes   // gives the codes of a quantiser
	signs   // gives codes of which all are -1 or +1
	ofCodes // makes the value of a code
	bounds  // may hold infinities, which bound nothing
)

// The operators that others write.
const (
	Add       = "Add"
	Code      = "Code"
	Concat    = "Concat"
	Gather    = "Gather"
	Identity  = "Identity"
	MatMul    = "MatMul"
	Mul       = "Mul"
	Quant     = "Quant"
	Reshape   = "Reshape"
	Transpose = "Transpose"
)

// operators is every operator that is understood, by domain and name.
var operators map[string]map[string]operator

// parts are the operators that others are written in. They check nothing that these have checked: no graph has them.
var parts map[string]operator

func init() { // definitions look operators up
	parts = map[string]operator{
		"Pad":     {1, 2, 0, buildPadded},
		"Spread":  {2, 2, 0, buildSpread},
		"Turn":    {1, 1, 0, buildTurn},
		"Sum":     {2, 2, 0, buildSum},
		"Max":     {1, 1, 0, buildOver(real.Max)},
		"Product": {1, 1, 0, buildOver(real.Mul)},
		"OneHot":  {2, 2, OneHot, buildOneHot},
	}
	operators = map[string]map[string]operator{
		"": {
			"Add":                {2, 2, Plain, binary(real.Add)},
			"Sub":                {2, 2, Plain | ofCodes, binary(real.Sub)},
			"Mul":                {2, 2, Plain | ofCodes, binary(real.Mul)},
			"Div":                {2, 2, Plain, buildDiv},
			"Pow":                {2, 2, 0, buildPow},
			"Relu":               {1, 1, 0, unary(func(x *real.Expr) *real.Expr { return real.Max(x, real.Float(0)) })},
			"Clip":               {1, 3, Clips | bounds, buildClip},
			"Cast":               {1, 1, 0, buildCast},
			"Identity":           {1, 1, Plain, buildIdentity},
			"BatchNormalization": {5, 5, Plain, buildBatchNorm},
			"MatMul":             {2, 2, 0, buildMatMul},
			"Gemm":               {2, 3, 0, buildGemm},
			"Constant":           {0, 0, bounds, buildConstant},
			"Shape":              {1, 1, 0, buildShape},
			"Flatten":            {1, 1, Plain, buildFlatten},
			"Reshape":            {2, 2, Plain, buildReshape},
			"Squeeze":            {1, 2, Plain, buildSqueeze},
			"Unsqueeze":          {1, 2, Plain, buildUnsqueeze},
			"Transpose":          {1, 1, Plain, buildTranspose},
			"Concat":             {1, 1 << 16, Plain, buildConcat},
			"Gather":             {2, 2, 0, buildGather},
			"QuantizeLinear":     {2, 3, 0, buildQuantizeLinear},
			"DequantizeLinear":   {2, 3, 0, buildDequantizeLinear},
			"Abs":                {1, 1, 0, unary(real.Abs)},
			"Neg":                {1, 1, 0, unary(real.Neg)},
			"Sqrt":               {1, 1, 0, unary(real.Sqrt)},
			"Exp":                {1, 1, 0, unary(real.Exp)},
			"Log":                {1, 1, 0, unary(real.Log)},
			"Sign":               {1, 1, 0, unary(sign)},
			"Reciprocal":         {1, 1, 0, unary(func(x *real.Expr) *real.Expr { return real.Div(one, x) })},
			"Sigmoid":            {1, 1, 0, unary(sigmoid)},
			"Tanh":               {1, 1, 0, unary(tanh)},
			"Softplus":           {1, 1, 0, unary(softplus)},
			"Softsign":           {1, 1, 0, unary(softsign)},
			"HardSigmoid":        {1, 1, 0, buildHardSigmoid},
			"LeakyRelu":          {1, 1, 0, buildLeakyRelu},
			"Elu":                {1, 1, 0, buildElu},
			"Selu":               {1, 1, 0, buildSelu},
			"PRelu":              {2, 2, 0, buildPRelu},
			"Ceil":               {1, 1, 0, unary(rounded(real.Ceil))},
			"Floor":              {1, 1, 0, unary(rounded(real.Floor))},
			"Round":              {1, 1, 0, unary(rounded(real.HalfEven))},
			"Min":                {1, 1 << 10, 0, fold(real.Min)},
			"Max":                {1, 1 << 10, 0, fold(real.Max)},
			"Where":              {3, 3, 0, buildWhere},
			"Softmax":            {1, 1, WholeRow, softmax(false)},
			"LogSoftmax":         {1, 1, WholeRow, softmax(true)},
			"ArgMax":             {1, 1, 0, buildArg(true)},
			"ArgMin":             {1, 1, 0, buildArg(false)},
			"TopK":               {1, 2, 0, buildTopK},
			"Split":              {1, 2, Plain, buildSplit},
			"Slice":              {1, 5, Plain, buildSlice},
			"Expand":             {2, 2, 0, buildExpand},
			"ConstantOfShape":    {1, 1, 0, buildConstantOfShape},
			"Dropout":            {1, 3, 0, buildDropout},
			"Scan":               {1, 1 << 10, loops, buildScan},
			"LSTM":               {3, 8, loops | TakesFormats, buildLSTM},
			"Conv":               {2, 3, 0, buildConv},
			"ConvTranspose":      {2, 3, 0, buildConvTranspose},
			"MaxPool":            {1, 1, 0, buildMaxPool},
			"AveragePool":        {1, 1, 0, buildAveragePool},
			"GlobalMaxPool":      {1, 1, 0, buildGlobalMaxPool},
			"GlobalAveragePool":  {1, 1, 0, buildGlobalAveragePool},
			"Pad":                {1, 4, Plain, buildPad},
			"Resize":             {1, 4, 0, buildResize},
			"Upsample":           {1, 2, 0, buildUpsample},
			"DepthToSpace":       {1, 1, 0, buildDepthToSpace},
			"SpaceToDepth":       {1, 1, 0, buildSpaceToDepth},
			"ReduceMean":         {1, 2, 0, reduction("GlobalAveragePool", "Sum")},
			"ReduceSum":          {1, 2, 0, reduction("", "Sum")},
			"ReduceMax":          {1, 2, 0, reduction("GlobalMaxPool", "Max")},
			"ReduceMin":          {1, 2, 0, minimumOver},
			"ReduceProd":         {1, 2, 0, reduction("", "Product")},
			"ReduceL1":           {1, 2, 0, sumOf([]string{"Abs"}, "")},
			"ReduceL2":           {1, 2, 0, sumOf([]string{"Mul"}, "Sqrt")},
			"ReduceSumSquare":    {1, 2, 0, sumOf([]string{"Mul"}, "")},
			"ReduceLogSum":       {1, 2, 0, sumOf(nil, "Log")},
			"ReduceLogSumExp":    {1, 2, 0, sumOf([]string{"Exp"}, "Log")},
		},
		// QONNX: ONNX's operators on data whose channels are the last axis. (GlobalAveragePool and GlobalMaxPool are ours.)
		channelsLast: {
			"Conv":               {2, 3, 0, buildConv},
			"MaxPool":            {1, 1, 0, buildMaxPool},
			"AveragePool":        {1, 1, 0, buildAveragePool},
			"GlobalMaxPool":      {1, 1, 0, buildGlobalMaxPool},
			"GlobalAveragePool":  {1, 1, 0, buildGlobalAveragePool},
			"BatchNormalization": {5, 5, 0, buildBatchNorm},
			"Resize":             {1, 4, 0, buildResize},
		},
		QONNX: {
			"Quant":          {4, 4, 0, buildQuant},
			"IntQuant":       {4, 4, 0, buildQuant},
			"BipolarQuant":   {2, 2, 0, buildBipolarQuant},
			"Trunc":          {5, 6, 0, buildTrunc},
			"FloatQuant":     {6, 6, Minifloat, buildFloatQuant},
			"MultiThreshold": {2, 2, 0, buildMultiThreshold},
			"QuantLSTMCell":  {48, 48, loops, buildQuantLSTMCell},
		},
		// What canon makes of every quantiser: the integer code alone. Its value is ordinary arithmetic behind it.
		Internal: {
			"Scan":  {1, 1 << 10, loops, buildScan},
			"Code":  {3, 3, codes | Uniform, buildCode},
			"Sign":  {1, 1, codes | signs, buildSignCode},
			"Trunc": {5, 6, codes, buildTruncCode},
			"Count": {2, 2, codes, buildCountCode},
		},
	}
}

// QONNX is the domain of QONNX's quantisers.
const QONNX = "qonnx.custom_op.general"

// Internal is the domain of the operators that only passes make.
const Internal = "hlsgen"

// domainOf is the name by which a domain stands in tables: QONNX's has had several.
func domainOf(domain string) string {
	switch domain {
	case "onnx.brevitas", "finn.custom_op.general", "finn":
		return QONNX
	}
	return domain
}

// Dialect reports whether a domain belongs to QONNX, FINN or Brevitas.
func Dialect(domain string) bool {
	return domain == "onnx.brevitas" || strings.HasPrefix(domain, "qonnx.") || strings.HasPrefix(domain, "finn.")
}

// lookup finds the operator of a node of a graph.
func lookup(domain, op string) (operator, bool) {
	def, ok := operators[domainOf(domain)][op]
	return def, ok
}

// row finds any operator, those too that others are written in.
func row(domain, op string) (operator, bool) {
	if def, ok := lookup(domain, op); ok || domain != Internal {
		return def, ok
	}
	def, ok := parts[op]
	return def, ok
}

// KnownOperator reports whether an operator is understood, in whatever form.
func KnownOperator(domain, op string) bool {
	_, ok := lookup(domain, op)
	return ok
}

// Is reports whether a node's operator has a trait.
func (n *Node) Is(t Trait) bool {
	def, _ := row(n.Domain, n.Op)
	return def.is&t != 0
}

// Recurrent reports whether a node runs along a sequence.
func (n *Node) Recurrent() bool { return n.Is(loops) }

// OperatorNames lists the names of all operators that hlsgen has heard of, each once.
func OperatorNames() []string {
	names := map[string]bool{}
	for _, of := range operators {
		addKeys(names, of)
	}
	for _, of := range composites {
		addKeys(names, of)
	}
	addKeys(names, parts)
	addKeys(names, gaps)
	return slices.Sorted(maps.Keys(names))
}

func addKeys[T any](to map[string]bool, from map[string]T) {
	for name := range from {
		to[name] = true
	}
}

func binary(f func(x, y *real.Expr) *real.Expr) func(*call) *reject {
	return func(c *call) *reject {
		if _, ok := c.n.Attrs["axis"]; ok && c.opset < 7 {
			return unsupported("convert the model to opset 7 or later", "the old form of broadcasting, along an axis")
		}
		return c.elementwise(c.promoted(), f(real.Var(0), real.Var(1)), 0, 1)
	}
}

// promoted is the type of an operation on two inputs. In ONNX both have one type; canon also lets codes, which are
// integers, meet real scales and zero points.
func (c *reading) promoted() DType {
	if !c.in[0].DType.Float() {
		return c.in[1].DType
	}
	return c.in[0].DType
}

func unary(f func(x *real.Expr) *real.Expr) func(*call) *reject {
	return func(c *call) *reject { return c.elementwise(c.in[0].DType, f(real.Var(0)), 0) }
}

func buildDiv(c *call) *reject {
	if t := c.in[1].Const; t != nil {
		for i := range t.Len() {
			if t.At(i) == 0 {
				return invalid("division by the constant zero (element %d)", i)
			}
		}
	}
	return binary(func(x, y *real.Expr) *real.Expr {
		if c.promoted().Float() {
			return real.Div(x, y)
		}
		return real.Round(real.Div(x, y), real.Down) // ONNX divides integers towards zero
	})(c)
}

func buildPow(c *call) *reject {
	if t := c.in[1].Const; t != nil && t.Len() > 1 {
		return buildPowers(c, t)
	}
	e, r := c.constScalar(1, "the exponent")
	if r != nil {
		return r
	}
	x, y := real.Var(0), real.Float(1)
	root := e != math.Trunc(e)
	if root {
		if 2*e != math.Trunc(2*e) {
			return realPower(c)
		}
	}
	if !c.in[0].DType.Float() && (root || e < 0) {
		return unsupported("cast to float before", "exponent %g of an integer", e)
	}
	n := math.Trunc(math.Abs(e))
	if n > maxPower {
		return unsupported("exponents up to 64", "exponent %g", e)
	}
	for range int(n) {
		y = real.Mul(y, x)
	}
	if root {
		y = real.Mul(y, real.Sqrt(x))
	}
	if e < 0 {
		y = real.Div(real.Float(1), y)
	}
	return c.elementwise(c.in[0].DType, y, 0)
}

// realPower is x^e as exp(e ln x): there is none for an x that is not positive.
func realPower(c *call) *reject {
	if !c.in[0].DType.Float() {
		return unsupported("cast to float before", "real exponents of integers")
	}
	return c.elementwise(c.in[0].DType, real.Exp(real.Mul(real.Var(1), real.Log(real.Var(0)))), 0, 1)
}

// buildPowers raises to several exponents. Where they are whole it is the sum, over the powers that occur, of x^n where the
// exponent is n.
func buildPowers(c *call, exponents *Tensor) *reject {
	occurs := map[int]bool{}
	most := 0
	for i := range exponents.Len() {
		e := exponents.At(i)
		if e < 0 || e > maxPower || e != math.Trunc(e) {
			return realPower(c)
		}
		occurs[int(e)] = true
		most = max(most, int(e))
	}
	sum, power := zero, one
	for n := 0; n <= most; n++ {
		if occurs[n] {
			at := real.Float(float64(n))
			is := real.Mul(real.AtLeast(real.Var(1), at), real.AtLeast(at, real.Var(1)))
			sum = real.Add(sum, real.Mul(is, power))
		}
		power = real.Mul(power, real.Var(0))
	}
	return c.elementwise(c.in[0].DType, sum, 0, 1)
}

// maxPower bounds exponents: a power is that many multiplications.
const maxPower = 64

func buildClip(c *call) *reject {
	x, args := real.Var(0), []int{0}
	sides := []struct {
		attr  string
		bound func(x, y *real.Expr) *real.Expr
		none  int // the sign of the infinity that bounds nothing
	}{{"min", real.Max, -1}, {"max", real.Min, 1}}
	if c.opset < 11 && len(c.in) > 1 {
		return invalid("bounds are attributes before opset 11")
	}
	for i, side := range sides {
		v, fixed := 0.0, false
		switch slot := i + 1; {
		case c.opset < 11:
			a := c.n.Attrs[side.attr]
			if v, fixed = a.F, a.Kind == AttrFloat; !fixed {
				continue
			}
		case !c.has(slot):
			continue
		case Size(c.in[slot].Shape) != 1:
			return invalid("a bound of shape %v, wants a scalar", c.in[slot].Shape)
		case c.in[slot].Const != nil:
			v = c.in[slot].Const.At(0)
		}
		switch {
		case math.IsInf(v, side.none):
		case math.IsInf(v, 0):
			return invalid("the %s is %v", side.attr, v)
		case fixed:
			x = side.bound(x, real.Float(v))
		default:
			x = side.bound(x, real.Var(len(args)))
			args = append(args, i+1)
		}
	}
	shape := c.in[0].Shape
	if r := c.elementwise(c.in[0].DType, x, args...); r != nil {
		return r
	}
	c.steps[0].Shape = shape // a bound of shape (1,) adds no axis
	return nil
}

func buildCast(c *call) *reject {
	to := c.dtypeAttr("to")
	switch {
	case !to.number():
		return unsupported("cast to a real or an integer type", "cast to type %d (%s)", c.n.Int("to", 0), to)
	case to == Bool:
		return unsupported("compare explicitly instead", "cast to bool")
	case to.Float() || !c.in[0].DType.Float():
		return c.elementwise(to, real.Var(0), 0)
	}
	return c.elementwise(to, real.Round(real.Var(0), real.Down), 0)
}

func buildIdentity(c *call) *reject { return c.move(c.in[0].Shape, c.in[0].DType, &Move{}) }

func buildBatchNorm(c *call) *reject {
	x := c.in[0].Shape
	if c.n.Int("training_mode", 0) != 0 {
		return unsupported("export the model in inference mode", "training_mode is set")
	}
	if len(x) < 2 {
		return invalid("input of shape %v has no channel axis", x)
	}
	channel := 1
	if c.n.Domain == channelsLast {
		channel = len(x) - 1
	}
	for i, k := range c.in[1:] {
		if len(k.Shape) != 1 || k.Shape[0] != x[channel] {
			return invalid("parameter %d has shape %v for %d channels", i+1, k.Shape, x[channel])
		}
	}
	if c.opset < 9 && c.n.Int("spatial", 1) == 0 || c.opset < 7 && c.n.Int("is_test", 0) == 0 {
		return unsupported("export the model in inference mode with opset 9 or later", "statistics of the batch at hand, or per element")
	}
	eps := c.n.Float("epsilon", float64(float32(1e-5)))
	if variance := c.in[4].Const; variance != nil {
		for i := range variance.Len() {
			if !(variance.At(i)+eps > 0) {
				return invalid("the variance %g plus epsilon %g is not positive (channel %d)", variance.At(i), eps, i)
			}
		}
	}
	v := real.Var
	y := real.Div(real.Sub(v(0), v(3)), real.Sqrt(real.Add(v(4), real.Float(eps))))
	e := &Elem{Expr: real.Add(real.Mul(y, v(1)), v(2)), Args: []int{0, 1, 2, 3, 4}, Index: make([][]int32, 5)}
	strides := make([]int, len(x))
	strides[channel] = 1
	for i := 1; i < 5; i++ {
		e.Index[i] = c.p.strided(x, strides)
	}
	return c.add(Step{Shape: x, DType: c.in[0].DType, Elem: e})
}

func buildConstant(c *call) *reject {
	var t *Tensor
	a := func(name string) Attr { return c.n.Attrs[name] }
	switch {
	case a("value").Kind == AttrTensor:
		t = a("value").T
	case a("value_float").Kind == AttrFloat:
		t = &Tensor{DType: Float32, F: []float64{a("value_float").F}}
	case a("value_int").Kind == AttrInt:
		t = &Tensor{DType: Int64, I: []int64{a("value_int").I}}
	case a("value_floats").Kind == AttrFloats:
		t = &Tensor{DType: Float32, Shape: []int{len(a("value_floats").Floats)}, F: a("value_floats").Floats}
	case a("value_ints").Kind == AttrInts:
		t = &Tensor{DType: Int64, Shape: []int{len(a("value_ints").Ints)}, I: a("value_ints").Ints}
	}
	if t == nil || !t.DType.number() {
		return unsupported("use a dense tensor of numbers", "the constant's value is missing, sparse or of another type")
	}
	c.fixed = []*Tensor{t}
	c.steps = []*Step{{Shape: t.Shape, DType: t.DType, Move: &Move{}}}
	return nil
}

func buildShape(c *call) *reject {
	shape := c.in[0].Shape
	lo, hi := c.n.Int("start", 0), c.n.Int("end", int64(len(shape)))
	clamp := func(v int64) int {
		if v < 0 {
			v += int64(len(shape))
		}
		return int(max(0, min(v, int64(len(shape)))))
	}
	t := &Tensor{DType: Int64}
	for i := clamp(lo); i < clamp(hi); i++ {
		t.I = append(t.I, int64(shape[i]))
	}
	t.Shape = []int{len(t.I)}
	c.fixed = []*Tensor{t}
	c.steps = []*Step{{Shape: t.Shape, DType: Int64, Move: &Move{}}}
	return nil
}

// shapeReject is what a shape computed from data gets.
func shapeReject(format string, args ...any) *reject {
	r := invalid(format, args...)
	r.code = diag.ShapeUnknown
	return r
}
