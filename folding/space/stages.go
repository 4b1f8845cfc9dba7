package space

import (
	"hlsgen/hlslib/threshold"
	"hlsgen/internal/dataflow"
)

// A layer's step functions may be a process of their own. It searches for a word's codes one bit at a time, while the
// layer makes the next sums. If the search takes no longer than the sums, the two processes take as many iterations as
// one, and only the latency grows, by a constant.

// A stages describes a layer as two processes: sums, which is nil if the layer cannot be divided so, and what follows
// them.
type stages struct {
	sums, steps dataflow.Op
	mid, out    dataflow.StreamType
	alone       map[dataflow.Fold]bool // the folds of sums
	searched    map[int]*searched      // the serial folds of steps, by PE
}

func stagesOf(n *dataflow.Node, out dataflow.StreamType) (s stages) {
	a, ok := n.Op.(dataflow.HasStepFunctions)
	if !ok {
		return s
	}
	sums, mid, list, ok := a.Sums()
	if !ok {
		return s
	}
	steps, types, err := threshold.New(threshold.Params{Steps: list}).Bind([]dataflow.StreamType{mid})
	if err != nil || !types[0].Equal(out) {
		return s
	}
	s = stages{sums, steps, mid, out, map[dataflow.Fold]bool{}, map[int]*searched{}}
	for f := range sums.Folds() {
		s.alone[f] = true
	}
	for f := range steps.Folds() {
		if f.Steps == dataflow.SerialStepEvaluation && f.Memory == dataflow.MemoryBRAM {
			s.searched[f.PE] = &searched{fold: f}
		}
	}
	return s
}

// A searched is the serial fold of a layer's step functions for one PE, with its loop and cost once they are computed.
type searched struct {
	fold  dataflow.Fold
	loop  dataflow.Loop
	cost  dataflow.Resources
	asked bool
}

func (s *searched) of(op dataflow.Op, t dataflow.Target) *searched {
	if !s.asked {
		s.loop, s.cost, s.asked = op.Loop(s.fold, t), op.Cost(s.fold, t).Total(), true
	}
	return s
}

// serial reports whether the layer has the fold f with serial step functions, whose thresholds lie in block RAM, as two
// processes. In LUTs it would save hardly anything. It returns the port between the two. loop has the moves of f as one
// process.
func (s *splitter) serial(f dataflow.Fold, loop dataflow.Loop) (between dataflow.Port, ok bool) {
	st := &s.stages
	steps := st.searched[f.PE]
	if steps == nil || !st.alone[f] || s.Target.MinProcesses(s.node.Op, f) != 1 {
		return between, false
	}
	steps.of(st.steps, s.Target)
	if steps.loop.IterationsPerFrame()/steps.loop.WordsWritten(0) > loop.IterationsPerFrame()/loop.WordsWritten(0) {
		return between, false
	}
	_, ports := st.sums.Ports(f)
	return ports[0], true
}

// chained returns the fold f with serial step functions, which the layer must have.
func (s *splitter) chained(f dataflow.Fold) pricedFold {
	st := &s.stages
	steps := st.searched[f.PE]
	made := &split{chain: true, loop: st.sums.Loop(f, s.prices)}
	made.nodes = []piece{{part: "sums", op: st.sums, fold: f, out: []dataflow.StreamType{st.mid}},
		{part: "steps", op: st.steps, fold: steps.fold, out: []dataflow.StreamType{st.out}}}
	_, ports := st.sums.Ports(f)
	made.inner = []inner{innerOf(s.Target, ports[0], made.loop)}
	made.loop.Latency += steps.loop.IterationOfWrite(0, 0) + steps.loop.Latency
	return pricedFold{made, made.loop, st.sums.Cost(f, s.prices).Total().Plus(steps.cost)}
}

// single returns the fold as the layer itself has it, if the space splits off its step functions.
func (l *LayerFoldOptions) single(f dataflow.Fold) dataflow.Fold {
	if l.staged {
		f.Steps = dataflow.NoStepEvaluation
	}
	return f
}

// FoldFilter selects which serial folds, and which folds with large tables in LUTs, a space offers.
type FoldFilter uint8

// The values of FoldFilter.
const (
	FoldFilterAll FoldFilter = iota // all folds that the device can build
	// FoldFilterWorthwhile leaves out those that cost too much block RAM (MaxBRAMPerSavedLUTShare), and large tables in
	// LUTs.
	FoldFilterWorthwhile
)

// MaxBRAMPerSavedLUTShare limits the block RAM of a serial fold. Its share of the board's block RAM may be at most
// MaxBRAMPerSavedLUTShare times the share of LUTs that it saves. With more expensive folds, a search that runs out of
// effort finds worse designs. The value is a guess from searches of a few networks.
const MaxBRAMPerSavedLUTShare = 2

// pair gives each serial option the one with parallel step functions that it has to beat, if there is one.
func (l *LayerFoldOptions) pair() {
	for i := 1; i < len(l.Options); i++ {
		o, before := &l.Options[i], &l.Options[i-1]
		if o.inside != nil && l.single(before.Fold) == l.single(o.Fold) {
			other := *before // it may move in the list
			o.parallel = &other
		}
	}
}
