package threshold

import (
	"math/bits"

	"hlsgen/hlslib/delay"
	"hlsgen/hlslib/layer"
	"hlsgen/hlslib/steps"
	"hlsgen/internal/dataflow"
)

// A serial layer searches for the codes of a word step by step, one comparison of each of its PE channels in a call.
// Which threshold comes next depends on the comparison before, so that a step takes as long as reading a memory and
// comparing: clocks. Words of a vector take turns in these, as many as there are clocks, or as divide the vector.
type serial struct {
	*op
	fold   dataflow.Fold
	target dataflow.Target
	form   *steps.Serial
	clocks int // of a step
	turns  int // words that are searched for side by side
}

func (o *op) serial(f dataflow.Fold, t dataflow.Target) *serial {
	s := &serial{op: o, fold: f, target: t, form: o.steps.Serial(f)}
	t.Bound = delay.Expected // the generated C++ has as many, however long they turn out to be
	c := layer.Body(t)
	c.Choose(s.form.Steps()) // the first place, or the one that was found
	c.Look(s.form.Rows(), s.form.Bits(), f.Memory)
	c.Do(delay.Compare, s.form.Bits())
	c.Do(delay.Keep, 1)
	s.clocks = c.Clocks()
	for s.turns = s.clocks; o.Words(f)%s.turns != 0; {
		s.turns--
	}
	return s
}

// orSerial gives every choice of PE its serial folds, too.
func (o *op) orSerial(c *layer.Folds) {
	fits, memory := c.Fits, c.Memory
	c.Steps = []dataflow.Stepping{dataflow.Parallel, dataflow.Serial}
	c.Fits = func(f dataflow.Fold) bool {
		if f.Steps == dataflow.Serial && !o.steps.HasSerial(f) {
			return false
		}
		return fits(f)
	}
	c.Memory = func(f dataflow.Fold) []dataflow.Memory {
		if f.Steps == dataflow.Serial {
			return []dataflow.Memory{dataflow.LUTRAM, dataflow.BRAM}
		}
		return memory(f)
	}
}

// loop is, for each vector, for its words in rounds of turns, for each step, for each clock of it: one call. Words are
// read in the clocks of the first step, and written in those of the last.
func (s *serial) loop() dataflow.Loop {
	c := layer.Begin(s.target)
	c.ReadWhere()
	c.Choose(s.form.Steps())
	c.Look(s.form.Rows(), s.form.Bits(), s.fold.Memory)
	c.Do(delay.Compare, s.form.Bits())
	if codes := s.codes(); s.form.Coded() {
		c.Look(codes.Rows, codes.Width, codes.In)
	} else {
		c.Fetch(codes.Rows, codes.Width, codes.In)
		c.Do(delay.Add, s.Out[0].Elem.Width)
	}
	turns := make([]byte, s.clocks)
	for i := range turns {
		turns[i] = '0'
		if i < s.turns {
			turns[i] = '1'
		}
	}
	each, turn := dataflow.Index{Kind: dataflow.Each}, dataflow.Index{Kind: dataflow.At, Pattern: string(turns)}
	return dataflow.Nest{
		Trips:   []int{s.Vectors, s.Words(s.fold) / s.turns, s.form.Steps(), s.clocks},
		Read:    []dataflow.Access{{each, each, {Kind: dataflow.First}, turn}},
		Write:   []dataflow.Access{{each, each, {Kind: dataflow.Last}, turn}},
		Latency: c.Write(),
	}.Loop()
}

// codes is the memory of codes; of no rows where counts are all there is.
func (s *serial) codes() dataflow.Storage {
	for _, m := range s.form.Storage() {
		if m.Name == "codes" {
			return m
		}
	}
	return dataflow.Storage{}
}

// storage is the tables, and the words that take turns, with what was found of them.
func (s *serial) storage() []dataflow.Storage {
	width := s.fold.PE*(s.form.Bits()+s.form.Steps()) + max(1, bits.Len(uint(s.form.Functions())))
	kept := dataflow.RAM("kept", "words in turn", s.clocks, width)
	if kept = kept.At(dataflow.LUTRAM).Shifted(); s.clocks == 2 {
		kept.In = dataflow.Registers
	}
	return append(s.form.Storage(), kept)
}

func (s *serial) emit() dataflow.Instance {
	return dataflow.Instance{
		Header:  "threshold.hpp",
		Func:    "threshold_serial",
		Streams: []string{"in_t", "in_width", "out_t", "out_width"},
		Config: append([]dataflow.Field{
			{Name: "pe", Doc: "channels searched for side by side", Value: s.fold.PE},
			{Name: "turns", Doc: "words that take turns", Value: s.turns},
		}, s.form.Fields()...),
		Tables:  s.form.Tables(),
		Storage: s.storage(),
	}
}

// A searching is the hardware's state: the words that take turns, and where their searches are.
type searching struct {
	*serial
	words  [][]int64
	places [][]int
	row    []int // of each: the word's place in its vector
	next   int   // row
}

func (s *serial) kernel() dataflow.Kernel {
	return &searching{serial: s, words: make([][]int64, s.turns), places: make([][]int, s.turns), row: make([]int,
		s.turns)}
}

func (k *searching) Step(iteration int, in []dataflow.Word) []dataflow.Word {
	turn, step := iteration%k.clocks, iteration/k.clocks%k.form.Steps()
	out := make([]dataflow.Word, 1)
	if turn >= k.turns {
		return out
	}
	if step == 0 {
		k.words[turn], k.places[turn] = append(k.words[turn][:0], in[0]...), make([]int, k.fold.PE)
		k.row[turn] = k.next
		if k.next++; k.next == k.Words(k.fold) {
			k.next = 0
		}
	}
	word := make(dataflow.Word, k.fold.PE)
	for pe, v := range k.words[turn] {
		n := k.steps.Function(k.row[turn]*k.fold.PE + pe)
		at := &k.places[turn][pe]
		if step == 0 {
			*at = 1
		}
		if *at = k.form.Next(n, *at, v); step == k.form.Steps()-1 {
			word[pe] = k.form.Code(n, *at)
		}
	}
	if step == k.form.Steps()-1 {
		out[0] = word
	}
	return out
}
