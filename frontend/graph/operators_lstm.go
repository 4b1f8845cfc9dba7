package graph

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// buildQuantLSTMCell writes Brevitas' cell as a loop. Inputs: 0 x, 1 h, 2 c, 3.. four W, 7.. four R, 11.. four biases,
// all in the order i, f, c, o; from 15 scale, zero point and bit width of eleven quantisers. Outputs: the sequence, the
// last h, the last c.
func buildQuantLSTMCell(c *call) {
	x := c.x
	if len(x) != 3 {
		invalid("x has shape %v, want time, samples and elements", x)
	}
	along := Scanned{Reverse: c.flag("reverse_input")}
	if c.flag("batch_first") {
		along.Axis = 1
	}
	cell := &cell{n: x[1-along.Axis], in: x[2], f: activation{op: "Sigmoid"}, g: activation{op: "Tanh"},
		h: activation{op: "Tanh"}, coupled: c.flag("cifg")}
	for g := range 4 {
		w := c.weights(3+g, "W_i"+gateNames[g])
		if cell.hidden == 0 && len(w.Shape) == 2 {
			cell.hidden = w.Shape[0]
		}
		u := c.weights(7+g, "W_h"+gateNames[g])
		b := c.weights(11+g, "b_"+gateNames[g])
		if !slices.Equal(w.Shape, []int{cell.hidden, cell.in}) ||
			!slices.Equal(u.Shape, []int{cell.hidden, cell.hidden}) {
			invalid("weights of gate %s have shapes %v and %v, want %d units of %d elements", gateNames[g],
				w.Shape, u.Shape, cell.hidden, cell.in)
		}
		if b.Len() != 1 && !slices.Equal(b.Shape, []int{cell.hidden}) {
			invalid("the bias of gate %s has shape %v, want %d units", gateNames[g], b.Shape, cell.hidden)
		}
		cell.w[g], cell.r[g] = w, u
		if b.Len() != 1 || b.At(0) != 0 {
			cell.bias[g] = []*Tensor{b}
		}
	}
	cell.readQuantisers(c)
	h := cell.initial(c, c.Inputs[1])
	state := cell.initial(c, c.Inputs[2])
	cell.loop(c, h, state, c.Inputs[0], along, [3]string{c.output(1), c.output(2), c.output(0)})
}

// output is the name of an output, empty where it is not in use.
func (n *Node) output(i int) string { return slot(n.Outputs, i) }

// weights is a constant input of reals.
func (c *reading) weights(slot int, what string) *Tensor {
	t := c.in[slot].Const
	switch {
	case t == nil:
		unsupported("export with constant parameters", "%s is not constant, or no float32", what)
	case !t.DType.Float():
		invalid("%s is of type %s", what, t.DType)
	}
	return t
}

// cellQuantisers reads the quantisers of a QuantLSTMCell.
func (cell *cell) readQuantisers(c *call) {
	cell.quant = new([11]quantParams)
	for k, name := range FormatNames {
		q := &cell.quant[k]
		for i, to := range []**Tensor{&q.scale, &q.zero, &q.bits} {
			slot := 15 + 3*k + i
			t := c.in[slot].Const
			if t == nil || t.Len() != 1 {
				badQuant("export with constant quantiser parameters, one for all units",
					"input %d, of quantiser %s, is not one constant", slot, name)
			}
			*to = t
		}
		narrow, isNarrow := c.Attrs[name+"_narrow"]
		if !isNarrow {
			narrow, isNarrow = c.Attrs[name+"_narrow_range"] // as Brevitas spells one of them
		}
		signed, isSigned := c.Attrs[name+"_signed"]
		mode, isMode := c.Attrs[name+"_rounding_mode"]
		if !isNarrow || !isSigned || !isMode {
			badQuant("export the cell with all of its eleven quantisers",
				"attributes of quantiser %s are missing", name)
		}
		q.attrs = Attrs{"narrow": narrow, "signed": signed, "rounding_mode": mode}
	}
}

// params are a format as the parameters of a Quant node.
func (f CellFormat) params() quantParams {
	return quantParams{filled(Float32, nil, f.Scale), filled(Float32, nil, f.Zero),
		filled(Float32, nil, float64(f.Bits)), Attrs{"signed": FlagAttr(f.Signed), "narrow": FlagAttr(f.Narrow),
			"rounding_mode": StringAttr(f.Rounding)}}
}

// An lstm is ONNX' operator being read. Its gates are in the order i, o, f, c.
type lstm struct {
	*call
	directions            []bool // which are reversed
	time, samples         int
	elements, hidden      int
	batchFirst            bool
	w, r, b, peep         *Tensor // b and peep may be nil
	quant                 *[11]quantParams
	activations           []activation // three per direction
	clip                  float64
	coupled               bool
	lastH, lastC, outputs []string // per direction
}

// onnxGates is where gates i, f, c, o stand in ONNX' tensors.
var onnxGates = [4]int{0, 2, 3, 1}

func buildLSTM(c *call) {
	l := &lstm{call: c, batchFirst: c.flag("layout"), clip: c.Float("clip", 0), coupled: c.flag("input_forget")}
	l.readAttributes()
	l.readShapes()
	l.readActivations()
	l.readFormats()
	for d := range l.directions {
		l.direction(d)
	}
	l.finish()
}

func (l *lstm) readAttributes() {
	switch d := l.Str("direction", "forward"); d {
	case "forward":
		l.directions = []bool{false}
	case "reverse":
		l.directions = []bool{true}
	case "bidirectional":
		l.directions = []bool{false, true}
	default:
		invalid("direction %q", d)
	}
	if l.opset < 7 {
		unsupported("convert the model to opset 7 or later", "the form of LSTM before opset 7")
	}
	if l.clip < 0 {
		invalid("clip is %g", l.clip)
	}
}

func (l *lstm) readShapes() {
	x := l.x
	if len(x) != 3 || !l.dt.Float() {
		invalid("x is of type %s and shape %v, want reals of time, samples and elements", l.dt, x)
	}
	l.time, l.samples, l.elements = x[0], x[1], x[2]
	if l.batchFirst {
		l.time, l.samples = l.samples, l.time
	}
	l.w, l.r = l.weights(1, "W"), l.weights(2, "R")
	d := len(l.directions)
	if len(l.r.Shape) == 3 {
		l.hidden = l.r.Shape[2]
	}
	if h := int(l.Int("hidden_size", int64(l.hidden))); h != l.hidden || l.hidden < 1 ||
		!slices.Equal(l.w.Shape, []int{d, 4 * h, l.elements}) || !slices.Equal(l.r.Shape, []int{d, 4 * h, h}) {
		invalid("W and R have shapes %v and %v for %d directions, %d units and %d elements", l.w.Shape,
			l.r.Shape, d, h, l.elements)
	}
	for _, o := range []struct {
		slot, size int
		to         **Tensor
		what       string
	}{{3, 8 * l.hidden, &l.b, "B"}, {7, 3 * l.hidden, &l.peep, "P"}} {
		if !l.has(o.slot) {
			continue
		}
		*o.to = l.weights(o.slot, o.what)
		if !slices.Equal((*o.to).Shape, []int{d, o.size}) {
			invalid("%s has shape %v, want %v", o.what, (*o.to).Shape, []int{d, o.size})
		}
	}
	l.readLengths()
}

// readLengths accepts lengths of sequences that are all the whole.
func (l *lstm) readLengths() {
	if !l.has(4) {
		return
	}
	list := l.constInts(4, "sequence_lens")
	for _, n := range list {
		if n != int64(l.time) {
			unsupported("feed sequences of one length", "sequences of lengths %v among %d elements", list,
				l.time)
		}
	}
}

// withAlpha and withBeta give the defaults of the activations' parameters (ONNX, operator LSTM).
var (
	withAlpha = map[string]float64{"HardSigmoid": 0.2, "LeakyRelu": 0.01, "Elu": 1, "Affine": 1, "ScaledTanh": 1}
	withBeta  = map[string]float64{"HardSigmoid": 0.5, "Affine": 0, "ScaledTanh": 1}
	plain     = []string{"Sigmoid", "Tanh", "Relu", "Softsign", "Softplus"}
)

func (l *lstm) readActivations() {
	names := []string{}
	if a, ok := l.Attrs["activations"]; ok {
		names = a.Strings
	} else {
		for range l.directions {
			names = append(names, "Sigmoid", "Tanh", "Tanh")
		}
	}
	if len(names) != 3*len(l.directions) {
		invalid("%d activations for %d directions", len(names), len(l.directions))
	}
	known := append([]string{}, plain...)
	for name := range withAlpha {
		known = append(known, name)
	}
	slices.Sort(known)
	alphas, betas := l.Attrs["activation_alpha"].Floats, l.Attrs["activation_beta"].Floats
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
		l.activations = append(l.activations, a)
	}
}

// readFormats takes the formats that the user gives for this node.
func (l *lstm) readFormats() {
	cells := l.p.options.Cells
	f, ok := cells[l.file().Label()]
	if !ok {
		if f, ok = cells[EveryCell]; !ok {
			return
		}
	}
	l.quant = new([11]quantParams)
	for k := range f {
		l.quant[k] = f[k].params()
	}
}

// direction writes one direction as a loop.
func (l *lstm) direction(d int) {
	h := l.hidden
	cell := &cell{n: l.samples, in: l.elements, hidden: h, quant: l.quant, clip: l.clip, coupled: l.coupled,
		f: l.activations[3*d], g: l.activations[3*d+1], h: l.activations[3*d+2]}
	// rows is `of` rows of a constant, of which a direction has `all`.
	rows := func(t *Tensor, all, first, cols int) *Tensor {
		at := (d*all + first) * cols
		shape := []int{h}
		if len(t.Shape) == 3 {
			shape = []int{h, cols}
		}
		return &Tensor{DType: t.DType, Shape: shape, F: t.F[at : at+h*cols]}
	}
	for g, at := range onnxGates {
		cell.w[g], cell.r[g] = rows(l.w, 4*h, at*h, l.elements), rows(l.r, 4*h, at*h, h)
		if l.b != nil {
			cell.bias[g] = []*Tensor{rows(l.b, 8*h, at*h, 1), rows(l.b, 8*h, (4+at)*h, 1)}
		}
	}
	if l.peep != nil { // in the order i, o, f
		cell.peep = [4]*Tensor{rows(l.peep, 3*h, 0, 1), rows(l.peep, 3*h, 2*h, 1), nil, rows(l.peep, 3*h, h, 1)}
	}
	h0 := l.state(cell, 5, d)
	c0 := l.state(cell, 6, d)
	fresh := func(i int, suffix string) string {
		if l.output(i) == "" {
			return ""
		}
		return l.p.fresh(l.output(i), fmt.Sprintf("%s%d", suffix, d))
	}
	out := [3]string{fresh(1, "last"), fresh(2, "last"), fresh(0, "sequence")}
	l.lastH, l.lastC, l.outputs = append(l.lastH, out[0]), append(l.lastC, out[1]), append(l.outputs, out[2])
	along := Scanned{Reverse: l.directions[d]}
	if l.batchFirst {
		along.Axis = 1
	}
	cell.loop(l.call, h0, c0, l.Inputs[0], along, out)
}

// state is the initial state of a direction.
func (l *lstm) state(cell *cell, slot, d int) string {
	if !l.has(slot) {
		return cell.initial(l.call, "")
	}
	axis, want := 0, []int{len(l.directions), l.samples, l.hidden}
	if l.batchFirst {
		axis, want = 1, []int{want[1], want[0], want[2]}
	}
	if !slices.Equal(l.in[slot].Shape, want) {
		invalid("initial state %d has shape %v, want %v", slot, l.in[slot].Shape, want)
	}
	one := l.part("", "Gather", "initial", Attrs{"axis": IntAttr(axis)}, l.Inputs[slot],
		l.constant("direction", &Tensor{DType: Int64, I: []int64{int64(d)}}))
	return cell.initial(l.call, one)
}

// finish puts the directions side by side: along axis 1 of Y and axis 0 of the last states, or, with samples first,
// axes 2 and 1.
func (l *lstm) finish() {
	n, t, h := l.samples, l.time, l.hidden
	whole, last := []int{t, 1, n, h}, []int{1, n, h}
	axisY, axisLast := 1, 0
	if l.batchFirst {
		whole, last = []int{n, t, 1, h}, []int{n, 1, h}
		axisY, axisLast = 2, 1
	}
	for i, o := range []struct {
		parts []string
		shape []int
		axis  int
	}{{l.outputs, whole, axisY}, {l.lastH, last, axisLast}, {l.lastC, last, axisLast}} {
		out := l.output(i)
		if out == "" {
			continue
		}
		if len(o.parts) == 1 {
			l.write("", "Reshape", exactShape, out, []string{o.parts[0], l.shape(o.shape)})
			continue
		}
		var parts []string
		for _, p := range o.parts {
			q := l.reshaped(p, o.shape)
			parts = append(parts, q)
		}
		l.write("", "Concat", Attrs{"axis": IntAttr(o.axis)}, out, parts)
	}
}
