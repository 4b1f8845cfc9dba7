package layer

import (
	"hlsgen/internal/dataflow"
)

// FoldChoices are the choices that a layer offers, each in the order of its folds. A nil list offers no choice, and a
// nil Fits allows all.
type FoldChoices struct {
	PE, SIMD []int
	Fits     func(dataflow.Fold) bool              // checks PE, SIMD and steps against the limits of Vitis HLS
	Memory   func(dataflow.Fold) []dataflow.Memory // memories to choose from at PE, SIMD and steps
	Compute  []dataflow.MultiplierKind
	Steps    []dataflow.StepEvaluation
}

// AllFolds yields every fold that fits. PE varies slowest, then SIMD, the step functions, the memory, and the kind of
// multiplier.
func (c FoldChoices) AllFolds() dataflow.FoldIterator {
	one := []int{1}
	return func(yield func(dataflow.Fold) bool) {
		for _, pe := range or(c.PE, one) {
			for _, simd := range or(c.SIMD, one) {
				for _, steps := range or(c.Steps, []dataflow.StepEvaluation{dataflow.NoStepEvaluation}) {
					if !c.of(dataflow.Fold{PE: pe, SIMD: simd, Steps: steps}, yield) {
						return
					}
				}
			}
		}
	}
}

// of yields the folds that differ from f only in memory and multiplier, if f fits. It returns false if yield does,
// which ends the iteration.
func (c FoldChoices) of(f dataflow.Fold, yield func(dataflow.Fold) bool) bool {
	if c.Fits != nil && !c.Fits(f) {
		return true
	}
	memories := []dataflow.Memory{dataflow.NoMemory}
	if c.Memory != nil {
		memories = c.Memory(f)
	}
	for _, f.Memory = range memories {
		for _, f.Compute = range or(c.Compute, []dataflow.MultiplierKind{dataflow.NoMultiplier}) {
			if !yield(f) {
				return false
			}
		}
	}
	return true
}

func or[T any](list, other []T) []T {
	if list == nil {
		return other
	}
	return list
}

// MultiplierChoices returns both kinds of multipliers to choose from, or nil if none is needed.
func MultiplierChoices(needed bool) []dataflow.MultiplierKind {
	if needed {
		return []dataflow.MultiplierKind{dataflow.MultiplierInLUTs, dataflow.MultiplierInDSPs}
	}
	return nil
}

// PortsOf returns the word formats of streams of the given types, with n elements per word.
func PortsOf(types []dataflow.StreamType, n int) []dataflow.Port {
	ports := make([]dataflow.Port, len(types))
	for i, t := range types {
		ports[i] = t.RowMajorPort(n)
	}
	return ports
}

// widest returns the width in bits of the widest element of all types, or 0 if there are none.
func widest(lists ...[]dataflow.StreamType) (width int) {
	for _, types := range lists {
		for _, t := range types {
			width = max(width, t.Elem.Width)
		}
	}
	return width
}

// NewWindowsLoop returns the loop of layers that make an output word from several input words, for each part of every
// window:
//
//	for w < windows: for n < parts: for k < words: one clock
//
// Every iteration reads a word; the last iteration of a part writes one.
func NewWindowsLoop(windows, parts, words, latency int) dataflow.Loop {
	each, last := dataflow.IndexSet{Kind: dataflow.IndexSetKindEvery},
		dataflow.IndexSet{Kind: dataflow.IndexSetKindLast}
	return dataflow.LoopNest{
		Trips:   []int{windows, parts, words},
		Read:    []dataflow.PortMoveIndices{{each, each, each}},
		Write:   []dataflow.PortMoveIndices{{each, each, last}},
		Latency: latency,
	}.AsLoop()
}
