package float

// This file computes sums of products whose lanes are read in place, without a copy of their elements in a panel.

// A lying describes lanes that are read in place, run by run. A run is one long row of lanes, or several short rows
// that lie close together in memory, such as the rows of a small image. The elements between short rows are read with
// them, and their sums are dropped.
type lying struct {
	walk
	outer axes
	rows  axis // the rows of a run; a single row where rows are long
	lanes axis // the lanes of a row
	next  int  // distance from row to row, in lanes; 0 for a single row
}

const (
	shortRun = 32 // rows with fewer lanes are joined to a run
	// mostBetween limits the distance from row to row in a run, as a multiple of the lanes of a row.
	mostBetween = 1.75
)

// lyingOf returns how to read lanes in place. It returns nil if a run has fewer than longRun lanes.
func lyingOf(lanes axes, terms []int32) *lying {
	last := len(lanes) - 1
	if last < 0 {
		return nil
	}
	l := &lying{walkOf(terms, lanes[last].lane), lanes[:last], axis{n: 1}, lanes[last], 0}
	if last > 0 && l.lanes.n < shortRun && l.step > 0 && lanes[last-1].lane%l.step == 0 {
		next := lanes[last-1].lane / l.step
		if next >= l.lanes.n && float64(next) <= mostBetween*float64(l.lanes.n) {
			l.outer, l.rows, l.next = lanes[:last-1], lanes[last-1], next
		}
	}
	if l.length(l.rows.n) < longRun {
		return nil
	}
	return l
}

// length returns how many lanes the given number of rows spans, including the lanes between the rows.
func (l *lying) length(rows int) int { return (rows-1)*l.next + l.lanes.n }

// lanesAtLying is the smallest number of lanes in a span, however many terms a sum has.
const lanesAtLying = 64

// A span is the part of a run that one task computes: several whole rows, or some lanes of a single row.
type span struct{ row, rows, lane, lanes int }

// spans cuts a run into spans. The more terms a sum has, the fewer lanes a span has.
func (l *lying) spans() (list []span) {
	width := max(lanesAtLying, 1<<14/len(l.terms)/4*4)
	if l.next == 0 {
		for i := 0; i < l.lanes.n; i += width {
			list = append(list, span{0, 1, i, min(width, l.lanes.n-i)})
		}
		return list
	}
	rows := max(1, width/l.next)
	for i := 0; i < l.rows.n; i += rows {
		list = append(list, span{i, min(rows, l.rows.n-i), 0, l.lanes.n})
	}
	return list
}

// alongRuns computes sums of products whose lanes are read in place. packed holds the row factor as pack lays it out.
func alongRuns[E float32 | float64](x *Part, d *dot, of []E, packed, out []float64) {
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
				lane += base + s.row*l.rows.lane + s.lane*l.step
				place += at + s.row*l.rows.out + s.lane*l.lanes.out
				for r := range rows {
					_, _, row := d.rows.at(r)
					alongRun(w, l, s, of[lane:], weights[r:], out[place+row:])
				}
			}
		}
	})
}

// alongRun computes the sums of one span for one row of weights.
func alongRun[E float32 | float64](w *worker, l *lying, s span, of []E, weights, out []float64) {
	n := (s.rows-1)*l.next + s.lanes
	if l.next == 0 && l.lanes.out == 1 {
		row(out[:n], of, l.walk, weights)
		return
	}
	sums := sized(&w.sums, n)
	row(sums, of, l.walk, weights)
	for i := range s.rows {
		some, to := sums[i*l.next:][:s.lanes], out[i*l.rows.out:]
		if l.lanes.out == 1 {
			copyShort(to[:len(some)], some)
			continue
		}
		for k, v := range some {
			to[k*l.lanes.out] = v
		}
	}
}
