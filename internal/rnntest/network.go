package rnntest

import (
	"math/big"
	"slices"

	"hlsgen/frontend/graph"
)

// A Network is sequences of vectors that are quantised, perhaps a layer in front, recurrent layers one behind the
// other, and what is made of the last one.
type Network struct {
	Steps   int        // of a sequence; the most of them with Lengths
	Lengths bool       // sequences have 1 to Steps steps: the axis of time is dynamic, and is called T
	Counted bool       // how many steps count stands in Count, which all layers read: operators of ONNX
	Counts  int        // with Counted: so many, always; 0 where Count is an input
	Side    int        // samples that lie side by side in the file, each with a Count; 0: it has one
	Inputs  []Sequence // several only without Front
	Form    string     // of the sequences: a row of the table shapes
	Front   *Dense
	Layers  []*Layer
	Outputs []Output
	Formats map[string]graph.CellFormats // by node, of --cell-config; may be missing
	Pieces  bool                         // samples are pieces of one stream: cells go on where they ended
	Turns   int                          // samples that share an engine, 1 or more
	Choices []int                        // that made it
	Has     []string                     // what is special, in words

	Shared   bool // initializers of equal numbers are one
	Captured bool // those of bodies stand outside of them
}

// Count is the name of the input that says how many steps of a sequence count.
const Count = "count"

// A Sequence is an input of the graph: vectors of so many features.
type Sequence struct {
	Features  int
	Quantiser *Quantiser
}

// A Dense is a product with each vector of a sequence, or, where Kernel is not 0, with so many around it, zeros beyond
// the ends.
type Dense struct {
	Weights   Matrix // of a convolution [unit][feature*Kernel+k]
	Kernel    int
	Bias      []float32
	Relu      bool
	Quantiser *Quantiser // may be missing
}

// A Layer is cells, one per direction, side by side.
type Layer struct {
	Form    string // "Scan", "Loop", "Node", "QuantLSTMCell" or "Unrolled": written out step by step
	Cells   []*Cell
	Reverse []bool
	Starts  []Start
	Spelled Spelling
	Requant *Quantiser // of its sequence; may be missing
}

// constant is the float32 next to the value of a code.
func (q *Quantiser) constant(code int64) float32 {
	f, _ := q.value(code).Float32()
	return f
}

// A Start is how the states of a cell begin: as zeros, as constants, or as data arrive on inputs of the graph.
type Start struct {
	Data     bool
	H, C     []int64    // codes; none for zeros
	ByH, ByC *Quantiser // of the codes, or of the data; nil for that of the state
}

// quantisers are those of what a cell begins with; an LSTM's has the second one.
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

// An Output is what goes out: the sequence, its last vector, or the last states ("h", "c") of the last layer.
type Output struct {
	Of    string
	Dense *Dense
}

// nearest are the float32 next to rationals, ties to even.
func nearest(v []*big.Rat) []float64 {
	out := make([]float64, len(v))
	for i, r := range v {
		f, _ := r.Float32()
		out[i] = float64(f)
	}
	return out
}

// A Sample is the data of a run: of each sequence all vectors in order, then of each cell whose states begin with data
// h and, of an LSTM, c.
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

// A state is what a cell ended with.
type state struct{ h, c []*big.Rat }

// run computes the outputs of a sample. Cells begin with what they have in ends, and leave there what they end with.
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

func quantised(q *Quantiser, data []float64) []*big.Rat {
	out := make([]*big.Rat, len(data))
	for i, v := range data {
		out[i] = q.quantised(new(big.Rat).SetFloat64(v))
	}
	return out
}

func rows(v []*big.Rat, width int) [][]*big.Rat { return slices.Collect(slices.Chunk(v, width)) }

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

// run gives the sequence and the last states, the directions side by side, and the data that it has not used.
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

// start is the states of a cell before the first step.
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
			if codes != nil { // as the nearest float32, which the quantiser may round to another code
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

// Sample draws data for a run: half on a grid where ties are, half anywhere.
func (n *Network) Sample(c *Choices) Sample { return n.SampleOf(c, n.Steps) }

// SampleOf is Sample for a sequence of so many steps.
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
