package layer

import (
	"hlsgen/internal/dataflow"
)

// Folds are the choices that a layer offers, each in the order of its folds. A nil list offers no choice, and a nil
// Fits allows all.
type Folds struct {
	PE, SIMD []int
	Fits     func(dataflow.Fold) bool              // checks PE, SIMD and steps against the limits of Vitis HLS
	Memory   func(dataflow.Fold) []dataflow.Memory // memories to choose from at PE, SIMD and steps
	Compute  []dataflow.Compute
	Steps    []dataflow.Stepping
}

// All yields every fold that fits. PE varies slowest, then SIMD, the step functions, the memory, and the kind of
// multiplier.
func (c Folds) All() dataflow.Folds {
	one := []int{1}
	return func(yield func(dataflow.Fold) bool) {
		for _, pe := range or(c.PE, one) {
			for _, simd := range or(c.SIMD, one) {
				for _, steps := range or(c.Steps, []dataflow.Stepping{dataflow.NoStepping}) {
					if !c.of(dataflow.Fold{PE: pe, SIMD: simd, Steps: steps}, yield) {
						return
					}
				}
			}
		}
	}
}

// of yields the folds that differ from f only in memory and multiplier, if f fits. It returns false if yield does, to
// end the iteration.
func (c Folds) of(f dataflow.Fold, yield func(dataflow.Fold) bool) bool {
	if c.Fits != nil && !c.Fits(f) {
		return true
	}
	memories := []dataflow.Memory{dataflow.NoMemory}
	if c.Memory != nil {
		memories = c.Memory(f)
	}
	for _, f.Memory = range memories {
		for _, f.Compute = range or(c.Compute, []dataflow.Compute{dataflow.NoCompute}) {
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

// Multipliers returns both kinds of multipliers to choose from, or nil if none is needed.
func Multipliers(needed bool) []dataflow.Compute {
	if needed {
		return []dataflow.Compute{dataflow.ComputeInLUTs, dataflow.ComputeInDSPs}
	}
	return nil
}

// Ports returns the word formats of streams of the given types, with n elements per word.
func Ports(types []dataflow.StreamType, n int) []dataflow.Port {
	ports := make([]dataflow.Port, len(types))
	for i, t := range types {
		ports[i] = t.Port(n)
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

// WindowsLoop returns the loop of layers that make an output word from several input words, for each part of every
// window:
//
//	for w < windows: for n < parts: for k < words: one clock
//
// Every iteration reads a word; the last iteration of a part writes one.
func WindowsLoop(windows, parts, words, latency int) dataflow.Loop {
	each, last := dataflow.IndexSet{Kind: dataflow.EveryIndex}, dataflow.IndexSet{Kind: dataflow.LastIndex}
	return dataflow.LoopNest{
		Trips:   []int{windows, parts, words},
		Read:    []dataflow.PortIndices{{each, each, each}},
		Write:   []dataflow.PortIndices{{each, each, last}},
		Latency: latency,
	}.Loop()
}
