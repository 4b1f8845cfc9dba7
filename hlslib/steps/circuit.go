package steps

import (
	"slices"
	"sync"

	"hlsgen/internal/circuit"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// open returns a form's tables as tables of a circuit, by name and lane.
func open(b *circuit.Builder, f interface {
	Storage() []dataflow.Storage
	Tables() []dataflow.Table
}) map[string][]circuit.ConstantTable {
	tables := sync.OnceValue(f.Tables)
	list := map[string][]circuit.ConstantTable{}
	for _, s := range f.Storage() {
		list[s.Name] = s.Circuit(b, func() dataflow.Table {
			all := tables()
			return all[slices.IndexFunc(all, func(t dataflow.Table) bool { return t.Name == s.Name })]
		})
	}
	return list
}

// Circuit compares each value with all thresholds of its row. All lanes call one circuit function, which takes the
// lane's value and its part of the row.
func (p *parallel) Circuit(b *circuit.Builder, row circuit.Value, values []circuit.Value) []circuit.Value {
	side := p.side()
	if p.f.compare.Shared() {
		row, side = b.Constant(0), 1
	}
	tables := open(b, p)
	storage := p.Storage()
	codes := make([]circuit.Value, len(values))
	for i, v := range values {
		operands := []circuit.Value{v}
		for _, s := range storage {
			word := tables[s.Name][0].Row(row)
			own := word.Width() / side
			operands = append(operands, circuit.BitRange(word, i%side*own, own))
		}
		codes[i] = b.Call(&p.f.lanes, "steps", operands, func(b *circuit.Builder, o []circuit.Value) []circuit.Value {
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
	for s := range k.Steps() {
		exceeded = append(exceeded, circuit.GreaterThan(v, circuit.Element(words["thresholds"], s, p.f.of)))
	}
	base := b.Constant(k.Base[0])
	if word, ok := words["base"]; ok {
		base = circuit.Element(word, 0, num.Narrowest(k.Base))
	}
	if k.Delta == nil {
		return p.f.affine(b, count(b, exceeded), k.Unit, base)
	}
	elem := num.Narrowest(k.Delta...)
	return p.f.sum(b, base, exceeded, func(s int) circuit.Value { return circuit.Element(words["deltas"], s, elem) })
}

// count returns the number of given conditions that hold, as a value of the circuit.
func count(b *circuit.Builder, conditions []circuit.Value) circuit.Value {
	h := b.NewBitHeap()
	for _, c := range conditions {
		h.Add(c, 0)
	}
	return h.Sum(num.Range{Hi: int64(len(conditions))})
}

// affine returns the code base + unit*n of n exceeded thresholds.
func (f *Functions) affine(b *circuit.Builder, n circuit.Value, unit int64, base circuit.Value) circuit.Value {
	if r := base.Range(); r.Lo == r.Hi && n.Range() == (num.Range{Hi: 1}) {
		return circuit.AssumeRange(circuit.MuxByCondition(n, b.Constant(r.Lo+unit), base), f.out.Range())
	}
	h := b.NewBitHeap()
	h.Add(circuit.MultiplyByConstant(n, unit), 0)
	h.Add(base, 0)
	return h.Sum(f.out.Range())
}

// sum returns the code that is base plus the delta of every condition that holds.
func (f *Functions) sum(b *circuit.Builder, base circuit.Value, conditions []circuit.Value,
	delta func(i int) circuit.Value) circuit.Value {
	h := b.NewBitHeap()
	h.Add(base, 0)
	for i, c := range conditions {
		h.AddProduct(c, delta(i))
	}
	return h.Sum(f.out.Range())
}

// address returns the address of a lane's row in a table: the given bits, below the number of the function that row
// selects.
func (l *lanes) address(row circuit.Value, bits ...circuit.Value) circuit.Value {
	if l.functions() > 1 {
		bits = append(bits, circuit.LowBits(row, row.Width()))
	}
	if len(bits) == 0 {
		return circuit.Constant(row, 0)
	}
	word := circuit.Joined(bits...)
	return circuit.Wrapped(word, num.Type{Kind: num.UInt, Width: word.Width()})
}

// Circuit looks up the record of each value's segment by the upper bits, and compares the lower bits with its
// thresholds.
func (s *segment) Circuit(b *circuit.Builder, row circuit.Value, values []circuit.Value) []circuit.Value {
	tables := open(b, s)
	codes := make([]circuit.Value, len(values))
	for i, v := range values {
		word := circuit.LowBits(v, s.f.of.Width)
		if s.window {
			word = circuit.LowBits(circuit.Difference(circuit.Clipped(v, s.cut()), b.Constant(s.first)), s.span)
		}
		at := s.address(row, circuit.BitRange(word, s.low, s.span-s.low))
		code := circuit.Element(tables["codes"][i].Row(at), 0, s.f.out)
		if s.inside == 0 {
			codes[i] = code
			continue
		}
		rest := circuit.Element(circuit.BitRange(word, 0, s.low), 0, s.rest())
		thresholds := tables["thresholds"][i].Row(at)
		var exceeded []circuit.Value
		for k := range s.inside {
			exceeded = append(exceeded, circuit.GreaterThan(rest, circuit.Element(thresholds, k, s.rest())))
		}
		if s.f.uniform() {
			codes[i] = s.f.affine(b, count(b, exceeded), s.f.jumps.Lo, code)
			continue
		}
		deltas := tables["deltas"][i].Row(at)
		delta := func(k int) circuit.Value { return circuit.Element(deltas, k, s.padded()) }
		codes[i] = s.f.sum(b, code, exceeded, delta)
	}
	return codes
}

// Circuit finds the number of thresholds that each value exceeds, some bits of it in each stage.
func (s *searching) Circuit(b *circuit.Builder, row circuit.Value, values []circuit.Value) []circuit.Value {
	tables := open(b, s)
	codes := make([]circuit.Value, len(values))
	for i, v := range values {
		var found []circuit.Value // the bits of the count, lowest first
		for stage, bits := range s.stages {
			thresholds := tables[name(stage)][i].Row(s.address(row, found...))
			var exceeded []circuit.Value
			for k := range 1<<bits - 1 {
				exceeded = append(exceeded, circuit.GreaterThan(v, circuit.Element(thresholds, k, s.f.of)))
			}
			found = append([]circuit.Value{circuit.LowBits(count(b, exceeded), bits)}, found...)
		}
		codes[i] = s.output(b, tables, i, row, circuit.Joined(found...))
	}
	return codes
}

// output returns a lane's code for the number of exceeded thresholds, from a table or as a multiple.
func (s *searching) output(b *circuit.Builder, tables map[string][]circuit.ConstantTable, lane int, row,
	found circuit.Value) circuit.Value {
	unit, of := s.f.compare.Unit, num.Type{Kind: num.UInt, Width: found.Width()}
	switch s.counts() {
	case 0:
		base, _ := s.f.compare.Constant()
		return s.f.affine(b, circuit.Wrapped(found, of), unit, b.Constant(base))
	case 1:
		base := circuit.Element(tables["codes"][lane].Row(s.address(row)), 0, s.codes())
		return s.f.affine(b, circuit.Wrapped(found, of), unit, base)
	}
	return circuit.Element(tables["codes"][lane].Row(s.address(row, found)), 0, s.codes())
}

// A SearchCircuit is a serial search with its tables in a circuit. It makes one step at a time.
type SearchCircuit struct {
	*SerialSearch
	b      *circuit.Builder
	tables map[string][]circuit.ConstantTable
}

// Search adds the tables of the serial search to the circuit b, and returns what makes its steps.
func (s *SerialSearch) Search(b *circuit.Builder) SearchCircuit {
	return SearchCircuit{s, b, open(b, s)}
}

// Place returns the type of a place in the search. After the last step, the place is the number of exceeded thresholds.
func (s SearchCircuit) Place() num.Type { return num.Type{Kind: num.UInt, Width: s.Steps()} }

// Next returns a lane's place after one step from place in the search for v, in the function that row selects.
func (s SearchCircuit) Next(lane int, row, place, v circuit.Value) circuit.Value {
	limit := circuit.Element(s.tables["places"][lane].Row(s.address(row, circuit.LowBits(place, s.Steps()))), 0, s.f.of)
	more := circuit.LowBits(circuit.GreaterThan(v, limit), 1)
	return circuit.Wrapped(circuit.Joined(more, circuit.BitRange(place, 0, s.Steps()-1)), s.Place())
}

// Code returns a lane's code, from its place after the last step.
func (s SearchCircuit) Code(lane int, row, place circuit.Value) circuit.Value {
	return s.output(s.b, s.tables, lane, row, circuit.LowBits(place, s.Steps()))
}

// Circuit multiplies each value by a constant, as a sum of shifted values. If each lane has its own multiplier, there
// is one lane per function.
func (s *ScaledForm) Circuit(b *circuit.Builder, row circuit.Value, values []circuit.Value) []circuit.Value {
	biases := open(b, s)["biases"][0]
	elem := num.Narrowest(s.s.bias)
	words := biases.Row(row)
	codes := make([]circuit.Value, len(values))
	for i, v := range values {
		bias := circuit.Element(words, min(i, s.side()-1), elem)
		own := i
		if len(s.s.multiplier) == 1 {
			own = 0
		}
		product := circuit.MultiplyByConstant(circuit.AssumeRange(v, s.occurring()), s.s.multiplier[own])
		sum := circuit.Wrapped(circuit.Sum(product, bias), s.s.sum)
		rounded := circuit.AssumeRange(circuit.Rounded(sum, s.s.shift, s.s.mode), s.s.code)
		codes[i] = circuit.AssumeRange(circuit.Clipped(rounded, s.s.limits), s.f.out.Range())
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
