// Package maketest runs make in the folders of builds, for tests.
package maketest

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

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
