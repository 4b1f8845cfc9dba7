package rnn

import (
	"fmt"
	"slices"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// A store is a memory of what a step, or a later phase, looks at: a state, or a value of an earlier phase.
type store struct {
	name   string
	state  int      // that it holds; -1 for a value
	writer Ref      // that value, or what the state becomes
	vector bool     // its words are what dots multiply, else a word has the units that are computed side by side
	elem   num.Type // in memory
	halves int      // 2 where the old words are still read while new ones are written
	reads  []int    // phases
}

// bindStores lists them.
func (g *program) bindStores() {
	for s, of := range g.cell.States {
		if g.states[s].needed {
			g.addStores(fmt.Sprintf("state%d", s), s, of.Next, g.states[s].elem, func(i int) bool {
				return g.cell.Phases[i].State != nil && *g.cell.Phases[i].State == s
			}, func(v Value) bool { return v.Op == OfState && v.At == s })
		}
	}
	for i, p := range g.phases {
		for k, v := range p.values {
			if v.needed {
				r := Ref{i, k}
				g.addStores(v.name+"_kept", -1, r, v.elem, func(i int) bool {
					return g.cell.Phases[i].Of != nil && *g.cell.Phases[i].Of == r
				}, func(w Value) bool { return w.Op == Earlier && w.Phase == i && w.At == k })
			}
		}
	}
}

// addStores adds the memories of a state or a value: one for the phases whose dots look at it, and one for those with
// values that do.
func (g *program) addStores(name string, state int, writer Ref, elem num.Type, looks func(phase int) bool,
	reads func(Value) bool) {
	vector := store{name: name + "_vector", state: state, writer: writer, vector: true, elem: g.vector}
	units := store{name: name, state: state, writer: writer, elem: elem}
	for i, p := range g.phases {
		if len(p.dots) > 0 && looks(i) {
			vector.reads = append(vector.reads, i)
		}
		if slices.ContainsFunc(p.values, func(v value) bool { return v.built() && reads(v.Value) }) {
			units.reads = append(units.reads, i)
		}
	}
	for _, s := range []store{vector, units} {
		if len(s.reads) == 0 {
			continue
		}
		s.halves = 1
		// A unit's word is read before it is written; a vector is read as a whole, for every unit.
		if last := slices.Max(s.reads); state >= 0 && (last > writer.Phase || s.vector && last == writer.Phase) {
			s.halves = 2
		}
		g.stores = append(g.stores, s)
	}
}

// elements is how many a turn has.
func (g *program) elements(s *store) int { return g.phases[s.writer.Phase].units }

// word is the elements of a word: a vector is read by SIMD of them and written by PE.
func (s *store) word(f dataflow.Fold) int {
	if s.vector {
		return f.PE / dataflow.GCD(f.PE, f.SIMD) * f.SIMD
	}
	return f.PE
}

// storage is the layer's memories: the tables, the weights first, and what is kept from step to step.
func (o *op) Storage(f dataflow.Fold) (list []dataflow.Storage) {
	if o.dots > 0 {
		list = append(list, dataflow.ROM("weights", "weight memory", o.rows(f),
			f.PE*o.dots*f.SIMD*o.unit.Codes.Stored(o.rows(f)).Width).At(f.Memory))
	}
	for i := range o.phases {
		for k := range o.phases[i].values {
			v := &o.phases[i].values[k]
			for _, p := range o.parameters(i, v) {
				rows, n := p.size(f.PE)
				list = append(list, dataflow.ROM(p.name, "parameter memory", rows, n*p.elem.Width).At(dataflow.LUTRAM))
			}
			if v.built() && v.Op == Steps {
				list = append(list, v.steps.storage(f.PE)...)
			}
		}
	}
	for i := range o.stores {
		s := &o.stores[i]
		word := s.word(f)
		if table, ok := o.start(s, f); ok {
			list = append(list, table.Storage("state memory"))
		}
		list = append(list, dataflow.RAM(s.name, "state memory", s.halves*o.turns*o.elements(s)/word,
			word*s.elem.Width))
	}
	return list
}

// start is the table of what a store starts with, in words of its memory by cell. There is none of what arrives, of
// values, and of zeros.
func (g *program) start(s *store, f dataflow.Fold) (t dataflow.Table, ok bool) {
	if s.state < 0 || slices.Contains(g.params.Starts, s.state) {
		return t, false
	}
	var all []int64
	for _, c := range g.params.Cells {
		units := make([]int64, g.elements(s))
		copy(units, c.States[s.state].Start)
		all = append(all, units...)
	}
	if !slices.ContainsFunc(all, func(v int64) bool { return v != 0 }) {
		return t, false
	}
	rows := slices.Collect(slices.Chunk(all, s.word(f)))
	if !slices.ContainsFunc(rows, func(r []int64) bool { return !slices.Equal(r, rows[0]) }) {
		rows = rows[:1]
	}
	return dataflow.Table{Name: s.name + "_start", Doc: "by cell: what every frame begins with",
		Elem: num.Smallest(num.Hull(all)), Rows: rows}, true
}
