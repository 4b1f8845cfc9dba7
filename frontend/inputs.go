package frontend

import (
	"fmt"
	"maps"
	"math"
	"math/big"
	"slices"
	"strings"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/operators"
	"hlsgen/frontend/real"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/num"
)

// An IntegerInputType declares that the model's inputs arrive as integers of a type. Integer k of a channel stands for
// (Scale*k + Offset - Mean) / Deviation, exactly.
type IntegerInputType struct {
	Type   num.Type
	Scale  *big.Rat
	Offset *big.Rat // nil for 0
	// Normal holds for the inputs that Inputs does not name.
	InputNormalisation
	Inputs map[string]InputNormalisation
}

// An InputNormalisation holds a mean and a deviation, for all channels or for each. nil means 0 and 1. The channels lie
// along axis 1, or along the last axis if axis 1 has another size.
type InputNormalisation struct{ Mean, Deviation []*big.Rat }

// MeanFlagValues returns the means of the normalisations in the form of --input-mean, one text for each use of the
// flag.
func (t *IntegerInputType) MeanFlagValues() []string {
	return t.texts(func(n InputNormalisation) []*big.Rat { return n.Mean })
}

// StdFlagValues returns the deviations of the normalisations in the form of --input-std, one text for each use of the
// flag.
func (t *IntegerInputType) StdFlagValues() []string {
	return t.texts(func(n InputNormalisation) []*big.Rat { return n.Deviation })
}

func (t *IntegerInputType) texts(of func(InputNormalisation) []*big.Rat) (list []string) {
	add := func(input string, n InputNormalisation) {
		var numbers []string
		for _, r := range of(n) {
			numbers = append(numbers, r.RatString())
		}
		if numbers != nil {
			list = append(list, input+strings.Join(numbers, ","))
		}
	}
	add("", t.InputNormalisation)
	for _, input := range slices.Sorted(maps.Keys(t.Inputs)) {
		add(input+"=", t.Inputs[input])
	}
	return list
}

// normal returns the mean and the deviation that apply to an input.
func (t *IntegerInputType) normal(input string) (n InputNormalisation) {
	n = t.Inputs[input]
	if n.Mean == nil {
		n.Mean = t.Mean
	}
	if n.Deviation == nil {
		n.Deviation = t.Deviation
	}
	return n
}

// String returns the type, the scale and the offset in the form of --input-type.
func (t *IntegerInputType) String() string {
	s := t.Type.String() + ":" + t.Scale.RatString()
	if t.Offset != nil && t.Offset.Sign() != 0 {
		s += ":" + t.Offset.RatString()
	}
	return s
}

// of returns the functions from integers to values under a normalisation: one per channel, or a single one for all.
func (t *IntegerInputType) of(n InputNormalisation) (of []real.Affine) {
	for c := range max(1, len(n.Mean), len(n.Deviation)) {
		a := real.Affine{Scale: new(big.Rat).Set(t.Scale), Bias: new(big.Rat)}
		if t.Offset != nil {
			a.Bias.Set(t.Offset)
		}
		if n.Mean != nil {
			a.Bias.Sub(a.Bias, n.Mean[min(c, len(n.Mean)-1)])
		}
		if n.Deviation != nil {
			by := new(big.Rat).Inv(n.Deviation[min(c, len(n.Deviation)-1)])
			a.Scale.Mul(a.Scale, by)
			a.Bias.Mul(a.Bias, by)
		}
		of = append(of, a)
	}
	return of
}

// insert records for every input of the graph, except those in has, that it arrives as integers. ok is false after
// errors were added to d.
func (t *IntegerInputType) insert(g *graph.Graph, file string, has []string, d *diag.List) (ok bool) {
	g.Arrive = map[string]*graph.IntegerInputEncoding{}
	refuse := func(in graph.ValueInfo, msg, hint string) bool {
		d.Add(diag.Diag{Severity: diag.SeverityError, Code: diag.InputFlagsUnfit, Node: in.Name, Op: "input",
			Where: file, Msg: msg,
			Hint: hint})
		return false
	}
	for _, name := range slices.Sorted(maps.Keys(t.Inputs)) {
		if !slices.ContainsFunc(g.Inputs, func(in graph.ValueInfo) bool {
			return in.Name == name &&
				in.DType.IsReal()
		}) {
			var known []string
			for _, in := range g.Inputs {
				if in.DType.IsReal() {
					known = append(known, fmt.Sprintf("%q", in.Name))
				}
			}
			return refuse(graph.ValueInfo{Name: name},
				"--input-mean or --input-std names it, which is no input of real numbers",
				"these are: "+strings.Join(known, ", "))
		}
	}
	if t.Scale == nil {
		return refuse(g.Inputs[0], "--input-mean and --input-std need integer inputs, and there are none",
			"give --input-type, too: UINT8:1/255 for pixels")
	}
	b := &inserting{Graph: g, taken: g.UsedTensorNames()}
	for _, in := range g.Inputs {
		if slices.Contains(has, in.Name) {
			continue
		}
		if !in.DType.IsReal() {
			g.Arrive[in.Name] = graph.NewIdentityEncoding(t.Type)
			continue
		}
		normal, axis := t.normal(in.Name), 0
		one := "give one number for all channels, or one for each"
		if a, b := len(normal.Mean), len(normal.Deviation); a > 1 && b > 1 && a != b {
			return refuse(in, fmt.Sprintf("--input-mean gives %d numbers, --input-std %d", a, b), one)
		}
		of := t.of(normal)
		if len(of) > 1 {
			if axis = channels(in, len(of)); axis == 0 {
				if len(g.Inputs) > 1 {
					one += fmt.Sprintf("; of another input than %q, name it: --input-mean NAME=...", in.Name)
				}
				return refuse(in, fmt.Sprintf("--input-mean and --input-std give %d numbers, but neither axis 1 nor "+
					"the last axis has as many channels", len(of)), one)
			}
		}
		a, err := graph.NewIntegerInputEncoding(t.Type, of, axis, in.DType.FloatFormat())
		if err != nil {
			return refuse(in, err.Error(), "give --input-type another scale, or fewer bits")
		}
		g.Arrive[in.Name] = a
		if !slices.ContainsFunc(of, func(of real.Affine) bool { return of.Bias.Sign() != 0 }) {
			continue
		}
		// The padding value of a convolution is usually not a value of the input. Lowering then gives this tensor codes
		// of its own.
		out := b.fresh(in.Name + ".values")
		b.moveReaders(in.Name, out)
		b.first = append(b.first, operators.NewMulByOneNode("input-type", in.Name, b.constant(out+".one", in.DType, 1),
			out))
	}
	g.Nodes = append(b.first, g.Nodes...)
	return true
}

// channels returns the axis of an input that has n elements, counted from the last axis (1), or 0 if there is none.
func channels(in graph.ValueInfo, n int) int {
	rank := len(in.Dims)
	switch {
	case !in.Known || rank == 0:
		return 0
	case rank > 1 && in.Dims[1].Size == n:
		return rank - 1
	case in.Dims[rank-1].Size == n:
		return 1
	}
	return 0
}

// An AddedInputQuantiser is a quantiser that the user puts in front of every real-valued input that the model does not
// quantise itself.
type AddedInputQuantiser struct {
	Type  num.Type // INTn or UINTn
	Scale float64  // rounded to float32, as in a model's file
}

// insert puts the quantiser behind every real-valued input except those in has, and adds notes to d.
func (q *AddedInputQuantiser) insert(g *graph.Graph, file string, has []string, d *diag.List) {
	b := &inserting{Graph: g, taken: g.UsedTensorNames()}
	for _, in := range g.Inputs {
		if !in.DType.IsReal() || slices.Contains(has, in.Name) {
			continue
		}
		out := b.fresh(in.Name + ".quantised")
		b.moveReaders(in.Name, out)
		b.first = append(b.first, &graph.Node{Index: -1, Name: "input-quant", Op: operators.OpQuant,
			Domain:  operators.QONNXDomain,
			Outputs: []string{out}, Attrs: graph.AttributesByName{"signed": graph.NewFlagAttr(q.Type.IsSigned())},
			Inputs: []string{in.Name, b.constant(out+".scale", graph.DTypeFloat32, q.Scale),
				b.constant(out+".zero", graph.DTypeFloat32, 0),
				b.constant(out+".bits", graph.DTypeFloat32, float64(q.Type.Width))}})
		d.Add(diag.Diag{Severity: diag.SeverityNote, Code: diag.InputQuantiserAdded, Node: in.Name, Op: "input",
			Where: file,
			Msg: fmt.Sprintf("a quantiser to %s with scale %v was put behind this input, which changes the model",
				q.Type, q.Scale),
			Hint: "what the engines agree on is the changed model: measure its accuracy"})
	}
	g.Nodes = append(b.first, g.Nodes...)
}

// An inserting adds nodes to a graph, directly behind its inputs.
type inserting struct {
	*graph.Graph
	taken graph.UsedTensorNames
	first []*graph.Node
}

func (b *inserting) fresh(name string) string {
	for !b.taken.MarkUsed(name) {
		name += "_"
	}
	return name
}

func (b *inserting) constant(name string, as graph.DType, v float64) string {
	name = b.fresh(name)
	b.Init[name] = &graph.ConstantTensor{DType: as, F: []float64{v}}
	return name
}

// moveReaders makes the readers of an input read another tensor.
func (b *inserting) moveReaders(input, out string) {
	for _, n := range b.Nodes {
		for i, name := range n.Inputs {
			if name == input {
				n.Inputs[i] = out
			}
		}
	}
}

// grids records the possible values of the inputs that arrive as integers.
func grids(in []dataflow.RealTensorInfo, arrive map[string]*graph.IntegerInputEncoding) {
	for k := range in {
		a := arrive[in[k].Name]
		if a == nil {
			continue
		}
		r := a.Type.Range()
		in[k].Range = [2]float64{math.Inf(1), math.Inf(-1)}
		for c := range a.Of {
			in[k].Range[0] = min(in[k].Range[0], a.RoundedValueOf(c, r.Lo))
			in[k].Range[1] = max(in[k].Range[1], a.RoundedValueOf(c, r.Hi))
		}
		shape := in[k].Shape
		in[k].Grid = func(i int, x float64) float64 { return a.NearestValueTo(a.ChannelOfElement(shape, i), x) }
		if _, _, integer := in[k].IntegerLimits(); !integer {
			in[k].Arrives = &dataflow.IntegerInputMeaning{Type: a.Type, Channels: len(a.Of), Within: a.Within,
				Of:    a.ChannelOfElement,
				Value: a.RoundedValueOf}
		}
	}
}

// An InputValueOffGridError is the error for a value for which no integer of an input stands.
type InputValueOffGridError = graph.InputValueOffGridError
