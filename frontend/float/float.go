// Package float executes programs in float64, for speed. Every operation rounds, in an order that only the program
// determines, so the results are the same on every processor. It serves statistics of values, and models in which
// nothing is rounded to codes. The exact meaning of a model is that of package execution.
//
// In come programs and float64s; out come the values of tensors.
//
//   - float.go runs the steps of a part, and says for which programs float64 is good enough; room.go recycles memory
//   - elem.go computes functions of elements, move.go moves and orders, loop.go recurrences
//   - dot.go lays out sums of products, lying.go those that read a tensor directly, frame.go those that read padded
//     images; kernels.go computes them, kernels_amd64.go with AVX2; kernels_other.go has the stubs for other
//     processors; team.go shares work among goroutines
package float

import (
	"fmt"
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/program"
	"hlsgen/frontend/real"
)

// An Evaluator computes some tensors of a program from others, in float64. Only one goroutine may use it at a time;
// Fork returns a copy for another.
type Evaluator struct {
	prog    *program.Program
	from    []int  // the given values
	want    []bool // by value: whether Run passes it to its caller
	values  []value
	runners []*runner
	room    room
	team    *team
}

// A value is a tensor of the program, with its elements if it is constant.
type value struct {
	name  string
	shape []int
	fixed *graph.ConstantTensor // the constant; otherwise nil
}

// A runner executes one step of the program.
type runner struct {
	step  *program.Step
	reads []int // the values that it reads; -1 for a product's factor that is read as a constant
	to    int
	last  []int // the values that no later step reads
	elem  *elem // the step's function, or the function after its product
	dot   *dot
	loop  *loop
}

// NewEvaluator returns an Evaluator that computes the tensors to from the tensors from. The error says that they, or
// the body of a loop, depend on another input.
func NewEvaluator(p *program.Program, from, to []string) (*Evaluator, error) {
	steps, need := p.StepsBetween(from, to)
	for _, in := range p.Graph.Inputs {
		if need[in.Name] {
			return nil, fmt.Errorf("tensor %q is needed", in.Name)
		}
	}
	x := &Evaluator{prog: p, team: newTeam(1)}
	at := map[string]int{}
	id := func(name string) int {
		if _, ok := at[name]; !ok {
			k := p.Known[name]
			at[name] = len(x.values)
			x.values = append(x.values, value{name, k.Shape, k.Const})
		}
		return at[name]
	}
	for _, name := range from {
		x.from = append(x.from, id(name))
	}
	loops := map[*program.Recur]*loop{}
	for _, s := range steps {
		r := &runner{step: s, reads: make([]int, len(s.Node.Inputs)), to: -1}
		for i, in := range s.Node.Inputs {
			if r.reads[i] = -1; in == "" || p.Known[in].Const != nil && packs(s, i) {
				continue
			}
			r.reads[i] = id(in)
		}
		r.to = id(s.Output)
		if err := x.prepare(r, loops); err != nil {
			return nil, err
		}
		x.runners = append(x.runners, r)
	}
	for _, name := range to {
		id(name)
	}
	x.want = make([]bool, len(x.values))
	for _, name := range to {
		x.want[at[name]] = true
	}
	x.frames()
	x.lives()
	return x, nil
}

// packs reports whether a step reads an input slot only as factor of a product. The product then stores constants in
// its own layout.
func packs(s *program.Step, slot int) bool {
	return s.Dot != nil && (s.Dot.Then == nil || !slices.Contains(s.Dot.Then.Args[1:], slot))
}

// prepare compiles what a runner needs: a function, a product or a loop. Runners of one loop share it.
func (x *Evaluator) prepare(r *runner, loops map[*program.Recur]*loop) (err error) {
	s := r.step
	switch {
	case s.Elem != nil:
		r.elem = newElem(s.Elem)
	case s.Dot != nil:
		known := func(slot int) *graph.ConstantTensor { return x.prog.Known[s.Node.Inputs[slot]].Const }
		r.dot = newDot(s.Dot, known(s.Dot.A), known(s.Dot.B))
		if s.Dot.Then != nil {
			r.elem = newElem(s.Dot.Then)
		}
	case s.Recur != nil:
		if loops[s.Recur] == nil {
			if loops[s.Recur], err = newLoop(s.Recur); err != nil {
				return err
			}
		}
		r.loop = loops[s.Recur]
	}
	return nil
}

// lives records, for each runner, the values that no later runner reads.
func (x *Evaluator) lives() {
	seen := make([]bool, len(x.values))
	for _, r := range slices.Backward(x.runners) {
		r.last = nil
		for _, v := range slices.Concat(r.reads, []int{r.to}) {
			if v >= 0 && !seen[v] {
				seen[v] = true
				r.last = append(r.last, v)
			}
		}
	}
}

// Fork returns a copy of the evaluator that another goroutine may use at the same time.
func (x *Evaluator) Fork() *Evaluator {
	y := *x
	y.room, y.team = room{}, newTeam(len(x.team.workers))
	loops := map[*loop]*loop{}
	y.runners = make([]*runner, len(x.runners))
	for i, r := range x.runners {
		f := *r
		f.elem = r.elem.fork()
		if r.loop != nil {
			if loops[r.loop] == nil {
				loops[r.loop] = r.loop.fork()
			}
			f.loop = loops[r.loop]
		}
		y.runners[i] = &f
	}
	return &y
}

// UseGoroutines makes each run share its work among the given number of goroutines, and returns x.
func (x *Evaluator) UseGoroutines(processors int) *Evaluator {
	x.team = newTeam(processors)
	return x
}

// An OverflowError is the error for a value that float64 cannot represent, at the node that computes it.
type OverflowError struct{ Node *graph.Node }

func (e *OverflowError) Error() string {
	return fmt.Sprintf("%s %q: a value is beyond float64", e.Node.QualifiedOpName(), e.Node.Label())
}

// Run computes the tensors to of NewEvaluator from the elements of the tensors from, which are given in order. It calls
// see for each tensor as soon as that is computed, and for constants at the end; see may read data until it returns.
// Run replaces -0 by 0 in what it computes. The error is an OverflowError, or says which input has a wrong length.
func (x *Evaluator) Run(in [][]float64, see func(tensor string, shape []int, data []float64)) error {
	held := make([]*buffer, len(x.values))
	defer func() { // in case an error ends the run
		for _, b := range held {
			x.room.drop(b)
		}
	}()
	show := func(v int) {
		if x.want[v] {
			see(x.values[v].name, x.values[v].shape, held[v].data)
		}
	}
	for i, v := range x.from {
		if n := graph.ElementCount(x.values[v].shape); n != len(in[i]) {
			return fmt.Errorf("tensor %q has %d elements, wants %d", x.values[v].name, len(in[i]), n)
		}
		held[v] = given(in[i])
		show(v)
	}
	turned := map[*loop][]*buffer{}
	defer func() {
		for _, list := range turned {
			for _, b := range list {
				x.room.drop(b)
			}
		}
	}()
	for _, r := range x.runners {
		data := make([]*buffer, len(r.reads))
		for i, v := range r.reads {
			if v < 0 {
				continue
			}
			if held[v] == nil {
				held[v] = given(x.values[v].fixed.Floats())
			}
			data[i] = held[v]
		}
		out, err := x.step(r, data, turned)
		if err != nil {
			return err
		}
		held[r.to] = out
		show(r.to)
		for _, v := range r.last {
			x.room.drop(held[v])
			held[v] = nil
		}
	}
	for v, of := range x.values {
		if x.want[v] && of.fixed != nil {
			see(of.name, of.shape, of.fixed.Floats())
		}
	}
	return nil
}

// step executes one runner and returns its output. A loop runs once for all its outputs, which turned keeps for later
// calls.
func (x *Evaluator) step(r *runner, in []*buffer, turned map[*loop][]*buffer) (*buffer, error) {
	s := r.step
	switch {
	case s.Move != nil && s.Move.IsCertainlyIdentity():
		return in[0].again(), nil
	case r.loop != nil:
		if turned[r.loop] == nil {
			all, err := r.loop.run(x, in)
			if err != nil {
				return nil, err
			}
			turned[r.loop] = all
		}
		return turned[r.loop][s.Result].again(), nil
	}
	out := x.room.take(graph.ElementCount(s.Shape))
	switch {
	case s.Move != nil:
		x.move(s.Move, in, out.data)
		return out, nil
	case s.Order != nil:
		order(s.Order, in[0].data, out.data)
		return out, nil
	case r.dot == nil:
		x.apply(r.elem, in, nil, out.data)
	case r.elem == nil:
		x.sums(r.dot, in, out.data)
	default:
		sums := x.room.take(len(out.data))
		x.sums(r.dot, in, sums.data)
		x.apply(r.elem, in, sums.data, out.data)
		x.room.drop(sums)
	}
	if !x.finite(out.data, r.elem == nil, program.TensorMayHoldInfinities(x.prog, s.Output)) {
		x.room.drop(out)
		return nil, &OverflowError{s.Node}
	}
	return out, nil
}

// finite reports whether all elements are finite or, with endless, whether none is NaN. It changes -0 to 0 in data.
// With sums and without endless it changes nothing: sums of products begin with 0, so they are never -0.
func (x *Evaluator) finite(data []float64, sums, endless bool) bool {
	bad := make([]float64, len(x.team.workers))
	x.team.share(len(data), 1<<14, func(w *worker, from, to int) {
		some, a, b, c, d := data[from:to], 0.0, 0.0, 0.0, 0.0
		if endless {
			for i, v := range some {
				if v != v {
					a = v
				}
				some[i] = v + 0
			}
			some = nil
		}
		for ; sums && len(some) >= 4; some = some[4:] {
			v, w, x, y := some[0], some[1], some[2], some[3]
			a, b, c, d = a+(v-v), b+(w-w), c+(x-x), d+(y-y)
		}
		for ; len(some) >= 4; some = some[4:] { // four independent sums, for instruction-level parallelism
			v, w, x, y := some[0], some[1], some[2], some[3]
			a, b, c, d = a+(v-v), b+(w-w), c+(x-x), d+(y-y)
			some[0], some[1], some[2], some[3] = v+0, w+0, x+0, y+0
		}
		for i, v := range some {
			a += v - v
			some[i] = v + 0
		}
		bad[w.number] += a + b + c + d
	})
	return !slices.ContainsFunc(bad, func(v float64) bool { return v != 0 })
}

// NeedsExactArithmetic reports whether some step between a program's inputs and outputs rounds real numbers to
// integers, compares them or sorts. Bodies of loops count. Such a model needs exact values, because a small error may
// change a decision. Functions of elements that read and give only integers do not count, since float64 computes them
// exactly.
func NeedsExactArithmetic(p *program.Program) bool {
	steps, _ := p.StepsBetween(graph.ValueNames(p.Graph.Inputs), graph.ValueNames(p.Graph.Outputs))
	return slices.ContainsFunc(steps, func(s *program.Step) bool { return decides(p, s) })
}

func decides(p *program.Program, s *program.Step) bool {
	switch {
	case s.Elem != nil && whole(p, s):
		return false
	case s.Order != nil:
		return true
	case s.Elem != nil:
		return real.Compile(s.Elem.Expr).HasDiscreteOps()
	case s.Dot != nil && s.Dot.Then != nil:
		return real.Compile(s.Dot.Then.Expr).HasDiscreteOps()
	case s.Recur != nil:
		return NeedsExactArithmetic(s.Recur.Body)
	}
	return false
}

// whole reports whether an element-wise step reads and gives integers only.
func whole(p *program.Program, s *program.Step) bool {
	return !s.DType.IsReal() && !slices.ContainsFunc(s.Elem.Args, func(slot int) bool {
		return p.Known[s.Node.Inputs[slot]].DType.IsReal()
	})
}
