package graph

import (
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"

	"hlsgen/frontend/real"
	"hlsgen/internal/num"
)

// A Part is the steps of a program between some tensors and others: the whole model, or what the host does of it. It
// executes in exact real-number semantics: intervals of float64 carry a proof of every rounding, and a rounding they
// leave open is decided element by element in exact arithmetic. A Part may be run by one goroutine at a time; Fork
// gives another.
type Part struct {
	prog    *Program
	from    []string
	to      []string
	runners []*runner
	sums    map[string]*Summing // that take the place of those of products
	summed  map[string][]int64  // what they have given in the last run

	Watch bool // Run gives the codes inside loops too
	// Most, where it is not 0, is the steps and products that Rounded goes back through for an element. For others it
	// gives ErrLong: there are no codes in the program, so that float64 tells about as much.
	Most int
}

// Part cuts a part out: the steps needed for the tensors `to`, given the tensors `from`. The error names an input that
// would be needed besides.
func (p *Program) Part(from, to []string) (*Part, error) {
	part := &Part{prog: p, from: from, to: to}
	loops := map[*Recur]*loop{}
	steps, need := p.Needed(from, to)
	for _, s := range steps {
		r := p.newRunner(s)
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

// Needed lists the steps that the tensors `to` depend on, in order, given the tensors `from`, and the tensors that
// these steps read besides those.
func (p *Program) Needed(from, to []string) (steps []*Step, read map[string]bool) {
	given, read := setOf(from), setOf(to)
	for _, s := range slices.Backward(p.Steps) {
		if !read[s.Output] || given[s.Output] {
			continue
		}
		steps = append(steps, s)
		for _, in := range s.Node.Inputs {
			read[in] = true
		}
	}
	slices.Reverse(steps)
	maps.DeleteFunc(read, func(name string, _ bool) bool { return given[name] })
	return steps, read
}

// Nodes lists the nodes of the part in order, each once.
func (p *Part) Nodes() []*Node {
	var out []*Node
	for _, r := range p.runners {
		out = append(out, r.step.Node)
	}
	return slices.Compact(out)
}

// Loops lists the nodes of the part that run along a sequence, each once.
func (p *Part) Loops() (list []*Node) {
	for _, r := range p.runners {
		if r.loop != nil {
			list = Join(list, []*Node{r.step.Node})
		}
	}
	return list
}

// Fork returns the same part with scratch space of its own.
func (p *Part) Fork() *Part {
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

// Stream is a fork for samples that are pieces of one stream, in order: in each run, loops go on with the states that
// they have ended with in the run before; in the first one, as the program says.
func (p *Part) Stream() *Part {
	q := p.Fork()
	for _, r := range q.runners {
		if r.loop != nil {
			r.loop.keeps = true
		}
	}
	return q
}

// Follow has a stream's next run go on where another stream has ended: of the same model for samples of another length.
func (p *Part) Follow(before *Part) {
	ours, theirs := p.loops(), before.loops()
	if len(ours) != len(theirs) {
		panic("streams of different models")
	}
	for i, l := range ours {
		l.ended, l.kept = theirs[i].ended, theirs[i].kept
	}
}

// loops lists those of the part in order, each once.
func (p *Part) loops() (list []*loop) {
	for _, r := range p.runners {
		if r.loop != nil && !slices.Contains(list, r.loop) {
			list = append(list, r.loop)
		}
	}
	return list
}

// An ExecError is a failure at one node: a rounding that stays open, a division by zero.
type ExecError struct {
	Node *Node
	Err  error
}

func (e *ExecError) Error() string {
	return fmt.Sprintf("%s %q: %v", e.Node.FullOp(), e.Node.Label(), e.Err)
}
func (e *ExecError) Unwrap() error { return e.Err }

// Run executes the part on one value per tensor of `from`; it gives one per tensor of `to`, and all that lie between
// by name.
func (p *Part) Run(in []*Reals) (out []*Reals, all map[string]*Reals, err error) {
	all = make(map[string]*Reals, len(in)+len(p.runners))
	out, err = p.start(in, all, nil)
	if err != nil {
		return nil, nil, err
	}
	return out, all, nil
}

// Outputs is Run for the outputs alone. What else it gives by name is what Rounded may ask for: the run has let the
// rest go when nothing needed it any more.
func (p *Part) Outputs(in []*Reals) (all map[string]*Reals, err error) {
	all = make(map[string]*Reals, len(in)+len(p.runners))
	if _, err = p.start(in, all, p.holding(all)); err != nil {
		return nil, err
	}
	return all, nil
}

func (p *Part) start(in []*Reals, all map[string]*Reals, h *holding) (out []*Reals, err error) {
	for i, name := range p.from {
		if want := p.prog.Known[name].Shape; Size(want) != Size(in[i].Shape) {
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

// run executes the part; what it computes is d's. h, if given, lets go what nobody needs.
func (p *Part) run(in []*Reals, d *decider, h *holding) (out []*Reals, err error) {
	for i, name := range p.from {
		v, err := p.arriving(name, in[i], (*Arrival).reals)
		if err != nil {
			return nil, err
		}
		d.all[name] = v
	}
	for _, r := range p.runners {
		vals := make([]*Reals, len(r.reads))
		for i, name := range r.reads {
			if !r.packs(i) {
				vals[i] = d.value(name)
			}
		}
		v, err := r.run(vals, d)
		if err != nil {
			return nil, &ExecError{r.step.Node, err}
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

// Rounded is an output of a run in its own type: reals correctly rounded to float32, or to float64 where that is the
// type; integers as they are, as far as a float64 holds them.
func (p *Part) Rounded(name string, all map[string]*Reals) ([]float64, error) {
	d := newDecider(p.prog, all)
	d.sums, d.summed = p.sums, p.summed
	for _, v := range all {
		if v.from != nil { // decisions go on in what a loop remembers
			d.now = v.from.now
			break
		}
	}
	d.now.most = p.Most
	v := d.value(name)
	return d.rounded(name, v, p.prog.Known[name].DType.Format())
}

func (d *decider) rounded(name string, v *Reals, f num.Format) ([]float64, error) {
	out := make([]float64, len(v.Lo))
	for i := range out {
		if a, b := f.Round(v.Lo[i]), f.Round(v.Hi[i]); a == b {
			out[i] = a
			continue
		}
		d.now.steps = 0
		err := d.decide(func(prec uint) error {
			n, err := d.element(name, i, prec)
			if err != nil {
				return err
			}
			y, ok := n.Rounded(f)
			if !ok {
				return real.ErrPrecision
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

// A decider computes single elements exactly, by going back through the program to what is known exactly.
type decider struct {
	prog *Program
	all  map[string]*Reals
	memo map[digits]map[int]real.Num
	of   int // the decision that memo belongs to; in a body it lasts for all

	sums   map[string]*Summing // by step's output: in the place of sums of products
	summed map[string][]int64  // what they have given

	now      *decision // shared by a program and the bodies in it
	unrolled map[*Recur]*unrolled
	watch    map[string]*Reals // codes inside loops go there; may be nil

	around *decider  // of the program around a body; nil where there is none
	turn   int       // which run of the body
	turns  *unrolled // all of them

	scratch scratch
}

// digits are a tensor at a precision.
type digits struct {
	tensor string
	prec   uint
}

func newDecider(p *Program, all map[string]*Reals) *decider {
	return &decider{prog: p, all: all, now: new(decision), unrolled: map[*Recur]*unrolled{}}
}

func (d *decider) value(name string) *Reals {
	if v, ok := d.all[name]; ok {
		return v
	}
	if k, ok := d.prog.Known[name]; ok && k.Const != nil {
		v := d.prog.constant(k.Const)
		d.all[name] = v
		return v
	}
	return nil
}

// decide calls f with more and more precision until it is content.
func (d *decider) decide(f func(prec uint) error) error {
	var err error
	for _, prec := range real.Precisions {
		d.now.number++
		if err = f(prec); !errors.Is(err, real.ErrPrecision) {
			return err
		}
	}
	return err
}

// element is element i of a tensor, exactly or enclosed at prec bits.
func (d *decider) element(name string, i int, prec uint) (real.Num, error) {
	if v := d.value(name); v != nil {
		if n, known, err := v.element(i, prec); known {
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
	s := d.prog.by[name]
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

func (d *decider) compute(s *Step, i int, prec uint) (real.Num, error) {
	in := func(slot, i int) (real.Num, error) { return d.element(s.Node.Inputs[slot], i, prec) }
	switch {
	case s.Move != nil:
		slot, j := s.Move.From(i)
		return in(slot, j)
	case s.Elem != nil:
		return exactElem(s.Elem, i, prec, in, nil)
	case s.Order != nil:
		return s.Order.compute(s.Node.Inputs[0], i, prec, d)
	}
	if sum, ok := d.sumOf(s, i); ok {
		return d.then(s, i, prec, in, sum)
	}
	sum := real.Exactly(new(big.Rat))
	for k := range s.Dot.K {
		a, err := in(s.Dot.A, int(s.Dot.ABase.At(i))+int(s.Dot.AOffset[k]))
		if err != nil {
			return sum, err
		}
		b, err := in(s.Dot.B, int(s.Dot.BBase.At(i))+int(s.Dot.BOffset[k]))
		if err != nil {
			return sum, err
		}
		t, err := real.Product(a, b, prec)
		if err != nil {
			return sum, err
		}
		if sum, err = real.Sum(sum, t, prec); err != nil {
			return sum, err
		}
	}
	return d.then(s, i, prec, in, sum)
}

// then is what becomes of sum i of a step's products.
func (d *decider) then(s *Step, i int, prec uint, in func(slot, i int) (real.Num, error),
	sum real.Num) (real.Num, error) {
	if s.Dot.Then == nil {
		return sum, nil
	}
	return exactElem(s.Dot.Then, i, prec, in, &sum)
}

// exactElem evaluates element i of e; first, if given, is variable 0.
func exactElem(e *Elem, i int, prec uint, in func(slot, i int) (real.Num, error), first *real.Num) (real.Num, error) {
	vars := make([]real.Num, len(e.Args))
	for v, slot := range e.Args {
		if v == 0 && first != nil {
			vars[0] = *first
			continue
		}
		n, err := in(slot, e.At(v, i))
		if err != nil {
			return n, err
		}
		vars[v] = n
	}
	return real.Compile(e.Expr).Exact(vars, prec)
}

// A runner executes one step on whole tensors.
type runner struct {
	prog  *Program
	step  *Step
	reads []string   // tensors
	elem  *Elem      // the step's own, or Dot.Then, or that of several steps; nil where there is none
	f     *real.Func // of elem
	vars  []real.Interval
	memo  memo
	steep *stairs // in its place; nil where it is no such function

	loop    *loop    // of Recur
	product *Step    // of Dot, whose sums are variable 0 of elem; nil where there is none
	plan    *dotPlan // of product
	factor  *Tensor  // its second factor where that is constant, or nil
}

func (p *Program) newRunner(s *Step) *runner {
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

// packs reports whether an input is a constant that is read for a product alone, which lays it out in its own way.
func (r *runner) packs(slot int) bool {
	return r.factor != nil && (r.factor.Codes != nil || r.factor.Singles != nil) && slot == r.product.Dot.B &&
		(r.elem == nil || !slices.Contains(r.elem.Args, slot))
}

// ready makes a runner ready for its function of elements.
func (r *runner) ready() {
	r.f, r.vars = real.Compile(r.elem.Expr), make([]real.Interval, len(r.elem.Args))
	r.remember()
}

func (r *runner) fork() *runner {
	q := *r
	if r.f != nil {
		q.f, q.vars = r.f.Fork(), make([]real.Interval, len(r.vars))
		q.memo.last = nil
		q.steep = r.steep.fork()
	}
	return &q
}

// run executes the step; d decides open roundings.
func (r *runner) run(in []*Reals, d *decider) (*Reals, error) {
	if r.loop != nil {
		return r.turn(in, d)
	}
	switch {
	case r.step.Move != nil:
		return r.move(in), nil
	case r.step.Order != nil:
		out := newReals(r.step.Shape)
		return out, r.step.Order.run(r.step.Node.Inputs[0], in[0], out, d)
	case r.product == nil:
		return r.apply(in, nil, d)
	}
	var out *Reals
	if r.elem == nil {
		out = newReals(r.step.Shape)
	} else {
		out = d.scratch.sums(r.step.Shape)
	}
	if s := d.sums[r.product.Output]; s == nil {
		r.dot(in, out, &d.scratch)
	} else if err := r.sum(s, in, out, d); err != nil {
		return nil, err
	}
	if r.elem == nil {
		return out.share(), nil
	}
	return r.apply(in, out, d)
}

// turn gives an output of a loop, which runs once for all of them.
func (r *runner) turn(in []*Reals, d *decider) (*Reals, error) {
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

func (r *runner) move(in []*Reals) *Reals {
	m := r.step.Move
	if m.Still() {
		return &Reals{Shape: r.step.Shape, Lo: in[0].Lo, Hi: in[0].Hi, Truth: in[0].Truth}
	}
	out := Exactly(r.step.Shape, make([]float64, Size(r.step.Shape)))
	truth := false
	for i := range out.Lo {
		slot, j := m.From(i)
		out.set(i, in[slot].At(j))
		truth = truth || in[slot].Truth != nil
	}
	if truth {
		out.Truth = func(i int) *big.Rat {
			slot, j := m.From(i)
			if in[slot].Truth != nil {
				return in[slot].Truth(j)
			}
			return new(big.Rat).SetFloat64(in[slot].Lo[j])
		}
	}
	return out.share()
}
