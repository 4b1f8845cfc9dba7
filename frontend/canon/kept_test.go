package canon_test

import (
	"fmt"
	"reflect"

	"hlsgen/frontend/program"
)

// difference describes how two programs differ. It returns an empty string if they are equal.
func difference(p, q *program.Program) string {
	shape := func(s []int) string { return fmt.Sprint(s) }
	for name, a := range p.Known {
		b, ok := q.Known[name]
		switch {
		case !ok:
			return fmt.Sprintf("%q is known to one alone", name)
		case a.DType != b.DType || shape(a.Shape) != shape(b.Shape) || (a.Const == nil) != (b.Const == nil):
			return fmt.Sprintf("%q is %v%v and %v%v", name, a.DType, a.Shape, b.DType, b.Shape)
		case a.Const != nil && !a.Const.Equal(b.Const):
			return fmt.Sprintf("constant %q", name)
		}
	}
	if len(p.Known) != len(q.Known) || len(p.Steps) != len(q.Steps) {
		return fmt.Sprintf("%d and %d tensors, %d and %d steps", len(p.Known), len(q.Known), len(p.Steps), len(q.Steps))
	}
	for i := range p.Steps {
		a, b := *p.Steps[i], *q.Steps[i]
		origin := p.OriginOf(a.Node).Outputs[0] != q.OriginOf(b.Node).Outputs[0]
		if origin || p.ProducerOf(a.Output) != p.Steps[i] || len(p.ReadersOf(a.Output)) != len(q.ReadersOf(b.Output)) {
			return fmt.Sprintf("what is around step %q", a.Output)
		}
		if r, s := a.Recur, b.Recur; r != nil && s != nil {
			if what := difference(r.Body, s.Body); what != "" {
				return fmt.Sprintf("in the body of %q, %s", a.Output, what)
			}
			x, y := *r, *s
			x.Body, y.Body = nil, nil
			a.Recur, b.Recur, a.Node, b.Node = &x, &y, nil, nil
		}
		if !reflect.DeepEqual(a, b) {
			return fmt.Sprintf("step %q", a.Output)
		}
	}
	return ""
}
