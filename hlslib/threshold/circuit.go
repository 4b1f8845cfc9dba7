package threshold

import (
	"fmt"

	"hlsgen/hlslib/layer"
	"hlsgen/internal/circuit"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// Circuit returns the layer's RTL, which computes a word of outputs from every input word: at once, or step by step for
// a serial fold.
func (o *op) Circuit(f dataflow.Fold, t dataflow.Target) *circuit.Module {
	if f.Steps == dataflow.SerialStepEvaluation {
		m, _ := o.serial(f, t).circuit()
		return m
	}
	b := circuit.NewBuilder(t.CircuitTiming())
	always := b.ConstantNumber(1)
	word := b.AddCounter("fold", o.WordsPerVector(f), always).Index
	values := layer.ElementsOfWord(b.AddInputStream(f.PE*o.In[0].Elem.Width, always), o.In[0].Elem)
	b.AddOutputStream(circuit.PackIntoWord(o.Out[0].Elem.CodeType(), o.steps.BuildCircuit(b, f, word, values)...),
		always)
	return b.FinishLayer()
}

// circuit returns the RTL of the serial search, which keeps a word and the places of its searches. It also returns the
// clocks of a step, from reading a place to computing the next. That number does not depend on s.clocks.
func (s *serial) circuit() (m *circuit.Module, clocks int) {
	b := circuit.NewBuilder(s.target.CircuitTiming())
	always := b.ConstantNumber(1)
	call := b.AddCounter("call", s.calls, always)
	step := b.AddRegister("phase", 0, num.Range{Hi: int64(s.clocks)}).WithResetValue(0)
	begins := b.BuildWithoutStageLimit(func() circuit.Value {
		again := circuit.AnyHolds(call.Last, circuit.IsEqual(step.ValueBefore(), b.ConstantNumber(int64(s.clocks-1))))
		next := circuit.MuxByCondition(again, b.ConstantNumber(0), circuit.SumOfTwo(step.ValueBefore(), always))
		step.SetNext(circuit.AssumeRange(next, step.ValueBefore().Range()), always)
		return circuit.IsEqual(step.ValueBefore(), b.ConstantNumber(0))
	})
	word := b.AddCounter("fold", s.WordsPerVector(s.fold), call.Last).Index

	// The kept values lie at stage 1, because everything that they depend on comes from registers.
	elem := s.In[0].Elem
	x := b.AddInputStream(s.fold.PE*elem.Width, call.First).AtStage(1)
	first := call.First
	if s.calls > 1 {
		first = first.AtStage(1)
		kept := b.AddWordRegister("kept", 1, x.Width())
		kept.SetNext(x, first)
		x = circuit.MuxByCondition(first, x, kept.ValueBefore())
	}
	search := s.form.NewCircuit(b)
	codes := make([]circuit.Value, s.fold.PE)
	for pe, v := range layer.ElementsOfWord(x, elem) {
		place := b.AddRegister(fmt.Sprint("place", pe), 1, search.PlaceType().Range())
		next := search.NextPlace(pe, word, circuit.MuxByCondition(first, always, place.ValueBefore()), v)
		clocks = max(clocks, place.SetNextWhenAvailable(next, begins))
		codes[pe] = search.CodeAtFinalPlace(pe, word, next)
	}
	b.AddOutputStream(circuit.PackIntoWord(s.Out[0].Elem.CodeType(), codes...), call.Last)
	return b.FinishLayer(), clocks
}
