package stats

import (
	"crypto/sha256"
	"math"
)

// A NeuronStateStats tells how many different states of a layer occur (neural efficiency, arXiv 2102.11289). A state is
// the set of the layer's neurons whose output exceeds 0.
type NeuronStateStats struct {
	Tensor  string `json:"tensor"`  // tensor that is observed: the layer's output behind its activation
	Neurons int    `json:"neurons"` // channels of a matrix or a convolution, units of a recurrence
	// number of states that were observed: one per sample, output position and time step
	Seen     int64   `json:"seen"`
	Distinct int     `json:"distinct"`
	On       float64 `json:"on"`           // share of neurons, over all states, whose output exceeds 0
	Entropy  float64 `json:"entropy_bits"` // entropy of the states
	// entropy divided by the number of neurons: 1 if all states occur equally often
	Efficiency float64 `json:"efficiency"`
}

// A watch says which tensor shows the states of a layer, and along which axis its neurons lie.
type watch struct {
	tensor string
	axis   int  // axis of the neurons, or with steps set, of the time steps, if any
	steps  bool // the axis counts time steps, and thus states
}

// A NeuronStateObserver counts the states of every layer of a ModelStats over samples.
type NeuronStateObserver struct {
	n     *ModelStats
	seen  []map[string]int64 // by layer: how often each state occurred
	on    []int64
	wide  []int // by layer: number of neurons
	count []int64
}

// NewNeuronStateObserver returns an observer of the layers of n that has seen no samples yet.
func (n *ModelStats) NewNeuronStateObserver() *NeuronStateObserver {
	k := len(n.Layers)
	o := &NeuronStateObserver{n, make([]map[string]int64, k), make([]int64, k), make([]int, k), make([]int64, k)}
	for i := range o.seen {
		o.seen[i] = map[string]int64{}
	}
	return o
}

// CollectSample counts the states that layers have in one sample. The function of returns the shape and the elements of
// a tensor of the model as written. A layer for which it returns no elements is left out.
func (o *NeuronStateObserver) CollectSample(of func(tensor string) (shape []int, data []float64)) {
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

// split returns the number of states in a tensor of this shape, and the number of neurons of each state.
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

// element returns the index, in a tensor of this shape, of neuron k in the state with number state.
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

// see counts a state of layer i, in which neuron k has the value value(k). Of a state of many neurons it keeps only a
// hash, which limits the memory.
func (o *NeuronStateObserver) see(i, neurons int, value func(k int) float64) {
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

// SetNeuronStateStats sets States in every layer of the ModelStats. It returns the network's efficiency, the geometric
// mean over the layers. That is 0 without layers, or if fewer than two states of a layer occurred.
func (o *NeuronStateObserver) SetNeuronStateStats() (efficiency float64) {
	logs := 0.0
	for i, l := range o.n.Layers {
		counts := make([]int64, 0, len(o.seen[i]))
		for _, n := range o.seen[i] {
			counts = append(counts, n)
		}
		s := &NeuronStateStats{Tensor: l.watch.tensor, Neurons: o.wide[i], Seen: o.count[i], Distinct: len(counts),
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
