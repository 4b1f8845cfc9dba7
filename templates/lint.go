package templates

import (
	"bytes"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"hlsgen/internal/dataflow"
)

// LintProject checks the text of a generated project against the rules of Vitis HLS (UG1399) and of this package. Tests
// cannot run the tool itself. It returns one line per violation, with file and line number.
func LintProject(files ProjectFiles) []string {
	l := linter{files: files, room: 1024}
	if m := apMax.FindSubmatch(files.ContentsOf("hls/ap_types.hpp")); m != nil {
		l.room, _ = strconv.Atoi(string(m[1]))
	}
	if l.room > dataflow.MaxWordBits || l.room%1024 != 0 {
		l.report("hls/ap_types.hpp", 1, "AP_INT_MAX_W is %d", l.room)
	}
	counting := sync.OnceValue(func() map[string]bool { return counting(files) })
	for _, f := range files {
		ext := path.Ext(f.Path)
		if strings.HasPrefix(f.Path, "hls/csim/") || strings.HasPrefix(f.Path, "hls/tb/data/") {
			continue // these headers stand in for the vendor's
		}
		l.characters(f)
		if ext != ".cpp" && ext != ".hpp" {
			continue
		}
		code := withoutComments(f.Data)
		if strings.HasPrefix(f.Path, "hls/tables/") {
			l.table(f.Path, code)
			continue
		}
		l.source(f.Path, code)
		l.pragmas(f.Path, code)
		own := strings.HasPrefix(f.Path, "hls/include/hlsgen/") && hardware(f.Path)
		if own || f.process() && ext == ".hpp" {
			l.loops(f.Path, code)
			l.statics(f.Path, code)
			l.resets(f.Path, code, counting())
		}
		if f.kernel() {
			_, problems := kernelArrays(string(code))
			for _, p := range problems {
				l.report(f.Path, 1, "%s", p)
			}
		}
		switch {
		case f.process() && ext == ".cpp":
			l.loops(f.Path, code)
			l.processes(f.Path, code)
		case f.Path == "hls/top.cpp":
			l.region(f.Path, code)
		}
	}
	l.scripts()
	return l.found
}

// A linter collects the violations in the files of a project.
type linter struct {
	files ProjectFiles
	room  int // AP_INT_MAX_W
	found []string
}

// report adds a violation at a line of a file.
func (l *linter) report(file string, line int, format string, args ...any) {
	l.found = append(l.found, fmt.Sprintf("%s:%d: ", file, line)+fmt.Sprintf(format, args...))
}

// characters reports the first byte of a file that is neither printable ASCII nor a line end, nor a tab in a Makefile.
func (l *linter) characters(f GeneratedFile) {
	for i, c := range f.Data {
		if c != '\n' && (c < ' ' || c > '~') && (c != '\t' || path.Base(f.Path) != "Makefile") {
			l.report(f.Path, 1+bytes.Count(f.Data[:i], []byte("\n")), "character %#x", c)
			return
		}
	}
}

var (
	apMax       = regexp.MustCompile(`(?m)^#define AP_INT_MAX_W (\d+)$`)
	apWidth     = regexp.MustCompile(`\b(?:ap_u?int|ap_axiu|limb)<(\d+)`)
	apString    = regexp.MustCompile(`\bap_u?int<[^<>]*>\s*\w*\s*\(\s*"`)
	pragmaLine  = regexp.MustCompile(`^\s*#\s*pragma\s+HLS\s+(\w+)(.*)$`)
	doubled     = regexp.MustCompile(`\b\w*__\w*`)
	forbidden   = regexp.MustCompile(`\b(?:new|delete|malloc|free|virtual|throw|try|catch|goto|dynamic_cast|typeid|float|double|union|std::(?:vector|string|map|set|list|deque|function|cout|cerr|\w+_ptr))\b`)
	constArray  = regexp.MustCompile(`\bconstexpr\s+[\w:<> ]+\w+\s*\[`)
	firstInc    = regexp.MustCompile(`(?m)^#include ["<](.*)[">]$`)
	tableDecl   = regexp.MustCompile(`^static const hlsgen::limb<(\d+)> (\w+)(\[\d+\])?\[(\d+)\]\[(\d+)\] = \{`)
	prototype   = regexp.MustCompile(`(?m)^void (\w+)\((.*)\);$`)
	processHead = regexp.MustCompile(`(?m)^void (\w+)\(.*\) \{\n`)
	parameter   = regexp.MustCompile(`& (\w+)(?:,|$)`)
	streamLocal = regexp.MustCompile(`^\s*static hls::stream<ap_uint<\d+>> (\w+)\("(\w+)"\);\s*$`)
	loopHead    = regexp.MustCompile(`\b(?:for|while|do)\b\s*[({]`)
	loopLabel   = regexp.MustCompile(`^\s*[a-z]\w*: (?:for|while|do)\b`)
	loopPragma  = regexp.MustCompile(`^#pragma HLS UNROLL\b`)
	brackets    = regexp.MustCompile(`<[^<>]*>`)
	staticName  = regexp.MustCompile(`^\s*static ([^(=]*?)(\w+)(?:\[[^\]]*\])*\s*(?:[;,={]|$)`)
	call        = regexp.MustCompile(`^\s*(\w+)\(([\w, ]+)\);\s*$`)
)

// hardware reports whether synthesis sees the C++ file with this path.
func hardware(file string) bool {
	return !strings.HasPrefix(file, "hls/tb/") && path.Base(file) != "testbench.hpp"
}

// source reports violations in one C++ file line by line.
func (l *linter) source(file string, code []byte) {
	suspects := among(code, "new", "delete", "malloc", "free", "virtual", "throw", "try", "catch", "goto",
		"dynamic_cast", "typeid", "float", "double", "union", "std::") // words of forbidden, if the file has them
	for n, line := range strings.Split(string(code), "\n") {
		n++
		if pragmaOf(line) != nil {
			continue
		}
		if strings.Contains(line, "#pragma") {
			l.report(file, n, "a pragma other than HLS")
		}
		if has(line, "ap_", "limb") {
			for _, m := range apWidth.FindAllStringSubmatch(line, -1) {
				if w, err := strconv.Atoi(m[1]); err != nil || w < 1 || w > l.room {
					l.report(file, n, "a word of %s bits, there is room for %d", m[1], l.room)
				}
			}
			if apString.MatchString(line) {
				l.report(file, n, "a number written as a string")
			}
		}
		if strings.Contains(line, "__") {
			if m := doubled.FindString(line); m != "__SYNTHESIS__" {
				l.report(file, n, "double underscore in %s", m)
			}
		}
		if has(line, suspects...) && hardware(file) && !strings.HasPrefix(line, "#include") {
			if m := forbidden.FindString(line); m != "" {
				l.report(file, n, "%s cannot be synthesised", m)
			}
		}
		if strings.Contains(line, "constexpr") && constArray.MatchString(line) {
			l.report(file, n, "a constexpr array, which does not link in C++14")
		}
	}
	first := []string{"top.hpp", "layers.hpp"}
	switch process := (GeneratedFile{Path: file}).process(); {
	case process && path.Ext(file) == ".hpp":
		first = []string{"ap_types.hpp"}
	case process:
		first = []string{strings.TrimSuffix(path.Base(file), ".cpp") + ".hpp"}
	case path.Ext(file) != ".cpp":
		return
	}
	if m := firstInc.FindSubmatch(code); m == nil || !slices.Contains(first, path.Base(string(m[1]))) {
		l.report(file, 1, "AP_INT_MAX_W is not defined first")
	}
}

// has reports whether a line contains one of the words, even within another word. It is a fast test before a regexp.
func has(line string, words ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(line, w) })
}

// among returns those of the words that a text contains, even within other words. It reuses the memory of words.
func among(text []byte, words ...string) []string {
	return slices.DeleteFunc(words, func(w string) bool { return !bytes.Contains(text, []byte(w)) })
}

// loops reports loops whose next line does not unroll them: a call is one iteration, and without the pragma HLS would
// decide by itself. It also reports a loop without a label, which reports of HLS name by its line. Loops that synthesis
// does not see are exempt.
func (l *linter) loops(file string, code []byte) {
	lines, seen := strings.Split(string(code), "\n"), true
	for n, line := range lines {
		switch {
		case strings.HasPrefix(line, "#ifndef __SYNTHESIS__"):
			seen = false
		case strings.HasPrefix(line, "#endif"):
			seen = true
		case seen && has(line, "for", "while", "do") && loopHead.MatchString(line):
			if n+1 == len(lines) || !loopPragma.MatchString(lines[n+1]) {
				l.report(file, n+1, "a loop that is not unrolled")
			}
			if !loopLabel.MatchString(line) {
				l.report(file, n+1, "a loop without a label")
			}
		}
	}
}

// statics reports static variables whose next line does not say whether a reset restores them. By default HLS would not
// restore them, and the global settings would clear every memory. Variables that synthesis does not see are exempt.
func (l *linter) statics(file string, code []byte) {
	lines, seen := strings.Split(string(code), "\n"), true
	for n, line := range lines {
		var m []string
		if strings.Contains(line, "static") {
			for was := ""; was != line; {
				was, line = line, brackets.ReplaceAllString(line, "")
			}
			m = staticName.FindStringSubmatch(line)
		}
		switch {
		case strings.HasPrefix(line, "#ifndef __SYNTHESIS__"):
			seen = false
		case strings.HasPrefix(line, "#endif"):
			seen = true
		case seen && m != nil && !strings.HasPrefix(m[1], "const ") && !(n+1 < len(lines) && slices.Contains([]string{
			"#pragma HLS RESET variable=" + m[2], "#pragma HLS RESET variable=" + m[2] + " off",
		}, strings.TrimSpace(lines[n+1]))):
			l.report(file, n+1, "static %s, and no word of what a reset does to it", m[2])
		}
	}
}

// table reports a table that is not static const, or has not the declared size. It also reports integers that do not
// fit their words, of at most 64 bits.
func (l *linter) table(file string, code []byte) {
	body := code
	for _, directive := range []string{"#ifndef", "#define"} {
		if i := bytes.Index(body, []byte(directive)); i >= 0 {
			body = body[i+bytes.IndexByte(body[i:], '\n')+1:]
		}
	}
	body = bytes.TrimSpace(bytes.TrimSuffix(bytes.TrimSpace(body), []byte("#endif")))
	m := tableDecl.FindSubmatch(body)
	if m == nil || !bytes.HasSuffix(body[len(m[0]):], []byte("};")) {
		l.report(file, 1, "not a static const table")
		return
	}
	width, _ := strconv.Atoi(string(m[1]))
	banks, _ := strconv.Atoi(strings.Trim(string(m[3]), "[]")) // 0 without banks
	rows, _ := strconv.Atoi(string(m[4]))
	limbs, _ := strconv.Atoi(string(m[5]))
	if name := string(m[2]); name+".hpp" != path.Base(file) || !IsIdentifier(name) || width > 64 {
		l.report(file, 1, "table %s of words of %d bits", name, width)
	}
	found := rowsOf(string(body[len(m[0]) : len(body)-len("};")]))
	if rows *= max(1, banks); len(found) != rows {
		l.report(file, 1, "%d rows, declared are %d", len(found), rows)
	}
	for r, row := range found {
		cells := strings.Split(row, ",")
		if len(cells) != limbs {
			l.report(file, 1, "row %d has %d words, declared are %d", r, len(cells), limbs)
		}
		for _, c := range cells {
			if v, err := strconv.ParseUint(strings.TrimSpace(c), 0, 64); err != nil || (width < 64 && v>>width != 0) {
				l.report(file, 1, "row %d: %s is no word of %d bits", r, strings.TrimSpace(c), width)
			}
		}
	}
}

// rowsOf returns the texts between innermost braces, such as the rows of a table in C++.
func rowsOf(text string) (list []string) {
	for {
		end := strings.IndexByte(text, '}')
		if end < 0 {
			return list
		}
		if begin := strings.LastIndexByte(text[:end], '{'); begin >= 0 {
			list = append(list, text[begin+1:end])
		}
		text = text[end+1:]
	}
}

// processes reports functions that are not pipelined processes, of which a call is one iteration.
func (l *linter) processes(file string, code []byte) {
	for _, m := range processHead.FindAllSubmatchIndex(code, -1) {
		if !bytes.HasPrefix(code[m[1]:], []byte("#pragma HLS INLINE off\n#pragma HLS PIPELINE II=1 style=flp\n")) {
			l.report(file, 1+bytes.Count(code[:m[0]], []byte("\n")), "%s is no pipelined process", code[m[2]:m[3]])
		}
	}
}

// region reports a top function that is no canonical dataflow region: local streams, then calls. Each stream must be
// written once and then read once, and each port of the top used once.
func (l *linter) region(file string, code []byte) {
	outputs := map[string][]bool{} // by function: which parameters it writes
	for _, p := range prototype.FindAllSubmatch(l.files.JoinProcessFiles(".hpp"), -1) {
		var written []bool
		for _, a := range parameter.FindAllSubmatch(p[2], -1) {
			written = append(written, bytes.HasPrefix(a[1], []byte("out")))
		}
		outputs[string(p[1])] = written
	}
	start := bytes.Index(code, []byte("\nvoid "))
	if start < 0 {
		l.report(file, 1, "no top function")
		return
	}
	head, body, _ := strings.Cut(string(code[start+1:]), "{\n")
	line := 1 + strings.Count(string(code[:start+1]), "\n")
	writes, reads, ports := map[string]int{}, map[string]int{}, map[string]int{}
	locals := map[string]bool{}
	for _, p := range parameter.FindAllStringSubmatch(strings.TrimSuffix(strings.TrimSpace(head), ")"), -1) {
		ports[p[1]] = 0
	}
	for text := range strings.Lines(body) {
		line++
		text = strings.TrimRight(text, "\n")
		if m := streamLocal.FindStringSubmatch(text); m != nil {
			locals[m[1]] = true
			if m[1] != m[2] {
				l.report(file, line, "stream %s is called %s", m[1], m[2])
			}
			continue
		}
		m := call.FindStringSubmatch(text)
		if m == nil {
			if t := strings.TrimSpace(text); t != "" && t != "}" && !strings.HasPrefix(t, "#pragma HLS ") {
				l.report(file, line, "not canonical dataflow: %s", t)
			}
			continue
		}
		args := strings.Split(m[2], ", ")
		written := outputs[m[1]]
		if len(written) != len(args) {
			l.report(file, line, "%s takes %d streams, given are %d", m[1], len(written), len(args))
			continue
		}
		for i, a := range args {
			_, port := ports[a]
			switch {
			case port:
				ports[a]++
			case !locals[a]:
				l.report(file, line, "no stream %s", a)
			case written[i]:
				writes[a]++
			default:
				if reads[a]++; writes[a] == 0 {
					l.report(file, line, "stream %s is read before it is written", a)
				}
			}
		}
	}
	for _, s := range sortedKeys(locals) {
		if writes[s] != 1 || reads[s] != 1 {
			l.report(file, line, "stream %s has %d writers and %d readers", s, writes[s], reads[s])
		}
	}
	for _, p := range sortedKeys(ports) {
		if ports[p] != 1 {
			l.report(file, line, "port %s is used %d times", p, ports[p])
		}
	}
	for _, want := range []string{"#pragma HLS DATAFLOW disable_start_propagation\n",
		"#pragma HLS INTERFACE ap_ctrl_none port=return\n"} {
		if !strings.Contains(body, want) {
			l.report(file, line, "missing: %s", strings.TrimSpace(want))
		}
	}
}

// scripts reports scripts that do not make violations of the dataflow rules errors.
func (l *linter) scripts() {
	if l.files.ContentsOf("hls/top.cpp") == nil {
		return
	}
	for file, want := range map[string]string{
		"hls/run_hls.tcl":         "config_dataflow -strict_mode error\n",
		"hls/run_hls_unified.tcl": "config_dataflow -strict_mode error\n",
		"hls/hls_config.cfg":      "syn.dataflow.strict_mode=error\n",
	} {
		if !bytes.Contains(l.files.ContentsOf(file), []byte(want)) {
			l.report(file, 1, "missing: %s", strings.TrimSpace(want))
		}
	}
	slices.Sort(l.found)
}
