// Package tier decides which tests run. Only through it may a test ask for a program, for system services, for the
// shared models or for time:
//
//	quick   go test -short     Go alone: no other program is called, no shared model is read
//	plain   go test            nothing that takes seconds: no compiler runs; a test whose program is missing is skipped
//	        go test -run X     the tests that are named, with compilers
//	full    HLSGEN_FULL=1      all but long tests, with compilers; a missing program is a failure
//	ci      HLSGEN_CI=1        full, with system services
//	long    HLSGEN_LONG=1      full, with many more random cases and with long tests
//
// HLSGEN_SHARED names the folder of shared models in any tier but quick. Tests that need it are skipped if it is
// not set. A variable that is empty or 0 counts as not set. Every skip states a reason.
//
// In comes a test; out comes that it goes on, is skipped or fails. folders.go finds the folders.
package tier

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
)

// InstallablePrograms lists the programs that `make test` installs if they are missing.
var InstallablePrograms = []string{"g++", "clang++", "opt", "nm", "tclsh", "verilator", "python3", "yosys",
	"nextpnr-ice40", "icepack", "dtc", "dot", numpy, onnx, xrt, "aarch64-linux-gnu-as", "x86_64-linux-gnu-as",
	"qemu-aarch64-static"}

// numpy and onnx are Python packages rather than programs. Looking for one finds a Python that has the package.
const (
	numpy = "numpy"
	onnx  = "onnx"
)

// xrt stands for AMD's runtime. Looking for it finds the folder of its headers.
const xrt = "xrt"

// training stands for the Python that has PyTorch and Brevitas. Looking for it finds that of bin/train, which
// `make train` makes.
const training = "training"

// browser stands for Chromium, and for what drives it. Looking for it finds bin/browser, which `make browser` makes.
const browser = "browser"

// look returns the path of a program, or an error if it is not installed. For a Python package it returns a Python that
// has the package; it also tries the system's Python. For xrt it returns the folder of the headers, for training the
// environment's Python, for browser the folder of the packages.
func look(program string) (string, error) {
	switch program {
	case training:
		root, err := above()
		if err != nil {
			return "", err
		}
		// the script writes this file last
		if _, err := os.Stat(filepath.Join(root, "bin", "train", "made")); err != nil {
			return "", err
		}
		return exec.LookPath(filepath.Join(root, "bin", "train", "bin", "python"))
	case browser:
		root, err := above()
		if err != nil {
			return "", err
		}
		for _, program := range []string{"chromium", "node"} {
			if _, err := exec.LookPath(program); err != nil {
				return "", err
			}
		}
		folder := filepath.Join(root, "bin", "browser")
		_, err = os.Stat(filepath.Join(folder, "made"))
		return folder, err
	case xrt:
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

// slow lists the programs that take seconds: compilers, synthesis, simulators, training.
var slow = []string{"g++", "clang++", "opt", "verilator", "yosys", "nextpnr-ice40", "qemu-aarch64-static", training,
	browser}

// basic lists the programs that exist on every machine on which `make` runs.
var basic = []string{"awk", "bash", "flock", "make", "sha256sum", "sh"}

// Services lists the programs of system services, which `make test-ci` installs if they are missing.
var Services = []string{"munged", "slurmctld", "slurmd", "sbatch", "sinfo"}

// known lists the programs that Needs accepts.
var known = append(append(slices.Clone(basic), InstallablePrograms...), training, browser)

// collected is the target of the garbage collector in tests, in per cent of the live heap. Tests make many short-lived
// models and circuits. At 100, which is Go's, the collector takes a tenth to a fifth of their time.
const collected = 200

// init sets the collector's target, unless GOGC does.
func init() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(collected)
	}
}

// A run holds the facts that decide which tests run.
type run struct {
	short, full, ci, long bool
	named                 bool // -run names the tests
	shared                string
	look                  func(program string) (string, error)
}

// now returns the facts for this process.
func now() run {
	set := func(name string) bool { v := os.Getenv(name); return v != "" && v != "0" }
	r := run{short: testing.Short(), shared: os.Getenv("HLSGEN_SHARED"), look: look}
	r.ci, r.long = set("HLSGEN_CI"), set("HLSGEN_LONG")
	r.full = set("HLSGEN_FULL") || r.ci || r.long
	if f := flag.Lookup("test.run"); f != nil {
		r.named = f.Value.String() != ""
	}
	return r
}

// Full reports whether all tests run, except long ones. In this tier a missing program is a failure.
func Full() bool { r := now(); return r.full && !r.short }

// Long reports whether long tests run, too.
func Long() bool { r := now(); return r.long && !r.short }

// CasesToRun returns the number of cases to run, out of n: all in the full tier, and else a fifth, rounded up.
func CasesToRun(n int) int {
	if Full() {
		return n
	}
	return (n + 4) / 5
}

// Quick reports whether all tests together may take only a few minutes, as in the tiers below full unless -run names
// tests.
func Quick() bool { r := now(); return r.short || !r.full && !r.named }

// NotQuick skips a test if Quick, because the test takes seconds.
func NotQuick(t testing.TB) {
	t.Helper()
	if Quick() {
		t.Skip("it takes seconds: make test runs it")
	}
}

// NeedsLong skips a test that takes long, except in the long tier.
func NeedsLong(t testing.TB) {
	t.Helper()
	if !Long() {
		t.Skip("it takes long: make test-long runs it")
	}
}

// Needs returns the paths of programs that a test calls; for numpy and onnx it is the path of a Python. They must be in
// InstallablePrograms or part of any system. If one is missing, the plain tier skips the test, and the tiers above fail
// it. The plain tier also skips it if one is a compiler, or as slow, unless -run names tests. The quick tier always
// skips the test.
func Needs(t testing.TB, programs ...string) []string {
	t.Helper()
	return now().ask(t, known, programs)
}

// NeedsServices does what Needs does, for programs of system services. Below the ci tier it skips the test.
func NeedsServices(t testing.TB, programs ...string) {
	t.Helper()
	now().services(t, programs)
}

// services skips or fails the test if programs of system services may not run or are missing. It does the work of
// NeedsServices.
func (r run) services(t testing.TB, programs []string) {
	t.Helper()
	if !r.ci {
		t.Skip("it starts system services: make test-ci runs it")
	}
	r.ask(t, Services, programs)
}

// ask returns the paths of programs, all of which must be in known. It skips or fails the test if one is missing.
func (r run) ask(t testing.TB, known, programs []string) []string {
	t.Helper()
	for _, p := range programs {
		if !slices.Contains(known, p) {
			t.Fatalf("%s is not among the programs that tests may ask for: see internal/testsupport/tier", p)
		}
	}
	if r.short {
		t.Skip("the quick tier calls no other program: make test does")
	}
	if !r.full && !r.named && slices.ContainsFunc(programs, func(p string) bool { return slices.Contains(slow, p) }) {
		t.Skip("it calls compilers: make test does")
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

// lacks returns the message that programs are missing.
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
	case in([]string{training}):
		text = "there is no Python with PyTorch and Brevitas: make train makes its environment"
	case in([]string{browser}):
		text = "there is no Chromium with what drives it: make browser makes bin/browser"
	case in(InstallablePrograms):
		text += ": make setup installs what is missing"
	case in(Services):
		text += ": make test-ci installs what is missing"
	}
	return text
}
