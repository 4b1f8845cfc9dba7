package operators

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/program"
)

// A recurrent reads ONNX' LSTM, GRU or RNN and writes loops for it. The inputs are X, W, R, B, sequence_lens, initial_h
// and, for an LSTM, initial_c and P. The outputs are Y and the last states.
type recurrent struct {
	*call
	kind             *cellKind
	directions       []bool // whether each direction is reversed
	time, samples    int
	used             int // the length of the sequences, in steps
	elements, hidden int
	batchFirst       bool
	w, r, b, peep    *graph.ConstantTensor // b and peep may be nil
	functions        []activation
	quant            map[string]quantParams
	clip             float64
	sequences        []string   // by direction
	last             [][]string // by state and direction
}

// buildRecurrent writes a loop for each direction.
func buildRecurrent(c *call) {
	r := &recurrent{call: c, kind: cells(c.Op), batchFirst: c.IsFlagAttrSet("layout"), clip: c.FloatAttrOr("clip", 0)}
	r.readAttributes()
	r.readShapes()
	r.readActivations()
	r.readFormats()
	r.last = make([][]string, len(r.kind.states))
	x := r.begin()
	for d := range r.directions {
		r.direction(d, x)
	}
	r.finish()
}

func (r *recurrent) readAttributes() {
	switch d := r.StringAttrOr("direction", "forward"); d {
	case "forward":
		r.directions = []bool{false}
	case "reverse":
		r.directions = []bool{true}
	case "bidirectional":
		r.directions = []bool{false, true}
	default:
		invalid("direction %q", d)
	}
	if r.opset < 7 {
		unsupported("convert the model to opset 7 or later", "the form of %s before opset 7", r.Op)
	}
	if r.clip < 0 {
		invalid("clip is %g", r.clip)
	}
}

func (r *recurrent) readShapes() {
	x := r.x
	if len(x) != 3 || !r.dt.IsReal() {
		invalid("x is of type %s and shape %v, want reals of time, samples and elements", r.dt, x)
	}
	r.time, r.samples, r.elements = x[0], x[1], x[2]
	if r.batchFirst {
		r.time, r.samples = r.samples, r.time
	}
	r.w, r.r = r.weights(1, "W"), r.weights(2, "R")
	d, gates := len(r.directions), len(r.kind.gates)
	if len(r.r.Shape) == 3 {
		r.hidden = r.r.Shape[2]
	}
	if h := int(r.IntAttrOr("hidden_size", int64(r.hidden))); h != r.hidden || h < 1 ||
		!slices.Equal(r.w.Shape, []int{d, gates * h, r.elements}) || !slices.Equal(r.r.Shape, []int{d, gates * h, h}) {
		invalid("W and R have shapes %v and %v for %d directions, %d units and %d elements", r.w.Shape,
			r.r.Shape, d, h, r.elements)
	}
	for _, o := range []struct {
		slot, size int
		to         **graph.ConstantTensor
		what       string
	}{{3, 2 * gates * r.hidden, &r.b, "B"}, {7, 3 * r.hidden, &r.peep, "P"}} {
		if !r.HasInput(o.slot) {
			continue
		}
		*o.to = r.weights(o.slot, o.what)
		if !slices.Equal((*o.to).Shape, []int{d, o.size}) {
			invalid("%s has shape %v, want %v", o.what, (*o.to).Shape, []int{d, o.size})
		}
	}
	r.readLengths()
}

// readLengths reads the lengths of sequences. If they are constants, they must be the same for all samples.
func (r *recurrent) readLengths() {
	r.used = r.time
	if !r.HasInput(4) {
		return
	}
	list := r.constInts(4, "sequence_lens")
	if len(list) != r.samples {
		invalid("sequence_lens has %d entries for %d samples", len(list), r.samples)
	}
	r.used = int(min(list[0], int64(r.time)+1))
	if r.used < 1 || r.used > r.time {
		invalid("sequence_lens is %v, of %d elements", list, r.time)
	}
	for _, n := range list {
		if n != list[0] {
			unsupported("make sequence_lens an input of the model, which has a length for each sample",
				"sequences of lengths %v among %d elements", list, r.time)
		}
	}
}

// withAlpha and withBeta hold the defaults of the activations' parameters (ONNX, operator LSTM). plain lists the
// activations without parameters.
var (
	withAlpha = map[string]float64{"HardSigmoid": 0.2, "LeakyRelu": 0.01, "Elu": 1, "Affine": 1, "ScaledTanh": 1}
	withBeta  = map[string]float64{"HardSigmoid": 0.5, "Affine": 0, "ScaledTanh": 1}
	plain     = []string{"Sigmoid", "Tanh", "Relu", "Softsign", "Softplus"}
)

func (r *recurrent) readActivations() {
	names := []string{}
	if a, ok := r.Attrs["activations"]; ok {
		names = a.Strings
	} else {
		for range r.directions {
			names = append(names, r.kind.activations...)
		}
	}
	if len(names) != len(r.kind.activations)*len(r.directions) {
		invalid("%d activations for %d directions", len(names), len(r.directions))
	}
	known := append([]string{}, plain...)
	for name := range withAlpha {
		known = append(known, name)
	}
	slices.Sort(known)
	alphas, betas := r.Attrs["activation_alpha"].Floats, r.Attrs["activation_beta"].Floats
	take := func(list *[]float64, def float64, used bool) float64 {
		if !used || len(*list) == 0 {
			return float64(float32(def))
		}
		v := (*list)[0]
		*list = (*list)[1:]
		return v
	}
	for _, name := range names {
		k := slices.IndexFunc(known, func(s string) bool { return strings.EqualFold(s, name) })
		if k < 0 {
			unsupported("use one of "+strings.Join(known, ", "), "activation %q", name)
		}
		alpha, hasAlpha := withAlpha[known[k]]
		beta, hasBeta := withBeta[known[k]]
		a := activation{known[k], take(&alphas, alpha, hasAlpha), take(&betas, beta, hasBeta)}
		if math.IsNaN(a.alpha+a.beta) || math.IsInf(a.alpha+a.beta, 0) {
			invalid("activation %q has parameters %g and %g", name, a.alpha, a.beta)
		}
		r.functions = append(r.functions, a)
	}
}

// readFormats records the formats that the user gives for this node's cell.
func (r *recurrent) readFormats() {
	for _, file := range r.p.options.Cells {
		f, _, ok := file.FormatsOfNode(r.file())
		if !ok || f.MismatchReason(r.file()) != "" { // the reader of the files reports what is missing
			continue
		}
		r.quant = map[string]quantParams{}
		for name, q := range f {
			r.quant[name] = q.params()
		}
		return
	}
}

// params returns the format as the parameters of a Quant node.
func (f CellQuantiserFormat) params() quantParams {
	return quantParams{graph.NewFilledTensor(graph.DTypeFloat32, nil, f.Scale),
		graph.NewFilledTensor(graph.DTypeFloat32, nil,
			f.Zero),
		graph.NewFilledTensor(graph.DTypeFloat32, nil, float64(f.Bits)),
		graph.AttributesByName{"signed": graph.NewFlagAttr(f.Signed),
			"narrow":        graph.NewFlagAttr(f.Narrow),
			"rounding_mode": graph.NewStringAttr(f.Rounding)}}
}

// axisT returns the index of the time axis of X.
func (r *recurrent) axisT() int {
	if r.batchFirst {
		return 1
	}
	return 0
}

// begin returns the name of a tensor that holds the part of X within the length of the sequences.
func (r *recurrent) begin() string {
	if r.used == r.time {
		return r.Inputs[0]
	}
	steps := r.constant("steps", &graph.ConstantTensor{DType: graph.DTypeInt64, Shape: []int{r.used},
		I: program.NewCountingSlice[int64](r.used)})
	return r.part("", OpGather, "begin", graph.AttributesByName{"axis": graph.NewIntAttr(r.axisT())}, r.Inputs[0],
		steps)
}

// rows returns the rows of one gate, or of one bias, in a constant that has all rows for each direction.
func (r *recurrent) rows(t *graph.ConstantTensor, d, all, first, cols int) *graph.ConstantTensor {
	at := (d*all + first) * cols
	shape := []int{r.hidden}
	if len(t.Shape) == 3 {
		shape = []int{r.hidden, cols}
	}
	return &graph.ConstantTensor{DType: t.DType, Shape: shape, F: t.Floats()[at : at+r.hidden*cols]}
}

// direction writes direction d as a loop over x.
func (r *recurrent) direction(d int, x string) {
	h, k := r.hidden, r.kind
	n, acts := len(k.gates), len(k.activations)
	c := &cell{cellKind: k, n: r.samples, in: r.elements, hidden: h, quant: r.quant, clip: r.clip,
		coupled: r.IsFlagAttrSet("input_forget"), resetsSum: r.IsFlagAttrSet("linear_before_reset"),
		functions: r.functions[acts*d : acts*(d+1)],
		w:         gateTensors{}, r: gateTensors{}, wb: gateTensors{}, rb: gateTensors{}, peep: gateTensors{}}
	for g, gate := range k.gates {
		c.w[gate], c.r[gate] = r.rows(r.w, d, n*h, g*h, r.elements), r.rows(r.r, d, n*h, g*h, h)
		if r.b != nil {
			c.wb[gate], c.rb[gate] = r.rows(r.b, d, 2*n*h, g*h, 1), r.rows(r.b, d, 2*n*h, (n+g)*h, 1)
		}
		if r.peep != nil && g < 3 { // for all gates but the last
			c.peep[gate] = r.rows(r.peep, d, 3*h, g*h, 1)
		}
	}
	var initial, out []string
	for s, state := range k.states {
		initial = append(initial, r.state(c, state, 5+s, d))
		out = append(out, r.named(1+s, "last", d))
		r.last[s] = append(r.last[s], out[s])
	}
	out = append(out, r.named(0, "sequence", d))
	r.sequences = append(r.sequences, out[len(out)-1])
	c.loop(r.call, initial, x, program.ScanAxis{Axis: r.axisT(), Reverse: r.directions[d]}, out)
}

// named returns a new name for a direction's share of an output, or "" if the output is not used.
func (r *recurrent) named(output int, suffix string, d int) string {
	if r.OutputName(output) == "" {
		return ""
	}
	return r.p.fresh(r.OutputName(output), fmt.Sprintf("%s%d", suffix, d))
}

// state returns the name of the initial state of direction d.
func (r *recurrent) state(c *cell, state string, slot, d int) string {
	if !r.HasInput(slot) {
		return c.initial(r.call, state, "")
	}
	axis, want := 0, []int{len(r.directions), r.samples, r.hidden}
	if r.batchFirst {
		axis, want = 1, []int{want[1], want[0], want[2]}
	}
	if !slices.Equal(r.in[slot].Shape, want) {
		invalid("initial state %d has shape %v, want %v", slot, r.in[slot].Shape, want)
	}
	one := r.part("", OpGather, "initial", graph.AttributesByName{"axis": graph.NewIntAttr(axis)}, r.Inputs[slot],
		r.constant("direction", &graph.ConstantTensor{DType: graph.DTypeInt64, I: []int64{int64(d)}}))
	return c.initial(r.call, state, one)
}

// finish joins the directions: along axis 1 of Y and axis 0 of the last states, or along axes 2 and 1 if samples come
// first. Steps after the end of the sequences are zeros.
func (r *recurrent) finish() {
	n, h := r.samples, r.hidden
	whole, rest, last := []int{r.used, 1, n, h}, []int{r.time - r.used, len(r.directions), n, h}, []int{1, n, h}
	axisY, axisLast := 1, 0
	if r.batchFirst {
		whole, rest, last = []int{n, r.used, 1, h}, []int{n, r.time - r.used, len(r.directions), h}, []int{n, 1, h}
		axisY, axisLast = 2, 1
	}
	if y := r.OutputName(0); y != "" && r.used < r.time {
		part := r.p.fresh(y, "begin")
		r.side(part, r.sequences, whole, axisY)
		zeros := r.constant("rest", graph.NewFilledTensor(graph.DTypeFloat32, rest, 0))
		r.write("", OpConcat, graph.AttributesByName{"axis": graph.NewIntAttr(r.axisT())}, y, []string{part, zeros})
	} else {
		r.side(y, r.sequences, whole, axisY)
	}
	for s := range r.kind.states {
		r.side(r.OutputName(1+s), r.last[s], last, axisLast)
	}
}

// side writes an output from the results of the directions, in a shape with an axis for directions.
func (r *recurrent) side(output string, given []string, shape []int, axis int) {
	switch {
	case output == "":
		return
	case len(given) == 1:
		r.write("", OpReshape, exactShape, output, []string{given[0], r.shape(shape)})
		return
	}
	var parts []string
	for _, p := range given {
		parts = append(parts, r.reshaped(p, shape))
	}
	r.write("", OpConcat, graph.AttributesByName{"axis": graph.NewIntAttr(axis)}, output, parts)
}
