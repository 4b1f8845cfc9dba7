package canon

import (
	"math"
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/operators"
	"hlsgen/frontend/program"
	"hlsgen/frontend/real"
)

// maxCode is an exclusive bound on the magnitude of integers that can become codes.
const maxCode = 1 << 31

// wholeToCode finds quantisers that are written as ordinary operators. If a rounding makes integers of reals, and
// bounds limit them at the same place or later, the first tensor of bounded integers is codes. A Code node that changes
// no value marks it.
func wholeToCode(m *PassState) bool {
	w := wholesOf(m.Program)
	codes := map[string]facts{}
	file := map[string]bool{}
	for _, n := range m.Graph.Nodes {
		for _, o := range n.Outputs {
			file[o] = true
		}
	}
	for _, s := range m.Program.Steps { // the facts of a tensor do not depend on the choice of codes
		w.known[s.Output] = w.step(s)
	}
	for _, s := range m.Program.Steps {
		f := w.step(s)
		if f.rounded && f.bounded() && s.Elem != nil && s.Window == nil && file[s.Output] && !w.later(s) {
			codes[s.Output] = f
			f.rounded = false
		}
		w.known[s.Output] = f
	}
	e := edit(m.Graph)
	return e.each(func(n *graph.Node) []*graph.Node {
		var behind []*graph.Node
		with := *n
		with.Outputs = append([]string{}, n.Outputs...)
		for i, o := range n.Outputs {
			if f, ok := codes[o]; ok {
				with.Outputs[i] = e.taken.TakeFreshName(o, "whole")
				behind = append(behind, e.unchanged(n, with.Outputs[i], o, f, m.Program.Known[o].DType)...)
			}
		}
		if behind == nil {
			return nil
		}
		return append([]*graph.Node{&with}, behind...)
	})
}

// unchanged returns a chain of nodes that turns tensor in, which holds integers with the facts f, into codes called out
// with the same values. If dt is a type of floats, the chain ends in a Cast to it.
func (e *editor) unchanged(n *graph.Node, in, out string, f facts, dt graph.DType) []*graph.Node {
	inputs := []string{in, e.constant(out, "scale", scalar(graph.DTypeFloat32, 1)),
		e.constant(out, "zero", scalar(graph.DTypeFloat32, 0))}
	attrs := graph.AttributesByName{"lo": graph.NewFloatAttr(f.in.Lo), "hi": graph.NewFloatAttr(f.in.Hi),
		"mode": graph.NewIntAttr(int(real.RoundingModeHalfEven)), "tensor": graph.NewStringAttr(out)}
	chain := []*graph.Node{from(n, operators.InternalDomain, operators.OpQuantiserCode, inputs, "", attrs)}
	switch {
	case dt == graph.DTypeBool:
		attrs["truth"] = graph.NewIntAttr(1)
	case dt.IsReal():
		chain = append(chain, from(n, "", operators.OpCast, []string{""}, "",
			graph.AttributesByName{"to": graph.NewIntAttr(int(dt))}))
	}
	return e.link(chain, out, "codes")
}

// A facts holds statements that are true for every element of a tensor.
type facts struct {
	in      real.Interval
	whole   bool // every element is an integer
	rounded bool // a rounding made the elements, and no tensor since then is marked as codes
}

func (f facts) bounded() bool { return -maxCode <= f.in.Lo && f.in.Hi < maxCode }

func (f facts) and(g facts) facts {
	return facts{real.Interval{Lo: min(f.in.Lo, g.in.Lo), Hi: max(f.in.Hi, g.in.Hi)}, f.whole && g.whole,
		f.rounded || g.rounded}
}

// A wholes finds the facts of tensors, in the order of the steps that compute them.
type wholes struct {
	p     *program.Program
	known map[string]facts
	lates map[*program.Step]bool // the results of later
	over  map[string]string      // the results of above
}

func wholesOf(p *program.Program) *wholes {
	return &wholes{p: p, known: map[string]facts{}, lates: map[*program.Step]bool{}, over: map[string]string{}}
}

// later reports whether a tensor behind step s is a better choice for codes than the output of s. Each reader of the
// output must give integers. It must be the only reader and narrow the range, directly or behind steps that keep it,
// such as a Cast. A reader may also turn a truth value into an integer. Or it may choose by the truth value between the
// values that were compared, as in a clamp that is written as Where.
func (w *wholes) later(s *program.Step) bool {
	later, known := w.lates[s]
	if !known {
		later = w.findLater(s)
		w.lates[s] = later
	}
	return later
}

func (w *wholes) findLater(s *program.Step) bool {
	readers := w.p.ReadersOf(s.Output)
	if len(readers) == 0 || slices.Contains(graph.ValueNames(w.p.Graph.Outputs), s.Output) {
		return false
	}
	f := w.known[s.Output]
	for _, r := range readers {
		next := w.step(r)
		if over := w.above(r.Output); w.truth(s.Output) && over != "" && over != s.Output && len(w.data(r)) > 1 {
			continue
		}
		if r.Elem == nil || !next.whole {
			return false
		}
		was, is := f.in.Hi-f.in.Lo, next.in.Hi-next.in.Lo
		narrows := len(readers) == 1 && slices.Equal(r.Shape, s.Shape) && (is < was || is == was && w.later(r))
		if !narrows && !slices.ContainsFunc(r.Node.Inputs, w.truth) {
			return false
		}
	}
	return true
}

// truth reports whether a tensor holds truth values (Bool) that depend on data.
func (w *wholes) truth(tensor string) bool {
	k := w.p.Known[tensor]
	return k.DType == graph.DTypeBool && k.Const == nil && tensor != ""
}

// of returns the facts of a tensor. Without a known step or constant, its elements may be any real numbers.
func (w *wholes) of(tensor string) facts {
	if f, ok := w.known[tensor]; ok {
		return f
	}
	k := w.p.Known[tensor]
	f := facts{in: real.IntervalOfAllReals, whole: !k.DType.IsReal()}
	if c := k.Const; c != nil {
		f = constantFacts(c)
	}
	w.known[tensor] = f
	return f
}

func constantFacts(c *graph.ConstantTensor) facts {
	f := facts{in: real.Interval{Lo: math.Inf(1), Hi: math.Inf(-1)}, whole: true}
	for v := range c.PossibleValues() {
		if v < f.in.Lo {
			f.in.Lo = v
		}
		if v > f.in.Hi {
			f.in.Hi = v
		}
		f.whole = f.whole && v == math.Trunc(v)
	}
	return f
}

// step returns the facts of a step's output, from those of its inputs.
func (w *wholes) step(s *program.Step) facts {
	in := s.Node.Inputs
	if lo, hi, ok := operators.CodeLimitsOfQuantiser(s.Node); ok {
		return facts{in: real.Interval{Lo: lo, Hi: hi}, whole: true}
	}
	switch {
	case s.Move != nil:
		return w.moved(s)
	case program.StepMayReadInfinities(w.p, s):
		if s.DType == graph.DTypeBool {
			return facts{in: real.Interval{Lo: 0, Hi: 1}, whole: true}
		}
		return facts{in: real.IntervalOfAllReals}
	case s.Elem != nil:
		args, spans := make([]facts, len(s.Elem.Args)), make([]real.Interval, len(s.Elem.Args))
		out := facts{}
		for v, slot := range s.Elem.Args {
			args[v] = w.of(in[slot])
			spans[v] = args[v].in
			out.rounded = out.rounded || args[v].rounded
		}
		var rounds bool
		out.whole, rounds = s.Elem.Expr.IsCertainlyInteger(func(v int) bool { return args[v].whole })
		if in, ok := w.pieces(s); ok {
			out.in, out.rounded = in, out.whole && (out.rounded || rounds)
			return out
		}
		if out.rounded = out.whole && (out.rounded || rounds); out.rounded {
			out.in, _ = real.Compile(s.Elem.Expr).EvaluateInterval(spans)
			return out
		}
		if len(args) <= maxSpanned {
			out.in, _ = real.Compile(s.Elem.Expr).EvaluateInterval(spans)
		} else {
			out.in = real.IntervalOfAllReals
		}
		return out
	}
	if d := s.Dot; d != nil && d.Then == nil {
		a, b := w.of(in[d.A]), w.of(in[d.B])
		most := float64(d.K) * max(-a.in.Lo, a.in.Hi) * max(-b.in.Lo, b.in.Hi)
		if math.IsNaN(most) || most >= maxCode {
			return facts{in: real.IntervalOfAllReals, whole: a.whole && b.whole}
		}
		return facts{in: real.Interval{Lo: -most, Hi: most}, whole: a.whole && b.whole}
	}
	return facts{in: real.IntervalOfAllReals}
}

// maxSpanned is the largest number of arguments from whose ranges the range of a step's output is computed. With more
// arguments, the output counts as unbounded.
const maxSpanned = 8

// moved returns the facts that hold for all inputs from which a moving step takes elements.
func (w *wholes) moved(s *program.Step) facts {
	used := make([]bool, len(s.Node.Inputs))
	for _, slot := range s.Move.SourceInputs() {
		used[slot] = true
	}
	out, first := facts{in: real.IntervalOfAllReals}, true
	for slot, use := range used {
		if !use {
			continue
		}
		if f := w.of(s.Node.Inputs[slot]); first {
			out, first = f, false
		} else {
			out = out.and(f)
		}
	}
	return out
}
