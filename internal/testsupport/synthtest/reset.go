package synthtest

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"hlsgen/internal/testsupport/tier"
	"hlsgen/templates"
)

// resetBench changes the order of frames in the test bench: some of the last frame, and a reset within it. Then come
// the first two frames as after a start. The reset also discards the words in streams, because it empties the FIFOs.
var resetBench = []edit{
	{"\n#include \"memory.hpp\"\n", "$0\nvoid hlsgen_reset();\n"},
	{"(?m)^        if \\(count == 0 .* return false;\n        at\\+\\+;$", `        turn++;
        const long all = (*calls_of_frame)[count - 1], part = turn / 3, later = 1 + (all - 1) * part / 3;
        if (turn == 12) turn = -1;
        if (turn < 0) return false;
        if (turn % 3 == 1) hlsgen_reset();
        at = turn % 3 == 0 ? count - 1 : turn % 3 - 1;
        stops = turn % 3 != 0 ? -1 : later == all && all > 1 ? all - 1 : later;`},
	{`return made\+\+ < .*;`, `return made++ < (stops >= 0 ? stops : (*calls_of_frame)[frame()]);`},
	{`(?m)^        int& i = words_of\(given, "ends"\);$`, "$0\n        while (i == 0 && !to.empty()) to.read();"},
	{`(?m)^    void compare\(.*\{$`, "$0\n        if (stops >= 0) return;"},
	{`(?m)^    void differ\(.*\{$`, "$0\n        if (stops >= 0) return;"},
	{`(?m)^    long made = 0; .*$`, "$0\n    int turn = -1;\n    long stops = -1; // calls of a frame"},
}

var (
	// fifo matches a FIFO of the top, which a reset empties.
	fifo        = regexp.MustCompile(`(?m)^ *static hls::stream<.*> (\w+)\(.*\);(?: //.*)?$`)
	keepsPragma = regexp.MustCompile(`(?m)^#pragma HLS RESET variable=(\w+) off$`)
	// The output of nm about a static variable of a function, or its guard: the size and the name.
	sized   = regexp.MustCompile(`^[0-9a-f]+ ([0-9a-f]+) [bBdDuV] (_Z(?:Z|GV)\S+)$`)
	keeps   = []byte("$0\n    hlsgen_keeps(&$1, sizeof($1));")
	guarded = regexp.MustCompile(`^_ZGV`)
)

// resetting returns a copy of a project that can be reset, in which variables without a reset register themselves.
func resetting(files templates.ProjectFiles, habit bool) (templates.ProjectFiles, error) {
	list := templates.ProjectFiles{{Path: "hls/reset.hpp", Data: []byte(
		"void hlsgen_keeps(const void*, unsigned long);\nvoid hlsgen_empties(void*, unsigned long);\n")}}
	if habit {
		headers, err := VendorHeaders(files)
		if err != nil {
			return nil, err
		}
		list = append(list, headers...)
		list = append(list, templates.GeneratedFile{Path: "hls/habits/hls_stream.h",
			Data: files.ContentsOf("hls/csim/hls_stream.h")})
	}
	for _, f := range files {
		text := f.Data
		switch {
		case strings.HasSuffix(f.Path, "/testbench.hpp"):
			var err error
			if text, err = edited(f.Path, text, resetBench); err != nil {
				return nil, err
			}
		case strings.HasSuffix(f.Path, "/core/axis.hpp"): // the bench calls processes without words, too
			text = bytes.ReplaceAll(text, []byte("#ifdef __SYNTHESIS__"), []byte("#if 0"))
			text = keepsPragma.ReplaceAll(text, keeps)
		case f.Path == "hls/top.cpp":
			text = fifo.ReplaceAll(text, []byte("$0\n    hlsgen_empties(&$1, sizeof($1));"))
		case strings.HasPrefix(f.Path, "hls/layers/") || strings.HasPrefix(f.Path, "hls/include/"):
			text = keepsPragma.ReplaceAll(text, keeps)
		}
		list = append(list, templates.GeneratedFile{Path: f.Path, Data: text})
	}
	return list, nil
}

// A static is a static variable of an object file.
type static struct {
	name  string
	size  uint64
	guard bool
}

// told is the C++ that registers variables without a reset, and FIFOs.
const told = `#include <cstdlib>
#include <cstring>
struct places {
    struct { void* at; unsigned long size; } list[10000];
    int n;
    bool has(const void* at) const {
        for (int i = 0; i < n; i++)
            if (list[i].at == at) return true;
        return false;
    }
    void add(const void* at, unsigned long size) {
        if (has(at)) return;
        list[n].at = const_cast<void*>(at);
        list[n++].size = size;
    }
};
static places kept, fifos;
void hlsgen_keeps(const void* at, unsigned long size) { kept.add(at, size); }
void hlsgen_empties(void* at, unsigned long size) { fifos.add(at, size); }
static void clear(char* at, unsigned long size) {
    if (!kept.has(at)) std::memset(at, 0, size);
}
`

// table returns C++ with the statics and the function that resets them. It clears guards if GUARDS is set.
func table(list []static) []byte {
	var b bytes.Buffer
	b.WriteString(told)
	for i, s := range list {
		fmt.Fprintf(&b, "extern char s%d[] __asm__(%q);\n", i, s.name)
	}
	b.WriteString("void hlsgen_reset() {\n    const bool guards = std::getenv(\"GUARDS\") != nullptr;\n" +
		"    for (int i = 0; i < fifos.n; i++) std::memset(fifos.list[i].at, 0, fifos.list[i].size);\n")
	for i, s := range list {
		fmt.Fprintf(&b, "    if (%t || guards) clear(s%d, %d);\n", !s.guard, i, s.size)
	}
	b.WriteString("}\n")
	return b.Bytes()
}

// variables lists the static variables of an object file.
func (w work) variables(object string) (list []static, err error) {
	out, err := w.run("nm", "-S", "--defined-only", object)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(out) {
		m := sized.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil {
			continue
		}
		size, err := strconv.ParseUint(m[1], 16, 64)
		if err != nil {
			return nil, err
		}
		list = append(list, static{m[2], size, guarded.MatchString(m[2])})
	}
	return list, nil
}

// CheckReset checks that a project restarts correctly after a reset. The project must have recordings and at least
// three frames. CheckReset compiles its layers and its bench with headers that behave as the vendor's. In the long tier
// it also does so with the project's own headers, which need fewer guards. In the middle of frames it sets all statics
// to zero, except those with RESET off. A real reset does the same to variables without an initial value that is known
// at compile time. It runs with and without clearing the guards of constructed variables. The next two frames must be
// as after a start.
func CheckReset(ctx context.Context, dir string, files templates.ProjectFiles) error {
	if err := reset(ctx, filepath.Join(dir, "theirs"), files, true); err != nil {
		return fmt.Errorf("headers as the vendor's: %w", err)
	}
	if !tier.Long() {
		return nil
	}
	if err := reset(ctx, filepath.Join(dir, "ours"), files, false); err != nil {
		return fmt.Errorf("our headers: %w", err)
	}
	return nil
}

// reset does the work of CheckReset for one choice of headers. habit selects those that behave as the vendor's.
func reset(ctx context.Context, dir string, files templates.ProjectFiles, habit bool) error {
	ready, err := resetting(files, habit)
	if err != nil {
		return err
	}
	if err := ready.WriteBelow(dir); err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	w, include := work{ctx, filepath.Join(dir, "hls")}, "-Icsim"
	if habit {
		include = "-Ihabits"
	}
	compile := func(args ...string) error {
		_, err := w.run("clang++", append([]string{"-std=c++14", "-D__SYNTHESIS__", "-O0", "-w", include, "-I.",
			"-include", "reset.hpp"}, args...)...)
		return err
	}
	if err := compile("-c", "-o", "layers.o", "layers.cpp"); err != nil {
		return err
	}
	list, err := w.variables("layers.o")
	if err != nil {
		return err
	}
	rest := append(table(list), "#include \"tb/tb.cpp\"\n"...)
	if files.ContentsOf("hls/top.cpp") != nil {
		rest = append(rest, "#include \"top.cpp\"\n"...)
	}
	if err := os.WriteFile(filepath.Join(w.dir, "rest.cpp"), rest, 0o666); err != nil {
		return err
	}
	if err := compile("-o", "reset.out", "rest.cpp", "layers.o"); err != nil {
		return err
	}
	for _, guards := range []string{"kept", "cleared"} {
		args := []string{"GUARDS=1", "./reset.out", "tb/data"}
		if guards == "kept" {
			args = args[1:]
		}
		if out, err := w.run("env", args...); err != nil {
			return fmt.Errorf("after a reset, guards %s: %w", guards, err)
		} else if !strings.Contains(out, "PASS ") {
			return fmt.Errorf("after a reset, guards %s: no verdict", guards)
		}
	}
	return nil
}
