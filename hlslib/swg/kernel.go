package swg

import (
	"slices"

	"hlsgen/internal/dataflow"
)

// A walk is a position among the windows of a frame, with the counters of words that the hardware has.
type walk struct {
	*geometry
	parts       int // words per pixel
	line, frame int // words per row of pixels, and per frame
	y, x        int // corner of the window: it begins at word y+x of the frame
	oy, ox      int
}

func newWalk(g *geometry, parts int) walk {
	line := g.frame[1] * parts
	return walk{geometry: g, parts: parts, line: line, frame: g.frame[0] * line, y: -g.before[0] * line,
		x: -g.before[1] * parts}
}

// next moves to the next window, row by row.
func (w *walk) next() {
	w.ox, w.x = w.ox+1, w.x+w.stride[1]*w.parts
	if w.ox == w.windows[1] {
		w.ox, w.x = 0, -w.before[1]*w.parts
		w.oy, w.y = w.oy+1, w.y+w.stride[0]*w.line
	}
}

// over reports whether the walk has left the last window.
func (w *walk) over() bool { return w.oy == w.windows[0] }

// need returns the number of words that must have arrived before the window can be written. After the last window it
// exceeds the frame.
func (w *walk) need() int {
	if w.over() {
		return w.frame + 1
	}
	row, column := w.needs()
	return row + column
}

// needs returns the two addends of need. They are the words of the rows before the last that the window touches, and
// those of this row.
func (w *walk) needs() (row, column int) {
	return min(w.y+w.span(0)*w.line, w.frame-w.line), min(w.x+w.span(1)*w.parts+w.parts, w.line)
}

// limit returns the number of words that a ring with the given length can have taken before the next window begins.
func (w *walk) limit(ring int) int {
	if w.over() {
		return w.frame
	}
	row, column := w.limits(ring)
	return row + column
}

// limits returns the two addends of limit, for the window's row and for its column.
func (w *walk) limits(ring int) (row, column int) {
	if w.y+w.stride[0]*w.line > 0 || w.oy == w.windows[0]-1 {
		column = max(w.x, 0)
	}
	return ring + max(w.y, 0), column
}

// inside reports whether the tap at row y and column x, both in words, lies in the frame.
func (w *walk) inside(y, x int) bool { return 0 <= y && y < w.frame && 0 <= x && x < w.line }

func (o *op) Kernel(f dataflow.Fold, _ dataflow.Target) dataflow.Kernel {
	padding := slices.Repeat(dataflow.Word{o.P.Pad}, f.SIMD)
	w := newWalk(&o.g, o.parts(f))
	if o.all(f) {
		return &shifter{start: w, padding: padding,
			lines:   newDelay(max(1, o.depth(f)), (o.g.kernel[0]-1)*f.SIMD),
			taps:    newDelay(o.spacing(f), (o.g.kernel[1]-1)*o.g.kernel[0]*f.SIMD),
			written: make(dataflow.Word, 0, o.g.kernel[0]*o.g.kernel[1]*f.SIMD)}
	}
	return &ringer{start: w, ring: make([]dataflow.Word, o.depth(f)), tile: o.tile(f) / f.SIMD, padding: padding}
}

// A ringer is the kernel for one kernel position per clock. It keeps words in a ring.
type ringer struct {
	start   walk
	ring    []dataflow.Word
	tile    int // words per tile
	padding dataflow.Word
	written dataflow.Word
	words   [1]dataflow.Word

	ahead             walk // the window after the current one
	need, limit       int  // of the current window
	got, to           int  // words read so far, and the ring's place for the next
	cornerY, cornerX  int
	y, x, from        int // the current tap, and its place in the ring
	word, j, i, tiles int // position within the current window
}

func (k *ringer) Step(iteration int, in []dataflow.Word) []dataflow.Word {
	if iteration == 0 {
		*k = ringer{start: k.start, ring: k.ring, tile: k.tile, padding: k.padding, written: k.written, ahead: k.start}
		k.from = k.wrap(k.start.y + k.start.x)
		k.enter()
	}
	reading, writing := k.got != k.start.frame && k.got < k.limit, k.got >= k.need
	if k.words[0] = nil; writing {
		from := k.padding
		if k.start.inside(k.y, k.x) {
			from = k.ring[k.from]
		}
		k.written = append(k.written[:0], from...) // copied, because the ring's place may be overwritten
		k.words[0] = k.written
		k.advance()
	}
	if reading {
		k.ring[k.to] = append(k.ring[k.to][:0], in[0]...)
		if k.to++; k.to == len(k.ring) {
			k.to = 0
		}
		k.got++
	}
	return k.words[:]
}

// enter sets the kernel's need and limit for the current window. They are the words that it needs, and how far the ring
// may fill before the next window.
func (k *ringer) enter() {
	k.need, k.limit = k.ahead.need(), k.ahead.limit(len(k.ring))
	k.cornerY, k.cornerX = k.ahead.y, k.ahead.x
	k.y, k.x = k.cornerY, k.cornerX
	if !k.ahead.over() {
		k.ahead.next()
	}
}

// advance moves to the next word to write, through the loops over words, taps, lines of taps, tiles, windows and rows
// of windows. The place in the ring moves by the distance between the two words.
func (k *ringer) advance() {
	s := &k.start
	wide, tall := s.span(1)*s.parts, s.span(0)*s.line
	step := 1
	if k.word++; k.word == k.tile {
		k.word = 0
		step += s.dilation[1]*s.parts - k.tile
		k.x += s.dilation[1] * s.parts
		if k.j++; k.j == s.kernel[1] {
			k.j = 0
			step += s.dilation[0]*s.line - wide - s.dilation[1]*s.parts
			k.x, k.y = k.cornerX, k.y+s.dilation[0]*s.line
			if k.i++; k.i == s.kernel[0] {
				k.i = 0
				step += k.tile - tall - s.dilation[0]*s.line
				k.y = k.cornerY
				if k.tiles += k.tile; k.tiles == s.parts {
					k.tiles = 0
					step += k.ahead.y + k.ahead.x - k.cornerY - k.cornerX - s.parts
					k.enter()
				}
			}
		}
	}
	k.from = k.wrap(k.from + step)
}

func (k *ringer) wrap(at int) int {
	n := len(k.ring)
	return (at%n + n) % n
}

// A shifter is the kernel for all kernel positions per clock. It keeps words in delays.
type shifter struct {
	start   walk
	padding dataflow.Word
	lines   delay // delays the newest column of taps, without its lowest
	taps    delay // delays the other columns
	written dataflow.Word
	words   [1]dataflow.Word

	window   walk
	at, part int // the arriving pixel, by its first word, and the word within it
}

func (k *shifter) Step(iteration int, in []dataflow.Word) []dataflow.Word {
	if iteration == 0 {
		k.window, k.at, k.part = k.start, 0, 0
	}
	w := &k.window
	x := k.padding // after the frame, where no window looks
	if k.at < w.frame {
		x = in[0]
	}
	column := k.lines.shift(x)
	taps := k.taps.shift(column)
	last := k.part == w.parts-1
	if k.words[0] = nil; !w.over() && k.at == w.y+w.span(0)*w.line+w.x+w.span(1)*w.parts {
		k.words[0] = k.read(taps)
		if last {
			w.next()
		}
	}
	if k.part++; last {
		k.part, k.at = 0, k.at+w.parts
	}
	return k.words[:]
}

// read returns the output word of the window whose taps are given. taps has them column by column, as the delays hold
// them; the word has them row by row.
func (k *shifter) read(taps []int64) dataflow.Word {
	w, n := &k.window, len(k.padding)
	k.written = k.written[:0]
	for i := range w.kernel[0] {
		for j := range w.kernel[1] {
			tap := taps[(j*w.kernel[0]+i)*n:][:n]
			if !w.inside(w.y+i*w.dilation[0]*w.line, w.x+j*w.dilation[1]*w.parts) {
				tap = k.padding
			}
			k.written = append(k.written, tap...)
		}
	}
	return k.written
}

// A delay holds the elements shifted in during the last rounds, where each of its places is used once per round. A
// place holds the elements of its last rounds, oldest first.
type delay struct {
	places [][]int64
	at     int
	all    []int64
}

// newDelay returns a delay with the given number of places and elements per place.
func newDelay(places, elements int) delay {
	d := delay{places: make([][]int64, places)}
	for i := range d.places {
		d.places[i] = make([]int64, elements)
	}
	return d
}

// shift takes the newest elements. It returns the elements that were shifted into the same place before, oldest
// first, followed by the newest. The result is valid until the next call.
func (d *delay) shift(newest []int64) []int64 {
	d.all = append(append(d.all[:0], d.places[d.at]...), newest...)
	copy(d.places[d.at], d.all[len(newest):])
	if d.at++; d.at == len(d.places) {
		d.at = 0
	}
	return d.all
}
