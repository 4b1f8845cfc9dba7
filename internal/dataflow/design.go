package dataflow

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"hlsgen/internal/num"
)

// A Model is what import yields: integers in the middle, real functions that stay on the host around them.
type Model struct {
	Name      string
	In, Out   []Real // the ONNX model's own inputs and outputs
	Prefix    HostFunc
	Graph     *Graph
	Suffix    HostFunc
	Host      func() *Host // Prefix and Suffix as data; nil where nobody asked for that
	Reference Reference
	Float     Reference         // in float64; nil where something is rounded to integers or put in order, or not known
	Stream    func() Reference  // of a model that keeps its state: a Reference for samples in order; nil of others
	Turns     *Turns            // how a frame holds several samples; nil where it is one
	Lengths   *Lengths          // of sequences; nil where all have one length
	Feedback  []Feedback        // states that the host carries from sample to sample
	Meta      map[string]string // what the ONNX file says about itself (metadata_props); not to be changed
}

// A Feedback is an output that is an input with the next sample: one state. The first sample begins with what it is
// given, or zeros.
type Feedback struct{ In, Out int }

// Real describes a real-valued input or output of the ONNX model, batch axis included.
type Real struct {
	Name  string
	Shape []int  // as in the file with dynamic axes bound; the first axis is the batch where Batch is true
	DType string // numpy's name: float32, int64 ...
	Batch bool
	Whole []int      // the shape in the file where that fixes a batch of several samples, side by side; else nil
	Axis  int        // along which the samples lie in Whole
	Range [2]float64 // of an input: the values that the first quantisers tell apart, for making up test data
	// Grid, if set, gives the value nearest to x that element i may have.
	Grid    func(i int, x float64) float64
	Arrives *Integers // the input's reals arrive as integers; nil where they do not
}

// Integers says which real numbers integers stand for. Numbers as far as Within from the value of an integer stand for
// it, too.
type Integers struct {
	Type     num.Type
	Channels int                                   // that have values of their own; 1: all have the same
	Within   []float64                             // by channel
	Of       func(shape []int, i int) int          // the channel of element i of a tensor
	Value    func(channel int, code int64) float64 // of an integer, in the input's type
}

// Limits is the range of an integer dtype; integer is false for a real one.
func (r Real) Limits() (lo, hi float64, integer bool) {
	if r.DType == "bool" {
		return 0, 1, true
	}
	signed := strings.TrimPrefix(r.DType, "u")
	if !slices.Contains([]string{"int8", "int16", "int32", "int64"}, signed) {
		return 0, 0, false
	}
	var bits int
	fmt.Sscanf(signed, "int%d", &bits)
	bits = min(bits, 53) // what a float64 holds
	if r.DType != signed {
		return 0, math.Exp2(float64(bits)) - 1, true
	}
	half := math.Exp2(float64(bits - 1))
	return -half, half - 1, true
}

// Format returns the format of the values of a real dtype, which a file of any dtype is rounded to; that of an integer
// one holds its values up to 2^53.
func (r Real) Format() num.Format {
	if f, ok := num.FormatNamed(r.DType); ok {
		return f
	}
	return num.Float64
}

// Stored returns numpy's name of a type that holds the values of a dtype which numpy has not: bfloat16 in float32,
// integers of two and four bits in those of eight. Of others it is the dtype itself.
func (r Real) Stored() string {
	switch r.DType {
	case "bfloat16":
		return "float32"
	case "int2", "int4":
		return "int8"
	case "uint2", "uint4":
		return "uint8"
	}
	return r.DType
}

// RealTensor is a host tensor. Values are float64; every float32 and every int up to 2^53 is exact in it.
type RealTensor struct {
	Shape []int
	Data  []float64
}

// A HostFunc is a part of the model that runs on the host.
type HostFunc struct {
	Nodes []string // the ONNX nodes it computes, for the report; empty where it only renames
	// ToCodes is set for a prefix: one sample of every model input in, one frame per Graph.In out.
	ToCodes func(in []RealTensor) ([]Tensor, error)
	// ToReal is set for a suffix: one sample of every model input (a suffix may read them too) and one frame per
	// Graph.Out in, one sample of every model output out, correctly rounded to its dtype.
	ToReal func(in []RealTensor, codes []Tensor) ([]RealTensor, error)
}

// A Reference executes the model as written, in real-number semantics, one sample at a time.
type Reference func(in []RealTensor) (out []RealTensor, err error)

// A Design is a model with a schedule: nothing else may be added. Model.Graph holds the width converters.
type Design struct {
	Model  *Model
	Target Target
	Folds  []Fold // per node
	FIFO   []FIFO // per stream
}

// Loop is the loop of node i.
func (d *Design) Loop(i int) Loop { return d.Model.Graph.Nodes[i].Op.Loop(d.Folds[i], d.Target) }

// Interval is the clocks between frames that the slowest layer and the host's port allow, and that layer's index, -1
// where it is the port.
func (d *Design) Interval() (clocks, node int) {
	for i := range d.Model.Graph.Nodes {
		if n := d.Loop(i).Iterations(); n > clocks {
			clocks, node = n, i
		}
	}
	if n := d.HostClocks(); n > clocks {
		clocks, node = n, -1
	}
	return clocks, node
}

// HostClocks is the clocks in which the words of a frame pass the slowest end of the host.
func (d *Design) HostClocks() (clocks int) {
	for _, s := range slices.Concat(d.Model.Graph.In, d.Model.Graph.Out) {
		p := d.Port(s)
		clocks = max(clocks, p.Words*d.Target.HostEvery(p))
	}
	return clocks
}

// Slowest is the layer with the longest Delay, and that in ns: -1 and 0 where no layer is Timed.
func (d *Design) Slowest() (node int, ns float64) {
	node = -1
	for i, n := range d.Model.Graph.Nodes {
		if t, ok := n.Op.(Timed); ok {
			if delay := t.Delay(d.Folds[i], d.Target); delay > ns {
				node, ns = i, delay
			}
		}
	}
	return node, ns
}

// Fmax is the clock in MHz that no layer's Delay exceeds, infinite where no layer is Timed.
func (d *Design) Fmax() float64 {
	_, ns := d.Slowest()
	return 1000 / ns
}

// Cost is the cost of every node, and their sum. FIFOs and what is around the network are not layers, and not in it.
func (d *Design) Cost() (per []Cost, total Resources) {
	for i, n := range d.Model.Graph.Nodes {
		c := n.Op.Cost(d.Folds[i], d.Target)
		per = append(per, c)
		total = total.Plus(c.Total())
	}
	return per, total
}

// Port is the word form of stream s: its writer's where it has one, else its reader's. The two agree in a verified
// design, and one of them is a layer.
func (d *Design) Port(s int) Port {
	g := d.Model.Graph
	if i, p := g.Writer(s); i >= 0 {
		_, out := g.Nodes[i].Op.Ports(d.Folds[i])
		return out[p]
	}
	i, p := g.Reader(s)
	in, _ := g.Nodes[i].Op.Ports(d.Folds[i])
	return in[p]
}

// Check reports how in fails to be one frame per input of the graph.
func (g *Graph) Check(in []Tensor) error {
	if len(in) != len(g.In) {
		return fmt.Errorf("%d inputs, want %d", len(in), len(g.In))
	}
	for i, s := range g.In {
		if err := g.Streams[s].Type.Check(in[i]); err != nil {
			return fmt.Errorf("input %d: %w", i, err)
		}
	}
	return nil
}
