package rnn

import (
	"fmt"
	"slices"

	"hlsgen/hlslib/layer"
	"hlsgen/hlslib/price/cost"
	"hlsgen/internal/circuit"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// Circuit returns the layer's RTL. All phases share one set of multipliers and accumulators for their dot products,
// whose results enter the values of each phase.
func (o *op) Circuit(f dataflow.Fold, t dataflow.Target) *circuit.Module {
	return wire(o, f, t, wired(o, f, t))
}

// wired returns the timing of the circuit. A word of a store may be read only when as many iterations have passed since
// its write as stages lie between the two. That hardly depends on how long the phases wait. So wired builds the circuit
// a few times, with longer waits each time, until they suffice.
func wired(o *op, f dataflow.Fold, target dataflow.Target) timing {
	key := layer.CircuitKeyOf(f, target)
	if t, ok := o.timings.Load(key); ok {
		return t.(timing)
	}
	waits := make([]int, len(o.stores))
	for {
		t := schedule(o, f, slices.Clone(waits), 0)
		m := wire(o, f, target, t)
		for i, s := range o.stores {
			waits[i] = max(waits[i], m.WriteToReadIterations(s.name))
		}
		if slices.Equal(waits, t.waits) {
			t.latency = m.Latency
			o.timings.Store(key, t)
			return t
		}
	}
}

// A wiring is the layer's circuit under construction, for one fold and target.
type wiring struct {
	o       *op
	f       dataflow.Fold
	t       timing
	b       *circuit.Builder
	packing cost.DSPPacking
	storage []dataflow.Storage
	at      position
	in      []circuit.Value // words of the inputs
	stores  []circuit.LoopMemory
	words   [][]circuit.Value                // by store: the words of units read so far
	tables  map[string]circuit.ConstantTable // tables read so far, by name
	sums    []circuit.Value                  // by unit and lane
	values  [][][]circuit.Value              // by phase, value and unit
}

// wire builds the circuit with the waits of the timing t.
func wire(o *op, f dataflow.Fold, target dataflow.Target, t timing) *circuit.Module {
	b := circuit.NewBuilder(target.CircuitTiming())
	w := &wiring{o: o, f: f, t: t, b: b, packing: packing(o, f, target), storage: o.Storage(f),
		tables: map[string]circuit.ConstantTable{}, words: make([][]circuit.Value, len(o.stores))}
	b.BuildWithoutStageLimit(func() circuit.Value {
		w.at = w.locate()
		return w.at.first
	})
	moves := append([]circuit.Value{w.at.phases[0].ends}, w.at.arrived...)
	for i, in := range o.in {
		units := f.PE
		if i == 0 {
			units *= o.lanes
		}
		w.in = append(w.in, b.AddInputStream(units*in.Elem.Width, moves[i]))
	}
	for i := range o.stores {
		s := &o.stores[i]
		rows, width := s.halves*o.turns*o.elements(s)/s.word(f), s.word(f)*s.elem.Width
		w.stores = append(w.stores, b.AddLoopMemory(s.name, dataflow.CircuitStyleOf(w.storage, s.name), rows, width))
	}
	w.sum()
	for i := range o.phases {
		w.phase(i)
	}
	for i := range o.stores {
		w.keep(i)
	}
	for k, r := range o.P.Outputs {
		leaves := w.at.phases[r.Phase].ends
		if !o.P.Sequence {
			leaves = b.BuildWithoutStageLimit(func() circuit.Value {
				return circuit.AllHold(w.at.phases[r.Phase].ends,
					w.at.last)
			})
		}
		b.AddOutputStream(circuit.PackIntoWord(o.out[k].Elem, w.of(r.Phase, r.Value, 0)...), leaves)
	}
	return b.FinishLayer()
}

// sum adds the sums of the dots to the circuit. It reads the vector only when the weights arrive, which saves
// registers.
func (w *wiring) sum() {
	o, b := w.o, w.b
	if o.dots == 0 {
		return
	}
	var phases []int
	base := make([]int, len(o.phases))
	rows := 0
	for i, p := range o.phases {
		if base[i] = rows; len(p.dots) > 0 {
			phases = append(phases, i)
			rows += len(o.P.Cells) * w.t.phases[i].nf * w.t.phases[i].sf
		}
	}
	row := w.at.phases[phases[0]].row
	for _, q := range phases[1:] {
		s := w.at.phases[q]
		row = circuit.MuxByCondition(s.in, circuit.SumOfTwo(s.row, b.ConstantNumber(int64(base[q]))), row)
	}
	lanes := w.f
	lanes.PE *= o.dots
	weights := b.AddTable("weights", dataflow.CircuitStyleOf(w.storage, "weights"), o.unit.Codes.StoredType(rows),
		lanes.PE*w.f.SIMD, rows, func() [][]int64 { return o.weights(w.f).Rows },
	).ReadRow(circuit.AssumeRange(row, num.Range{Hi: int64(rows - 1)}))
	vector := w.late(weights.Stage(), w.vector)
	begins := w.byPhase(phases, func(s stand) circuit.Value { return s.begins })
	vectors := func(int) circuit.Value { return vector }
	w.sums = o.unit.NewCircuitBuilder(b, lanes, w.packing, rows).ChannelOutputs(vectors, weights, begins,
		b.ConstantNumber(0))
}

// table returns the layer's table of the given name in the circuit. At the first call it adds what of returns.
func (w *wiring) table(name string, of func() dataflow.Table) circuit.ConstantTable {
	t, ok := w.tables[name]
	if !ok {
		t = dataflow.KernelInstance{Storage: w.storage}.StorageOf(name).AddTableToCircuit(w.b, of)[0]
		w.tables[name] = t
	}
	return t
}

// late returns a value that is available at the given stage. from(s) starts to compute the value at stage s; late
// starts it as late as possible, which saves registers.
func (w *wiring) late(stage int, from func(stage int) circuit.Value) circuit.Value {
	v := from(0)
	if d := stage - v.Stage(); d > 0 {
		v = from(d)
	}
	return v
}

// vector returns the SIMD elements that the dots of the current phase multiply in this clock, addressed at the given
// stage.
func (w *wiring) vector(stage int) circuit.Value {
	var word circuit.Value
	var phases []int
	for i := range w.o.stores {
		s := &w.o.stores[i]
		if !s.vector {
			continue
		}
		v := w.read(i, stage)
		if phases = append(phases, s.reads...); len(phases) == len(s.reads) {
			word = v
			continue
		}
		var in []circuit.Value
		for _, q := range s.reads {
			in = append(in, w.at.phases[q].in)
		}
		word = circuit.MuxByCondition(circuit.AnyHolds(in...), v, word)
	}
	width := w.f.SIMD * w.o.vector.Width
	var parts []circuit.Value
	for low := 0; low < word.Width(); low += width {
		parts = append(parts, circuit.SliceBits(word, low, width))
	}
	return circuit.MuxByIndex(w.byPhase(phases, func(s stand) circuit.Value { return s.part }), parts...)
}

// read returns a word of a store, addressed at the given stage or later. In the first time step of a frame it is the
// initial state instead of the memory's word.
func (w *wiring) read(store, stage int) circuit.Value {
	o, b, s := w.o, w.b, &w.o.stores[store]
	words := o.elements(s) / s.word(w.f)
	row := func(units, turn func(stand) circuit.Value) circuit.Value {
		if !s.vector {
			return w.byPhase(s.reads, units)
		}
		return circuit.SumOfTwo(circuit.MultiplyByConstant(w.byPhase(s.reads, turn), int64(words)),
			w.byPhase(s.reads, func(p stand) circuit.Value { return p.from }))
	}
	address := row(func(p stand) circuit.Value { return p.at }, func(p stand) circuit.Value { return p.turn })
	if s.halves == 2 {
		address = circuit.SumOfTwo(circuit.MultiplyByConstant(w.at.half, int64(o.turns*words)), address)
	}
	word := w.stores[store].ReadRow(address, max(0, address.Stage())+stage)
	if s.state < 0 || o.arrives(s) {
		return word
	}
	start := circuit.LowBitsOf(b.ConstantNumber(0), word.Width())
	if table, ok := o.start(s, w.f); ok {
		at := row(func(p stand) circuit.Value { return p.word }, func(p stand) circuit.Value { return p.cell })
		if len(table.Rows) == 1 {
			at = b.ConstantNumber(0)
		}
		rows := w.table(table.Name, func() dataflow.Table { return table })
		start = circuit.PackIntoWord(s.elem, layer.ElementsOfWord(rows.ReadRow(at), table.Elem)...)
	}
	return circuit.MuxByCondition(w.at.first, start, word)
}

// units returns the elements of a store's word, by unit, available at the given stage. It uses a word already read if
// that is available by then.
func (w *wiring) units(store, stage int) []circuit.Value {
	s := &w.o.stores[store]
	k := slices.IndexFunc(w.words[store], func(v circuit.Value) bool { return v.Stage() <= stage })
	if k < 0 {
		k = len(w.words[store])
		w.words[store] = append(w.words[store],
			w.late(stage, func(from int) circuit.Value { return w.read(store, from) }))
	}
	return layer.ElementsOfWord(w.words[store][k], s.elem)
}

// keep adds the writing of the current word's units to a store.
func (w *wiring) keep(store int) {
	o, b, s := w.o, w.b, &w.o.stores[store]
	p := w.at.phases[s.writer.Phase]
	units := circuit.PackIntoWord(s.elem, w.of(s.writer.Phase, s.writer.Value, 0)...)
	when, address, full, half := p.ends, p.at, p.full, circuit.Not(w.at.half)
	if s.vector {
		address = p.to
	}
	if start := slices.Index(o.P.Starts, s.state); start >= 0 {
		when = circuit.AnyHolds(p.ends, w.at.arrived[start])
		half = circuit.MuxByCondition(w.at.arriving, w.at.half, half)
		var arrived []circuit.Value
		for _, v := range layer.ElementsOfWord(w.in[1+start], o.in[1+start].Elem) {
			arrived = append(arrived, circuit.AssumeRange(v, s.elem.Range()))
		}
		units = circuit.MuxByCondition(w.at.arriving, circuit.PackIntoWord(s.elem, arrived...), units)
		to := w.at.count
		if s.vector {
			fills := s.word(w.f) / w.f.PE
			filled := b.AddCounter(fmt.Sprint("filled_", s.name), fills, w.at.arrived[start])
			full = circuit.MuxByCondition(w.at.arriving, filled.Last, full)
			to = b.AddCounter(fmt.Sprint("to_", s.name), o.turns*o.elements(s)/s.word(w.f),
				b.BuildWithoutStageLimit(func() circuit.Value {
					return circuit.AllHold(w.at.arrived[start],
						filled.Last)
				})).Index
		}
		address = circuit.MuxByCondition(w.at.arriving, to, address)
	}
	if s.vector && s.word(w.f) > w.f.PE {
		units = w.gathered(s, units, when)
		when = circuit.AllHold(when, full)
	}
	rows := o.turns * o.elements(s) / s.word(w.f)
	address = circuit.AssumeRange(address, num.Range{Hi: int64(rows - 1)})
	if s.halves == 2 {
		address = circuit.SumOfTwo(circuit.MultiplyByConstant(half, int64(rows)), address)
	}
	w.stores[store].WriteRow(address, units, when)
}

// gathered returns the newest units, joined with those before, as a full word of the store. when holds if there are new
// ones.
func (w *wiring) gathered(s *store, units, when circuit.Value) circuit.Value {
	stage, width := circuit.FirstCommonStage(units, when), s.word(w.f)*s.elem.Width
	newest := w.b.AddWordRegister(s.name+"_newest", stage, width-units.Width())
	word := circuit.ConcatenateWords(newest.ValueBefore(), units.AtStage(stage))
	newest.SetNext(circuit.SliceBits(word, units.Width(), width-units.Width()), when)
	return word
}
