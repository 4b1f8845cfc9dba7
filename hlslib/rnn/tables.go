package rnn

import (
	"slices"

	"hlsgen/hlslib/layer"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// A row is the C++ expression for the row of a table that the units of a word use.
type row string

const (
	always row = "0"       // all units share one row
	byCell row = "at.cell" // one row per cell
	byWord row = "at.word" // one row per word of every cell
)

// A parameter is a factor or the bias of a linear value, for every unit of every cell.
type parameter struct {
	name, doc string
	units     int
	cells     [][]int64 // by cell: one number for all units, or one per unit
	elem      num.Type  // holds every number
	value     int64     // the common number, if same is set
	same      bool
	// multiplies says that a product with the parameter needs a multiplier. A constant power of two is a shift, and
	// a choice among -1, 0 and 1 needs no multiplier either.
	multiplies bool
}

// newParameter returns a parameter with the given numbers, by cell. It stores a cell's numbers once if they are
// all equal.
func newParameter(name, doc string, units int, cells [][]int64) parameter {
	p := parameter{name: name, doc: doc, units: units, cells: make([][]int64, len(cells))}
	for d, list := range cells {
		if p.cells[d] = list; layer.AllEqual(list) {
			p.cells[d] = list[:1]
		}
	}
	all := slices.Concat(p.cells...)
	p.elem, p.value, p.same = num.NarrowestIntTypeFor(num.RangeOfValues(all)), all[0], layer.AllEqual(all)
	if p.multiplies = layer.AnyNeedsMultiplier(all); p.same {
		p.multiplies = !layer.IsShiftFactor(p.value)
	}
	return p
}

// of returns the parameter's number for a unit of cell d.
func (p *parameter) of(d, unit int) int64 { return layer.ElementForChannel(p.cells[d], unit) }

// is reports whether the parameter is the number want for every unit and cell.
func (p *parameter) is(want int64) bool { return p.same && p.value == want }

// row returns the rule by which a unit selects its row of the table.
func (p *parameter) row() row {
	if slices.ContainsFunc(p.cells, func(list []int64) bool { return len(list) > 1 }) {
		return byWord
	}
	return byCell
}

// table returns the numbers as a table for words of pe units. The parameter must not be the same for all units
// and cells.
func (p *parameter) table(pe int) dataflow.Table {
	t := dataflow.Table{Name: p.name, Doc: p.doc + ", by cell", Elem: p.elem, Rows: p.cells}
	if p.row() == byCell {
		return t
	}
	t.Doc, t.Rows = p.doc+", by cell and word: element pe", nil
	for d := range p.cells {
		var units []int64
		for u := range p.units {
			units = append(units, p.of(d, u))
		}
		t.Rows = append(t.Rows, layer.RowsOfChannelValues(units, pe)...)
	}
	return t
}

// size returns the rows of the table, and the elements per row, for pe units in a word.
func (p *parameter) size(pe int) (rows, n int) {
	if p.row() == byCell {
		return len(p.cells), 1
	}
	return len(p.cells) * p.units / pe, pe
}

// parameters returns the parameters of value v of phase i that need a table.
func (g *program) parameters(i int, v *value) (list []*parameter) {
	if !v.built() || v.Op != OpLinear {
		return nil
	}
	for _, a := range g.terms(i, v) {
		list = append(list, &v.factors[a])
	}
	list = append(list, &v.bias)
	return slices.DeleteFunc(list, func(p *parameter) bool { return p.same })
}

// terms returns the arguments of a linear value that are not constant and have a nonzero factor in some unit.
func (g *program) terms(i int, v *value) (list []int) {
	for a, of := range v.Of {
		if !v.factors[a].is(0) && !g.phases[i].values[of].constant() {
			list = append(list, a)
		}
	}
	return list
}

// weights returns the table of the weights, a row per clock, ordered by phase and cell. Phases with fewer dots
// than others have zeros in the remaining lanes.
func (g *program) weights(f dataflow.Fold) dataflow.Table {
	rows := make([][]int64, 0, g.rows(f))
	for i, p := range g.phases {
		if len(p.dots) == 0 {
			continue
		}
		for _, c := range g.params.Cells {
			for n := 0; n < p.units; n += f.PE {
				for k := 0; k < p.length; k += f.SIMD {
					row := make([]int64, 0, f.PE*g.dots*f.SIMD)
					for u := n; u < n+f.PE; u++ {
						for _, dot := range p.dots {
							row = append(row, c.Phases[i].Dots[dot].Weights[u][k:k+f.SIMD]...)
						}
						row = append(row, make([]int64, (g.dots-len(p.dots))*f.SIMD)...)
					}
					rows = append(rows, row)
				}
			}
		}
	}
	return g.unit.Codes.EncodedTable("by phase, cell, word and sf: element (pe*dots + dot)*simd + i", rows)
}

// rows returns the number of rows in the table of the weights of a fold.
func (g *program) rows(f dataflow.Fold) (n int) {
	for _, p := range g.phases {
		if len(p.dots) > 0 {
			n += len(g.params.Cells) * (p.units / f.PE) * (p.length / f.SIMD)
		}
	}
	return n
}
