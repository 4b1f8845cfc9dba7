package main

import (
	"io"
	"os"
	"strconv"

	"golang.org/x/term"
)

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// An ink colours text, or leaves it as it is.
type ink bool

// ink gives the colours of a stream: none where it is no terminal or the user wants none (no-color.org).
func (w world) ink(to io.Writer) ink {
	return ink(isTerminal(to) && w.env("NO_COLOR") == "" && w.env("TERM") != "dumb")
}

func (i ink) paint(code, s string) string {
	if !i {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

func (i ink) bold(s string) string   { return i.paint("1", s) }
func (i ink) red(s string) string    { return i.paint("1;31", s) }
func (i ink) yellow(s string) string { return i.paint("33", s) }

// narrowest is the number of columns below which nothing is made to fit.
const narrowest = 30

// columnsFor returns how many characters a line of a stream holds, as COLUMNS or the terminal says. Else it returns 0:
// files and pipes have lines of any length.
func columnsFor(w world, to io.Writer) int {
	if n, err := strconv.Atoi(w.env("COLUMNS")); err == nil && n > 0 {
		return max(n, narrowest)
	}
	if !isTerminal(to) {
		return 0
	}
	n, _, err := term.GetSize(int(to.(*os.File).Fd()))
	if err != nil || n <= 0 { // a serial line does not know
		return 80
	}
	return max(n, narrowest)
}
