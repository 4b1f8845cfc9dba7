package vivado_test

import (
	"os"
	"path/filepath"
	"testing"

	"hlsgen/internal/tier"
	"hlsgen/templates/vivado"
)

// TestBitstream has a stand-in for Vivado carry out all that is written for a board with a PS: no command is unknown to it,
// the block design is whole, and it is the one that the driver and the budget take it for.
func TestBitstream(t *testing.T) {
	t.Parallel()
	tier.Needs(t, "tclsh", "make", "sh")
	cases := []struct{ board, model string }{
		{"zcu104", "digits-mlp-w2a2"}, {"pynq-z1", "bilstm-h32-w4a4"}, {"kv260", "digits-cnn-w4a4"},
		{"zcu104", "digits-cnn-w4a4"}, {"zcu104", "digits-resnet-w4a4"}, {"zcu104", "bilstm-h32-w4a4"},
		{"pynq-z1", "digits-mlp-w2a2"}, {"pynq-z1", "digits-cnn-w4a4"}, {"pynq-z1", "digits-resnet-w4a4"},
		{"kv260", "digits-mlp-w2a2"}, {"kv260", "digits-resnet-w4a4"}, {"kv260", "bilstm-h32-w4a4"},
	}
	for _, c := range cases[:tier.Few(len(cases))] {
		t.Run(c.board+"/"+c.model, func(t *testing.T) {
			t.Parallel()
			d := designOf(t, c.model, c.board, nil)
			w := open(t, d, vivado.HLS, hls(t, d))
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
