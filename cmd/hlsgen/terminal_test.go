package main

import (
	"bytes"
	"os"
	"strings"
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

// TestProgress holds that stages are shown only once a command takes long, and leave nothing behind.
func TestProgress(t *testing.T) {
	t.Parallel()
	var quick bytes.Buffer
	p := newProgress(&quick, bare().logger())
	p.step("reading", 0, 0)
	p.close()
	if quick.Len() > 0 {
		t.Errorf("%q", quick.String())
	}

	var slow bytes.Buffer
	p = &progress{alive: true, log: bare().logger()}
	p.step("reading", 0, 0)
	p.step("importing", 0, 0)
	p.show(&slow)
	p.step("simulating", 3, 16)
	p.step("simulating", 16, 16)
	p.close()
	p.show(&slow) // too late: shows nothing
	if s := slow.String(); strings.Contains(s, "reading") || !strings.Contains(s, "importing") ||
		!strings.Contains(s, "simulating  18% |") || !strings.Contains(s, "(3/16)") {
		t.Errorf("%q", s)
	}
	if s := slow.String(); strings.TrimSpace(s[strings.LastIndex(strings.TrimRight(s, "\r"), "\r")+1:]) != "" {
		t.Errorf("the last line stays: %q", s)
	}
}
