package rnn

import (
	"fmt"
	"slices"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// A store is a memory that holds a state for the next step, or a value for a later phase.
type store struct {
	name   string
	state  int      // number of the state; -1 for a value
	writer ValueRef // the value that is stored
	vector bool     // words are read by dots; else a word holds PE units
	elem   num.Type // in memory
	halves int      // 2 if old words are still read while new ones are written
	reads  []int    // the phases that read it
}

// bindStores sets g.stores, the memories of all needed states and values.
func (g *program) bindStores() {
	for s, of := range g.cell.States {
		if g.states[s].needed {
			g.addStores(fmt.Sprintf("state%d", s), s, of.Next, g.states[s].elem, func(i int) bool {
				return g.cell.Phases[i].State != nil && *g.cell.Phases[i].State == s
			}, func(v CellOperation) bool { return v.Op == OpState && v.At == s })
		}
	}
	for i, p := range g.phases {
		for k, v := range p.values {
			if v.needed {
				r := ValueRef{i, k}
				g.addStores(v.name+"_kept", -1, r, v.elem, func(i int) bool {
					return g.cell.Phases[i].Of != nil && *g.cell.Phases[i].Of == r
				}, func(w CellOperation) bool { return w.Op == OpEarlierPhaseValue && w.Phase == i && w.At == k })
			}
		}
	}
}

// addStores adds up to two memories of a state or a value. One is for the phases whose dots multiply it, and one for
// the phases whose values read it.
func (g *program) addStores(name string, state int, writer ValueRef, elem num.Type, looks func(phase int) bool,
	reads func(CellOperation) bool) {
	vector := store{name: name + "_vector", state: state, writer: writer, vector: true, elem: g.vector}
	units := store{name: name, state: state, writer: writer, elem: elem}
	for i, p := range g.phases {
		if len(p.dots) > 0 && looks(i) {
			vector.reads = append(vector.reads, i)
		}
		if slices.ContainsFunc(p.values, func(v value) bool { return v.built() && reads(v.CellOperation) }) {
			units.reads = append(units.reads, i)
		}
	}
	for _, s := range []store{vector, units} {
		if len(s.reads) == 0 {
			continue
		}
		s.halves = 1
		// A unit's word is read before it is overwritten. A vector is read again for every unit.
		if last := slices.Max(s.reads); state >= 0 && (last > writer.Phase || s.vector && last == writer.Phase) {
			s.halves = 2
		}
		g.stores = append(g.stores, s)
	}
}

// elements returns the number of elements that a store holds for each turn, a sequence and a direction.
func (g *program) elements(s *store) int { return g.phases[s.writer.Phase].units }

// word returns the number of elements in a word of the store. Vectors of dots are read SIMD elements at a time, other
// stores PE.
func (s *store) word(f dataflow.Fold) int {
	if s.vector {
		return f.PE / dataflow.GCD(f.PE, f.SIMD) * f.SIMD
	}
	return f.PE
}

// Storage returns the layer's memories: those of the tables, weights first, and the stores.
func (o *op) Storage(f dataflow.Fold) (list []dataflow.Storage) {
	if o.dots > 0 {
		list = append(list, dataflow.NewTableStorage("weights", "weight memory", o.rows(f),
			f.PE*o.dots*f.SIMD*o.unit.Codes.StoredType(o.rows(f)).Width).MovedToMemory(f.Memory))
	}
	for i := range o.phases {
		for k := range o.phases[i].values {
			v := &o.phases[i].values[k]
			for _, p := range o.parameters(i, v) {
				rows, n := p.size(f.PE)
				list = append(list, dataflow.NewTableStorage(p.name, "parameter memory", rows,
					n*p.elem.Width).MovedToMemory(dataflow.MemoryLUTRAM))
			}
			if v.built() && v.Op == OpStepFunction {
				list = append(list, v.steps.storage(f.PE)...)
			}
		}
	}
	for i := range o.stores {
		s := &o.stores[i]
		word := s.word(f)
		if table, ok := o.start(s, f); ok {
			list = append(list, table.StorageForCostPart("state memory"))
		}
		list = append(list, dataflow.NewArrayStorage(s.name, "state memory", s.halves*o.turns*o.elements(s)/word,
			word*s.elem.Width))
	}
	return list
}

// start returns the table of a store's initial words, by cell. ok is false if the store holds a value, if the state
// arrives by an input, or if all initial values are zero.
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
	return dataflow.Table{Name: s.name + "_start", Doc: "by cell: the initial state of a frame",
		Elem: num.NarrowestIntTypeFor(num.RangeOfValues(all)), Rows: rows}, true
}
