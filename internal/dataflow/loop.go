package dataflow

import (
	"math"
	"slices"
	"strconv"
)

// A Loop says when a layer works, as comparable data. It is the sequence of the iterations of one frame, in runs; at
// most one iteration starts per clock. The estimate, the simulation and the C++ loop bounds all derive from it.
type Loop struct {
	Body    []LoopRun
	Latency int // clocks from the start of an iteration to the arrival of the words it writes; at least 1
}

// A LoopRun is Times repetitions, at least 1, of a body of other runs. If Body is nil, it repeats one iteration.
type LoopRun struct {
	Times int
	Moves PortMoves // the moves of the iteration; zero if Body is set
	Body  []LoopRun
}

// PortMoves holds the ports that move a word in an iteration: bit p is port p.
type PortMoves struct{ Read, Write uint64 }

// MaxPortsPerSide is the most inputs, and the most outputs, of a layer.
const MaxPortsPerSide = 64

// TextKey returns the loop as a text, to be a key of maps: equal loops have equal texts.
func (l Loop) TextKey() string {
	return string(bodyKey(strconv.AppendInt(nil, int64(l.Latency), 10), l.Body))
}

// bodyKey appends the text of runs to b.
func bodyKey(b []byte, body []LoopRun) []byte {
	for _, r := range body {
		b = strconv.AppendInt(append(b, ' '), int64(r.Times), 10)
		if r.Body != nil {
			b = append(bodyKey(append(b, '('), r.Body), ')')
			continue
		}
		b = strconv.AppendUint(append(b, 'r'), r.Moves.Read, 16)
		b = strconv.AppendUint(append(b, 'w'), r.Moves.Write, 16)
	}
	return b
}

// IterationsPerFrame returns the number of iterations per frame, which is the interval in clocks of a layer that never
// waits.
func (l Loop) IterationsPerFrame() int { return iterations(l.Body) }

// iterations returns the number of iterations of runs.
func iterations(body []LoopRun) int {
	n := 0
	for _, r := range body {
		n += r.Times * r.each()
	}
	return n
}

// each returns the number of iterations of one repetition.
func (r LoopRun) each() int {
	if r.Body == nil {
		return 1
	}
	return iterations(r.Body)
}

// MovesOfIteration returns the moves of iteration i of a frame, which must have that many.
func (l Loop) MovesOfIteration(i int) PortMoves {
	body := l.Body
	for {
		for _, r := range body {
			each := r.each()
			if i >= r.Times*each {
				i -= r.Times * each
				continue
			}
			if r.Body == nil {
				return r.Moves
			}
			body, i = r.Body, i%each
			break
		}
	}
}

// WordsRead returns the number of words per frame that input port p takes.
func (l Loop) WordsRead(p int) int {
	return words(l.Body, func(m PortMoves) bool { return m.Read>>p&1 != 0 })
}

// WordsWritten returns the number of words per frame that output port p gives.
func (l Loop) WordsWritten(p int) int {
	return words(l.Body, func(m PortMoves) bool { return m.Write>>p&1 != 0 })
}

// words returns the number of iterations of runs for whose moves the function returns true.
func words(body []LoopRun, moves func(PortMoves) bool) int {
	n := 0
	for _, r := range body {
		switch {
		case r.Body != nil:
			n += r.Times * words(r.Body, moves)
		case moves(r.Moves):
			n += r.Times
		}
	}
	return n
}

// FirstWriteClock returns the clock at which the first word of output port p arrives if nothing stalls, counted from
// the start of the frame's first iteration. The port must write a word.
func (l Loop) FirstWriteClock(p int) int { return l.IterationOfWrite(p, 0) + l.Latency }

// LastWriteClock returns the clock at which the last word of output port p arrives, counted as in FirstWriteClock.
func (l Loop) LastWriteClock(p int) int {
	return l.IterationOfWrite(p, l.WordsWritten(p)-1) + l.Latency
}

// IterationOfRead returns the iteration that reads word k of input port p. The port must have that word.
func (l Loop) IterationOfRead(p, k int) int {
	return nth(l.Body, func(m PortMoves) bool { return m.Read>>p&1 != 0 }, k)
}

// IterationOfWrite returns the iteration that writes word k of output port p. The port must have that word.
func (l Loop) IterationOfWrite(p, k int) int {
	return nth(l.Body, func(m PortMoves) bool { return m.Write>>p&1 != 0 }, k)
}

// nth returns the iteration in which moves is true for the k-th time, counted from 0.
func nth(body []LoopRun, moves func(PortMoves) bool, k int) (at int) {
	for _, r := range body {
		length, n := 1, 0 // iterations and words of one repetition
		if r.Body != nil {
			length, n = iterations(r.Body), words(r.Body, moves)
		} else if moves(r.Moves) {
			n = 1
		}
		if n == 0 || k >= n*r.Times {
			k -= n * r.Times
			at += length * r.Times
			continue
		}
		at += k / n * length
		if r.Body != nil {
			at += nth(r.Body, moves, k%n)
		}
		return at
	}
	panic("dataflow: a loop does not move so many words")
}

// count returns the number of iterations of the runs of a layer with in inputs and out outputs. ok is false if the runs
// are malformed, or too many to count in an int.
func count(body []LoopRun, in, out int) (n int, ok bool) {
	if len(body) == 0 {
		return 0, false
	}
	for _, r := range body {
		each := 1
		if r.Body != nil {
			if each, ok = count(r.Body, in, out); !ok || r.Moves != (PortMoves{}) {
				return 0, false
			}
		}
		if r.Times < 1 || r.Moves.Read>>in != 0 || r.Moves.Write>>out != 0 || r.Times > (math.MaxInt-n)/each {
			return 0, false
		}
		n += r.Times * each
	}
	return n, true
}

// A LoopWalker goes through the iterations of a loop, frame after frame.
type LoopWalker struct {
	moves PortMoves
	left  int       // repetitions of the iteration after the next one
	at    int       // the index in runs of the iteration's run
	runs  []LoopRun // the body that the walker is in
	body  []LoopRun // the loop's body
	outer []level
}

// A level is a body that encloses the walker's place, and the place in it.
type level struct {
	left int // repetitions of the run after the present one
	at   int
	runs []LoopRun
}

// NewWalker returns a walker before the first iteration of a frame.
func (l Loop) NewWalker() *LoopWalker {
	w := &LoopWalker{body: l.Body, runs: l.Body}
	w.enter(0)
	return w
}

// enter goes to the first iteration of run at of the present body.
func (w *LoopWalker) enter(at int) {
	r := &w.runs[at]
	for ; r.Body != nil; r, at = &r.Body[0], 0 {
		w.outer = append(w.outer, level{r.Times - 1, at, w.runs})
		w.runs = r.Body
	}
	w.moves, w.left, w.at = r.Moves, r.Times-1, at
}

// NextMoves returns the moves of the next iteration, and does not go past it.
func (w *LoopWalker) NextMoves() PortMoves { return w.moves }

// EqualIterationsAhead returns a number of iterations, from the next one on, that all have the same moves.
func (w *LoopWalker) EqualIterationsAhead() int { return w.left + 1 }

// SkipEqualIterations skips n of the iterations that EqualIterationsAhead counts, but not the last of them.
func (w *LoopWalker) SkipEqualIterations(n int) { w.left -= n }

// AdvanceIteration goes past the next iteration. end reports whether the walker is now before the first iteration of a
// frame.
func (w *LoopWalker) AdvanceIteration() (end bool) {
	if w.left > 0 {
		w.left--
		return false
	}
	return w.AdvanceEqualIterations()
}

// AdvanceEqualIterations goes past all iterations that EqualIterationsAhead counts. end reports whether the walker is
// now before the first iteration of a frame.
func (w *LoopWalker) AdvanceEqualIterations() (end bool) {
	at := w.at + 1
	if at == len(w.runs) {
		n := len(w.outer) - 1
		if n < 0 || w.outer[n].left == 0 {
			return w.leave()
		}
		w.outer[n].left--
		at = 0
	}
	r := &w.runs[at]
	if r.Body != nil {
		w.enter(at)
		return false
	}
	w.moves, w.left, w.at = r.Moves, r.Times-1, at
	return false
}

// leave goes on after the last repetition of a run. end reports whether that was the last one of the frame.
func (w *LoopWalker) leave() (end bool) {
	for n := len(w.outer) - 1; n >= 0; n-- {
		p := &w.outer[n]
		if p.left > 0 {
			p.left--
			w.enter(0)
			return false
		}
		w.outer, w.runs = w.outer[:n], p.runs
		if at := p.at + 1; at < len(w.runs) {
			w.enter(at)
			return false
		}
	}
	w.enter(0)
	return true
}

// MoveTo moves the walker to the place of another walker of the same loop.
func (w *LoopWalker) MoveTo(from *LoopWalker) {
	outer := append(w.outer[:0], from.outer...)
	*w = *from
	w.outer = outer
}

// A LoopStretch is a number of whole repetitions of one run of a loop, which a walker has passed.
type LoopStretch struct {
	level int // the level of the run; 0 for the outermost
	times int
	left  int // repetitions that follow the stretch
}

// StretchSince returns the stretch from an earlier place in the frame, where was is, to the walker's place. ok is false
// if the iterations between are not a whole number of repetitions of one run.
func (w *LoopWalker) StretchSince(was *LoopWalker) (s LoopStretch, ok bool) {
	if w.at != was.at || len(w.outer) != len(was.outer) {
		return s, false
	}
	for i, now := range w.outer {
		was := was.outer[i]
		if now.at != was.at || now.left != was.left && s.times > 0 {
			return s, false
		}
		if now.left != was.left {
			s = LoopStretch{i, was.left - now.left, now.left}
		}
	}
	if w.left != was.left {
		if s.times > 0 {
			return s, false
		}
		s = LoopStretch{len(w.outer), was.left - w.left, w.left}
	}
	return s, true
}

// RepeatsLeft returns the number of times that the same stretch can follow before the run ends. The stretch must not be
// empty.
func (s LoopStretch) RepeatsLeft() int { return s.left / s.times }

// IsEmpty reports whether the stretch has no repetitions.
func (s LoopStretch) IsEmpty() bool { return s.times == 0 }

// RepeatStretch goes past further repetitions of the stretch s, which ends at the walker's place. times is their
// number, at most that of s.RepeatsLeft.
func (w *LoopWalker) RepeatStretch(s LoopStretch, times int) {
	if s.level < len(w.outer) {
		w.outer[s.level].left -= times * s.times
	} else {
		w.left -= times * s.times
	}
}

// RepeatLoopRuns returns n repetitions of the runs, joined as by JoinLoopRuns. It returns nil if n is 0, or if nothing
// is left of the runs.
func RepeatLoopRuns(n int, body ...LoopRun) []LoopRun { return repeated(n, JoinLoopRuns(body...)) }

// repeated returns the result of RepeatLoopRuns, for runs that are joined already.
func repeated(n int, body []LoopRun) []LoopRun {
	switch {
	case n == 0 || len(body) == 0:
		return nil
	case n == 1:
		return body
	case len(body) == 1:
		r := body[0]
		r.Times *= n
		return []LoopRun{r}
	}
	return []LoopRun{{Times: n, Body: body}}
}

// JoinLoopRuns returns the runs one after the other. It drops runs of no repetitions, and merges neighbours with the
// same body.
func JoinLoopRuns(runs ...LoopRun) []LoopRun {
	if len(runs) == 0 {
		return nil
	}
	return appended(make([]LoopRun, 0, len(runs)), runs)
}

// appended returns the joined runs out and more, joined. It may change the list out.
func appended(out, more []LoopRun) []LoopRun {
	for _, r := range more {
		if r.Times == 0 {
			continue
		}
		if n := len(out); n > 0 && out[n-1].same(r) {
			out[n-1].Times += r.Times
			continue
		}
		out = append(out, r)
	}
	return out
}

// same reports whether two runs repeat the same body.
func (r LoopRun) same(o LoopRun) bool {
	return r.Moves == o.Moves && slices.EqualFunc(r.Body, o.Body,
		func(a, b LoopRun) bool { return a.Times == b.Times && a.same(b) })
}

// ReplaceIterationMoves returns a body like this one, with other moves in the iteration with this number, counted from
// 0. It does not change body, and panics if there is no such iteration.
func ReplaceIterationMoves(body []LoopRun, iteration int, moves PortMoves) []LoopRun {
	for i, r := range body {
		n := r.Times * r.each()
		if iteration >= n {
			iteration -= n
			continue
		}
		at := iteration / r.each()
		one := []LoopRun{{Times: 1, Moves: moves}}
		if r.Body != nil {
			one = ReplaceIterationMoves(r.Body, iteration%r.each(), moves)
		}
		before, behind := r, r
		before.Times, behind.Times = at, r.Times-1-at
		return JoinLoopRuns(slices.Concat(body[:i:i], []LoopRun{before}, one, []LoopRun{behind}, body[i+1:])...)
	}
	panic("dataflow: no such iteration")
}
