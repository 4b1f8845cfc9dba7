package canon

import (
	"fmt"
	"maps"
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/operators"
	"hlsgen/frontend/program"
)

// MaxUnrolledIterations is the length of the longest loop that is unrolled, in iterations.
const MaxUnrolledIterations = 64

// unrollLoops unrolls the loops in m.Unroll of up to MaxUnrolledIterations iterations: each iteration becomes a copy of
// the body. It reports whether there were any.
func unrollLoops(m *PassState) bool {
	e := edit(m.Graph)
	return e.each(func(n *graph.Node) []*graph.Node {
		r := m.Program.LoopOfNode(n)
		if r == nil || !m.Unroll[n.Index] || r.Length > MaxUnrolledIterations {
			return nil
		}
		u := &unroller{e: e, p: m.Program, n: n, r: r, body: n.Attrs["body"].G}
		return u.run()
	})
}

type unroller struct {
	e    *editor
	p    *program.Program
	n    *graph.Node
	r    *program.Recur
	body *graph.Graph
	out  []*graph.Node
}

func (u *unroller) run() []*graph.Node {
	constants := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(u.body.Init)) {
		constants[name] = u.e.constant(u.n.Outputs[len(u.n.Outputs)-1], name, u.body.Init[name])
	}
	state := slices.Clone(u.n.Inputs[:u.r.States])
	gathered := make([][]string, len(u.r.Gathered))
	for t := range u.r.Length {
		to := map[string]string{"": ""}
		for name, made := range constants {
			to[name] = made
		}
		for i, in := range u.body.Inputs {
			if i < u.r.States {
				to[in.Name] = state[i]
			} else {
				to[in.Name] = u.element(u.n.Inputs[i], u.r.Scanned[i-u.r.States], t)
			}
		}
		for _, n := range u.body.Nodes {
			c := *n
			c.Index, c.Inputs, c.Outputs = u.n.Index, nil, nil
			c.Name = fmt.Sprintf("%s[%d]", n.Label(), t)
			for _, in := range n.Inputs {
				c.Inputs = append(c.Inputs, to[in])
			}
			for _, o := range n.Outputs {
				if o != "" {
					to[o] = u.e.taken.TakeFreshName(o, fmt.Sprint(t))
				}
				c.Outputs = append(c.Outputs, to[o])
			}
			u.out = append(u.out, &c)
		}
		for i, o := range u.body.Outputs {
			if i < u.r.States {
				state[i] = to[o.Name]
			} else {
				gathered[i-u.r.States] = append(gathered[i-u.r.States], to[o.Name])
			}
		}
	}
	for i, o := range u.n.Outputs {
		switch {
		case o == "":
		case i < u.r.States:
			u.add(operators.OpIdentity, []string{state[i]}, o, nil)
		default:
			u.gather(gathered[i-u.r.States], u.r.Gathered[i-u.r.States], o)
		}
	}
	return u.out
}

func (u *unroller) add(op string, inputs []string, output string, attrs graph.AttributesByName) {
	u.out = append(u.out, from(u.n, "", op, inputs, output, attrs))
}

// element adds nodes that take from x, an input that s scans, the element that iteration t reads. It returns the name
// of the result.
func (u *unroller) element(x string, s program.ScanAxis, t int) string {
	at := t
	if s.Reverse {
		at = u.r.Length - 1 - t
	}
	index := u.e.constant(x, "index", &graph.ConstantTensor{DType: graph.DTypeInt64, I: []int64{int64(at)}})
	out := u.e.taken.TakeFreshName(x, fmt.Sprint(t))
	u.add(operators.OpGather, []string{x, index}, out, graph.AttributesByName{"axis": graph.NewIntAttr(s.Axis)})
	return out
}

// gather adds nodes that concatenate parts, one output per iteration, along the axis of s in its direction. The result
// is called output.
func (u *unroller) gather(parts []string, s program.ScanAxis, output string) {
	whole := u.p.Known[output].Shape
	one := make([]int64, len(whole))
	for i, d := range whole {
		one[i] = int64(d)
	}
	one[s.Axis] = 1
	shape := u.e.constant(output, "shape", &graph.ConstantTensor{DType: graph.DTypeInt64, Shape: []int{len(one)},
		I: one})
	var made []string
	for t, part := range parts {
		name := u.e.taken.TakeFreshName(output, fmt.Sprint(t))
		u.add(operators.OpReshape, []string{part, shape}, name, nil)
		made = append(made, name)
	}
	if s.Reverse {
		slices.Reverse(made)
	}
	u.add(operators.OpConcat, made, output, graph.AttributesByName{"axis": graph.NewIntAttr(s.Axis)})
}
