package build

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"hlsgen/internal/testsupport/maketest"
	"hlsgen/internal/testsupport/tier"
)

// A placedModule is a module of nextpnr's JSON.
type placedModule struct {
	Attributes map[string]any         `json:"attributes"`
	Ports      map[string]any         `json:"ports"`
	Cells      map[string]*placedCell `json:"cells"`
	Netnames   map[string]any         `json:"netnames"`
}

type placedCell struct {
	Type        string            `json:"type"`
	Parameters  map[string]any    `json:"parameters"`
	Attributes  map[string]any    `json:"attributes"`
	Directions  map[string]string `json:"port_directions"`
	Connections map[string][]any  `json:"connections"`
}

// set reports whether a parameter of one bit is 1.
func (c *placedCell) set(parameter string) bool {
	return strings.HasSuffix(fmt.Sprint(c.Parameters[parameter]), "1")
}

// TestPlacedNetlist runs the placed design of the embedded example in Verilator. It is nextpnr's JSON, from which Yosys
// writes Verilog with its own models of the cells. The project's script talks to it as TestUART has it talk to the
// SystemVerilog, and every result is the recorded one, of engine cycle.
func TestPlacedNetlist(t *testing.T) {
	t.Parallel()
	tier.NeedsLong(t)
	tier.Needs(t, "make", "python3", "verilator", "clang++", "yosys", "nextpnr-ice40", "icepack")
	_, dir := onIcebreaker(t)
	const baud, top = "BAUD=1000000", "digits_mlp_w2a2_top_uart"
	// nextpnr is called as by the Makefile, and writes what it placed, too.
	placer := filepath.Join(t.TempDir(), "nextpnr-ice40")
	script := "#!/bin/sh\nexec nextpnr-ice40 --write build/placed.json \"$@\"\n"
	if err := os.WriteFile(placer, []byte(script), 0o777); err != nil {
		t.Fatal(err)
	}
	tool := fmt.Sprintf("tool=$(if $(filter nextpnr-ice40,$(1)),%s,$(1))", placer)
	maketest.Make(t, dir, "bitstream", baud, tool)
	writePlaced(t, filepath.Join(dir, "build"), top)
	said := maketest.Make(t, dir, "uart", baud, "ALL=build/placed.v", "OPT=-O1", maketest.OneUnit, "CXX=clang++")
	if !strings.Contains(said, "PASS 34 frames over the UART, 22 resets") {
		t.Error(said)
	}
}

// writePlaced writes placed.v, Verilog of the design in placed.json, with a module on top that has the parameter of the
// UART top.
func writePlaced(t *testing.T, dir, top string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "placed.json"))
	if err != nil {
		t.Fatal(err)
	}
	var all struct {
		Creator string                   `json:"creator"`
		Modules map[string]*placedModule `json:"modules"`
	}
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	m := all.Modules["top"]
	if len(all.Modules) != 1 || m == nil {
		t.Fatalf("nextpnr wrote %d modules", len(all.Modules))
	}
	carries := m.simulated()
	t.Logf("%d cells, %d with the carry of the cell below", len(m.Cells), carries)
	if carries == 0 {
		t.Error("no carry leaves a chain and goes on")
	}
	if text, err = json.Marshal(all); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dir, "wired.json"), text)
	writeFile(t, filepath.Join(dir, "models.v"), []byte(cellModels(t)))
	yosys(t, dir, "read_json wired.json", "rename top placed",
		"read_verilog -D NO_ICE40_DEFAULT_ASSIGNMENTS models.v", "hierarchy -check -top placed", "proc", "flatten",
		"opt_expr", "opt_clean -purge", "write_verilog -noattr cells.v")
	cells, err := os.ReadFile(filepath.Join(dir, "cells.v"))
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dir, "placed.v"), fmt.Appendf(cells, `
module %s #(parameter int BAUD = 0) (input clk, input reset_n, input rx, output tx, output led);
    placed cells (.clk(clk), .reset_n(reset_n), .rx(rx), .tx(tx), .led(led));
endmodule
`, top))
}

// simulated makes the cells ones that Yosys' models simulate. It replaces pins by wires and ties inputs that nothing
// drives as the device does. It returns the number of cells whose carry it connects.
//
// Where a carry is also read by logic, nextpnr 0.4 lets it leave the chain and go on in the same cell. Its JSON has the
// carry-in of that cell as the input I3 alone. The device takes it from the cell below.
func (m *placedModule) simulated() (carries int) {
	ups := map[string]bool{"CEN": true, "RCLKE": true, "WCLKE": true} // these are 1 where nothing drives them
	for _, c := range m.Cells {
		switch {
		case c.Type == "SB_IO" && len(c.Connections["D_IN_0"]) > 0:
			c.wire("PACKAGE_PIN", "D_IN_0")
			continue
		case c.Type == "SB_IO":
			c.wire("D_OUT_0", "PACKAGE_PIN")
			continue
		case c.Type == "SB_GB":
			c.wire("USER_SIGNAL_TO_GLOBAL_BUFFER", "GLOBAL_BUFFER_OUTPUT")
			continue
		}
		if c.Type == "ICESTORM_LC" && c.set("CARRY_ENABLE") && !c.set("CIN_CONST") && len(c.Connections["CIN"]) == 0 {
			c.Connections["CIN"] = c.Connections["I3"]
			carries++
		}
		for port, bits := range c.Connections {
			if c.Directions[port] == "input" && len(bits) == 0 {
				tie := "0"
				if ups[port] {
					tie = "1"
				}
				c.Connections[port] = []any{tie}
			}
		}
	}
	return carries
}

// wire makes the cell a wire from one of its ports to another.
func (c *placedCell) wire(from, to string) {
	c.Type = "$pos"
	c.Parameters = map[string]any{"A_SIGNED": "0", "A_WIDTH": "00000000000000000000000000000001",
		"Y_WIDTH": "00000000000000000000000000000001"}
	c.Directions = map[string]string{"A": "input", "Y": "output"}
	c.Connections = map[string][]any{"A": c.Connections[from], "Y": c.Connections[to]}
}

// cellModels returns Yosys' models of the cells, for inputs that are all driven. Verilator takes a comparison with z
// for a bus.
func cellModels(t *testing.T) string {
	t.Helper()
	program := tier.Needs(t, "yosys")[0]
	text, err := os.ReadFile(filepath.Join(filepath.Dir(program), "../share/yosys/ice40/cells_sim.v"))
	if err != nil {
		t.Fatal(err)
	}
	return regexp.MustCompile(`\(\w+ === 1'bz\) \? 1'b[01] :`).ReplaceAllString(string(text), "")
}

// yosys runs Yosys' commands in a folder.
func yosys(t *testing.T, dir string, commands ...string) {
	t.Helper()
	c := exec.Command("yosys", "-q", "-p", strings.Join(commands, "; "))
	c.Dir = dir
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("yosys: %v\n%.3000s", err, out)
	}
}

func writeFile(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
}
