package space

import (
	"fmt"
	"slices"
	"testing"

	"hlsgen/boards"
	"hlsgen/folding/goal"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
	"hlsgen/internal/testsupport/tier"
)

// TestDeeper checks an assumption of the search's bounds: a deeper FIFO costs no less than one of few words in LUTs.
// The exception is a FIFO in block RAM that saves logic; without any such FIFO, bounds cover all designs.
func TestDeeper(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	widths := []int{1, 7, 9, 36, 73, 288}
	words := []int{3, 8, 9, 32, 33, 65, 513, 1025}
	saved := 0
	for _, name := range []string{"zcu104", "pynq-z1", "alveo-u250", "icebreaker", "ulx3s"} {
		b, err := boards.FindBoard(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, backend := range []dataflow.Backend{dataflow.BackendHLS, dataflow.BackendRTL} {
			for _, width := range widths {
				target := dataflow.Target{Board: b, ClockMHz: 50, Backend: backend}
				j := &joints{target: target, worthwhile: true, board: goal.BudgetOfBoard(b, goal.NewUniformMaxUse(1))}
				p := dataflow.Port{Elem: num.Type{Kind: num.KindUInt, Width: width}, PerWord: 1, Words: 10_000}
				saves := j.saves(p)
				if saves {
					saved++
				}
				few := j.ways(fifoKind{words: fewest}, p)
				for _, n := range words {
					for _, w := range j.ways(fifoKind{words: n}, p) {
						beaten := slices.ContainsFunc(few, func(o way) bool { return o.cost.IsWithin(&w.cost) })
						inBlocks := w.Memory == dataflow.MemoryBRAM || w.Memory == dataflow.MemoryURAM
						if !beaten && !(saves && inBlocks) {
							t.Errorf("%s of %d words of %d bits, %v: %v in %v takes less than few words: %v",
								name, n, width, backend.Name, w.cost, w.Memory, fmt.Sprint(few))
						}
					}
				}
			}
		}
	}
	if saved == 0 {
		t.Error("no FIFO saves logic in block RAM")
	}
}
