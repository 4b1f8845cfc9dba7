package vivado_test

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"hlsgen/boards"
	"hlsgen/internal/testsupport/tier"
	"hlsgen/templates/vivado"
)

// bootgen is a stand-in for AMD's program, which takes the text that AMD's apps for Kria give it.
const bootgen = `#!/bin/sh
[ "$1 $3 $4 $5 $7" = "-image -arch zynqmp -o -w" ] || { echo "bootgen: $*"; exit 1; }
bit=$(sed -n 's/^all: { \[destination_device = pl\] \(.*\) }$/\1/p' "$2")
[ -f "$bit" ] || { echo "bootgen: no bitstream in $2"; exit 1; }
{ echo bin of; cat "$bit"; } > "$6"
`

// module is a device tree with what an overlay for a Kria module refers to, as the tree of its Linux has it.
const module = `/dts-v1/;
/ {
    #address-cells = <2>;
    #size-cells = <2>;
    fpga_full: fpga-full { compatible = "fpga-region"; };
    zynqmp_clk: clocks { #clock-cells = <1>; };
    zynqmp_reset: resets { #reset-cells = <1>; };
    amba: axi {
        #address-cells = <2>;
        #size-cells = <2>;
        gic: interrupt-controller@f9010000 {
            reg = <0x0 0xf9010000 0x0 0x10000>;
            #address-cells = <0>;
            #interrupt-cells = <3>;
            interrupt-controller;
        };
    };
};
`

// A loaded node holds what the device tree says of a node once the overlay is applied.
type loaded struct {
	name      string
	base, len uint64
	interrupt int // 0 without one
}

var (
	uioNode   = regexp.MustCompile(`(?s)\n\t\t(\w+)@[0-9a-f]+ \{\n([^{}]*compatible = "generic-uio";[^{}]*)\n\t\t\};`)
	uioReg    = regexp.MustCompile(`reg = <0x00 0x([0-9a-f]+) 0x00 0x([0-9a-f]+)>;`)
	uioNumber = regexp.MustCompile(`interrupts = <0x00 0x([0-9a-f]+) 0x04>;`)
	uioName   = regexp.MustCompile(`linux,uio-name = "(\w+)";`)
)

// overlaid compiles an overlay without a warning, applies it to the module's tree, and reads what is there then.
func overlaid(t *testing.T, dtc, dtbo string) (text string, nodes []loaded, err error) {
	t.Helper()
	dir := t.TempDir()
	run := func(program string, args ...string) error {
		out, err := exec.Command(filepath.Join(filepath.Dir(dtc), program), args...).CombinedOutput()
		if err != nil || len(out) > 0 {
			return fmt.Errorf("%s: %v %s", program, err, out)
		}
		return nil
	}
	base, tree, back := filepath.Join(dir, "base.dts"), filepath.Join(dir, "tree.dtb"), filepath.Join(dir, "tree.dts")
	if err := os.WriteFile(base, []byte(module), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, call := range [][]string{{"dtc", "-@", "-I", "dts", "-O", "dtb", "-o", tree, base},
		{"fdtoverlay", "-i", tree, "-o", tree + ".all", dtbo},
		{"dtc", "-q", "-I", "dtb", "-O", "dts", "-o", back, tree + ".all"}} {
		if err := run(call[0], call[1:]...); err != nil {
			return "", nil, err
		}
	}
	data, err := os.ReadFile(back)
	if err != nil {
		t.Fatal(err)
	}
	number := func(m []string, i int) uint64 {
		if m == nil {
			return 0
		}
		n, _ := strconv.ParseUint(m[i], 16, 64)
		return n
	}
	for _, m := range uioNode.FindAllStringSubmatch(string(data), -1) {
		reg := uioReg.FindStringSubmatch(m[2])
		n := loaded{m[1], number(reg, 1), number(reg, 2), int(number(uioNumber.FindStringSubmatch(m[2]), 1))}
		if name := uioName.FindStringSubmatch(m[2]); name == nil || name[1] != m[1] {
			return "", nil, fmt.Errorf("the device %s is called %v", m[1], name)
		}
		nodes = append(nodes, n)
	}
	slices.SortFunc(nodes, func(a, b loaded) int { return cmp.Compare(a.base, b.base) })
	return string(data), nodes, nil
}

// TestApp makes the apps of both Kria boards, and reads what Linux sees of one: the bitstream's name, the clock, and
// every mover at its address with the interrupt that the block design gives it.
func TestApp(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	dtc := tier.Needs(t, "dtc", "tclsh", "make", "sh")[0]
	for _, name := range []string{"kv260", "kr260"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, verilog, _ := wide(t)
			var err error
			if s.Board, err = boards.FindBoard(name); err != nil {
				t.Fatal(err)
			}
			s.Clock, _ = vivado.FastestPLClock(s.Board, 150)
			w := opened(t, s, vivado.IPBackendRTL, []byte(verilog))
			if said, failed := w.run(nil, "make", "app", "BOOTGEN=no-bootgen"); !failed ||
				!strings.Contains(said, "bootgen makes build/app/wide_top.bit.bin: it comes with Vivado") {
				t.Errorf("without bootgen: %s", said)
			}
			w.write(t, filepath.Join(w.tools, "bootgen"), bootgen)
			if said, failed := w.run(nil, "make", "app"); failed || strings.Contains(said, "arning") {
				t.Fatal(said)
			}
			app := func(file string) string { return filepath.Join(w.dir, "vivado/build/app", file) }
			var there []string
			entries, err := os.ReadDir(app(""))
			for _, e := range entries {
				there = append(there, e.Name())
			}
			if want := []string{"shell.json", "wide_top.bit.bin", "wide_top.dtbo"}; !slices.Equal(there, want) {
				t.Errorf("the app has %v, want %v: %v", there, want, err)
			}
			bin, _ := os.ReadFile(app("wide_top.bit.bin"))
			shell, _ := os.ReadFile(app("shell.json"))
			if string(bin) != "bin of\nimpl_1 \n" ||
				string(shell) != "{\n    \"shell_type\": \"XRT_FLAT\",\n    \"num_slots\": \"1\"\n}\n" {
				t.Errorf("%q, %q", bin, shell)
			}
			g := w.graph(t)
			if g.Connections != s.Board.Connections || g.Connections == "" {
				t.Errorf("the carrier is %q, want %q", g.Connections, s.Board.Connections)
			}
			var want []loaded
			for _, m := range w.system.RegisterAddressMap() {
				want = append(want, loaded{m.Name, m.Base, m.Bytes, g.number(t, m.Name)})
			}
			check := func(dtbo string) (wrong string) {
				text, nodes, err := overlaid(t, dtc, dtbo)
				for _, part := range []string{`firmware-name = "wide_top.bit.bin";`,
					"assigned-clock-rates = <0x883d3b7>;",
					"config-afi = <0x00 0x00 0x01 0x00 0x02 0x00 0x03 0x00 0x04 0x00 0x05 0x00 0x06 0x00 0x07 0x00 " +
						"0x08 0x00 0x09 0x00 0x0a 0x00 0x0b 0x00 0x0c 0x00 0x0d 0x00 0x0e 0xa00 0x0f 0x00>;"} {
					if !strings.Contains(text, part) {
						wrong += "no " + part + "; "
					}
				}
				if err != nil || !slices.Equal(nodes, want) {
					wrong += fmt.Sprintf("%v, want %v: %v", nodes, want, err)
				}
				return wrong
			}
			if wrong := check(app("wide_top.dtbo")); wrong != "" {
				t.Error(wrong)
			}
			w.catch(t, "block_design.tcl", []mistake{
				{"the carrier of another board", "_carrier:", "_card:", "carrier"},
				{"no carrier", "set_property board_connections $carrier", "list $carrier", "carrier"},
			}, func(g *graph) (f found) {
				if g.Connections != s.Board.Connections {
					f.add("carrier", "%q", g.Connections)
				}
				return f
			})
			source := filepath.Join(w.dir, "vivado/app/wide_top.dts")
			dts, err := os.ReadFile(source)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range []mistake{
				{"a line that does not end", `"xlnx,fclk";`, `"xlnx,fclk"`, "syntax error"},
				{"a label that the module's tree has not", "&fpga_full", "&fpga_part", "fdtoverlay"},
				{"another bitstream", "wide_top.bit.bin", "wide_top.bin", "firmware-name"},
				{"another address", "reg = <0x0 0xa0010000", "reg = <0x0 0xa0020000", "want"},
				{"another interrupt", "<0 89 4>", "<0 121 4>", "want"},
				{"another clock", "142857143", "150000000", "assigned-clock-rates"},
			} {
				if !strings.Contains(string(dts), m.old) {
					t.Fatalf("%s: no %q", m.what, m.old)
				}
				w.write(t, source, strings.Replace(string(dts), m.old, m.new, 1))
				said, failed := w.run(nil, "make", "app")
				if !failed {
					said = check(app("wide_top.dtbo"))
				}
				if !strings.Contains(said, m.check) {
					t.Errorf("%s: %q, want %s", m.what, said, m.check)
				}
			}
		})
	}
}

// number returns the shared peripheral interrupt of a mover, as its wires in the block design lead to the PS: UG1085
// has pl_ps_irq0 from 89 on, pl_ps_irq1 from 104 on.
func (g *graph) number(t *testing.T, mover string) int {
	t.Helper()
	for _, p := range g.net(mover + "/interrupt") {
		cell, in, _ := strings.Cut(p, "/In")
		for _, q := range g.net(cell + "/dout") {
			first := map[string]int{"ps/pl_ps_irq0": 89, "ps/pl_ps_irq1": 104}[q]
			if at, err := strconv.Atoi(in); first > 0 && err == nil {
				return first + at
			}
		}
	}
	t.Fatalf("no interrupt of %s", mover)
	return 0
}
