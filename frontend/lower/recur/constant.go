package recur

import (
	"math"
	"math/big"
	"slices"

	"hlsgen/frontend/lower/integers"
	"hlsgen/frontend/real"
	"hlsgen/internal/num"
)

// A network is the body of a recurrence as values that depend on each other, with its outputs.
type network struct {
	*reader
	outputs []*output
}

// bounds sets the ranges of all values, beginning with the initial values of states. A state that does not keep its
// initial value may take any code of its range. Then bounds narrows the ranges to what a time step makes of states in
// these ranges.
func (b *network) bounds() {
	for k := range b.states {
		st := &b.states[k]
		st.ranges = slices.Repeat([]num.Range{st.span}, st.size)
		for u, v := range st.start {
			st.ranges[u] = num.SingleValueRange(v)
		}
	}
	for again := true; again; {
		again = false
		b.evaluate()
		for k := range b.states {
			st := &b.states[k]
			for u := range st.ranges {
				if st.value != nil && !st.value.ranges[u].IsWithin(st.ranges[u]) {
					st.ranges[u], again = st.span.Union(st.ranges[u]), true
				}
			}
		}
	}
	for range narrowings {
		for k := range b.states {
			st := &b.states[k]
			for u := range st.ranges {
				if st.value != nil && st.start != nil {
					st.ranges[u] = st.value.ranges[u].Union(num.SingleValueRange(st.start[u]))
				}
			}
		}
		b.evaluate()
	}
}

// narrowings is the number of rounds in which the ranges of states are narrowed. The result is valid after every round.
const narrowings = 2

// evaluate computes the ranges of values from those of the states.
func (b *network) evaluate() {
	for _, v := range b.order {
		switch v.kind {
		case lane:
			v.sumRanges(b.inputRanges())
		case sum:
			if v.vector.of != nil {
				v.sumRanges(v.vector.of.ranges)
			} else {
				v.sumRanges(b.states[v.vector.state].ranges)
			}
		case state:
			v.ranges = slices.Clone(b.states[v.state].ranges)
		case code:
			v.codeRanges()
		}
	}
}

func (b *network) inputRanges() []num.Range {
	if b.input == nil {
		for k, c := range b.scanned {
			end := b.width
			if k+1 < len(b.offset) {
				end = b.offset[k+1]
			}
			for range end - b.offset[k] {
				b.input = append(b.input, c.Span)
			}
		}
	}
	return b.input
}

// sumRanges computes the ranges of sums over a vector with the given ranges.
func (v *value) sumRanges(vector []num.Range) {
	v.ranges = make([]num.Range, v.units)
	for u, row := range v.rows {
		var r num.Range
		for k, w := range row {
			if w == 0 {
				continue
			}
			p, ok := vector[k].TimesConstant(w)
			if ok && v.product != nil {
				p, ok = v.product.ResultRange(p)
			}
			if ok {
				r, ok = r.Plus(p)
			}
			if !ok {
				r = num.Range{Lo: math.MinInt64, Hi: math.MaxInt64} // settle refuses such a sum
				break
			}
		}
		v.ranges[u] = r
	}
}

// codeRanges computes the ranges of codes by interval arithmetic, or exactly if all arguments are constant.
func (v *value) codeRanges() {
	v.ranges = make([]num.Range, v.units)
	var f *real.Func
	var used []int
	for u, e := range v.expr {
		if f == nil || e != v.expr[u-1] {
			f, used = real.Compile(e), e.VariableNumbers()
		} else if !slices.ContainsFunc(used, func(i int) bool { return v.args[i].ranges[u] != v.args[i].ranges[u-1] }) {
			v.ranges[u] = v.ranges[u-1]
			continue
		}
		in := make([]real.Interval, len(v.args))
		fixed := true
		for _, i := range used {
			r := v.args[i].ranges[u]
			in[i] = integers.IntervalOfRange(r)
			fixed = fixed && r.Lo == r.Hi
		}
		v.ranges[u] = v.span
		if fixed {
			if s, err := real.Compile(e.SubstituteVariables(v.constants(u))).StepFunctionOver(num.Range{},
				1); err == nil {
				v.ranges[u] = num.SingleValueRange(s.Value[0])
			}
			continue
		}
		if y, _ := f.EvaluateInterval(in); y.Lo >= float64(v.span.Lo) && y.Lo <= y.Hi {
			v.ranges[u].Lo = max(v.span.Lo, int64(min(y.Lo, float64(v.span.Hi))))
		}
		if y, _ := f.EvaluateInterval(in); y.Hi <= float64(v.span.Hi) && y.Lo <= y.Hi {
			v.ranges[u].Hi = min(v.span.Hi, int64(max(y.Hi, float64(v.span.Lo))))
		}
	}
}

// constants returns the arguments of a code for unit u as expressions: numbers for arguments that are constant there,
// and variables for the others.
func (v *value) constants(u int) []*real.Expr {
	with := make([]*real.Expr, len(v.args))
	for i, a := range v.args {
		with[i] = real.Var(i)
		if r := a.ranges; r != nil && r[u].Lo == r[u].Hi {
			with[i] = integer(r[u].Lo)
		}
	}
	return with
}

func integer(v int64) *real.Expr { return real.ConstantExpr(new(big.Rat).SetInt64(v)) }

// constant reports whether unit u of a value is known to have one integer only.
func (v *value) constant(u int) bool { return v.ranges != nil && v.ranges[u].Lo == v.ranges[u].Hi }

// fixed reports whether every unit of a value is constant.
func (v *value) fixed() bool {
	for u := range v.units {
		if !v.constant(u) {
			return false
		}
	}
	return true
}

// A class is a set of values whose units correspond. Unit u of one depends on unit u of the others, so that a unit can
// be removed from all of them together.
type class struct {
	units  int
	values []*value
	roots  []*value // values that others need as well: states, outputs, and vectors that sums multiply
}

// classes returns all classes of values, in order. Sums of one vector with the same number of units are in one class,
// and so are lanes of the input.
func (b *network) classes() []*class {
	parent := map[*value]*value{}
	var find func(v *value) *value
	find = func(v *value) *value {
		if p := parent[v]; p != nil && p != v {
			parent[v] = find(p)
			return parent[v]
		}
		return v
	}
	join := func(v, w *value) {
		if v != nil && w != nil && v.units == w.units {
			parent[find(v)] = find(w)
		}
	}
	type group struct {
		vector *vector
		units  int
	}
	groups := map[group]*value{}
	for _, v := range b.order {
		for _, a := range v.args {
			join(v, a)
		}
		switch v.kind {
		case state:
			join(v, b.states[v.state].value)
		case sum, lane:
			g := group{v.vector, v.units}
			join(v, groups[g])
			groups[g] = v
		}
	}
	var list []*class
	of := map[*value]*class{}
	for _, v := range b.order {
		c := of[find(v)]
		if c == nil {
			c = &class{units: v.units}
			of[find(v)], list = c, append(list, c)
		}
		c.values = append(c.values, v)
		if b.isRoot(v) {
			c.roots = append(c.roots, v)
		}
	}
	return list
}

// isRoot reports whether a value is needed for more than functions of it. A state always is, since it may begin with a
// value other than the one that it keeps.
func (b *network) isRoot(v *value) bool {
	return v.kind == state || slices.ContainsFunc(b.states, func(s stateOf) bool { return s.value == v }) ||
		slices.ContainsFunc(b.outputs, func(o *output) bool { return o != nil && o.value == v }) ||
		slices.ContainsFunc(b.order, func(s *value) bool { return s.kind == sum && s.vector.of == v })
}

// removeDead removes units that never change. It merges their contribution to sums into the functions of these sums,
// and makes their output elements constants. It keeps at least one unit of a class.
func (b *network) removeDead() {
	dead := map[*value][]int32{} // per value of a class with dead units: the new number of each unit; -1 for none
	for _, c := range b.classes() {
		unit := make([]int32, c.units)
		n := int32(0)
		for u := range unit {
			gone := len(c.roots) > 0 && !slices.ContainsFunc(c.roots, func(v *value) bool { return !v.constant(u) })
			if gone && (n > 0 || u < c.units-1) {
				unit[u] = -1
				continue
			}
			unit[u] = n
			n++
		}
		if int(n) < c.units {
			for _, v := range c.values {
				dead[v] = unit
			}
		}
	}
	if len(dead) == 0 {
		return
	}
	b.outputConstants(dead)
	b.foldSums(dead)
	for _, v := range b.order {
		if unit := dead[v]; unit != nil {
			v.keep(unit)
		}
	}
	for k := range b.states {
		if st := &b.states[k]; dead[st.found] != nil {
			unit := dead[st.found]
			st.start, st.ranges = remaining(st.start, unit), remaining(st.ranges, unit)
			st.begins = remaining(st.begins, unit)
			st.size = len(st.ranges)
		}
	}
}

// remaining returns the elements of a list for the units u for which unit[u] is not negative.
func remaining[T any](list []T, unit []int32) (out []T) {
	for u, v := range list {
		if unit[u] >= 0 {
			out = append(out, v)
		}
	}
	return out
}

// keep removes the units of a value for which unit[u] is negative.
func (v *value) keep(unit []int32) {
	v.rows, v.ranges = remaining(v.rows, unit), remaining(v.ranges, unit)
	v.expr, v.of = remaining(v.expr, unit), remaining(v.of, unit)
	v.units = 0
	for _, u := range unit {
		v.units = max(v.units, int(u)+1)
	}
}

// outputConstants makes the output elements of dead units constants.
func (b *network) outputConstants(dead map[*value][]int32) {
	for _, o := range b.outputs {
		if o == nil || dead[o.value] == nil {
			continue
		}
		of := make([]real.Affine, len(o.at))
		for i, u := range o.at {
			of[i] = o.of[min(i, len(o.of)-1)]
			if at := dead[o.value][u]; at >= 0 {
				o.at[i] = at
				continue
			}
			v := new(big.Rat).SetInt64(o.value.ranges[u].Lo)
			v.Mul(v, of[i].Scale)
			of[i], o.at[i] = real.Affine{Scale: new(big.Rat), Bias: v.Add(v, of[i].Bias)}, 0
		}
		o.of = of
	}
}

// widen repeats a single constant unit that is only an output. It then has as many units as a state and can be computed
// beside it.
func (b *network) widen() {
	k := slices.IndexFunc(b.states, func(s stateOf) bool { return s.value != nil })
	n := b.states[k].value.units
	for _, o := range b.outputs {
		if o == nil || len(o.value.args) > 0 || o.value.kind != code || o.value.units > 1 ||
			slices.ContainsFunc(b.states, func(s stateOf) bool { return s.value == o.value }) {
			continue
		}
		v := o.value
		v.units, v.expr, v.of, v.ranges = n, slices.Repeat(v.expr, n), nil, slices.Repeat(v.ranges, n)
	}
}

// foldSums removes dead elements of vectors from sums, and merges their contribution into the functions of these
// sums.
func (b *network) foldSums(dead map[*value][]int32) {
	add := map[*value][]int64{}
	for _, v := range b.order {
		if v.kind != sum {
			continue
		}
		of := v.vector.of
		if of == nil {
			of = b.states[v.vector.state].found
		}
		unit := dead[of]
		if unit == nil {
			continue
		}
		ranges := of.ranges
		for u, row := range v.rows {
			var c int64
			for k, w := range row {
				if unit[k] < 0 && w != 0 {
					p := w * ranges[k].Lo
					if v.product != nil {
						p = v.product.Apply(p)
					}
					c += p
				}
			}
			if c != 0 {
				if add[v] == nil {
					add[v] = make([]int64, v.units)
				}
				add[v][u] = c
				v.ranges[u] = num.Range{Lo: v.ranges[u].Lo - c, Hi: v.ranges[u].Hi - c}
			}
			v.rows[u] = remaining(row, unit)
		}
	}
	for _, v := range b.order {
		if v.kind != code || !slices.ContainsFunc(v.args, func(a *value) bool { return add[a] != nil }) {
			continue
		}
		for u := range v.units {
			with := make([]*real.Expr, len(v.args))
			for i, a := range v.args {
				with[i] = real.Var(i)
				if c := add[a]; c != nil && c[u] != 0 {
					with[i] = real.Add(with[i], integer(c[u]))
				}
			}
			v.expr[u] = v.expr[u].SubstituteVariables(with)
			if v.of != nil {
				v.of[u] = v.of[u].SubstituteVariables(with)
			}
		}
	}
}
