package steps

import (
	"slices"
	"sync"

	"hlsgen/internal/circuit"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// open is a form's tables in a circuit, by name and lane.
func open(b *circuit.Builder, f Form) map[string][]circuit.Table {
	tables := sync.OnceValue(f.Tables)
	list := map[string][]circuit.Table{}
	for _, s := range f.Storage() {
		list[s.Name] = s.Circuit(b, func() dataflow.Table {
			all := tables()
			return all[slices.IndexFunc(all, func(t dataflow.Table) bool { return t.Name == s.Name })]
		})
	}
	return list
}

// Circuit compares with all thresholds of a row.
func (p *parallel) Circuit(b *circuit.Builder, row circuit.Value, values []circuit.Value) []circuit.Value {
	k := p.f.compare
	tables := open(b, p)
	if k.Shared() {
		row = b.Constant(0)
	}
	read := func(name string) circuit.Value {
		if t := tables[name]; t != nil {
			return t[0].Row(row)
		}
		return circuit.Value{}
	}
	thresholds, bases, deltas := read("thresholds"), read("base"), read("deltas")
	elem, delta := num.Narrowest(k.Base), num.Type{}
	if k.Delta != nil {
		delta = num.Narrowest(k.Delta...)
	}
	steps := k.Steps()
	codes := make([]circuit.Value, len(values))
	for i, v := range values {
		lane := i
		if k.Shared() {
			lane = 0
		}
		var exceeded []circuit.Value
		for s := range steps {
			exceeded = append(exceeded, circuit.Exceeds(v, circuit.Element(thresholds, lane*steps+s, p.f.of)))
		}
		var base circuit.Value
		if c, ok := k.Constant(); ok {
			base = b.Constant(c)
		} else {
			base = circuit.Element(bases, lane, elem)
		}
		if k.Delta == nil {
			codes[i] = p.f.affine(count(b, exceeded), k.Unit, base)
			continue
		}
		terms := []circuit.Value{base}
		for s, e := range exceeded {
			terms = append(terms, circuit.Choice(e, circuit.Element(deltas, lane*steps+s, delta), b.Constant(0)))
		}
		codes[i] = p.f.code(circuit.Total(terms...))
	}
	return codes
}

// count is how many conditions hold.
func count(b *circuit.Builder, conditions []circuit.Value) circuit.Value {
	h := b.Heap()
	for _, c := range conditions {
		h.Add(c, 0)
	}
	return h.Total(num.Range{Hi: int64(len(conditions))})
}

// affine is base + unit*n, which is a code.
func (f *Functions) affine(n circuit.Value, unit int64, base circuit.Value) circuit.Value {
	return f.code(circuit.Sum(circuit.Times(n, unit), base))
}

// code is a number that is known to be one.
func (f *Functions) code(v circuit.Value) circuit.Value {
	if f.out.Kind == num.Bipolar {
		return circuit.Choice(circuit.Exceeds(v, circuit.Constant(v, 0)), circuit.Constant(v, 1), circuit.Constant(v, -1))
	}
	return circuit.Kept(v, f.out.Range())
}

// address is a lane's row of a table: bits of a value behind the number of the function.
func (l *lanes) address(b *circuit.Builder, row circuit.Value, bits circuit.Value, width int) circuit.Value {
	if l.functions() == 1 {
		row = b.Constant(0)
	}
	if width == 0 {
		return row
	}
	return circuit.Sum(circuit.Shifted(row, width), circuit.Wrapped(bits, num.Type{Kind: num.UInt, Width: width}))
}

// Circuit looks up, and compares the rest.
func (s *segment) Circuit(b *circuit.Builder, row circuit.Value, values []circuit.Value) []circuit.Value {
	tables := open(b, s)
	codes := make([]circuit.Value, len(values))
	for i, v := range values {
		word := circuit.Raw(v, s.f.of.Width)
		if s.window {
			inside := num.Range{Lo: s.first, Hi: s.first + 1<<s.span - 1}
			word = circuit.Raw(circuit.Difference(circuit.Clipped(v, inside), b.Constant(s.first)), s.span)
		}
		at := s.address(b, row, circuit.Part(word, s.low, s.span-s.low), s.span-s.low)
		code := circuit.Element(tables["codes"][i].Row(at), 0, s.f.out)
		if s.inside == 0 {
			codes[i] = code
			continue
		}
		rest := circuit.Wrapped(circuit.Part(word, 0, s.low), s.rest())
		thresholds := tables["thresholds"][i].Row(at)
		var exceeded []circuit.Value
		for k := range s.inside {
			exceeded = append(exceeded, circuit.Exceeds(rest, circuit.Element(thresholds, k, s.rest())))
		}
		if s.f.uniform() {
			codes[i] = s.f.affine(count(b, exceeded), s.f.jumps.Lo, code)
			continue
		}
		deltas := tables["deltas"][i].Row(at)
		terms := []circuit.Value{code}
		for k, e := range exceeded {
			terms = append(terms, circuit.Choice(e, circuit.Element(deltas, k, s.padded()), b.Constant(0)))
		}
		codes[i] = s.f.code(circuit.Total(terms...))
	}
	return codes
}

// Circuit finds some bits of the count in a stage.
func (s *searching) Circuit(b *circuit.Builder, row circuit.Value, values []circuit.Value) []circuit.Value {
	tables := open(b, s)
	codes := make([]circuit.Value, len(values))
	for i, v := range values {
		found := b.Constant(0)
		for stage, bits := range s.stages {
			at := s.address(b, row, circuit.Raw(found, max(1, s.before(stage))), s.before(stage))
			thresholds := tables[name(stage)][i].Row(at)
			var exceeded []circuit.Value
			for k := range 1<<bits - 1 {
				exceeded = append(exceeded, circuit.Exceeds(v, circuit.Element(thresholds, k, s.f.of)))
			}
			found = circuit.Sum(circuit.Shifted(found, bits), count(b, exceeded))
		}
		base, _ := s.f.compare.Constant()
		switch s.counts() {
		case 0:
			codes[i] = s.f.affine(found, s.f.compare.Unit, b.Constant(base))
		case 1:
			codes[i] = s.f.affine(found, s.f.compare.Unit,
				circuit.Element(tables["codes"][i].Row(s.address(b, row, circuit.Value{}, 0)), 0, s.codes()))
		default:
			width := s.before(len(s.stages))
			codes[i] = circuit.Element(tables["codes"][i].Row(s.address(b, row, circuit.Raw(found, width), width)), 0,
				s.codes())
		}
	}
	return codes
}

// Circuit is a sum of shifted values. A lane with a multiplier of its own always is the same lane.
func (s *Scaled) Circuit(b *circuit.Builder, row circuit.Value, values []circuit.Value) []circuit.Value {
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
		product := circuit.Times(circuit.Kept(v, s.occurring()), s.s.multiplier[own])
		sum := circuit.Wrapped(circuit.Sum(product, bias), s.s.sum)
		rounded := circuit.Kept(circuit.Rounded(sum, s.s.shift, s.s.mode), s.s.code)
		codes[i] = s.f.code(circuit.Clipped(rounded, s.s.limits))
	}
	return codes
}

// occurring is the values that occur, of all functions.
func (s *Scaled) occurring() num.Range {
	r := s.f.in[0]
	for _, o := range s.f.in[1:] {
		r = r.Union(o)
	}
	return r
}
