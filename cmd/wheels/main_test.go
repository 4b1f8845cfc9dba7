package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"hlsgen/internal/testsupport/tier"
	"hlsgen/templates/deploy"
)

// TestDriver writes the driver's wheel twice, in equal bytes. Python imports the module from it, which is
// accelerator.py, and finds what the distribution needs.
func TestDriver(t *testing.T) {
	t.Parallel()
	python := tier.Needs(t, "numpy")[0]
	var wheels [2]string
	var texts [2][]byte
	for i := range wheels {
		paths, err := write(t.Context(), "v1.2-3-g1a2b3c4", t.TempDir(), tier.Root(t), nil)
		if err != nil {
			t.Fatal(err)
		}
		wheels[i] = paths[0]
		if texts[i], err = os.ReadFile(wheels[i]); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(texts[0], texts[1]) {
		t.Error("two runs give other bytes")
	}
	_, err := write(t.Context(), "dev", t.TempDir(), tier.Root(t), nil)
	if err == nil || !strings.Contains(err.Error(), `"dev" is no version`) {
		t.Errorf("%v", err)
	}
	driver, err := deploy.PythonDriver()
	if err != nil {
		t.Fatal(err)
	}
	const program = `
import importlib.metadata, sys, zipfile
sys.path.insert(0, sys.argv[1])
import hlsgen_driver
assert hlsgen_driver.__file__.startswith(sys.argv[1]), hlsgen_driver.__file__
assert zipfile.ZipFile(sys.argv[1]).read("hlsgen_driver.py") == sys.stdin.buffer.read()
of = importlib.metadata.distribution("hlsgen-driver")
print(of.version, of.requires, of.metadata["Requires-Python"])
try:
    hlsgen_driver.Accelerator("net.bit")
except hlsgen_driver.Unfit as e:
    print(e)
`
	run := exec.Command(python, "-c", program, wheels[0])
	run.Stdin = bytes.NewReader(driver)
	said, err := run.CombinedOutput()
	if err != nil || !strings.HasPrefix(string(said), "1.2.post3+g1a2b3c4 ['numpy>=1.17'] >=3.8\nthere is no ") ||
		!strings.Contains(string(said), "Accelerator(..., host=PATH)") {
		t.Errorf("%v\n%s", err, said)
	}
}

// TestInstall has pip install the driver's wheel on every Python of boards that internal/setup/pynq.sh has found.
func TestInstall(t *testing.T) {
	t.Parallel()
	tier.NeedsLong(t)
	paths, err := write(t.Context(), "v1.2", t.TempDir(), tier.Root(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	wheel := paths[0]
	pythons, err := filepath.Glob(filepath.Join(tier.Root(t), "bin", "pynq", "3.*", "bin", "python"))
	if err != nil || len(pythons) == 0 {
		t.Fatal("no Python is here: internal/setup/pynq.sh bin/pynq makes environments, make test-long calls it")
	}
	for _, python := range pythons {
		to := t.TempDir()
		said, err := exec.Command(python, "-m", "pip", "install", "--no-index", "--no-deps", "--target", to,
			wheel).CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v\n%s", python, err, said)
			continue
		}
		c := exec.Command(python, "-m", "hlsgen_driver", "net.bit", "x.npy", "y.npy")
		c.Env = append(c.Environ(), "PYTHONPATH="+to)
		said, err = c.CombinedOutput()
		if err == nil || !strings.Contains(string(said), "error: there is no "+to) {
			t.Errorf("%s: %v\n%s", python, err, said)
		}
	}
}
