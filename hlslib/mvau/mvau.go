// Package mvau is the matrix-vector-activation unit: a fully connected layer, or a convolution behind a sliding window.
//
// A frame is V vectors x of MW elements; from each the layer makes MH outputs
//
//	y[c] = f[c](sum over k of W[c][k]*x[k])
//
// f[c] is a non-decreasing step function, built from thresholds, or absent; then y[c] is the accumulator (package
// mac). Every product may pass a requantiser before it is added, as in accelerators with a number format for
// products.
//
// With G groups a vector is a window [K, C]. Group g has the channels from g*C/G on at all positions, and computes
// the outputs from g*MH/G on. Its MW = K*C/G elements travel together: tile by tile of C/G channels, and within a
// tile by position and then by channel. The weights have the same order.
//
// PE outputs of a group are computed side by side, with SIMD inputs each per clock. With NF = MH/G/PE and SF =
// MW/SIMD the loop is
//
//	for v < V: for g < G: for nf < NF: for sf < SF: one clock
//
// or V*G*NF*SF clocks a frame. Iterations with nf = 0 read the word x[sf*SIMD .. sf*SIMD+SIMD-1] of the group, which
// is kept for the other nf. Iterations with sf = SF-1 write a word: the PE outputs from (g*NF+nf)*PE on. Row
// (g*NF+nf)*SF+sf of the weight table is for one iteration; its element pe*SIMD+i is W[(g*NF+nf)*PE+pe][sf*SIMD+i].
package mvau

import (
	"fmt"
	"slices"

	"hlsgen/hlslib/layer"
	"hlsgen/hlslib/mac"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// LayerKind describes the matrix-vector unit in the table of layers, hlslib.LayerKinds. New returns a layer of this
// kind with the given parameters, not yet bound to its inputs.
var LayerKind, New = layer.DefineKind(layer.KindDefinition[Params]{
	Name:    "MVAU",
	Doc:     "matrix times vector, then one step function per channel (fully connected layers, convolutions)",
	Example: `{"weights":[[1,-1]]}`,
	Bind:    bind,
	FINN:    dataflow.FINNFoldingForm{Names: []string{"MatrixVectorActivation", "StreamingFCLayer"}},
})

// Params are the parameters of the matrix-vector unit: the weights of each output, and what happens to products and
// sums.
type Params struct {
	Weights [][]int64          `json:"weights"`          // [MH][MW]
	Steps   []num.StepFunction `json:"steps,omitempty"`  // none, one for all channels, or one per channel
	Groups  int                `json:"groups,omitempty"` // G; 0 means 1
	// Product is applied to every product of a weight and an input before the sum; nil leaves products exact.
	Product *num.Requant `json:"product,omitempty"`
	// Room limits weights and step functions that are loaded at run time; nil if they are constants.
	Room *dataflow.LoadableWeightLimits `json:"room,omitempty"`
}

// groups returns the number of groups into which inputs and outputs are divided, at least 1.
func (p Params) groups() int { return max(1, p.Groups) }

// Verify reports what is wrong with the parameters, whatever the inputs are.
func (p Params) Verify() error {
	if err := mac.VerifyWeightsAndSteps(p.Weights, p.Steps, p.Product); err != nil {
		return err
	}
	if p.Groups < 0 || len(p.Weights)%p.groups() != 0 {
		return fmt.Errorf("%d groups of %d outputs", p.Groups, len(p.Weights))
	}
	return nil
}

type op struct {
	layer.Base[Params]
	*mac.Unit
	mh, mw   int
	in, out  dataflow.StreamType
	vectors  int
	window   int   // channels of the input
	tile     int   // channels per tile of the input
	pe, simd []int // the divisors of a group's outputs, and of MW
}

// bind returns the layer for one input of shape [..., MW], where MW may be the product of several trailing axes. The
// output has the shape [..., MH]. With G groups the input is [..., K, C] with K*C = G*MW, or [..., C] with C = G*MW. G
// must divide C. Other shapes, sums that are too wide, and too many thresholds are errors.
func bind(b layer.Base[Params], in []dataflow.StreamType) (dataflow.Op, []dataflow.StreamType, error) {
	o := &op{Base: b, mh: len(b.P.Weights), mw: len(b.P.Weights[0]), window: in[0].Shape.ChannelCount()}
	shape, groups := in[0].Shape, b.P.groups()
	if o.mw > dataflow.MaxElementsPerFrame/groups {
		return nil, nil, fmt.Errorf("%d groups of %d inputs, a frame has at most %d elements", groups, o.mw,
			dataflow.MaxElementsPerFrame)
	}
	var ok bool
	if o.in, ok = in[0].AsVectors(groups * o.mw); !ok {
		return nil, nil, fmt.Errorf("an input of shape %v for weights of %d by %d, want vectors of %d", shape, o.mh,
			o.mw, groups*o.mw)
	}
	if groups > 1 {
		window, ok := windowOf(shape, groups*o.mw)
		if !ok || window.ChannelCount()%groups != 0 {
			return nil, nil, fmt.Errorf("an input of shape %v for %d groups of %d inputs, want [..., positions, "+
				"channels] with channels for every group", shape, groups, o.mw)
		}
		o.tile = window.PortTileFor(window.ChannelCount() / groups)
	}
	o.vectors = o.in.Shape.VectorCount()
	unit, err := b.P.unit(o.in.Elem, o.groupRanges(shape.ChannelCount()))
	if err != nil {
		return nil, nil, err
	}
	o.of(unit)
	return o, []dataflow.StreamType{o.out}, nil
}

// unit returns the arithmetic of the layer for inputs of type in. ranges returns the ranges of the inputs of output c.
// If Params.Room is set, weights are loaded at run time, else they are constants.
func (p Params) unit(in num.Type, ranges func(c int) []num.Range) (*mac.Unit, error) {
	if p.Room != nil {
		return mac.BindLoadableUnit(*p.Room, p.Weights, p.Steps, p.Product, in, ranges)
	}
	return mac.BindUnit(p.Weights, p.Steps, p.Product, in, ranges)
}

// Loaded returns the layer, not yet bound, with weights and step functions that are loaded at run time. room limits
// them.
func (o *op) Loaded(room dataflow.LoadableWeightLimits) dataflow.Op {
	p := o.P
	p.Room = &room
	return New(p)
}

// Reads returns how many times the table of weights is read from start to end for a frame: once per vector.
func (o *op) Reads() int { return o.vectors }

// of sets the arithmetic unit u of the layer, and the fields that follow from it: the output's type, and the possible
// PE and SIMD.
func (o *op) of(u *mac.Unit) {
	o.Unit = u
	o.pe, o.simd = dataflow.Divisors(o.mh/o.P.groups()), dataflow.Divisors(o.mw)
	o.out = dataflow.StreamType{Shape: slices.Clone(o.in.Shape), Range: u.Range, Elem: u.Out}
	o.out.Shape[len(o.out.Shape)-1] = o.mh
}

// windowOf returns the shape [K, C] of a vector of n elements, which spans the last axis or the last two of s. ok is
// false if it spans neither.
func windowOf(s dataflow.Shape, n int) (window dataflow.Shape, ok bool) {
	c := s.ChannelCount()
	if c == n {
		return dataflow.Shape{1, c}, true
	}
	if len(s) < 2 || s[len(s)-2] != n/c {
		return nil, false
	}
	return s[len(s)-2:], true
}

// groupRanges returns a function that gives, for output c, the ranges of the inputs that its weights meet: those of its
// group. channels is the size of the input's last axis.
func (o *op) groupRanges(channels int) func(c int) []num.Range {
	groups := o.P.groups()
	if groups == 1 || len(o.in.Range) == 1 {
		return func(int) []num.Range { return o.in.Range }
	}
	each := channels / groups
	of := make([][]num.Range, groups)
	for g := range of {
		for at := g * each; at < len(o.in.Range); at += channels {
			of[g] = append(of[g], o.in.Range[at:at+each]...)
		}
	}
	return func(c int) []num.Range { return of[c/(o.mh/groups)] }
}

// Describe returns the facts of the layer.
func (o *op) Describe() dataflow.LayerDescription {
	d := o.Base.Describe()
	d.Dependence, d.Computation = o.dependence, o.computation
	mac.DescribeUnit(o.Unit, &d)
	d.Counts = o.counts
	return d
}

// dependence says that every vector of a frame is computed independently.
func (o *op) dependence() dataflow.Dependence { return dataflow.NewSeparateDependence(1, o.vectors) }

// computation describes Eval as data, which compiled engines execute. It returns nil if products are requantised.
func (o *op) computation() dataflow.Computation {
	if o.P.Product != nil {
		return nil
	}
	p := dataflow.ProductsComputation{Weights: o.P.Weights, Steps: o.P.Steps, Vectors: o.vectors, Groups: o.P.groups(),
		Runs: 1,
		Run:  o.mw, Stride: o.mw}
	if p.Groups > 1 {
		p.Stride = o.window
		p.Run = p.Stride / p.Groups
		p.Runs = o.mw / p.Run
	}
	return p
}

func (o *op) Eval(in []dataflow.Tensor) []dataflow.Tensor {
	groups := o.P.groups()
	channels := in[0].Shape.ChannelCount()
	run := o.mw // adjacent elements of a frame that meet the same weights
	if groups > 1 {
		run = channels / groups
	}
	runs, each := o.mw/run, o.mh/groups
	y := dataflow.Tensor{Shape: o.out.Shape, Data: make([]int64, 0, o.vectors*o.mh)}
	for v := range o.vectors {
		x := in[0].Data[v*groups*o.mw : (v+1)*groups*o.mw]
		for c := range o.mh {
			row, group := o.P.Weights[c], c/each
			sum := int64(0)
			for k := range runs {
				sum += o.P.dot(row[k*run:(k+1)*run], x[k*channels+group*run:])
			}
			y.Data = append(y.Data, o.ExactOutput(c, sum))
		}
	}
	return []dataflow.Tensor{y}
}

// dot returns the sum of the products of w with the first elements of x, which must not be shorter. Each product is
// requantised if Params.Product is set.
func (p *Params) dot(w, x []int64) (sum int64) {
	x = x[:len(w)]
	if p.Product != nil {
		for i, v := range w {
			sum += p.Product.Apply(v * x[i])
		}
		return sum
	}
	for i, v := range w {
		sum += v * x[i]
	}
	return sum
}

// folds returns the trips of the two inner loops: nf output words of a group, and for each of them sf input words.
func (o *op) folds(f dataflow.Fold) (nf, sf int) { return o.mh / o.P.groups() / f.PE, o.mw / f.SIMD }

// Folds yields every PE that divides a group's outputs and every SIMD that divides its inputs, within the limits of
// HLS. They come in increasing order, with each memory and each kind of multiplier that the operands need.
func (o *op) Folds() dataflow.FoldIterator {
	return o.Unit.FoldsThatFit(o.pe, o.simd, func(f dataflow.Fold) bool {
		return o.IsFoldWithinHLSLimits(f.SIMD, f,
			o.vectors)
	})
}

func (o *op) Ports(f dataflow.Fold) (in, out []dataflow.Port) {
	x := o.in.RowMajorPort(f.SIMD)
	x.Tile = o.tile
	return []dataflow.Port{x}, []dataflow.Port{o.out.RowMajorPort(f.PE)}
}

func (o *op) Loop(f dataflow.Fold, t dataflow.Target) dataflow.Loop {
	each, first, last := dataflow.IndexSet{Kind: dataflow.IndexSetKindEvery},
		dataflow.IndexSet{Kind: dataflow.IndexSetKindFirst},
		dataflow.IndexSet{Kind: dataflow.IndexSetKindLast}
	nf, sf := o.folds(f)
	c := layer.NewIterationChain(t)
	if nf > 1 {
		c.DoConditionalStreamRead()
		c.DoCounterLookup(sf, f.SIMD*o.in.Elem.Width, dataflow.NoMemory)
		c.DoSelect(1)
	} else {
		c.DoStreamRead()
	}
	o.AppendToChain(&c, f, o.DSPPackingForChannels(f.PE, f, t))
	return layer.LoopWithBackEndLatency(o, mac.FoldWithoutUnusedMemory(o.Unit, f), t, dataflow.LoopNest{
		Trips:   []int{o.vectors * o.P.groups(), nf, sf},
		Read:    []dataflow.PortMoveIndices{{each, first, each}},
		Write:   []dataflow.PortMoveIndices{{each, each, last}},
		Latency: c.DoStreamWrite(),
	}.AsLoop())
}

// A kernel is the state of the hardware: counters, the vector of a group, and a sum per PE. Sums wrap around at 64
// bits rather than at the accumulator's width, which leaves the accumulator's bits right.
type kernel struct {
	o      *op
	f      dataflow.Fold
	nf, sf int     // extents of the loop
	inner  int     // the iteration's sf
	outer  int     // the iteration's g*NF+nf
	vector []int64 // the group's vector
	sums   []int64 // by PE
	output func(first int, sums []int64) dataflow.Word
	words  [1]dataflow.Word
}

func (o *op) Kernel(f dataflow.Fold, _ dataflow.Target) dataflow.Kernel {
	k := &kernel{o: o, f: f, vector: make([]int64, o.mw), sums: make([]int64, f.PE),
		output: o.NewHardwareOutputFunc(f)}
	k.nf, k.sf = o.folds(f)
	return k
}

func (k *kernel) Step(_ int, in []dataflow.Word) []dataflow.Word {
	at := k.inner * k.f.SIMD
	x := k.vector[at : at+k.f.SIMD]
	if k.outer%k.nf == 0 {
		copy(x, in[0])
	}
	first := k.outer * k.f.PE
	for pe, row := range k.o.P.Weights[first : first+k.f.PE] {
		sum := k.o.P.dot(row[at:at+len(x)], x)
		if k.inner > 0 {
			sum += k.sums[pe]
		}
		k.sums[pe] = sum
	}
	k.words[0] = nil
	if k.inner++; k.inner == k.sf {
		k.words[0] = k.output(first, k.sums)
		k.inner = 0
		k.outer = (k.outer + 1) % (k.o.mh / k.f.PE)
	}
	return k.words[:]
}

func (o *op) Emit(f dataflow.Fold, t dataflow.Target) dataflow.KernelInstance {
	nf, sf := o.folds(f)
	i := o.Unit.EmitInstance(f, o.DSPPackingForChannels(f.PE, f, t), "mvau", "outputs", "inputs",
		dataflow.ConfigField{Name: "groups", Doc: "parts of a vector, each with its own outputs", Value: o.P.groups()},
		dataflow.ConfigField{Name: "nf", Doc: "output words of a group", Value: nf},
		dataflow.ConfigField{Name: "sf", Doc: "input words of a group", Value: sf})
	i.Storage = o.storage(f)
	i.Config = append(i.Config, mac.LaneAccumulatorConfigFieldsOf(o.Unit, f, t)...)
	return i
}

// counts returns the numbers of operations and parameters of a frame, by FINN's names for them.
func (o *op) counts() map[string]int64 { return o.Unit.OpAndParamCounts(o.vectors) }
