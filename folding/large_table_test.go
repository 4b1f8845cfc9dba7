package folding

import (
	"math/rand/v2"
	"strings"
	"testing"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
)

// TestLargeTables asks for designs so slow that they have tables of thousands of rows. These lie in block RAM, even if
// LUTs would be the least load, unless a file asks for LUTs or there is no block RAM. Then a warning names levels of
// logic and a clock.
func TestLargeTables(t *testing.T) {
	t.Parallel()
	m := mlp(rand.New(rand.NewPCG(36, 15)), int8Type, 8, 4, 128, 96, 10)
	target := dataflow.Target{Board: board("zcu104"), ClockMHz: 200, IO: dataflow.HostIOStream}
	none := DefaultMaxUseFractions
	none.BRAM, none.URAM = 0, 0
	narrow := file(t, `{"MVAU_0": {"PE": 1, "SIMD": 1}}`)
	for _, tt := range []struct {
		name string
		goal Goal
		in   dataflow.Memory
	}{
		{"there is block RAM", Goal{Fixed: narrow}, dataflow.MemoryBRAM},
		{"block RAM is dear", Goal{Fixed: narrow, Least: ResourceMeasureBRAM}, dataflow.MemoryBRAM},
		{"no block RAM", Goal{Fixed: narrow, MaxUse: none}, dataflow.MemoryLUTRAM},
		{"a file asks", Goal{Fixed: file(t, `{"MVAU_0": {"PE": 1, "SIMD": 1, "ram_style": "distributed"}}`)},
			dataflow.MemoryLUTRAM},
	} {
		d, told := designed(t, m, target, tt.goal)
		if d == nil {
			t.Errorf("%s: %s", tt.name, text(told))
			continue
		}
		large, in := 0, map[dataflow.Memory]int{}
		for i, n := range d.Model.Graph.Nodes {
			large += len(dataflow.LargeLUTTablesOf(n.Op, d.Folds[i]))
			if storage := n.Op.Describe().Storage; storage != nil {
				for _, table := range storage(d.Folds[i]) {
					if table.Rows > dataflow.MaxLUTTableRows {
						in[table.In]++
					}
				}
			}
		}
		said := 0
		for _, x := range told.Diags {
			if x.Code == diag.LargeTableInLUTs && strings.Contains(x.Msg,
				"12,288 rows of 8 bits lies in LUTs, 4 levels") {
				said++
			}
		}
		if in[tt.in] == 0 || len(in) > 1 || said != large || (large > 0) != (tt.in == dataflow.MemoryLUTRAM) {
			t.Errorf("%s: tables in %v, %d are large, %s", tt.name, in, large, text(told))
		}
	}
}
