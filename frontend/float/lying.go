package float

// This file computes sums of products whose lanes are read in place, without a copy of their elements in a panel.

// A lying describes lanes that are read in place, where they lie in a tensor or frame, run by run. A run is one long
// row of lanes, or several short rows that lie close together in memory, such as the rows of a small image. The
// elements between short rows are read with them, and their sums are dropped.
type lying struct {
	walk
	outer  axes
	rows   axis   // the rows of a run; a single row where rows are long
	lanes  axis   // the lanes of a row
	next   int    // distance from row to row, in lanes
	joined bool   // the rows are read as one run
	frame  *frame // what the lanes are read from; nil for the tensor itself
}

const (
	shortRun = 32 // rows with fewer lanes are joined to a run
	// mostBetween limits the distance from row to row in a run, as a multiple of the lanes of a row.
	mostBetween = 1.75
)

// lyingOf returns a description of how to read lanes in place. It returns nil if a run would have fewer than longRun
// lanes.
func lyingOf(lanes axes, terms []int32) *lying {
	last := len(lanes) - 1
	if last < 0 {
		return nil
	}
	l := &lying{walk: walkOf(terms, lanes[last].lane), outer: lanes[:last], rows: axis{n: 1}, lanes: lanes[last]}
	if last > 0 && l.lanes.n < shortRun && l.step > 0 && lanes[last-1].lane%l.step == 0 {
		next := lanes[last-1].lane / l.step
		if next >= l.lanes.n && float64(next) <= mostBetween*float64(l.lanes.n) {
			l.outer, l.rows, l.next, l.joined = lanes[:last-1], lanes[last-1], next, true
		}
	}
	if l.length(l.rows.n) < longRun {
		return nil
	}
	return l
}

// length returns the number of lanes that the given number of rows spans, including the lanes between the rows.
func (l *lying) length(rows int) int { return (rows-1)*l.next + l.lanes.n }

// lanesAtLying is the smallest number of lanes in a span, however many terms a sum has.
const lanesAtLying = 64

// A span is the part of a run that one task computes: several whole rows, or some lanes of a single row.
type span struct{ row, rows, lane, lanes int }

// rowsAtOnce returns the number of short rows of lanes in a span.
func (l *lying) rowsAtOnce() int {
	most := 0
	if l.frame != nil {
		most = frameSize / (l.frame.width * l.frame.down)
	} else {
		most = l.lanesAtOnce() / max(1, l.next)
	}
	parts := (l.rows.n + max(1, most) - 1) / max(1, most)
	return (l.rows.n + parts - 1) / parts
}

// lanesAtOnce returns the number of lanes of a long row in a span. It is smaller for sums of more terms.
func (l *lying) lanesAtOnce() int { return max(lanesAtLying, 1<<14/len(l.terms)/4*4) }

// spans returns the spans into which a run is cut, which tasks compute independently.
func (l *lying) spans() (list []span) {
	if !l.joined && l.frame == nil {
		width := l.lanesAtOnce()
		for i := 0; i < l.lanes.n; i += width {
			list = append(list, span{0, 1, i, min(width, l.lanes.n-i)})
		}
		return list
	}
	rows := l.rowsAtOnce()
	for i := 0; i < l.rows.n; i += rows {
		list = append(list, span{i, min(rows, l.rows.n-i), 0, l.lanes.n})
	}
	return list
}

// alongRuns computes sums of products run by run. The function of returns the elements that a span reads, from the
// span's first lane on. packed holds the row factor as pack lays it out.
func alongRuns[E float32 | float64](x *Evaluator, d *dot, of func(w *worker, s span, lane int) []E, packed,
	out []float64) {
	l, k, rows, both := d.lying, d.of.K, d.rows.size(), d.both.size()
	spans := l.spans()
	tasks := l.outer.size() * len(spans) // of a group
	grain := max(1, 1<<16/(k*rows*l.length(spans[0].rows)))
	x.team.share(both*tasks, grain, func(w *worker, from, to int) {
		for from < to {
			group, first := from/tasks, from%tasks
			until := min(tasks, first+to-from)
			from += until - first
			base, _, at := d.both.at(group)
			weights := packed[group*rowsAtOnce*k : (group+1)*rowsAtOnce*k]
			for i := first; i < until; i++ {
				s := spans[i%len(spans)]
				lane, _, place := l.outer.at(i / len(spans))
				of := of(w, s, lane+base+s.row*l.rows.lane+s.lane*l.lanes.lane)
				place += at + s.row*l.rows.out + s.lane*l.lanes.out
				for r := range rows {
					_, _, row := d.rows.at(r)
					alongRun(w, l, s, of, weights[r:], out[place+row:])
				}
			}
		}
	})
}

// alongFactor computes sums whose lanes are read in place.
func alongFactor[E float32 | float64](x *Evaluator, d *dot, of []E, packed, out []float64) {
	alongRuns(x, d, func(_ *worker, _ span, lane int) []E { return of[lane:] }, packed, out)
}

// alongFrames computes sums whose lanes are read from frames.
func (x *Evaluator) alongFrames(d *dot, in []*buffer, packed, out []float64) {
	f, from, around := d.lying.frame, in[d.lane.slot].data, 0.0
	if f.around > 0 && f.around < len(in) && in[f.around] != nil && len(in[f.around].data) > 0 {
		around = in[f.around].data[0]
	}
	alongRuns(x, d, func(w *worker, s span, lane int) []float64 {
		panel := sized(&w.panel, f.step*f.down*f.size)
		f.fill(panel, from, around, lane/f.width, f.height(s.rows))
		return panel
	}, packed, out)
}

// alongRun computes the sums of one span for one row of weights.
func alongRun[E float32 | float64](w *worker, l *lying, s span, of []E, weights, out []float64) {
	if l.joined {
		sums := sized(&w.sums, (s.rows-1)*l.next+s.lanes)
		row(sums, of, l.walk, weights)
		if l.lanes.out == 1 {
			copyRows(out, l.rows.out, sums, l.next, s.lanes, s.rows)
			return
		}
		for i := range s.rows {
			l.put(out[i*l.rows.out:], sums[i*l.next:][:s.lanes])
		}
		return
	}
	for i := range s.rows {
		to, of := out[i*l.rows.out:], of[i*l.next:]
		if l.lanes.out == 1 {
			row(to[:s.lanes], of, l.walk, weights)
			continue
		}
		sums := sized(&w.sums, s.lanes)
		row(sums, of, l.walk, weights)
		l.put(to, sums)
	}
}

// put writes the sums of a row to outputs that lie at a constant distance.
func (l *lying) put(out, sums []float64) {
	for i, v := range sums {
		out[i*l.lanes.out] = v
	}
}
