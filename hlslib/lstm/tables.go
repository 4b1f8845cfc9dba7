package lstm

import (
	"slices"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// lanes is G: the gates that a unit has.
func (p Params) lanes() int { return gates - p.firstGate() }

// beside joins n rows at a time.
func beside(rows [][]int64, n int) [][]int64 {
	var joined [][]int64
	for side := range slices.Chunk(rows, n) {
		joined = append(joined, slices.Concat(side...))
	}
	return joined
}

// perLane is a value of every lane of every unit, as rows of pe units.
func (p Params) perLane(pe int, of func(Gate) []int64) [][]int64 {
	var units [][]int64
	for _, cell := range p.Cells {
		for u := range cell.units() {
			var lanes []int64
			for _, g := range cell.Gates[p.firstGate():] {
				lanes = append(lanes, at(of(g), u))
			}
			units = append(units, lanes)
		}
	}
	return beside(units, pe)
}

func (p Params) biases(pe int) dataflow.Table {
	return table("biases", "by cell and n: element pe*lanes + lane",
		p.perLane(pe, func(g Gate) []int64 { return g.Bias }))
}

func (p Params) peepholes(pe int) dataflow.Table {
	return table("peepholes", "by cell and n: element pe*lanes + lane",
		p.perLane(pe, func(g Gate) []int64 { return g.Peephole }))
}

// factors has what the parts of sums are multiplied with, and the constant of a coupled input gate.
func (p Params) factors() dataflow.Table {
	var rows [][]int64
	for _, cell := range p.Cells {
		var row []int64
		for _, g := range cell.Gates {
			row = append(row, g.Factors[:]...)
		}
		row = append(row, cell.CellFactors[:]...)
		if cell.CIFG != nil {
			row = append(row, *cell.CIFG)
		}
		rows = append(rows, row)
	}
	return table("factors",
		"by cell: element 2*gate of the input, 2*gate+1 of the products; two for c; the coupled gate's constant", rows)
}

// starts is initial values of h, in rows of word units, and of c.
func (p Params) starts(word, pe int) []dataflow.Table {
	table := func(name string, n int, of func(Cell) []int64) dataflow.Table {
		var all [][]int64
		for _, cell := range p.Cells {
			for u := range cell.units() {
				all = append(all, []int64{at(of(cell), u)})
			}
		}
		return table(name, "by cell: what every frame begins with", beside(all, n))
	}
	return []dataflow.Table{
		table("h0", word, func(c Cell) []int64 { return c.H0 }),
		table("c0", pe, func(c Cell) []int64 { return c.C0 }),
	}
}

// table is rows, or one of them where they are all the same.
func table(name, doc string, rows [][]int64) dataflow.Table {
	if !slices.ContainsFunc(rows, func(r []int64) bool { return !slices.Equal(r, rows[0]) }) {
		rows = rows[:1]
	}
	return dataflow.Table{Name: name, Doc: doc, Elem: num.Smallest(num.Hull(slices.Concat(rows...))), Rows: rows}
}
