package docs

import (
	"bytes"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"hlsgen/internal/diag"
)

var update = flag.Bool("update", false, "write what golden tests hold into the pages that show it")

// Every code has a page of one form, whose example is what the golden test of internal/compiler got, and every page has
// a code.
func TestPages(t *testing.T) {
	for code := range diag.Codes {
		name := "diagnostics/" + string(code) + ".md"
		show(t, name, "\n## Example\n\n", section(t, "../internal/compiler/testdata/diag/"+string(code)+".txtar",
			"printed"))
		page, err := os.ReadFile(name)
		if err != nil {
			t.Error(err)
			continue
		}
		if head := "# " + string(code) + "\n\n"; !bytes.HasPrefix(page, []byte(head)) {
			t.Errorf("%s does not begin with %q", name, head)
		}
		at := 0
		for _, section := range []string{"\n## Why\n", "\n## What to do\n", "\n## Example\n"} {
			i := bytes.Index(page, []byte(section))
			if i < at {
				t.Errorf("%s: section %q is missing or out of order", name, section)
			}
			at = i
		}
		if text, ok := Page(string(code)); !*update && (!ok || !bytes.Equal(text, page)) {
			t.Errorf("%s is not what Page gives", name)
		}
	}
	files, err := fs.Glob(pages, "diagnostics/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		code := strings.TrimSuffix(path.Base(f), ".md")
		if _, ok := diag.Codes[diag.Code(code)]; !ok {
			t.Errorf("page %s is of no code", f)
		}
	}
}

// show holds that the file shows text in the block of code after the marker, be it with lines after it that begin with
// three dots; -update makes it so.
func show(t *testing.T, name, marker, text string) {
	t.Helper()
	page, err := os.ReadFile(name)
	if err != nil {
		t.Error(err)
		return
	}
	before, rest, ok := strings.Cut(string(page), marker+"```text\n")
	block, after, closed := strings.Cut(rest, "```\n")
	if !ok || !closed {
		t.Errorf("%s: there is no block of code after %q", name, marker)
		return
	}
	shown, more, cut := strings.Cut(block, "...\n")
	switch {
	case shown == text:
	case !*update:
		t.Errorf("%s shows (go test ./docs -update to accept)\n%sinstead of\n%s", name, shown, text)
	default:
		if cut {
			text += "...\n" + more
		}
		if err := os.WriteFile(name, []byte(before+marker+"```text\n"+text+"```\n"+after), 0o666); err != nil {
			t.Error(err)
		}
	}
}

func TestPageUnknown(t *testing.T) {
	t.Parallel()
	for _, code := range []string{"", "no-such-code", "../diagnostics/mismatch", "op-invalid.md", "."} {
		if text, ok := Page(code); ok {
			t.Errorf("Page(%q) is %q", code, text)
		}
	}
}

// Every code is used by code that is no test: a code that nothing reports would be a page about nothing.
func TestCodesAreReported(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	sources(t, func(name string, file *ast.File) {
		ast.Inspect(file, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				if x, ok := s.X.(*ast.Ident); ok && x.Name == "diag" {
					used[s.Sel.Name] = true
				}
			}
			return true
		})
	})
	for name, code := range constants(t) {
		if !used[name] {
			t.Errorf("diag.%s (%s) is reported nowhere", name, code)
		}
	}
}

// constants gives the codes by the names of their constants, and checks that these are the codes of diag.Codes.
func constants(t *testing.T) map[string]string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "../internal/diag/codes.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]string{}
	ast.Inspect(file, func(n ast.Node) bool {
		v, ok := n.(*ast.ValueSpec)
		if !ok || len(v.Values) != 1 {
			return true
		}
		if typ, ok := v.Type.(*ast.Ident); ok && typ.Name == "Code" {
			code, err := strconv.Unquote(v.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			names[v.Names[0].Name] = code
		}
		return true
	})
	for name, code := range names {
		if _, ok := diag.Codes[diag.Code(code)]; !ok {
			t.Errorf("diag.%s (%s) is not in diag.Codes", name, code)
		}
	}
	if len(names) != len(diag.Codes) {
		t.Errorf("%d constants, %d codes", len(names), len(diag.Codes))
	}
	return names
}

// sources parses every Go file of the module that is no test.
func sources(t *testing.T, f func(name string, file *ast.File)) {
	t.Helper()
	err := filepath.WalkDir("..", func(name string, e fs.DirEntry, err error) error {
		switch base := filepath.Base(name); {
		case err != nil:
			return err
		case e.IsDir() && (base == "testdata" || base[0] == '.' && base != ".."):
			return fs.SkipDir
		case e.IsDir() || filepath.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") ||
			strings.HasSuffix(name, ".pb.go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			return err
		}
		f(name, file)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// The diagnostic that README shows is what a golden test holds; package doctest runs the rest.
func TestREADME(t *testing.T) {
	show(t, "../README.md", "<!-- diagnostic -->\n", section(t, "../internal/compiler/testdata/diag/not-mapped.txtar",
		"printed"))
}

// ARCHITECTURE.md names every package, but for layers: `hlsgen layers` lists them.
func TestPackages(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]bool{}
	sources(t, func(name string, _ *ast.File) {
		dir := filepath.ToSlash(strings.TrimPrefix(filepath.Dir(name), ".."+string(filepath.Separator)))
		kernels, _ := filepath.Glob(filepath.Join("..", dir, "*.hpp"))
		layer := path.Dir(dir) == "hlslib" && len(kernels) > 0
		if !named[dir] && !layer && !bytes.Contains(page, []byte("`"+dir+"`")) {
			t.Errorf("ARCHITECTURE.md does not name %s", dir)
		}
		named[dir] = true
	})
}

// section is a section of a golden file.
func section(t *testing.T, file, name string) string {
	t.Helper()
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range archive.Files {
		if f.Name == name {
			return string(f.Data)
		}
	}
	t.Fatalf("%s has no section %s", file, name)
	return ""
}

// link is a Markdown link to a file of the project.
var link = regexp.MustCompile(`\]\(([^)#:]+)(#[^)]*)?\)`)

// named is what stands as code and looks like a file or folder of the project.
var named = regexp.MustCompile(
	"`((?:cmd|frontend|folding|templates|hlslib|rtlsim|boards|internal|docs)/[A-Za-z0-9_./-]*)`")

// What the pages link to and what they name as a place in the project is there.
func TestLinks(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.md")
	if err != nil {
		t.Fatal(err)
	}
	files = append(files, "../README.md")
	if len(files) < 9 {
		t.Fatalf("only the pages %v", files)
	}
	slices.Sort(files)
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Error(err)
			continue
		}
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(name), m[1])); err != nil {
				t.Errorf("%s: link: %v", name, err)
			}
		}
		for _, m := range named.FindAllStringSubmatch(string(text), -1) {
			if _, err := os.Stat(filepath.Join("..", m[1])); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}
