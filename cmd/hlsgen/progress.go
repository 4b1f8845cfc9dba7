package main

import (
	"fmt"
	"log/slog"
	"math"
	"strconv"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"

	"hlsgen/folding"
)

// patient is the time that a command may run before it shows progress.
const patient = time.Second

// seldom is the least time between two lines of progress in the same phase.
const seldom = 10 * time.Second

// A progress shows the phase of a command: as a bar on a terminal, or as lines with --verbose and --log-format json.
type progress struct {
	mu    sync.Mutex
	notes notes
	size  func() int // width of the terminal, which the user may change; nil: notes has the width
	alive bool       // a bar may be shown
	lines bool       // every phase has a line
	begun time.Time  // when the command began
	wrote time.Time  // when the last line was written
	stage string
	since time.Time                       // when the stage began
	found *folding.BestDesignSoFarSummary // the best design of the folding stage so far; nil: none
	done  int
	total int // 0 if it is unknown
	start *time.Timer
	ended chan struct{}            // closed by close; nil if no tick runs
	bar   *progressbar.ProgressBar // once shown
	log   *slog.Logger
}

// newProgress starts to watch a command. A terminal shows a bar after a while. With verbose, or with JSON objects on
// stderr, every phase has a line. Each stage is logged.
func newProgress(n notes, size func() int, verbose bool, log *slog.Logger) *progress {
	p := &progress{notes: n, size: size, alive: isTerminal(n.Writer) && !n.json && !n.quiet,
		lines: (verbose || n.json) && !n.quiet, begun: time.Now(), log: log}
	if p.alive {
		p.start = time.AfterFunc(patient, p.show)
	}
	return p
}

// show begins to show the bar, and starts to redraw it.
func (p *progress) show() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.alive {
		return
	}
	if p.stage == "" { // a command that waits for others has begun nothing yet
		time.AfterFunc(patient, p.show)
		return
	}
	p.ended = make(chan struct{})
	p.draw()
	go p.tick(p.ended)
}

// tick redraws the bar's text once a second.
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
		if p.alive {
			p.bar.Describe(p.text())
		}
		p.mu.Unlock()
	}
}

// folds is the stage that searches for a folding, and simulates is the stage that computes samples.
const (
	folds     = "folding"
	simulates = "simulating"
)

// text returns the text of the bar: the stage and the time so far. Then come the best design of a search, or the time
// left if that is known. It leaves room for the bar.
func (p *progress) text() string {
	took := time.Since(p.since)
	text := p.stage + "  " + elapsed(took)
	room := p.columns() - p.besides() - leastBar
	switch {
	case p.total == 0 && p.stage == folds:
		text += "; " + standing(p.found)
	case p.done > 0 && took >= patient:
		rate, left := pacing(p.done, p.total, took)
		if p.stage == simulates && len(text+rate+left)+len("; , ") <= room {
			text += "; " + rate
		}
		text += ", " + left
	}
	return cut(text, max(room, 12))
}

// columns returns the width of the terminal in columns, or a usual width if it is unknown.
func (p *progress) columns() int {
	width := p.notes.width
	if p.size != nil {
		width = p.size()
	}
	if width == 0 {
		return 80
	}
	return width
}

// leastBar is the width of the shortest bar, in columns.
const leastBar = 5

// besides returns the number of columns that the share and the count take beside a bar.
func (p *progress) besides() int {
	if p.total == 0 {
		return 0
	}
	return len(" 100% || (/) ") + 2*len(strconv.Itoa(p.total))
}

// standing returns text about the state of the search for a folding: the best design, the proved lower bound, and the
// design's share of the budget.
func standing(st *folding.BestDesignSoFarSummary) string {
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

// elapsed formats a time in whole seconds: "14 s", "2 min 5 s".
func elapsed(t time.Duration) string {
	s := int(t.Seconds())
	if s < 60 {
		return fmt.Sprintf("%d s", s)
	}
	return fmt.Sprintf("%s min %d s", whole(s/60), s%60)
}

// pacing returns the rate of samples, and the time that the remaining samples take at that rate.
func pacing(done, total int, took time.Duration) (rate, left string) {
	perSecond := float64(done) / max(took.Seconds(), 1e-3)
	rest := time.Duration(float64(total-done) / perSecond * float64(time.Second))
	return figure(perSecond) + " samples/s", elapsed(rest) + " left"
}

// stand receives the best design so far from the search for a folding.
func (p *progress) stand(st folding.BestDesignSoFarSummary) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.found = &st
	p.log.Debug("found", "clocks", st.Interval, "latency", st.Latency, "floor", st.Floor, "share", st.Share)
	if time.Since(p.wrote) >= seldom {
		p.write(p.stage + ": " + standing(p.found))
	}
}

// say shows a remark on the terminal above the bar, while a command works.
func (p *progress) say(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.above(func() { p.notes.remark("hlsgen: %s", text) })
}

// above calls write while the bar is cleared, and draws the bar again below the text.
func (p *progress) above(write func()) {
	if p.bar != nil && p.alive {
		p.bar.Finish() // clears the line of the bar
		defer p.draw()
	}
	write()
}

// write writes a line of progress, if lines are asked for.
func (p *progress) write(text string) {
	if !p.lines {
		return
	}
	p.wrote = time.Now()
	took := math.Round(1e3*time.Since(p.begun).Seconds()) / 1e3
	var share *float64
	if p.total > 0 {
		x := float64(p.done) / float64(p.total)
		share = &x
	}
	p.above(func() {
		if p.notes.json {
			p.notes.object(record{Level: levelInfo, Message: text, Phase: p.stage, Elapsed: &took, Share: share})
			return
		}
		if share != nil && p.done > 0 {
			text += fmt.Sprintf(", %.0f %%", 100**share)
		}
		p.notes.line("hlsgen: %s, after %.1f s", text, took)
	})
}

// draw starts a bar for the stage: a bar that fills if the total is known, else a spinner.
func (p *progress) draw() {
	text := p.text()
	options := []progressbar.Option{progressbar.OptionSetWriter(p.notes), progressbar.OptionSetDescription(text),
		progressbar.OptionClearOnFinish(), progressbar.OptionSetElapsedTime(false),
		progressbar.OptionSetPredictTime(false)}
	if p.total == 0 {
		p.bar = progressbar.NewOptions(-1, append(options, progressbar.OptionSpinnerType(14))...)
	} else {
		if p.stage == simulates {
			// the longest text once there is a rate
			text = "simulating  59 min 59 s; 1,000,000 samples/s, 59 min 59 s left"
		} else {
			text += ", 59 min 59 s left"
		}
		width := min(40, max(leastBar, p.columns()-p.besides()-len(text)))
		p.bar = progressbar.NewOptions(p.total, append(options, progressbar.OptionShowCount(),
			progressbar.OptionSetWidth(width), progressbar.OptionThrottle(50*time.Millisecond))...)
	}
	if p.total == 0 || p.done == 0 {
		p.bar.RenderBlank()
		return
	}
	p.bar.Set(min(p.done, p.total-1)) // a full bar would end itself
}

// step receives the start and the progress of every stage. total is 0 if it is unknown.
func (p *progress) step(stage string, done, total int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	begins, same := p.stage != stage, p.stage == stage && p.total == total
	if !same {
		p.log.Debug(stage, "total", total)
	}
	if begins {
		p.since, p.found = time.Now(), nil
	}
	p.stage, p.done, p.total = stage, done, total
	if begins || total > 0 && time.Since(p.wrote) >= seldom {
		p.write(stage)
	}
	switch {
	case p.bar == nil:
	case !same:
		p.bar.Finish() // clears the line of the bar
		p.draw()
	case total > 0:
		p.bar.Set(min(done, total-1))
	}
}

// close removes the bar, because the command's own output follows. well tells whether the command has a result.
func (p *progress) close(well bool) {
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
	if well && p.stage != "" {
		p.stage, p.done, p.total = "finished", 0, 0
		p.write(p.stage)
	}
}
