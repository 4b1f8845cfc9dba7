package main

import (
	"strings"
	"testing"
)

// TestBoardsFit checks that the list of boards fits a terminal.
func TestBoardsFit(t *testing.T) {
	t.Parallel()
	got := say(t.TempDir(), nil, "boards")
	if got.code != exitOK || got.stderr != "" || got.stdout == "" {
		t.Fatalf("%+v", got)
	}
	for line := range strings.Lines(got.stdout) {
		if len(strings.TrimRight(line, "\n")) > 100 {
			t.Errorf("longer than 100 columns: %s", line)
		}
	}
}
