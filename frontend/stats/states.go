package stats

import (
	"crypto/sha256"
	"math"
)

// States say how a layer uses the states that it can be in (neural efficiency, arXiv 2102.11289): a state is which of
// its neurons give more than 0.
type States struct {
	Tensor  string `json:"tensor"`  // that is looked at: what the layer gives, behind its activation
	Neurons int    `json:"neurons"` // channels of a matrix or a convolution, units of a recurrence
	// states that were seen: one per sample, output position and step
	Seen     int64   `json:"seen"`
	Distinct int     `json:"distinct"`
	On       float64 `json:"on"`           // share of neurons, over all states, that give more than 0
	Entropy  float64 `json:"entropy_bits"` // of the states
	// entropy over neurons: 1 where all states occur equally often
	Efficiency float64 `json:"efficiency"`
}

// A watch is where a layer's states are seen.
type watch struct {
	tensor string
	axis   int  // of the neurons; with steps, of the steps, or none
	steps  bool // the axis counts states
}

// An Observer sees samples pass by.
type Observer struct {
	n     *Network
	seen  []map[string]int64 // by layer: how often each state occurred
	on    []int64
	wide  []int // neurons
	count []int64
}

// Observe begins to look at samples.
func (n *Network) Observe() *Observer {
	k := len(n.Layers)
	o := &Observer{n, make([]map[string]int64, k), make([]int64, k), make([]int, k), make([]int64, k)}
	for i := range o.seen {
		o.seen[i] = map[string]int64{}
	}
	return o
}

// Sample looks at a sample: of gives the shape and the elements of a tensor of the model as written.
func (o *Observer) Sample(of func(tensor string) (shape []int, data []float64)) {
	for i, l := range o.n.Layers {
		shape, data := of(l.watch.tensor)
		if len(data) == 0 {
			continue
		}
		states, neurons := l.watch.split(shape)
		o.wide[i] = neurons
		for s := range states {
			o.see(i, neurons, func(k int) float64 { return data[l.watch.element(shape, s, k)] })
		}
	}
}

// split is how many states a tensor holds, and of how many neurons.
func (w *watch) split(shape []int) (states, neurons int) {
	size := 1
	for _, d := range shape {
		size *= d
	}
	along := 1
	if w.axis >= 0 && w.axis < len(shape) {
		along = shape[w.axis]
	}
	if along == 0 {
		return 0, 0
	}
	if w.steps {
		return along, size / along
	}
	return size / along, along
}

// element is where neuron k of a state lies.
func (w *watch) element(shape []int, state, k int) int {
	along, inner := 1, 1
	if w.axis >= 0 && w.axis < len(shape) {
		along = shape[w.axis]
		for _, d := range shape[w.axis+1:] {
			inner *= d
		}
	}
	if w.steps {
		state, k = k, state
	}
	return (state/inner*along+k)*inner + state%inner
}

// see counts a state. Of many neurons a hash stands for it, so that a state takes as much memory in every layer.
func (o *Observer) see(i, neurons int, value func(k int) float64) {
	bits := make([]byte, (neurons+7)/8)
	for k := range neurons {
		if value(k) > 0 {
			bits[k/8] |= 1 << (k % 8)
			o.on[i]++
		}
	}
	if len(bits) > sha256.Size {
		sum := sha256.Sum256(bits)
		bits = sum[:]
	}
	o.seen[i][string(bits)]++
	o.count[i]++
}

// Done gives every layer its States, and the network's efficiency: the geometric mean over the layers.
func (o *Observer) Done() (efficiency float64) {
	logs := 0.0
	for i, l := range o.n.Layers {
		counts := make([]int64, 0, len(o.seen[i]))
		for _, n := range o.seen[i] {
			counts = append(counts, n)
		}
		s := &States{Tensor: l.watch.tensor, Neurons: o.wide[i], Seen: o.count[i], Distinct: len(counts),
			Entropy: entropy(counts)}
		if cells := float64(o.count[i]) * float64(s.Neurons); cells > 0 {
			s.On = float64(o.on[i]) / cells
			s.Efficiency = s.Entropy / float64(s.Neurons)
		}
		l.States = s
		logs += math.Log(s.Efficiency)
	}
	if len(o.n.Layers) == 0 {
		return 0
	}
	return math.Exp(logs / float64(len(o.n.Layers)))
}
