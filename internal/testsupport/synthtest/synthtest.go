// Package synthtest checks generated C++ against the expected result of synthesis, with clang and opt in place of the
// tool. In come a project's files and the promises of each process; out come findings. A finding is a loop that should
// not remain, or does not remain but should. It may also be a function that was not inlined, a static variable that
// two processes could share, or a config member that nothing reads.
//
//	synthtest.go  Check, and the promises of a process
//	prepare.go    the C++ as synthesis reads it, with the pragmas translated to clang's
//	loops.go      the loops, as opt reports them, and the calls in the code
//	statics.go    the static variables, as nm reports them
//	members.go    the config members, as clang reports them
//	ir.go         clang's IR as data
//	widths.go     the bits in use of values in machine words
//	carried.go    Kernels: the longest path from a kernel's state to the next one
//	habits.go     headers that behave as the vendor's do
//	threads.go    processes as threads, whose reads wait
//	reset.go      the compiled C++ after a reset in the middle of a frame
package synthtest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"hlsgen/internal/testsupport/tier"
	"hlsgen/templates"
)

// AnyTrips stands for the trip count of a loop whose end depends on data.
const AnyTrips = 0

// Promises returns the trip counts of the loops that may remain in each function of a project, by name. There are
// none, because a call of a process is one iteration.
func Promises(files templates.ProjectFiles) map[string][]int {
	promises := map[string][]int{}
	for _, m := range function.FindAllSubmatch(files.JoinProcessFiles(".cpp"), -1) {
		promises[string(m[1])] = nil
	}
	return promises
}

// function matches the beginning of a function outside of classes and templates.
var function = regexp.MustCompile(`(?m)^void (\w+)\(`)

// Check compiles the processes of a project, and reports violations of the promises for its functions as test errors.
// The test is skipped, or fails, if clang++, opt or nm is missing.
func Check(t testing.TB, files templates.ProjectFiles, promises map[string][]int) {
	t.Helper()
	tier.Needs(t, "clang++", "opt", "nm")
	findings, err := check(t.Context(), t.TempDir(), files, promises)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range findings {
		t.Error(f)
	}
}

// check returns the violations that Check reports. It writes files below the folder dir.
func check(
	ctx context.Context, dir string, files templates.ProjectFiles, promises map[string][]int,
) ([]string, error) {
	ready, err := prepare(files)
	if err != nil {
		return nil, err
	}
	if err := ready.WriteBelow(dir); err != nil {
		return nil, err
	}
	w := work{ctx, filepath.Join(dir, "hls")}
	seen := map[string]bool{}
	const unit = "layers" // the top contains only streams and calls
	if err := w.parse(unit); err != nil {
		return nil, err
	}
	functions, findings, err := w.functions(unit, promises)
	if err != nil {
		return nil, err
	}
	for name, trips := range functions {
		seen[name] = true
		if want := slices.Sorted(slices.Values(promises[name])); !slices.Equal(trips, want) {
			findings = append(findings, fmt.Sprintf("%s keeps loops of %v trips, promised are %v", name, trips, want))
		}
	}
	shared, err := w.statics(unit)
	if err != nil {
		return nil, err
	}
	findings = append(findings, shared...)
	unread, err := w.members(unit, files)
	if err != nil {
		return nil, err
	}
	findings = append(findings, unread...)
	for name := range promises {
		if !seen[name] {
			findings = append(findings, "no function "+name)
		}
	}
	findings = append(findings, configs(files)...)
	slices.Sort(findings)
	return findings, nil
}

// A work runs commands in a folder.
type work struct {
	ctx context.Context
	dir string
}

// run runs a program. An error contains the program's output.
func (w work) run(name string, args ...string) (string, error) {
	c := exec.CommandContext(w.ctx, name, args...)
	c.Dir = w.dir
	c.Env = append(os.Environ(), "TMPDIR="+w.dir)
	out, err := c.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w\n%.4000s", name, strings.Join(args, " "), err, out)
	}
	return string(out), nil
}
