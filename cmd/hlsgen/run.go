package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"hlsgen/internal/compiler"
	"hlsgen/internal/diag"
	"hlsgen/rtlsim"
)

// The exit codes.
const (
	exitOK          = 0
	exitDiagnostics = 1 // the model, the board or the goal has to change, or the world failed us
	exitUsage       = 2
	exitMismatch    = 3 // or a deadlock
	exitInternal    = 70
	exitInterrupted = 130
)

// A world is what surrounds a command.
type world struct {
	env            func(string) string
	environ        func() []string // all variables, each as NAME=VALUE; nil for none
	dir            string          // where relative paths start; empty: the process's own folder
	stdin          io.Reader
	stdout, stderr io.Writer
	lean           func()  // has the process take less memory, from when samples pass on; nil: nothing does
	ending         *ending // what a Ctrl-C may end instead of the process; nil: nothing
}

// An app is one run of hlsgen.
type app struct {
	world
	screen  screen // on stdout, until flush
	running bool   // the command line was understood
	args    []string
	object  bool // an object was printed as JSON
	byFile  bool // the configuration asks for JSON
}

func newApp(w world, args []string) *app {
	return &app{world: w, args: args, screen: screen{ink: w.ink(w.stdout)}}
}

// A usage error is a command line, variable or configuration file that asks for nothing that exists.
type usage struct{ msg string }

func (e *usage) Error() string { return e.msg }

func usagef(format string, args ...any) error { return &usage{fmt.Sprintf(format, args...)} }

// errShown says that the diagnostics, which are on stderr already, hold an error.
var errShown = errors.New("diagnostics")

// errDiffer says that --compare found a difference, which is on stdout already.
var errDiffer = errors.New("outputs differ")

// run is hlsgen: it returns the exit code.
func run(ctx context.Context, args []string, w world) (code int) {
	a := newApp(w, args)
	defer func() {
		if p := recover(); p != nil {
			code = a.fail(ctx, nil, &compiler.Internal{Msg: fmt.Sprint(p), Stack: string(debug.Stack())})
		}
	}()
	root := a.root()
	root.SetArgs(args)
	root.SetOut(&a.screen)
	root.SetErr(w.stderr)
	cmd, err := root.ExecuteContextC(ctx)
	if err != nil && !a.object && a.wantsJSON(cmd) { // a command that has begun has told it itself
		a.screen.Reset()
		if e := a.json(failure{compiler.Versioned, outcomeOf(&diag.List{}, errors.New(a.told(cmd, err)))}); e != nil {
			err = e
		}
	}
	if wrote := a.flush(); err == nil && wrote != nil {
		a.running, err = true, wrote
	}
	return a.fail(ctx, cmd, err)
}

// wantsJSON reports whether the user asked for JSON, as far as can be told of a command line that was not understood.
func (a *app) wantsJSON(cmd *cobra.Command) bool {
	yes := func(text string) bool { b, err := strconv.ParseBool(text); return err == nil && b }
	if f := cmd.Flags().Lookup("json"); f != nil && f.Changed {
		return yes(f.Value.String())
	}
	for _, arg := range a.args {
		if arg == "--" {
			break
		}
		if value, given := strings.CutPrefix(arg, "--json="); arg == "--json" || given {
			return arg == "--json" || yes(value)
		}
	}
	if text := a.env(variable("json")); text != "" {
		return yes(text)
	}
	return a.byFile
}

// told is an error as the user is told.
func (a *app) told(cmd *cobra.Command, err error) string {
	if !a.running {
		return commandError(cmd.Root(), err.Error())
	}
	return err.Error()
}

// fail tells what went wrong, if anything did, and gives the exit code.
func (a *app) fail(ctx context.Context, cmd *cobra.Command, err error) int {
	var (
		use      *usage
		mismatch *compiler.Mismatch
		deadlock *rtlsim.Deadlock
		internal *compiler.Internal
	)
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errShown):
		return exitDiagnostics
	case errors.Is(err, errDiffer):
		return exitMismatch
	case errors.Is(err, syscall.EPIPE): // the reader has seen enough
		return exitDiagnostics
	case ctx.Err() != nil:
		text := "interrupted"
		if unwritten := new(compiler.Unwritten); errors.As(err, &unwritten) {
			text += "; " + unwritten.What()
		}
		a.notes().complain("%s", text)
		return exitInterrupted
	case errors.As(err, &internal):
		a.notes().complain("%v", err)
		fmt.Fprintln(a.stderr, "   this is a defect of hlsgen: please report it, with the model if you can")
		if a.env("HLSGEN_DEBUG") != "" {
			fmt.Fprint(a.stderr, internal.Stack)
		} else {
			fmt.Fprintln(a.stderr, "   HLSGEN_DEBUG=1 shows where it happened")
		}
		return exitInternal
	case errors.As(err, &mismatch), errors.As(err, &deadlock):
		a.notes().complain("%v", err)
		return exitMismatch
	case errors.As(err, &use) || !a.running: // cobra's own errors come before a command runs
		a.notes().complain("%s", a.told(cmd, err))
		fmt.Fprintf(a.stderr, "see %s --help\n", cmd.CommandPath())
		return exitUsage
	}
	a.notes().complain("%v", err)
	return exitDiagnostics
}

// flush writes what the command has printed.
func (a *app) flush() error {
	_, err := a.screen.WriteTo(a.stdout)
	a.screen.Reset()
	return err
}

// An outcome closes the JSON object of a command.
type outcome struct {
	Diagnostics []diag.Diag `json:"diagnostics"`
	Error       string      `json:"error,omitempty"`
}

// A failure is the JSON of a command that has no result.
type failure struct {
	compiler.Head
	outcome
}

func outcomeOf(d *diag.List, err error) outcome {
	o := outcome{Diagnostics: d.Told()}
	if err != nil {
		o.Error = err.Error()
	}
	return o
}

// json prints v as one object.
func (a *app) json(v any) error {
	a.object = true
	e := json.NewEncoder(&a.screen)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// without ends a command that has no result to show.
func (a *app) without(asJSON bool, d *diag.List, err error) error {
	if asJSON {
		if e := a.json(failure{compiler.Versioned, outcomeOf(d, err)}); e != nil {
			return e
		}
	} else {
		a.notes().diagnostics(d)
	}
	if err == nil {
		err = errShown
	}
	return err
}

// under puts a relative path under a folder.
func under(dir, path string) string {
	if dir == "" || dir == "." || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}
