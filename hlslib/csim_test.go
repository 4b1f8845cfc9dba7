package hlslib_test

import (
	"bytes"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hlsgen/hlslib"
	"hlsgen/internal/testsupport/tier"
	"hlsgen/templates"
)

// compile builds a C++ program of testdata with the library's headers and returns its path.
func compile(t *testing.T, source string, flags ...string) string {
	t.Helper()
	return compileEdited(t, source, "", "", flags...)
}

// compileEdited is compile with text of the headers replaced by other text, where that is not empty.
func compileEdited(t *testing.T, source, from, to string, flags ...string) string {
	t.Helper()
	cxx := tier.Needs(t, "g++")[0]
	dir := t.TempDir()
	var files templates.ProjectFiles
	edited := from == ""
	for _, h := range hlslib.HeadersForKernelFiles() {
		text := h.Text
		if !edited && bytes.Contains(text, []byte(from)) {
			text, edited = bytes.Replace(text, []byte(from), []byte(to), 1), true
		}
		files = append(files, templates.GeneratedFile{Path: h.Path, Data: text})
	}
	if !edited {
		t.Fatalf("no header has %q", from)
	}
	if err := files.WriteBelow(dir); err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(dir, "test")
	args := append(flags, "-std=c++14", "-Wall", "-Wextra", "-Werror", "-Wno-unused-label", "-I",
		filepath.Join(dir, "csim"), "-I", filepath.Join(dir, "include"), "-o", bin, source)
	if out, err := exec.Command(cxx, args...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return bin
}

// TestSimulationHeaders compiles and runs the check of csim/*.h against other arithmetic.
func TestSimulationHeaders(t *testing.T) {
	t.Parallel()
	bin := compile(t, "csim/testdata/ap_int_test.cpp", "-O0", "-DAP_INT_MAX_W=4096",
		"-fsanitize=shift,signed-integer-overflow", "-fno-sanitize-recover=all")
	out, err := exec.Command(bin).CombinedOutput()
	if err != nil || !strings.HasSuffix(string(out), " 0 failures\n") {
		t.Errorf("%v\n%s", err, out)
	}
	for args, want := range map[string]string{
		"empty":         "hls::stream inner is empty and is read, words so far: 0\n",
		"left-over now": "hls::stream inner ends with unread words, count: 1\n",
	} {
		out, err := exec.Command(bin, strings.Fields(args)...).CombinedOutput()
		if err == nil || string(out) != want {
			t.Errorf("%s: got %q, %v, want %q and a failure", args, out, err, want)
		}
	}
}

// TestWidths checks that no bits are assigned to another width, about which the vendor's header warns in every call.
// Where that header is silent, all widths are accepted.
func TestWidths(t *testing.T) {
	t.Parallel()
	cxx := tier.Needs(t, "g++")[0]
	compiled := func(statements []string) (bool, string) { // one a line
		c := exec.Command(cxx, "-std=c++14", "-fsyntax-only", "-fmax-errors=0", "-Icsim", "-xc++", "-")
		c.Stdin = strings.NewReader("#include <string>\n#include <ap_int.h>\nap_uint<9> x; ap_int<70> w; " +
			"ap_uint<1> one; ap_int<32> some;\nap_int<8> narrow; ap_uint<80> wide;\nvoid f() {\n" +
			strings.Join(statements, "\n") + "\n}\n")
		out, err := c.CombinedOutput()
		return err == nil, string(out)
	}
	const first = 6 // line of the statements
	var taken, refused []string
	for _, op := range []string{"+=", "-=", "*=", "<<=", ">>=", "/=", "%=", "&=", "|=", "^="} {
		bits := strings.Contains("&=|=^=", op)
		for _, to := range []string{"x", "w"} {
			for _, of := range []string{"narrow", "wide", "1", "true"} {
				statement := to + " " + op + " " + of + ";"
				switch division := op == "/=" || op == "%="; {
				case division && (of == "wide" || to == "w"): // up to 64 bits
				case !bits:
					taken = append(taken, statement)
				default:
					refused = append(refused, statement)
				}
			}
		}
		if bits {
			taken = append(taken, "x "+op+" ap_uint<9>(wide);", "w "+op+" ap_uint<70>(narrow);", "one "+op+" true;",
				"some "+op+" 7;")
		}
	}
	if all, out := compiled(taken); !all {
		t.Errorf("%q: %s", taken, out)
	}
	_, out := compiled(refused)
	for i, s := range refused {
		if !strings.Contains(out, fmt.Sprintf("<stdin>:%d:", first+i)) {
			t.Errorf("%q is taken", s)
		}
	}
}

// TestCore checks the code that the kernels share.
func TestCore(t *testing.T) {
	t.Parallel()
	defines := []string{"-DSIMULATION", "-D__SYNTHESIS__"}
	for _, define := range defines[:tier.CasesToRun(len(defines))] {
		out, err := exec.Command(compile(t, "core/testdata/core_test.cpp", "-O0", "-Wno-unknown-pragmas",
			define)).CombinedOutput()
		if err != nil || string(out) != "0 failures\n" {
			t.Errorf("%s: %v\n%s", define, err, out)
		}
	}
}

// TestSequencesBite checks that kernels with other rules for the end of a sequence fail.
func TestSequencesBite(t *testing.T) {
	t.Parallel()
	if tier.Quick() {
		t.Skip("compiles a program per mutant")
	}
	for _, m := range []struct{ from, to string }{
		{"at.step == C::longest ? 1 : 0;", "at.step == C::longest + 1 ? 1 : 0;"},
		{"if (at.over == 1 && at.came == 1)", "if (at.over == 1)"},
		{"const bool reads = at.came == 0;", "const bool reads = true;"},
		{"    axis_tell(end, rest...);\n", "    (void)sizeof...(rest);\n"},
		{"if (asks) last = ends.read() == 1;", "last = !asks || ends.read() == 1;"},
	} {
		t.Run(m.to, func(t *testing.T) {
			t.Parallel()
			bin := compileEdited(t, "core/testdata/core_test.cpp", m.from, m.to, "-O0", "-Wno-unknown-pragmas")
			if out, err := exec.Command(bin).CombinedOutput(); err == nil {
				t.Errorf("%s", out)
			}
		})
	}
}

// TestHeaders checks that a project gets the kernels that it names, and all shared headers.
func TestHeaders(t *testing.T) {
	t.Parallel()
	paths := func(kernels ...string) (p []string) {
		for _, h := range hlslib.HeadersForKernelFiles(kernels...) {
			if len(h.Text) == 0 {
				t.Errorf("%s is empty", h.Path)
			}
			p = append(p, h.Path)
		}
		return p
	}
	want := []string{"csim/ap_axi_sdata.h", "csim/ap_int.h", "csim/hls_stream.h"}
	core, err := filepath.Glob("core/*.hpp")
	if err != nil || !slices.Contains(core, filepath.Join("core", "word.hpp")) {
		t.Fatalf("shared headers %v, %v", core, err)
	}
	for _, h := range core {
		want = append(want, "include/hlsgen/core/"+filepath.Base(h))
	}
	if got := paths("nothing.hpp"); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	kernels, err := filepath.Glob("*/*.hpp")
	if err != nil || len(kernels) < len(core)+len(hlslib.LayerKinds) { // a kind may have several
		t.Fatalf("headers %v, %v", kernels, err)
	}
	if all := paths(); len(all) != len(want)+len(kernels)-len(core) {
		t.Errorf("%d headers, got %v", len(kernels), all)
	}
	want = append(want, "include/hlsgen/mvau.hpp")
	if got := paths("mvau.hpp"); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
