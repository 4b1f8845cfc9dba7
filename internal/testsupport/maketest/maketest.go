// Package maketest runs make in the folders of builds, for tests.
package maketest

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"hlsgen/internal/testsupport/tier"
)

// OneUnit is a variable of Verilator's makefiles that has its C++ compiled in one unit. In many units most of the time
// goes into reading headers.
const OneUnit = "VM_PARALLEL_BUILDS=0"

// Soon lists variables of Verilator's makefiles for a program that runs for a second: it is compiled as it is, by
// clang++, which takes half as long as g++ for that.
var Soon = []string{"OPT_FAST=-O0", "OPT_GLOBAL=-O0", OneUnit, "CXX=clang++"}

// PyPI returns the argument with which make runs PyPI's tools in the folder of a build: the Makefile's function from a
// name to a path. It skips the test where they are not installed.
func PyPI(t *testing.T) string {
	t.Helper()
	tools := filepath.Join(tier.Root(t), "bin", "yowasp", "bin", "yowasp-")
	if _, err := os.Stat(tools + "nextpnr-ecp5"); err != nil {
		t.Skip("PyPI's tools are not in bin/yowasp: make test-long installs them")
	}
	return "tool=" + tools + "$(1)"
}

// Make runs make in the folder dir, and returns its output. It fails the test if make fails.
func Make(t *testing.T, dir string, args ...string) string {
	t.Helper()
	c := exec.Command("make", append([]string{"-s", "-C", dir}, args...)...)
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("make %s: %v\n%.4000s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// Library has make compile the library of the folder dir, and returns its path.
func Library(t *testing.T, dir string, args ...string) string {
	t.Helper()
	Make(t, dir, args...)
	libs, err := filepath.Glob(filepath.Join(dir, "build", "lib*.so"))
	if err != nil || len(libs) != 1 {
		t.Fatal(libs, err)
	}
	return libs[0]
}

// Figure returns the number that a pattern finds in what make says, the last one.
func Figure(t *testing.T, text, pattern string) float64 {
	t.Helper()
	all := regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1)
	if len(all) == 0 {
		t.Fatalf("nothing is %s in\n%.4000s", pattern, text)
	}
	v, err := strconv.ParseFloat(all[len(all)-1][1], 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}
