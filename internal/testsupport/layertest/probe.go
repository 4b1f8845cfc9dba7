package layertest

import (
	"bytes"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"hlsgen/internal/dataflow"
	"hlsgen/templates"
)

//go:embed probe/probe.hpp
var probe []byte

// An insertion adds a call of the probe to a copy of a generated file.
type insertion struct {
	at   *regexp.Regexp
	text string
}

var (
	// A frame ends after its calls, each of which is an iteration.
	frameEnds = insertion{regexp.MustCompile(`(?m)^            (\w+)\(.*\);\n        \}$`),
		"$0\n        hlsgen_probe::frame(\"$1\");"}
	streamReads  = insertion{regexp.MustCompile(`(?m)^    T read\(\) \{$`), "$0\n        hlsgen_probe::read(this);"}
	streamWrites = insertion{regexp.MustCompile(`(?m)^    void write\(const T& v\) \{`),
		"$0 hlsgen_probe::written(this);"}
	probeHead = insertion{regexp.MustCompile(`(?m)^#include <cstdio>$`), "$0\n#include \"probe.hpp\""}
	// Computations are operators of all kinds, found by the names of their loops over limbs.
	results = insertion{regexp.MustCompile(`(?m)^    AP_BINARY_OP\(op, kind\) \{ `),
		"$0 hlsgen_probe::of_limbs(W1, W2);"}
	assignments = insertion{regexp.MustCompile(`& operator op##=\(const ap_int_base<W2, S2>& o\) \{ `),
		"$0 hlsgen_probe::of_limbs(W, W2);"}
	assignmentsOfC = insertion{regexp.MustCompile(`(?m)^        V\[0\] = .* op static_cast<ap_ulong>\(o\)`),
		"        hlsgen_probe::of_limbs(W, ap_detail::c_int<T>::width);$0"}
	comparisons = insertion{regexp.MustCompile(`ap_detail::same_sign<S1, S2>\(\);`),
		"$0 hlsgen_probe::comparison(W1, W2);"}

	probeInclude  = regexp.MustCompile(`(?m)^#include "\.\./layers\.hpp"$`)
	layerFunction = regexp.MustCompile(`(?m)^void (\w+)\((.*)\) \{\n#pragma HLS INLINE off\n#pragma HLS PIPELINE .*$`)
	layerStream   = regexp.MustCompile(`>& ((in|out)\d*)\b`)
)

// probed returns a copy of a test bench's project that records the moves of each layer's iterations.
func probed(files templates.ProjectFiles) (templates.ProjectFiles, error) {
	copied := templates.ProjectFiles{{Path: "hls/csim/probe.hpp", Data: probe}}
	for _, f := range files {
		var insert []insertion
		switch {
		case f.Path == "hls/csim/hls_stream.h":
			insert = []insertion{probeHead, streamReads, streamWrites}
		case f.Path == "hls/csim/ap_int.h":
			insert = []insertion{probeHead, results, assignments, assignmentsOfC, comparisons}
		case f.Path == "hls/tb/tb.cpp":
			insert = []insertion{{probeInclude, "#include \"probe.hpp\"\n$0"}, frameEnds}
		case strings.HasPrefix(f.Path, "hls/layers/") && strings.HasSuffix(f.Path, ".cpp"):
			f.Data = layerFunction.ReplaceAllFunc(f.Data, probeCall)
		}
		for _, i := range insert {
			if !i.at.Match(f.Data) {
				return nil, fmt.Errorf("probe: %s has no %v", f.Path, i.at)
			}
			f.Data = i.at.ReplaceAll(f.Data, []byte(i.text))
		}
		copied = append(copied, f)
	}
	return copied, nil
}

// probeCall inserts a call into a layer's function that marks the beginning of an iteration, and names the ports.
func probeCall(function []byte) []byte {
	m := layerFunction.FindSubmatch(function)
	ports := map[string][]string{}
	for _, p := range layerStream.FindAllSubmatch(m[2], -1) {
		side := string(p[2])
		ports[side] = append(ports[side], "&"+string(p[1]))
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s\n    const hlsgen_probe::iteration now({%s}, {%s});", function,
		strings.Join(ports["in"], ", "), strings.Join(ports["out"], ", "))
	return b.Bytes()
}

// checkLoops compares the probe's record in a project's folder with the loops of the programs: the iterations of
// every frame, and the moves of each. Then it checks latencies and costs against the computed work, which it returns.
func checkLoops(dir string, trials []templates.LayerTestCase, programs []program) (done []work, err error) {
	data, err := os.ReadFile(filepath.Join(dir, "hls", "probe.txt"))
	if err != nil {
		return nil, failed(checkLoop, "%w", err)
	}
	lines := map[string][]string{}
	for line := range strings.Lines(string(data)) {
		name, trace, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		lines[name] = append(lines[name], trace)
	}
	for i, p := range programs {
		name := trials[i].Name
		if n := len(lines[name]); n != len(p.frames)+1 { // the first frame runs once more
			return nil, failed(checkLoop, "%s: %d frames, want %d and one of them again", name, n, len(p.frames))
		}
		var most work
		for n, trace := range lines[name][:len(p.frames)] {
			now, err := compareLoop(trace, p.op.Loop(p.fold, p.target()))
			if err != nil {
				return nil, failed(checkLoop, "%q, fold %+v, frame %d: %w", p.Name, p.fold, n, err)
			}
			most = most.max(now)
		}
		if err := p.checkWork(most); err != nil {
			return nil, fmt.Errorf("%q, fold %+v: %w", p.Name, p.fold, err)
		}
		done = append(done, most)
	}
	return done, nil
}

// compareLoop compares the trace of a frame, a line of probe.txt without the layer's name, with a loop. It returns
// the work of the iterations.
func compareLoop(trace string, l dataflow.Loop) (done work, err error) {
	wrong, rest, _ := strings.Cut(trace, " ")
	if wrong != "-" {
		return done, fmt.Errorf("the C++ %s", strings.ReplaceAll(wrong, "-", " "))
	}
	count, rest, _ := strings.Cut(rest, " ")
	if _, err := fmt.Sscanf(count, "%d:%d:%d:%d:%d", &done.products, &done.sums, &done.comparisons,
		&done.operations, &done.multiplications); err != nil {
		return done, fmt.Errorf("probe: %q: %w", count, err)
	}
	walk, at, total := l.NewWalker(), 0, l.IterationsPerFrame()
	for _, run := range strings.Fields(rest) {
		var got dataflow.PortMoves
		var times int
		if _, err := fmt.Sscanf(run, "%d:%x:%x", &times, &got.Read, &got.Write); err != nil {
			return done, fmt.Errorf("probe: %q: %w", run, err)
		}
		for range times {
			if at == total {
				return done, fmt.Errorf("the C++ has more iterations than the %d of Loop", total)
			}
			if want := walk.NextMoves(); got != want {
				return done, fmt.Errorf("iteration %d: the C++ moves %s, Loop %s", at, moves(got), moves(want))
			}
			walk.AdvanceIteration()
			at++
		}
	}
	if at != total {
		return done, fmt.Errorf("the C++ has %d iterations, Loop %d", at, total)
	}
	return done, nil
}

// moves spells the ports that move a word, the first port last: "reads 101, writes 1".
func moves(m dataflow.PortMoves) string {
	return "reads " + strconv.FormatUint(m.Read, 2) + ", writes " + strconv.FormatUint(m.Write, 2)
}
