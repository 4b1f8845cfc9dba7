package recur

import (
	"slices"

	"hlsgen/frontend/lower/integers"
	"hlsgen/frontend/real"
)

// fuse simplifies the functions of codes. It replaces constant arguments by numbers. If a code is a function of one
// other code that only such functions use, fuse makes it a function of that code's arguments. For example, the code
// of a gate's sum and its sigmoid become one step function.
func (b *network) fuse() {
	for _, v := range b.order {
		if v.kind == code {
			v.simplify()
		}
	}
	for _, v := range b.order {
		if v.kind != code || v.exact || len(v.args) != 1 || b.rounds(v) {
			continue
		}
		a := v.args[0]
		if a.kind != code || a.exact {
			continue
		}
		alone := !b.isRoot(a) && len(a.args) > 0
		for _, r := range b.order {
			alone = alone && (len(r.args) == 1 || !slices.Contains(r.args, a))
		}
		if !alone {
			continue
		}
		for u, e := range v.expr {
			v.expr[u] = e.SubstituteVariables([]*real.Expr{a.expr[u]})
		}
		v.args, v.of = slices.Clone(a.args), nil
	}
}

// rounds reports whether a code is other codes, scaled, added and rounded, or is a code that the reader has added.
func (b *network) rounds(v *value) bool {
	if v.step == nil || v.of == nil {
		return v.step == nil
	}
	if _, err := integers.ProductRoundingOf(b.body, v.step); err != nil {
		return false
	}
	return !slices.ContainsFunc(v.of, func(e *real.Expr) bool {
		_, ok := e.AsAffine()
		return !ok
	})
}

// simplify replaces constant arguments by numbers, removes parts of the functions that have no effect over the
// ranges of the other arguments, and removes unused arguments.
func (v *value) simplify() {
	used := make([]bool, len(v.args))
	for _, list := range [][]*real.Expr{v.expr, v.of} {
		for u := range list {
			if slices.ContainsFunc(v.args, (*value).fixed) {
				list[u] = list[u].SubstituteVariables(v.fixedArgs(u))
			}
			list[u] = list[u].SimplifyWithin(v.intervals(u))
			for _, i := range list[u].VariableNumbers() {
				used[i] = true
			}
		}
	}
	if !slices.Contains(used, false) {
		return
	}
	with := make([]*real.Expr, len(v.args))
	var args []*value
	for i, a := range v.args {
		if used[i] {
			with[i] = real.Var(len(args))
			args = append(args, a)
		}
	}
	v.args = args
	for _, list := range [][]*real.Expr{v.expr, v.of} {
		for u := range list {
			list[u] = list[u].SubstituteVariables(with)
		}
	}
}

// fixedArgs returns the expressions of the arguments for unit u: numbers for arguments that are constant in all
// units.
func (v *value) fixedArgs(u int) []*real.Expr {
	with := make([]*real.Expr, len(v.args))
	for i, a := range v.args {
		with[i] = real.Var(i)
		if a.fixed() {
			with[i] = integer(a.ranges[u].Lo)
		}
	}
	return with
}

// intervals returns the ranges of the arguments for unit u.
func (v *value) intervals(u int) []real.Interval {
	in := make([]real.Interval, len(v.args))
	for i, a := range v.args {
		in[i] = integers.IntervalOfRange(a.ranges[u])
	}
	return in
}
