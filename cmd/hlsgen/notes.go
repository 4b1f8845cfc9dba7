package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"

	"hlsgen/internal/diag"
)

// A notes writes messages to standard error, as text or as JSON objects, beside the result of a command.
type notes struct {
	io.Writer
	ink   ink
	width int  // of the terminal; 0: nothing says how wide it is
	json  bool // one object a line
	quiet bool // errors alone
}

// notes returns the writer of messages to the app's standard error.
func (a *app) notes() notes {
	return notes{a.stderr, a.ink(a.stderr), columnsFor(a.world, a.stderr), a.objects.Load(), a.quiet}
}

// A record is a line of --log-format json. Diagnostics have the same keys here as in the object of --json.
type record struct {
	Level   string    `json:"severity"`       // error, warning, note, or info
	Code    diag.Code `json:"code,omitempty"` // of a diagnostic, as the next three
	Node    string    `json:"node,omitempty"`
	Op      string    `json:"op,omitempty"`
	Where   string    `json:"where,omitempty"`
	Message string    `json:"message"`
	Hint    string    `json:"hint,omitempty"`
	Notes   []string  `json:"notes,omitempty"`  // of a diagnostic
	Text    string    `json:"text,omitempty"`   // of a diagnostic: text to copy
	Detail  string    `json:"detail,omitempty"` // of a defect of hlsgen: the stack trace

	// of progress: the phase of the command, the seconds since the command began, and the share of the phase that is
	// done
	Phase   string   `json:"phase,omitempty"`
	Elapsed *float64 `json:"elapsed_seconds,omitempty"`
	Share   *float64 `json:"share,omitempty"` // from 0 to 1, where it is known
}

// The levels of records that are no diagnostics.
const (
	levelError = "error"
	levelInfo  = "info"
)

// object writes a record as one line of JSON.
func (n notes) object(r record) {
	e := json.NewEncoder(n)
	e.SetEscapeHTML(false)
	e.Encode(r)
}

// line writes a message of one line, whose arguments are those of fmt.Printf.
func (n notes) line(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	switch {
	case n.json:
		n.object(record{Level: levelInfo, Message: text})
	case n.width > 0:
		io.WriteString(n, fold(text, n.width, 3)+"\n")
	default:
		io.WriteString(n, text+"\n")
	}
}

// remark writes a message that reports no error. --quiet suppresses it.
func (n notes) remark(format string, args ...any) {
	if !n.quiet {
		n.line(format, args...)
	}
}

// complain reports an error; more says what to do about it. Control characters become question marks: text may hold
// names from users and files, and a terminal would obey the characters.
func (n notes) complain(text string, more ...string) {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = printable(line)
	}
	if n.json {
		n.object(record{Level: levelError, Message: strings.Join(lines, "\n"), Hint: strings.Join(more, "; ")})
		return
	}
	lines[0] = n.ink.red("hlsgen:") + " " + lines[0]
	for _, line := range slices.Concat(lines, more) {
		n.line("%s", line)
	}
}

// defect reports a defect of hlsgen. With debug it adds the stack trace.
func (n notes) defect(err error, stack string, debug bool) {
	const report, where = "this is a defect of hlsgen: please report it, with the model if you can",
		"HLSGEN_DEBUG=1 shows where it happened"
	switch {
	case n.json && debug:
		n.object(record{Level: levelError, Message: printable(err.Error()), Hint: report, Detail: stack})
	case debug:
		n.complain(err.Error(), "   "+report)
		io.WriteString(n, stack)
	case n.json:
		n.complain(err.Error(), report, where)
	default:
		n.complain(err.Error(), "   "+report, "   "+where)
	}
}

// diagnostics writes the diagnostics to stderr, and names the command that explains the first error.
func (n notes) diagnostics(d *diag.List) {
	told := d.SortedBySeverity()
	if n.quiet {
		told = slices.DeleteFunc(told, func(x diag.Diag) bool { return x.Severity != diag.SeverityError })
	}
	for _, x := range told {
		if n.json {
			n.object(record{Level: x.Level, Code: x.Code, Node: x.Node, Op: x.Op, Where: x.Where, Message: x.Msg,
				Hint: x.Hint, Notes: x.Notes, Text: x.Text})
			continue
		}
		for line := range strings.Lines(x.String()) {
			line = strings.TrimSuffix(line, "\n")
			switch head, rest, _ := strings.Cut(line, ": "); {
			case strings.HasPrefix(line, "error["):
				line = n.ink.red(head+":") + " " + rest
			case strings.HasPrefix(line, "warning["):
				line = n.ink.yellow(head+":") + " " + rest
			}
			n.line("%s", line)
		}
	}
	if len(told) > 0 && told[0].Severity == diag.SeverityError && !n.json {
		n.line("`hlsgen explain %s` tells more", told[0].Code)
	}
}

// logger returns the log of stages: stderr if HLSGEN_DEBUG is set, else nothing. Lines have no times, so that two runs
// can be compared.
func logger(a *app) *slog.Logger {
	if a.env("HLSGEN_DEBUG") == "" {
		return slog.New(slog.DiscardHandler)
	}
	objects := a.objects.Load()
	options := &slog.HandlerOptions{
		Level: slog.LevelDebug,
		ReplaceAttr: func(_ []string, x slog.Attr) slog.Attr {
			switch {
			case x.Key == slog.TimeKey:
				return slog.Attr{}
			case objects && x.Key == slog.LevelKey:
				return slog.String("severity", "debug")
			case objects && x.Key == slog.MessageKey:
				return slog.String("message", x.Value.String())
			}
			return x
		},
	}
	if objects {
		return slog.New(slog.NewJSONHandler(a.stderr, options))
	}
	return slog.New(slog.NewTextHandler(a.stderr, options))
}
