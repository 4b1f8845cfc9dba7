package build

import (
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"hlsgen/internal/diag"
	"hlsgen/internal/options"
	"hlsgen/internal/testsupport/tier"
)

// TestMoverTops has Verilator read the tops of the movers, as Vivado gets them: their ports and parameters are those
// of the SystemVerilog beside them.
func TestMoverTops(t *testing.T) {
	t.Parallel()
	verilator := tier.Needs(t, "verilator")[0]
	for board, folder := range map[string]string{"zcu104": "ip", "pynq-z1": "ip", "u250": "kernels"} {
		t.Run(board, func(t *testing.T) {
			t.Parallel()
			var d diag.List
			o := Options{Hardware: options.Hardware{Board: board}, Goal: options.Goal{FPS: 5000},
				Verification: options.Verification{NoCSim: true, Verify: 1},
				OutputFolder: options.OutputFolder{Out: filepath.Join(t.TempDir(), "out")}}
			if r, err := Run(context.Background(), o, &d); err != nil || r == nil {
				t.Fatal(err, d.Diags)
			}
			tops, err := filepath.Glob(filepath.Join(o.Out, "vivado", folder, "*.v"))
			want := map[string]int{"ip": 3, "kernels": 2}[folder] // a block design has what joins interrupts, too
			if err != nil || len(tops) != want {
				t.Fatalf("%d tops, want %d: %v", len(tops), want, err)
			}
			texts, err := filepath.Glob(filepath.Join(o.Out, "vivado", "ip", "*.sv"))
			if err != nil || len(texts) < 2 {
				t.Fatal(texts, err)
			}
			for _, top := range tops {
				name := strings.TrimSuffix(filepath.Base(top), ".v")
				args := append([]string{"--lint-only", "-Wall", "-Wno-DECLFILENAME", "--top-module", name, top},
					texts...)
				if said, err := exec.Command(verilator, args...).CombinedOutput(); err != nil || len(said) > 0 {
					t.Errorf("%s: %v\n%s", name, err, said)
				}
			}
		})
	}
}
