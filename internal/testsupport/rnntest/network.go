package rnntest

import (
	"math/big"
	"slices"

	"hlsgen/frontend/operators"
)

// A Network consists of sequences of quantised vectors, an optional layer in front, recurrent layers one behind the
// other, and outputs computed from the last layer.
type Network struct {
	Steps   int        // time steps of a sequence; the most time steps with Lengths
	Lengths bool       // sequences have 1 to Steps time steps: the axis of time is dynamic, and is called T
	Counted bool       // all layers read from Count how many time steps count; for operators of ONNX
	Counts  int        // with Counted: a constant number of time steps; 0 if Count is an input
	Side    int        // samples side by side in the file, each with a Count; 0: one sample
	Inputs  []Sequence // several inputs only without Front
	Form    string     // form of the sequences: a key of the table shapes
	Front   *Dense
	Layers  []*Layer
	Outputs []Output
	Formats map[string]operators.CellFormats // by node, for --cell-config; may be nil
	Pieces  bool                             // samples are pieces of one stream: cells continue from their last states
	Turns   int                              // samples that share an engine, 1 or more
	Choices []int                            // choices from which the network was drawn
	Has     []string                         // special features, in words

	Shared   bool // initializers with equal numbers are one
	Captured bool // initializers of bodies stand outside of them
}

// StepCountInput is the name of the input with the number of time steps that count.
const StepCountInput = "count"

// A Sequence is an input of the graph: a sequence of vectors with the given number of features.
type Sequence struct {
	Features  int
	Quantiser *Quantiser
}

// A Dense is a product of a matrix with each vector of a sequence. If Kernel is not 0, it is a convolution over
// Kernel vectors, with zeros beyond the ends.
type Dense struct {
	Weights   Matrix // for a convolution [unit][feature*Kernel+k]
	Kernel    int
	Bias      []float32
	Relu      bool
	Quantiser *Quantiser // may be nil
}

// A Layer consists of cells side by side, one per direction.
type Layer struct {
	Form    string // "Scan", "Loop", "Node", "QuantLSTMCell", or "Unrolled" for a layer written out step by step
	Cells   []*Cell
	Reverse []bool
	Starts  []Start
	Spelled Spelling
	Requant *Quantiser // of the layer's sequence; may be nil
}

// constant returns the float32 nearest to the value of a code.
func (q *Quantiser) constant(code int64) float32 {
	f, _ := q.value(code).Float32()
	return f
}

// A Start holds the initial states of a cell: zeros, constants, or data from inputs of the graph.
type Start struct {
	Data     bool
	H, C     []int64    // codes; nil for zeros
	ByH, ByC *Quantiser // of the codes or of the data; nil for the quantiser of the state
}

// quantisers returns the quantisers of the initial states. Only an LSTM has the second.
func (s Start) quantisers(c *Cell) (h, state *Quantiser) {
	h, state = c.Hidden(), c.State
	if s.ByH != nil {
		h = s.ByH
	}
	if s.ByC != nil {
		state = s.ByC
	}
	return h, state
}

// An Output selects a tensor: the sequence, its last vector, or the last states ("h", "c") of the last layer.
type Output struct {
	Of    string
	Dense *Dense
}

// nearest returns the float32 nearest to each rational. A tie goes to the even one.
func nearest(v []*big.Rat) []float64 {
	out := make([]float64, len(v))
	for i, r := range v {
		f, _ := r.Float32()
		out[i] = float64(f)
	}
	return out
}

// A Sample is the input of a run: the vectors of each sequence in order, then initial states that arrive as data. For
// each cell these are h and, for an LSTM, c.
type Sample [][]float64

// Run computes the outputs of samples, in their order.
func (n *Network) Run(samples []Sample) (out [][][]float64) {
	ends := map[*Cell]state{}
	for _, s := range samples {
		if !n.Pieces {
			clear(ends)
		}
		out = append(out, n.run(s, ends))
	}
	return out
}

// A state holds the last states of a cell.
type state struct{ h, c []*big.Rat }

// run computes the outputs of a sample. Cells take their initial states from ends, if present, and leave their last
// states there.
func (n *Network) run(data Sample, ends map[*Cell]state) (out [][]float64) {
	var x [][][]*big.Rat // by input, step and feature
	for k, s := range n.Inputs {
		x = append(x, rows(quantised(s.Quantiser, data[k]), s.Features))
	}
	data = data[len(n.Inputs):]
	if n.Front != nil {
		x[0] = n.Front.run(x[0])
	}
	var sequence [][]*big.Rat
	var last map[string][]*big.Rat
	for _, l := range n.Layers {
		sequence, last, data = l.run(x, data, ends)
		x = [][][]*big.Rat{sequence}
	}
	for _, o := range n.Outputs {
		v := sequence
		switch o.Of {
		case "last":
			v = sequence[len(sequence)-1:]
		case "h", "c":
			v = [][]*big.Rat{last[o.Of]}
		}
		if o.Dense != nil {
			v = o.Dense.run(v)
		}
		out = append(out, nearest(slices.Concat(v...)))
	}
	return out
}

// quantised returns the values to which a quantiser rounds the data.
func quantised(q *Quantiser, data []float64) []*big.Rat {
	out := make([]*big.Rat, len(data))
	for i, v := range data {
		out[i] = q.quantised(new(big.Rat).SetFloat64(v))
	}
	return out
}

// rows returns v in rows of the given width.
func rows(v []*big.Rat, width int) [][]*big.Rat { return slices.Collect(slices.Chunk(v, width)) }

// run returns the product with each vector of the sequence x.
func (d *Dense) run(x [][]*big.Rat) (out [][]*big.Rat) {
	for t := range x {
		v := x[t]
		if d.Kernel > 0 {
			v = nil
			for f := range x[t] {
				for k := range d.Kernel {
					e := new(big.Rat)
					if at := t + k - d.Kernel/2; at >= 0 && at < len(x) {
						e = x[at][f]
					}
					v = append(v, e)
				}
			}
		}
		y := d.Weights.times(v)
		for u := range y {
			if d.Bias != nil {
				y[u] = plus(y[u], real32(of(d.Bias, u)))
			}
			if d.Relu {
				y[u] = larger(y[u], new(big.Rat))
			}
			y[u] = d.Quantiser.quantised(y[u])
		}
		out = append(out, y)
	}
	return out
}

// run returns the sequence and the last states of a layer, with the directions side by side. rest is the data that
// the layer has not used.
func (l *Layer) run(x [][][]*big.Rat, data Sample, ends map[*Cell]state) (sequence [][]*big.Rat,
	last map[string][]*big.Rat, rest Sample) {
	steps := len(x[0])
	sequence, last = make([][]*big.Rat, steps), map[string][]*big.Rat{}
	for d, c := range l.Cells {
		s, ok := ends[c]
		if !ok {
			s.h, s.c = c.start(l.Starts[d], &data)
		}
		for run := range steps {
			t := run
			if l.Reverse[d] {
				t = steps - 1 - run
			}
			var at [][]*big.Rat
			for _, in := range x {
				at = append(at, in[t])
			}
			s.h, s.c = c.Step(at, s.h, s.c)
			sequence[t] = append(sequence[t], s.h...)
		}
		ends[c] = s
		last["h"], last["c"] = append(last["h"], s.h...), append(last["c"], s.c...)
	}
	if l.Requant != nil {
		for _, v := range sequence {
			for u := range v {
				v[u] = l.Requant.quantised(v[u])
			}
		}
	}
	return sequence, last, data
}

// start returns the states of a cell before the first step.
func (c *Cell) start(s Start, data *Sample) (h, state []*big.Rat) {
	begin := func(q *Quantiser, width int, codes []int64) []*big.Rat {
		if s.Data {
			v := quantised(q, (*data)[0])
			*data = (*data)[1:]
			return v
		}
		out := make([]*big.Rat, width)
		for u := range out {
			out[u] = new(big.Rat)
			if codes != nil { // the nearest float32, which the quantiser may round to another code
				out[u] = q.quantised(real32(q.constant(codes[u])))
			}
		}
		return out
	}
	byH, byC := s.quantisers(c)
	h = begin(byH, c.Width(), s.H)
	if c.Kind == LSTM {
		state = begin(byC, c.Units, s.C)
	}
	return h, state
}

// Sample draws the data of a run with the network's own number of steps. Half of the numbers lie on a grid that causes
// ties, half anywhere.
func (n *Network) Sample(c *Choices) Sample { return n.SampleOf(c, n.Steps) }

// SampleOf draws data as Sample does, for a sequence with the given number of time steps.
func (n *Network) SampleOf(c *Choices, steps int) (s Sample) {
	draw := func(q *Quantiser, size int) {
		lo, hi := q.Limits()
		v := make([]float64, size)
		for i := range v {
			v[i] = (float64(c.between(int(2*lo-4), int(2*hi+4)))/2 - float64(q.Zero)) * float64(q.Scale)
			if c.rarely(4) {
				v[i] += (float64(c.below(1<<10))/(1<<9) - 1) * float64(q.Scale)
			}
			v[i] = float64(float32(v[i]))
		}
		s = append(s, v)
	}
	for _, in := range n.Inputs {
		draw(in.Quantiser, steps*in.Features)
	}
	for _, l := range n.Layers {
		for d, cell := range l.Cells {
			if !l.Starts[d].Data {
				continue
			}
			byH, byC := l.Starts[d].quantisers(cell)
			draw(byH, cell.Width())
			if cell.Kind == LSTM {
				draw(byC, cell.Units)
			}
		}
	}
	return s
}
