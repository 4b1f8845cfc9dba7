package main

import (
	"io"
	"os"
	"strconv"

	"golang.org/x/term"
)

// isTerminal reports whether a writer is a terminal.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// An ink colours text for a terminal if it is true. A false ink leaves text as it is.
type ink bool

// ink returns the ink of a stream. It is false if the stream is no terminal, or if the user wants no colours
// (no-color.org).
func (w world) ink(to io.Writer) ink {
	return ink(isTerminal(to) && w.env("NO_COLOR") == "" && w.env("TERM") != "dumb")
}

// paint returns s in the colour with the given code, or as it is for a false ink.
func (i ink) paint(code, s string) string {
	if !i {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

// bold returns s in bold.
func (i ink) bold(s string) string { return i.paint("1", s) }

// red returns s in bold red.
func (i ink) red(s string) string { return i.paint("1;31", s) }

// yellow returns s in yellow.
func (i ink) yellow(s string) string { return i.paint("33", s) }

// narrowest is the smallest width in columns to which text is fitted.
const narrowest = 30

// columnsFor returns the number of characters that fit on a line of a stream, by COLUMNS or by the terminal, at least
// narrowest. Without COLUMNS it returns 0 for files and pipes, whose lines may have any length, and 80 for a terminal
// of unknown width.
func columnsFor(w world, to io.Writer) int {
	if n, err := strconv.Atoi(w.env("COLUMNS")); err == nil && n > 0 {
		return max(n, narrowest)
	}
	if !isTerminal(to) {
		return 0
	}
	n, _, err := term.GetSize(int(to.(*os.File).Fd()))
	if err != nil || n <= 0 { // a serial line does not know its width
		return 80
	}
	return max(n, narrowest)
}
