package vivado_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"hlsgen/internal/testsupport/tier"
	"hlsgen/rtlsim"
	"hlsgen/templates/vivado"
)

// TestPower runs make power on the activity of a simulation. The nets of the activity must be those that the Verilog of
// the flow has, and mistakes in the script are found.
func TestPower(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	tier.Needs(t, "tclsh", "make", "sh")
	for _, flow := range []vivado.IPBackend{vivado.IPBackendHLS, vivado.IPBackendRTL} {
		d := designOf(t, "digits-mlp-w2a2", "zcu104", flow, false)
		trace, err := rtlsim.RunFrames(t.Context(), d, nil, rtlsim.Options{Frames: 4, Record: true})
		if err != nil {
			t.Fatal(err)
		}
		var saif bytes.Buffer
		nets := rtlsim.SAIFInstance(vivado.HandshakeNetsOf(flow))
		if err := rtlsim.WriteSAIF(&saif, d, trace, nets); err != nil {
			t.Fatal(err)
		}
		verilog := topOf(t, d, flow)
		found := regexp.MustCompile(`(?m)^\((\w+) \(T0`).FindAllStringSubmatch(saif.String(), -1)
		for _, net := range found {
			if !regexp.MustCompile(`(?m)^ +(wire|logic) [^;]*\b` + net[1] + `[,;]`).MatchString(verilog) {
				t.Errorf("%s: the Verilog has no %s", flow, net[1])
			}
		}
		if len(found) != 2*len(d.Model.Graph.Streams) {
			t.Errorf("%s: %d nets of %d streams", flow, len(found), len(d.Model.Graph.Streams))
		}
		w := open(t, d, flow, verilogOf(t, d, flow))
		if said, failed := w.run(nil, "make", "power"); !failed ||
			!strings.Contains(said, "there is no activity.saif: hlsgen build --saif writes it") {
			t.Errorf("without activity: %s", said)
		}
		w.write(t, filepath.Join(w.dir, "vivado/activity.saif"), saif.String())
		if said, failed := w.run(nil, "make", "power"); failed {
			t.Fatal(said)
		}
		if _, err := os.Stat(filepath.Join(w.dir, "vivado/build/power.rpt")); err != nil {
			t.Error(err)
		}
		w.catch(t, "power.tcl", []mistake{
			{"a design that is not open", "open_checkpoint build/routed.dcp\n", "", "before-creation"},
			{"a checkpoint that there is not", "build/routed.dcp", "build/system.dcp", "no-file"},
			{"another top", "-strip_path system_wrapper", "-strip_path system", "strip-path"},
			{"no activity", "read_saif -strip_path system_wrapper -out_file build/saif.txt activity.saif\n", "",
				"before-creation"},
			{"a misspelt switch of the report", "report_power -file", "report_power -out", "unknown-switch"},
		}, nil)
	}
}
