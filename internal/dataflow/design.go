package dataflow

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"hlsgen/internal/circuit"
	"hlsgen/internal/num"
)

// A Model is the result of an import: an integer graph, with real-valued functions before and after it that the host
// runs.
type Model struct {
	Name      string
	In, Out   []RealTensorInfo // the inputs and outputs of the ONNX model
	Prefix    HostFunction
	Graph     *Graph
	Suffix    HostFunction
	Host      func() *HostDescription // Prefix and Suffix as data; nil if nobody asked for that
	Reference ReferenceFunc
	// in float64; nil if some value is rounded to an integer or sorted, or if it is not known
	Float    ReferenceFunc
	Stream   func() ReferenceFunc // for a model that keeps its state: begins a Reference for samples in order; else nil
	Turns    *SampleInterleaving  // how a frame holds several samples; nil if it holds one
	Lengths  *SequenceLengths     // the lengths of sequences; nil if all have one length
	Feedback []FedBackState       // states that the host hands from sample to sample
	Meta     map[string]string    // the metadata of the ONNX file (metadata_props); must not be changed
	// Functions keeps functions that circuits of several layers call, for targets of the model; may be nil.
	Functions *circuit.FunctionLibrary
}

// A FedBackState is a state: the output Out of a sample is the input In of the next one. The first sample begins with a
// given value, or with zeros.
type FedBackState struct{ In, Out int }

// A RealTensorInfo describes a real-valued input or output of the ONNX model, including the batch axis.
type RealTensorInfo struct {
	Name  string
	Shape []int  // as in the file, with dynamic axes bound; the first axis is the batch if Batch is true
	DType string // NumPy's name: float32, int64 and so on
	Batch bool
	Whole []int      // the shape in the file, if that fixes a batch of several samples side by side; else nil
	Axis  int        // the axis of Whole along which the samples lie
	Range [2]float64 // for an input: the range in which the first quantisers distinguish values, for test data
	// Grid, if not nil, returns the value nearest to x that element i may have.
	Grid    func(i int, x float64) float64
	Arrives *IntegerInputMeaning // if not nil, integers arrive in place of the input's real numbers
}

// An IntegerInputMeaning says which real numbers the integers of an input stand for. An integer stands for all numbers
// at most Within away from its value.
type IntegerInputMeaning struct {
	Type num.Type
	// the number of channels with values of their own; 1 if all channels have the same
	Channels int
	Within   []float64                             // per channel
	Of       func(shape []int, i int) int          // returns the channel of element i of a tensor
	Value    func(channel int, code int64) float64 // returns the value of an integer code, in the input's type
}

// IntegerLimits returns the range of an integer dtype, as far as a float64 holds it exactly: 53 bits of the 64 of int64
// and uint64. integer is false for a real dtype.
func (r RealTensorInfo) IntegerLimits() (lo, hi float64, integer bool) {
	if r.DType == "bool" {
		return 0, 1, true
	}
	signed := strings.TrimPrefix(r.DType, "u")
	if !slices.Contains([]string{"int8", "int16", "int32", "int64"}, signed) {
		return 0, 0, false
	}
	var bits int
	fmt.Sscanf(signed, "int%d", &bits)
	bits = min(bits, 53) // the bits that a float64 holds exactly
	if r.DType != signed {
		return 0, math.Exp2(float64(bits)) - 1, true
	}
	half := math.Exp2(float64(bits - 1))
	return -half, half - 1, true
}

// NumberFormat returns the number format of a real dtype, to which values from any file are rounded. For an integer
// dtype it returns float64, which holds integers up to 2^53.
func (r RealTensorInfo) NumberFormat() num.FloatFormat {
	if f, ok := num.FloatFormatNamed(r.DType); ok {
		return f
	}
	return num.Float64Format
}

// NumpyDType returns NumPy's name of a type that holds the values of a dtype that NumPy lacks: float32 for bfloat16,
// and integers of eight bits for those of two and four. For other dtypes it returns the dtype.
func (r RealTensorInfo) NumpyDType() string {
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

// A RealTensor is a tensor on the host. Values are float64, which holds every float32 and every integer up to 2^53
// exactly.
type RealTensor struct {
	Shape []int
	Data  []float64
}

// A HostFunction is a part of the model that runs on the host, as a function and by the names of its nodes.
type HostFunction struct {
	Nodes []string // the ONNX nodes that it computes, for the report; empty if it only renames tensors
	// ToCodes is set for a prefix. It takes one sample of every model input and returns one frame per Graph.In.
	ToCodes func(in []RealTensor) ([]Tensor, error)
	// ToReal is set for a suffix. It takes one sample of every model input, which a suffix may read, too, and one frame
	// per Graph.Out. It returns one sample of every model output, correctly rounded to its dtype.
	ToReal func(in []RealTensor, codes []Tensor) ([]RealTensor, error)
}

// A ReferenceFunc executes the model as written, in real-number semantics, one sample at a time.
type ReferenceFunc func(in []RealTensor) (out []RealTensor, err error)

// A Design is a model with a schedule. Model.Graph includes the width converters, and nothing else may be added to it.
type Design struct {
	Model  *Model
	Target Target
	Folds  []Fold // per node
	FIFO   []FIFO // per stream
}

// LoopOfNode returns the loop of node i in its fold.
func (d *Design) LoopOfNode(i int) Loop { return d.Model.Graph.Nodes[i].Op.Loop(d.Folds[i], d.Target) }

// BottleneckInterval returns the clocks between frames that the slowest layer and the host's port allow, and the index
// of that layer, -1 for the port.
func (d *Design) BottleneckInterval() (clocks, node int) {
	for i := range d.Model.Graph.Nodes {
		if n := d.LoopOfNode(i).IterationsPerFrame(); n > clocks {
			clocks, node = n, i
		}
	}
	if n := d.HostClocksPerFrame(); n > clocks {
		clocks, node = n, -1
	}
	return clocks, node
}

// HostClocksPerFrame returns the clocks in which the words of a frame pass the slowest of the host's streams.
func (d *Design) HostClocksPerFrame() (clocks int) {
	for _, s := range slices.Concat(d.Model.Graph.In, d.Model.Graph.Out) {
		p := d.PortOfStream(s)
		clocks = max(clocks, p.Words*d.Target.HostClocksPerWord(p))
	}
	return clocks
}

// LongestDelayNS returns the index of the layer with the longest CarriedDelayNS, and that delay in ns. It returns -1
// and 0 if no layer limits the clock.
func (d *Design) LongestDelayNS() (node int, ns float64) {
	node = -1
	for i, n := range d.Model.Graph.Nodes {
		if carried := n.Op.Describe().CarriedDelayNS; carried != nil {
			if delay := carried(d.Folds[i], d.Target); delay > ns {
				node, ns = i, delay
			}
		}
	}
	return node, ns
}

// FmaxMHz returns the fastest clock in MHz that the delay of every layer allows. It is infinite if no layer limits the
// clock.
func (d *Design) FmaxMHz() float64 {
	_, ns := d.LongestDelayNS()
	return 1000 / ns
}

// CostPerNode returns the cost of every node, and the sum of all. FIFOs and the logic around the network are not
// included.
func (d *Design) CostPerNode() (per []Cost, total Resources) {
	for i, n := range d.Model.Graph.Nodes {
		c := n.Op.Cost(d.Folds[i], d.Target)
		per = append(per, c)
		total = total.Plus(c.Total())
	}
	return per, total
}

// PortOfStream returns the word format of stream s: that of its writer, or of its reader if the host writes it. Both
// agree in a verified design, and one of them is a layer.
func (d *Design) PortOfStream(s int) Port {
	g := d.Model.Graph
	if i, p := g.WriterOfStream(s); i >= 0 {
		_, out := g.Nodes[i].Op.Ports(d.Folds[i])
		return out[p]
	}
	i, p := g.ReaderOfStream(s)
	in, _ := g.Nodes[i].Op.Ports(d.Folds[i])
	return in[p]
}

// CheckInputs returns an error unless in has a frame of the right shape and values for each input of the graph.
func (g *Graph) CheckInputs(in []Tensor) error {
	if len(in) != len(g.In) {
		return fmt.Errorf("%d inputs, want %d", len(in), len(g.In))
	}
	for i, s := range g.In {
		if err := g.Streams[s].Type.CheckFrame(in[i]); err != nil {
			return fmt.Errorf("input %d: %w", i, err)
		}
	}
	return nil
}
