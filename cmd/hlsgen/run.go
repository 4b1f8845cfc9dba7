package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/spf13/cobra"

	"hlsgen/internal/crash"
	"hlsgen/internal/diag"
	"hlsgen/internal/engines"
	"hlsgen/internal/report"
	"hlsgen/internal/simulate"
	"hlsgen/rtlsim"
)

// The exit codes.
const (
	exitOK          = 0
	exitDiagnostics = 1 // the model, the board or the goal has to change, or the world failed us
	exitUsage       = 2
	exitMismatch    = 3 // outputs differ, or the simulated design deadlocks
	exitInternal    = 70
	exitInterrupted = 130
)

// A world holds the surroundings of a command: variables, the working folder and the standard streams.
type world struct {
	env            func(string) string
	environ        func() []string // all variables, each as NAME=VALUE; nil for none
	dir            string          // where relative paths start; empty: the process's own folder
	stdin          io.Reader
	stdout, stderr io.Writer
	lean           func()  // makes the process take less memory while samples pass through it; nil: nothing does
	ending         *ending // the search that a Ctrl-C may end instead of the process; nil: there is none
	// objects tells whether stderr has one JSON object a line (--log-format json). It is set as soon as that is known;
	// newApp makes one if it is nil.
	objects *atomic.Bool
	// leave removes the folders of compilers and releases the claims of this process, whose work ends with it. It is
	// nil where others work in the same process.
	leave func() error

	// of requests to a server, whose options are their own alone: no environment or file has others
	plain bool
	watch func(phase string, done, total int) // receives the progress; may be nil
	take  func(output string) io.WriterAt     // receives the outputs of a simulation; may be nil
	// receives the options of a simulation, which then is not run; may be nil
	options func(simulate.Options)
	warm    *simulate.Warm // what earlier simulations made of the model; may be nil
}

// An app is one run of hlsgen.
type app struct {
	world
	screen  screen // the text for stdout, kept until flush
	running bool   // the command line was understood
	args    []string
	object  bool // an object was printed as JSON
	quiet   bool // nothing but errors is shown

	byFile        bool // the configuration file asks for JSON on stdout
	objectsByFile bool // the configuration file asks for JSON objects on stderr
}

// newApp returns the app for one command line in a world.
func newApp(w world, args []string) *app {
	if w.objects == nil {
		w.objects = new(atomic.Bool)
	}
	return &app{world: w, args: args, screen: screen{ink: w.ink(w.stdout), width: columnsFor(w, w.stdout)}}
}

// A usage is the error of a command line, a variable or a configuration file that asks for something that does not
// exist.
type usage struct{ msg string }

// Error returns the message.
func (e *usage) Error() string { return e.msg }

// usagef returns a *usage with a formatted message.
func usagef(format string, args ...any) error { return &usage{fmt.Sprintf(format, args...)} }

// errShown reports that stderr already shows diagnostics of which at least one is an error.
var errShown = errors.New("diagnostics")

// errDiffer reports that --compare found a difference, which stdout already shows.
var errDiffer = errors.New("outputs differ")

// run runs hlsgen with the given arguments in a world, and returns the exit code.
func run(ctx context.Context, args []string, w world) (code int) {
	a := newApp(w, args)
	root := a.root()
	root.SetArgs(args)
	root.SetOut(&a.screen)
	root.SetErr(w.stderr)
	cmd, err := executed(ctx, root)
	if err != nil && !a.object && wantsJSON(a, cmd) { // a command that printed its object has told the error in it
		a.screen.Reset()
		if e := a.json(failure{report.CurrentReportHead, outcomeOf(&diag.List{}, errors.New(a.told(cmd,
			err)))}); e != nil {
			err = e
		}
	}
	if wrote := a.flush(); err == nil && wrote != nil {
		a.running, err = true, wrote
	}
	return a.fail(ctx, cmd, err)
}

// executed executes the command that root finds, and returns it. It returns root and a *crash.InternalError after a
// panic.
func executed(ctx context.Context, root *cobra.Command) (cmd *cobra.Command, err error) {
	cmd = root
	defer crash.RecoverPanicIntoError(&err)
	return root.ExecuteContextC(ctx)
}

// wantsJSON reports whether the user asked for JSON. It also works for a command line that cobra did not understand,
// as far as possible.
func wantsJSON(a *app, cmd *cobra.Command) bool {
	yes := func(text string) bool { b, err := strconv.ParseBool(text); return err == nil && b }
	return flagSays(a, cmd, "json", yes, func(string) bool { return true }, a.byFile)
}

// logJSON is the value of --log-format for JSON objects on stderr.
const logJSON = "json"

// wantsObjects reports whether the user asked for JSON objects on stderr, in the same way as wantsJSON.
func wantsObjects(a *app, cmd *cobra.Command) bool {
	yes := func(text string) bool { return text == logJSON }
	return flagSays(a, cmd, "log-format", yes, yes, a.objectsByFile)
}

// flagSays reports whether a flag, its variable or the configuration says yes. yes judges a value; next judges the
// argument behind a flag that has no value of its own.
func flagSays(a *app, cmd *cobra.Command, name string, yes, next func(string) bool, byFile bool) bool {
	if f := cmd.Flags().Lookup(name); f != nil && f.Changed {
		return yes(f.Value.String())
	}
	for i, arg := range a.args {
		if arg == "--" {
			break
		}
		if value, given := strings.CutPrefix(arg, "--"+name+"="); given {
			return yes(value)
		}
		if arg == "--"+name {
			return next(strings.Join(a.args[i+1:min(i+2, len(a.args))], ""))
		}
	}
	if text := a.env(variable(name)); text != "" {
		return yes(text)
	}
	return byFile
}

// told returns the text of an error for the user. A mistyped command gets a suggestion.
func (a *app) told(cmd *cobra.Command, err error) string {
	if !a.running {
		return commandError(cmd.Root(), err.Error())
	}
	return err.Error()
}

// fail tells the user what went wrong, if anything did, and returns the exit code.
func (a *app) fail(ctx context.Context, cmd *cobra.Command, err error) int {
	var (
		use      *usage
		mismatch *engines.MismatchError
		deadlock *rtlsim.Deadlock
		internal *crash.InternalError
	)
	if err == nil {
		return exitOK
	}
	if cmd != nil && wantsObjects(a, cmd) {
		a.objects.Store(true)
	}
	switch {
	case errors.Is(err, errShown):
		return exitDiagnostics
	case errors.Is(err, errDiffer):
		return exitMismatch
	case errors.Is(err, syscall.EPIPE): // the reader has seen enough
		return exitDiagnostics
	case ctx.Err() != nil:
		a.notes().complain(interruptedBefore(err))
		return exitInterrupted
	case errors.As(err, &internal):
		a.notes().defect(err, internal.Stack, a.env("HLSGEN_DEBUG") != "")
		return exitInternal
	case errors.As(err, &mismatch), errors.As(err, &deadlock):
		a.notes().complain(err.Error())
		return exitMismatch
	case errors.As(err, &use) || !a.running: // cobra's own errors come before a command runs
		a.notes().complain(a.told(cmd, err), "see "+cmd.CommandPath()+" --help")
		return exitUsage
	}
	a.notes().complain(err.Error())
	return exitDiagnostics
}

// flush writes the text that the command has collected to standard output.
func (a *app) flush() error {
	_, err := a.screen.WriteTo(a.stdout)
	a.screen.Reset()
	return err
}

// An outcome holds the last fields of the JSON object of every command: the diagnostics and the error.
type outcome struct {
	Diagnostics []diag.Diag `json:"diagnostics"`
	Error       string      `json:"error,omitempty"`
}

// A failure is the JSON of a command that has no result.
type failure struct {
	report.ReportHead
	outcome
}

// outcomeOf returns the last fields of a command's JSON: the diagnostics in d, and err if it is not nil.
func outcomeOf(d *diag.List, err error) outcome {
	o := outcome{Diagnostics: d.WithStrictApplied()}
	switch {
	case errors.Is(err, context.Canceled):
		o.Error = interruptedBefore(err)
	case err != nil:
		o.Error = err.Error()
	}
	return o
}

// interruptedBefore returns the text about a command that was interrupted, with what it has not written.
func interruptedBefore(err error) string {
	text := "interrupted"
	if unwritten := new(simulate.SimulationFailedBeforeOutputError); errors.As(err, &unwritten) {
		text += "; " + unwritten.MessageWithoutReason()
	}
	return text
}

// json prints v as one JSON object.
func (a *app) json(v any) error {
	a.object = true
	e := json.NewEncoder(&a.screen)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// without ends a command that has no result: it shows the diagnostics, and returns err or errShown.
func (a *app) without(asJSON bool, d *diag.List, err error) error {
	if asJSON {
		if e := a.json(failure{report.CurrentReportHead, outcomeOf(d, err)}); e != nil {
			return e
		}
	}
	if !asJSON || a.objects.Load() {
		a.notes().diagnostics(d)
	}
	if err == nil {
		err = errShown
	}
	return err
}

// under returns a path as seen from the working folder: relative ones begin in dir, absolute ones stay as they are.
func under(dir, path string) string {
	if dir == "" || dir == "." || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}
