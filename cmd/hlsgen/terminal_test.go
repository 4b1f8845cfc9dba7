package main

import (
	"bytes"
	"os"
	"testing"
)

func TestInk(t *testing.T) {
	t.Parallel()
	if got := ink(false).red("x") + ink(false).bold("y"); got != "xy" {
		t.Errorf("%q", got)
	}
	if got := ink(true).red("x") + ink(true).bold("y") +
		ink(true).yellow("z"); got != "\x1b[1;31mx\x1b[0m\x1b[1my\x1b[0m\x1b[33mz\x1b[0m" {
		t.Errorf("%q", got)
	}
	file, err := os.Create(t.TempDir() + "/file")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	a := bare()
	if a.ink(file) || a.ink(&bytes.Buffer{}) {
		t.Error("a file is no terminal")
	}
}

// TestColumns checks the width of lines: COLUMNS counts before the terminal, and without either there is no width.
func TestColumns(t *testing.T) {
	t.Parallel()
	file, err := os.Create(t.TempDir() + "/file")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for set, want := range map[string]int{"": 0, "72": 72, "0": 0, "-5": 0, "wide": 0, "3": narrowest} {
		w := world{env: func(string) string { return set }}
		if got := columnsFor(w, file); got != want {
			t.Errorf("COLUMNS=%s: %d, want %d", set, got, want)
		}
	}
}
