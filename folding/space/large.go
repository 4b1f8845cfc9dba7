package space

import (
	"hlsgen/internal/dataflow"
)

// spareLarge leaves out the options among now with large tables in LUTs (dataflow.LargeLUTTablesOf), if the same fold
// with its tables in block RAM is an option.
func (l *LayerFoldOptions) spareLarge(now func(*FoldOption) bool) {
	inBlocks := map[dataflow.Fold]bool{}
	for i := range l.Options {
		if o := &l.Options[i]; o.Fold.Memory == dataflow.MemoryBRAM && now(o) && !o.left {
			inBlocks[o.Fold] = true
		}
	}
	for i := range l.Options {
		o := &l.Options[i]
		f := o.Fold
		if f.Memory = dataflow.MemoryBRAM; o.Fold.Memory != dataflow.MemoryLUTRAM || !inBlocks[f] || !now(o) || o.left {
			continue
		}
		// A table has at most one row per iteration of a frame.
		if o.clocks > dataflow.MaxLUTTableRows && len(dataflow.LargeLUTTablesOf(l.Node.Op, l.single(o.Fold))) > 0 {
			o.left = true
			l.large = append(l.large, o.clocks)
		}
	}
}
