package graph

import (
	"math"
	"slices"

	"hlsgen/frontend/real"
	"hlsgen/internal/diag"
)

type opKey struct{ domain, op string }

// An operator is a row of the table: how many inputs it has, and how it becomes steps.
type operator struct {
	min, max int
	build    func(*call) *reject
}

// operators is every operator that is understood.
var operators map[opKey]operator

// parts are the operators that others are written in. They check nothing that these have checked: no graph has them.
var parts map[string]operator

func init() { // definitions look operators up
	parts = map[string]operator{
		"Pad":     {1, 2, buildPadded},
		"Spread":  {2, 2, buildSpread},
		"Turn":    {1, 1, buildTurn},
		"Sum":     {2, 2, buildSum},
		"Max":     {1, 1, buildOver(real.Max)},
		"Product": {1, 1, buildOver(real.Mul)},
		"OneHot":  {2, 2, buildOneHot},
	}
	operators = map[opKey]operator{
		{"", "Add"}:                {2, 2, binary(real.Add)},
		{"", "Sub"}:                {2, 2, binary(real.Sub)},
		{"", "Mul"}:                {2, 2, binary(real.Mul)},
		{"", "Div"}:                {2, 2, buildDiv},
		{"", "Pow"}:                {2, 2, buildPow},
		{"", "Relu"}:               {1, 1, unary(func(x *real.Expr) *real.Expr { return real.Max(x, real.Float(0)) })},
		{"", "Clip"}:               {1, 3, buildClip},
		{"", "Cast"}:               {1, 1, buildCast},
		{"", "Identity"}:           {1, 1, buildIdentity},
		{"", "BatchNormalization"}: {5, 5, buildBatchNorm},
		{"", "MatMul"}:             {2, 2, buildMatMul},
		{"", "Gemm"}:               {2, 3, buildGemm},
		{"", "Constant"}:           {0, 0, buildConstant},
		{"", "Shape"}:              {1, 1, buildShape},
		{"", "Flatten"}:            {1, 1, buildFlatten},
		{"", "Reshape"}:            {2, 2, buildReshape},
		{"", "Squeeze"}:            {1, 2, buildSqueeze},
		{"", "Unsqueeze"}:          {1, 2, buildUnsqueeze},
		{"", "Transpose"}:          {1, 1, buildTranspose},
		{"", "Concat"}:             {1, 1 << 16, buildConcat},
		{"", "Gather"}:             {2, 2, buildGather},
		{"", "QuantizeLinear"}:     {2, 3, buildQuantizeLinear},
		{"", "DequantizeLinear"}:   {2, 3, buildDequantizeLinear},

		{"", "Abs"}:             {1, 1, unary(real.Abs)},
		{"", "Neg"}:             {1, 1, unary(real.Neg)},
		{"", "Sqrt"}:            {1, 1, unary(real.Sqrt)},
		{"", "Exp"}:             {1, 1, unary(real.Exp)},
		{"", "Log"}:             {1, 1, unary(real.Log)},
		{"", "Sign"}:            {1, 1, unary(sign)},
		{"", "Reciprocal"}:      {1, 1, unary(func(x *real.Expr) *real.Expr { return real.Div(one, x) })},
		{"", "Sigmoid"}:         {1, 1, unary(sigmoid)},
		{"", "Tanh"}:            {1, 1, unary(tanh)},
		{"", "Softplus"}:        {1, 1, unary(softplus)},
		{"", "Softsign"}:        {1, 1, unary(softsign)},
		{"", "HardSigmoid"}:     {1, 1, buildHardSigmoid},
		{"", "LeakyRelu"}:       {1, 1, buildLeakyRelu},
		{"", "Elu"}:             {1, 1, buildElu},
		{"", "Selu"}:            {1, 1, buildSelu},
		{"", "PRelu"}:           {2, 2, buildPRelu},
		{"", "Ceil"}:            {1, 1, unary(rounded(real.Ceil))},
		{"", "Floor"}:           {1, 1, unary(rounded(real.Floor))},
		{"", "Round"}:           {1, 1, unary(rounded(real.HalfEven))},
		{"", "Min"}:             {1, 1 << 10, fold(real.Min)},
		{"", "Max"}:             {1, 1 << 10, fold(real.Max)},
		{"", "Where"}:           {3, 3, buildWhere},
		{"", "Softmax"}:         {1, 1, softmax(false)},
		{"", "LogSoftmax"}:      {1, 1, softmax(true)},
		{"", "ArgMax"}:          {1, 1, buildArg(true)},
		{"", "ArgMin"}:          {1, 1, buildArg(false)},
		{"", "TopK"}:            {1, 2, buildTopK},
		{"", "Split"}:           {1, 2, buildSplit},
		{"", "Slice"}:           {1, 5, buildSlice},
		{"", "Expand"}:          {2, 2, buildExpand},
		{"", "ConstantOfShape"}: {1, 1, buildConstantOfShape},
		{"", "Dropout"}:         {1, 3, buildDropout},

		{"", "Scan"}:       {1, 1 << 10, buildScan},
		{"", "LSTM"}:       {3, 8, buildLSTM},
		{Internal, "Scan"}: {1, 1 << 10, buildScan},

		{"", "Conv"}:              {2, 3, buildConv},
		{"", "ConvTranspose"}:     {2, 3, buildConvTranspose},
		{"", "MaxPool"}:           {1, 1, buildMaxPool},
		{"", "AveragePool"}:       {1, 1, buildAveragePool},
		{"", "GlobalMaxPool"}:     {1, 1, buildGlobalMaxPool},
		{"", "GlobalAveragePool"}: {1, 1, buildGlobalAveragePool},
		{"", "Pad"}:               {1, 4, buildPad},
		{"", "Resize"}:            {1, 4, buildResize},
		{"", "Upsample"}:          {1, 2, buildUpsample},
		{"", "DepthToSpace"}:      {1, 1, buildDepthToSpace},
		{"", "SpaceToDepth"}:      {1, 1, buildSpaceToDepth},
		{"", "ReduceMean"}:        {1, 2, reduction("GlobalAveragePool", "Sum")},
		{"", "ReduceSum"}:         {1, 2, reduction("", "Sum")},
		{"", "ReduceMax"}:         {1, 2, reduction("GlobalMaxPool", "Max")},
		{"", "ReduceMin"}:         {1, 2, minimumOver},
		{"", "ReduceProd"}:        {1, 2, reduction("", "Product")},
		{"", "ReduceL1"}:          {1, 2, sumOf([]string{"Abs"}, "")},
		{"", "ReduceL2"}:          {1, 2, sumOf([]string{"Mul"}, "Sqrt")},
		{"", "ReduceSumSquare"}:   {1, 2, sumOf([]string{"Mul"}, "")},
		{"", "ReduceLogSum"}:      {1, 2, sumOf(nil, "Log")},
		{"", "ReduceLogSumExp"}:   {1, 2, sumOf([]string{"Exp"}, "Log")},

		// QONNX: ONNX's operators on data whose channels are the last axis. (GlobalAveragePool and GlobalMaxPool are ours.)
		{channelsLast, "Conv"}:               {2, 3, buildConv},
		{channelsLast, "MaxPool"}:            {1, 1, buildMaxPool},
		{channelsLast, "AveragePool"}:        {1, 1, buildAveragePool},
		{channelsLast, "GlobalMaxPool"}:      {1, 1, buildGlobalMaxPool},
		{channelsLast, "GlobalAveragePool"}:  {1, 1, buildGlobalAveragePool},
		{channelsLast, "BatchNormalization"}: {5, 5, buildBatchNorm},
		{channelsLast, "Resize"}:             {1, 4, buildResize},

		// Under every name of quantDomains.
		{"qonnx.custom_op.general", "Quant"}:          {4, 4, buildQuant},
		{"qonnx.custom_op.general", "IntQuant"}:       {4, 4, buildQuant},
		{"qonnx.custom_op.general", "BipolarQuant"}:   {2, 2, buildBipolarQuant},
		{"qonnx.custom_op.general", "Trunc"}:          {5, 6, buildTrunc},
		{"qonnx.custom_op.general", "FloatQuant"}:     {6, 6, buildFloatQuant},
		{"qonnx.custom_op.general", "MultiThreshold"}: {2, 2, buildMultiThreshold},
		{"qonnx.custom_op.general", "QuantLSTMCell"}:  {48, 48, buildQuantLSTMCell},

		// What canon makes of every quantiser: the integer code alone. Its value is ordinary arithmetic behind it.
		{Internal, "Code"}:  {3, 3, buildCode},
		{Internal, "Sign"}:  {1, 1, buildSignCode},
		{Internal, "Trunc"}: {5, 6, buildTruncCode},
		{Internal, "Count"}: {2, 2, buildCountCode},
	}
}

// quantDomains are the names that QONNX's domain has had; all mean the first.
var quantDomains = []string{"qonnx.custom_op.general", "onnx.brevitas", "finn.custom_op.general", "finn"}

// lookup finds a node's operator.
func lookup(domain, op string) (operator, bool) {
	if slices.Contains(quantDomains, domain) {
		domain = quantDomains[0]
	}
	def, ok := operators[opKey{domain, op}]
	return def, ok
}

// Internal is the domain of the operators that only passes make.
const Internal = "hlsgen"

// Known reports whether an operator is understood, in whatever form.
func KnownOperator(domain, op string) bool {
	_, ok := lookup(domain, op)
	return ok
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
func (c *call) promoted() DType {
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
	c.steps = append(c.steps, &Step{Shape: x, DType: c.in[0].DType, Elem: e})
	return nil
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
