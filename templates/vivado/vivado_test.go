package vivado_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"hlsgen/internal/tier"
	"hlsgen/templates/vivado"
)

// TestBitstream has a stand-in for Vivado carry out all that is written for a board with a PS: no command is unknown to
// it, the block design is whole, and it is the one that the driver and the budget take it for.
func TestBitstream(t *testing.T) {
	t.Parallel()
	tier.Needs(t, "tclsh", "make", "sh")
	cases := []struct {
		board, model string
		flow         vivado.Flow
		sequences    bool // of different lengths
	}{
		{"zcu104", "digits-mlp-w2a2", vivado.HLS, false},
		{"pynq-z1", "bilstm-h32-w4a4", vivado.HLS, true},
		{"kv260", "digits-cnn-w4a4", vivado.HLS, false},
	}
	for _, board := range []string{"zcu104", "pynq-z1", "kv260"} {
		for _, model := range []string{"digits-mlp-w2a2", "digits-cnn-w4a4", "digits-resnet-w4a4", "bilstm-h32-w4a4"} {
			c := cases[0]
			c.board, c.model = board, model
			cases = append(cases, c)
		}
	}
	rtl := cases[0]
	rtl.flow = vivado.RTL
	cases = append(cases, rtl)
	for _, c := range cases[:tier.Few(len(cases))] {
		t.Run(fmt.Sprintf("%s %s %s %t", c.board, c.model, c.flow, c.sequences), func(t *testing.T) {
			t.Parallel()
			d := designOf(t, c.model, c.board, c.flow, c.sequences)
			w := open(t, d, c.flow, verilogOf(t, d, c.flow))
			if said, failed := w.run(nil, "make", "bitstream"); failed {
				t.Fatal(said)
			}
			g := w.graph(t)
			for _, wrong := range append(g.check(), g.agrees(d, w.windows())...) {
				t.Error(wrong)
			}
			for _, ext := range []string{".bit", ".hwh", ".xsa"} {
				if _, err := os.Stat(filepath.Join(w.dir, "vivado/build", w.system.Top+ext)); err != nil {
					t.Error(err)
				}
			}
		})
	}
}
