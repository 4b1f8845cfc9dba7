package rtlsim

import "hlsgen/internal/dataflow"

// A line holds the streams of a layer that reads at most one stream and writes at most one, as most layers do. For
// these there are fast versions of the general methods.
type line struct{ in, out *stream }

// lined returns the streams of a layer that has at most one on each side. ok is false if it has several on one side.
func (k *worker) lined() (l line, ok bool) {
	in, out := ports(nil, k.in, k.joined.Read), ports(nil, k.out, k.joined.Write)
	if len(in) > 1 || len(out) > 1 {
		return line{}, false
	}
	if len(in) > 0 {
		l.in = in[0]
	}
	if len(out) > 0 {
		l.out = out[0]
	}
	return l, true
}

// glide does what advance does, for a layer with at most one input and one output. A run spends nearly all its time
// here, so the common cases of take and held are written out.
func (k *worker) glide(e *engine) {
	in, out, p, walk := k.line.in, k.line.out, k.pipe, k.walk
	last := k.at
	for left := visitWords; k.frame < e.goal; {
		if left <= 0 {
			e.agenda.wake(k.task)
			break
		}
		if k.pace > 0 {
			last = k.turn(last)
		}
		m, alike := walk.NextMoves(), walk.EqualIterationsAhead()
		reads, writes := m.Read&k.joined.Read != 0, m.Write&k.joined.Write != 0
		n, done := alike, 0
		if !reads && !writes {
			if k.at = last; !k.rests(alike, e.end) {
				if done = k.idle(e, alike); done < alike {
					last = k.at
					walk.SkipEqualIterations(done)
					break
				}
			}
			last = k.at
			if walk.AdvanceEqualIterations() {
				walk = k.ends(e)
			}
			continue
		}
		n = min(alike, left)
		left -= n
		for done < n {
			ready := last + 1
			words, arrived := ready, 0 // clock when the word to read has arrived
			if reads {
				if in.read == in.written {
					in.wants = true
					break
				}
				arrived = in.due.of(in.read)
				words = max(words, arrived)
			}
			start := words
			if p != nil {
				if words >= p.calm || words < p.free {
					var ok bool
					if start, ok = p.passes(words, out); !ok {
						break
					}
				}
			} else if writes {
				from, ok := out.room()
				if !ok {
					out.blocks = true
					break
				}
				if from >= words {
					start = from
					out.tight++
				}
			}
			if start >= e.end {
				e.late = true
				break
			}
			if start > ready {
				if start == words && k.log == nil && k.notes == nil {
					k.count.Starved += words - ready
					in.missed(words - ready)
				} else {
					k.held(ready, words, start)
				}
			}
			if reads {
				in.taken = arrived - in.delay
				if in.high < in.depth {
					in.fill()
				}
				if in.log != nil {
					in.logRead(start)
				}
				if in.read-in.kept == len(in.reads) {
					in.tidy()
				}
				in.reads.set(in.read, start)
				in.read++
				if in.blocks {
					in.agenda.wake(in.writer)
					in.blocks = false
				}
			}
			if writes {
				if p != nil {
					p.start(start, m.Write&k.joined.Write)
				} else {
					out.put(start)
				}
			}
			last = start
			k.count.Busy++
			done++
		}
		if done < n {
			walk.SkipEqualIterations(done)
			break
		}
		if n < alike {
			walk.SkipEqualIterations(n)
			continue
		}
		if walk.AdvanceEqualIterations() {
			walk = k.ends(e)
		}
	}
	k.at = last
	if p != nil && p.written < p.started && !out.blocks {
		p.writeLine(out)
	}
}

// rests does what idle does for n iterations, if nothing is under way and the run does not end meanwhile. Otherwise it
// does nothing and returns false.
func (k *worker) rests(n, end int) bool {
	at := k.at + n
	if p := k.pipe; p != nil && (k.at+1 < p.free || at >= p.calm) || at >= end {
		return false
	}
	k.at = at
	k.count.Busy += n
	return true
}

// ends counts a finished frame of the layer, and returns the walk through the loop of the next frame.
func (k *worker) ends(e *engine) *dataflow.LoopWalker {
	k.frame++
	k.resize(e, e.at(k.frame-1))
	return k.walk
}

// held does what waited does, for a layer with at most one input and one output: it counts the waiting of an iteration.
func (k *worker) held(ready, words, start int) {
	if k.log != nil {
		k.logs(ready, words, start)
	}
	if k.notes != nil {
		k.noteLine(words, start)
	}
	k.count.Starved += words - ready
	k.count.Blocked += start - words
	if words > ready {
		k.line.in.missed(words - ready)
	}
	if start > words {
		if k.pipe != nil {
			k.pipe.full(words, k.out)
		} else {
			k.line.out.full += start - words
		}
	}
}
