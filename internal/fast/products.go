package fast

import (
	"math"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
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
	steps   int         // of the inner loop: a row's bytes over deep, rounded up to an even number
	stride  int         // bytes of a row in scratch
	chunk   int         // steps after which a sum of 16 bits has to be put away
	each    bool        // every output has a channel of its own
	nibbles bool        // bytes are taken as two digits, as products would not fit 16 bits
	segs    [][]segment // by vector and group; nil where every row is one segment
	direct  []int32     // by vector and group: where the row lies; nil where it has to be put together
	blocks  [][]block   // by group
	fill    piece       // of rows
}

// A block is lanes outputs.
type block struct {
	first, n int     // outputs
	weights  []int8  // [steps][lanes][deep]
	each     []int16 // [runs][lanes], where each output has a channel of its own
	finish   finish
}

// products adds a stage for a node; false where none of its programs fits the ranges.
func (p *Program) products(n *dataflow.Node, c dataflow.Products) bool {
	v := p.viewOf(n.In[0])
	in, out := &p.streams[v.root], &p.streams[n.Out[0]]
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
	k.steps = (k.length + 2*deep - 1) / (2 * deep) * 2
	k.stride = (k.steps*deep + 31) / 32 * 32
	k.chunk = int(math.MaxInt16 / (2 * largest * max(1, top)))
	k.rows(v)
	k.pack()
	room := band * k.stride
	if k.nibbles {
		room *= 2
	}
	p.scratch = max(p.scratch, room)
	p.stages = append(p.stages, stage{[]int{v.root}, []int{n.Out[0]}, k.run})
	return true
}

// rows says where the elements of rows lie.
func (k *product) rows(v *view) {
	vector := k.Runs * k.Stride
	direct := !k.nibbles
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
			direct = direct && len(list) == 1 && list[0].at >= 0
			k.segs = append(k.segs, list)
		}
	}
	if direct {
		for _, list := range k.segs {
			k.direct = append(k.direct, list[0].at)
		}
		k.segs = nil
	}
	k.fill = pieceOf(uint8(v.fill - k.in.lo()))
}

// pack puts weights into the order in which they are read, and makes of step functions what is done with sums.
func (k *product) pack() {
	each := len(k.Weights) / k.Groups
	for g := range k.Groups {
		var blocks []block
		for at := 0; at < each; at += lanes {
			b := block{first: g*each + at, n: min(lanes, each-at)}
			if k.each {
				b.each = make([]int16, k.Runs*lanes)
			} else {
				b.weights = make([]int8, k.steps*lanes*deep)
			}
			for c := range b.n {
				for i, w := range k.Weights[b.first+c] {
					if k.each {
						b.each[i*lanes+c] = int16(w)
					} else {
						b.weights[(i/deep*lanes+c)*deep+i%deep] = int8(w)
					}
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
	at, acc, kernels := &w.begins, &w.sums, w.p.kernels
	for g, blocks := range k.blocks {
		for first := 0; first < all; first += band {
			n := min(band, all-first)
			x := k.gather(w, first, n, g, at)
			for i := n; i%rows != 0; i++ {
				at[i] = at[n-1]
			}
			for b := range blocks {
				b := &blocks[b]
				for r := 0; r < n; r += rows {
					w.here = [rows]int(at[r:])
					if k.each {
						for i, at := range w.here {
							kernels.each((*[lanes]int32)(acc[i*lanes:]), x[at+b.first:], k.Stride, b.each)
						}
					} else {
						kernels.dot(acc, x, &w.here, b.weights, k.steps, k.chunk)
					}
					if k.nibbles {
						k.high(w, x, b.weights)
					}
					k.put(w, b, first+r, min(rows, n-r))
				}
			}
		}
	}
}

// high adds 16 times the sums of the upper digits, which lie behind the lower ones.
func (k *product) high(w *Worker, x []uint8, weights []int8) {
	for i, at := range w.here {
		w.above[i] = at + band*k.stride
	}
	w.p.kernels.dot(&w.upper, x, &w.above, weights, k.steps, k.chunk)
	for i, v := range w.upper {
		w.sums[i] += v << 4
	}
}

// gather gives the bytes of rows, and where each begins.
func (k *product) gather(w *Worker, first, n, group int, at *[band]int) []uint8 {
	if k.direct != nil {
		for i := range n {
			r := first + i
			at[i] = r/k.Vectors*k.in.size + int(k.direct[r%k.Vectors*k.Groups+group])
		}
		return w.slots[k.in.slot]
	}
	for i := range n {
		r := first + i
		at[i] = i * k.stride
		copyBytes(w.scratch[at[i]:], w.bytes(k.in, r/k.Vectors), k.segs[r%k.Vectors*k.Groups+group], &k.fill)
		if k.nibbles {
			row, upper := w.scratch[at[i]:][:k.length], w.scratch[(band+i)*k.stride:]
			for j, v := range row {
				upper[j], row[j] = v>>4, v&15
			}
		}
	}
	return w.scratch
}

// put makes outputs of the sums of rows.
func (k *product) put(w *Worker, b *block, first, n int) {
	if k.out.width == medium {
		for i := range n {
			b.finish.ints(w.ints(k.out, 0)[(first+i)*len(k.Weights)+b.first:][:b.n], w.sums[i*lanes:])
		}
		return
	}
	b.finish.bytes(w, b.n)
	for i := range n {
		y := w.slots[k.out.slot][(first+i)*len(k.Weights)+b.first:]
		if b.n == lanes {
			*(*[lanes]uint8)(y) = [lanes]uint8(w.outputs[i*lanes:])
			continue
		}
		copy(y[:b.n], w.outputs[i*lanes:])
	}
}

// A finish makes outputs of the sums of a block, which are those of products of bytes, without what lo of the bytes
// adds.
type finish struct {
	// Where counted is not nil, an output is a byte: base and the number of thresholds that are less than the sum.
	counted []int32 // [thresholds][lanes]
	base    [lanes]uint8
	// Else it is a function of the sum with add, by steps or as it is.
	lo    int64 // of an output's byte
	add   [lanes]int64
	steps []num.Step // by lane; nil without
	table [][]uint8  // by lane: the output's byte, from the least sum on; nil where the sums are too many
	least [lanes]int32
}

// Thresholds that are counted at most, and sums of a lane that have a table.
const (
	countedSteps = 24
	tableSums    = 1 << 12
)

// finisher is what is done with the sums of n outputs.
func (k *product) finisher(first, n int) finish {
	f := finish{lo: k.out.lo()}
	var reach [lanes]num.Range // of sums
	for c := range n {
		top := k.in.reach.Count() - 1
		for _, w := range k.Weights[first+c] {
			f.add[c] += w * k.in.lo()
			reach[c].Lo += min(0, w*top)
			reach[c].Hi += max(0, w*top)
		}
		f.least[c] = int32(reach[c].Lo)
	}
	if len(k.Steps) == 0 {
		return f
	}
	counts, tables := k.out.width == narrow, k.out.width == narrow
	for c := range n {
		s := k.Steps[min(first+c, len(k.Steps)-1)]
		s = within(s.Over(num.Range{Lo: reach[c].Lo + f.add[c], Hi: reach[c].Hi + f.add[c]}), k.out.reach)
		f.steps = append(f.steps, s)
		counts = counts && s.NonDecreasing() && s.Value[len(s.At)]-s.Value[0] <= countedSteps
		tables = tables && reach[c].Count() <= tableSums
	}
	if counts {
		f.count()
	} else if tables {
		for c := range n {
			t := make([]uint8, reach[c].Count())
			for i := range t {
				t[i] = uint8(f.of(c, f.least[c]+int32(i)) - f.lo)
			}
			f.table = append(f.table, t)
		}
	}
	return f
}

// within has values that do not occur, because they are not in r, be the nearest that do.
func within(s num.Step, r num.Range) num.Step {
	o := num.Step{Value: []int64{min(max(s.Value[0], r.Lo), r.Hi)}}
	for i, at := range s.At {
		if v := min(max(s.Value[i+1], r.Lo), r.Hi); v != o.Value[len(o.At)] {
			o.At, o.Value = append(o.At, at), append(o.Value, v)
		}
	}
	return o
}

// count has the outputs be counted.
func (f *finish) count() {
	most := int64(0)
	for _, s := range f.steps {
		most = max(most, s.Value[len(s.At)]-s.Value[0])
	}
	f.counted = make([]int32, most*lanes)
	for i := range f.counted {
		f.counted[i] = math.MaxInt32
	}
	for c, s := range f.steps {
		f.base[c] = uint8(s.Value[0] - f.lo)
		i := c
		for j, at := range s.At {
			for range s.Value[j+1] - s.Value[j] {
				f.counted[i] = int32(at - f.add[c] - 1)
				i += lanes
			}
		}
	}
}

// of is the output of lane c for a sum.
func (f *finish) of(c int, sum int32) int64 {
	v := int64(sum) + f.add[c]
	if f.steps != nil {
		v = f.steps[c].Apply(v)
	}
	return v
}

// bytes makes outputs of the first n lanes.
func (f *finish) bytes(w *Worker, n int) {
	y, acc := &w.outputs, &w.sums
	if f.counted != nil {
		w.p.kernels.count(y, acc, f.counted, &f.base)
		return
	}
	for r := 0; r < len(acc); r += lanes {
		for c := range n {
			if f.table != nil {
				y[r+c] = f.table[c][acc[r+c]-f.least[c]]
			} else {
				y[r+c] = uint8(f.of(c, acc[r+c]) - f.lo)
			}
		}
	}
}

// ints is the outputs of a row.
func (f *finish) ints(y, acc []int32) {
	for c := range y {
		y[c] = int32(f.of(c, acc[c]))
	}
}
