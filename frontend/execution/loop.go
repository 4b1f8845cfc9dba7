package execution

import (
	"errors"
	"fmt"
	"math/big"
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/program"
	"hlsgen/frontend/real"
)

// A loop executes a Recur. The steps of all its outputs share it.
type loop struct {
	node *graph.Node
	*program.Recur
	body *ProgramPart

	keeps        bool             // start with the final states of the program's run before
	begun, ended []*program.Reals // the initial and final states of the program's last run, if keeps is set
	kept         int              // the number of elements kept of all runs of the program
}

func newLoop(s *program.Step) *loop {
	g := s.Recur.Body.Graph
	l := &loop{node: s.Node, Recur: s.Recur}
	body, err := NewProgramPart(s.Recur.Body, graph.ValueNames(g.Inputs), graph.ValueNames(g.Outputs))
	must(err) // all inputs of the body are given
	l.body = body
	return l
}

// An unrolled holds the results of a loop in one run of the program: its outputs, and values of its runs for later
// exact decisions.
type unrolled struct {
	*loop
	now  *decision
	out  []*program.Reals // by output of the node
	runs []*decider       // by run of the body; nil if its results are exact, or too large to keep
	kept int              // the number of elements kept

	before []*program.Reals // the final states of the program's run before; nil if there is none
}

// maxKept is the largest number of elements that a loop keeps of its runs for later decisions.
const maxKept = 1 << 25

// run executes the loop on the values of the node's inputs.
func (l *loop) run(in []*program.Reals, d *decider) (*unrolled, error) {
	u := &unrolled{loop: l, now: d.now, runs: make([]*decider, l.Length), before: l.ended, kept: l.kept}
	state := slices.Clone(in[:l.States])
	if u.before != nil {
		copy(state, u.before)
	}
	if l.keeps {
		l.begun = slices.Clone(state)
	}
	given := make([][]*program.Reals, len(l.Gathered)) // by gathered tensor and run
	for t := range l.Length {
		b := &decider{prog: l.Body, all: map[string]*program.Reals{}, now: d.now, around: d, turn: t, turns: u}
		out, err := l.body.run(l.arriving(state, in, t), b, nil)
		if err != nil {
			return nil, fmt.Errorf("run %d: %w", t, err)
		}
		u.keep(t, out, b)
		if d.watch != nil {
			l.note(d, b, t)
		}
		copy(state, out)
		for k := range given {
			given[k] = append(given[k], out[l.States+k])
		}
	}
	for _, v := range state {
		last := *v // copied, because a state may be the input value itself
		u.out = append(u.out, &last)
	}
	for k, g := range l.Gathered {
		u.out = append(u.out, gather(given[k], g, l.Length))
	}
	for i, v := range u.out {
		if !v.IsExactInFloat64() {
			v.Refiner, v.Result = u, i
		}
	}
	if l.keeps {
		l.ended, l.kept = u.out[:l.States:l.States], u.kept
	}
	return u, nil
}

// keep keeps the values of run t for later decisions, unless all outputs are exact or maxKept is reached.
func (u *unrolled) keep(t int, out []*program.Reals, b *decider) {
	exact := true
	for _, v := range out {
		exact = exact && v.IsExactInFloat64()
	}
	if exact {
		return
	}
	for _, v := range b.all {
		u.kept += len(v.Lo)
	}
	if u.kept <= maxKept {
		u.runs[t] = b
	}
}

// inside returns the name that a tensor of the body in run t has among the tensors of the program.
func (l *loop) inside(t int, tensor string) string {
	return fmt.Sprintf("%s[%d].%s", l.node.FirstNonEmptyOutputName(), t, tensor)
}

// note adds the codes that b, the decider of the body, has seen in run t to those that d watches.
func (l *loop) note(d, b *decider, t int) {
	for _, name := range l.body.QuantiserTensorNames() {
		d.watch[l.inside(t, name)] = b.all[name]
	}
}

// arriving returns the inputs of the body in run t: the states, and the elements of the scanned tensors.
func (l *loop) arriving(state, in []*program.Reals, t int) []*program.Reals {
	vals := slices.Clone(state)
	for k, s := range l.Scanned {
		vals = append(vals, slice(in[l.States+k], s, t))
	}
	return vals
}

// slice returns the part of a scanned tensor that run t reads.
func slice(x *program.Reals, s program.ScanAxis, t int) *program.Reals {
	v := program.NewZeroReals(slices.Delete(slices.Clone(x.Shape), s.Axis, s.Axis+1))
	for i := range v.Lo {
		at := s.ElementIndexInWhole(x.Shape, t, i)
		v.Lo[i], v.Hi[i] = x.Lo[at], x.Hi[at]
	}
	if x.Truth != nil {
		v.Truth = func(i int) *big.Rat { return x.Truth(s.ElementIndexInWhole(x.Shape, t, i)) }
	}
	return v.ShareSliceIfBoundsEqual()
}

// gather returns the tensor that joins parts, an output of each of n runs, along the axis and in the direction of s.
func gather(parts []*program.Reals, s program.ScanAxis, n int) *program.Reals {
	shape := slices.Insert(slices.Clone(parts[0].Shape), s.Axis, n)
	v := program.NewZeroReals(shape)
	truth := false
	for t, p := range parts {
		for i := range p.Lo {
			at := s.ElementIndexInWhole(shape, t, i)
			v.Lo[at], v.Hi[at] = p.Lo[i], p.Hi[i]
		}
		truth = truth || p.Truth != nil
	}
	if truth {
		v.Truth = func(i int) *big.Rat {
			t, j := s.RunAndElementIndexOf(shape, i)
			if p := parts[t]; p.Truth != nil {
				return p.Truth(j)
			} else if p.Lo[j] == p.Hi[j] {
				return new(big.Rat).SetFloat64(p.Lo[j])
			}
			return nil
		}
	}
	return v.ShareSliceIfBoundsEqual()
}

// errLost is the error for a decision that would need earlier runs of a loop than those kept.
var errLost = errors.New("the sequence is too long to decide this rounding exactly: its states are real numbers")

// Element returns element i of output number result of an unrolled loop, exactly or as an interval computed with prec
// bits.
func (u *unrolled) Element(result, i int, prec uint) (real.Num, error) {
	t := u.Length - 1
	if result >= u.States {
		g := u.Gathered[result-u.States]
		t, i = g.RunAndElementIndexOf(u.out[result].Shape, i)
	}
	return u.ask(t, result, i, prec)
}

// ask returns element i of the body's output number result in run t, exactly or as an interval computed with prec bits.
func (u *unrolled) ask(t, result, i int, prec uint) (real.Num, error) {
	if u.runs[t] == nil {
		return real.Num{}, errLost
	}
	return u.runs[t].element(u.Body.Graph.Outputs[result].Name, i, prec)
}

// arrived returns element i of an input of the body, exactly or as an interval computed with prec bits. It comes from
// the run before, or from the program around the loop.
func (d *decider) arrived(name string, i int, prec uint) (real.Num, error) {
	l := d.turns.loop
	for slot, in := range l.Body.Graph.Inputs {
		if in.Name != name {
			continue
		}
		switch outer := l.node.Inputs[slot]; {
		case slot >= l.States:
			s := l.Scanned[slot-l.States]
			return d.around.element(outer, s.ElementIndexInWhole(d.around.value(outer).Shape, d.turn, i), prec)
		case d.turn == 0 && d.turns.before != nil:
			n, _, err := d.turns.before[slot].ElementAtPrecision(i, prec) // a state that is not exact comes from a loop
			return n, err
		case d.turn == 0:
			return d.around.element(outer, i, prec)
		}
		return d.turns.ask(d.turn-1, slot, i, prec)
	}
	return real.Num{}, fmt.Errorf("tensor %q is not known exactly", name)
}

// A decision counts the work of deciding elements exactly. The deciders of a program and of the bodies in it share it.
type decision struct {
	number   int // the number of the current element; values computed for one element are dropped with it
	products int // products computed in bodies of loops, where no values are dropped
	steps    int // steps and products for the current element
	most     int // the limit of steps; 0 for none
}

// ErrRoundingTooCostly is the error for a rounding whose exact decision takes more steps than ProgramPart.Most allows.
var ErrRoundingTooCostly = errors.New("deciding this rounding exactly takes too many steps, and the " +
	"model has no codes that would " +
	"depend on it")

// maxHistory is the largest number of products that the decisions of a run may compute in earlier runs of loops. Each
// takes some microseconds.
const maxHistory = 1 << 19

var errHistory = errors.New(
	"deciding this rounding exactly would take too long: it depends on too many runs of a loop with real-valued states")

// charge counts the work of computing one element of step s. It returns an error if the work exceeds a limit.
func (d *decider) charge(s *program.Step) error {
	if d.now.most > 0 {
		d.now.steps++
		if s.Dot != nil {
			d.now.steps += s.Dot.K
		}
		if d.now.steps > d.now.most {
			return ErrRoundingTooCostly
		}
	}
	if d.around == nil {
		return nil
	}
	d.now.products++
	if s.Dot != nil {
		d.now.products += s.Dot.K
	}
	if d.now.products > maxHistory {
		return errHistory
	}
	return nil
}

// walk executes the loop with another arithmetic, as ProgramPart.walk does.
func (l *loop) walk(in []*program.Reals, all map[string]*program.Reals, fix func(*program.Reals) *program.Reals,
	compute computation) []*program.Reals {
	state := slices.Clone(in[:l.States])
	if l.begun != nil {
		copy(state, l.begun)
	}
	given := make([][]*program.Reals, len(l.Gathered))
	codes, fixed := l.body.QuantiserTensorNames(), map[string]*program.Reals{}
	for t := range l.Length {
		once := l.body.walk(l.arriving(state, in, t), fixed, fix,
			func(name string, r *runner, vals []*program.Reals, out *program.Reals) {
				compute(l.inside(t, name), r, vals, out)
			})
		for _, name := range codes {
			all[l.inside(t, name)] = once[name]
		}
		for i, out := range l.Body.Graph.Outputs {
			if i < l.States {
				state[i] = once[out.Name]
			} else {
				given[i-l.States] = append(given[i-l.States], once[out.Name])
			}
		}
	}
	for k, g := range l.Gathered {
		state = append(state, gather(given[k], g, l.Length))
	}
	return state
}
