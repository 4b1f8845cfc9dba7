package layertest

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hlsgen/boards"
	"hlsgen/internal/testsupport/tier"
	"hlsgen/templates"
	"hlsgen/templates/rtl"
)

// An Instance is a layer whose Only leaves a single fold. Again is the command that repeats the test of this
// instance.
type Instance struct {
	Case
	Again string
}

// CheckInstances checks layers against the contract. The SystemVerilog of all goes through one bench of Verilator and
// one run of Yosys. The C++ of the given number of them, evenly spread, is compiled; it may be 0. A failure is reported
// with the instance's parameters, inputs and target, and with the command that repeats it.
func CheckInstances(t *testing.T, compiled int, instances []Instance) {
	t.Helper()
	paths := tier.Needs(t, "g++", "verilator", "yosys")
	var cases []Case
	for _, i := range instances {
		cases = append(cases, i.Case)
	}
	programs, errs := examine(t.Context(), cases)
	errs = append(errs, runCircuits(programs)...)
	amd := slices.DeleteFunc(slices.Clone(programs), func(p program) bool { return p.Board.Family != boards.FamilyAMD })
	checks := []func() error{func() error { return runInstances(t.Context(), t.TempDir(), programs) }}
	if some := spread(amd, compiled); len(some) > 0 {
		checks = append(checks, func() error { return run(t.Context(), paths[0], t.TempDir(), some) },
			func() error { return runReset(t.Context(), t.TempDir(), some) })
	}
	for _, check := range checks {
		if err := check(); err != nil {
			errs = append(errs, err)
		}
	}
	for _, err := range errs {
		t.Error(err)
		for _, i := range instances {
			if strings.Contains(err.Error(), i.Name+":") || strings.Contains(err.Error(), fmt.Sprintf("%q", i.Name)) {
				t.Errorf("%s, for %s at %g MHz: %s\n%+v of %+v", i.Name, i.Board.Name, i.MHz, i.Again,
					i.Op.Params(), i.In)
			}
		}
	}
}

// runInstances elaborates programs in Yosys, and runs them in a bench.
func runInstances(ctx context.Context, dir string, programs []program) error {
	b, err := benchRTL(simulations(programs))
	if err != nil {
		return err
	}
	if err := b.files.WriteBelow(dir); err != nil {
		return err
	}
	if err := b.elaborate(ctx, filepath.Join(dir, "rtl")); err != nil {
		return err
	}
	return b.run(ctx, dir)
}

// elaborate reads the text of all programs in Yosys, side by side in one module, and checks it. Every wire must have
// one driver, and there must be no loops of logic.
func (b rtlBench) elaborate(ctx context.Context, dir string) error {
	var all strings.Builder
	all.WriteString("module all;\n")
	for _, r := range b.runs {
		fmt.Fprintf(&all, "    %s t_%s ();\n", r.Top, r.Top)
	}
	all.WriteString("endmodule\n")
	if err := (templates.ProjectFiles{{Path: "all.sv", Data: []byte(all.String())}}).WriteBelow(dir); err != nil {
		return err
	}
	script := fmt.Sprintf("read_verilog -sv -defer all.sv %s; hierarchy -top all; proc; check -assert",
		strings.Join(rtl.ListSourcePaths(b.files, false), " "))
	c := exec.CommandContext(ctx, "yosys", "-q", "-p", script)
	c.Dir = dir
	if out, err := c.CombinedOutput(); err != nil {
		return failed(checkRTLText, "yosys: %v\n%.3000s%s", err, out, b.who(string(out)))
	}
	return nil
}
