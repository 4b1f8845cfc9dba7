package main

import (
	"io"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
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

// quiet is how long a command may take before it shows progress.
const quiet = time.Second

// A progress shows which stage a command is in.
type progress struct {
	mu    sync.Mutex
	alive bool // something may be shown
	stage string
	done  int
	total int // 0 where it is not known
	w     io.Writer
	start *time.Timer
	bar   *progressbar.ProgressBar // once shown
	log   *slog.Logger
}

// newProgress starts to watch a command. Nothing is shown where w, which is stderr, is no terminal; each stage is
// logged.
func newProgress(w io.Writer, log *slog.Logger) *progress {
	p := &progress{alive: isTerminal(w), log: log}
	if p.alive {
		p.start = time.AfterFunc(quiet, func() { p.show(w) })
	}
	return p
}

func (p *progress) show(w io.Writer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.alive {
		return
	}
	p.w = w
	p.draw()
}

// draw begins a bar for the stage: one that fills where the total is known, else one that turns.
func (p *progress) draw() {
	options := []progressbar.Option{progressbar.OptionSetWriter(p.w), progressbar.OptionSetDescription(p.stage),
		progressbar.OptionClearOnFinish()}
	if p.total == 0 {
		p.bar = progressbar.NewOptions(-1, append(options, progressbar.OptionSpinnerType(14),
			progressbar.OptionSetElapsedTime(false))...)
	} else {
		p.bar = progressbar.NewOptions(p.total, append(options, progressbar.OptionShowCount(),
			progressbar.OptionSetWidth(40), progressbar.OptionThrottle(50*time.Millisecond))...)
	}
	if p.total == 0 || p.done == 0 {
		p.bar.RenderBlank()
		return
	}
	p.bar.Set(min(p.done, p.total-1)) // a full bar ends itself
}

// step is told of every stage, and how far it is where that is known.
func (p *progress) step(stage string, done, total int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	same := p.stage == stage && p.total == total
	if !same {
		p.log.Debug(stage, "total", total)
	}
	p.stage, p.done, p.total = stage, done, total
	switch {
	case p.bar == nil:
	case !same:
		p.bar.Clear()
		p.draw()
	case total > 0:
		p.bar.Set(min(done, total-1))
	}
}

// close removes what is shown; the command's own output follows.
func (p *progress) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.alive = false
	if p.start != nil {
		p.start.Stop()
	}
	if p.bar != nil {
		p.bar.Finish()
	}
}
