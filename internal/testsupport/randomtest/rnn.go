package randomtest

import (
	"math/rand/v2"

	"hlsgen/hlslib/rnn"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
	"hlsgen/internal/testsupport/layertest"
)

// RNN draws a recurrent layer.
func RNN(r *rand.Rand) layertest.Case {
	p, in := Program(r)
	return layertest.Case{Op: rnn.New(p), In: in, Folds: 3,
		Loose: "values depend on each other, and ranges are products of theirs"}
}

// A maker makes random programs.
type maker struct {
	*rand.Rand
	cell   rnn.Cell
	units  []int   // units of each phase
	writer []int   // by state: the phase that computes its next value
	widths [][]int // by phase and value: an upper bound on its width in bits
	odd    bool    // all weights are odd
}

// chance returns true once in n times on average.
func (m *maker) chance(n int) bool { return m.IntN(n) == 0 }

// Program draws a recurrent layer with a random program, and its inputs.
func Program(r *rand.Rand) (rnn.Params, []dataflow.StreamType) {
	m := &maker{Rand: r}
	m.odd = m.chance(4)
	units := [][]int{{1}, {2, 4}, {4}, {6, 3}, {8, 4}, {6, 4, 2}, {5}}[r.IntN(7)]
	for range 1 + r.IntN(3) {
		m.units = append(m.units, units[r.IntN(len(units))])
	}
	for range 1 + r.IntN(3) {
		m.writer = append(m.writer, r.IntN(len(m.units)))
	}
	m.cell.States = make([]rnn.StateDefinition, len(m.writer))
	for i := range m.units {
		m.phase(i)
	}
	p := rnn.Params{Sequences: []int{0, 1, 2, 4}[r.IntN(4)], Sequence: m.chance(2)}
	for range 1 + r.IntN(2) {
		if n := len(p.Cells); n > 0 && m.chance(2) {
			p.Cells = append(p.Cells, p.Cells[n-1])
			continue
		}
		p.Cells = append(p.Cells, m.numbers())
	}
	for i, values := range m.widths {
		for k := range values {
			if len(p.Outputs) < 3 && m.chance(6) || i == len(m.widths)-1 && k == len(values)-1 && len(p.Outputs) == 0 {
				p.Outputs = append(p.Outputs, rnn.ValueRef{Phase: i, Value: k})
			}
		}
	}
	turns := max(1, p.Sequences) * len(p.Cells)
	in := []dataflow.StreamType{layertest.RandomType(r, dataflow.Shape{1 + r.IntN(4),
		turns * m.units[0] * p.Cells[0].InputLanesPerUnit()}, 5)}
	if p.Keeps = m.chance(4); !p.Keeps {
		for s, w := range m.writer {
			if m.chance(3) {
				p.Starts = append(p.Starts, s)
				in = append(in, layertest.RandomType(r, dataflow.Shape{turns * m.units[w]}, 5))
			}
		}
	}
	return p, in
}

// phase adds a phase with random values, followed by the next values of states.
func (m *maker) phase(i int) {
	p := rnn.CellPhase{Units: m.units[i]}
	m.widths = append(m.widths, nil)
	add := func(v rnn.CellOperation, width int) int {
		p.Values, m.widths[i] = append(p.Values, v), append(m.widths[i], width)
		return len(p.Values) - 1
	}
	if i == 0 {
		for k := range 1 + m.IntN(3) {
			add(rnn.CellOperation{Op: rnn.OpInput, At: k}, 5)
		}
	}
	if s := m.IntN(len(m.writer)); !m.chance(5) {
		if k := m.look(i); k != nil && m.chance(2) {
			p.Of = k
		} else {
			p.State = &s
		}
		for k := range 1 + m.IntN(3) {
			p.Dots = append(p.Dots, rnn.CellMatrixProduct{})
			add(rnn.CellOperation{Op: rnn.OpDot, At: k}, 12)
		}
	}
	for s, w := range m.writer {
		if m.units[w] == m.units[i] && m.chance(2) {
			add(rnn.CellOperation{Op: rnn.OpState, At: s}, 6)
		}
	}
	if of := m.IntN(i + 1); of < i && m.units[of] == m.units[i] {
		k := m.IntN(len(m.widths[of]))
		add(rnn.CellOperation{Op: rnn.OpEarlierPhaseValue, Phase: of, At: k}, m.widths[of][k])
	}
	if len(p.Values) == 0 {
		s := 0
		p.State, p.Dots = &s, []rnn.CellMatrixProduct{{}}
		add(rnn.CellOperation{Op: rnn.OpDot}, 12)
	}
	for range 1 + m.IntN(5) {
		m.value(i, add)
	}
	for s, w := range m.writer {
		if w == i {
			m.cell.States[s].Next = rnn.ValueRef{Phase: i, Value: m.bounded(i, add)}
		}
	}
	m.cell.Phases = append(m.cell.Phases, p)
}

// look returns a bounded value of an earlier phase, or nil if there is none.
func (m *maker) look(i int) *rnn.ValueRef {
	if i == 0 {
		return nil
	}
	of := m.IntN(i)
	for k, v := range m.cell.Phases[of].Values {
		if v.Op == rnn.OpStepFunction || v.Op == rnn.OpRequant {
			return &rnn.ValueRef{Phase: of, Value: k}
		}
	}
	return nil
}

// value adds a value computed from earlier values of the phase.
func (m *maker) value(i int, add func(rnn.CellOperation, int) int) {
	a, b := m.IntN(len(m.widths[i])), m.IntN(len(m.widths[i]))
	wa, wb := m.widths[i][a], m.widths[i][b]
	switch {
	case m.chance(3) && wa+wb < 20:
		add(rnn.CellOperation{Op: rnn.OpProduct, Of: []int{a, b}}, wa+wb)
	case m.chance(2) && max(wa, wb) < 24:
		of := []int{a, b}[:1+m.IntN(2)]
		add(rnn.CellOperation{Op: rnn.OpLinear, Of: of, Factors: make([][]int64, len(of))}, max(wa, wb)+4)
	default:
		m.bounded(i, add)
	}
}

// bounded adds a step function or a requantiser.
func (m *maker) bounded(i int, add func(rnn.CellOperation, int) int) int {
	op := []string{rnn.OpStepFunction, rnn.OpRequant}[m.IntN(2)]
	return add(rnn.CellOperation{Op: op, Of: []int{m.IntN(len(m.widths[i]))}}, 6)
}

// numbers returns the program with random numbers.
func (m *maker) numbers() rnn.Cell {
	c := rnn.Cell{States: append([]rnn.StateDefinition(nil), m.cell.States...)}
	for s := range c.States {
		if m.chance(2) {
			c.States[s].Start = m.list(m.units[m.writer[s]], 20)
		}
	}
	for i, p := range m.cell.Phases {
		p.Dots, p.Values = append([]rnn.CellMatrixProduct(nil), p.Dots...), append([]rnn.CellOperation(nil),
			p.Values...)
		for k := range p.Dots {
			p.Dots[k].Weights = m.weights(i)
		}
		for k := range p.Values {
			m.number(&p.Values[k], i)
		}
		c.Phases = append(c.Phases, p)
	}
	return c
}

// weights draws the weights of a dot: signs, zeros, or small numbers with dead rows.
func (m *maker) weights(i int) (rows [][]int64) {
	p, length := m.cell.Phases[i], 0
	if p.State != nil {
		length = m.units[m.writer[*p.State]]
	} else {
		length = m.units[p.Of.Phase]
	}
	kind := m.IntN(4)
	for range p.Units {
		row := m.list(length, 3)
		for k, w := range row {
			switch kind {
			case 0:
				row[k] = 1 - 2*(w&1)
			case 1:
				row[k] = 0
			}
			if m.odd {
				row[k] |= 1
			}
		}
		if !m.odd && kind > 1 && m.chance(5) {
			clear(row)
		}
		rows = append(rows, row)
	}
	return rows
}

// list draws n numbers of magnitudes up to most.
func (m *maker) list(n int, most int64) (list []int64) {
	for range n {
		list = append(list, m.Int64N(2*most+1)-most)
	}
	return list
}

// many draws the length of a list: one for all units, or one per unit.
func (m *maker) many(i int) int { return []int{1, m.units[i]}[m.IntN(2)] }

// number draws the numbers of a value's operation.
func (m *maker) number(v *rnn.CellOperation, i int) {
	switch v.Op {
	case rnn.OpLinear:
		v.Factors = make([][]int64, len(v.Of))
		for a := range v.Factors {
			v.Factors[a] = m.list(m.many(i), []int64{1, 3, 8}[m.IntN(3)])
		}
		if m.chance(2) {
			v.Bias = m.list(m.many(i), 20)
		}
	case rnn.OpRequant:
		v.Requant = &num.Requant{Multiplier: m.Int64N(9) - 2, Shift: m.IntN(5),
			Mode: num.Roundings[m.IntN(len(num.Roundings))], Lo: -1 - m.Int64N(20), Hi: m.Int64N(20)}
	case rnn.OpStepFunction:
		for range m.many(i) {
			at := int64(1) << m.IntN(10)
			v.Steps = append(v.Steps, layertest.RandomStepFunction(m.Rand, num.Range{Lo: -at, Hi: at}, 6, 5,
				m.chance(2)))
		}
	}
}
