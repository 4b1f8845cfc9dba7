package quantise

import (
	"math"
	"slices"

	"hlsgen/frontend/graph"
)

// An evening is a place whose values only weights multiply. So channel c may be quantised in a scale of its own, s[c]
// times that of the place: what reads it has its weights times s[c], and gives what it gave (cross-layer equalisation
// of M. Nagel and others, arXiv 1906.04721; by the samples, as SmoothQuant, arXiv 2211.10438). Between layers that is
// free: the thresholds of a layer are per channel anyway.
type evening struct {
	axis    int // of channels
	readers []*weight
	by      []values // per channel
}

// evenings finds the places whose channels may have scales of their own.
func (n *Network) evenings() {
	s := n.scopes[0]
	readers := map[string][]*weight{} // by tensor; nil in the list is one that no weights multiply
	for _, it := range s.items {
		switch {
		case it.spot != nil:
			readers[it.spot.from] = append(readers[it.spot.from], nil)
		default:
			for slot, in := range it.node.Inputs {
				readers[in] = append(readers[in], n.reading(it, slot))
			}
		}
	}
	for _, o := range s.g.Outputs {
		readers[o.Name] = append(readers[o.Name], nil)
	}
	for _, p := range n.spots {
		shape := s.prog.Known[p.from].Shape
		if p.scope != s || p.stays || s.raw[p.given] || len(shape) < 2 || len(readers[p.to]) == 0 {
			continue
		}
		e := &evening{axis: -1, readers: readers[p.to]}
		for _, w := range e.readers {
			axis := w.dataAxis(len(shape))
			if axis < 0 || e.axis >= 0 && axis != e.axis {
				e.axis = -1
				break
			}
			e.axis = axis
		}
		if e.axis >= 0 {
			e.by = make([]values, shape[e.axis])
			p.even = e
		}
	}
}

// OneScale gives up scales of channels, so that Run notes no values by channel.
func (n *Network) OneScale() {
	for _, p := range n.spots {
		p.even = nil
	}
}

// reading is the weights that multiply what a node reads at a slot; nil where none do, or where they stay.
func (n *Network) reading(it *item, slot int) *weight {
	for _, w := range n.weights {
		if w.node == it.origin() && w.slot != slot && !w.stays && slot+w.slot == 1 {
			return w
		}
	}
	return nil
}

// dataAxis is the axis of the channels that weights multiply, of data of so many axes; -1 where it is not one's.
func (w *weight) dataAxis(rank int) int {
	switch {
	case w == nil || w.slot != 1 || w.axis < 0 || w.node.Int("transA", 0) != 0 || w.scope.loop != nil:
		return -1
	case len(w.tensor.Shape) > 2:
		return 1
	}
	return rank - 1
}

// add notes the values of a run.
func (e *evening) add(shape []int, data []float64) {
	inner := graph.Size(shape[e.axis+1:])
	one := make([]float64, 0, len(data)/len(e.by))
	for c := range e.by {
		one = one[:0]
		for i := c * inner; i < len(data); i += len(e.by) * inner {
			one = append(one, data[i:i+inner]...)
		}
		e.by[c].most = max(leastKept, maxKept/len(e.by))
		e.by[c].add(one)
	}
}

// leastKept are the values of a channel that are kept at least.
const leastKept = 64

// quarters are the weights of the ranges of activations in the scales that are tried.
var quarters = []int{1, 2, 3, 4}

// scales returns a scale for each channel: of those that are tried, the ones with which the layers behind have the
// least square error by a recipe. It returns nil where one scale for all channels is as good.
func (e *evening) scales(r Recipe) []float64 {
	x, w := e.largest()
	best, least := []float64(nil), e.error(r, nil)
	for _, q := range quarters {
		s := make([]float64, len(x))
		for c := range s {
			s[c] = 1
			if x[c] > 0 && w[c] > 0 {
				s[c] = root(x[c], q) / root(w[c], 4-q)
			}
		}
		top := slices.Max(s)
		for c := range s { // what the file holds is 1/s
			s[c] = 1 / float64(float32(top/s[c]))
		}
		if err := e.error(r, s); err < least {
			best, least = s, err
		}
	}
	return best
}

// root is x to the power of quarters.
func root(x float64, quarters int) float64 {
	half := math.Sqrt(x)
	quarter, y := math.Sqrt(half), 1.0
	for range quarters {
		y *= quarter
	}
	return y
}

// largest are the largest magnitudes of each channel: of values, and of weights by the largest of their output channel.
func (e *evening) largest() (x, w []float64) {
	x, w = make([]float64, len(e.by)), make([]float64, len(e.by))
	for c := range e.by {
		x[c] = max(-e.by[c].min, e.by[c].max)
	}
	for _, reader := range e.readers {
		rows := reader.rows()
		for _, row := range rows {
			top := 0.0
			for _, i := range row {
				top = max(top, math.Abs(reader.tensor.At(i)))
			}
			if top == 0 {
				continue
			}
			for _, i := range row {
				c := reader.reduced(i, len(rows), len(e.by))
				w[c] = max(w[c], math.Abs(reader.tensor.At(i))/top)
			}
		}
	}
	return x, w
}

// rows are the elements of each output channel.
func (w *weight) rows() [][]int {
	shaped, axis := w.shaped()
	channels, inner := shaped.Shape[axis], graph.Size(shaped.Shape[axis+1:])
	rows := make([][]int, channels)
	for i := range shaped.Len() {
		c := i / inner % channels
		rows[c] = append(rows[c], i)
	}
	return rows
}

// A moment is what is known of a number: its mean, and how far it is from that, squared, in the mean.
type moment struct{ mean, square float64 }

func momentOf(list []float64) (m moment) {
	n := float64(max(1, len(list)))
	for _, v := range list {
		m.mean += v / n
	}
	for _, v := range list {
		m.square += float64((v-m.mean)*(v-m.mean)) / n
	}
	return m
}

// error is the mean square error of the sums behind. What is off in the mean adds up; the rest is taken for numbers
// that do not depend on each other.
func (e *evening) error(r Recipe, s []float64) (sum float64) {
	code, scale := e.quantiser(r, s)
	values, lost := make([]moment, len(e.by)), make([]moment, len(e.by)) // lost is what rounding takes off
	for c := range e.by {
		by := 1.0
		if s != nil {
			by = s[c]
		}
		off := make([]float64, len(e.by[c].kept))
		for i, v := range e.by[c].kept {
			off[i] = float64(float64(code.nearest(v/by/scale)*scale)*by) - v
		}
		values[c], lost[c] = momentOf(e.by[c].kept), momentOf(off)
	}
	for _, w := range e.readers {
		rows := w.rows()
		for _, row := range rows {
			list := make([]float64, len(row))
			for k, i := range row {
				list[k] = w.tensor.At(i)
				if s != nil {
					list[k] *= s[w.reduced(i, len(rows), len(e.by))]
				}
			}
			narrow := r.Weights.of(true, true)
			step, mean := r.Scales.scale(narrow, list, w.grid), 0.0
			for k, i := range row {
				c, v := w.reduced(i, len(rows), len(e.by)), w.tensor.At(i)
				d := float64(narrow.nearest(list[k]/step)*step) - list[k]
				if s != nil {
					d /= s[c]
				}
				if mean += float64(v * lost[c].mean); !r.CorrectBias {
					mean += float64(d * values[c].mean)
				}
				sum += float64(float64(v*v)*lost[c].square) + float64(float64(d*d)*values[c].square)
			}
			sum += float64(mean * mean)
		}
	}
	return sum
}

// quantiser is the code and the scale of values, each by the scale of its channel.
func (e *evening) quantiser(r Recipe, s []float64) (code, float64) {
	var all []float64
	least, most := 0.0, 0.0
	for c := range e.by {
		by := 1.0
		if s != nil {
			by = s[c]
		}
		for _, v := range e.by[c].kept {
			all = append(all, v/by)
		}
		least, most = min(least, e.by[c].min/by), max(most, e.by[c].max/by)
	}
	all = append(all, least, most)
	return r.Scales.quantiser(r.Activations, all, least < 0, 0)
}

// evened returns the node in front of a place's quantiser that divides each channel by its scale.
func (p *spot) evened(g *graph.Graph, s []float64) *graph.Node {
	taken := p.scope.names
	shape := slices.Repeat([]int{1}, len(p.scope.prog.Known[p.from].Shape)-p.even.axis)
	shape[0] = len(s)
	by := taken.Fresh(p.to, "evening")
	t := &graph.Tensor{DType: graph.Float32, Shape: shape}
	for _, v := range s {
		t.F = append(t.F, float64(float32(1/v)))
	}
	g.Init[by] = t
	return &graph.Node{Index: p.index(), Name: p.label, Op: graph.Mul, Inputs: []string{p.from, by},
		Outputs: []string{taken.Fresh(p.to, "evened")}}
}
