package main

import (
	"strings"
	"testing"
)

// TestFold checks that lines are broken between words, that following lines are indented, and that colours take no
// columns.
func TestFold(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		line  string
		width int
		hang  int
		want  string
	}{
		{"as it is", 20, 2, "as it is"},
		{"  a table   of two", 14, 2, "  a table   of\n    two"},
		{"12345 7890 12", 10, 0, "12345 7890\n12"},
		{"a /path/that/is/longer/than/a/line ends", 12, 2, "a\n  /path/that/is/longer/than/a/line\n  ends"},
		{"\x1b[1;31mred:\x1b[0m word", 9, 2, "\x1b[1;31mred:\x1b[0m word"},
		{"\x1b[1;31mred:\x1b[0m word word", 9, 2, "\x1b[1;31mred:\x1b[0m word\n  word"},
		{"漢字 漢字", 8, 1, "漢字\n 漢字"},
	} {
		if got := fold(c.line, c.width, c.hang); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// TestShellFold checks that a shell still reads a broken command as one command.
func TestShellFold(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"  make -C out csim":                          "  make -C out csim",
		"  hlsgen build net.onnx --board zcu104":      "  hlsgen build net.onnx \\\n      --board zcu104",
		"  hlsgen boards        # all that there are": "  # all that there are\n  hlsgen boards",
		"hlsgen build 'a b c d e f g h i j k l m n'":  "hlsgen build \\\n    'a b c d e f g h i j k l m n'",
	} {
		if got := shellFold(line, 28); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestRewrapped checks that paragraphs and lists of a page are broken anew, and that fenced blocks stay.
func TestRewrapped(t *testing.T) {
	t.Parallel()
	const rest = "- two\n\n  indented\n\n```text\nin a fence\n```\n"
	page := "# A page\n\nOne line\nand another one.\n\n- an item that\n  goes on\n" + rest
	for width, want := range map[int]string{
		40: "# A page\n\nOne line and another one.\n\n- an item that goes on\n" + rest,
		12: "# A page\n\nOne line and\nanother one.\n\n- an item\n  that goes\n  on\n" + rest,
	} {
		if got := rewrapped(page, width); got != want {
			t.Errorf("%d: %q, want %q", width, got, want)
		}
	}
}

// TestParts checks that a table that is too wide for a terminal is shown in parts that all name their rows, without
// losing a column.
func TestParts(t *testing.T) {
	t.Parallel()
	tab := newTable("layer", ">clocks", ">LUT", ">FF", "what")
	tab.row("MVAU_0", "1,000", "20,000", "30,000", "words that are")
	tab.row("a-name-that-is-long", "2", "3", "4", "")
	s := screen{width: 32}
	s.table(tab)
	want := "layer             clocks     LUT\n" + "MVAU_0             1,000  20,000\n" +
		"a-name...is-long       2       3\n" + "\n" + "layer                    FF\n"
	if got := s.String(); !strings.HasPrefix(got, want) || len(tooWideFor(got, 32)) > 0 {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	tab.keys = 2
	if same := tab.hide("clocks"); len(same) > 0 || tab.keys != 2 {
		t.Errorf("%v, %d keys", same, tab.keys)
	}
	s = screen{width: 60}
	s.table(tab)
	if got := s.String(); strings.Contains(got, "\n\n") {
		t.Errorf("it fits:\n%s", got)
	}
}

func tooWideFor(text string, columns int) (wide []string) {
	for line := range strings.Lines(text) {
		if columnsOf(strings.TrimSuffix(line, "\n")) > columns {
			wide = append(wide, line)
		}
	}
	return wide
}
