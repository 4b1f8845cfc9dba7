// Package execution executes programs in exact real arithmetic. Intervals of float64 prove most roundings. A rounding
// that they leave open is decided for that element alone, exactly.
//
//	exec               parts of programs, and exact decisions of roundings
//	ordering           earlier tensors with the same order
//	dot                sums of products
//	holding            how long a run keeps a tensor
//	memo               caches of the values of functions
//	met                states that runs have reached
//	summing            sums of narrower accumulators
//	elementwise, loop, order
//	                   functions of elements; loops; sorting of rows
//	together           joining of several functions of elements
//	float32, decided   bounds and emulation of float32 executors; runs with chosen codes
//	doubts             codes near ties
package execution

import (
	"errors"
	"fmt"
	"math/big"
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/program"
	"hlsgen/frontend/real"
	"hlsgen/internal/num"
)

// A ProgramPart consists of the steps of a program between some tensors and others: the whole model, or the host's part
// of it. It executes in exact real-number semantics. Intervals of float64 prove most roundings; a rounding that they
// leave open is decided for that element in exact arithmetic. Only one goroutine may use a ProgramPart at a time; Fork
// returns a copy for another.
type ProgramPart struct {
	prog    *program.Program
	from    []string
	to      []string
	runners []*runner
	sums    map[string]*SumReplacement // replace the sums of products of steps, by output
	summed  map[string][]int64         // the sums of the last run, by output

	Watch bool // make Run also return the codes inside loops
	// Most, if not 0, bounds the steps and products through which RoundedOutput goes back for an element. Beyond it,
	// RoundedOutput returns ErrRoundingTooCostly. It is meant for programs without codes, in which float64 is nearly as
	// good.
	Most int
}

// NewProgramPart returns the part of a program that computes the tensors to from the tensors from. The error names a
// model input on which these also depend.
func NewProgramPart(p *program.Program, from, to []string) (*ProgramPart, error) {
	part := &ProgramPart{prog: p, from: from, to: to}
	loops := map[*program.Recur]*loop{}
	steps, need := p.StepsBetween(from, to)
	for _, s := range steps {
		r := newRunner(p, s)
		if s.Recur != nil {
			if loops[s.Recur] == nil {
				loops[s.Recur] = newLoop(s)
			}
			r.loop = loops[s.Recur]
		}
		part.runners = append(part.runners, r)
	}
	for _, in := range p.Graph.Inputs {
		if need[in.Name] {
			return nil, fmt.Errorf("tensor %q is needed", in.Name)
		}
	}
	return part, nil
}

// Nodes returns the nodes whose steps the part executes, in order, each once.
func (p *ProgramPart) Nodes() []*graph.Node {
	var out []*graph.Node
	for _, r := range p.runners {
		out = append(out, r.step.Node)
	}
	return slices.Compact(out)
}

// LoopNodes returns the nodes of the part that are loops, each once.
func (p *ProgramPart) LoopNodes() (list []*graph.Node) {
	for _, r := range p.runners {
		if r.loop != nil {
			list = graph.AppendMissingNodes(list, []*graph.Node{r.step.Node})
		}
	}
	return list
}

// Fork returns a copy of the part that another goroutine may use at the same time. Loops of the copy start each run as
// the program says, even if those of p keep their states.
func (p *ProgramPart) Fork() *ProgramPart {
	q := *p
	q.runners = make([]*runner, len(p.runners))
	loops := map[*loop]*loop{}
	for i, r := range p.runners {
		f := r.fork()
		if l := r.loop; l != nil {
			if loops[l] == nil {
				loops[l] = &loop{node: l.node, Recur: l.Recur, body: l.body.Fork()}
			}
			f.loop = loops[l]
		}
		q.runners[i] = f
	}
	return &q
}

// NewCopyKeepingLoopStates returns a copy that treats samples as pieces of one stream, in order. In each run, loops
// start with the final states of the run before; in the first run they start as the program says.
func (p *ProgramPart) NewCopyKeepingLoopStates() *ProgramPart {
	q := p.Fork()
	for _, r := range q.runners {
		if r.loop != nil {
			r.loop.keeps = true
		}
	}
	return q
}

// TakeLoopStatesFrom makes the next run begin with the final states that loops have in before, another streaming copy.
// That part must belong to the same model, for samples of another length. With another number of loops it panics.
func (p *ProgramPart) TakeLoopStatesFrom(before *ProgramPart) {
	ours, theirs := p.loops(), before.loops()
	if len(ours) != len(theirs) {
		panic("streams of different models")
	}
	for i, l := range ours {
		l.ended, l.kept = theirs[i].ended, theirs[i].kept
	}
}

// loops returns the loops of the part in order, each once.
func (p *ProgramPart) loops() (list []*loop) {
	for _, r := range p.runners {
		if r.loop != nil && !slices.Contains(list, r.loop) {
			list = append(list, r.loop)
		}
	}
	return list
}

// A NodeExecutionError is the error of a run at one node, such as an undecided rounding or a division by zero.
type NodeExecutionError struct {
	Node *graph.Node
	Err  error
}

func (e *NodeExecutionError) Error() string {
	return fmt.Sprintf("%s %q: %v", e.Node.QualifiedOpName(), e.Node.Label(), e.Err)
}
func (e *NodeExecutionError) Unwrap() error { return e.Err }

// Run executes the part on one value for each tensor in from. It returns a value for each tensor in to, and all
// computed values by name. A value with a wrong number of elements is an error; the error of a step is a
// *NodeExecutionError.
func (p *ProgramPart) Run(in []*program.Reals) (out []*program.Reals, all map[string]*program.Reals, err error) {
	all = make(map[string]*program.Reals, len(in)+len(p.runners))
	out, err = p.start(in, all, nil)
	if err != nil {
		return nil, nil, err
	}
	return out, all, nil
}

// RunForOutputs executes the part as Run does, but keeps only the outputs and the values that RoundedOutput needs. It
// drops every other value as soon as no step needs it.
func (p *ProgramPart) RunForOutputs(in []*program.Reals) (all map[string]*program.Reals, err error) {
	all = make(map[string]*program.Reals, len(in)+len(p.runners))
	if _, err = p.start(in, all, p.holding(all)); err != nil {
		return nil, err
	}
	return all, nil
}

func (p *ProgramPart) start(in []*program.Reals, all map[string]*program.Reals, h *holding) (out []*program.Reals,
	err error) {
	for i, name := range p.from {
		if want := p.prog.Known[name].Shape; graph.ElementCount(want) != graph.ElementCount(in[i].Shape) {
			return nil, fmt.Errorf("tensor %q has shape %v, wants %v", name, in[i].Shape, want)
		}
	}
	d := newDecider(p.prog, all)
	if p.Watch {
		d.watch = all
	}
	p.summed = map[string][]int64{}
	d.sums, d.summed = p.sums, p.summed
	return p.run(in, d, h)
}

// run executes the part and stores its values in d. h, if not nil, drops values that no later step needs.
func (p *ProgramPart) run(in []*program.Reals, d *decider, h *holding) (out []*program.Reals, err error) {
	for i, name := range p.from {
		v, err := p.arriving(name, in[i], encodedReals)
		if err != nil {
			return nil, err
		}
		d.all[name] = v
	}
	for _, r := range p.runners {
		vals := make([]*program.Reals, len(r.reads))
		for i, name := range r.reads {
			if !r.packs(i) {
				vals[i] = d.value(name)
			}
		}
		v, err := r.run(vals, d)
		if err != nil {
			return nil, &NodeExecutionError{r.step.Node, err}
		}
		d.all[r.step.Output] = v
		if h != nil {
			h.computed(r.step.Output, v)
		}
	}
	for _, name := range p.to {
		out = append(out, d.value(name))
	}
	return out, nil
}

// RoundedOutput returns the elements of output name, rounded to the output's own type. all holds the values of a run,
// as RunForOutputs returns them. Reals are rounded correctly, for example to float32. Integers are exact as far as
// float64 holds them. The error may wrap ErrRoundingTooCostly (Most).
func (p *ProgramPart) RoundedOutput(name string, all map[string]*program.Reals) ([]float64, error) {
	d := newDecider(p.prog, all)
	d.sums, d.summed = p.sums, p.summed
	for _, v := range all {
		if loop, ok := v.Refiner.(*unrolled); ok { // go on with what the loop remembers
			d.now = loop.now
			break
		}
	}
	d.now.most = p.Most
	v := d.value(name)
	return d.rounded(name, v, p.prog.Known[name].DType.FloatFormat())
}

func (d *decider) rounded(name string, v *program.Reals, f num.FloatFormat) ([]float64, error) {
	out := make([]float64, len(v.Lo))
	for i := range out {
		if a, b := f.RoundToNearest(v.Lo[i]), f.RoundToNearest(v.Hi[i]); a == b {
			out[i] = a
			continue
		}
		d.now.steps = 0
		err := d.decide(func(prec uint) error {
			n, err := d.element(name, i, prec)
			if err != nil {
				return err
			}
			y, ok := n.RoundToFormat(f)
			if !ok {
				return real.ErrInsufficientPrecision
			}
			out[i] = y
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("output %q, element %d: %w", name, i, err)
		}
	}
	return out, nil
}

// A decider computes single elements exactly, by going back through the program to values that are known exactly.
type decider struct {
	prog *program.Program
	all  map[string]*program.Reals
	memo map[digits]map[int]real.Num
	of   int // the number of the decision to which memo belongs; in a body, memo stays valid

	sums   map[string]*SumReplacement // by step's output: replacements of sums of products
	summed map[string][]int64         // the sums that these have given

	now      *decision // shared by a program and the bodies of its loops
	unrolled map[*program.Recur]*unrolled
	watch    map[string]*program.Reals // receives the codes inside loops; may be nil

	around *decider  // the decider of the program around a body; nil outside loops
	turn   int       // the index of the body's run
	turns  *unrolled // all runs of the body

	scratch scratch
}

// A digits is the key of cached elements: a tensor, and the bits of precision to which the elements are enclosed.
type digits struct {
	tensor string
	prec   uint
}

func newDecider(p *program.Program, all map[string]*program.Reals) *decider {
	return &decider{prog: p, all: all, now: new(decision), unrolled: map[*program.Recur]*unrolled{}}
}

func (d *decider) value(name string) *program.Reals {
	if v, ok := d.all[name]; ok {
		return v
	}
	if k, ok := d.prog.Known[name]; ok && k.Const != nil {
		v := d.prog.CachedRealsOfConstant(k.Const)
		d.all[name] = v
		return v
	}
	return nil
}

// decide calls f with more and more bits of precision, until f no longer returns real.ErrInsufficientPrecision or no
// more are allowed. It returns f's last error.
func (d *decider) decide(f func(prec uint) error) error {
	var err error
	for _, prec := range real.WorkingPrecisionBits {
		d.now.number++
		if err = f(prec); !errors.Is(err, real.ErrInsufficientPrecision) {
			return err
		}
	}
	return err
}

// element returns element i of a tensor, exactly or as an interval computed with prec bits. It starts from tensors
// whose values are known.
func (d *decider) element(name string, i int, prec uint) (real.Num, error) {
	if v := d.value(name); v != nil {
		if n, known, err := v.ElementAtPrecision(i, prec); known {
			return n, err
		}
	}
	if d.memo == nil || d.around == nil && d.of != d.now.number {
		d.memo, d.of = map[digits]map[int]real.Num{}, d.now.number
	}
	key := digits{name, prec}
	if n, ok := d.memo[key][i]; ok {
		return n, nil
	}
	s := d.prog.ProducerOf(name)
	switch {
	case s == nil && d.around != nil:
		return d.arrived(name, i, prec)
	case s == nil:
		return real.Num{}, fmt.Errorf("tensor %q is not known exactly", name)
	}
	if err := d.charge(s); err != nil {
		return real.Num{}, err
	}
	n, err := d.compute(s, i, prec)
	if err != nil {
		return n, err
	}
	if d.memo[key] == nil {
		d.memo[key] = map[int]real.Num{}
	}
	d.memo[key][i] = n
	return n, nil
}

func (d *decider) compute(s *program.Step, i int, prec uint) (real.Num, error) {
	in := func(slot, i int) (real.Num, error) { return d.element(s.Node.Inputs[slot], i, prec) }
	switch {
	case s.Move != nil:
		slot, j := s.Move.SourceOf(i)
		return in(slot, j)
	case s.Elem != nil:
		return exactElem(s.Elem, i, prec, in, nil)
	case s.Order != nil:
		return orderElement(s.Order, s.Node.Inputs[0], i, prec, d)
	}
	if sum, ok := d.sumOf(s, i); ok {
		return d.then(s, i, prec, in, sum)
	}
	sum := real.NumberOfRational(new(big.Rat))
	for k := range s.Dot.K {
		a, err := in(s.Dot.A, int(s.Dot.ABase.At(i))+int(s.Dot.AOffset[k]))
		if err != nil {
			return sum, err
		}
		b, err := in(s.Dot.B, int(s.Dot.BBase.At(i))+int(s.Dot.BOffset[k]))
		if err != nil {
			return sum, err
		}
		t, err := real.MultiplyNumbers(a, b, prec)
		if err != nil {
			return sum, err
		}
		if sum, err = real.AddNumbers(sum, t, prec); err != nil {
			return sum, err
		}
	}
	return d.then(s, i, prec, in, sum)
}

// then applies the step's Then function, if any, to the i-th sum of products.
func (d *decider) then(s *program.Step, i int, prec uint, in func(slot, i int) (real.Num, error),
	sum real.Num) (real.Num, error) {
	if s.Dot.Then == nil {
		return sum, nil
	}
	return exactElem(s.Dot.Then, i, prec, in, &sum)
}

// exactElem returns element i of e, exactly or as an interval computed with prec bits. in returns the elements that e
// reads. first, if not nil, is the value of variable 0.
func exactElem(e *program.Elem, i int, prec uint, in func(slot, i int) (real.Num, error), first *real.Num) (real.Num,
	error) {
	vars := make([]real.Num, len(e.Args))
	for v, slot := range e.Args {
		if v == 0 && first != nil {
			vars[0] = *first
			continue
		}
		n, err := in(slot, e.ArgumentIndex(v, i))
		if err != nil {
			return n, err
		}
		vars[v] = n
	}
	return real.Compile(e.Expr).EvaluateExactly(vars, prec)
}

// A runner executes one step on whole tensors. Its caches serve all runs of one goroutine.
type runner struct {
	prog   *program.Program
	step   *program.Step
	reads  []string      // the tensors that the step reads
	elem   *program.Elem // the function of Elem, Dot.Then or several joined steps; nil if there is none
	f      *real.Func    // elem, compiled
	vars   []real.Interval
	memo   memo
	stairs *stairs // replaces f if f is a step function of one variable; otherwise nil

	loop    *loop                 // for a step with Recur
	product *program.Step         // the step with Dot, whose sums are variable 0 of elem; nil if there is none
	plan    *dotPlan              // the evaluation plan of product
	factor  *graph.ConstantTensor // the second factor of product if it is constant; otherwise nil
}

// RunStep returns the output of step s of p, which must be no loop, for the given values of its inputs. known holds, by
// name, the values of further tensors that exact decisions may use.
func RunStep(p *program.Program, s *program.Step, in []*program.Reals,
	known map[string]*program.Reals) (*program.Reals, error) {
	return newRunner(p, s).run(in, newDecider(p, known))
}

func newRunner(p *program.Program, s *program.Step) *runner {
	r := &runner{prog: p, step: s, reads: s.Node.Inputs, elem: s.Elem}
	if s.Dot != nil {
		r.product, r.elem = s, s.Dot.Then
		r.plan, r.factor = new(dotPlan), p.Known[s.Node.Inputs[s.Dot.B]].Const
	}
	if r.elem != nil {
		r.ready()
	}
	return r
}

// packs reports whether input slot slot is a constant that only a product reads. The product then stores it in its own
// layout.
func (r *runner) packs(slot int) bool {
	return r.factor != nil && (r.factor.Codes != nil || r.factor.Singles != nil) && slot == r.product.Dot.B &&
		(r.elem == nil || !slices.Contains(r.elem.Args, slot))
}

// ready compiles the runner's function of elements, unless it is compiled already.
func (r *runner) ready() {
	r.f, r.vars = real.Compile(r.elem.Expr), make([]real.Interval, len(r.elem.Args))
	r.remember()
}

func (r *runner) fork() *runner {
	q := *r
	if r.f != nil {
		q.f, q.vars = r.f.Fork(), make([]real.Interval, len(r.vars))
		q.memo.last = nil
		q.stairs = r.stairs.fork()
	}
	return &q
}

// run executes the step. d decides the roundings that intervals leave open.
func (r *runner) run(in []*program.Reals, d *decider) (*program.Reals, error) {
	if r.loop != nil {
		return r.turn(in, d)
	}
	switch {
	case r.step.Move != nil:
		return r.move(in), nil
	case r.step.Order != nil:
		out := program.NewZeroReals(r.step.Shape)
		return out, runOrder(r.step.Order, r.step.Node.Inputs[0], in[0], out, d)
	case r.product == nil:
		return r.apply(in, nil, d)
	}
	var out *program.Reals
	if r.elem == nil {
		out = program.NewZeroReals(r.step.Shape)
	} else {
		out = d.scratch.sums(r.step.Shape)
	}
	if s := d.sums[r.product.Output]; s == nil {
		r.dot(in, out, &d.scratch)
	} else if err := r.sum(s, in, out, d); err != nil {
		return nil, err
	}
	if r.elem == nil {
		return out.ShareSliceIfBoundsEqual(), nil
	}
	return r.apply(in, out, d)
}

// turn returns the output of the loop that the runner's step belongs to. The loop runs once for all its outputs.
func (r *runner) turn(in []*program.Reals, d *decider) (*program.Reals, error) {
	u := d.unrolled[r.step.Recur]
	if u == nil {
		var err error
		if u, err = r.loop.run(in, d); err != nil {
			return nil, err
		}
		d.unrolled[r.step.Recur] = u
	}
	return u.out[r.step.Result], nil
}

func (r *runner) move(in []*program.Reals) *program.Reals {
	m := r.step.Move
	if m.IsCertainlyIdentity() {
		return &program.Reals{Shape: r.step.Shape, Lo: in[0].Lo, Hi: in[0].Hi, Truth: in[0].Truth}
	}
	out := program.NewExactReals(r.step.Shape, make([]float64, graph.ElementCount(r.step.Shape)))
	truth := false
	for i := range out.Lo {
		slot, j := m.SourceOf(i)
		out.SetInterval(i, in[slot].IntervalAt(j))
		truth = truth || in[slot].Truth != nil
	}
	if truth {
		out.Truth = func(i int) *big.Rat {
			slot, j := m.SourceOf(i)
			if in[slot].Truth != nil {
				return in[slot].Truth(j)
			}
			return new(big.Rat).SetFloat64(in[slot].Lo[j])
		}
	}
	return out.ShareSliceIfBoundsEqual()
}

// encodedReals returns the exact values for which the numbers of a sample stand. The error says that a number stands
// for no integer.
func encodedReals(a *graph.IntegerInputEncoding, name string, in *program.Reals) (*program.Reals, error) {
	codes, err := a.IntegersOfSample(name, in.Shape, in.Lo)
	if err != nil || a.IsExact() {
		return in, err
	}
	out := program.NewZeroReals(in.Shape)
	out.Truth = func(i int) *big.Rat { return a.ExactValueOf(a.ChannelOfElement(in.Shape, i), codes[i]) }
	for i, k := range codes {
		y := a.ValueIntervalOf(a.ChannelOfElement(in.Shape, i), k)
		out.Lo[i], out.Hi[i] = y.Lo, y.Hi
	}
	return out, nil
}

// encodedBounds returns intervals that hold the numbers that float32 programs may have for a sample.
func encodedBounds(a *graph.IntegerInputEncoding, _ string, in *program.Reals) (*program.Reals, error) {
	if a.IsExact() {
		return in, nil
	}
	out := program.NewZeroReals(in.Shape)
	for i, x := range in.Lo {
		most := a.Within[a.ChannelOfElement(in.Shape, i)]
		out.Lo[i], out.Hi[i] = x-most, x+most
	}
	return out, nil
}

// arriving returns the value of an input of the part. If the input arrives as integers, that is the result of the
// function of for in. A value that has Truth already, or that no step reads, is returned unchanged.
func (p *ProgramPart) arriving(name string, in *program.Reals, of func(*graph.IntegerInputEncoding, string,
	*program.Reals) (*program.Reals, error)) (*program.Reals,
	error) {
	a := p.prog.Graph.Arrive[name]
	if a == nil || in.Truth != nil || !in.IsExactInFloat64() {
		return in, nil
	}
	read := func(r *runner) bool { return slices.Contains(r.reads, name) }
	if !slices.ContainsFunc(p.runners, read) && !slices.Contains(p.to, name) {
		return in, nil
	}
	return of(a, name, in)
}
