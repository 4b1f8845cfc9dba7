// Package synthtest holds generated C++ against what synthesis is to make of it: clang and opt stand in for the tool.
// In come a project's files and what each process promises; out come findings: loops that remain and should not, or the
// other way round, functions that were not inlined, static variables that two processes could share, members of configs
// that nothing reads.
//
//	synthtest.go  Check, and what a process promises
//	prepare.go    the C++ as synthesis sees it, with the pragmas in clang's words
//	loops.go      what opt says of the loops, and the calls in the code
//	statics.go    what nm says of the static variables
//	members.go    what clang says of the members of configs
//	ir.go         clang's code as data
//	widths.go     how many bits of machine words its values have
//	carried.go    Kernels: the longest path from a kernel's state to the next one
//	habits.go     headers that behave as the vendor's do
//	threads.go    processes that are threads, whose reads wait
//	reset.go      what a reset in the midst of a frame leaves, in the compiled C++
//
// It sees templates (files), delay and internal/tier; only tests import it.
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

	"hlsgen/internal/tier"
	"hlsgen/templates"
)

// Any is the trips of a loop that data end.
const Any = 0

// Promises is the trips of the loops that each function of a project keeps, by its name: none, as a call of a process
// is one iteration.
func Promises(files templates.Files) map[string][]int {
	promises := map[string][]int{}
	for _, m := range function.FindAllSubmatch(files.Processes(".cpp"), -1) {
		promises[string(m[1])] = nil
	}
	return promises
}

// function is where a function outside of classes and templates begins.
var function = regexp.MustCompile(`(?m)^void (\w+)\(`)

// Check compiles the processes of a project, and reports what breaks the promises of its functions, which promises
// lists.
// The test is skipped, or fails, where there is no clang++, opt or nm.
func Check(t testing.TB, files templates.Files, promises map[string][]int) {
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

// check is Check in a folder, which it fills.
func check(
	ctx context.Context, dir string, files templates.Files, promises map[string][]int,
) ([]string, error) {
	ready, err := prepare(files)
	if err != nil {
		return nil, err
	}
	if err := ready.Write(dir); err != nil {
		return nil, err
	}
	w := work{ctx, filepath.Join(dir, "hls")}
	seen := map[string]bool{}
	const unit = "layers" // the top has streams and calls alone
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

// work is commands in a folder.
type work struct {
	ctx context.Context
	dir string
}

// run runs a program; the error has what it printed.
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
