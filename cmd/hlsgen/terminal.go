package main

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"hlsgen/folding"
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
	since time.Time         // when the stage began
	found *folding.Standing // by the stage that folds, so far; nil: no design
	done  int
	total int // 0 where it is not known
	w     io.Writer
	start *time.Timer
	ended chan struct{}            // closed by close; nil where nothing ticks
	bar   *progressbar.ProgressBar // once shown
	log   *slog.Logger
}

// newProgress starts to watch a command. Nothing is shown where w, which is stderr, is no terminal; each stage is
// logged.
func newProgress(w io.Writer, log *slog.Logger) *progress {
	p := &progress{alive: isTerminal(w), w: w, log: log}
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
	p.w, p.ended = w, make(chan struct{})
	p.draw()
	go p.tick(p.ended)
}

// tick shows once a second how far the search for a folding is, and how fast samples are.
func (p *progress) tick(ended <-chan struct{}) {
	t := time.NewTicker(time.Second)
	defer t.Stop()
	for {
		select {
		case <-ended:
			return
		case <-t.C:
		}
		p.mu.Lock()
		if p.alive && (p.stage == folds && p.total == 0 || p.stage == simulates && p.total > 0) {
			p.bar.Describe(p.text())
		}
		p.mu.Unlock()
	}
}

// folds is the stage in which a folding is searched for, and simulates the one in which samples are computed.
const (
	folds     = "folding"
	simulates = "simulating"
)

// text returns the line that shows the stage: its name, of a search its best design and the time so far, and of samples
// how fast they are and what time is left.
func (p *progress) text() string {
	if took := time.Since(p.since); p.stage == simulates && p.done > 0 && took >= quiet {
		return pacing(p.done, p.total, took)
	}
	if p.stage != folds || p.total > 0 {
		return p.stage
	}
	const around = 4 // columns that the bar itself takes
	return cut(fmt.Sprintf("%s  %s; %s", p.stage, standing(p.found), elapsed(time.Since(p.since))),
		max(columns(p.w)-around, 12))
}

// standing says how far the search for a folding is: what it has, what nothing goes below, and what that takes.
func standing(st *folding.Standing) string {
	if st == nil {
		return "no design yet"
	}
	text, what := rate(st.Interval)+" clocks a frame", st.Interval
	if st.Interval == 1 {
		text = "1 clock a frame"
	}
	if st.Latency > 0 {
		text, what = "latency "+count(st.Latency, "clock"), float64(st.Latency)
	}
	switch {
	case st.Floor > 0 && float64(st.Floor) >= what:
		text += ", the least there is"
	case st.Floor > 1:
		text += ", none below " + whole(st.Floor)
	}
	return text + fmt.Sprintf("; %.1f %% of the budget", 100*st.Share)
}

// elapsed is a time in whole seconds: "14 s", "2 min 5 s".
func elapsed(t time.Duration) string {
	s := int(t.Seconds())
	if s < 60 {
		return fmt.Sprintf("%d s", s)
	}
	return fmt.Sprintf("%s min %d s", whole(s/60), s%60)
}

// pacing says how fast samples are, of which so many are done, and what time the others take then.
func pacing(done, total int, took time.Duration) string {
	perSecond := float64(done) / max(took.Seconds(), 1e-3)
	left := time.Duration(float64(total-done) / perSecond * float64(time.Second))
	return fmt.Sprintf("%s  %s samples/s, %s left", simulates, figure(perSecond), elapsed(left))
}

// columns returns the width of a terminal in characters; 80 where w is no terminal.
func columns(w io.Writer) int {
	if f, ok := w.(*os.File); ok {
		if n, _, err := term.GetSize(int(f.Fd())); err == nil && n > 0 {
			return n
		}
	}
	return 80
}

// stand is told of the best design that the search for a folding has.
func (p *progress) stand(st folding.Standing) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.found = &st
	p.log.Debug("found", "clocks", st.Interval, "latency", st.Latency, "floor", st.Floor, "share", st.Share)
}

// say says something while a command works.
func (p *progress) say(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar != nil && p.alive {
		p.bar.Finish() // which clears its line
		defer p.draw()
	}
	fmt.Fprintln(p.w, "hlsgen:", text)
}

// draw begins a bar for the stage: one that fills where the total is known, else one that turns.
func (p *progress) draw() {
	options := []progressbar.Option{progressbar.OptionSetWriter(p.w), progressbar.OptionSetDescription(p.text()),
		progressbar.OptionClearOnFinish()}
	if p.total == 0 {
		p.bar = progressbar.NewOptions(-1, append(options, progressbar.OptionSpinnerType(14),
			progressbar.OptionSetElapsedTime(false))...)
	} else {
		p.bar = progressbar.NewOptions(p.total, append(options, progressbar.OptionShowCount(),
			progressbar.OptionSetPredictTime(p.stage != simulates), progressbar.OptionSetWidth(p.width()),
			progressbar.OptionThrottle(50*time.Millisecond))...)
	}
	if p.total == 0 || p.done == 0 {
		p.bar.RenderBlank()
		return
	}
	p.bar.Set(min(p.done, p.total-1)) // a full bar ends itself
}

// width returns the columns that the text leaves for the bar.
func (p *progress) width() int {
	const beside = 30 // share and count
	text := len(p.text())
	if p.stage == simulates {
		text = len("simulating  1,000,000 samples/s, 59 min 59 s left") // once there is a rate
	}
	return min(40, max(5, columns(p.w)-text-beside))
}

// step is told of every stage, and how far it is where that is known.
func (p *progress) step(stage string, done, total int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	same := p.stage == stage && p.total == total
	if !same {
		p.log.Debug(stage, "total", total)
	}
	if p.stage != stage {
		p.since, p.found = time.Now(), nil
	}
	p.stage, p.done, p.total = stage, done, total
	switch {
	case p.bar == nil:
	case !same:
		p.bar.Finish() // which clears its line
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
		close(p.ended)
	}
}
