// Package tier says how much of the tests is run. It is the one place where a test asks for a program, for system
// services, for the shared models or for time:
//
//	quick   go test -short     Go alone: no other program is called, no shared model is read
//	plain   go test            what needs a program that is missing is skipped; a fifth of the C++ is compiled
//	full    HLSGEN_FULL=1      all C++ is compiled; a missing program is a failure
//	ci      HLSGEN_CI=1        full, with system services
//	long    HLSGEN_LONG=1      full, with many more random cases and what takes long
//
// HLSGEN_SHARED names the folder of shared models, in any tier but quick; what needs them is skipped where it is not
// set. A variable that is empty or 0 counts as not set. Every skip has a reason.
//
// In comes a test; out comes that it goes on, is skipped or fails. It sees nothing of this module.
package tier

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// Installed are the programs that `make test` installs where they are missing.
var Installed = []string{"g++", "clang++", "opt", "nm", "tclsh", "verilator", "python3", "yosys",
	"nextpnr-ice40", "icepack", numpy, onnx, xrt, "aarch64-linux-gnu-as", "x86_64-linux-gnu-as", "qemu-aarch64-static"}

// numpy and onnx are no programs: what they find is a Python that has the package.
const (
	numpy = "numpy"
	onnx  = "onnx"
)

// xrt is none either: what it finds is the folder of the headers of AMD's runtime.
const xrt = "xrt"

// look finds a program. A system's Python has the system's packages, whichever comes first in the user's path.
func look(program string) (string, error) {
	if program == xrt {
		const folder = "/usr/include/xrt"
		_, err := os.Stat(folder + "/xrt/xrt_kernel.h")
		return folder, err
	}
	if program != numpy && program != onnx {
		return exec.LookPath(program)
	}
	for _, python := range []string{"python3", "/usr/bin/python3"} {
		if exec.Command(python, "-c", "import "+program).Run() == nil {
			return exec.LookPath(python)
		}
	}
	return "", exec.ErrNotFound
}

// basic are the programs that every machine has on which `make` runs.
var basic = []string{"awk", "bash", "flock", "make", "sha256sum", "sh"}

// Services are the programs of system services, which `make test-ci` installs where they are missing.
var Services = []string{"munged", "slurmctld", "slurmd", "sbatch", "sinfo"}

// known are the programs that Needs takes.
var known = append(slices.Clone(basic), Installed...)

// run is what decides what is run.
type run struct {
	short, full, ci, long bool
	shared                string
	look                  func(program string) (string, error)
}

// now is the run that this process is in.
func now() run {
	set := func(name string) bool { v := os.Getenv(name); return v != "" && v != "0" }
	r := run{short: testing.Short(), shared: os.Getenv("HLSGEN_SHARED"), look: look}
	r.ci, r.long = set("HLSGEN_CI"), set("HLSGEN_LONG")
	r.full = set("HLSGEN_FULL") || r.ci || r.long
	return r
}

// Full reports whether everything is run but what takes long, and a missing program is a failure.
func Full() bool { r := now(); return r.full && !r.short }

// Long reports whether what takes long is run, too.
func Long() bool { r := now(); return r.long && !r.short }

// Few is how many of n compiled cases are run: all in the full tier, else a fifth, at least one of any.
func Few(n int) int {
	if Full() {
		return n
	}
	return (n + 4) / 5
}

// Quick reports whether there are seconds for all tests together.
func Quick() bool { return testing.Short() }

// NotQuick skips a test that takes seconds in the quick tier.
func NotQuick(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("it takes seconds, and the quick tier has few: make test runs it")
	}
}

// NeedsLong skips a test that takes long, but in the long tier.
func NeedsLong(t testing.TB) {
	t.Helper()
	if !Long() {
		t.Skip("it takes long: make test-long runs it")
	}
}

// Needs returns the paths of programs that a test calls (of numpy and onnx, that of a Python), which are of
// Installed or part of any system. Where one is missing, the test is skipped in the plain tier and fails in those
// above it; the quick tier calls none.
func Needs(t testing.TB, programs ...string) []string {
	t.Helper()
	return now().ask(t, known, programs)
}

// NeedsServices is Needs for programs of system services; below the ci tier the test is skipped.
func NeedsServices(t testing.TB, programs ...string) {
	t.Helper()
	now().services(t, programs)
}

func (r run) services(t testing.TB, programs []string) {
	t.Helper()
	if !r.ci {
		t.Skip("it starts system services: make test-ci runs it")
	}
	r.ask(t, Services, programs)
}

// ask looks for programs, all of which must be among those known.
func (r run) ask(t testing.TB, known, programs []string) []string {
	t.Helper()
	for _, p := range programs {
		if !slices.Contains(known, p) {
			t.Fatalf("%s is not among the programs that tests may ask for: see internal/tier", p)
		}
	}
	if r.short {
		t.Skip("the quick tier calls no other program: make test does")
	}
	var paths, missing []string
	for _, p := range programs {
		path, err := r.look(p)
		if err != nil {
			missing = append(missing, p)
		}
		paths = append(paths, path)
	}
	switch {
	case len(missing) == 0:
	case r.full:
		t.Fatal(lacks(missing))
	default:
		t.Skip(lacks(missing))
	}
	return paths
}

func lacks(programs []string) string {
	verb := "is"
	if len(programs) > 1 {
		verb = "are"
	}
	text := fmt.Sprintf("%s %s not in the PATH", strings.Join(programs, ", "), verb)
	in := func(list []string) bool {
		return slices.ContainsFunc(programs, func(p string) bool { return slices.Contains(list, p) })
	}
	switch {
	case in(Installed):
		text += ": make setup installs what is missing"
	case in(Services):
		text += ": make test-ci installs what is missing"
	}
	return text
}
