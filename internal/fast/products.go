package fast

import (
	"math"
	"slices"

	"hlsgen/internal/dataflow"
)

// Sums are computed in tiles of so many rows of inputs by so many outputs; band is the rows for which a block of
// weights stays in the cache.
const (
	rows  = 4
	lanes = 16
	deep  = 4 // neighbours in a row that one lane multiplies in a step
	band  = 32
)

// A product is products with constant weights at work.
type product struct {
	dataflow.Products
	in, out *stream
	length  int         // of a row
	parts   []segment   // of a row, from where it begins: where its elements lie
	offs    []int32     // by step of the inner loop: where its bytes lie, from where the row begins
	least   int         // of offs
	most    int         // of offs, and the bytes read there
	chunk   int         // steps after which a sum of 16 bits has to be put away
	each    bool        // every output has a channel of its own
	nibbles bool        // bytes are taken as two digits, as products would not fit 16 bits
	begins  []int32     // by vector and group: where the row lies; nil where it has to be put together
	segs    [][]segment // by vector and group: what it is put together of
	stride  int         // bytes of a row that is put together
	fill    piece       // of rows
	blocks  [][]block   // by group
}

// A block is lanes outputs.
type block struct {
	first, n int     // outputs
	weights  []int8  // [steps][lanes][deep]
	each     []int16 // [runs][lanes], where each output has a channel of its own
	finish   finish
}

// products adds a stage of products whose outputs go to a stream; false where none of its programs fits the ranges.
func (p *Program) products(from, to int, c dataflow.Products) bool {
	v := p.viewOf(from)
	in, out := &p.streams[v.root], &p.streams[to]
	top := in.reach.Count() - 1
	if in.width != narrow || out.width == wide {
		return false
	}
	largest := int64(1)
	for _, row := range c.Weights {
		l1 := int64(0)
		for _, w := range row {
			if w < math.MinInt8 || w > math.MaxInt8 {
				return false
			}
			largest = max(largest, max(w, -w))
			l1 += max(w, -w)
		}
		if l1 > math.MaxInt32/256 {
			return false
		}
	}
	k := &product{Products: c, in: in, out: out, length: c.Runs * c.Run, each: c.Run == 1 && c.Groups > 1 &&
		c.Groups == len(c.Weights) && c.Stride == c.Groups && largest*top*int64(c.Runs) <= math.MaxInt16}
	if k.each { // rows are whole vectors
		k.Groups, k.length = 1, c.Runs*c.Stride
	}
	if k.nibbles = !k.each && !p.kernels.bytes && 2*largest*top > math.MaxInt16; k.nibbles {
		top = 15
	}
	k.chunk = int(math.MaxInt16 / (2 * largest * max(1, top)))
	k.rows(v)
	if k.each {
		k.runs()
		k.join()
	} else {
		k.steps()
	}
	k.begins = p.shared(k.begins)
	k.pack()
	if k.begins == nil {
		room := band * k.stride
		if k.nibbles {
			room *= 2
		}
		p.scratch = max(p.scratch, room)
	}
	p.stages = append(p.stages, stage{[]int{v.root}, []int{to}, k.run})
	return true
}

// rows says where the elements of rows lie: in the same places from where each row begins, or in others, and then rows
// are put together.
func (k *product) rows(v *view) {
	vector := k.Runs * k.Stride
	alike := !k.nibbles
	for r := range k.Vectors {
		for g := range k.Groups {
			var list []segment
			if k.length == vector {
				list = v.segments(list, r*vector, vector)
			} else {
				for run := range k.Runs {
					list = v.segments(list, r*vector+run*k.Stride+g*k.Run, k.Run)
				}
			}
			k.segs, k.begins = append(k.segs, list), append(k.begins, list[0].at)
			alike = alike && alikeSegments(list, k.segs[0]) && (!k.each || !slices.ContainsFunc(list, k.cuts))
		}
	}
	k.parts = []segment{{0, int32(k.length)}}
	if alike {
		k.parts = k.segs[0]
		for i := range k.parts {
			k.parts[i].at -= k.begins[0]
		}
		k.segs = nil
		return
	}
	k.begins, k.stride = nil, (k.length+2*deep-1)/(2*deep)*(2*deep)+lanes
	k.fill = pieceOf(uint8(v.fill - k.in.lo()))
}

// alikeSegments reports whether both lists have no fill, and lie in the same places from where each begins.
func alikeSegments(a, b []segment) bool {
	return slices.EqualFunc(a, b, func(x, y segment) bool {
		return x.at >= 0 && y.at >= 0 && x.n == y.n && x.at-a[0].at == y.at-b[0].at
	})
}

// cuts reports whether a segment has a part of a run.
func (k *product) cuts(s segment) bool { return int(s.n)%k.Stride != 0 }

// steps cuts the parts of rows into steps, an even number.
func (k *product) steps() {
	for _, s := range k.parts {
		for at := int32(0); at < s.n; at += deep {
			k.offs = append(k.offs, s.at+at)
		}
	}
	if len(k.offs)%2 != 0 {
		k.offs = append(k.offs, k.offs[0])
	}
	k.least, k.most = int(slices.Min(k.offs)), int(slices.Max(k.offs))+deep
}

// runs has a step for each run of a row, which has an element for each output.
func (k *product) runs() {
	element := 0
	for _, s := range k.parts {
		for end := element + int(s.n); element < end; element += k.Stride {
			k.offs = append(k.offs, s.at)
			s.at += int32(k.Stride)
		}
	}
	k.least, k.most = int(slices.Min(k.offs)), int(slices.Max(k.offs))+(len(k.Weights)+lanes-1)/lanes*lanes
}

// join takes neighbours as one vector, where they lie side by side and lanes would be left over.
func (k *product) join() {
	channels := len(k.Weights)
	n := lanes / channels
	if n < 2 || k.begins == nil || k.Vectors%n != 0 {
		return
	}
	var begins []int32
	for r, at := range k.begins {
		if r%n == 0 {
			begins = append(begins, at)
		} else if at != k.begins[r-1]+int32(channels) {
			return
		}
	}
	k.begins, k.Vectors = begins, k.Vectors/n
	k.Weights = slices.Repeat(k.Weights, n)
	if len(k.Steps) > 1 {
		k.Steps = slices.Repeat(k.Steps, n)
	}
}

// pack puts weights into the order in which they are read, and makes of step functions what is done with sums.
func (k *product) pack() {
	each := len(k.Weights) / k.Groups
	for g := range k.Groups {
		var blocks []block
		for at := 0; at < each; at += lanes {
			b := block{first: g*each + at, n: min(lanes, each-at)}
			if k.each {
				b.each = make([]int16, len(k.offs)*lanes)
			} else {
				b.weights = make([]int8, len(k.offs)*lanes*deep)
			}
			for c := range b.n {
				row := k.Weights[b.first+c]
				if k.each {
					for i, w := range row {
						b.each[i*lanes+c] = int16(w)
					}
					continue
				}
				step := 0
				for _, s := range k.parts {
					for i, w := range row[:s.n] {
						b.weights[((step+i/deep)*lanes+c)*deep+i%deep] = int8(w)
					}
					row, step = row[s.n:], step+(int(s.n)+deep-1)/deep
				}
			}
			b.finish = k.finisher(b.first, b.n)
			blocks = append(blocks, b)
		}
		k.blocks = append(k.blocks, blocks)
	}
}

// run computes all rows of the frames.
func (k *product) run(w *Worker, frames int) {
	all := frames * k.Vectors
	kernels := w.p.kernels
	for g, blocks := range k.blocks {
		for first := 0; first < all; first += band {
			n := min(band, all-first)
			at := w.begins[:(n+rows-1)/rows*rows]
			x := k.gather(w, first, at[:n], g)
			for i := n; i < len(at); i++ {
				at[i] = at[n-1]
			}
			k.within(x, at)
			for b := range blocks {
				b := &blocks[b]
				if k.each {
					kernels.each(w.sums[:], x[b.first:], at, k.offs, b.each)
				} else {
					kernels.dot(w.sums[:], x, at, k.offs, b.weights, k.chunk)
				}
				if k.nibbles {
					k.high(w, x, at, b.weights)
				}
				k.put(w, b, first, w.sums[:n*lanes])
			}
		}
	}
}

// within has what is read of x be there.
func (k *product) within(x []uint8, at []int) {
	first, last := at[0], at[0]
	for _, from := range at {
		first, last = min(first, from), max(last, from)
	}
	_ = x[first+k.least : last+k.most]
}

// high adds 16 times the sums of the upper digits, which lie behind the lower ones.
func (k *product) high(w *Worker, x []uint8, at []int, weights []int8) {
	w.p.kernels.dot(w.upper[:], x[band*k.stride:], at, k.offs, weights, k.chunk)
	for i, v := range w.upper[:len(at)*lanes] {
		w.sums[i] += v << 4
	}
}

// gather gives the bytes of rows, and where each begins.
func (k *product) gather(w *Worker, first int, at []int, group int) []uint8 {
	frame, vector := first/k.Vectors, first%k.Vectors
	for i := range at {
		if k.begins != nil {
			at[i] = frame*k.in.size + int(k.begins[vector*k.Groups+group])
		} else {
			at[i] = i * k.stride
			k.together(w, i, w.bytes(k.in, frame), k.segs[vector*k.Groups+group])
		}
		if vector++; vector == k.Vectors {
			frame, vector = frame+1, 0
		}
	}
	if k.begins != nil {
		return w.slots[k.in.slot]
	}
	return w.scratch
}

// together puts row i of a band together.
func (k *product) together(w *Worker, i int, x []uint8, list []segment) {
	row := w.scratch[i*k.stride:]
	copyBytes(row, x, list, &k.fill)
	if k.nibbles {
		row, upper := row[:k.length], w.scratch[(band+i)*k.stride:]
		for j, v := range row {
			upper[j], row[j] = v>>4, v&15
		}
	}
}

// put makes outputs of the sums of rows.
func (k *product) put(w *Worker, b *block, first int, sums []int32) {
	width := len(k.Weights)
	at := first*width + b.first
	if k.out.width == medium {
		b.finish.ints(w.ints(k.out, 0)[at:], width, b.n, sums)
	} else {
		b.finish.bytes(w.p.kernels, w.slots[k.out.slot][at:], width, b.n, sums)
	}
}
