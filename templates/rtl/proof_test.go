package rtl_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"hlsgen/internal/testsupport/tier"
	"hlsgen/templates"
	"hlsgen/templates/rtl"
)

// A proof is a claim about SystemVerilog. Yosys' SAT solver checks it for a number of clocks, for any values in
// registers before, and any inputs.
type proof struct {
	name    string
	files   templates.ProjectFiles
	harness string // module proof, whose assertions are to hold
	clocks  int
	forever bool     // assertions hold at any time if they held in as many clocks before, which is proved, too
	mutants []mutant // mistakes, each of which breaks an assertion
}

// A mutant is a file in which the first text that from matches has become to.
type mutant struct{ path, from, to string }

// check proves, and has every mutant refuted.
func (p proof) check(t *testing.T) {
	t.Run(p.name, func(t *testing.T) {
		t.Parallel()
		if said, ok := p.prove(t, p.files); !ok {
			t.Errorf("refuted:\n%s", said[max(0, len(said)-3000):])
		}
		p.forever = false
		for _, m := range p.mutants {
			var files templates.ProjectFiles
			changed := false
			for _, f := range p.files {
				if at := regexp.MustCompile(m.from).FindIndex(f.Data); f.Path == m.path && at != nil {
					changed = true
					f.Data = []byte(string(f.Data[:at[0]]) + m.to + string(f.Data[at[1]:]))
				}
				files = append(files, f)
			}
			if !changed {
				t.Errorf("%s has no %s", m.path, m.from)
			} else if _, ok := p.prove(t, files); ok {
				t.Errorf("proved, though %s has %s for %s", m.path, m.to, m.from)
			}
		}
	})
}

// prove has Yosys look for a way to break an assertion. ok reports that there is none. Otherwise the output ends with
// that way.
func (p proof) prove(t *testing.T, files templates.ProjectFiles) (said string, ok bool) {
	t.Helper()
	yosys := tier.Needs(t, "yosys")[0]
	dir := t.TempDir()
	files = append(files[:len(files):len(files)], templates.GeneratedFile{Path: "rtl/proof.sv",
		Data: []byte(p.harness)})
	if err := files.WriteBelow(dir); err != nil {
		t.Fatal(err)
	}
	base := "-tempinduct-baseonly"
	if p.forever {
		base = ""
	}
	script := fmt.Sprintf("read_verilog -sv -formal -D SYNTHESIS -noautowire -defer %s; hierarchy -top proof; "+
		"setattr -mod -unset keep_hierarchy *; "+
		"proc; flatten; opt; "+
		"memory; opt; wreduce; opt; "+
		"sat -tempinduct %s -seq 1 -maxsteps %d -prove-asserts -set-assumes",
		strings.Join(rtl.ListSourcePaths(files, true), " "), base, p.clocks)
	c := exec.Command(yosys, "-p", script)
	c.Dir = filepath.Join(dir, "rtl")
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("yosys: %v\n%.4000s", err, out)
	}
	_, said, _ = strings.Cut(string(out), "Executing SAT pass")
	switch {
	case strings.Contains(said, "Reached maximum number of time steps -> proved base case"),
		strings.Contains(said, "Induction step proven: SUCCESS!"):
		return said, true
	case strings.Contains(said, "SAT temporal induction proof finished - model found for base case: FAIL"):
		return said, false
	}
	t.Fatalf("yosys:\n%.4000s", out)
	return "", false
}

// TestMultiplier checks that Yosys makes a multiplier of the device of each product, even of few bits and with known
// factors, and loses nothing of it. On AMD's devices the slice takes in all registers.
func TestMultiplier(t *testing.T) {
	t.Parallel()
	yosys := tier.Needs(t, "yosys")[0]
	dir := t.TempDir()
	if err := rtl.LibraryModuleFiles().WriteBelow(dir); err != nil {
		t.Fatal(err)
	}
	const small = `module small(input clk, input signed [3:0] a, output signed [5:0] product);
    hlsgen_multiply #(.A(6), .B(6), .P(6), .W(11)) it (.clk(clk), .a({{2{a[3]}}, a}), .b(6'd3), .product(product));
endmodule
`
	if err := os.WriteFile(filepath.Join(dir, "rtl", "small.sv"), []byte(small), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ synth, cell, none string }{
		{"synth_ice40 -device u -dsp", "SB_MAC16", "SB_CARRY"},
		{"synth_ecp5", "MULT18X18D", "LUT4"},
		{"synth_xilinx -flatten -noiopad -noclkbuf", "DSP48E1", "FDRE"},
	} {
		for _, top := range []string{"hlsgen_multiply", "small"} {
			c := exec.Command(yosys, "-q", "-p", fmt.Sprintf("read_verilog -sv shared/hlsgen_multiply.sv "+
				"shared/hlsgen_slice.sv small.sv; %s -top %s; select -assert-count 1 t:%s; select -assert-none t:%s",
				tt.synth, top, tt.cell, tt.none))
			c.Dir = filepath.Join(dir, "rtl")
			if out, err := c.CombinedOutput(); err != nil || strings.Contains(string(out), "conflict") {
				t.Errorf("%s, %s: %v\n%s", tt.synth, top, err, out)
			}
		}
	}
}

// TestAddThree proves that the adder of three operands gives their sum modulo 2^W, for every choice of signs, from
// AMD's cells as Yosys describes them. Mistakes are refuted.
func TestAddThree(t *testing.T) {
	t.Parallel()
	yosys := tier.Needs(t, "yosys")[0]
	most := 6
	if tier.Long() {
		most = 24
	}
	harness := fmt.Sprintf("module proof(input [%d:0] a, b, c);\n", most-1)
	n := 0
	for width := 1; width <= most; width++ {
		for signs := range 4 {
			for _, c := range []struct{ cell, zeros int }{{4, 0}, {8, 0}, {4, 1}, {8, 2}} {
				if c.zeros >= width {
					continue
				}
				tables := width - c.zeros
				operand := func(name string) string { return fmt.Sprintf("%d'(%s[%d:0])", width, name, tables-1) }
				x, y, z := operand("a"), operand("b"), operand("c")
				harness += fmt.Sprintf("    wire [%d:0] s%d;\n    hlsgen_add_three #(.W(%d), .T(%d), .MINUS_B(%d), "+
					".MINUS_C(%d), .CELL(%d)) it%[2]d (.a(%[8]s), .b(%[9]s), .c(%[10]s), .sum(s%[2]d));\n", width-1, n,
					width, tables, signs&1, signs>>1, c.cell, x, y, z)
				harness += fmt.Sprintf("    always @* assert (s%d == %s %c %s %c %s);\n", n, x, "+-"[signs&1], y,
					"+-"[signs>>1], z)
				n++
			}
		}
	}
	for _, m := range []struct {
		from, to string
		holds    bool
	}{{"", "", true}, {"8'hb2", "8'hb3", false}, {"most[0] = MINUS_B & MINUS_C", "most[0] = 1'b0", false},
		{"MINUS_C ^ (i == T", "MINUS_C & (i == T", false}} {
		t.Run(m.from, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := rtl.LibraryModuleFiles().WriteBelow(dir); err != nil {
				t.Fatal(err)
			}
			c := exec.Command(yosys, "-q", "-p", "read_verilog -sv -formal -D SYNTHESIS -noautowire -defer "+
				"changed.sv proof.sv; "+
				"read_verilog +/xilinx/cells_sim.v; hierarchy -top proof; proc; flatten; opt; "+
				"sat -prove-asserts -verify")
			c.Dir = filepath.Join(dir, "rtl")
			text, err := os.ReadFile(filepath.Join(c.Dir, "shared", "hlsgen_add_three.sv"))
			if err != nil || !strings.Contains(string(text), m.from) {
				t.Fatalf("%v, want a module with %s", err, m.from)
			}
			for name, of := range map[string]string{"changed.sv": strings.Replace(string(text), m.from, m.to, 1),
				"proof.sv": harness + "endmodule\n"} {
				if err := os.WriteFile(filepath.Join(c.Dir, name), []byte(of), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			out, err := c.CombinedOutput()
			refuted := strings.Contains(string(out), "proof did fail")
			if err != nil && !refuted || refuted == m.holds {
				t.Errorf("%v\n%.2000s", err, out)
			}
		})
	}
}
