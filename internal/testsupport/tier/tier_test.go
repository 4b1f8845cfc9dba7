package tier

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
)

// A recorder is a test that records how it ends.
type recorder struct {
	testing.TB
	end string
}

func (r *recorder) Helper()         {}
func (r *recorder) Skip(a ...any)   { r.stop("skip: " + fmt.Sprint(a...)) }
func (r *recorder) Fatal(a ...any)  { r.stop("fail: " + fmt.Sprint(a...)) }
func (r *recorder) stop(end string) { r.end = end; runtime.Goexit() }
func (r *recorder) Fatalf(format string, a ...any) {
	r.Fatal(fmt.Sprintf(format, a...))
}

// end returns how a test ends after a request: "skip: why", "fail: why", or "runs".
func end(ask func(testing.TB)) string {
	r := &recorder{end: "runs"}
	done := make(chan struct{})
	go func() { defer close(done); ask(r) }()
	<-done
	return r.end
}

// has returns a look-up of programs on a machine with the given ones.
func has(programs ...string) func(string) (string, error) {
	return func(p string) (string, error) {
		if slices.Contains(programs, p) {
			return "/bin/" + p, nil
		}
		return "", os.ErrNotExist
	}
}

// TestNeeds checks the result for a test that needs a program, in every tier, with and without the program.
func TestNeeds(t *testing.T) {
	t.Parallel()
	const (
		missing = "g++ is not in the PATH: make setup installs what is missing"
		tcl     = "tclsh is not in the PATH: make setup installs what is missing"
		slow    = "it calls compilers: make test does"
		both    = "tclsh, g++ are not in the PATH: make setup installs what is missing"
		quick   = "the quick tier calls no other program: make test does"
		trains  = "there is no Python with PyTorch and Brevitas: make train makes its environment"
		opens   = "there is no Chromium with what drives it: make browser makes bin/browser"
		unknown = "gxx is not among the programs that tests may ask for: see internal/testsupport/tier"
	)
	for _, c := range []struct {
		name string
		run  run
		asks []string
		want string
	}{
		{"plain, there", run{look: has("tclsh")}, []string{"tclsh"}, "runs"},
		{"plain, missing", run{look: has("sh")}, []string{"sh", "tclsh"}, "skip: " + tcl},
		{"plain, a compiler", run{look: has("sh", "g++")}, []string{"sh", "g++"}, "skip: " + slow},
		{"plain, a compiler by name", run{named: true, look: has("sh", "g++")}, []string{"sh", "g++"}, "runs"},
		{"plain, a compiler missing", run{named: true, look: has("sh")}, []string{"sh", "g++"}, "skip: " + missing},
		{"full, two missing", run{full: true, look: has()}, []string{"tclsh", "g++"}, "fail: " + both},
		{"plain, a basic one missing", run{look: has()}, []string{"make"}, "skip: make is not in the PATH"},
		{"full, there", run{full: true, look: has("g++")}, []string{"g++"}, "runs"},
		{"full, missing", run{full: true, look: has("sh")}, []string{"sh", "g++"}, "fail: " + missing},
		{"plain, training", run{look: has("training")}, []string{"training"}, "skip: " + slow},
		{"full, training missing", run{full: true, look: has()}, []string{"training"}, "fail: " + trains},
		{"plain, browser", run{look: has("browser")}, []string{"browser"}, "skip: " + slow},
		{"full, browser missing", run{full: true, look: has()}, []string{"browser"}, "fail: " + opens},
		{"quick, there", run{short: true, look: has("g++")}, []string{"g++"}, "skip: " + quick},
		{"a misspelt program", run{look: has()}, []string{"gxx"}, "fail: " + unknown},
	} {
		if got := end(func(t testing.TB) { c.run.ask(t, known, c.asks) }); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	r := run{full: true, look: has("sh", "g++")}
	if got := r.ask(t, known, []string{"g++", "sh"}); !slices.Equal(got, []string{"/bin/g++", "/bin/sh"}) {
		t.Errorf("paths %q", got)
	}
}

func TestServices(t *testing.T) {
	t.Parallel()
	const missing = "slurmd is not in the PATH: make test-ci installs what is missing"
	for _, c := range []struct {
		run  run
		want string
	}{
		{run{full: true, look: has("slurmd")}, "skip: it starts system services: make test-ci runs it"},
		{run{full: true, ci: true, look: has("slurmd")}, "runs"},
		{run{full: true, ci: true, look: has()}, "fail: " + missing},
	} {
		if got := end(func(t testing.TB) { c.run.services(t, []string{"slurmd"}) }); got != c.want {
			t.Errorf("%+v: %s, want %s", c.run, got, c.want)
		}
	}
}

func TestFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, c := range []struct {
		run       run
		want, end string
	}{
		{run{}, "", "runs"},
		{run{short: true, shared: dir}, "", "runs"},
		{run{shared: dir}, dir, "runs"},
		{run{shared: "internal/testsupport/tier"}, filepath.Join(Root(t), "internal", "testsupport", "tier"), "runs"},
		{run{shared: "no/such/folder"}, "", "fail: HLSGEN_SHARED=no/such/folder names no folder"},
		{run{shared: "go.mod"}, "", "fail: HLSGEN_SHARED=go.mod names no folder"},
	} {
		var got string
		if end := end(func(tb testing.TB) { got = c.run.folder(tb) }); end != c.end || got != c.want {
			t.Errorf("%+v: %q, %s, want %q, %s", c.run, got, end, c.want, c.end)
		}
	}
}

// TestNow checks the variables. It cannot run in parallel.
func TestNow(t *testing.T) {
	for _, c := range []struct {
		env  map[string]string
		full bool
		long bool
		few  int
	}{
		{nil, false, false, 2},
		{map[string]string{"HLSGEN_FULL": "0"}, false, false, 2},
		{map[string]string{"HLSGEN_FULL": "1"}, true, false, 9},
		{map[string]string{"HLSGEN_CI": "1"}, true, false, 9},
		{map[string]string{"HLSGEN_LONG": "1"}, true, true, 9},
	} {
		for _, name := range []string{"HLSGEN_FULL", "HLSGEN_CI", "HLSGEN_LONG"} {
			t.Setenv(name, c.env[name])
		}
		few := c.few
		full, long := c.full && !testing.Short(), c.long && !testing.Short()
		if testing.Short() {
			few = 2
		}
		if Full() != full || Long() != long || CasesToRun(9) != few || CasesToRun(0) != 0 || CasesToRun(1) != 1 {
			t.Errorf("%v: full %v, long %v, %d of 9", c.env, Full(), Long(), CasesToRun(9))
		}
	}
}
