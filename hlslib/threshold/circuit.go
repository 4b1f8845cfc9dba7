package threshold

import (
	"fmt"

	"hlsgen/hlslib/layer"
	"hlsgen/internal/circuit"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// Circuit returns the RTL, which computes a word of outputs from every input word: at once, or step by step for a
// serial fold.
func (o *op) Circuit(f dataflow.Fold, t dataflow.Target) *circuit.Module {
	if f.Steps == dataflow.SerialStepping {
		m, _ := o.serial(f, t).circuit()
		return m
	}
	b := circuit.New(t.Rate())
	always := b.Constant(1)
	word := b.Counter("fold", o.Words(f), always).Index
	values := layer.Elements(b.Input(f.PE*o.In[0].Elem.Width, always), o.In[0].Elem)
	b.Output(circuit.Packed(o.Out[0].Elem.Codes(), o.steps.Circuit(b, f, word, values)...), always)
	return b.Layer()
}

// circuit returns the RTL of the serial search, which keeps a word and the places of its searches. It also returns the
// clocks of a step, from reading a place to computing the next. That number does not depend on s.clocks.
func (s *serial) circuit() (m *circuit.Module, clocks int) {
	b := circuit.New(s.target.Rate())
	always := b.Constant(1)
	call := b.Counter("call", s.calls, always)
	step := b.Register("phase", 0, num.Range{Hi: int64(s.clocks)}).WithInitial(0)
	begins := b.WithoutStageLimit(func() circuit.Value {
		again := circuit.Any(call.Last, circuit.EqualTo(step.Value(), b.Constant(int64(s.clocks-1))))
		next := circuit.MuxByCondition(again, b.Constant(0), circuit.Sum(step.Value(), always))
		step.Set(circuit.AssumeRange(next, step.Value().Range()), always)
		return circuit.EqualTo(step.Value(), b.Constant(0))
	})
	word := b.Counter("fold", s.Words(s.fold), call.Last).Index

	// The kept values lie at stage 1, because everything that they depend on comes from registers.
	elem := s.In[0].Elem
	x := b.Input(s.fold.PE*elem.Width, call.First).At(1)
	first := call.First
	if s.calls > 1 {
		first = first.At(1)
		kept := b.WordRegister("kept", 1, x.Width())
		kept.Set(x, first)
		x = circuit.MuxByCondition(first, x, kept.Value())
	}
	search := s.form.Search(b)
	codes := make([]circuit.Value, s.fold.PE)
	for pe, v := range layer.Elements(x, elem) {
		place := b.Register(fmt.Sprint("place", pe), 1, search.Place().Range())
		next := search.Next(pe, word, circuit.MuxByCondition(first, always, place.Value()), v)
		clocks = max(clocks, place.SetLate(next, begins))
		codes[pe] = search.Code(pe, word, next)
	}
	b.Output(circuit.Packed(s.Out[0].Elem.Codes(), codes...), call.Last)
	return b.Layer(), clocks
}
