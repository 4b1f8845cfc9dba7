package templates

import (
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"hlsgen/internal/dataflow"
)

// A complaints holds the lines of text that a lint reports.
type complaints []string

// say adds a line.
func (c *complaints) say(format string, args ...any) { *c = append(*c, fmt.Sprintf(format, args...)) }

// LintMemories compares the memories in generated C++, as its text binds them, with storage, the memories of every
// layer by its name. A memory with several rows must be bound exactly once, to its place. A single row is constants
// or registers; an array that the fold does not use is a register. Nothing else may be bound. LintMemories returns one
// line per violation.
func LintMemories(files ProjectFiles, storage map[string][]dataflow.Storage) []string {
	found, problems := bindings(files)
	for _, layer := range sortedKeys(storage) {
		rest := found[layer]
		delete(found, layer)
		for _, s := range storage[layer] {
			want, got := inText(s), []dataflow.Storage{}
			rest = slices.DeleteFunc(rest, func(b dataflow.Storage) bool {
				if b.Name == s.Name {
					got = append(got, b)
				}
				return b.Name == s.Name
			})
			if len(got) != 1 || got[0] != want {
				problems.say("%s: storage %v, bound are %v", layer, want, got)
			}
		}
		for _, b := range rest {
			problems.say("%s: %v is not among the layer's storage", layer, b)
		}
	}
	for _, layer := range sortedKeys(found) {
		if len(found[layer]) > 0 {
			problems.say("%s has memories and is no layer", layer)
		}
	}
	return problems
}

// inText returns the memory s as the generated text shows it. The text shows neither its part of the cost nor the width
// of a table's rows. It shows an array that a fold does not use as a register.
func inText(s dataflow.Storage) dataflow.Storage {
	s.Same = 0
	s.Part = ""
	switch {
	case !s.Written:
		s.Width = 0
	case s.Rows == 0:
		s.Rows, s.In = 1, dataflow.MemoryRegisters
	}
	return s
}

// LintFIFOs compares depth and memory of the FIFOs, in generated C++ and in the generated Verilog top, with want. want
// has the names of IPInterface.FIFOsByName. It returns one line per violation.
func LintFIFOs(files ProjectFiles, want map[string]dataflow.FIFO) []string {
	problems := lintRTLFIFOs(files, want)
	code := string(withoutComments(files.ContentsOf("hls/top.cpp")))
	depth, impl := map[string][]string{}, map[string][]string{}
	for _, m := range fifoDepth.FindAllStringSubmatch(code, -1) {
		depth[m[1]] = append(depth[m[1]], m[2])
	}
	for _, m := range fifoBind.FindAllStringSubmatch(code, -1) {
		impl[m[1]] = append(impl[m[1]], m[2])
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		f, words := want[name], strconv.Itoa(want[name].Depth)
		d, b := depth[name], impl[name]
		if len(d) != 1 || len(b) != 1 || d[0] != words || memoryNames[b[0]] != f.Memory {
			problems.say("stream %s: %s words in %v, the text has %v in %v", name, words, f.Memory, d, b)
		}
	}
	if d, b := len(depth), len(impl); d != len(want) || b != len(want) {
		problems.say("%d streams, depths of %d and memories of %d", len(want), d, b)
	}
	return problems
}

// lintRTLFIFOs does what LintFIFOs does for the generated Verilog top alone.
func lintRTLFIFOs(files ProjectFiles, want map[string]dataflow.FIFO) (problems complaints) {
	found := map[string][]string{}
	say := func(f dataflow.FIFO) string { return fmt.Sprintf("%d words in %v", f.Depth, f.Memory) }
	for _, f := range files {
		if !strings.HasPrefix(f.Path, "hls/rtl/") || path.Ext(f.Path) != ".v" {
			continue
		}
		for _, m := range rtlFIFO.FindAllStringSubmatch(string(withoutComments(f.Data)), -1) {
			depth, err := strconv.Atoi(m[1])
			memory, ok := memoryNames[m[2]]
			if err != nil || !ok {
				problems.say("RTL: FIFO %s of %s words in %s", m[3], m[1], m[2])
			}
			found[m[3]] = append(found[m[3]], say(dataflow.FIFO{Depth: depth, Memory: memory}))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if f := found[name]; len(f) != 1 || f[0] != say(want[name]) {
			problems.say("RTL: stream %s: %s, the text has %v", name, say(want[name]), f)
		}
		delete(found, name)
	}
	for _, name := range slices.Sorted(maps.Keys(found)) {
		problems.say("RTL: no stream %s", name)
	}
	return problems
}

// memoryNames maps UG1399's names of implementations to memories.
var memoryNames = map[string]dataflow.Memory{
	"lutram": dataflow.MemoryLUTRAM, "bram": dataflow.MemoryBRAM, "uram": dataflow.MemoryURAM,
	"srl": dataflow.MemorySRL,
}

var (
	fifoDepth   = regexp.MustCompile(`(?m)^#pragma HLS STREAM variable=(\w+) depth=(\d+)$`)
	fifoBind    = regexp.MustCompile(`(?m)^#pragma HLS BIND_STORAGE variable=(\w+) type=fifo impl=(\w+)$`)
	rtlFIFO     = regexp.MustCompile(`(?m)^ *hlsgen_fifo #\(.*\.DEPTH\((\w+)\), \.STYLE\("(\w+)"\)\) fifo_(\w+) \($`)
	layerBody   = regexp.MustCompile(`(?ms)^void (\w+)\([^)]*\) \{\n(.*?)^\}`)
	kernelCall  = regexp.MustCompile(`hlsgen::(\w+)<(\w+)_config>\(([\w, ]*)\);`)
	romBind     = regexp.MustCompile(`(?m)^#pragma HLS BIND_STORAGE variable=(\w+) type=(\w+) impl=(\w+)$`)
	configBody  = regexp.MustCompile(`(?ms)^struct (\w+)_config(?: : (\w+)_config)? \{\n(.*?)^\};`)
	configConst = regexp.MustCompile(`static const (?:int|hlsgen::storage) (\w+) = (?:hlsgen::storage::)?(\w+);`)
	deviceBody  = regexp.MustCompile(`void bind_memory\(.*, const memory<storage::(\w+)>&\) \{\n((?:#pragma .*\n)*)`)
	deviceBind  = regexp.MustCompile(`(?m)^#pragma HLS (?:BIND_STORAGE|ARRAY_PARTITION) variable=words (.*)$`)
	deviceRAM   = regexp.MustCompile(`^type=ram_s2p impl=(\w+)$`)
)

// devices returns the memory to which core/memory.hpp binds each storage by its C++ name, and a line per violation.
func devices(files ProjectFiles) (memory map[string]dataflow.Memory, problems complaints) {
	memory = map[string]dataflow.Memory{}
	code := withoutComments(files.ContentsOf("hls/include/hlsgen/core/memory.hpp"))
	for _, m := range deviceBody.FindAllStringSubmatch(string(code), -1) {
		name, bind := m[1], deviceBind.FindAllStringSubmatch(m[2], -1)
		if len(bind) != 1 {
			problems.say("storage::%s is bound %d times", name, len(bind))
			continue
		}
		switch ram := deviceRAM.FindStringSubmatch(bind[0][1]); {
		case ram != nil:
			memory[name] = memoryNames[ram[1]]
		case bind[0][1] != "complete dim=1":
			problems.say("storage::%s is bound to %q", name, bind[0][1])
		case name == "shift":
			memory[name] = dataflow.MemorySRL
		default:
			memory[name] = dataflow.MemoryRegisters
		}
	}
	return memory, problems
}

// bindings returns the memories that the generated text binds, by layer. The pragmas in a layer's function bind its
// tables. The constants of a layer's config struct bind its arrays, by way of bind_memory in the kernel and in
// core/memory.hpp.
func bindings(files ProjectFiles) (found map[string][]dataflow.Storage, problems complaints) {
	memory, problems := devices(files)
	arrays := map[string]map[string]bool{} // by kernel function
	for _, f := range files {
		if !f.kernel() {
			continue
		}
		code := string(withoutComments(f.Data))
		bound, _ := kernelArrays(code)
		for _, m := range kernelFunc.FindAllStringSubmatch(code, -1) {
			arrays[m[1]] = bound
		}
	}
	config, alike := map[string]string{}, map[string]string{}
	hpp, cpp := withoutComments(files.JoinProcessFiles(".hpp")), withoutComments(files.JoinProcessFiles(".cpp"))
	for _, m := range configBody.FindAllStringSubmatch(string(hpp), -1) {
		config[m[1]], alike[m[1]] = m[3], m[2]
	}
	for layer, first := range alike {
		if first != "" {
			config[layer] = config[first]
		}
	}
	found = map[string][]dataflow.Storage{}
	for _, m := range layerBody.FindAllStringSubmatch(string(cpp), -1) {
		layer, call := m[1], kernelCall.FindStringSubmatch(m[2])
		if call == nil || call[2] != layer {
			problems.say("%s calls no kernel with its config", layer)
			continue
		}
		tables, trouble := boundTables(files, layer, m[2], strings.Split(call[3], ", "))
		own, wrong := kernelArrays(config[layer])
		maps.Copy(own, arrays[call[1]])
		trouble = append(trouble, wrong...)
		written, more := boundArrays(config[layer], own, memory)
		found[layer] = append(tables, written...)
		for _, p := range append(trouble, more...) {
			problems.say("%s: %s", layer, p)
		}
	}
	return found, problems
}

// boundTables returns the tables among the arguments of a kernel, and a line per violation. The pragmas in body, that
// of the layer's function, say in which memories they are.
func boundTables(files ProjectFiles, layer, body string, args []string) (list []dataflow.Storage, problems complaints) {
	binds := romBind.FindAllStringSubmatch(body, -1)
	if n := strings.Count(body, "BIND_STORAGE"); n != len(binds) {
		problems.say("%d of %d bindings are not understood", n-len(binds), n)
	}
	for _, a := range args {
		text := files.ContentsOf("hls/tables/" + a + ".hpp")
		decl := tableSize.FindSubmatch(text)
		if text == nil {
			continue
		}
		if decl == nil {
			problems.say("no table %s", a)
			continue
		}
		s := dataflow.Storage{Name: strings.TrimPrefix(a, layer+"_")}
		s.Banks, _ = strconv.Atoi(string(decl[1])) // 0 without banks
		s.Rows, _ = strconv.Atoi(string(decl[2]))
		bound := 0
		binds = slices.DeleteFunc(binds, func(m []string) bool {
			if m[1] == a {
				bound++
				if s.In = memoryNames[m[3]]; "type="+m[2]+" impl="+m[3] != tableStorage(s.In) {
					problems.say("table %s is bound as %s", a, m[2])
				}
			}
			return m[1] == a
		})
		if bound > 1 {
			problems.say("table %s is bound %d times", a, bound)
		}
		list = append(list, s)
	}
	for _, m := range binds {
		problems.say("%s is bound, and no table of the kernel", m[1])
	}
	return list, problems
}

// tableSize matches the declaration of a table in C++: its banks, if any, and its rows.
var tableSize = regexp.MustCompile(`(?m)^static const hlsgen::limb<\d+> \w+(?:\[(\d+)\])?\[(\d+)\]\[\d+\] = \{`)

// boundArrays returns the arrays of a config struct, which the kernel must bind, and a line per violation.
func boundArrays(
	config string, kernel map[string]bool, memory map[string]dataflow.Memory,
) (list []dataflow.Storage, problems complaints) {
	constant := map[string]string{}
	for _, m := range configConst.FindAllStringSubmatch(config, -1) {
		constant[m[1]] = m[2]
	}
	for _, member := range sortedKeys(constant) {
		name, ok := strings.CutSuffix(member, "_memory")
		if !ok {
			continue
		}
		s := dataflow.Storage{Name: name, Written: true}
		rows, width := constant[name+"_rows"], constant[name+"_width"]
		var err1, err2 error
		s.Rows, err1 = strconv.Atoi(rows)
		s.Width, err2 = strconv.Atoi(width)
		if s.In, ok = memory[constant[member]]; !ok || err1 != nil || err2 != nil {
			problems.say("array %s: %q rows of %q bits in %q", name, rows, width, constant[member])
			continue
		}
		if !kernel[name] {
			problems.say("the kernel has no array %s", name)
			continue
		}
		list = append(list, s)
	}
	return list, problems
}

var (
	kernelFunc  = regexp.MustCompile(`\bvoid (\w+)\(`)
	arrayDecl   = regexp.MustCompile(`^[ \t]*` + arrayType + ` (\w+)\[([^\]]+)\](?:\[[^\]]+\])*(?:;|,| = \{)`)
	arrayBind   = regexp.MustCompile(`\bbind_memory\((\w+), (?:hlsgen::)?memory<([\w:]+)>\(\)\);`)
	partition   = regexp.MustCompile(`(?m)^[ \t]*#pragma HLS ARRAY_PARTITION variable=(\w+) complete\b`)
	device      = regexp.MustCompile(`(?m)^[ \t]*typedef \w+<([^;{}()]*\bC::(\w+)_memory)> (\w+);`)
	configArray = regexp.MustCompile(`\bC::(\w+)_memory\b`)
)

// inLines returns the matches of a pattern in the lines of code that contain word. Every match must lie in one line and
// contain word.
func inLines(code, word string, pattern *regexp.Regexp) (all [][]string) {
	if !strings.Contains(code, word) {
		return nil
	}
	for line := range strings.Lines(code) {
		if strings.Contains(line, word) {
			all = append(all, pattern.FindAllStringSubmatch(line, -1)...)
		}
	}
	return all
}

// arrays returns the matches of arrayDecl, the declarations of arrays in C++. A declaration starts at the beginning of
// a line, and may end in another.
func arrays(code string) (all [][]string) {
	for rest := code; rest != ""; {
		line, behind, _ := strings.Cut(rest, "\n")
		if strings.Contains(line, "[") {
			statement := rest[:max(len(line), strings.IndexAny(rest, ";{")+1)]
			if m := arrayDecl.FindStringSubmatch(statement); m != nil {
				all = append(all, m)
			}
		}
		rest = behind
	}
	return all
}

// arrayType matches the type of an array's elements in C++, with its specifiers.
const arrayType = `((?:(?:static|const|typename) )*[\w:]+(?:<[^;={}\n]*>)?)`

// kernelArrays returns the arrays that a kernel binds by its config, and the defects of its arrays. Each array must
// be bound exactly once, by bind_memory or by a complete partition. The config's constant X_memory belongs to array X
// with X_rows words of X_width bits, or to a device X with the parameters X_rows and X_memory.
func kernelArrays(code string) (bound map[string]bool, problems complaints) {
	bound = map[string]bool{}
	declared, binds := map[string]int{}, map[string]int{}
	for _, m := range inLines(code, "ARRAY_PARTITION", partition) {
		binds[m[1]]++
	}
	own := map[string]bool{} // arrays bound by the config
	for _, m := range inLines(code, "bind_memory", arrayBind) {
		binds[m[1]]++
		if c := configArray.FindStringSubmatch(m[2]); c != nil {
			own[m[1]], bound[m[1]] = true, true
			if c[1] != m[1] {
				problems.say("array %s is bound by %s_memory", m[1], c[1])
			}
		}
	}
	for _, m := range arrays(code) {
		if m[1] == "return" || m[1] == "else" {
			continue
		}
		declared[m[2]]++
		if own[m[2]] && (strings.TrimPrefix(m[1], "static ") != "ap_uint<C::"+m[2]+"_width>" ||
			m[3] != "C::"+m[2]+"_rows") {
			problems.say("array %s is not of its storage's rows and width", m[2])
		}
	}
	var devices [][]string // a declaration may span lines
	if strings.Contains(code, "typedef") {
		devices = device.FindAllStringSubmatch(code, -1)
	}
	for _, m := range devices {
		bound[m[3]] = true
		if m[2] != m[3] || !strings.Contains(m[1], "C::"+m[3]+"_rows,") {
			problems.say("%s is not of its storage's rows", m[3])
		}
	}
	for _, name := range sortedKeys(declared) {
		if declared[name] != binds[name] {
			n, b := declared[name], binds[name]
			problems.say("array %s is declared %d times, and bound %d", name, n, b)
		}
		delete(binds, name)
	}
	for _, name := range sortedKeys(binds) {
		problems.say("no array %s is declared", name)
	}
	for _, m := range inLines(code, "_memory", configArray) {
		if !bound[m[1]] {
			problems.say("%s_memory binds nothing", m[1])
		}
	}
	return bound, problems
}
