package fast

import "math"

// A form is a way in which kernels multiply rows with weights.
type form int

const (
	four   form = iota // a step multiplies four adjacent elements, for 16 outputs
	own                // every output has a channel of its own
	words              // as four, for products of bytes that are too large for it
	along              // as words, with 16 adjacent elements per step, for four outputs
	looked             // a step looks up the sum of two products, twice, for 64 outputs
)

// deep returns the number of adjacent elements of a row that a lane multiplies in a step.
func (f form) deep() int {
	if f == along {
		return 16
	}
	return deep
}

// lanes returns the number of outputs that a block of weights computes.
func (f form) lanes() int {
	switch f {
	case along:
		return 4
	case looked:
		return 4 * lanes
	}
	return lanes
}

// chunk returns the number of steps over which a sum fits into 16 bits, or into 8 bits if pairs are looked up. It
// allows for any weights of magnitudes up to largest and bytes up to top. For 16 bits the number is even.
func (f form) chunk(largest, top int64) int {
	if f == looked {
		return int(math.MaxInt8 / (4 * largest * top))
	}
	return int(math.MaxInt16 / (4 * largest * top) * 2)
}

// A weighing holds the limits of all weights of a layer.
type weighing struct {
	least, most, largest int64 // including 0; the largest magnitude is at least 1
	sum                  int64 // greatest sum of magnitudes among all outputs
}

// weigh returns the limits of the weights, a row per output. ok is false if a weight does not fit into a byte or a sum
// into 32 bits.
func weigh(weights [][]int64) (r weighing, ok bool) {
	for _, row := range weights {
		sum := int64(0)
		for _, w := range row {
			r.least, r.most = min(r.least, w), max(r.most, w)
			sum += max(w, -w)
		}
		r.sum = max(r.sum, sum)
	}
	r.largest = max(1, r.most, -r.least)
	return r, r.least >= math.MinInt8 && r.most <= math.MaxInt8 && r.sum <= math.MaxInt32/256
}

// formOf returns the form in which a layer with weights like r and bytes up to top is computed.
func (p *Executable) formOf(k *product, r weighing, top int64) form {
	each := len(k.Weights) / k.Groups
	switch {
	case k.Run == 1 && k.Groups > 1 && each == 1 && k.Stride == k.Groups &&
		r.largest*top*int64(k.Runs) <= math.MaxInt16:
		return own
	case p.kernels.looked != nil && top < 4 && r.most-r.least < 4 && r.sum*top <= math.MaxInt16 && each > 2*lanes:
		return looked
	case p.kernels.bytes || 4*r.largest*top <= math.MaxInt16:
		return four
	}
	return words
}

// refine sets k.form to another form if the present one cannot work with rows that must be assembled, or if the other
// takes fewer instructions.
func (k *product) refine() {
	each := len(k.Weights) / k.Groups
	// vector instructions per row: those of the steps, and those that add adjacent sums
	inWords := (each + words.lanes() - 1) / words.lanes() * 10 * k.stepsOf(words)
	alongIt := (each + along.lanes() - 1) / along.lanes() * (9*k.stepsOf(along) + 8)
	switch {
	case k.form == looked && k.begins == nil:
		k.form = four
	case k.form == words && alongIt < inWords:
		k.form = along
	}
}

// stepsOf returns the number of steps that the form f takes for a row.
func (k *product) stepsOf(f form) (n int) {
	for _, s := range k.parts {
		n += (int(s.n) + f.deep() - 1) / f.deep()
	}
	return n
}

// fill stores the weights of a block in the order in which the kernel reads them.
func (k *product) fill(b *block) {
	switch k.form {
	case own:
		b.words = make([]int16, len(k.offs)*lanes)
		for c := range b.n {
			for i, w := range k.Weights[b.first+c] {
				b.words[i*lanes+c] = int16(w)
			}
		}
	case four:
		b.ints = make([]int8, len(k.offs)*lanes*deep)
		k.each(b, func(c, step, i int, w int64) { b.ints[(step*lanes+c)*deep+i] = int8(w) })
	case words: // the even elements of a step, then the odd ones
		b.words = make([]int16, len(k.offs)*lanes*deep)
		k.each(b, func(c, step, i int, w int64) { b.words[((step*2+i%2)*lanes+c)*2+i/2] = int16(w) })
	case along:
		b.words = make([]int16, len(k.offs)*along.lanes()*along.deep())
		k.each(b, func(c, step, i int, w int64) { b.words[(step*along.lanes()+c)*along.deep()+i] = int16(w) })
	case looked:
		b.bytes = make([]uint8, len(k.offs)*2*looked.lanes())
		for i := range b.bytes {
			b.bytes[i] = k.pairs.index(0, 0)
		}
		k.each(b, func(c, step, i int, w int64) {
			pair := &b.bytes[(step*2+i/2)*looked.lanes()+c]
			*pair += uint8(w) << (2 * (i % 2))
		})
	}
}

// each calls of for all weights of a block, with the output c, the step, the element i of the step and the weight.
func (k *product) each(b *block, of func(c, step, i int, w int64)) {
	deep := k.form.deep()
	for c := range b.n {
		row, step := k.Weights[b.first+c], 0
		for _, s := range k.parts {
			for i, w := range row[:s.n] {
				of(c, step+i/deep, i%deep, w)
			}
			row, step = row[s.n:], step+(int(s.n)+deep-1)/deep
		}
	}
}

// chunkOf returns the number of steps after which a block must move its narrow sums to wider ones, for bytes up to top.
// The number is at least least, and greater if the block's weights allow it. It is 0 if not even one step fits, as for
// kernels without narrow sums.
func (k *product) chunkOf(b *block, least int, top int64) int {
	steps, of, most := len(k.offs), 1, int64(math.MaxInt8) // narrow sums per lane
	if k.form == four {
		of, most = 2, math.MaxInt16
	}
	if k.form != four && k.form != looked || least == 0 || least >= steps {
		return least
	}
	// by sum and number of steps: the sums of all negative and of all positive products
	ends := make([][2]int64, k.form.lanes()*of*(steps+1))
	k.each(b, func(c, step, i int, w int64) {
		end := &ends[(c*of+i*of/deep)*(steps+1)+step+1]
		end[0], end[1] = end[0]+max(-w, 0)*top, end[1]+max(w, 0)*top
	})
	for i := range ends {
		if i%(steps+1) > 0 {
			ends[i][0], ends[i][1] = ends[i][0]+ends[i-1][0], ends[i][1]+ends[i-1][1]
		}
	}
	fit := func(n int) bool {
		for first := 0; first < len(ends); first += steps + 1 {
			for from := 0; from < steps; from += n {
				a, z := ends[first+from], ends[first+min(from+n, steps)]
				if z[0]-a[0] > most || z[1]-a[1] > most {
					return false
				}
			}
		}
		return true
	}
	for parts := 1; ; parts++ {
		n := (steps + parts - 1) / parts
		if n += n % of; n <= least {
			return least
		}
		if fit(n) {
			return n
		}
	}
}

// multiply computes the sums of a block for the rows that begin at the elements at of x.
func (k *product) multiply(w *Worker, b *block, x []uint8, at []int) {
	kernels := w.p.kernels
	switch k.form {
	case own:
		kernels.each(w.sums, x[b.first:], at, k.offs, b.words)
	case four:
		kernels.dot(w.sums, x, at, k.offs, b.ints, b.chunk)
	case words:
		kernels.words(w.sums, x, at, k.offs, b.words)
	case along:
		kernels.along(w.sums, x, at, k.offs, b.words)
	case looked:
		kernels.looked(w.sums, x, at, k.offs, b.bytes, k.pairs, b.chunk)
	}
}

// A pairTable holds sums of two products. A code stands for two bytes below 4, and an index for two weights.
type pairTable struct {
	sums  [16 * 16]int8 // [code][index]
	least int64         // least weight
}

// pairTableOf returns the table for weights from least to least+3.
func pairTableOf(least int64) *pairTable {
	t := &pairTable{least: least}
	for i := range t.sums {
		code, index := i/16, int64(i%16)
		t.sums[i] = int8(int64(code%4)*(index%4+least) + int64(code/4)*(index/4+least))
	}
	return t
}

// index returns the index of two adjacent weights in the table.
func (t *pairTable) index(first, second int64) uint8 {
	return uint8(first - t.least + (second-t.least)<<2)
}

// encode sets w.codes to the codes of a stream's frames, for kernels that look up products.
func (w *Worker) encode(s *stream, frames int) {
	x := w.slots[s.slot][:frames*s.size+slack]
	w.p.kernels.encode(w.codes[:len(x)-1], x)
}
