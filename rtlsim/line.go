package rtlsim

// A line is the ends of a worker that reads one stream at most and writes one at most, as most do. What run decides for
// any number of streams it decides for these.
type line struct{ in, out *stream }

// lined is the only streams of a worker; ok is false where there are several on a side.
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

// glide is advance for such a worker.
func (k *worker) glide(e *engine) {
	in, out, p, walk := k.line.in, k.line.out, k.pipe, k.walk
	last := k.at
	for left := visitWords; k.frame < e.goal; {
		if left <= 0 {
			e.agenda.wake(k.task)
			break
		}
		last = k.turn(last)
		m, alike := walk.Moves(), walk.Alike()
		m.Read, m.Write = m.Read&k.joined.Read, m.Write&k.joined.Write
		reads, writes := m.Read != 0, m.Write != 0
		n, done := alike, 0
		if reads || writes {
			n = min(alike, left)
			left -= n
		} else if n > 1 {
			k.at = last
			done = k.idle(e, n)
			last = k.at
		}
		for done < n {
			ready := last + 1
			words := ready // the word is there
			if reads {
				if in.read == in.written {
					in.wants = true
					break
				}
				words = max(words, in.due.of(in.read))
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
				k.held(ready, words, start)
			}
			if reads {
				in.take(start)
			}
			if writes {
				if p != nil {
					p.start(start, m.Write)
				} else {
					out.put(start)
				}
			}
			last = start
			k.count.Busy++
			done++
		}
		if done < n {
			walk.Skip(done)
			break
		}
		if n < alike {
			walk.Skip(n)
			continue
		}
		walk.Skip(n - 1)
		if walk.Advance() {
			k.frame++
			k.resize(e, e.at(k.frame-1))
			walk = k.walk
		}
	}
	k.at = last
	if p != nil && p.written < p.started {
		p.writeLine(out)
	}
}

// held is waited for such a worker.
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
		k.line.in.empty += words - ready
	}
	if start > words {
		if k.pipe != nil {
			k.pipe.full(words, k.out)
		} else {
			k.line.out.full += start - words
		}
	}
}
