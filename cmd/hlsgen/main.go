// Command hlsgen makes a streaming FPGA accelerator of a quantised ONNX network. In come a command line, the
// environment and hlsgen.yaml; out come a screen or a JSON object on stdout, notes on stderr and an exit code. What
// commands do is package compiler's and package sweep's; nobody imports this one.
//
//	main.go         the process: signals, exit; collector.go: how much garbage waits
//	interrupt.go    a Ctrl-C that ends a search
//	run.go          an app: one run, its errors and exit codes
//	root.go         the commands, and the version
//	task.go         what the commands on a model share: flags, progress, the answer
//	build.go, front.go, check.go, simulate.go, sweep.go    these commands, and their JSON
//	stats.go, convert.go                                   and those which count a model, and write it otherwise
//	audited.go      what checks and simulations say of accumulators
//	synth.go, collect.go, calibrate.go                     and those on the vendor's tools and their reports
//	weights.go                                             and that of hardware that is built
//	lists.go        the commands that know no model; formats.go compares number formats; reference.go: man pages
//	flags.go        values of flags and their parsers
//	config.go       settings: the flags that the file and the environment set; environment.go: the variables
//	foreign.go      what other tools call things, and what is said of them
//	screen.go       stdout: lines and fields; table.go: tables and figures; swept.go: a sweep
//	help.go         --help: the groups of flags; wrap.go: lines that a terminal holds
//	notes.go        stderr: complaints, diagnostics, the log; progress.go: the phases of a command
//	terminal.go     the terminal: its colours and its width
package main

import (
	"context"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	"hlsgen/templates"
)

// patience is how long an interrupted command may take to remove what it has not finished.
const patience = 3 * time.Second

func main() {
	lean := collect()
	ends := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // as nohup does
		ends = append(ends, syscall.SIGHUP)
	}
	signals := make(chan os.Signal, 3)
	signal.Notify(signals, ends...)
	ctx, stop := context.WithCancel(context.Background())
	search := new(ending)
	objects := new(atomic.Bool)
	code := make(chan int, 1)
	go func() {
		code <- run(ctx, os.Args[1:], world{env: os.Getenv, environ: os.Environ, stdin: os.Stdin,
			stdout: os.Stdout, stderr: os.Stderr, ending: search,
			lean: lean, objects: objects})
	}()
	for ctx.Err() == nil {
		select {
		case c := <-code:
			os.Exit(c)
		case s := <-signals:
			if !search.takes(s) {
				stop()
			}
		}
	}
	select { // one more signal ends the process at once
	case c := <-code:
		os.Exit(c)
	case <-signals:
	case <-time.After(patience):
	}
	say := notes{Writer: os.Stderr, json: objects.Load()}
	if err := templates.Abandon(); err != nil {
		say.complain(err.Error())
	}
	say.complain("interrupted")
	os.Exit(exitInterrupted)
}
