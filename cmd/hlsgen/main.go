// Command hlsgen makes a streaming FPGA accelerator of a quantised ONNX network. In come a command line, the
// environment and hlsgen.yaml. Out come a screen or a JSON object on stdout, notes on stderr and an exit code.
// Packages such as internal/build and sweep do the work of the commands. No package imports this one.
//
//	main.go         the process: signals and its exit; collector.go: settings of the garbage collector
//	interrupt.go    a Ctrl-C that ends a search
//	run.go          an app: one run of hlsgen, its errors and exit codes
//	root.go         the tree of commands, and the version
//	task.go         the common parts of commands on a model: flags, progress, the delivery of an answer
//	build.go, front.go, check.go, simulate.go, sweep.go    these commands, and their JSON
//	stats.go, convert.go                                   commands that count a model, or write it in another form
//	audited.go      accumulators in the output of check and simulate
//	synth.go, collect.go                                   commands for the vendor's tools and their reports
//	lists.go        commands that need no model; formats.go compares number formats; reference.go: man pages
//	flags.go        values of flags and their parsers
//	config.go       settings: flags that the file and the environment set; environment.go: the variables
//	foreign.go      names from other tools, and the messages about them
//	jobs.go         requests to a server, and its models
//	serverun.go     the commands of requests
//	parent_unix.go  the end of a server with its parent; parent_windows.go: the same
//	serve.go        the server of requests
//	table.go        tables and figures
//	screen.go       stdout: lines and fields
//	help.go         --help: the groups of flags; wrap.go: lines that fit on a terminal
//	notes.go        stderr: complaints, diagnostics, the log; progress.go: the phases of a command
//	terminal.go     the terminal: its colours and its width
//	weights.go      the command that writes weights for existing hardware
//	latencies.go    the command that reads latencies from reports; graph.go: the one that draws networks
//	swept.go        the output of sweep
//	rebuild.go      the designs that a served page asks for
//	pages.go        pages of builds and sweeps
//	report.go       the command that writes or serves them
package main

import (
	"context"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	"hlsgen/internal/outputdir"
	"hlsgen/templates"
)

// patience is the time that an interrupted command may take to remove unfinished files.
const patience = 3 * time.Second

// main runs hlsgen with the arguments of the process, and exits with its exit code.
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
			lean: lean, objects: objects, leave: leave})
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
	select { // a second signal ends the process at once
	case c := <-code:
		os.Exit(c)
	case <-signals:
	case <-time.After(patience):
	}
	say := notes{Writer: os.Stderr, json: objects.Load()}
	if err := leave(); err != nil {
		say.complain(err.Error())
	}
	say.complain("interrupted")
	os.Exit(exitInterrupted)
}

// leave removes the folders of this process's compilers, and releases its claims to folders that hold nothing yet.
func leave() error {
	outputdir.ReleaseUnusedClaims()
	return templates.RemoveCSimFolders()
}
