package rtlsim

import "hlsgen/internal/dataflow"

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

// runLine is run for such a worker, of iterations that move words.
func (k *worker) runLine(e *engine, m dataflow.Moves, n int) (done int) {
	in, out, p := k.line.in, k.line.out, k.pipe
	reads, writes := m.Read != 0, m.Write != 0
	last := k.at
	for ; done < n; done++ {
		ready := last + 1
		words := ready // the word is there
		if reads {
			at, ok := in.arrival()
			if !ok {
				in.wants = true
				break
			}
			words = max(words, at)
		}
		start, ok := words, true
		if p != nil {
			if words < p.free || p.calm <= words {
				start, ok = p.moves(words, k.out)
			}
		} else if writes {
			var from int
			if from, ok = out.room(); ok {
				start = max(words, from)
			} else {
				out.blocks = true
			}
		}
		if !ok {
			break
		}
		if start >= e.end {
			e.late = true
			break
		}
		if start > ready {
			k.count.Starved += words - ready
			k.count.Blocked += start - words
			if words > ready {
				in.empty += words - ready
			}
			if start > words {
				if p != nil {
					p.full(words, k.out)
				} else {
					out.full += start - words
				}
			}
		}
		if k.log != nil {
			k.works(words, start)
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
		if k.kernel != nil {
			k.compute(m)
		}
	}
	k.at = last
	k.count.Busy += done
	return done
}
