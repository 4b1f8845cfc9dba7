package space

import (
	"slices"

	"hlsgen/internal/dataflow"
)

// spareLarge leaves out folds that have large tables in LUTs (dataflow.Large), where the same fold may have them in
// block RAM.
func (l *LayerOptions) spareLarge() {
	inBlocks := map[dataflow.Fold]bool{}
	for _, o := range l.Options {
		if o.Fold.Memory == dataflow.BRAM {
			inBlocks[o.Fold] = true
		}
	}
	l.Options = slices.DeleteFunc(l.Options, func(o Option) bool {
		f, clocks := o.Fold, l.Classes[o.Class].Clocks
		if f.Memory = dataflow.BRAM; o.Fold.Memory != dataflow.LUTRAM || !inBlocks[f] {
			return false
		}
		if clocks <= dataflow.LargeTable || len(dataflow.Large(l.Node.Op, l.single(o.Fold))) == 0 {
			return false // a table has no more rows than a frame has iterations
		}
		l.large = append(l.large, clocks)
		return true
	})
}

// Large returns how many folds of at most so many clocks a space leaves out for large tables in LUTs.
func Large(s *Space, clocks int) int {
	return leftOut(s, clocks, func(l *LayerOptions) []int { return l.large })
}

// leftOut counts the folds of some list of each layer that take at most so many clocks.
func leftOut(s *Space, clocks int, list func(l *LayerOptions) []int) (n int) {
	for i := range s.Layers {
		for _, iterations := range list(&s.Layers[i]) {
			if iterations <= clocks {
				n++
			}
		}
	}
	return n
}
