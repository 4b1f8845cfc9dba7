package space

import (
	"slices"

	"hlsgen/internal/dataflow"
)

// spareLarge removes folds with large tables in LUTs (dataflow.LargeLUTTablesOf) if the same fold with its tables in
// block RAM is an option.
func (l *LayerFoldOptions) spareLarge() {
	inBlocks := map[dataflow.Fold]bool{}
	for _, o := range l.Options {
		if o.Fold.Memory == dataflow.MemoryBRAM {
			inBlocks[o.Fold] = true
		}
	}
	l.Options = slices.DeleteFunc(l.Options, func(o FoldOption) bool {
		f, clocks := o.Fold, l.Classes[o.Class].Clocks
		if f.Memory = dataflow.MemoryBRAM; o.Fold.Memory != dataflow.MemoryLUTRAM || !inBlocks[f] {
			return false
		}
		if clocks <= dataflow.MaxLUTTableRows || len(dataflow.LargeLUTTablesOf(l.Node.Op, l.single(o.Fold))) == 0 {
			return false // no table is large, because a table has at most one row per iteration of a frame
		}
		l.large = append(l.large, clocks)
		return true
	})
}

// CountOmittedLargeTableFolds returns the number of folds of at most the given clocks that the space left out because
// of large tables in LUTs.
func CountOmittedLargeTableFolds(s *FoldingSpace, clocks int) int {
	return leftOut(s, clocks, func(l *LayerFoldOptions) []int { return l.large })
}

// leftOut counts the entries of at most the given clocks in a list of each layer.
func leftOut(s *FoldingSpace, clocks int, list func(l *LayerFoldOptions) []int) (n int) {
	for i := range s.Layers {
		for _, iterations := range list(&s.Layers[i]) {
			if iterations <= clocks {
				n++
			}
		}
	}
	return n
}
