package docs

import (
	"bytes"
	"io/fs"
	"os"
	"path"
	"strings"
	"testing"

	"hlsgen/internal/diag"
	"hlsgen/internal/testsupport/golden"
)

// TestPages checks that every code has a page of one form, and every page a code. The example of a page is the output
// in the golden test of internal/build.
func TestPages(t *testing.T) {
	for code := range diag.CodeMeanings {
		name := "diagnostics/" + string(code) + ".md"
		show(t, name, "\n## Example\n\n", golden.Text(t, "../internal/build/testdata/diag/"+string(code)+".txtar",
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
		if text, ok := PageOfDiagnosticCode(string(code)); !*golden.Update && !*golden.Figures && (!ok ||
			!bytes.Equal(text,
				page)) {
			t.Errorf("%s is not what Page gives", name)
		}
	}
	files, err := fs.Glob(pages, "diagnostics/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		code := strings.TrimSuffix(path.Base(f), ".md")
		if _, ok := diag.CodeMeanings[diag.Code(code)]; !ok {
			t.Errorf("page %s is of no code", f)
		}
	}
}

// show checks that the block of code after the marker has the given text. Lines of the page after three dots are left
// out. With -update it writes the text.
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
	case !golden.Accept(name, shown, text):
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
		if text, ok := PageOfDiagnosticCode(code); ok {
			t.Errorf("Page(%q) is %q", code, text)
		}
	}
}

// TestFeatures checks the diagnostic that features.md shows against a golden file. Package doctest runs the rest.
func TestFeatures(t *testing.T) {
	show(t, "features.md", "<!-- diagnostic -->\n",
		golden.Text(t, "../internal/build/testdata/diag/not-mapped.txtar", "printed"))
}
