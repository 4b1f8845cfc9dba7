package training

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"hlsgen/internal/testsupport/tier"
)

// An environment is the Python in which networks are trained, with a folder in which the wheels are installed.
type environment struct {
	python, wheels string
}

// install makes the wheels of this machine and installs them in a folder of the test.
func install(t *testing.T) environment {
	t.Helper()
	e := environment{python: tier.Needs(t, "training")[0], wheels: t.TempDir()}
	made := t.TempDir()
	run := func(name string, args ...string) {
		t.Helper()
		cmd := exec.Command(name, args...)
		cmd.Dir = tier.Root(t)
		if said, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, said)
		}
	}
	run("go", "run", "./cmd/wheels", "v1.2", made, "own")
	run(e.python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index", "--no-deps",
		"--find-links", made, "--target", e.wheels, "hlsgen", "hlsgen-driver")
	return e
}

// command returns the command that runs a program in the environment.
func (e environment) command(args ...string) *exec.Cmd {
	cmd := exec.Command(e.python, args...)
	cmd.Env = append(os.Environ(), "PYTHONPATH="+e.wheels,
		"PATH="+filepath.Dir(e.python)+string(filepath.ListSeparator)+os.Getenv("PATH"),
		"ATEN_CPU_CAPABILITY=default", // PyTorch's sums are the same on every processor
		"OMP_NUM_THREADS=1")
	return cmd
}
