package steps

import (
	"slices"
	"sync"

	"hlsgen/internal/circuit"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// open adds the tables of a form of the functions s to the circuit b, and returns them by name and lane.
func open(s *StepFunctions, b *circuit.Builder, f StepFunctionHardware) map[string][]circuit.ConstantTable {
	tables := sync.OnceValue(f.Tables)
	list := map[string][]circuit.ConstantTable{}
	for _, m := range f.Storage() {
		list[m.Name] = m.AddTableToCircuit(b, func() dataflow.Table {
			all := tables()
			return all[slices.IndexFunc(all, func(t dataflow.Table) bool { return t.Name == m.Name })]
		})
		for lane, t := range list[m.Name] {
			known, _ := s.tables.LoadOrStore(tableOfForm{f, m.Name, lane}, new(sync.Map))
			t.KeepFacts(known.(*sync.Map))
		}
	}
	return list
}

// A tableOfForm is one of a form's tables, of a lane.
type tableOfForm struct {
	form StepFunctionHardware
	name string
	lane int
}

// BuildCircuit compares each value with all thresholds of its row. All lanes call one circuit function, which takes the
// lane's value and its part of the row.
func (p *parallel) BuildCircuit(b *circuit.Builder, row circuit.Value, values []circuit.Value) []circuit.Value {
	side := p.side()
	if p.f.compare.HasSharedRow() {
		row, side = b.ConstantNumber(0), 1
	}
	tables := open(p.f, b, p)
	storage := p.Storage()
	codes := make([]circuit.Value, len(values))
	for i, v := range values {
		operands := []circuit.Value{v}
		for _, s := range storage {
			word := tables[s.Name][0].ReadRow(row)
			own := word.Width() / side
			operands = append(operands, circuit.SliceBits(word, i%side*own, own))
		}
		codes[i] = b.CallFunction(&p.f.lanes, "steps", operands, func(b *circuit.Builder,
			o []circuit.Value) []circuit.Value {
			words := map[string]circuit.Value{}
			for k, s := range storage {
				words[s.Name] = o[1+k]
			}
			return []circuit.Value{p.code(b, o[0], words)}
		})[0]
	}
	return codes
}

// code returns the code of the value v, where words holds the lane's part of each table's row, by table.
func (p *parallel) code(b *circuit.Builder, v circuit.Value, words map[string]circuit.Value) circuit.Value {
	k := p.f.compare
	var exceeded []circuit.Value
	for s := range k.ThresholdsPerChannel() {
		exceeded = append(exceeded, circuit.IsGreater(v, circuit.ElementOf(words["thresholds"], s, p.f.of)))
	}
	base := b.ConstantNumber(k.Base[0])
	if word, ok := words["base"]; ok {
		base = circuit.ElementOf(word, 0, num.NarrowestTypeOfValues(k.Base))
	}
	if k.Delta == nil {
		return p.f.affine(b, count(b, exceeded), k.Unit, base)
	}
	elem := num.NarrowestTypeOfValues(k.Delta...)
	return p.f.sum(b, base, exceeded, func(s int) circuit.Value { return circuit.ElementOf(words["deltas"], s, elem) })
}

// count returns the number of given conditions that hold, as a value of the circuit.
func count(b *circuit.Builder, conditions []circuit.Value) circuit.Value {
	h := b.NewBitHeap()
	for _, c := range conditions {
		h.AddShifted(c, 0)
	}
	return h.Sum(num.Range{Hi: int64(len(conditions))})
}

// affine returns the code base + unit*n of n exceeded thresholds.
func (f *StepFunctions) affine(b *circuit.Builder, n circuit.Value, unit int64, base circuit.Value) circuit.Value {
	if r := base.Range(); r.Lo == r.Hi && n.Range() == (num.Range{Hi: 1}) {
		return circuit.AssumeRange(circuit.MuxByCondition(n, b.ConstantNumber(r.Lo+unit), base), f.out.Range())
	}
	h := b.NewBitHeap()
	h.AddShifted(circuit.MultiplyByConstant(n, unit), 0)
	h.AddShifted(base, 0)
	return h.Sum(f.out.Range())
}

// sum returns the code that is base plus the delta of every condition that holds.
func (f *StepFunctions) sum(b *circuit.Builder, base circuit.Value, conditions []circuit.Value,
	delta func(i int) circuit.Value) circuit.Value {
	h := b.NewBitHeap()
	h.AddShifted(base, 0)
	for i, c := range conditions {
		h.AddProduct(c, delta(i))
	}
	return h.Sum(f.out.Range())
}

// address returns the address of a lane's row in a table: the given bits, below the number of the function that row
// selects.
func (l *lanes) address(row circuit.Value, bits ...circuit.Value) circuit.Value {
	if l.functions() > 1 {
		bits = append(bits, circuit.LowBitsOf(row, row.Width()))
	}
	if len(bits) == 0 {
		return circuit.ConstantInCircuitOf(row, 0)
	}
	word := circuit.ConcatenateWords(bits...)
	return circuit.LowBitsAsType(word, num.Type{Kind: num.KindUInt, Width: word.Width()})
}

// BuildCircuit looks up the record of each value's segment by the upper bits, and compares the lower bits with its
// thresholds.
func (s *segment) BuildCircuit(b *circuit.Builder, row circuit.Value, values []circuit.Value) []circuit.Value {
	tables := open(s.f, b, s)
	codes := make([]circuit.Value, len(values))
	for i, v := range values {
		word := circuit.LowBitsOf(v, s.f.of.Width)
		if s.window {
			word = circuit.LowBitsOf(circuit.Subtract(circuit.ClipToRange(v, s.cut()), b.ConstantNumber(s.first)),
				s.span)
		}
		at := s.address(row, circuit.SliceBits(word, s.low, s.span-s.low))
		code := circuit.ElementOf(tables["codes"][i].ReadRow(at), 0, s.f.out)
		if s.inside == 0 {
			codes[i] = code
			continue
		}
		rest := circuit.ElementOf(circuit.SliceBits(word, 0, s.low), 0, s.rest())
		thresholds := tables["thresholds"][i].ReadRow(at)
		var exceeded []circuit.Value
		for k := range s.inside {
			exceeded = append(exceeded, circuit.IsGreater(rest, circuit.ElementOf(thresholds, k, s.rest())))
		}
		if s.f.uniform() {
			codes[i] = s.f.affine(b, count(b, exceeded), s.f.jumps.Lo, code)
			continue
		}
		deltas := tables["deltas"][i].ReadRow(at)
		delta := func(k int) circuit.Value { return circuit.ElementOf(deltas, k, s.padded()) }
		codes[i] = s.f.sum(b, code, exceeded, delta)
	}
	return codes
}

// BuildCircuit finds the number of thresholds that each value exceeds, some bits of it in each stage.
func (s *searching) BuildCircuit(b *circuit.Builder, row circuit.Value, values []circuit.Value) []circuit.Value {
	tables := open(s.f, b, s)
	codes := make([]circuit.Value, len(values))
	for i, v := range values {
		var found []circuit.Value // the bits of the count, lowest first
		for stage, bits := range s.stages {
			thresholds := tables[name(stage)][i].ReadRow(s.address(row, found...))
			var exceeded []circuit.Value
			for k := range 1<<bits - 1 {
				exceeded = append(exceeded, circuit.IsGreater(v, circuit.ElementOf(thresholds, k, s.f.of)))
			}
			found = append([]circuit.Value{circuit.LowBitsOf(count(b, exceeded), bits)}, found...)
		}
		codes[i] = s.output(b, tables, i, row, circuit.ConcatenateWords(found...))
	}
	return codes
}

// output returns a lane's code for the number of exceeded thresholds, from a table or as a multiple.
func (s *searching) output(b *circuit.Builder, tables map[string][]circuit.ConstantTable, lane int, row,
	found circuit.Value) circuit.Value {
	unit, of := s.f.compare.Unit, num.Type{Kind: num.KindUInt, Width: found.Width()}
	switch s.counts() {
	case 0:
		base, _ := s.f.compare.ConstantBase()
		return s.f.affine(b, circuit.LowBitsAsType(found, of), unit, b.ConstantNumber(base))
	case 1:
		base := circuit.ElementOf(tables["codes"][lane].ReadRow(s.address(row)), 0, s.codes())
		return s.f.affine(b, circuit.LowBitsAsType(found, of), unit, base)
	}
	return circuit.ElementOf(tables["codes"][lane].ReadRow(s.address(row, found)), 0, s.codes())
}

// A SerialSearchCircuit is a serial search with its tables in a circuit. It makes one step at a time.
type SerialSearchCircuit struct {
	*SerialSearch
	b      *circuit.Builder
	tables map[string][]circuit.ConstantTable
}

// NewCircuit adds the tables of the serial search to the circuit b. It returns the search as a circuit, which makes one
// step at a time.
func (s *SerialSearch) NewCircuit(b *circuit.Builder) SerialSearchCircuit {
	return SerialSearchCircuit{s, b, open(s.f, b, s)}
}

// PlaceType returns the type of a place in the search. After the last step, the place is the number of exceeded
// thresholds.
func (s SerialSearchCircuit) PlaceType() num.Type {
	return num.Type{Kind: num.KindUInt, Width: s.ComparisonsPerValue()}
}

// NextPlace returns a lane's place after one step from place in the search for v, in the function that row selects.
func (s SerialSearchCircuit) NextPlace(lane int, row, place, v circuit.Value) circuit.Value {
	limit := circuit.ElementOf(s.tables["places"][lane].ReadRow(s.address(row, circuit.LowBitsOf(place,
		s.ComparisonsPerValue()))), 0, s.f.of)
	more := circuit.LowBitsOf(circuit.IsGreater(v, limit), 1)
	return circuit.LowBitsAsType(circuit.ConcatenateWords(more, circuit.SliceBits(place, 0,
		s.ComparisonsPerValue()-1)), s.PlaceType())
}

// CodeAtFinalPlace returns a lane's code, from its place after the last step.
func (s SerialSearchCircuit) CodeAtFinalPlace(lane int, row, place circuit.Value) circuit.Value {
	return s.output(s.b, s.tables, lane, row, circuit.LowBitsOf(place, s.ComparisonsPerValue()))
}

// BuildCircuit multiplies each value by a constant, as a sum of shifted values. If each lane has its own multiplier,
// there is one lane per function.
func (s *ScaledForm) BuildCircuit(b *circuit.Builder, row circuit.Value, values []circuit.Value) []circuit.Value {
	biases := open(s.f, b, s)["biases"][0]
	elem := num.NarrowestTypeOfValues(s.s.bias)
	words := biases.ReadRow(row)
	codes := make([]circuit.Value, len(values))
	for i, v := range values {
		bias := circuit.ElementOf(words, min(i, s.side()-1), elem)
		own := i
		if len(s.s.multiplier) == 1 {
			own = 0
		}
		product := circuit.MultiplyByConstant(circuit.AssumeRange(v, s.occurring()), s.s.multiplier[own])
		sum := circuit.LowBitsAsType(circuit.SumOfTwo(product, bias), s.s.sum)
		rounded := circuit.AssumeRange(circuit.ShiftRightRounded(sum, s.s.shift, s.s.mode), s.s.code)
		codes[i] = circuit.AssumeRange(circuit.ClipToRange(rounded, s.s.limits), s.f.out.Range())
	}
	return codes
}

// occurring returns the range of values that occur in any of the functions.
func (s *ScaledForm) occurring() num.Range {
	r := s.f.in[0]
	for _, o := range s.f.in[1:] {
		r = r.Union(o)
	}
	return r
}
