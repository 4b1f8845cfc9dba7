package fast

import (
	"slices"

	"hlsgen/internal/dataflow"
)

// Sums are computed in tiles of rows rows of inputs by lanes outputs. A band is the number of rows for which a
// block of weights stays in the cache.
const (
	rows  = 4
	lanes = 16
	deep  = 4 // adjacent elements of a row that one lane multiplies in a step
	band  = 32
)

// A product is a stage that computes sums of products with constant weights.
type product struct {
	dataflow.ProductsComputation
	in, out *stream
	length  int         // elements of a row
	parts   []segment   // positions of a row's elements, from where the row begins
	offs    []int32     // by step of the inner loop: position of its bytes, from where the row begins
	least   int         // position of the first byte that is read, in a frame or in assembled rows
	most    int         // position behind the last byte that is read
	form    form        // way in which rows are multiplied
	less    int64       // number subtracted from bytes
	pairs   *pairTable  // sums of two products, if they are looked up
	begins  []int32     // by vector and group: position of the row; nil if rows must be assembled
	segs    [][]segment // by vector and group: segments from which the row is assembled
	stride  int         // bytes of an assembled row
	blank   piece       // fill of assembled rows
	blocks  [][]block   // by group
}

// A block is a set of outputs that kernels compute together, with their weights.
type block struct {
	first, n int     // outputs
	bytes    []uint8 // weights, in one of these three forms
	ints     []int8
	words    []int16
	chunk    int      // steps after which narrow sums are moved to wider ones
	finish   []finish // for each group of lanes outputs
}

// products adds a stage of the products c of stream from, whose outputs go to stream to. It returns false if no kernel
// supports the ranges.
func (p *Executable) products(from, to int, c dataflow.ProductsComputation) bool {
	v := p.viewOf(from)
	in, out := &p.streams[v.root], &p.streams[to]
	top := in.reach.ValueCount() - 1
	if in.width != narrow || out.width == wide {
		return false
	}
	r, ok := weigh(c.Weights)
	if !ok {
		return false
	}
	k := &product{ProductsComputation: c, in: in, out: out, length: c.Runs * c.Run}
	k.form = p.formOf(k, r, top)
	if k.form == own { // rows are whole vectors
		k.Groups, k.length = 1, c.Runs*c.Stride
	}
	k.rows(v)
	k.refine()
	if k.form == four {
		k.less = p.kernels.less
	}
	if k.form == own {
		k.runs()
		k.join()
	} else {
		k.steps()
	}
	k.begins = p.shared(k.begins)
	k.pack(r, max(1, top))
	if k.begins == nil {
		p.scratch = max(p.scratch, band*k.stride)
	}
	if k.form == looked {
		p.codes = max(p.codes, in.size)
	}
	p.stages = append(p.stages, stage{[]int{v.root}, []int{to}, k.run})
	return true
}

// rows sets where the elements of all rows are in the view v. If they are not the same relative to each row's
// beginning, rows must be assembled.
func (k *product) rows(v *view) {
	vector := k.Runs * k.Stride
	alike := true
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
			alike = alike && alikeSegments(list, k.segs[0]) && (k.form != own || !slices.ContainsFunc(list, k.cuts))
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
	k.blank = pieceOf(uint8(v.fill - k.in.lo()))
}

// alikeSegments reports whether neither list has fill and both have the same layout relative to their beginnings.
func alikeSegments(a, b []segment) bool {
	return slices.EqualFunc(a, b, func(x, y segment) bool {
		return x.at >= 0 && y.at >= 0 && x.n == y.n && x.at-a[0].at == y.at-b[0].at
	})
}

// cuts reports whether the segment s contains an incomplete run.
func (k *product) cuts(s segment) bool { return int(s.n)%k.Stride != 0 }

// steps divides rows into the steps in which a kernel multiplies them. Their number is even if the kernel processes two
// at a time.
func (k *product) steps() {
	deep := k.form.deep()
	for _, s := range k.parts {
		for at := int32(0); at < s.n; at += int32(deep) {
			k.offs = append(k.offs, s.at+at)
		}
	}
	if k.form == four && len(k.offs)%2 != 0 {
		k.offs = append(k.offs, k.offs[0])
	}
	k.reads(deep)
}

// runs makes one step for each run of a row. A run has one element for each output.
func (k *product) runs() {
	element := 0
	for _, s := range k.parts {
		for end := element + int(s.n); element < end; element += k.Stride {
			k.offs = append(k.offs, s.at)
			s.at += int32(k.Stride)
		}
	}
	k.reads((len(k.Weights) + lanes - 1) / lanes * lanes)
}

// reads sets the range of bytes that are read, with n bytes from the offset of each step on.
func (k *product) reads(n int) {
	k.least, k.most = int(slices.Min(k.offs)), int(slices.Max(k.offs))+n
	if k.begins == nil {
		k.most += (band - 1) * k.stride
		return
	}
	k.least += int(slices.Min(k.begins))
	k.most += int(slices.Max(k.begins))
}

// join treats adjacent vectors as one vector, if they are contiguous and lanes would otherwise be unused.
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

// pack stores weights in the order in which kernels read them, and prepares the step functions of sums, for bytes up to
// top.
func (k *product) pack(r weighing, top int64) {
	if k.form == looked {
		k.pairs = pairTableOf(r.least)
	}
	each := len(k.Weights) / k.Groups
	for g := range k.Groups {
		var blocks []block
		for at := 0; at < each; at += k.form.lanes() {
			b := block{first: g*each + at, n: min(k.form.lanes(), each-at)}
			k.fill(&b)
			b.chunk = k.chunkOf(&b, k.form.chunk(r.largest, top), top)
			for c := 0; c < b.n; c += lanes {
				b.finish = append(b.finish, k.finisher(b.first+c, min(lanes, b.n-c)))
			}
			blocks = append(blocks, b)
		}
		k.blocks = append(k.blocks, blocks)
	}
}

// run computes all rows of the frames.
func (k *product) run(w *Worker, frames int) {
	all, x, last := frames*k.Vectors, w.scratch, 0
	if k.begins != nil {
		x, last = w.slots[k.in.slot], (frames-1)*k.in.size
	}
	if k.form == looked {
		w.encode(k.in, frames)
		x = w.codes
	}
	_ = x[k.least : last+k.most] // check that all bytes to read exist
	for g, blocks := range k.blocks {
		for first := 0; first < all; first += band {
			n := min(band, all-first)
			at := w.begins[:(n+rows-1)/rows*rows]
			k.gather(w, first, at[:n], g)
			for i := n; i < len(at); i++ {
				at[i] = at[n-1]
			}
			for b := range blocks {
				k.multiply(w, &blocks[b], x, at)
				k.put(w, &blocks[b], first, n)
			}
		}
	}
}

// gather sets at to the positions at which the rows of a group begin, from row first on. It assembles rows that are not
// contiguous.
func (k *product) gather(w *Worker, first int, at []int, group int) {
	frame, row := first/k.Vectors, first%k.Vectors*k.Groups+group
	from := frame * k.in.size
	for i := range at {
		if k.begins != nil {
			at[i] = from + int(k.begins[row])
		} else {
			at[i] = i * k.stride
			copyBytes(w.scratch[at[i]:], w.slots[k.in.slot][from:], k.segs[row], &k.blank)
		}
		if row += k.Groups; row >= k.Vectors*k.Groups {
			row, from = group, from+k.in.size
		}
	}
}

// put stores the outputs for the sums of n rows from row first on.
func (k *product) put(w *Worker, b *block, first, n int) {
	width := len(k.Weights)
	for i := range b.finish {
		at, of := first*width+b.first+i*lanes, min(lanes, b.n-i*lanes)
		sums := w.sums[i*band*lanes:][:n*lanes]
		if k.out.width == medium {
			b.finish[i].ints(w.ints(k.out, 0)[at:], width, of, sums)
		} else {
			b.finish[i].bytes(w.p.kernels, w.slots[k.out.slot][at:], width, of, sums)
		}
	}
}
