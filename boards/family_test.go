package boards_test

import (
	"testing"

	"hlsgen/boards"
)

// TestFamilyRows checks that every row has what the prices, the timing and the tools need, and has boards.
func TestFamilyRows(t *testing.T) {
	t.Parallel()
	has := map[boards.Family]bool{}
	for _, b := range boards.AllBoards() {
		has[b.Family] = true
	}
	for _, f := range boards.Families {
		if name := boards.Family(f.Name); name.Row() != f || name == boards.FamilyAMD || !has[name] {
			t.Errorf("%q is not the name of one family, or has no board", f.Name)
		}
		l := &f.Logic
		if l.Inputs != 4 || l.WideInputs < l.Inputs || l.LUTDelayPS <= 0 || l.CarryDelayPS <= 0 ||
			len(l.CellLUTs) != 11 {
			t.Errorf("%s: logic %+v", f.Name, l)
		}
		if f.Block.Kbit <= 0 || f.Block.WriteGroup <= 0 || len(f.Block.Shapes) == 0 || f.DSP.Wide < f.DSP.Narrow {
			t.Errorf("%s: memory %+v, multiplier %+v", f.Name, f.Block, f.DSP)
		}
		for _, s := range f.Block.Shapes {
			if bits := s[0] * s[1]; bits > f.Block.Kbit<<10 || bits < f.Block.Kbit<<10*8/9 {
				t.Errorf("%s: a block of %d Kbit is %d by %d bits", f.Name, f.Block.Kbit, s[0], s[1])
			}
		}
	}
}
