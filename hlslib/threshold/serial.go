package threshold

import (
	"hlsgen/hlslib/layer"
	"hlsgen/hlslib/price/delay"
	"hlsgen/hlslib/steps"
	"hlsgen/internal/dataflow"
)

// A serial layer searches for the codes of a word step by step, with one comparison per step in each of its PE
// channels. The threshold of a step depends on the comparison before, so a step takes several clocks. A call is one
// clock. The last step takes one clock, because nothing but the output waits for it.
type serial struct {
	*op
	fold   dataflow.Fold
	target dataflow.Target
	form   *steps.SerialSearch
	clocks int // clocks per step
	calls  int // calls per word
}

func (o *op) serial(f dataflow.Fold, t dataflow.Target) *serial {
	s := &serial{op: o, fold: f, target: t, form: o.steps.SerialSearchFor(f)}
	t.Bound = delay.DelayRangeExpected // the C++ keeps this number, whatever synthesis achieves
	c := layer.NewCarriedChain(t)
	c.DoSelect(s.form.ComparisonsPerValue()) // the first place, or the place found before
	c.DoMemoryRead(s.form.RowsPerLane(), s.form.ThresholdBits(), f.Memory)
	c.DoOp(delay.OpCompare, s.form.ThresholdBits())
	c.DoOp(delay.OpHoldMux, 1)
	s.take(c.LatencyClocks())
	if t.Backend.Rate == dataflow.RateFromCircuit { // the circuit determines the number
		_, clocks := s.circuit()
		s.take(clocks)
	}
	return s
}

// take sets the clocks per step of the search, and the calls per word that follow from it.
func (s *serial) take(clocks int) {
	s.clocks, s.calls = clocks, (s.form.ComparisonsPerValue()-1)*clocks+1
}

// orSerial makes c choose between parallel and serial step functions. Folds with NoStepEvaluation become parallel;
// serial ones are added for every PE whose tables fit into LUTs or block RAM. Call it only if the functions can be
// searched serially with PE 1.
func (o *op) orSerial(c *layer.FoldChoices) {
	fits, memory := c.Fits, c.Memory
	c.Steps = []dataflow.StepEvaluation{dataflow.ParallelStepEvaluation, dataflow.SerialStepEvaluation}
	c.Fits = func(f dataflow.Fold) bool {
		if f.Steps == dataflow.SerialStepEvaluation && !o.steps.CanSearchSerially(f) {
			return false
		}
		return fits(f)
	}
	c.Memory = func(f dataflow.Fold) []dataflow.Memory {
		if f.Steps == dataflow.SerialStepEvaluation {
			return []dataflow.Memory{dataflow.MemoryLUTRAM, dataflow.MemoryBRAM}
		}
		return memory(f)
	}
}

// loop returns the loop over the calls of every word. The first call reads the word, and the last writes its codes. In
// HLS the latency is that of one call, in RTL the circuit's.
func (s *serial) loop() dataflow.Loop {
	c := layer.NewIterationChain(s.target)
	c.DoConditionalStreamRead()
	c.DoSelect(s.form.ComparisonsPerValue())
	c.DoMemoryRead(s.form.RowsPerLane(), s.form.ThresholdBits(), s.fold.Memory)
	c.DoOp(delay.OpCompare, s.form.ThresholdBits())
	if codes := s.codes(); s.form.HasCodeTable() {
		c.DoMemoryRead(codes.Rows, codes.Width, codes.In)
	} else {
		c.DoCounterLookup(codes.Rows, codes.Width, codes.In)
		c.DoOp(delay.OpAdd, s.Out[0].Elem.Width)
	}
	each, first, last := dataflow.IndexSet{Kind: dataflow.IndexSetKindEvery},
		dataflow.IndexSet{Kind: dataflow.IndexSetKindFirst},
		dataflow.IndexSet{Kind: dataflow.IndexSetKindLast}
	return layer.LoopWithBackEndLatency(s.op, s.fold, s.target, dataflow.LoopNest{
		Trips:   []int{s.Vectors, s.WordsPerVector(s.fold), s.calls},
		Read:    []dataflow.PortMoveIndices{{each, each, first}},
		Write:   []dataflow.PortMoveIndices{{each, each, last}},
		Latency: c.DoStreamWrite(),
	}.AsLoop())
}

// codes returns the memory of codes, by the result of a search. It has no rows if codes are computed from counts.
func (s *serial) codes() dataflow.Storage {
	for _, m := range s.form.Storage() {
		if m.Name == "codes" {
			return m
		}
	}
	return dataflow.Storage{}
}

// storage returns the memories of the layer's tables, and that of the searches' places between two steps.
func (s *serial) storage() []dataflow.Storage {
	found := dataflow.NewArrayStorage("found", "places", s.clocks, s.fold.PE*s.form.ComparisonsPerValue())
	if found = found.MovedToMemory(dataflow.MemoryLUTRAM).MovedToShiftRegisters(); s.clocks == 2 {
		found.In = dataflow.MemoryRegisters
	}
	return append(s.form.Storage(), found)
}

func (s *serial) emit() dataflow.KernelInstance {
	return dataflow.KernelInstance{
		Header:  "threshold.hpp",
		Func:    "threshold_serial",
		Streams: []string{"in_t", "in_width", "out_t", "out_width"},
		Config: append([]dataflow.ConfigField{
			{Name: "pe", Doc: "channels computed side by side", Value: s.fold.PE},
			{Name: "calls", Doc: "calls per word", Value: s.calls},
		}, s.form.ConfigFields()...),
		Tables:  s.form.Tables(),
		Storage: s.storage(),
	}
}

// A searching is the kernel of a serial fold. It holds the word that it works on, the word's number in the vector, and
// the place that each channel's search has reached.
type searching struct {
	*serial
	word, next int
	values     dataflow.Word
	places     []int
}

func (s *serial) kernel() dataflow.Kernel {
	return &searching{serial: s, places: make([]int, s.fold.PE)}
}

func (k *searching) Step(iteration int, in []dataflow.Word) []dataflow.Word {
	call := iteration % k.calls
	if call == 0 {
		k.values, k.word = append(k.values[:0], in[0]...), k.next
		k.next = (k.next + 1) % k.WordsPerVector(k.fold)
		for pe := range k.places {
			k.places[pe] = 1
		}
	}
	if call%k.clocks == 0 {
		for pe, v := range k.values {
			k.places[pe] = k.form.NextPlace(k.function(pe), k.places[pe], v)
		}
	}
	if call < k.calls-1 {
		return []dataflow.Word{nil}
	}
	codes := make(dataflow.Word, k.fold.PE)
	for pe, place := range k.places {
		codes[pe] = k.steps.OutputOfCode(k.form.CodeAtFinalPlace(k.function(pe), place))
	}
	return []dataflow.Word{codes}
}

// function returns the index of the step function that channel pe of the word applies.
func (k *searching) function(pe int) int { return k.steps.BuiltFunctionIndex(k.word*k.fold.PE + pe) }
