// Package setup holds what `make` and .ci/run do before, around and after the tests.
package setup

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hlsgen/internal/testsupport/tier"
)

// TestTargets checks what each target of the Makefile installs and runs, from the output of `make -n`.
func TestTargets(t *testing.T) {
	t.Parallel()
	make := tier.Needs(t, "make")[0]
	const tidy = "\ngo mod tidy -diff\n"
	const trains = "internal/setup/train.sh bin/train"
	const browser = "internal/setup/browser.sh bin/browser"
	const full = "\nHLSGEN_FULL=1 go test -timeout 30m -v ./internal/build ./... 2>&1 | " +
		"awk -f internal/setup/summary.awk\n"
	read(t, "../../Makefile")
	installs := "internal/setup/setup.sh go " + strings.Join(tier.InstallablePrograms, " ") + "\n"
	for _, c := range []struct {
		target      string
		want, never []string
	}{
		{"setup", []string{installs}, []string{"slurm"}},
		{"test-quick", []string{"setup.sh go\n", "\ngo test -short ./...\n"}, []string{"g++", "HLSGEN_"}},
		{"train", []string{"\n" + trains + "\n"}, []string{"setup.sh", "HLSGEN_"}},
		{"browser", []string{"\n" + browser + "\n"}, []string{"setup.sh", "HLSGEN_"}},
		{"test", []string{installs, trains, browser, tidy, full}, []string{"slurm", "HLSGEN_CI", "HLSGEN_LONG"}},
		{"test-ci", []string{"setup.sh slurm\n", installs, trains, tidy, "\nHLSGEN_CI=1 ", full}, nil},
		{"test-long", []string{installs, trains, browser, "\nHLSGEN_FULL=1 HLSGEN_LONG=1 go test "},
			[]string{"slurm", "HLSGEN_CI"}},
	} {
		cmd := exec.Command(make, "-n", c.target)
		cmd.Dir = tier.Root(t)
		cmd.Env = without("MAKE", "MFLAGS", "HLSGEN_") // this test may have been started by make
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v\n%s", c.target, err, out)
		}
		text := "\n" + string(out)
		for _, w := range c.want {
			if !strings.Contains(text, w) {
				t.Errorf("%s has no %q:\n%s", c.target, w, out)
			}
		}
		for _, w := range c.never {
			if strings.Contains(text, w) {
				t.Errorf("%s has %q:\n%s", c.target, w, out)
			}
		}
	}
	if !strings.Contains(read(t, "../../.ci/run"), "\nmake test-ci\n") {
		t.Error(".ci/run does not run make test-ci")
	}
}

// read reads a file, even if only another program needs its text: go test takes a result for still true where no file
// has changed that the test itself has opened.
func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// without returns the environment of this process, without variables whose names have one of the prefixes.
func without(prefixes ...string) []string {
	return slices.DeleteFunc(os.Environ(), func(v string) bool {
		return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(v, p) })
	})
}

// TestScript runs setup.sh on machines with some of the programs, with stand-ins for programs that would install the
// others.
func TestScript(t *testing.T) {
	t.Parallel()
	paths := tier.Needs(t, "bash", "sh", "awk")
	bash, sh := paths[0], paths[1]
	script, err := filepath.Abs("setup.sh")
	if err != nil {
		t.Fatal(err)
	}
	read(t, script)
	const root, user = "echo 0", "echo 1000"
	apt, sudo := `echo "apt-get $*"`, `echo "sudo $1"; "$@"`
	installed := func(as, packages string) string {
		return "setup: missing packages: " + packages + "\n" +
			"setup: installing them with: " + as + "apt-get install " + packages + "\n" +
			strings.ReplaceAll(as, " ", " apt-get\n") + "apt-get update -q\n" +
			strings.ReplaceAll(as, " ", " env\n") + "apt-get install -q -y --no-install-recommends " + packages + "\n"
	}
	type programs map[string]string // by name, as lines of sh
	for _, c := range []struct {
		name string
		has  programs
		asks string
		code int
		want string
	}{
		{"nothing is missing", programs{"g++": "", "tclsh": "", "id": user}, "g++ tclsh", 0, ""},
		{"root", programs{"g++": "", "id": root, "apt-get": apt, "sudo": sudo},
			"g++ clang++ opt nm tclsh verilator yosys icepack", 0,
			installed("", "clang llvm binutils tcl verilator yosys fpga-icestorm")},
		{"sudo", programs{"id": user, "apt-get": apt, "sudo": sudo}, "g++", 0, installed("sudo ", "g++")},
		{"neither", programs{"id": user, "apt-get": apt}, "g++", 1, "setup: missing packages: g++\n" +
			"setup: installing needs root, and there is no sudo. Ask an administrator for: apt-get install g++\n"},
		{"another system", programs{"id": root}, "tclsh", 1, "setup: missing packages: tcl\n" +
			"setup: this is neither Debian nor Ubuntu: install them with your own package manager " +
			"(Go: https://go.dev/dl), then run make again\n"},
		{"apt-get fails", programs{"id": root, "apt-get": "exit 100"}, "tclsh", 100,
			"setup: missing packages: tcl\nsetup: installing them with: apt-get install tcl\n"},
		{"an unknown tool", nil, "gxx", 2, "setup: unknown tool gxx\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			program := func(name, text string) {
				if err := os.WriteFile(filepath.Join(dir, name), []byte("#!"+sh+"\n"+text+"\n"), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			for name, text := range c.has {
				program(name, text)
			}
			program("awk", "exec "+paths[2]+` "$@"`)
			program("dirname", `echo "${1%/*}"`)
			program("env", `export "$1"; shift; exec "$@"`)
			cmd := exec.Command(bash, append([]string{script}, strings.Fields(c.asks)...)...)
			cmd.Env = []string{"PATH=" + dir}
			out, err := cmd.CombinedOutput()
			if code := cmd.ProcessState.ExitCode(); code != c.code || string(out) != c.want {
				t.Errorf("%v, exit code %d, want %d\ngot\n%swant\n%s", err, code, c.code, out, c.want)
			}
		})
	}
}

// TestTrain runs train.sh with a stand-in for a Python that has PyTorch and Brevitas: nothing else is installed for
// them, and an environment over them is made once.
func TestTrain(t *testing.T) {
	t.Parallel()
	paths := tier.Needs(t, "bash", "sh")
	read(t, "train.sh")
	dir := t.TempDir()
	python := filepath.Join(dir, "python3")
	const stand = `
case $1 in
-c) ;; # asked for its modules: it has them
-V) echo Python 3.14.0 ;;
-m) echo "${0##*/} $*" >&2 && [ "$2.$REFUSES" != pip.yes ] || exit 1 ;;
esac
[ "$2" != venv ] || { mkdir -p "$4/bin" && cp "$0" "$4/bin/python"; }
`
	if err := os.WriteFile(python, []byte("#!"+paths[1]+stand), 0o755); err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(dir, "train")
	const packages = "onnx onnxoptimizer setuptools<81 matplotlib pandas ipykernel nbclient"
	first := "setup: making " + to + ", in which tests train networks, over " + python + ": " + packages + " \n" +
		"python3 -m venv --system-site-packages " + to + "\n" +
		"python -m pip --quiet --disable-pip-version-check install " + packages + "\n"
	path := "PATH=" + dir + string(filepath.ListSeparator) + os.Getenv("PATH")
	refused := exec.Command(paths[0], "train.sh", to)
	refused.Env = append(os.Environ(), path, "REFUSES=yes")
	if out, err := refused.CombinedOutput(); err == nil || !strings.Contains(string(out),
		"Python 3.14.0) does not take these packages: install PyTorch, Brevitas and onnxoptimizer for ") {
		t.Errorf("%v\n%s", err, out)
	}
	for _, want := range []string{first, ""} {
		cmd := exec.Command(paths[0], "train.sh", to)
		cmd.Env = append(os.Environ(), path)
		if out, err := cmd.CombinedOutput(); err != nil || string(out) != want {
			t.Errorf("%v\ngot\n%swant\n%s", err, out, want)
		}
	}
}

// TestSummary checks that the shortened output has every package, every failure, and every skip with its reason.
func TestSummary(t *testing.T) {
	t.Parallel()
	awk := tier.Needs(t, "awk")[0]
	read(t, "summary.awk")
	const good = `=== RUN   TestA
--- PASS: TestA (2.50s)
=== RUN   TestB
=== RUN   TestB/C++
    layertest.go:52: g++ is not in the PATH
=== RUN   TestB/other
--- PASS: TestB (0.00s)
    --- SKIP: TestB/C++ (0.00s)
    --- PASS: TestB/other (40.00s)
PASS
ok  	hlsgen/hlslib/add	0.02s
?   	hlsgen/nothing	[no test files]
=== RUN   TestA
=== PAUSE TestA
=== RUN   TestB
    b_test.go:3: it takes minutes
--- SKIP: TestB (0.00s)
=== CONT  TestA
    a_test.go:7: g++ is not in the PATH
--- SKIP: TestA (0.00s)
=== RUN   TestC
--- SKIP: TestC (0.00s)
=== RUN   TestD
--- PASS: TestD (12.04s)
PASS
ok  	hlsgen/boards	(cached)
`
	const bad = `=== RUN   TestA
    a_test.go:7: 3, want 4
--- FAIL: TestA (0.00s)
=== RUN   TestB
--- PASS: TestB (0.00s)
FAIL
FAIL	hlsgen/rtlsim	0.02s
FAIL
`
	const skips = `
skipped:
    2  g++ is not in the PATH
       hlslib/add: TestB/C++
       boards: TestA
    1  it takes minutes
       boards: TestB
    1  no reason given
       boards: TestC
`
	const slowest = `slowest tests, in seconds:
    12.0  TestD of boards
     2.5  TestA of hlslib/add
`
	const packages = `ok  	hlsgen/hlslib/add	0.02s
?   	hlsgen/nothing	[no test files]
ok  	hlsgen/boards	(cached)
`
	const told = "Tests failed in 1 package; its output stands above, before its line FAIL.\n"
	var many, most strings.Builder // of which ten are told
	for i := range 30 {
		fmt.Fprintf(&many, "--- PASS: Test%d (%d.00s)\n", i, 7*(i+1)%31)
	}
	for seconds := 30; seconds > 20; seconds-- {
		fmt.Fprintf(&most, "%8.1f  Test%d of boards\n", float64(seconds), 9*seconds%31-1)
	}
	const boards = "ok  \thlsgen/boards\t30s\n"
	for _, c := range []struct{ in, want string }{
		{many.String() + boards, boards + "\nslowest tests, in seconds:\n" + most.String() +
			"Every test that ran passed.\n30 passed, 0 failed, 0 skipped\n"},
		{good, packages + skips + slowest + "Every test that ran passed.\n4 passed, 0 failed, 4 skipped\n"},
		{bad, `    a_test.go:7: 3, want 4
--- FAIL: TestA (0.00s)
FAIL	hlsgen/rtlsim	0.02s

` + told + "1 passed, 1 failed, 0 skipped\n"},
		{"# hlsgen/folding\nfolding/a.go:3: undefined: x\nFAIL\thlsgen/folding [build failed]\nFAIL\n",
			"# hlsgen/folding\nfolding/a.go:3: undefined: x\nFAIL\thlsgen/folding [build failed]\n\n" + told +
				"0 passed, 0 failed, 0 skipped\n"},
	} {
		cmd := exec.Command(awk, "-f", "summary.awk")
		cmd.Stdin = strings.NewReader(c.in)
		if out, err := cmd.CombinedOutput(); err != nil || string(out) != c.want {
			t.Errorf("%v\ngot\n%swant\n%s", err, out, c.want)
		}
	}
}
