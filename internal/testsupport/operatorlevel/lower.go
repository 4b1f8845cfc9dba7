package operatorlevel

import (
	"fmt"

	"hlsgen/hlslib/layer"
	"hlsgen/hlslib/steps"
	"hlsgen/internal/circuit"
	"hlsgen/internal/num"
)

// Circuit lowers the graph to a circuit: sums of products become one heap of bits, and step functions take their
// cheapest form. ok is false for a search that takes several iterations, and for outputs that are minifloats.
func (g *Graph) Circuit(rate circuit.TimingModel) (m *circuit.Module, ok bool) {
	if g.Out.Elem.IsMinifloat() {
		return nil, false
	}
	b := circuit.NewBuilder(rate)
	l := &lowering{g: g, b: b, levels: b.AddLoopCounters("at", g.Trips...), values: map[ID]circuit.Value{},
		words: map[ID]circuit.Value{}, rows: map[ID][]circuit.Value{}}
	for id := range g.Operators {
		o := &g.Operators[id]
		if o.Kind == Steps && field[int](o.Steps, "search_steps") > 0 {
			return nil, false
		}
		l.lower(ID(id), o)
	}
	b.AddOutputStream(circuit.PackIntoWord(g.Out.Elem, l.rows[g.Result]...), l.values[g.Write])
	return b.FinishLayer(), true
}

// A lowering holds what a circuit has so far of a graph.
type lowering struct {
	g      *Graph
	b      *circuit.Builder
	levels []circuit.LoopLevel
	values map[ID]circuit.Value   // of operators with a single value
	words  map[ID]circuit.Value   // of operators whose values lie in a word
	rows   map[ID][]circuit.Value // of operators with a value for each row
}

// lower adds an operator to the circuit. Products and matches are added where they are summed up.
func (l *lowering) lower(id ID, o *Operator) {
	switch o.Kind {
	case Constant:
		l.values[id] = l.b.ConstantNumber(o.Offset)
	case Index:
		l.values[id] = l.index(o)
	case First:
		l.values[id] = l.levels[o.From].First
	case Last:
		l.values[id] = l.levels[o.From].Last
	case Word:
		l.words[id] = l.b.AddInputStream(l.g.In.Width(), l.values[o.Args[0]])
	case Keep:
		kept := l.b.AddArray("kept", o.Storage.CircuitStyle(), o.Storage.Rows, l.g.In.Width())
		kept.WriteRow(l.values[o.Args[2]], l.words[o.Args[0]], l.values[o.Args[1]])
		l.words[id] = kept.ReadRowAfter(l.values[o.Args[2]])
	case Row:
		elem := l.elem(id)
		table := l.b.AddTable("weights", o.Storage.CircuitStyle(), elem, o.Rows*o.Cols, len(o.Table),
			func() [][]int64 { return o.Table })
		l.words[id] = table.ReadRow(l.values[o.Args[0]])
	case Product, Match:
		w, x := o.Args[0], o.Args[1]
		if l.words[w].Stage() != circuit.ConstantStage { // both are wide, and may come from far away
			at := circuit.AlignInRegisters(l.words[x], l.words[w])
			l.words[x], l.words[w] = at[0], at[1]
		}
	case Requantise:
	case Steps:
		l.rows[id] = l.steps(o)
	default:
		for row := range o.Rows {
			l.rows[id] = append(l.rows[id], l.reduce(o, row))
		}
	}
}

// index returns the index of the levels of an operator together: their own counter, or one for all.
func (l *lowering) index(o *Operator) circuit.Value {
	from, to := o.From, o.To
	for from < to && l.g.Trips[from] == 1 {
		from++
	}
	for from < to && l.g.Trips[to] == 1 {
		to--
	}
	if from == to {
		return l.levels[from].Index
	}
	step := l.b.BuildWithoutStageLimit(func() circuit.Value {
		var last []circuit.Value
		for _, level := range l.levels[to+1:] {
			last = append(last, level.Last)
		}
		return l.b.AllHold(last...)
	})
	return l.b.AddCounter(fmt.Sprint("at", from, "to", to), l.g.count(from, to), step).Index
}

// elem returns the type of the elements of the word that holds an operator's values.
func (l *lowering) elem(id ID) num.Type {
	for i := range l.g.Operators {
		if o := &l.g.Operators[i]; (o.Kind == Product || o.Kind == Match) && o.Args[0] == id {
			return o.Factors[0]
		}
	}
	return l.g.In.Elem
}

// place returns the place of a value in the word of its operator.
func (l *lowering) place(id ID, row, column int) int {
	o := l.g.at(id)
	for o.Kind == Keep {
		o = l.g.at(o.Args[0])
	}
	row, column = min(row, o.Rows-1), min(column, o.Cols-1)
	if o.Kind == Row {
		return row*o.Cols + column
	}
	return row*o.Row + column*o.Column
}

// element returns a value that lies in a word.
func (l *lowering) element(id ID, row, column int) circuit.Value {
	v := circuit.ElementOf(l.words[id], l.place(id, row, column), l.elem(id))
	return circuit.AssumeRange(v, l.g.at(id).Range)
}

// value returns a value of an operator.
func (l *lowering) value(id ID, row, column int) circuit.Value {
	o := l.g.at(id)
	switch {
	case o.Kind == Requantise:
		return circuit.AssumeRange(circuit.Requantise(l.value(o.Args[0], row, column), o.Requant), o.Range)
	case o.Kind == Product || o.Kind == Match:
		if o.DSP {
			return l.multiplied(o, row, column)
		}
		h := l.b.NewBitHeap()
		l.put(h, o, row, column)
		return h.Sum(o.Range)
	case l.rows[id] != nil:
		return l.rows[id][row]
	}
	return l.element(id, row, column)
}

// multiplied returns a product of a DSP slice.
func (l *lowering) multiplied(o *Operator, row, column int) circuit.Value {
	return circuit.MultiplyInDSP(l.element(o.Args[1], row, column), l.element(o.Args[0], row, column))
}

// put adds a product, or a match, to a heap.
func (l *lowering) put(h *circuit.BitHeap, o *Operator, row, column int) {
	w, x := o.Args[0], o.Args[1]
	at, place := l.place(w, row, column), l.place(x, row, column)
	a, b := o.Factors[0], o.Factors[1]
	switch {
	case o.Kind == Match:
		h.AddOneIfEqual(circuit.BitOf(l.words[x], place), circuit.BitOf(l.words[w], at))
	case a.IsMinifloat() || b.IsMinifloat():
		h.AddOperandProduct(circuit.OperandOfElement(l.words[x], place, b), circuit.OperandOfElement(l.words[w], at, a),
			num.NarrowestIntTypeFor(num.Range{Hi: max(o.Range.Hi, -o.Range.Lo)}).Width)
	case a.Kind == num.KindBipolar:
		h.AddOrSubtract(circuit.BitOf(l.words[w], at), circuit.ElementOf(l.words[x], place, b))
	case b.Kind == num.KindBipolar:
		h.AddOrSubtract(circuit.BitOf(l.words[x], place), circuit.ElementOf(l.words[w], at, a))
	case a.Kind == num.KindTernary:
		h.AddTernaryMultiple(circuit.BitOf(l.words[w], 2*at), circuit.BitOf(l.words[w], 2*at+1),
			circuit.ElementOf(l.words[x], place, b))
	default:
		h.AddProduct(circuit.ElementOf(l.words[x], place, b), circuit.ElementOf(l.words[w], at, a))
	}
}

// reduce returns the value of a row of an operator that joins columns or iterations.
func (l *lowering) reduce(o *Operator, row int) circuit.Value {
	of := l.g.at(o.Args[0])
	switch o.Kind {
	case RunningSum:
		return l.b.AddRunningSum(fmt.Sprint("sum", row), num.NarrowestIntTypeFor(o.Range), l.values[o.Args[1]],
			l.value(o.Args[0], row, 0))
	case RunningGreatest:
		return circuit.AddRunningMaximum(fmt.Sprint("peak", row), l.values[o.Args[1]], l.value(o.Args[0], row, 0))
	case Affine:
		multiple := circuit.MultiplyByConstant(l.value(o.Args[0], row, 0), o.Factor)
		return circuit.AssumeRange(circuit.SumOfTwo(multiple, l.b.ConstantNumber(o.Offset)), o.Range)
	case Greatest:
		var list []circuit.Value
		for column := range of.Cols {
			list = append(list, l.value(o.Args[0], row, column))
		}
		return greatest(list)
	}
	h := l.b.NewBitHeap()
	for column := range of.Cols {
		if (of.Kind == Product || of.Kind == Match) && !of.DSP {
			l.put(h, of, row, column)
		} else {
			h.AddShifted(l.value(o.Args[0], row, column), 0)
		}
	}
	return h.Sum(o.Range)
}

// greatest returns the greatest of one or more values, by a tree of comparisons.
func greatest(values []circuit.Value) circuit.Value {
	if n := len(values); n > 1 {
		return circuit.GreaterOf(greatest(values[:n/2]), greatest(values[n/2:]))
	}
	return values[0]
}

// steps returns the codes of all rows.
func (l *lowering) steps(o *Operator) []circuit.Value {
	var values []circuit.Value
	for row := range o.Rows {
		values = append(values, l.value(o.Args[0], row, 0))
	}
	in := l.g.at(o.Args[0]).Range
	of := num.NarrowestIntTypeFor(in)
	if l.words[o.Args[0]] != (circuit.Value{}) {
		of = l.g.In.Elem
	}
	functions, ranges := make([]num.StepFunction, len(o.Functions)), make([]num.Range, len(o.Functions))
	for i, s := range o.Functions {
		functions[i], ranges[i] = within(s, l.g.Out.Elem), in
	}
	table := num.NewThresholdTable(functions, ranges, of, layer.MaxThresholdsPerChannel).WithSharedRow()
	form := steps.New(table, ranges, of, l.g.Out.Elem).CheapestFormAt(steps.FormSite{PE: o.Rows,
		Alike: table.HasSharedRow(), Memory: o.Memory})
	if form == nil { // there are no thresholds
		panic("operatorlevel: step functions without thresholds")
	}
	return form.BuildCircuit(l.b, l.values[o.Args[1]], values)
}

// within returns a function whose outputs the type t holds. Others belong to values that do not occur.
func within(s num.StepFunction, t num.Type) (w num.StepFunction) {
	for i, v := range s.Value {
		if !t.Holds(v) {
			v = min(max(v, t.Range().Lo), t.Range().Hi)
		}
		if !t.Holds(v) {
			v = t.Range().Lo
		}
		switch n := len(w.Value); {
		case n > 0 && w.Value[n-1] == v:
			continue
		case n > 0:
			w.At = append(w.At, s.At[i-1])
		}
		w.Value = append(w.Value, v)
	}
	return w
}
