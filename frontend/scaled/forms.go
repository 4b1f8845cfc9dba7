package scaled

import (
	"math/big"
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/program"
	"hlsgen/frontend/real"
)

// ElementForms holds the functions of integers that give the requested elements of a tensor. Elements whose functions
// are the same expression, of different integers and constants, share one form in Of.
type ElementForms struct {
	Of    []FormExpression
	which []uint16 // the form of each element; nil if there is one form
}

// FormIndexOf returns the index in Of of the form of the k-th requested element.
func (f *ElementForms) FormIndexOf(k int) int {
	if f.which == nil {
		return 0
	}
	return int(f.which[k])
}

// FormOf returns the form of the k-th requested element.
func (f *ElementForms) FormOf(k int) *FormExpression { return &f.Of[f.FormIndexOf(k)] }

// SingleForm returns the only form, which all elements share, and its only variable that stands for integers. ok is
// false if f is nil, there are several forms, or the form has not exactly one such variable.
func (f *ElementForms) SingleForm() (form *FormExpression, leaf *FormVariable, ok bool) {
	if f == nil || len(f.Of) != 1 { // f is nil beside an error
		return nil, nil, false
	}
	form = &f.Of[0]
	leaves := form.IntegerVariables()
	if len(leaves) != 1 {
		return nil, nil, false
	}
	return form, leaves[0], true
}

// A FormExpression is the expression that computes elements of a tensor from integers and numbers. Variable v of Expr
// is Vars[v].
type FormExpression struct {
	Expr  *real.Expr
	Vars  []FormVariable
	Nodes []*graph.Node // the nodes that compute the elements, from the value back to the integers

	trail   *trail            // stands for Nodes while the form is being found
	leaves  []*FormVariable   // the Vars that have tensors
	numbers [][]*FormVariable // the other Vars, grouped by equal places of their numbers
}

// A trail is a node and the trails of its operands. Forms share trails as expressions share subexpressions: one list of
// nodes per form would grow with the square of a chain's length.
type trail struct {
	node   *graph.Node
	behind []*trail
}

// nodes returns the nodes of a trail and of the trails behind it, each once. A nil trail has none.
func (t *trail) nodes() (list []*graph.Node) {
	listed, walked := map[*graph.Node]bool{}, map[*trail]bool{}
	rest := []*trail{t} // a stack
	for len(rest) > 0 {
		t := rest[len(rest)-1]
		rest = rest[:len(rest)-1]
		if t == nil || walked[t] {
			continue
		}
		walked[t] = true
		if !listed[t.node] {
			listed[t.node] = true
			list = append(list, t.node)
		}
		for _, b := range slices.Backward(t.behind) {
			rest = append(rest, b)
		}
	}
	return list
}

// A FormVariable is a variable of a form. For each requested element it stands for one element of an integer tensor, or
// for a number. Its entries for elements that have other forms are meaningless.
type FormVariable struct {
	Tensor string // the integer tensor; empty for a number
	Index  []int32

	constant *graph.ConstantTensor
	pick     *graph.ElementIndexMap // maps Index to elements of the constant; nil for the identity
	rats     *AffinesOfElements     // the number is a scale or a bias of these
	bias     bool
}

// numberExpr returns the number that v stands for at the k-th requested element. v must have no tensor.
func (v *FormVariable) numberExpr(k int) *real.Expr {
	i := v.place(k)
	if v.constant != nil {
		return real.ConstantExprOfFloat(v.constant.FloatAt(i))
	}
	return real.ConstantExpr(v.rat(i))
}

// place returns the index, in the constant or among the values, of the number that v stands for at the k-th requested
// element. v must have no tensor.
func (v *FormVariable) place(k int) int {
	switch i := v.Index[k]; {
	case v.pick != nil:
		return v.pick.ArgumentIndex(int(i))
	case v.rats != nil:
		return v.rats.place(i)
	default:
		return int(i)
	}
}

func (v *FormVariable) rat(place int) *big.Rat {
	if v.bias {
		return v.rats.Of[place].Bias
	}
	return v.rats.Of[place].Scale
}

// alike reports whether the numbers of v at two places, as place returns them, are equal.
func (v *FormVariable) alike(i, j int) bool {
	if v.constant != nil {
		return v.constant.FloatAt(i) == v.constant.FloatAt(j)
	}
	a, b := v.rat(i), v.rat(j)
	return a == b || a.Num().Cmp(b.Num()) == 0 && a.Denom().Cmp(b.Denom()) == 0 // a Rat is in lowest terms
}

// beside reports whether the numbers of two variables without tensors lie at the same place, as place returns it, for
// each element.
func (v *FormVariable) beside(o *FormVariable) bool {
	return v.rats == o.rats && v.samePick(o) && len(v.Index) == len(o.Index) && &v.Index[0] == &o.Index[0]
}

func (v *FormVariable) samePick(o *FormVariable) bool {
	return v.pick == o.pick || v.pick != nil && o.pick != nil && v.pick.HasSameTableAndRuns(o.pick)
}

// FormsOfElements returns the forms of the given elements of a tensor, which may repeat. The forms keep the list, which
// must not change any more. The error is a *NoIntegerFunctionError.
func (a *IntegerAnalysis) FormsOfElements(tensor string, elements []int32) (*ElementForms, error) {
	f := &former{a: a, memo: map[asked][]answer{}}
	return f.finish(f.value(tensor, elements))
}

// FormsOfStepElements returns the forms of the given elements of a step's output, even if the output is itself an
// integer tensor. The forms keep the list, which must not change any more. The error is a *NoIntegerFunctionError.
func (a *IntegerAnalysis) FormsOfStepElements(step *program.Step, elements []int32) (*ElementForms, error) {
	f := &former{a: a, memo: map[asked][]answer{}}
	return f.finish(f.step(step, elements))
}

// BasePlusOffsetIndices returns base + offset for each base and, within it, for each offset. These are the indices of
// the elements that sums read.
func BasePlusOffsetIndices(bases, offsets []int32) []int32 {
	elements := make([]int32, 0, len(bases)*len(offsets))
	for _, base := range bases {
		for _, k := range offsets {
			elements = append(elements, base+k)
		}
	}
	return elements
}

// NewCountingList returns the list 0, 1 ... n-1.
func NewCountingList(n int) []int32 {
	all := make([]int32, n)
	for i := range all {
		all[i] = int32(i)
	}
	return all
}

// A former finds the forms of one request. All its forms number their variables together, in vars, so that expressions
// can share subexpressions.
type former struct {
	a    *IntegerAnalysis
	memo map[asked][]answer
	vars []FormVariable

	listed int     // the number of elements in all lists so far
	last   []int32 // the list that was hashed last; hash is its hash
	hash   uint64
}

// variable returns an expression that is the variable v, with its number in vars. Equal FormVariables have the same
// number.
func (f *former) variable(v FormVariable) *real.Expr {
	at := slices.IndexFunc(f.vars, v.equal)
	if at < 0 {
		at = len(f.vars)
		f.vars = append(f.vars, v)
	}
	return real.Var(at)
}

// finish returns a copy of out in which every form has its own list of variables, and its nodes. If err is not nil, it
// returns err instead.
func (f *former) finish(out *ElementForms, err error) (*ElementForms, error) {
	if err != nil {
		return nil, err
	}
	own := *out
	own.Of = slices.Clone(out.Of)
	with := make([]*real.Expr, len(f.vars))
	for i := range own.Of {
		form := &own.Of[i]
		form.Nodes, form.trail = form.trail.nodes(), nil
		for n, v := range form.Expr.VariableNumbers() {
			with[v] = real.Var(n)
			form.Vars = append(form.Vars, f.vars[v])
		}
		form.Expr = form.Expr.SubstituteVariables(with)
		form.sort()
	}
	return &own, nil
}

// sort divides the variables into leaves, which have tensors, and numbers, which it groups by place.
func (f *FormExpression) sort() {
	f.leaves, f.numbers = nil, nil
	for k := range f.Vars {
		v := &f.Vars[k]
		if v.Tensor != "" {
			f.leaves = append(f.leaves, v)
			continue
		}
		at := slices.IndexFunc(f.numbers, func(others []*FormVariable) bool { return v.beside(others[0]) })
		if at < 0 {
			at = len(f.numbers)
			f.numbers = append(f.numbers, nil)
		}
		f.numbers[at] = append(f.numbers[at], v)
	}
}

// An asked identifies a request: the tensor and the hash of the list of its elements.
type asked struct {
	tensor string
	hash   uint64
}

// An answer caches the forms of a list of elements. In a softmax of softmaxes the same list is requested on too many
// paths to follow each one.
type answer struct {
	index []int32
	forms *ElementForms
}

// hash returns a hash of a list. Four sums run in parallel for speed.
func hash(index []int32) uint64 {
	const factor = 0x9e3779b97f4a7c15
	mix := func(h uint64, i int32) uint64 {
		h = (h ^ uint64(uint32(i))) * factor
		return h ^ h>>29
	}
	h := [4]uint64{uint64(len(index)), 1, 2, 3}
	for ; len(index) >= 4; index = index[4:] {
		h[0], h[1], h[2], h[3] = mix(h[0], index[0]), mix(h[1], index[1]), mix(h[2], index[2]), mix(h[3], index[3])
	}
	for _, i := range index {
		h[0] = mix(h[0], i)
	}
	return ((h[0]*factor^h[1])*factor^h[2])*factor ^ h[3]
}

// asking returns the key of a request. It caches the last hash, because most requests have the same list of elements as
// the request before.
func (f *former) asking(tensor string, index []int32) asked {
	if len(f.last) != len(index) || &f.last[0] != &index[0] {
		f.last, f.hash = index, hash(index)
	}
	return asked{tensor, f.hash}
}

// maxForms limits the forms of one tensor, and maxListed the total length of all lists of elements. For example, a
// tensor of 2^22 elements behind ten steps, as in a large image, takes lists of 2^26 elements.
const (
	maxForms  = 1 << 10
	maxListed = 1 << 27
)

func (f *former) value(tensor string, index []int32) (*ElementForms, error) {
	if len(index) == 0 {
		return &ElementForms{}, nil
	}
	if _, integer := f.a.integer[tensor]; integer || f.a.Program.Known[tensor].Const != nil { // the search ends here
		return f.find(tensor, index)
	}
	key := f.asking(tensor, index)
	for _, known := range f.memo[key] {
		if same(known.index, index) {
			return known.forms, nil
		}
	}
	out, err := f.find(tensor, index)
	if err == nil {
		f.memo[key] = append(f.memo[key], answer{index, out})
	}
	return out, err
}

func (f *former) find(tensor string, index []int32) (*ElementForms, error) {
	if c := f.a.Program.Known[tensor].Const; c != nil {
		return f.constant(c, index, nil), nil
	}
	if of, ok := f.a.integer[tensor]; ok {
		return f.integers(tensor, index, &of), nil
	}
	step := f.a.Program.ProducerOf(tensor)
	if step == nil {
		return nil, &NoIntegerFunctionError{Tensor: tensor}
	}
	return f.step(step, index)
}

// constant returns the form of elements of a constant. pick, if not nil, maps the indices in index to elements of the
// constant.
func (f *former) constant(c *graph.ConstantTensor, index []int32, pick *graph.ElementIndexMap) *ElementForms {
	if c.Len() == 1 {
		return &ElementForms{Of: []FormExpression{{Expr: real.ConstantExprOfFloat(c.FloatAt(0))}}}
	}
	return &ElementForms{Of: []FormExpression{{Expr: f.variable(FormVariable{Index: index, constant: c, pick: pick})}}}
}

// integers returns the forms of elements of an integer tensor; of gives their real values. Elements that are constants
// get a form of their own.
func (f *former) integers(tensor string, index []int32, of *AffinesOfElements) *ElementForms {
	fixed := func(i int32) bool { return of.Of[i].Scale.Sign() == 0 }
	if !f.a.partly[tensor] {
		return &ElementForms{Of: []FormExpression{f.leaf(tensor, index, of)}}
	}
	n := 0
	for _, i := range index {
		if fixed(i) {
			n++
		}
	}
	switch n {
	case 0:
		return &ElementForms{Of: []FormExpression{f.leaf(tensor, index, of)}}
	case len(index):
		return &ElementForms{Of: []FormExpression{{Expr: f.variable(FormVariable{Index: index, rats: of, bias: true})}}}
	}
	out := &ElementForms{which: make([]uint16, len(index))}
	live := slices.Clone(index) // the entries of constants are meaningless
	first := index[slices.IndexFunc(index, func(i int32) bool { return !fixed(i) })]
	for k, i := range index {
		if fixed(i) {
			out.which[k], live[k] = 1, first
		}
	}
	out.Of = []FormExpression{f.leaf(tensor, live, of), {Expr: f.variable(FormVariable{Index: index, rats: of,
		bias: true})}}
	return out
}

// leaf returns the form scale*q + bias for the elements q of an integer tensor that index lists. It leaves out a scale
// that is 1 for all elements, and a bias that is 0.
func (f *former) leaf(tensor string, index []int32, values *AffinesOfElements) FormExpression {
	of := values.Of
	out := FormExpression{Expr: f.variable(FormVariable{Tensor: tensor, Index: index})}
	number := func(bias bool) *real.Expr {
		if len(of) > 1 {
			return f.variable(FormVariable{Index: index, rats: values, bias: bias})
		}
		if bias {
			return real.ConstantExpr(of[0].Bias)
		}
		return real.ConstantExpr(of[0].Scale)
	}
	if len(of) > 1 || of[0].Scale.Cmp(IdentityAffines[0].Scale) != 0 {
		out.Expr = real.Mul(out.Expr, number(false))
	}
	if slices.ContainsFunc(of, func(a real.Affine) bool { return a.Bias.Sign() != 0 }) {
		out.Expr = real.Add(out.Expr, number(true))
	}
	return out
}

func (f *former) step(step *program.Step, index []int32) (*ElementForms, error) {
	switch {
	case step.Move != nil:
		return f.move(step, index)
	case step.Elem == nil, step.Window != nil, program.StepMayReadInfinities(f.a.Program, step):
		return nil, &NoIntegerFunctionError{step.Output, step, false}
	}
	e := step.Elem
	args := make([]*ElementForms, len(e.Args))
	for v, slot := range e.Args {
		tensor, pick := step.Node.Inputs[slot], &e.Index[v]
		if c := f.a.Program.Known[tensor].Const; c != nil && e.Offset == nil && !pick.IsIdentity() {
			args[v] = f.constant(c, index, pick)
			continue
		}
		at := index
		if !pick.IsIdentity() {
			if at = f.list(len(index)); at == nil {
				return nil, &NoIntegerFunctionError{step.Output, step, true}
			}
			for k, i := range index {
				at[k] = int32(e.ArgumentIndex(v, int(i)))
			}
		}
		var err error
		if args[v], err = f.value(tensor, at); err != nil {
			return nil, err
		}
	}
	return combine(step, args, len(index))
}

// list returns a new list of n elements, or nil if all lists together would exceed maxListed.
func (f *former) list(n int) []int32 {
	if f.listed += n; f.listed > maxListed {
		return nil
	}
	return make([]int32, n)
}

// combine returns the forms of n elements of a step's output, given the forms of its arguments for these elements. The
// error is a *NoIntegerFunctionError if there are more than maxForms.
func combine(step *program.Step, args []*ElementForms, n int) (*ElementForms, error) {
	varied := false
	for _, a := range args {
		varied = varied || len(a.Of) > 1
	}
	pick := make([]int, len(args))
	if !varied {
		return &ElementForms{Of: []FormExpression{join(step, args, pick)}}, nil
	}
	out := &ElementForms{which: make([]uint16, n)}
	known := map[choice]int{}
	count := make([]int, len(args))
	for k := range n {
		id := 0
		for v, a := range args {
			pick[v] = a.FormIndexOf(k)
			c := choice{v, id, pick[v]}
			next, ok := known[c]
			if !ok {
				next = count[v]
				known[c] = next
				count[v]++
			}
			id = next
		}
		if id == maxForms {
			return nil, &NoIntegerFunctionError{step.Output, step, true}
		}
		if id == len(out.Of) {
			out.Of = append(out.Of, join(step, args, pick))
		}
		out.which[k] = uint16(id)
	}
	return out, nil
}

// A choice holds the choice of a form for each argument up to arg. Choice number before has those of the earlier
// arguments; form is the index of arg's form.
type choice struct{ arg, before, form int }

// join returns the form of elements of a step, given that argument v has the form with index pick[v].
func join(step *program.Step, args []*ElementForms, pick []int) FormExpression {
	out := FormExpression{trail: &trail{node: step.Node}}
	with := make([]*real.Expr, len(args))
	for v, a := range args {
		form := &a.Of[pick[v]]
		with[v] = form.Expr
		out.trail.behind = append(out.trail.behind, form.trail)
	}
	out.Expr = step.Elem.Expr.SubstituteVariables(with)
	return out
}

// same reports whether two non-empty lists are equal. Often both are the same slice.
func same(a, b []int32) bool { return len(a) == len(b) && &a[0] == &b[0] || slices.Equal(a, b) }

// equal reports whether two variables stand for the same integer or number at every element.
func (v FormVariable) equal(o FormVariable) bool {
	if v.Tensor != o.Tensor || v.constant != o.constant || v.bias != o.bias || (v.rats == nil) != (o.rats == nil) ||
		v.rats != nil && &v.rats.Of[0] != &o.rats.Of[0] || !v.samePick(&o) {
		return false
	}
	return same(v.Index, o.Index)
}

// ExprAtElement returns the form's expression for the k-th requested element, with numbers in place of the variables
// without tensors. n is the number of the other variables, which become variables 0 to n-1 in order.
func (f *FormExpression) ExprAtElement(k int) (e *real.Expr, n int) {
	with := make([]*real.Expr, len(f.Vars))
	for i := range f.Vars {
		v := &f.Vars[i]
		if v.Tensor == "" {
			with[i] = v.numberExpr(k)
			continue
		}
		with[i] = real.Var(n)
		n++
	}
	return f.Expr.SubstituteVariables(with), n
}

// AffineAtElement returns the k-th requested element as the function scale*q + bias of its one integer q. ok is false
// if the element is no such function.
func (f *FormExpression) AffineAtElement(k int) (of real.Affine, ok bool) {
	e, _ := f.ExprAtElement(k)
	return e.AsAffine()
}

// IntegerVariables returns the variables that stand for elements of integer tensors, in order. The caller must not
// change the list.
func (f *FormExpression) IntegerVariables() []*FormVariable { return f.leaves }

// QuantisedForms returns the forms of (value - bias)/scale, rounded half to even, for the elements' values; f stays as
// it is. of holds the scale, never 0, and the bias of each element. elements must be the list for which f was
// requested.
func (f *ElementForms) QuantisedForms(of AffinesOfElements, elements []int32) *ElementForms {
	inverse := AffinesOfElements{Of: make([]real.Affine, len(of.Of)), Group: of.Group}
	for i, v := range of.Of {
		inverse.Of[i] = real.Affine{Scale: new(big.Rat).Inv(v.Scale), Bias: v.Bias}
	}
	out := &ElementForms{Of: slices.Clone(f.Of), which: f.which}
	for i := range out.Of {
		form := &out.Of[i]
		form.Vars = slices.Clone(form.Vars)
		number := func(bias bool) *real.Expr {
			switch {
			case len(inverse.Of) > 1:
				form.Vars = append(form.Vars, FormVariable{Index: elements, rats: &inverse, bias: bias})
				return real.Var(len(form.Vars) - 1)
			case bias:
				return real.ConstantExpr(inverse.Of[0].Bias)
			}
			return real.ConstantExpr(inverse.Of[0].Scale)
		}
		form.Expr = real.Round(real.Mul(real.Sub(form.Expr, number(true)), number(false)), real.RoundingModeHalfEven)
		form.sort()
	}
	return out
}

// IsSameAtElements reports whether a form's expression is the same for the k-th and the l-th requested element.
func (f *FormExpression) IsSameAtElements(k, l int) bool {
	for _, together := range f.numbers {
		i, j := together[0].place(k), together[0].place(l)
		if i == j {
			continue
		}
		for _, v := range together {
			if !v.alike(i, j) {
				return false
			}
		}
	}
	return true
}

// IsUniform reports whether the form has no variables that stand for numbers. Then the k-th element is the same
// function of its integers for every k. It may be so too if the numbers are equal; see IsSameAtElements.
func (f *FormExpression) IsUniform() bool { return len(f.numbers) == 0 }
