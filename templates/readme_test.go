package templates

import (
	"os/exec"
	"strings"
	"testing"

	"hlsgen/internal/testsupport/tier"
)

func TestReadme(t *testing.T) {
	t.Parallel()
	r := ReadmeContents{Title: "a model", About: "What it is.", Files: []ReadmeEntry{
		{[]string{"README.md"}, "this page"},
		{[]string{"x/*.txt", "y.csv"}, "texts"},
		{[]string{"points/"}, "points"},
		{[]string{"*.png"}, "pictures"},
	}, Steps: []ReadmeStep{{"Look", "At it.", []string{"cat x/1.txt", "ls"}}, {"Think", "Of it.", nil}}}
	got, err := r.RenderReadme([]string{"README.md", "x/1.txt", "x/2.txt", "points/a/b.c"})
	const want = "# a model\n\nWhat it is.\n\n| file | what it is |\n|---|---|\n| `README.md` | this page |\n| " +
		"`x/*.txt` | texts |\n" +
		"| `points/` | points |\n\n## Look\n\nAt it.\n\n```sh\ncat x/1.txt\nls\n```\n\n## Think\n\nOf it.\n"
	if err != nil || string(got) != want {
		t.Errorf("%v\n%s", err, got)
	}
	for file, why := range map[string]string{"x/1.tx": "nothing says what x/1.tx is",
		"x/y/1.txt": "nothing says what x/y/1.txt is"} {
		if _, err := r.RenderReadme([]string{"README.md", file}); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v", file, err)
		}
	}
}

// TestReadmeEscapes checks that any name in a README is shown as text.
func TestReadmeEscapes(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]string{
		"net":                  "`net`",
		"a|b":                  "`a\\|b`",
		"``":                   "``` `` ```",
		"a`b":                  "``a`b``",
		"":                     "`  `",
		"x\n```\n<script>\x1b": "````x?```?<script>?````",
		"\xff":                 "`?`",
	} {
		got := FormatMarkdownCodeSpan(s)
		if got != want {
			t.Errorf("Code(%q) is %s, want %s", s, got, want)
		}
	}
	bash := tier.Needs(t, "bash")[0]
	for _, s := range []string{"net.onnx", "", "my model", "it's; rm", "$(x)", "a\nb", "```\n", "\xff\\'", "ü\t"} {
		word := QuoteShellWord(s)
		if strings.ContainsFunc(word, func(r rune) bool { return r < ' ' }) {
			t.Errorf("ShellWord(%q) is %q", s, word)
		}
		got, err := exec.Command(bash, "-c", "printf %s "+word).Output()
		if err != nil || string(got) != s {
			t.Errorf("bash reads %s as %q: %v", word, got, err)
		}
	}
}
