package build

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"hlsgen/internal/npy"
	"hlsgen/internal/testsupport/maketest"
	"hlsgen/internal/testsupport/samplefiles"
	"hlsgen/internal/testsupport/tier"
)

// ofCardDriver has mistakes in the driver's door to cards: old becomes new, and the program that drives the stand-in of
// pyxrt has to end with says.
var ofCardDriver = []struct{ what, old, new, says string }{
	{"a number for a pointer", "set_arg(2, table.buffer)", "set_arg(2, 0)", "argument 2 is a global one"},
	{"a number that is no int", "set_arg(1, int(count))", "set_arg(1, np.int64(count))",
		"incompatible function arguments"},
	{"a register", "return self._report(mover)[1]", "return mover.kernel.read_register(0x30)",
		"has no attribute 'read_register'"},
	{"another bank", "group_id(2 if use == \"steps\" else 0)", "group_id(0)", "the buffer is in another bank"},
	{"a kernel that others may start", "name, self.pyxrt.kernel.exclusive)", "name)", "FAIL a second program"},
	{"a wait of 0 ms", "self.run.wait(max(1, ", "self.run.wait(min(0, ", "FAIL it waits forever"},
	{"data that the card does not see", "self.buffer.sync(self.way.XCL_BO_SYNC_BO_TO_DEVICE)", "pass",
		"FAIL a mover reads behind its buffer"},
	{"results that the program does not see", "self.buffer.sync(self.way.XCL_BO_SYNC_BO_FROM_DEVICE)", "pass",
		"does not report the design's hash"},
	{"a run that keeps its buffers", "mover.run, mover.started = None, False", "pass", "FAIL closed: buffers are kept"},
	{"errors that nobody asks for", "return self._report(mover)[1] if mover.writes else 0", "return 0",
		"FAIL runs"},
}

// TestDriverMistakes checks that each planted mistake in the driver of cards is found by the check that it names.
func TestDriverMistakes(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	tools := tier.Needs(t, "make", "g++", "numpy")
	deploy := driverOf(t, quantisedBetween(t, false, 13, 3), nil)
	lib := maketest.Library(t, filepath.Join(deploy, "..", "hls"), "lib", "CXXFLAGS=-O1")
	in := &npy.Array{DType: "float32", Shape: []int{11, 6}}
	for i := range 66 {
		in.Data = append(in.Data, float64(i%7)-3)
	}
	x, y := samplefiles.Write(t, in), filepath.Join(t.TempDir(), "y.npy")
	run := func(args ...string) (string, error) {
		said, err := exec.Command(tools[2], args...).CombinedOutput()
		return string(said), err
	}
	if said, err := run(filepath.Join(deploy, "accelerator.py"), lib, x, y); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	file := filepath.Join(deploy, "accelerator.py")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range append(ofCardDriver, struct{ what, old, new, says string }{what: "none", says: "PASS "}) {
		if !strings.Contains(string(text), m.old) {
			t.Errorf("%s: the driver has no %q", m.what, m.old)
			continue
		}
		if err := os.WriteFile(file, []byte(strings.Replace(string(text), m.old, m.new, 1)), 0o644); err != nil {
			t.Fatal(err)
		}
		said, err := run("testdata/card.py", deploy, lib, x, y)
		if (err == nil) != (m.old == "") || !strings.Contains(said, m.says) {
			t.Errorf("%s: %v, want %q\n%s", m.what, err, m.says, said)
		}
	}
}
