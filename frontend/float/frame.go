package float

import (
	"slices"

	"hlsgen/frontend/program"
)

// Rows of images that lanes of convolutions read.

// A frame is some rows of an image, copied into the padding around it. Elements that neighbouring lanes read lie side
// by side: those of every second row and column are a plane of their own in a convolution of stride 2.
type frame struct {
	places     *program.PaddedSources // of the elements of all images in a tensor; nil where they are in order
	told       int                    // rows of the image that places tell at once
	blocks     []block                // of these
	bases      []int                  // where they are, each time
	around     int                    // slot of the padding, behind those of the step
	width      int                    // of a row of the image
	down, step int                    // rows from one row of lanes to the next, and columns from lane to lane
	last       int                    // row that the terms of the first lane reach
	size       int                    // of a plane
	across     int                    // elements of a row of a plane
	rows       []int                  // places of the image's rows in the planes
	columns    []int                  // and of columns behind them
}

const (
	// frameSize is the approximate number of elements of a frame, few enough to stay in the processor's cache.
	frameSize = 1 << 11
	// widest is the width of an image from which its lanes are shared among processors.
	widest = 1 << 14
)

// framed returns the layout of lanes that are read from frames: some rows of a tensor, copied into their padding. shape
// is the tensor's; places, if not nil, maps its elements to those of the tensor in front of the padding. framed returns
// nil if frames gain nothing.
func (d *dot) framed(shape []int, places *program.PaddedSources) *lying {
	last := len(d.lanes) - 1
	if d.plain || d.rows.size() > fewRows || last < 0 || len(shape) == 0 || d.of.K == 0 {
		return nil
	}
	f := &frame{places: places, width: shape[len(shape)-1], down: 1, step: d.lanes[last].lane}
	if f.width > widest || f.step < 1 || f.step > f.width {
		return nil
	}
	l := &lying{outer: d.lanes[:last], rows: axis{n: 1}, lanes: d.lanes[last], frame: f}
	for _, t := range d.lane.terms {
		if int(t)%f.width+(l.lanes.n-1)*f.step >= f.width {
			return nil
		}
		f.last = max(f.last, int(t)/f.width)
	}
	if last > 0 {
		down := d.lanes[last-1].lane / f.width
		if down > 0 && down <= f.last+1 && d.lanes[last-1].lane%f.width == 0 {
			l.outer, l.rows, f.down = d.lanes[:last-1], d.lanes[last-1], down
		}
	}
	if places == nil && (f.step == 1 || d.of.K <= f.step*f.down) {
		return nil
	}
	for _, list := range []axes{l.outer, d.both} {
		for _, p := range list {
			if p.lane%f.width != 0 {
				return nil
			}
		}
	}
	f.across = (f.width + f.step - 1) / f.step
	l.next = f.across
	l.joined = l.lanes.n < shortRun && float64(l.next) <= mostBetween*float64(l.lanes.n)
	rows := l.rowsAtOnce()
	if f.height(rows) > 2*rows*f.down || l.lanes.n < longRun && (!l.joined || l.length(rows) < longRun) {
		return nil
	}
	f.size = (f.height(rows) + f.down - 1) / f.down * f.across
	terms := make([]int32, d.of.K)
	for i, t := range d.lane.terms {
		row, column := int(t)/f.width, int(t)%f.width
		terms[i] = int32(f.at(row, column))
	}
	l.walk = walkOf(terms, 1)
	for r := range f.height(rows) {
		f.rows = append(f.rows, f.at(r, 0))
	}
	for c := range f.width + 1 {
		f.columns = append(f.columns, f.at(0, c))
	}
	if places != nil && !f.findBlocks() {
		return nil
	}
	return l
}

// height returns how many rows of the image the given number of rows of lanes reads.
func (f *frame) height(rows int) int { return (rows-1)*f.down + f.last + 1 }

// at returns the place in the frame of the image's element in a row and a column.
func (f *frame) at(row, column int) int {
	plane := row%f.down*f.step + column%f.step
	return plane*f.size + row/f.down*f.across + column/f.step
}

// A block is a rectangle of an image whose rows lie at a constant distance in the tensor from which they are copied.
type block struct {
	row, rows, column, n int // in the image
	from, next           int // where it comes from, from row to row
}

// findBlocks finds the blocks of which places put the image together. It returns false if places do not go by rows of
// the image.
func (f *frame) findBlocks() bool {
	_, axis := f.places.RowSources(0)
	if len(axis)%f.width != 0 {
		return false
	}
	f.told = len(axis) / f.width
	for i := 0; i < f.places.Len(); i += len(axis) {
		base, _ := f.places.RowSources(i)
		f.bases = append(f.bases, base)
	}
	for r := range f.told {
		column := 0
		for _, s := range stretches(axis[r*f.width : (r+1)*f.width]) {
			if s.from >= 0 {
				f.add(block{r, 1, column, s.n, s.from, 0})
			}
			column += s.n
		}
	}
	return true
}

// add adds a block of one row to f.blocks. If the row continues the last block, add extends that block instead.
func (f *frame) add(b block) {
	if n := len(f.blocks); n > 0 {
		last := &f.blocks[n-1]
		next := (b.from - last.from) / last.rows
		if last.row+last.rows == b.row && last.column == b.column && last.n == b.n && next >= b.n &&
			(last.rows == 1 || next == last.next) && last.from+last.rows*next == b.from {
			last.rows, last.next = last.rows+1, next
			return
		}
	}
	f.blocks = append(f.blocks, b)
}

// fill copies rows of the image, from row first on, into the frame to. from holds the image's elements, around is the
// value of the padding.
func (f *frame) fill(to, from []float64, around float64, first, rows int) {
	if f.places == nil {
		f.put(to, from[first*f.width:], 0, block{rows: rows, n: f.width, next: f.width})
		return
	}
	if f.told > 1 {
		surround(to, around)
	}
	for r := first; r < first+rows; {
		base := f.bases[r/f.told]
		begin := r / f.told * f.told
		end := min(begin+f.told, first+rows)
		if f.told == 1 {
			f.surroundRow(to[f.rows[r-first]:], around, base < 0)
		}
		for _, b := range f.blocks {
			skip := max(0, r-begin-b.row)
			b.row, b.rows, b.from = b.row+skip, min(b.rows, end-begin-b.row)-skip, b.from+skip*b.next
			if base >= 0 && b.rows > 0 {
				f.put(to, from[base+b.from:], begin+b.row-first, b)
			}
		}
		r = end
	}
}

// surround fills a frame with the padding's value.
func surround(to []float64, around float64) {
	if clear(to); around != 0 {
		for i := range to {
			to[i] = around
		}
	}
}

// surroundRow fills those elements of a row that no block covers, or with all set every element, with the padding's
// value.
func (f *frame) surroundRow(to []float64, around float64, all bool) {
	column := 0
	for _, b := range f.blocks {
		if all {
			break
		}
		for _, at := range f.columns[column:b.column] {
			to[at] = around
		}
		column = b.column + b.n
	}
	for _, at := range f.columns[column:f.width] {
		to[at] = around
	}
}

// put copies block b of the elements from into the planes of the frame to, from the frame's row on.
func (f *frame) put(to, from []float64, row int, b block) {
	if f.down == 1 && f.step == 1 {
		copyRows(to[row*f.across+b.column:], f.across, from, b.next, b.n, b.rows)
		return
	}
	for r := range b.rows {
		to, from := to[f.rows[row+r]:], from[r*b.next:][:b.n]
		if f.step == 2 {
			split(to[f.columns[b.column]:], to[f.columns[b.column+1]:], from)
			continue
		}
		for i := range min(f.step, b.n) {
			to := to[f.columns[b.column+i]:]
			for k := 0; i+k*f.step < b.n; k++ {
				to[k] = from[i+k*f.step]
			}
		}
	}
}

// frames makes convolutions read frames, where that is faster. It removes a step that only pads the input of such a
// convolution, since frames contain the padding.
func (x *Evaluator) frames() {
	readers, makers := make([]int, len(x.values)), make([]*runner, len(x.values))
	for _, r := range x.runners {
		for _, v := range r.reads {
			if v >= 0 {
				readers[v]++
			}
		}
		makers[r.to] = r
	}
	gone := map[*runner]bool{}
	for _, r := range x.runners {
		if r.dot == nil || r.reads[r.dot.lane.slot] < 0 {
			continue
		}
		v := r.reads[r.dot.lane.slot]
		m := makers[v]
		if m == nil || m.step.Move == nil || m.step.Move.Places == nil || readers[v] > 1 || x.want[v] {
			if l := r.dot.framed(x.values[v].shape, nil); l != nil {
				r.dot.lying = l
			}
			continue
		}
		l := r.dot.framed(x.values[v].shape, m.step.Move.Places)
		if l == nil {
			continue
		}
		l.frame.around = len(r.reads)
		r.reads[r.dot.lane.slot] = m.reads[0]
		r.reads = append(r.reads, m.reads[1:]...)
		r.dot.lying = l
		gone[m] = true
	}
	x.runners = slices.DeleteFunc(x.runners, func(r *runner) bool { return gone[r] })
}
