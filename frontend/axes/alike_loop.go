package axes

import (
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/program"
)

// This file compares loops for a contrast: see alike.go.

// loop reports whether loop s of many treats each sample as its counterpart t in one does. Either both have the same
// runs, each with all samples, or s has no states and treats one sample per run. Runs of inner adjacent elements of the
// output belong to one sample.
func (c *contrast) loop(s, t *program.Step, operands []operand, inner int) bool {
	r, q := s.Recur, t.Recur
	if r.States != q.States || len(r.Scanned) != len(q.Scanned) || !slices.Equal(r.RealGates, q.RealGates) {
		return false
	}
	each := r.Length != q.Length
	if each && (r.States > 0 || r.Length != c.n || q.Length != 1) {
		return false
	}
	body, known := c.bodies[r]
	if !known {
		body = newContrast(c.n, r.Body, q.Body)
		if !c.fed(s, t, operands, body, each) || body.difference() != nil || !body.handsOn(r.States) {
			body = nil
		}
		c.bodies[r] = body
	}
	return body != nil && c.gives(s, t, body, inner, each)
}

// fed reports whether the runs of two loops get corresponding initial states and scanned elements. each says that a run
// has one sample.
func (c *contrast) fed(s, t *program.Step, operands []operand, body *contrast, each bool) bool {
	r, q := s.Recur, t.Recur
	for i, v := range r.Body.Graph.Inputs {
		inner, known := body.inner[v.Name]
		if !known {
			return false
		}
		many, one := c.many.Known[s.Node.Inputs[i]].Shape, c.one.Known[t.Node.Inputs[i]].Shape
		for e := range graph.ElementCount(r.Body.Known[v.Name].Shape) {
			sample, f := c.place(inner, e)
			if i < r.States {
				if !c.same(operands[i], sample, e, f) {
					return false
				}
				continue
			}
			a, b := r.Scanned[i-r.States], q.Scanned[i-r.States]
			for run := range r.Length {
				other := run
				if each {
					sample, other = a.AxisPositionOfRun(run, r.Length), 0
				}
				if a != b || !c.same(operands[i], sample, a.ElementIndexInWhole(many, run, e),
					b.ElementIndexInWhole(one, other,
						f)) {
					return false
				}
			}
		}
	}
	return true
}

// handsOn reports whether each of the first states outputs of the loop's body has the samples at the same places as the
// state's input.
func (c *contrast) handsOn(states int) bool {
	g := c.many.Graph
	for i := range states {
		k := c.many.Known[g.Outputs[i].Name]
		if k.Const == nil && c.inner[g.Outputs[i].Name] != c.inner[g.Inputs[i].Name] {
			return false
		}
	}
	return true
}

// gives reports whether an output of loop s corresponds to that of t, if inner adjacent elements belong to one sample.
// each says that a run has one sample.
func (c *contrast) gives(s, t *program.Step, body *contrast, inner int, each bool) bool {
	r, q := s.Recur, t.Recur
	out := r.Body.Graph.Outputs[s.Result].Name
	many, one := body.many.Known[out], body.one.Known[q.Body.Graph.Outputs[s.Result].Name]
	if (many.Const == nil) != (one.Const == nil) {
		return false
	}
	within := body.inner[out]
	if many.Const != nil { // the same in every run; its shape tells how it belongs to samples
		list, ok := sides(many.Shape, one.Shape, c.n)
		if !ok {
			return false
		}
		within = list[0]
	}
	for e := range graph.ElementCount(many.Shape) {
		sample, f := c.place(within, e)
		if many.Const != nil && !many.Const.IsElementEqualTo(one.Const, e, f) {
			return false
		}
		if s.Result < r.States {
			if of, element := c.place(inner, e); of != sample || element != f {
				return false
			}
			continue
		}
		a, b := r.Gathered[s.Result-r.States], q.Gathered[s.Result-r.States]
		for run := range r.Length {
			other := run
			if each {
				sample, other = r.Scanned[0].AxisPositionOfRun(run, r.Length), 0
			}
			of, element := c.place(inner, a.ElementIndexInWhole(s.Shape, run, e))
			if a != b || of != sample || element != b.ElementIndexInWhole(t.Shape, other, f) {
				return false
			}
		}
	}
	return true
}
