package main

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestTable(t *testing.T) {
	t.Parallel()
	tab := newTable("name", ">n", "what")
	tab.row("a", "1,000", "x")
	tab.row("größer", "7", "")
	var b screen
	b.table(tab)
	if want := "name        n  what\na       1,000  x\ngrößer      7\n"; b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
}

// TestFit checks that a table fits a line by shortening names in the middle. It checks that hide leaves out columns
// whose rows are all the same.
func TestFit(t *testing.T) {
	t.Parallel()
	tab := newTable("name", "board", ">n", "what")
	tab.row("/features/"+strings.Repeat("x", 100)+"/Quant", "zcu104", "1", "a layer")
	tab.row("b", "zcu104", "2", "another layer")
	if same := tab.hide("board", "what"); len(same) != 1 || same["board"] != "zcu104" {
		t.Errorf("hidden: %v", same)
	}
	var b screen
	b.table(tab)
	lines := strings.Split(b.String(), "\n")
	if n := utf8.RuneCountInString(lines[2]); len(lines) != 4 || n != lineWidth ||
		!strings.HasPrefix(lines[1], "/features/xx") || !strings.Contains(lines[1], "xx...xx") ||
		!strings.Contains(lines[1], "xx/Quant  1  a layer") {
		t.Errorf("%d letters:\n%s", n, b.String())
	}
}

// TestSentences checks that text in the last column is wrapped.
func TestSentences(t *testing.T) {
	t.Parallel()
	tab := newTable("name", "what")
	tab.row("a-layer", strings.Repeat("word ", 30)+"end")
	tab.row("b", "short")
	var b screen
	b.table(tab)
	words := strings.TrimSpace(strings.Repeat("word ", 18))
	want := "name     what\na-layer  " + words + "\n         " + strings.TrimSpace(strings.Repeat("word ", 12)) +
		" end\nb        short\n"
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
}

func TestNumbers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ got, want string }{
		{whole(0), "0"}, {whole(999), "999"}, {whole(1000), "1,000"}, {whole(-1234567), "-1,234,567"},
		{figure(64), "64"}, {figure(7685.6), "7,686"}, {figure(0.125), "0.125"}, {figure(72.25), "72.2"},
		{figure(1e8), "100,000,000"},
		{duration(41, 200), "205 ns"}, {duration(275, 200), "1.375 us"}, {duration(1_000_000, 100), "10 ms"},
		{duration(400_000_000, 100), "4 s"},
		{percent(120, 128), "93.8 %"}, {percent(0, 7), "0.0 %"},
		{inWords(3), "three"}, {inWords(11), "11"},
		{count(1, "layer"), "1 layer"}, {count(4096, "clock"), "4,096 clocks"},
		{wrap("a bc def ghij", "  ", 8), "  a bc\n  def\n  ghij\n"},
		{label(""), "-"}, {label("a\nb\x1b"), "a?b?"}, {label(strings.Repeat("é", 80)),
			strings.Repeat("é", 69) + "..."},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}
