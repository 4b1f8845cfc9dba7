package synthtest

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// flags make clang inline and unroll everything that the code requests, regardless of size, and nothing else. Statics
// are not made safe for threads, because a process has one thread; so a static that is not constant costs only a
// guard bit.
var flags = []string{"-std=c++14", "-D__SYNTHESIS__", "-w", "-O1", "-fno-exceptions", "-fno-rtti", "-fno-vectorize",
	"-fno-threadsafe-statics",
	"-fno-slp-vectorize", "-fno-unroll-loops", "-mllvm", "-inline-threshold=1000000000", "-mllvm",
	"-pragma-unroll-threshold=1000000000", "-Icsim"}

var (
	defined = regexp.MustCompile(`(?m)^define [^@]*@("[^"]+"|[\w.$]+)\(`)
	called  = regexp.MustCompile(`(?m)^ *(?:%\S+ = )?(?:(?:tail|musttail|notail) )?(?:call|invoke) .*$`)
	callee  = regexp.MustCompile(`@("[^"]+"|[\w.$]+)\(`)
	mangled = regexp.MustCompile(`^_Z(\d+)(.*)$`)
	// The output of opt about a function, each of its loops, and the number of a loop's iterations.
	described = regexp.MustCompile(`^Printing analysis 'Scalar Evolution Analysis' for function '(.*)':$`)
	loopOf    = regexp.MustCompile(`^Loop at depth \d+ containing: `)
	counted   = regexp.MustCompile(`^Loop %\S+: backedge-taken count is (\d+)$`)
	uncounted = regexp.MustCompile(`^Loop %\S+: (?:<multiple exits> )?(?:Unpredictable backedge-taken count|` +
		`backedge-taken count is .*[^\d].*)`)
)

// parse makes clang read a unit once for several uses, because reading tables takes longer than compiling.
func (w work) parse(unit string) error {
	_, err := w.run("clang++", slices.Concat(flags, []string{"-emit-ast", "-o", unit + ".ast", unit + ".cpp"})...)
	return err
}

// functions compiles a parsed unit. It returns the trip counts of the loops that remain in each function, in order.
// It also returns problems: functions that no promise names, and calls of functions other than those of streams.
func (w work) functions(unit string, promises map[string][]int) (map[string][]int, []string, error) {
	if _, err := w.run("clang++", slices.Concat(flags, []string{"-S", "-emit-llvm", "-o", unit + ".ll",
		unit + ".ast"})...); err != nil {
		return nil, nil, err
	}
	ir, err := os.ReadFile(filepath.Join(w.dir, unit+".ll"))
	if err != nil {
		return nil, nil, err
	}
	text := string(ir)
	var problems []string
	for _, m := range defined.FindAllStringSubmatch(text, -1) {
		if _, ok := promises[plain(m[1])]; !ok && !words.MatchString(m[1]) {
			problems = append(problems, unit+".cpp: not inlined: "+m[1])
		}
	}
	for _, call := range called.FindAllString(text, -1) {
		m := callee.FindStringSubmatch(call)
		if m == nil {
			problems = append(problems, unit+".cpp: calls through a pointer")
			continue
		}
		if _, ok := promises[plain(m[1])]; !ok && !ours(m[1]) {
			problems = append(problems, unit+".cpp: calls "+m[1])
		}
	}
	slices.Sort(problems)
	loops, err := w.loops(unit)
	return loops, slices.Compact(problems), err
}

// words matches functions of the word types, which synthesis implements by itself.
var words = regexp.MustCompile(`^_ZNK?(12ap_range_ref|9ap_detail)`)

// ours reports whether a function belongs to a stream or a word, or disappears in the final code.
func ours(name string) bool {
	return words.MatchString(name) || strings.HasPrefix(name, "llvm.") || strings.HasPrefix(name, "_ZN3hls6stream") ||
		strings.HasPrefix(name, "_ZNK3hls6stream")
}

// plain returns the name of a function without its mangled types, if it is in no namespace.
func plain(name string) string {
	if m := mangled.FindStringSubmatch(name); m != nil {
		if n, err := strconv.Atoi(m[1]); err == nil && n <= len(m[2]) {
			return m[2][:n]
		}
	}
	return name
}

// loops returns the trip counts of the loops in each function of a compiled unit.
func (w work) loops(unit string) (map[string][]int, error) {
	out, err := w.run("opt", "-disable-output", "-scalar-evolution-classify-expressions=0",
		"-passes=print<loops>,print<scalar-evolution>", unit+".ll")
	if err != nil {
		return nil, err
	}
	found, name, there, known := map[string][]int{}, "", 0, 0
	finish := func() error {
		if there != known {
			return fmt.Errorf("%s.cpp, before %s: %d loops, and counts of %d", unit, name, there, known)
		}
		there, known = 0, 0
		return nil
	}
	loops := 0 // loops of the function that is described next
	for line := range strings.Lines(out) {
		line = strings.TrimSpace(line)
		if loopOf.MatchString(line) {
			loops++
			continue
		}
		if m := described.FindStringSubmatch(line); m != nil {
			if err := finish(); err != nil {
				return nil, err
			}
			name, there, loops = plain(m[1]), loops, 0
			found[name] = nil
			continue
		}
		if m := counted.FindStringSubmatch(line); m != nil {
			n, err := strconv.Atoi(m[1])
			if err != nil {
				return nil, err
			}
			known++
			found[name] = append(found[name], n+1)
		} else if uncounted.MatchString(line) {
			known++
			found[name] = append(found[name], AnyTrips)
		}
	}
	for n := range found {
		if slices.Sort(found[n]); words.MatchString(n) {
			delete(found, n)
		}
	}
	return found, finish()
}
