package frontend

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/operators"
	"hlsgen/frontend/program"
	"hlsgen/frontend/real"
	"hlsgen/frontend/scaled"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/num"
)

// A LayerDotProducts describes the sums of products of a matrix layer in the model's own integers. Weights are codes
// minus their zero point, in units of their scale. Inputs are the codes of their quantiser. An input zero point adds
// the same constant to every sum of a channel, so the accumulator ignores it.
type LayerDotProducts struct {
	Node  string // the node's label
	Layer string // the layer in the graph; "" if no layer computes it alone
	Why   string // why the file defines no integers; if set, the fields below are empty

	Weights  [][]int64 // by output channel; in the order of the file: channel, row, column
	Bits     int       // the width of a weight, from its quantiser
	In       num.Range // the range of an input
	InBits   int       // the width of an input, from its quantiser
	InSigned bool

	step   *program.Step
	row    []int32    // the channel of each output
	taps   []int32    // by index in a row of weights: the offset of its input from the output's base
	input  *big.Rat   // the real value of input 1
	zero   int64      // the input that stands for the real 0
	weight []*big.Rat // the real value of weight 1, by channel
}

// AllLayerDotProducts returns a LayerDotProducts for each product of the model with constant weights, in order. It
// returns nil if the model has no layers.
func (im *ImportedModel) AllLayerDotProducts() (list []*LayerDotProducts) {
	if im.Model == nil || im.lowered == nil {
		return nil
	}
	lowered := map[int][]*program.Step{} // products by node of the file
	for _, s := range im.program.Steps {
		if s.Dot != nil {
			lowered[s.Node.Index] = append(lowered[s.Node.Index], s)
		}
	}
	units := im.weightUnits()
	for _, s := range im.written.Steps {
		n := im.written.OriginOf(s.Node)
		if s.Dot == nil || im.written.Known[s.Node.Inputs[s.Dot.B]].Const == nil {
			continue
		}
		layer := im.lowered.Layers[n.Index]
		sum := &LayerDotProducts{Node: n.Label(), step: s}
		if i := slices.IndexFunc(im.Model.Graph.Nodes, func(n *dataflow.Node) bool { return n.Name == layer }); i >= 0 {
			sum.Layer = layer
		}
		list = append(list, sum)
		var err error
		switch same := lowered[n.Index]; {
		case len(same) != 1 || sum.Layer == "":
			err = fmt.Errorf("no layer computes it alone")
		default:
			if err = sum.readInput(im, same[0]); err == nil {
				err = sum.readWeights(im.written, units)
			}
		}
		if err != nil {
			*sum = LayerDotProducts{Node: sum.Node, Layer: sum.Layer, Why: err.Error(), step: s}
		}
	}
	return list
}

// readInput sets the fields that describe the product's inputs. The inputs must be codes of one quantiser with a known
// range; otherwise it returns an error.
func (s *LayerDotProducts) readInput(im *ImportedModel, lowered *program.Step) error {
	tensor := lowered.Node.Inputs[lowered.Dot.A]
	elements := scaled.NewCountingList(graph.ElementCount(im.program.Known[tensor].Shape))
	forms, err := im.lowered.Integer.FormsOfElements(tensor, elements)
	if err != nil {
		return err
	}
	var constants []*big.Rat
	var zero *big.Rat // the zero point, in units
	for i := range elements {
		form := forms.FormOf(i)
		if i > 0 && forms.FormIndexOf(i) == forms.FormIndexOf(i-1) && form.IsSameAtElements(i-1, i) {
			continue
		}
		of, ok := form.AffineAtElement(i)
		if !ok || len(form.IntegerVariables()) > 1 {
			return fmt.Errorf("its inputs are no codes of one quantiser")
		}
		if len(form.IntegerVariables()) == 0 || of.Scale.Sign() == 0 {
			constants = append(constants, of.Bias)
			continue
		}
		step, of, ok := im.quantised(form.IntegerVariables()[0].Tensor, of)
		if !ok {
			return fmt.Errorf("its inputs are no codes of one quantiser")
		}
		codes, _ := scaled.QuantiserCodeRange(step)
		bias := new(big.Rat).Quo(of.Bias, of.Scale)
		if s.input == nil {
			s.input, zero = of.Scale, bias
			s.of(codes, zero, operators.IsBipolarQuantiser(step.Node))
		} else if s.input.Cmp(of.Scale) != 0 || zero.Cmp(bias) != 0 || !codes.IsWithin(s.In) && zero.IsInt() {
			return fmt.Errorf("its inputs have several scales or zero points")
		}
	}
	if s.input == nil {
		return fmt.Errorf("its inputs are constants")
	}
	den := new(big.Rat).SetInt(zero.Denom())
	s.input = new(big.Rat).Quo(s.input, den)
	for _, c := range constants {
		n := new(big.Rat).Quo(c, s.input)
		if !n.IsInt() || !n.Num().IsInt64() || max(n.Num().Int64(), -n.Num().Int64()) > 1<<40 {
			return fmt.Errorf("constants among its inputs are not multiples of their scale")
		}
		s.In = s.In.Union(num.SingleValueRange(n.Num().Int64() + s.zero))
	}
	return nil
}

// quantised returns the quantiser whose codes an integer tensor holds. The tensor may also hold maxima of codes. of
// maps the tensor's integers to values; then maps the codes to the same values. ok is false if there is no such
// quantiser.
func (im *ImportedModel) quantised(tensor string, of real.Affine) (step *program.Step, then real.Affine, ok bool) {
	step = im.program.ProducerOf(tensor)
	for step != nil && !scaled.IsQuantiserStep(step) {
		if step.Window == nil || step.Elem == nil { // not a maximum
			return nil, of, false
		}
		own, known := im.lowered.Integer.AffineOfElement(tensor, 0)
		forms, err := im.lowered.Integer.FormsOfElements(step.Node.Inputs[0], []int32{0})
		if err != nil || !known || own.Scale.Sign() == 0 {
			return nil, of, false
		}
		_, leaf, one := forms.SingleForm()
		in, affine := forms.Of[0].AffineAtElement(0)
		if !one || !affine {
			return nil, of, false
		}
		factor := new(big.Rat).Quo(of.Scale, own.Scale)
		bias := new(big.Rat).Sub(in.Bias, own.Bias)
		of = real.Affine{Scale: new(big.Rat).Mul(factor, in.Scale), Bias: bias.Add(bias.Mul(bias, factor), of.Bias)}
		tensor = leaf.Tensor
		step = im.program.ProducerOf(tensor)
	}
	return step, of, step != nil
}

// of sets the range of inputs from the codes and from more, a constant that the values have in addition, in units of a
// code. If more is a fraction, as with a zero point between two codes, the unit of the inputs is divided by its
// denominator.
func (s *LayerDotProducts) of(codes num.Range, more *big.Rat, bipolar bool) {
	den, off := more.Denom().Int64(), more.Num().Int64()
	if s.In, s.zero = codes, -off; den > 1 {
		s.In, s.zero = num.Range{Lo: codes.Lo*den + off, Hi: codes.Hi*den + off}, 0
	}
	t := num.NarrowestIntTypeFor(s.In)
	if s.InBits, s.InSigned = t.Width, t.IsSigned(); bipolar {
		s.InBits = 1
	}
}

// readWeights sets the integers of the weights, and their units by channel.
func (s *LayerDotProducts) readWeights(p *program.Program, units map[string]weightUnit) error {
	d := s.step.Dot
	w := p.Known[s.step.Node.Inputs[d.B]].Const
	u, known := units[s.step.Node.Inputs[d.B]]
	offsets := s.inOrder(d)
	number := map[int32]int32{}
	span := num.Range{}
	for _, base := range d.BBase.All {
		row, seen := number[base]
		if !seen {
			row = int32(len(s.Weights))
			number[base] = row
			weights, unit, err := wholeRow(w, u, known, base, offsets)
			if err != nil {
				return err
			}
			s.Weights, s.weight = append(s.Weights, weights), append(s.weight, unit)
			span = span.Union(num.RangeOfValues(weights))
			if r, ok := num.DotProductRange(weights, []num.Range{s.In}); !ok || SignedBitsForRange(r) > maxSumBits {
				return fmt.Errorf("its sums leave %d bits", maxSumBits)
			}
		}
		s.row = append(s.row, row)
	}
	if s.Bits = u.bits; s.Bits == 0 {
		s.Bits = num.NarrowestIntTypeFor(span.Union(num.SingleValueRange(-1))).Width
	}
	return nil
}

// inOrder sorts the products of a sum by the position of their weights in the file. It sets s.taps and returns the
// offsets of the weights.
func (s *LayerDotProducts) inOrder(d *program.Dot) (offsets []int32) {
	order := make([]int, d.K)
	for k := range order {
		order[k] = k
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(d.BOffset[a], d.BOffset[b]) })
	for _, k := range order {
		offsets, s.taps = append(offsets, d.BOffset[k]), append(s.taps, d.AOffset[k])
	}
	return offsets
}

// wholeRow returns a row of weights as integers, and their unit.
func wholeRow(w *graph.ConstantTensor, u weightUnit, known bool, base int32, offsets []int32) ([]int64, *big.Rat,
	error) {
	unit := 1.0
	if known {
		unit = u.unit.FloatAt(int(base + offsets[0]))
	}
	row := make([]int64, len(offsets))
	for k, o := range offsets {
		at := int(base + o)
		if known && u.unit.FloatAt(at) != unit {
			return nil, nil, fmt.Errorf("the scale of its weights varies along the inputs")
		}
		n := w.FloatAt(at) / unit
		if row[k] = int64(n); float64(row[k]) != n || n*unit != w.FloatAt(at) || max(n, -n) > 1<<40 {
			return nil, nil, fmt.Errorf("its weights are no integers times a scale")
		}
	}
	return row, new(big.Rat).SetFloat64(unit), nil
}

// A weightUnit holds, for each element of constant weights, the real value for which the integer 1 stands. It also
// holds the width of the weights by their quantiser, or 0 if that is unknown.
type weightUnit struct {
	unit *graph.ConstantTensor
	bits int
}

// weightUnits returns the units of the weights of products, by tensor. It replaces the quantised values by the
// quantisers' scales and lets these move along with them. Weights without a quantiser have no entry.
func (im *ImportedModel) weightUnits() map[string]weightUnit {
	g := im.written.Graph
	found := map[string][]*graph.Node{} // the quantisers of each tensor of weights
	for _, s := range im.written.Steps {
		if s.Dot == nil {
			continue
		}
		tensor := s.Node.Inputs[s.Dot.B]
		if im.written.Known[tensor].Const == nil {
			continue
		}
		found[tensor] = operators.QuantisersOfConstant(im.written, tensor)
	}
	next := g.ShallowCopy()
	bits := map[*graph.Node]int{}
	for tensor, quantisers := range found {
		for _, n := range quantisers {
			unit, b := operators.UnitAndBitsOfQuantiser(im.written, n)
			if unit == nil {
				delete(found, tensor)
				break
			}
			next.Init[n.Outputs[0]], bits[n] = unit, b
		}
	}
	if len(bits) == 0 {
		return nil
	}
	next.Nodes = slices.DeleteFunc(next.Nodes, func(n *graph.Node) bool { return bits[n] > 0 })
	var quiet diag.List
	p := operators.ReprepareProgram(im.written, next, &quiet)
	if p == nil {
		return nil
	}
	units := map[string]weightUnit{}
	for tensor, quantisers := range found {
		if unit := p.Known[tensor].Const; len(quantisers) > 0 && unit != nil {
			u := weightUnit{unit: unit}
			for _, n := range quantisers {
				u.bits = max(u.bits, bits[n])
			}
			units[tensor] = u
		}
	}
	return units
}

// A ChannelAccumulatorBits holds the accumulator widths that an output channel needs, in bits of a signed number.
type ChannelAccumulatorBits struct {
	L1, Total int64     // the sums of the weights' magnitudes and of the weights
	Range     num.Range // the exact range of the sum, for all possible inputs
	Exact     int       // the width for Range
	L1Bits    int       // the width by the l1 norm
	Centred   int       // the width by the l1 norm for weights that sum to zero; 0 for others
}

// AccumulatorBitsOfChannel returns the accumulator widths that an output channel needs. s must have integers (Why is
// empty).
func (s *LayerDotProducts) AccumulatorBitsOfChannel(channel int) ChannelAccumulatorBits {
	b := ChannelAccumulatorBits{}
	for _, w := range s.Weights[channel] {
		b.L1, b.Total = b.L1+max(w, -w), b.Total+w
	}
	b.Range, _ = num.DotProductRange(s.Weights[channel], []num.Range{s.In}) // an overflow was excluded before
	b.Exact, b.L1Bits = SignedBitsForRange(b.Range), num.AccumulatorBitsByL1(b.L1, s.InBits, s.InSigned)
	if b.Total == 0 {
		b.Centred = num.AccumulatorBitsByZeroCentred(b.L1, s.InBits)
	}
	return b
}

// AccumulatorBitsByDataType returns the accumulator width in bits that follows from the data types alone. s must have
// integers (Why is empty).
func (s *LayerDotProducts) AccumulatorBitsByDataType() int {
	return num.AccumulatorBitsByDataType(len(s.Weights[0]), s.InBits, s.Bits, s.InSigned)
}

// MaxL1NormForBits returns the largest l1 norm of a channel's weights for which an accumulator of the given bits
// suffices by the l1 bound. It is the cap of A2Q, rounded down.
func (s *LayerDotProducts) MaxL1NormForBits(bits int) int64 {
	if bits > maxSumBits {
		bits = maxSumBits
	}
	n := s.InBits
	if s.InSigned {
		n--
	}
	return (int64(1)<<(bits-1) - 1) >> n
}

// maxSumBits is the width, in bits, of the integers that hold sums.
const maxSumBits = 63

// SignedBitsForRange returns the width of a two's complement number that holds all of r.
func SignedBitsForRange(r num.Range) int {
	return num.NarrowestIntTypeFor(r.Union(num.SingleValueRange(-1))).Width
}
