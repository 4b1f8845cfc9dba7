package build

import (
	"context"
	"os"
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

// TestDebugging checks that a build has the activity of all its streams and the ILA that are asked for, and that boards
// without a block design refuse them.
func TestDebugging(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	for _, c := range []struct {
		board, refused string
	}{
		{"pynq-z1", ""},
		{"alveo-u250", "--saif: a card's linker makes the design"},
		{"icebreaker", "--ila, --saif: no bitstream is made for the board"},
	} {
		var d diag.List
		o := Options{Hardware: options.Hardware{Board: c.board, SAIF: true, ILA: []string{"m_axis_0"}},
			Goal:         options.Goal{FPS: 5000},
			Verification: options.Verification{NoCSim: true, Verify: 1},
			OutputFolder: options.OutputFolder{Out: filepath.Join(t.TempDir(), "out")}}
		r, err := Run(context.Background(), o, &d)
		if err != nil {
			t.Fatal(err)
		}
		if c.refused != "" {
			if r != nil || len(d.Diags) == 0 || !strings.Contains(d.Diags[len(d.Diags)-1].Msg, c.refused) {
				t.Errorf("%s: %v", c.board, d.Diags)
			}
			continue
		}
		for file, want := range map[string]int{"activity.saif": 2 * len(r.Design.Model.Graph.Streams),
			"block_design.tcl": 1} {
			text, err := os.ReadFile(filepath.Join(o.Out, "vivado", file))
			has := strings.Count(string(text), " (T0 ") + strings.Count(string(text), "link accelerator/m_axis_0 ila/")
			if err != nil || has != want {
				t.Errorf("%s has %d, want %d: %v", file, has, want, err)
			}
		}
	}
}
