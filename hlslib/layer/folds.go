package layer

import (
	"hlsgen/internal/dataflow"
)

// Folds are the choices of a layer, each in the order in which its folds come. What is nil is no choice.
type Folds struct {
	PE, SIMD []int
	Fits     func(dataflow.Fold) bool              // holds PE, SIMD and Steps against what Vitis HLS accepts
	Memory   func(dataflow.Fold) []dataflow.Memory // to choose from at PE, SIMD and Steps
	Compute  []dataflow.Compute
	Steps    []dataflow.Stepping
}

// All yields every fold, PE outermost, then SIMD, how step functions are computed, the memory and what multiplies.
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

// of yields the folds that are like f but for the memory and what multiplies, if there are any.
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

// Multipliers are what may multiply, where anything does.
func Multipliers(needed bool) []dataflow.Compute {
	if needed {
		return []dataflow.Compute{dataflow.LUT, dataflow.DSP}
	}
	return nil
}

// Ports is every type in words of n elements.
func Ports(types []dataflow.Type, n int) []dataflow.Port {
	ports := make([]dataflow.Port, len(types))
	for i, t := range types {
		ports[i] = t.Port(n)
	}
	return ports
}

// widest is the bits of the widest element.
func widest(lists ...[]dataflow.Type) (width int) {
	for _, types := range lists {
		for _, t := range types {
			width = max(width, t.Elem.Width)
		}
	}
	return width
}

// Windows is the loop of layers that make an output word of several input words, for each part of every window:
//
//	for w < windows: for n < parts: for k < words: one clock
//
// Every iteration reads a word, the last of a part writes one.
func Windows(windows, parts, words, latency int) dataflow.Loop {
	each, last := dataflow.Index{Kind: dataflow.Each}, dataflow.Index{Kind: dataflow.Last}
	return dataflow.Nest{
		Trips:   []int{windows, parts, words},
		Read:    []dataflow.Access{{each, each, each}},
		Write:   []dataflow.Access{{each, each, last}},
		Latency: latency,
	}.Loop()
}
