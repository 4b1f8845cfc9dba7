package space

import (
	"slices"

	"hlsgen/boards"
	"hlsgen/folding/ask"
	"hlsgen/folding/search"
	"hlsgen/hlslib/threshold"
	"hlsgen/internal/dataflow"
)

// A layer's step functions may be a process of their own, which searches for a word's codes step by step while the next
// sums are made: where that takes no longer than these, the two have the iterations of the one, and the layer's words
// come later by always as many clocks.

// stages is a layer as two processes; sums is nil where it is none.
type stages struct {
	sums, steps dataflow.Op
	mid, out    dataflow.Type
	alone       map[dataflow.Fold]bool // of the sums
	searched    map[int]*searched      // of the step functions, by PE
}

func stagesOf(n *dataflow.Node, out dataflow.Type) (s stages) {
	a, ok := n.Op.(dataflow.Activated)
	if !ok {
		return s
	}
	sums, mid, list, ok := a.Sums()
	if !ok {
		return s
	}
	steps, types, err := threshold.New(threshold.Params{Steps: list}).Bind([]dataflow.Type{mid})
	if err != nil || !types[0].Equal(out) {
		return s
	}
	s = stages{sums, steps, mid, out, map[dataflow.Fold]bool{}, map[int]*searched{}}
	for f := range sums.Folds() {
		s.alone[f] = true
	}
	for f := range steps.Folds() {
		if f.Steps == dataflow.Serial && f.Memory == dataflow.BRAM {
			s.searched[f.PE] = &searched{fold: f}
		}
	}
	return s
}

// A searched is the fold of a layer of step functions alone, of a PE.
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

// serial is a fold of the layer whose step functions are Serial, with thresholds in block RAM: in LUTs, where most of
// what they take are the thresholds, a search with a memory for each step takes hardly more. loop is the fold's as one
// process.
func (s *splitter) serial(f dataflow.Fold, loop dataflow.Loop) (*split, search.Vector, bool) {
	st := &s.stages
	steps := st.searched[f.PE]
	if steps == nil || !st.alone[f] || s.Target.Parts(s.node.Op, f) != 1 {
		return nil, search.Vector{}, false
	}
	steps.of(st.steps, s.Target)
	if steps.loop.Iterations()/steps.loop.Writes(0) > loop.Iterations()/loop.Writes(0) {
		return nil, search.Vector{}, false
	}
	made := &split{chain: true, loop: st.sums.Loop(f, s.Target)}
	made.nodes = []piece{{part: "sums", op: st.sums, fold: f, out: []dataflow.Type{st.mid}},
		{part: "steps", op: st.steps, fold: steps.fold, out: []dataflow.Type{st.out}}}
	_, ports := st.sums.Ports(f)
	made.inner = []inner{innerOf(s.Target, ports[0], made.loop)}
	made.loop.Latency += steps.loop.WriteAt(0, 0) + steps.loop.Latency
	sum := st.sums.Cost(f, s.Target).Total().Plus(steps.cost)
	return made, s.Board.Vector(sum), ask.Available(sum, s.Target.Board)
}

// single is a fold as a layer has it that is one process.
func (l *LayerOptions) single(f dataflow.Fold) dataflow.Fold {
	if l.staged {
		f.Steps = dataflow.NoStepping
	}
	return f
}

// Serial says which serial folds are a choice, and which folds with large tables.
type Serial uint8

// The choices.
const (
	Any        Serial = iota // all that the device can build
	Worthwhile               // of these, what is not dear in block RAM (Dearest), without large tables in LUTs
)

// Dearest is how many times the share of the board's LUTs that a serial fold saves may be its share of block RAM. What
// costs more is dear: a search that is cut would find worse designs for having it. A guess, by searches of a few
// networks.
const Dearest = 2

// spare leaves out serial folds that save too little.
func (l *LayerOptions) spare(b boards.Board) {
	have := ask.Capacity(b)
	var kept []Option
	for i, o := range l.Options {
		if o.split != nil && o.split.chain && i > 0 && l.single(l.Options[i-1].Fold) == l.single(o.Fold) {
			saved := l.Options[i-1].Cost.Minus(o.Cost)
			if saved[ask.LUT] <= 0 || -saved[ask.BRAM]*int64(have.LUT) > Dearest*saved[ask.LUT]*int64(have.BRAM) {
				if slices.ContainsFunc(saved[:], func(amount int64) bool { return amount > 0 }) {
					l.dear = append(l.dear, l.Classes[o.Class].Clocks)
				}
				continue
			}
		}
		kept = append(kept, o)
	}
	l.Options = kept
}

// Dear is how many serial folds of at most so many clocks a space leaves out though they save something.
func Dear(s *Space, clocks int) int {
	return leftOut(s, clocks, func(l *LayerOptions) []int { return l.dear })
}
