package doctest

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"hlsgen/internal/examples"
	"hlsgen/internal/testsupport/golden"
	"hlsgen/internal/testsupport/tier"
)

// update is the flag -update: the output of commands is written into the pages, and so is the table of blocks.
var update = golden.Update

// A treatment is a way to check the blocks with a certain info string.
type treatment struct {
	info string // first words of the info string, after the fence
	what string // description, for the table of blocks
	do   func(*site, *testing.T, *block)
}

// treatments are tried in order. A block that none applies to is an error.
var treatments = []treatment{
	{"console shared", "run where HLSGEN_SHARED has the models, output compared", (*site).shared},
	{"console", "run, output compared", (*site).console},
	{"sh vendor", "not run: tools of the vendor; syntax and flags", (*site).parseShell},
	{"sh board", "not run: a board at a serial port; syntax and flags", (*site).parseShell},
	{"sh cluster", "not run: a cluster; syntax and flags", (*site).parseShell},
	{"sh make", "not run: sets a machine up; syntax, flags and targets", (*site).parseMake},
	{"sh tests", "not run: tests; syntax, packages and tests", (*site).parseTests},
	{"sh models", "not run: models that lie outside of the project; syntax and flags", (*site).parseShell},
	{"sh outside", "run by TestOutside, in a module of its own", nothing},
	{"go outside", "run by TestOutside, in a module of its own", nothing},
	{"sh", "run, without output or with any", (*site).shell},
	{"yaml config", "read as a configuration", (*site).config},
	{"json folding", "built with, as a folding file", (*site).folding},
	{"json board", "built for, as a board file", (*site).board},
	{"go excerpt", "parsed", (*site).excerpt},
	{"go file", "a file that a test of addingTests adds", (*site).added},
	{"cpp file", "a file that a test of addingTests adds", (*site).added},
	{"go row", "a row that a test of addingTests adds", (*site).added},
	{"cpp excerpt", "brackets and quotes close", (*site).closes},
	{"systemverilog excerpt", "brackets and quotes close", (*site).closes},
	{"python block", "run by cmd/wheels.TestPackage, with every Python", nothing},
	{"python board", "a program of the reader's; brackets and quotes close", (*site).closes},
	{"python training", "not run: needs Brevitas; brackets and quotes close", (*site).closes},
	{"text drawing", "a picture in characters", nothing},
	{"text", "held by another test", (*site).held},
}

func nothing(*site, *testing.T, *block) {}

// held names the test that checks a text block, found by its marker (<!-- marker --> in the line before it), or by
// the heading above it.
var held = []struct{ page, marker, head, by string }{
	{"docs/diagnostics/*.md", "", "Example", "docs.TestPages"},
	{"docs/accumulators.md", "A2Q", "", "internal/measured.TestA2QPage"},
	{"docs/minifloats.md", "formats", "", "internal/measured.TestFormatsPage"},
	{"docs/clock.md", "series", "", "internal/build.TestSeriesOfFINNBuild"},
	{"docs/estimator.md", "coefficients", "", "hlslib/price/cost.TestCoefficients"},
	{"docs/estimator.md", "circuits", "", "internal/measured.TestPage"},
	{"docs/estimator.md", "circuits FINN", "", "internal/measured.TestPage"},
	{"docs/estimator.md", "circuits networks", "", "internal/measured.TestPage"},
	{"docs/estimator.md", "*", "", "hlslib/price/cost.TestPage"},
	{"docs/finn-l.md", "*", "", "internal/build.TestFINNLStudy"},
	{"docs/features.md", "diagnostic", "", "docs.TestFeatures"},
}

// pictures lists pictures that a page shows, with the file that the page's commands write when they are run in its
// folder.
var pictures = []struct{ page, shown, drawn string }{
	{"docs/features.md", "docs/pareto.svg", "sweep/pareto-lut.svg"},
}

// TestPages runs the documents. For every page it makes a folder and runs the page's commands there in order.
// hlsgen is in the PATH. The folder has the iris example as model.onnx, its samples as x.npy, Brevitas' outputs for
// them as y.npy, and a board file, mine.json. The page about recurrent networks has more files.
func TestPages(t *testing.T) {
	t.Parallel()
	python := tier.Needs(t, "bash", "make", "g++", "numpy")[3]
	p := build(t)
	p.python(t, python)
	var mu sync.Mutex
	counts := map[string]map[string]int{} // numbers of blocks by treatment and page
	t.Run("pages", func(t *testing.T) {
		for _, page := range pages(t) {
			t.Run(page, func(t *testing.T) {
				t.Parallel()
				path := filepath.Join(p.root, filepath.FromSlash(page))
				text, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				s := &site{program: p, dir: p.folder(t), text: string(text)}
				if page == recurrentPage {
					p.recurrent(t, s.dir)
				}
				for _, b := range blocks(t, page, s.text) {
					i := slices.IndexFunc(treatments, func(x treatment) bool {
						return b.info == x.info ||
							strings.HasPrefix(b.info, x.info+" ")
					})
					if i < 0 {
						t.Errorf("%s: nothing is known to do with a block of %q: mark it", b, b.info)
						continue
					}
					treatments[i].do(s, t, b)
					mu.Lock()
					if counts[treatments[i].info] == nil {
						counts[treatments[i].info] = map[string]int{}
					}
					counts[treatments[i].info][page]++
					mu.Unlock()
				}
				for _, m := range inlineCode.FindAllStringSubmatch(prose(s.text), -1) {
					p.flagsOf(t, page, m[1])
				}
				for _, x := range pictures {
					if x.page == page {
						s.picture(t, x.shown, x.drawn)
					}
				}
				if (*update || *golden.Figures && !t.Failed()) && s.text != string(text) {
					if err := os.WriteFile(path, []byte(s.text), 0o666); err != nil {
						t.Fatal(err)
					}
				}
			})
		}
	})
	if !t.Failed() && !filtered() {
		table(t, counts)
	}
}

// filtered reports whether flags of go test select among subtests, so that not all pages run.
func filtered() bool {
	return strings.Contains(flag.Lookup("test.run").Value.String(), "/") ||
		flag.Lookup("test.skip").Value.String() != ""
}

// table compares the table of blocks (how many each treatment has, and on which pages) with its file; -update
// writes it.
func table(t *testing.T, counts map[string]map[string]int) {
	t.Helper()
	var b strings.Builder
	for _, x := range treatments {
		total := 0
		var where []string
		for _, page := range slices.Sorted(maps.Keys(counts[x.info])) {
			if total += counts[x.info][page]; !strings.HasPrefix(page, "docs/diagnostics/") {
				where = append(where, fmt.Sprintf("%s %d", page, counts[x.info][page]))
			}
		}
		fmt.Fprintf(&b, "%-16s %3d  %s\n", x.info, total, x.what)
		if where != nil {
			fmt.Fprintf(&b, "                      %s\n", strings.Join(where, ", "))
		}
	}
	const file = "testdata/blocks.txt"
	want, err := os.ReadFile(file)
	switch {
	case string(want) == b.String():
	case *update:
		err = os.WriteFile(file, []byte(b.String()), 0o666)
	default:
		t.Errorf("%s has another table of blocks (-update to accept) than\n%s", file, b.String())
	}
	if err != nil {
		t.Error(err)
	}
}

// pages returns README.md and all pages of docs, as paths in the repository.
func pages(t testing.TB) []string {
	t.Helper()
	root, all := tier.Root(t), []string{"README.md"}
	err := filepath.WalkDir(filepath.Join(root, "docs"), func(path string, e fs.DirEntry, err error) error {
		if err == nil && filepath.Ext(path) == ".md" {
			rel, err := filepath.Rel(root, path)
			all = append(all, filepath.ToSlash(rel))
			return err
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// A program is a built hlsgen binary, with the flags of its commands.
type program struct {
	root, bin string                     // root of the repository, folder of the binary
	flags     map[string]map[string]bool // by command
}

// build builds the binary and reads the flags of each command from its help.
func build(t testing.TB) *program {
	t.Helper()
	p := &program{root: tier.Root(t), bin: t.TempDir(), flags: map[string]map[string]bool{}}
	cmd := exec.Command("go", "build", "-buildvcs=false", "-o", filepath.Join(p.bin, "hlsgen"), "./cmd/hlsgen")
	cmd.Dir = p.root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	line := regexp.MustCompile(`(?m)^  (\w+) +\S`)
	flags := regexp.MustCompile(`(?m)^ +(?:-\w, )?--([a-z][a-z-]*)`)
	names := []string{"reference"} // not listed in the help: it is meant for packages
	for _, m := range line.FindAllStringSubmatch(p.run(t, p.bin, "hlsgen --help", 0), -1) {
		if m[1] != "hlsgen" { // an example
			names = append(names, m[1])
		}
	}
	for _, name := range names {
		p.flags[name] = map[string]bool{}
		for _, f := range flags.FindAllStringSubmatch(p.run(t, p.bin, "hlsgen "+name+" --help", 0), -1) {
			p.flags[name][f[1]] = true
		}
	}
	if len(p.flags) < 10 || !p.flags["build"]["board"] {
		t.Fatalf("the help shows only %v", p.flags)
	}
	return p
}

// python makes the command python3 on the pages start the given Python, which has numpy.
func (p *program) python(t testing.TB, path string) {
	t.Helper()
	text := fmt.Sprintf("#!/bin/sh\nexec %s \"$@\"\n", path)
	if err := os.WriteFile(filepath.Join(p.bin, "python3"), []byte(text), 0o777); err != nil {
		t.Fatal(err)
	}
}

// folder makes a folder with files in the place of a reader's own.
func (p *program) folder(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	for name, from := range map[string]string{"model.onnx": "model.onnx", "x.npy": "inputs.npy",
		"y.npy": "outputs.npy"} {
		data, err := examples.EmbeddedFiles.ReadFile(examples.IrisName + "/" + from)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), data, 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	board, err := os.ReadFile(filepath.Join(p.root, "boards", "pynq-z1.json"))
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "mine.json"), board, 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// patience is the time limit of a command on a page, for the slowest machine.
const patience = 10 * time.Minute

// run runs a shell script, checks its exit code, and returns all that it prints.
func (p *program) run(t testing.TB, dir, script string, code int) string {
	t.Helper()
	ctx, stop := context.WithTimeout(context.Background(), patience)
	defer stop()
	cmd := exec.CommandContext(ctx, "bash", "-c", script)
	cmd.Dir = dir
	cmd.Env = []string{"HOME=" + dir, "LC_ALL=C", "PATH=" + p.bin + string(os.PathListSeparator) + os.Getenv("PATH")}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	got, exit := 0, new(exec.ExitError)
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	} else if err != nil {
		t.Fatal(err)
	}
	if got != code {
		t.Errorf("exit code %d, want %d, of\n%s\n%s", got, code, script, out.String())
	}
	return out.String()
}

// A site is a page whose blocks are being run, in order.
type site struct {
	*program
	dir, text string
}

// console runs the commands of a block and compares their output. If the info string ends in "exit N", the last
// command must exit with N.
func (s *site) console(t *testing.T, b *block) {
	t.Helper()
	commands := b.commands(t)
	code := 0
	info := strings.TrimSuffix(b.info, " shared")
	if _, number, ok := strings.Cut(info, " exit "); ok {
		n, err := strconv.Atoi(number)
		if err != nil {
			t.Fatalf("%s: %v", b, err)
		}
		code = n
	} else if info != "console" {
		t.Fatalf("%s: %q is not console, or console exit N", b, b.info)
	}
	var now strings.Builder
	for i, c := range commands {
		want := 0
		if i == len(commands)-1 {
			want = code
		}
		got := s.run(t, s.dir, c.script, want)
		if got != "" && !strings.HasSuffix(got, "\n") {
			got += "\n"
		}
		if got != c.output && !golden.Accept(b.page, c.output, got) {
			t.Errorf("%s: %s (-update to accept)\nprints\n%s\nwant\n%s", b, c.script, got, c.output)
		}
		now.WriteString(strings.Join(c.lines, "\n") + "\n" + got)
	}
	s.text = strings.Replace(s.text, "```"+b.info+"\n"+b.text+"```\n", "```"+b.info+"\n"+now.String()+"```\n", 1)
}

// shared runs a block of commands that use the shared models, which are linked as models in the page's folder.
func (s *site) shared(t *testing.T, b *block) {
	t.Run(b.String(), func(t *testing.T) {
		models, err := filepath.Abs(filepath.Join(tier.NeedsShared(t), "models"))
		if err == nil {
			err = os.Symlink(models, filepath.Join(s.dir, "models"))
		}
		if err != nil && !errors.Is(err, fs.ErrExist) {
			t.Fatal(err)
		}
		s.console(t, b)
	})
}

// picture compares a picture in the repository with the file that a command has written.
func (s *site) picture(t *testing.T, shown, drawn string) {
	t.Helper()
	got, err := os.ReadFile(filepath.Join(s.dir, filepath.FromSlash(drawn)))
	if err != nil {
		t.Error(err)
		return
	}
	file := filepath.Join(s.root, filepath.FromSlash(shown))
	want, err := os.ReadFile(file)
	switch {
	case err == nil && bytes.Equal(got, want):
		return
	case *update || *golden.Figures:
		err = os.WriteFile(file, got, 0o666)
	case err == nil:
		err = fmt.Errorf("%s is not what is drawn (-update to accept)", shown)
	}
	if err != nil {
		t.Error(err)
	}
}

// shell runs a block as one script and ignores its output.
func (s *site) shell(t *testing.T, b *block) {
	t.Helper()
	if b.info != "sh" {
		t.Fatalf("%s: %q is no mark", b, b.info)
	}
	s.run(t, s.dir, "set -e\n"+b.text, 0)
}

// parseShell checks the syntax of a block that is not run, and hlsgen's commands and flags in it.
func (s *site) parseShell(t *testing.T, b *block) {
	t.Helper()
	cmd := exec.Command("bash", "-n")
	cmd.Stdin = strings.NewReader(b.text)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%s: %v: %s", b, err, out)
	}
	for line := range strings.Lines(strings.ReplaceAll(b.text, "\\\n", " ")) {
		s.flagsOf(t, b.String(), line)
	}
}

var (
	call    = regexp.MustCompile(`(?:^|[\s;&|(/])hlsgen +([a-z]+)([^;&|\n]*)`)
	flagged = regexp.MustCompile(`(?:^|[\s\[])--([a-z][a-z-]*)`)
	comment = regexp.MustCompile(`(^|\s)#.*`)
)

// flagsOf checks that the commands and flags of hlsgen in a line exist.
func (p *program) flagsOf(t testing.TB, where, line string) {
	t.Helper()
	for _, m := range call.FindAllStringSubmatch(comment.ReplaceAllString(line, ""), -1) {
		flags, ok := p.flags[m[1]]
		if !ok {
			t.Errorf("%s: there is no command hlsgen %s", where, m[1])
		}
		for _, f := range flagged.FindAllStringSubmatch(m[2], -1) {
			if !flags[f[1]] {
				t.Errorf("%s: hlsgen %s has no --%s", where, m[1], f[1])
			}
		}
	}
}

// parseMake does the same and checks that the Makefile has the targets.
func (s *site) parseMake(t *testing.T, b *block) {
	t.Helper()
	s.parseShell(t, b)
	makefile, err := os.ReadFile(filepath.Join(s.root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`(?m)^make +([a-z-]+)`).FindAllStringSubmatch(b.text, -1) {
		if !strings.Contains("\n"+string(makefile), "\n"+m[1]+":") {
			t.Errorf("%s: there is no target %s", b, m[1])
		}
	}
}

var goTest = regexp.MustCompile(`go test ((?:\./\S+ ?)+)(?:-run (\w+))?`)

// parseTests does the same and checks that the packages and tests exist.
func (s *site) parseTests(t *testing.T, b *block) {
	t.Helper()
	s.parseShell(t, b)
	found := goTest.FindAllStringSubmatch(b.text, -1)
	if found == nil {
		t.Errorf("%s: there is no go test ./PACKAGE", b)
	}
	for _, m := range found {
		for _, folder := range strings.Fields(m[1]) {
			folder = strings.TrimPrefix(strings.TrimSuffix(folder, "..."), "./")
			if _, err := os.Stat(filepath.Join(s.root, filepath.FromSlash(folder))); err != nil {
				t.Errorf("%s: %v", b, err)
			}
			if m[2] != "" && !hasTest(t, folder, m[2]) {
				t.Errorf("%s: %s has no test %s", b, folder, m[2])
			}
		}
	}
}

// config checks that hlsgen accepts a block as its configuration: it gets as far as the missing model.
func (s *site) config(t *testing.T, b *block) {
	t.Helper()
	s.write(t, "block.yaml", b.text)
	out := s.run(t, s.dir, "hlsgen build missing.onnx --config block.yaml", 1)
	if !strings.Contains(out, "error[file-unreadable]: open missing.onnx") {
		t.Errorf("%s: %s", b, out)
	}
}

func (s *site) folding(t *testing.T, b *block) {
	t.Helper()
	s.write(t, "block.json", b.text)
	s.run(t, s.dir, "hlsgen build --board zcu104 --folding block.json --strict --verify 0 --no-csim --out block && "+
		"rm -r block", 0)
}

func (s *site) board(t *testing.T, b *block) {
	t.Helper()
	s.write(t, "block.json", b.text)
	s.run(t, s.dir, "hlsgen build model.onnx --board ./block.json --verify 0 --no-csim --out block && rm -r block", 0)
}

func (s *site) write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// excerpt checks that a block is part of a Go program: declarations, statements, an element of a list, or fields.
func (s *site) excerpt(t *testing.T, b *block) {
	t.Helper()
	for _, around := range []string{"%s", "func _() {\n%s\n}", "var _ = []x{\n%s\n}", "type _ struct {\n%s\n}"} {
		if _, err := parser.ParseFile(token.NewFileSet(), "", "package x\n"+fmt.Sprintf(around, b.text),
			0); err == nil {
			return
		}
	}
	t.Errorf("%s: this is no Go", b)
}

func (s *site) closes(t *testing.T, b *block) {
	t.Helper()
	if !balanced(b.text) {
		t.Errorf("%s: a bracket or a quote does not close", b)
	}
}

// addingTests holds, by page, the folder and the name of the test that adds the blocks of the page to the module.
var addingTests = map[string][2]string{
	"docs/adding-a-layer.md":    {"internal/testsupport/layertest", "TestPage"},
	"docs/adding-a-back-end.md": {"internal/testsupport/pagetest", "TestBackend"},
}

// added checks that a test adds this block, which only the pages of addingTests may have.
func (s *site) added(t *testing.T, b *block) {
	t.Helper()
	if by, ok := addingTests[b.page]; !ok || !hasTest(t, by[0], by[1]) {
		t.Errorf("%s: no test adds it", b)
	}
}

// held checks that some test compares a block, and that this test exists.
func (s *site) held(t *testing.T, b *block) {
	t.Helper()
	match := func(pattern, name string) bool { ok, _ := filepath.Match(pattern, name); return ok }
	for _, h := range held {
		if match(h.page, b.page) && (h.head != "" && h.head == b.head || h.marker != "" && b.marker != "" &&
			match(h.marker, b.marker)) {
			folder, test, _ := strings.Cut(h.by, ".")
			if !hasTest(t, folder, test) {
				t.Errorf("%s: there is no %s", b, h.by)
			}
			return
		}
	}
	t.Errorf("%s: no test holds this text; if it is a picture, mark it \"text drawing\"", b)
}

// tests returns the names of the tests in a package folder.
func tests(t testing.TB, folder string) (names []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(tier.Root(t), filepath.FromSlash(folder), "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		test := regexp.MustCompile(`(?m)^func (Test\w+)\(t \*testing\.T\)`)
		for _, m := range test.FindAllStringSubmatch(string(text), -1) {
			names = append(names, m[1])
		}
	}
	return names
}

func hasTest(t testing.TB, folder, test string) bool {
	t.Helper()
	return slices.Contains(tests(t, folder), test)
}
