package main

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"hlsgen/internal/diag"
)

// notes is what a command says beside its result, on stderr.
type notes struct {
	io.Writer
	ink ink
}

func (w world) notes() notes { return notes{w.stderr, w.ink(w.stderr)} }

// complain says what went wrong. Names that users and files give stand in it, with control characters as question
// marks: a terminal would obey these.
func (n notes) complain(format string, args ...any) {
	lines := strings.Split(fmt.Sprintf(format, args...), "\n")
	for i, line := range lines {
		lines[i] = printable(line)
	}
	fmt.Fprintf(n, "%s %s\n", n.ink.red("hlsgen:"), strings.Join(lines, "\n"))
}

// diagnostics shows d on stderr, and where to read more.
func (n notes) diagnostics(d *diag.List) {
	var b bytes.Buffer
	d.Write(&b)
	for line := range strings.Lines(b.String()) {
		switch head, rest, _ := strings.Cut(line, ": "); {
		case strings.HasPrefix(line, "error["):
			line = n.ink.red(head+":") + " " + rest
		case strings.HasPrefix(line, "warning["):
			line = n.ink.yellow(head+":") + " " + rest
		}
		io.WriteString(n, line)
	}
	for _, x := range d.Told() {
		if x.Severity == diag.Error {
			fmt.Fprintf(n, "`hlsgen explain %s` tells more\n", x.Code)
			break
		}
	}
}

// logger is where stages go with HLSGEN_DEBUG: to stderr, without times, so that two runs can be compared.
func (w world) logger() *slog.Logger {
	if w.env("HLSGEN_DEBUG") == "" {
		return slog.New(slog.DiscardHandler)
	}
	return slog.New(slog.NewTextHandler(w.stderr, &slog.HandlerOptions{
		Level: slog.LevelDebug,
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		},
	}))
}
