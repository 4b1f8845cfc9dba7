package float

// This file computes sums whose lanes are read directly from the tensor.

// A lying says how lanes are read run by run. Short runs close to each other, such as the rows of a small image, are
// read as one run, together with the elements between them.
type lying struct {
	walk
	outer axes
	rows  axis // the rows of a run, each with its own lanes; a single row if runs are long
	lanes axis // the lanes of a row
	next  int  // the distance between rows, in lanes
}

const (
	shortRun = 32 // lanes
	// mostBetween bounds the distance between rows, as a multiple of the lanes of a row.
	mostBetween = 1.75
)

// lyingOf returns nil if the runs are too short.
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

// length returns the number of lanes from the first to the last one of some rows, including those between.
func (l *lying) length(rows int) int { return (rows-1)*l.next + l.lanes.n }

// lanesAtLying is the number of lanes from which work is shared, for sums with many terms.
const lanesAtLying = 64

// A span is a part of a run: some rows, or some lanes of a row.
type span struct{ row, rows, lane, lanes int }

// spans cuts a run into spans.
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

// alongRuns computes sums whose lanes are read directly from the tensor.
func alongRuns[E float32 | float64](x *Part, d *dot, of []E, packed, out []float64) {
	l, k, rows, both := d.lying, d.of.K, d.rows.size(), d.both.size()
	spans := l.spans()
	tasks := l.outer.size() * len(spans) // tasks per group
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

// alongRun computes the sums of one span.
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
