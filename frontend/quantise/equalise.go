package quantise

import (
	"math"
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/operators"
)

// An equalisation gives each channel c of a place its own scale, s[c] times the place's, if weights alone multiply its
// values. The readers' weights are multiplied by s[c] in turn (M. Nagel et al., arXiv 1906.04721, and SmoothQuant,
// arXiv 2211.10438). Between layers it costs nothing.
type equalisation struct {
	axis    int // the axis of channels
	readers []*weight
	by      []values // by channel
}

// findEqualisations marks the places whose channels may have their own scales, because only weights multiply their
// values.
func (n *QuantisableNetwork) findEqualisations() {
	s := n.scopes[0]
	readers := map[string][]*weight{} // by tensor; a nil entry stands for a reader without weights
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
		e := &equalisation{axis: -1, readers: readers[p.to]}
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
			p.equalised = e
		}
	}
}

// SkipRecordingByChannel gives up the equalisation of activations, so that CalibrationRunner.RunSample records no
// values by channel.
func (n *QuantisableNetwork) SkipRecordingByChannel() {
	for _, p := range n.spots {
		p.equalised = nil
	}
}

// reading returns the weights by which a node multiplies its input at a slot. It returns nil if there are none, or if
// they stay unchanged.
func (n *QuantisableNetwork) reading(it *item, slot int) *weight {
	for _, w := range n.weights {
		if w.node == it.origin() && w.slot != slot && !w.stays && slot+w.slot == 1 {
			return w
		}
	}
	return nil
}

// dataAxis returns the axis of the channels that weights multiply, for data with rank axes. It returns -1 if they do
// not lie along one axis.
func (w *weight) dataAxis(rank int) int {
	switch {
	case w == nil || w.slot != 1 || w.axis < 0 || w.node.IntAttrOr("transA", 0) != 0 || w.scope.loop != nil:
		return -1
	case len(w.tensor.Shape) > 2:
		return 1
	}
	return rank - 1
}

// add records the values of a tensor of the given shape in one run, by channel.
func (e *equalisation) add(shape []int, data []float64) {
	inner := graph.ElementCount(shape[e.axis+1:])
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

// leastKept is the smallest number of values that are kept for a channel.
const leastKept = 64

// quarters lists the exponents, in quarters, with which the ranges of activations enter the scales to try.
var quarters = []int{1, 2, 3, 4}

// scales returns a scale for each channel. Of several candidates it chooses the one with the least square error of the
// following layers under a recipe. It returns nil if a single scale is as good.
func (e *equalisation) scales(r Recipe) []float64 {
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
		for c := range s { // the file holds 1/s
			s[c] = 1 / float64(float32(top/s[c]))
		}
		if err := e.error(r, s); err < least {
			best, least = s, err
		}
	}
	return best
}

// root returns x to the power of quarters/4, for quarters from 1 to 4.
func root(x float64, quarters int) float64 {
	half := math.Sqrt(x)
	quarter, y := math.Sqrt(half), 1.0
	for range quarters {
		y *= quarter
	}
	return y
}

// largest returns the largest magnitudes of each channel: of its values, and of its weights relative to the largest
// weight of the output channel.
func (e *equalisation) largest() (x, w []float64) {
	x, w = make([]float64, len(e.by)), make([]float64, len(e.by))
	for c := range e.by {
		x[c] = max(-e.by[c].min, e.by[c].max)
	}
	for _, reader := range e.readers {
		rows := reader.rows()
		for _, row := range rows {
			top := 0.0
			for _, i := range row {
				top = max(top, math.Abs(reader.tensor.FloatAt(i)))
			}
			if top == 0 {
				continue
			}
			for _, i := range row {
				c := reader.reduced(i, len(rows), len(e.by))
				w[c] = max(w[c], math.Abs(reader.tensor.FloatAt(i))/top)
			}
		}
	}
	return x, w
}

// rows returns, for each output channel, the indices of its elements among the weights.
func (w *weight) rows() [][]int {
	shaped, axis := w.shaped()
	channels, inner := shaped.Shape[axis], graph.ElementCount(shaped.Shape[axis+1:])
	rows := make([][]int, channels)
	for i := range shaped.Len() {
		c := i / inner % channels
		rows[c] = append(rows[c], i)
	}
	return rows
}

// A moment holds the mean of a random number, and the mean of its square deviation from that.
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

// error returns the mean square error, with channel scales s, of the sums behind the place. It adds up the mean errors
// of channels, and treats the remaining errors as independent.
func (e *equalisation) error(r Recipe, s []float64) (sum float64) {
	code, scale := e.quantiser(r, s)
	values, lost := make([]moment, len(e.by)), make([]moment, len(e.by)) // lost holds the rounding errors
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
				list[k] = w.tensor.FloatAt(i)
				if s != nil {
					list[k] *= s[w.reduced(i, len(rows), len(e.by))]
				}
			}
			narrow := r.Weights.of(true, true)
			step, mean := r.Scales.scale(narrow, list, w.grid), 0.0
			for k, i := range row {
				c, v := w.reduced(i, len(rows), len(e.by)), w.tensor.FloatAt(i)
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

// quantiser returns the code and the scale that recipe r gives for the place's values, each divided by its channel's
// scale in s.
func (e *equalisation) quantiser(r Recipe, s []float64) (code, float64) {
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

// equaliser returns the node before a place's quantiser that divides each channel by its scale.
func (p *spot) equaliser(g *graph.Graph, s []float64) *graph.Node {
	taken := p.scope.names
	shape := slices.Repeat([]int{1}, len(p.scope.prog.Known[p.from].Shape)-p.equalised.axis)
	shape[0] = len(s)
	by := taken.TakeFreshName(p.to, "evening")
	t := &graph.ConstantTensor{DType: graph.DTypeFloat32, Shape: shape}
	for _, v := range s {
		t.F = append(t.F, float64(float32(1/v)))
	}
	g.Init[by] = t
	return &graph.Node{Index: p.index(), Name: p.label, Op: operators.OpMul, Inputs: []string{p.from, by},
		Outputs: []string{taken.TakeFreshName(p.to, "evened")}}
}
