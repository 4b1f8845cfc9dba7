package circuit

import (
	"fmt"
)

// NewMachine returns a machine for a layer's circuit, in the state after a reset. The error names an operation that
// has no meaning, or a table whose rows do not have the table's width.
func NewMachine(m *Module) (*Machine, error) { return newMachine(m, map[*Module]*Machine{}) }

// Reset returns to the state after a reset. Arrays and registers without an initial value become 0, and tables keep
// the rows that were loaded.
func (r *Machine) Reset() {
	copy(r.values, r.initial)
	r.pending, r.doubts = false, nil
	for k := range r.rows {
		if r.m.Memories[k].Data == nil {
			clear(r.rows[k])
		}
	}
}

// Iterate runs the next iteration. in holds the next word of every input stream, in the order of Module.In, or nil
// where there is none yet. If the iteration must read a word that is not there, it does not start: lacks is the number
// of that input, and nothing changes. Otherwise lacks is -1, HasReadInput tells which words the iteration took, and
// WrittenWord returns those that it writes.
//
// The error names an operation whose result lies outside of its range, or that reaches beyond a memory, if something
// depends on the result. The machine must be reset after an error.
func (r *Machine) Iterate(in [][]uint64) (lacks int, err error) {
	if len(in) != len(r.in) {
		return -1, fmt.Errorf("%s: words of %d inputs, want %d", r.m.Name, len(in), len(r.in))
	}
	if r.pending { // words that were written may lie where a state does
		r.commit()
	}
	for k, s := range r.in { // where no word comes, the last one stays
		if in[k] == nil {
			continue
		}
		if p := r.m.In[k]; len(in[k]) != LimbCount(p.Width) || !fits(in[k], p.Width) {
			return -1, fmt.Errorf("%s: %s gets a word that has no %d bits", r.m.Name, p.Name, p.Width)
		}
		if s.word >= 0 {
			copy(r.values[s.word:s.word+s.limbs], in[k])
		}
	}
	r.run(r.code[:r.control])
	for k, s := range r.in {
		if in[k] == nil && r.values[s.when] == 1 {
			r.doubts = r.doubts[:0]
			return k, nil
		}
	}
	r.run(r.code[r.control:])
	if err = (follower{r}).judge(); err == nil {
		err = r.reached()
	}
	r.pending = err == nil
	return -1, err
}

// HasReadInput reports whether the last iteration took the word of the input with this number.
func (r *Machine) HasReadInput(input int) bool { return r.values[r.in[input].when] == 1 }

// WrittenWord returns the word that the last iteration writes to an output, or nil if it writes none. The word is valid
// until the next iteration.
func (r *Machine) WrittenWord(output int) []uint64 {
	s := r.out[output]
	if r.values[s.when] != 1 {
		return nil
	}
	return r.values[s.word : s.word+s.limbs]
}

// reached returns an error if the iteration writes beyond an array.
func (r *Machine) reached() error {
	for _, w := range r.arrays {
		if at := r.values[w.address]; r.values[w.when] == 1 && at >= uint64(r.m.Memories[w.memory].Rows) {
			return r.beyond(w.node, int(w.memory), at)
		}
	}
	return nil
}

// commit changes the states and the arrays at the end of an iteration.
func (r *Machine) commit() {
	r.pending = false
	for _, w := range r.arrays {
		if r.values[w.when] == 1 {
			from := int(r.values[w.address]) * int(w.limbs)
			copy(r.rows[w.memory][from:from+int(w.limbs)], r.values[w.word:])
		}
	}
	// A state may take what another one held, so none changes before all are read.
	n := 0
	for _, u := range r.states {
		n += copy(r.next[n:], r.values[u.from:u.from+u.limbs])
	}
	n = 0
	for _, u := range r.states {
		if r.values[u.when] == 1 {
			copy(r.values[u.state:u.state+u.limbs], r.next[n:])
		}
		n += int(u.limbs)
	}
}

// LoadTableRow replaces a row of a table that can be loaded. table is its number in Module.LoadableTables. It
// returns an error if there is no such table or row, or if the word does not have the width of a row.
func (r *Machine) LoadTableRow(table, row int, word []uint64) error {
	for k := range r.m.Memories {
		a := &r.m.Memories[k]
		if !a.Loaded {
			continue
		}
		if table--; table >= 0 {
			continue
		}
		limbs := LimbCount(a.Width)
		if row < 0 || row >= a.Rows || len(word) != limbs || !fits(word, a.Width) {
			return fmt.Errorf("%s: row %d of %v for table %s, which has %d rows of %d bits", r.m.Name, row, word,
				a.Name, a.Rows, a.Width)
		}
		copy(r.rows[k][row*limbs:], word)
		return nil
	}
	return fmt.Errorf("%s: it has too few tables that can be loaded", r.m.Name)
}
