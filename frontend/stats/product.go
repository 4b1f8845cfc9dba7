package stats

import (
	"encoding/binary"
	"hash/fnv"
	"maps"
	"math"
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/operators"
	"hlsgen/frontend/program"
)

// A ProductStats holds the counts of one sum of products: of data with weights, or of data with data.
type ProductStats struct {
	Tensor          string `json:"tensor"` // tensor of the sums; in a recurrence, its name in the body
	Input           string `json:"input_type"`
	InputWidth      int    `json:"input_width"`
	Weight          string `json:"weight_type"` // type of the weights; for data with data, type of the second factor
	WeightWidth     int    `json:"weight_width"`
	Terms           int    `json:"terms"` // products in a sum: inputs of a group, times kernel positions
	Sums            int64  `json:"sums"`  // number of sums in all time steps
	OperationCounts `json:"counts"`
	// zero weights per output channel, in the order of the weights; absent for data with data
	Zeros []int64 `json:"zeros_per_channel,omitempty"`
}

// A weights identifies a tensor of weights: the constant in the file from which it is made (root), and a hash of its n
// elements. So weights that several layers share count once.
type weights struct {
	root string
	sum  uint64
	n    int
}

// A product is a ProductStats with further facts that only the counter needs.
type product struct {
	ProductStats
	kind     ProductKind
	data     []int // input slots of the step that read data
	channels int   // axis of the output that counts channels
	weights  *weights
	entropy  float64 // entropy of the weights
}

// A side is one factor of a sum of products.
type side struct {
	slot   int
	base   *program.IndexList
	offset []int32
}

// sums reports whether a step only adds: its second factor consists of ones that the operator's definition supplies.
func (s *scope) sums(step *program.Step) bool {
	_, ok := s.factor(step, step.Dot.B)
	return !ok
}

// factor returns the file's tensor for an input slot of a sum of products. The input may be a changed copy of it, such
// as the flipped weights of a transposed convolution. ok is false if the file has no such tensor.
func (s *scope) factor(step *program.Step, slot int) (name string, ok bool) {
	name = step.Node.Inputs[slot]
	c := s.Known[name].Const
	if c == nil || s.makers[name] != nil || s.Graph.Init[name] != nil {
		return name, true
	}
	file := s.OriginOf(step.Node)
	of := s.Known[file.InputName(1)].Const
	return file.InputName(1), file.InputName(1) != "" && of != nil && of.DType == c.DType && of.Len() == c.Len()
}

// product returns the counts of a sum of products that is computed once in each of the given number of time steps.
func (s *scope) product(step *program.Step, steps int) *product {
	d, in := step.Dot, step.Node.Inputs
	x, w := side{d.A, d.ABase, d.AOffset}, side{d.B, d.BBase, d.BOffset}
	turned := s.Known[in[w.slot]].Const == nil && s.Known[in[x.slot]].Const != nil
	if turned {
		x, w = w, x
	}
	p := &product{kind: ProductKindDense, data: []int{x.slot}}
	p.Tensor, p.Terms, p.Sums = step.Output, d.K, int64(graph.ElementCount(step.Shape))*int64(steps)
	input := s.declared(in[x.slot])
	p.Input, p.InputWidth = input.Name, input.Bits
	p.channels = len(step.Shape) - 1
	if turned && len(s.Known[in[x.slot]].Shape) > 1 {
		p.channels--
	}
	if v := step.Window; v != nil {
		if p.kind = kindOf(v); !v.ChannelsLast {
			p.channels = 1
		}
	}
	macs := int64(d.K) * int64(graph.ElementCount(step.Shape))
	effective := macs
	name, _ := s.factor(step, w.slot)
	weight, c := s.declared(name), s.Known[in[w.slot]].Const
	if c != nil && !weight.known() {
		if t, ok := whole(c); ok {
			weight = t
		}
	}
	p.Weight, p.WeightWidth = weight.Name, weight.Bits
	if c != nil {
		rows := rowsOf(c, &w)
		macs, effective = s.taps(step, &x, rows, p)
		for _, base := range slices.Sorted(maps.Keys(rows)) {
			p.Zeros = append(p.Zeros, int64(d.K)-rows[base].count)
		}
		p.held(s, name, c)
	} else {
		p.kind = ProductKindDataByData
		p.data = append(p.data, w.slot)
	}
	p.MACs, p.EffectiveMACs = macs*int64(steps), effective*int64(steps)
	a, b := int64(p.InputWidth), int64(p.WeightWidth)
	logs := float64(p.MACs) * math.Log2(float64(p.Terms))
	p.BOPs = float64(p.EffectiveMACs*a*b+p.MACs*(a+b)) + logs
	p.DenseBOPs = float64(p.MACs*(a*b+a+b)) + logs
	return p
}

func kindOf(w *program.Window) ProductKind {
	switch {
	case w.Group > 1 && w.Depth == 1:
		return ProductKindDepthwise
	case w.Group > 1:
		return ProductKindGrouped
	}
	return ProductKindConvolution
}

// held adds the numbers of the weights c, the zeros among them and their bits to the counts, and sets the product's
// weights and entropy. name is the name of their tensor in the file.
func (p *product) held(s *scope, name string, c *graph.ConstantTensor) {
	p.Weights = int64(c.Len())
	h := fnv.New64a()
	var b [8]byte
	for i := range c.Len() {
		v := c.FloatAt(i) + 0 // turns -0 into 0
		if v == 0 {
			p.ZeroWeights++
		}
		binary.LittleEndian.PutUint64(b[:], math.Float64bits(v))
		h.Write(b[:])
	}
	p.WeightBits = p.Weights * int64(p.WeightWidth)
	p.weights = &weights{s.root(name), h.Sum64(), c.Len()}
	p.entropy, _ = s.symbols(name).entropy()
}

// root returns the name of the constant in the file from which a constant is made. It goes back through the largest
// input of each node in between.
func (s *scope) root(name string) string {
	for {
		node := s.makers[name]
		if node == nil {
			return name
		}
		from := s.largest(node)
		if from == "" {
			return name
		}
		name = from
	}
}

// largest returns the name of the constant with the most elements among a node's inputs, or "" if no input is a
// constant.
func (s *scope) largest(node *graph.Node) (name string) {
	most := 0
	for _, in := range node.Inputs {
		if c := s.Known[in].Const; in != "" && c != nil && c.Len() > most {
			name, most = in, c.Len()
		}
	}
	return name
}

// A row describes the weights of one sum: which of them are not 0, and how many.
type row struct {
	nonzero []bool
	count   int64
}

// rowsOf returns the rows of the weights c, each under the index of its first element.
func rowsOf(c *graph.ConstantTensor, w *side) map[int32]*row {
	rows := map[int32]*row{}
	for _, base := range w.base.All {
		if rows[base] != nil {
			continue
		}
		r := &row{nonzero: make([]bool, len(w.offset))}
		for k, offset := range w.offset {
			if c.FloatAt(int(base+offset)) != 0 {
				r.nonzero[k] = true
				r.count++
			}
		}
		rows[base] = r
	}
	return rows
}

// taps returns the number of a step's products, and the number of those whose weight is not 0. x is the data, rows the
// weights. Products with zeros that a transposed convolution inserts do not count; p.Terms then becomes the number of
// terms of the longest sum.
func (s *scope) taps(step *program.Step, x *side, rows map[int32]*row, p *product) (macs, effective int64) {
	w := step.Dot.BBase
	if x.slot == step.Dot.B {
		w = step.Dot.ABase
	}
	spread := s.ProducerOf(step.Node.Inputs[x.slot])
	if spread == nil || !operators.InsertsZeros(spread.Node) {
		for _, base := range w.All {
			macs += int64(step.Dot.K)
			effective += rows[base].count
		}
		return macs, effective
	}
	most := int64(0)
	for i, base := range w.All {
		terms := int64(0)
		for k, offset := range x.offset {
			if slot, _ := spread.Move.SourceOf(int(x.base.At(i) + offset)); slot == 0 {
				terms++
				if rows[base].nonzero[k] {
					effective++
				}
			}
		}
		macs += terms
		most = max(most, terms)
	}
	p.Terms = int(most)
	return macs, effective
}
