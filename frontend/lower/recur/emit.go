package recur

import (
	"slices"

	"hlsgen/frontend/lower/integers"
	"hlsgen/hlslib/layer"
	"hlsgen/hlslib/rnn"
	"hlsgen/internal/num"
)

// A writer writes a network, whose values are ordered in phases, as the program of a cell.
type writer struct {
	*schedule
	cell  *CellProgram
	state map[int]int             // number of a state in the body -> number in the program
	refs  map[*value]rnn.ValueRef // phase and number of each value

	number int // number of the phase that is being written
	phase  *rnn.CellPhase
	local  map[*value]int // numbers of values available in this phase
}

func (w *writer) write() error {
	w.state = map[int]int{}
	for k := range w.states {
		if w.states[k].value != nil {
			w.state[k] = len(w.state)
		}
	}
	if reject := w.products(); reject != nil {
		return reject
	}
	for i, p := range w.phases {
		w.cell.Program.Phases = append(w.cell.Program.Phases, w.writePhase(i, p))
	}
	for k := range w.states {
		if st := &w.states[k]; st.value != nil {
			s := rnn.StateDefinition{Next: w.refs[st.value]}
			if slices.ContainsFunc(st.start, func(v int64) bool { return v != 0 }) {
				s.Start = st.start
			}
			if st.start == nil {
				w.cell.Arrives = append(w.cell.Arrives, ArrivingStateMapping{Body: k, State: w.state[k],
					Map: st.begins})
			}
			w.cell.Program.States = append(w.cell.Program.States, s)
		}
	}
	for _, o := range w.outputs {
		w.cell.Outputs = append(w.cell.Outputs, w.output(o))
	}
	w.cell.prune()
	return nil
}

// output returns the location, in the program, of an output of the body. It returns nil for nil.
func (w *writer) output(o *output) *BodyOutputLocation {
	if o == nil {
		return nil
	}
	out := &BodyOutputLocation{Ref: w.refs[o.value], Units: o.value.units, At: o.at}
	for i := range o.at {
		out.Of = append(out.Of, layer.ElementForChannel(o.of, i))
	}
	return out
}

// products sets the rounding of single products. It must be the same for all products of the layer in front of the
// loop, and for all products of the loop. Otherwise products returns an error.
func (w *writer) products() error {
	var first [2]*value
	for _, v := range w.order {
		if v.kind != lane && v.kind != sum {
			continue
		}
		f := &first[v.kind]
		if *f == nil {
			*f = v
		}
		if p, q := v.product, (*f).product; (p == nil) != (q == nil) || p != nil && *p != *q {
			return newUnsupported("single products are rounded in different ways, or some of them only")
		}
	}
	for u := range w.units() {
		for _, v := range w.lanes {
			w.cell.Input = append(w.cell.Input, v.rows[u])
		}
		if len(w.lanes) == 0 { // a loop has an input, even if unused
			w.cell.Input = append(w.cell.Input, make([]int64, w.width))
		}
	}
	if first[lane] != nil {
		w.cell.Product = first[lane].product
	}
	return nil
}

// units returns the number of units that the first phase computes.
func (w *writer) units() int { return w.phases[0].class.units }

// writePhase writes phase number i.
func (w *writer) writePhase(i int, p *phase) rnn.CellPhase {
	out := rnn.CellPhase{Units: p.class.units}
	w.number, w.phase, w.local = i, &out, map[*value]int{}
	switch of := p.vector.of; {
	case len(p.sums) == 0: // it reads no vector
	case of != nil:
		ref := w.refs[of]
		out.Of = &ref
	default:
		k := w.state[p.vector.state]
		out.State = &k
	}
	for _, v := range p.sums {
		out.Dots = append(out.Dots, rnn.CellMatrixProduct{Weights: v.rows, Product: v.product})
	}
	if i == 0 {
		for l, v := range w.lanes {
			w.made(v, w.put(rnn.CellOperation{Op: rnn.OpInput, At: l}))
		}
		if len(w.lanes) == 0 {
			w.put(rnn.CellOperation{Op: rnn.OpInput})
		}
	}
	for d, v := range p.sums {
		w.made(v, w.put(rnn.CellOperation{Op: rnn.OpDot, At: d}))
	}
	for _, v := range p.others {
		if v.kind == code {
			w.made(v, w.code(v))
		} else {
			w.made(v, w.at(v))
		}
	}
	return out
}

// put appends an operation to the phase that is being written, and returns its number there.
func (w *writer) put(v rnn.CellOperation) int {
	w.phase.Values = append(w.phase.Values, v)
	return len(w.phase.Values) - 1
}

// made records that value v has number at in the phase that is being written.
func (w *writer) made(v *value, at int) {
	w.local[v] = at
	if _, ok := w.refs[v]; !ok {
		w.refs[v] = rnn.ValueRef{Phase: w.number, Value: at}
	}
}

// at returns the number of a value in the phase that is being written. If the value comes from an earlier phase, at
// adds a reference to it.
func (w *writer) at(v *value) int {
	if i, ok := w.local[v]; ok {
		return i
	}
	var i int
	if v.kind == state {
		i = w.put(rnn.CellOperation{Op: rnn.OpState, At: w.state[v.state]})
	} else {
		ref := w.refs[v]
		i = w.put(rnn.CellOperation{Op: rnn.OpEarlierPhaseValue, Phase: ref.Phase, At: ref.Value})
	}
	w.local[v] = i
	return i
}

// code writes a code, and returns its number: the products, their sum, and the function of the sum.
func (w *writer) code(v *value) int {
	m := v.made
	if len(m.terms) == 0 { // it never changes: step functions without breakpoints
		w.something()
		return w.put(rnn.CellOperation{Op: rnn.OpStepFunction, Of: []int{0}, Steps: m.steps})
	}
	of, factors := w.terms(v)
	at := of[0]
	if len(of) > 1 || len(m.bias) > 0 || len(factors[0]) > 1 || factors[0][0] != 1 {
		at = w.put(rnn.CellOperation{Op: rnn.OpLinear, Of: of, Factors: factors, Bias: m.bias})
	}
	switch {
	case m.requant != nil:
		at = w.put(rnn.CellOperation{Op: rnn.OpRequant, Of: []int{at}, Requant: m.requant})
	case m.steps != nil:
		at = w.put(rnn.CellOperation{Op: rnn.OpStepFunction, Of: []int{at}, Steps: m.steps})
	}
	return at
}

// something makes sure that a phase has a first value. If it has none, it adds one of an earlier phase with the same
// number of units, or a state.
func (w *writer) something() {
	if len(w.phase.Values) > 0 {
		return
	}
	phases := w.cell.Program.Phases
	if k := slices.IndexFunc(phases, func(p rnn.CellPhase) bool { return p.Units == w.phase.Units }); k >= 0 {
		w.put(rnn.CellOperation{Op: rnn.OpEarlierPhaseValue, Phase: k})
		return
	}
	for k := range w.states {
		if v := w.states[k].value; v != nil && v.units == w.phase.Units {
			w.put(rnn.CellOperation{Op: rnn.OpState, At: w.state[k]})
			return
		}
	}
}

// terms writes the terms of a sum. It writes x*y + n*x as x*(y+n).
func (w *writer) terms(v *value) (of []int, factors [][]int64) {
	m := v.made
	pairs, taken := m.pairs()
	for t, term := range m.terms {
		if taken[t] {
			continue
		}
		factor := m.factors[t]
		at := w.at(v.args[term[0]])
		if p, ok := pairs[t]; ok {
			at = w.at(v.args[p.x])
			y := w.plus(v.args[p.y], p)
			at, factor = w.put(rnn.CellOperation{Op: rnn.OpProduct, Of: []int{at, y}}), scaledBy(factor, p.sign)
		} else {
			for _, a := range term[1:] {
				at = w.put(rnn.CellOperation{Op: rnn.OpProduct, Of: []int{at, w.at(v.args[a])}})
			}
		}
		of, factors = append(of, at), append(factors, factor)
	}
	return of, factors
}

// plus writes sign*y + bias and returns its number. If y is a step function, it writes another step function.
func (w *writer) plus(y *value, p pair) int {
	at := w.at(y)
	made := w.phase.Values[at]
	if made.Op != rnn.OpStepFunction {
		return w.put(rnn.CellOperation{Op: rnn.OpLinear, Of: []int{at}, Factors: [][]int64{{p.sign}}, Bias: p.bias})
	}
	steps := make([]num.StepFunction, max(len(made.Steps), len(p.bias)))
	for u := range steps {
		f := layer.ElementForChannel(made.Steps, u)
		steps[u].At = f.At
		for _, v := range f.Value {
			steps[u].Value = append(steps[u].Value, p.sign*v+layer.ElementForChannel(p.bias, u))
		}
	}
	return w.put(rnn.CellOperation{Op: rnn.OpStepFunction, Of: made.Of, Steps: integers.MergeEqualStepFunctions(steps)})
}

func scaledBy(list []int64, by int64) []int64 {
	out := slices.Clone(list)
	for i := range out {
		out[i] *= by
	}
	return out
}

// A pair is two terms f*x*y + f*n*x, written as sign*f * x*(sign*y + bias).
type pair struct {
	x, y int
	sign int64
	bias []int64
}

// pairs returns, by term, the pair that the term forms with another term. taken marks these other terms.
func (m *made) pairs() (of map[int]pair, taken []bool) {
	of, taken = map[int]pair{}, make([]bool, len(m.terms))
	for t, term := range m.terms {
		if len(term) != 2 || term[0] == term[1] {
			continue
		}
		for k, other := range m.terms {
			if taken[k] || len(other) != 1 || !slices.Contains(term, other[0]) {
				continue
			}
			p := pair{x: other[0], y: term[0] + term[1] - other[0], sign: 1}
			if m.factors[t][0] < 0 {
				p.sign = -1
			}
			if p.bias = quotients(m.factors[k], m.factors[t], p.sign); p.bias != nil {
				of[t], taken[k] = p, true
				break
			}
		}
	}
	return of, taken
}

// quotients returns sign*a[u]/b[u] for each unit u, or nil if one of these is not an integer or divides by 0.
func quotients(a, b []int64, sign int64) (out []int64) {
	for u := range max(len(a), len(b)) {
		x, y := layer.ElementForChannel(a, u), layer.ElementForChannel(b, u)
		if y == 0 || x%y != 0 {
			return nil
		}
		out = append(out, sign*(x/y))
	}
	return out
}

// prune removes the values on which no output or state depends, except one lane of the input.
func (c *CellProgram) prune() {
	p := c.Program.Phases
	used := make([][]bool, len(p))
	for i := range p {
		used[i] = make([]bool, len(p[i].Values))
	}
	var need func(r rnn.ValueRef)
	need = func(r rnn.ValueRef) {
		if used[r.Phase][r.Value] {
			return
		}
		used[r.Phase][r.Value] = true
		v := p[r.Phase].Values[r.Value]
		if v.Op == rnn.OpEarlierPhaseValue {
			need(rnn.ValueRef{Phase: v.Phase, Value: v.At})
		}
		for _, a := range v.Of {
			need(rnn.ValueRef{Phase: r.Phase, Value: a})
		}
	}
	need(rnn.ValueRef{}) // a lane
	c.refs(func(r *rnn.ValueRef) { need(*r) })
	number := make([][]int, len(p))
	for i := range p {
		n := 0
		for k := range used[i] {
			number[i] = append(number[i], n)
			if used[i][k] {
				n++
			}
		}
	}
	c.refs(func(r *rnn.ValueRef) { r.Value = number[r.Phase][r.Value] })
	for i := range p {
		var kept []rnn.CellOperation
		for k, v := range p[i].Values {
			if !used[i][k] {
				continue
			}
			if v.Op == rnn.OpEarlierPhaseValue {
				v.At = number[v.Phase][v.At]
			}
			v.Of = slices.Clone(v.Of)
			for a := range v.Of {
				v.Of[a] = number[i][v.Of[a]]
			}
			kept = append(kept, v)
		}
		p[i].Values = kept
	}
}

// refs calls each for all references of the program and its outputs to values from outside of their phase.
func (c *CellProgram) refs(each func(*rnn.ValueRef)) {
	for s := range c.Program.States {
		each(&c.Program.States[s].Next)
	}
	for i := range c.Program.Phases {
		if of := c.Program.Phases[i].Of; of != nil {
			each(of)
		}
	}
	for _, o := range c.Outputs {
		if o != nil {
			each(&o.Ref)
		}
	}
}
