package lstm

import (
	"slices"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// storage is the layer's memories, the weights first: the tables, and the state. Of h there are two halves, one that is
// read and one that is written.
func (o *op) storage(f dataflow.Fold) []dataflow.Storage {
	lanes, word, cells := f, o.word(f), len(o.P.Cells)
	lanes.PE *= o.lanes()
	list := []dataflow.Storage{
		o.unit.WeightStorage(lanes),
		o.biasTable(f.PE).Storage("bias memory").At(dataflow.LUTRAM),
		o.peepholeTable(f.PE).Storage("bias memory").At(dataflow.LUTRAM),
		o.factorTable().Storage("factor memory"),
	}
	for _, t := range o.startTables(f) {
		list = append(list, t.Storage("state memory"))
	}
	for g := o.P.firstGate(); g <= tanh; g++ {
		list = append(list, o.stepStorage(g, f.PE)...)
	}
	return append(list,
		dataflow.RAM("h", "state memory", 2*cells*o.units/word, word*o.h.Width),
		dataflow.RAM("c", "state memory", cells*o.units/f.PE, f.PE*o.c.Width))
}

// stepStorage is that of stepTables.
func (o *op) stepStorage(g, pe int) []dataflow.Storage {
	k := &o.compare[g]
	if o.perCell(g) || k.Shared() {
		pe = 1
	}
	rom := func(table string, width int) dataflow.Storage {
		return dataflow.ROM(o.stepName(g)+table, "threshold memory", len(k.Over)/pe, pe*width)
	}
	return []dataflow.Storage{
		rom("_thresholds", k.Steps()*o.compared(g).Width),
		rom("_base", num.Smallest(num.Hull(k.Base)).Width),
	}
}

// compared is the type of what a gate, or tanh, compares with its thresholds.
func (o *op) compared(g int) num.Type {
	if g < gates {
		return o.pre
	}
	return o.c
}

// stepName is what a gate, or tanh, is called in the C++.
func (o *op) stepName(g int) string {
	if g < gates {
		return gateName(g)
	}
	return "tanh"
}

// startTables is initial values of h and c.
func (o *op) startTables(f dataflow.Fold) []dataflow.Table {
	table := func(name string, n int, of func(Cell) []int64) dataflow.Table {
		var all [][]int64
		for _, cell := range o.P.Cells {
			for u := range o.units {
				all = append(all, []int64{at(of(cell), u)})
			}
		}
		return table(name, "by cell: what every frame begins with", beside(all, n))
	}
	return []dataflow.Table{
		table("h0", o.word(f), func(c Cell) []int64 { return c.H0 }),
		table("c0", f.PE, func(c Cell) []int64 { return c.C0 }),
	}
}

// table is rows, or one of them where they are all the same.
func table(name, doc string, rows [][]int64) dataflow.Table {
	if !slices.ContainsFunc(rows, func(r []int64) bool { return !slices.Equal(r, rows[0]) }) {
		rows = rows[:1]
	}
	return dataflow.Table{Name: name, Doc: doc, Elem: num.Smallest(num.Hull(slices.Concat(rows...))), Rows: rows}
}
