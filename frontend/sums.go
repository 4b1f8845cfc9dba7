package frontend

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/real"
	"hlsgen/frontend/scaled"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/num"
)

// A Sum is the sums of products of a matrix layer in the model's own integers: weights are codes less their zero point,
// in units of their scale, and inputs are the codes of their quantiser, any that it can give. What a zero point of
// inputs adds is the same for every sum of a channel, and no matter of the accumulator.
type Sum struct {
	Node  string // label
	Layer string // of the graph; "" where none computes it alone
	Why   string // the file says no integers: what follows is empty

	Weights  [][]int64 // per output channel, in the order of the file: channel, row, column
	Bits     int       // of a weight, as its quantiser says
	In       num.Range // of an input
	InBits   int       // as its quantiser says
	InSigned bool

	step   *graph.Step
	row    []int32    // of each output: the channel
	taps   []int32    // where the inputs lie that meet a row of weights, from each output's base on
	input  *big.Rat   // what 1 stands for
	zero   int64      // the input that stands for 0
	weight []*big.Rat // the same of a weight, by channel
}

// Sums lists the products with constant weights of a model, in order. A model that has no layers has none.
func (im *Imported) Sums() (list []*Sum) {
	if im.Model == nil || im.lowered == nil {
		return nil
	}
	lowered := map[int][]*graph.Step{} // products by node of the file
	for _, s := range im.program.Steps {
		if s.Dot != nil {
			lowered[s.Node.Index] = append(lowered[s.Node.Index], s)
		}
	}
	units := im.weightUnits()
	for _, s := range im.written.Steps {
		n := im.written.Origin(s.Node)
		if s.Dot == nil || im.written.Known[s.Node.Inputs[s.Dot.B]].Const == nil {
			continue
		}
		layer := im.lowered.Layers[n.Index]
		sum := &Sum{Node: n.Label(), step: s}
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
			*sum = Sum{Node: sum.Node, Layer: sum.Layer, Why: err.Error(), step: s}
		}
	}
	return list
}

// readInput finds what the inputs of the product are: the codes of one quantiser, of which it knows all.
func (s *Sum) readInput(im *Imported, lowered *graph.Step) error {
	tensor := lowered.Node.Inputs[lowered.Dot.A]
	elements := scaled.All(graph.Size(im.program.Known[tensor].Shape))
	forms, err := im.lowered.Integer.Forms(tensor, elements)
	if err != nil {
		return err
	}
	var constants []*big.Rat
	var zero *big.Rat // point, in units
	for i := range elements {
		form := forms.At(i)
		if i > 0 && forms.Which(i) == forms.Which(i-1) && form.SameNumbers(i-1, i) {
			continue
		}
		of, ok := form.Affine(i)
		if !ok || len(form.Leaves()) > 1 {
			return fmt.Errorf("its inputs are no codes of one quantiser")
		}
		if len(form.Leaves()) == 0 || of.Scale.Sign() == 0 {
			constants = append(constants, of.Bias)
			continue
		}
		step, of, ok := im.quantised(form.Leaves()[0].Tensor, of)
		if !ok {
			return fmt.Errorf("its inputs are no codes of one quantiser")
		}
		codes, _ := scaled.Codes(step)
		bias := new(big.Rat).Quo(of.Bias, of.Scale)
		if s.input == nil {
			s.input, zero = of.Scale, bias
			s.of(codes, zero, step.Node.Bipolar())
		} else if s.input.Cmp(of.Scale) != 0 || zero.Cmp(bias) != 0 || !codes.Within(s.In) && zero.IsInt() {
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
			return fmt.Errorf("constants among its inputs are no multiples of their scale")
		}
		s.In = s.In.Union(num.Point(n.Num().Int64() + s.zero))
	}
	return nil
}

// quantised is the quantiser whose codes an integer tensor has: its own, or the greatest of some. of is a value as a
// function of the tensor's integers; then, of the codes.
func (im *Imported) quantised(tensor string, of real.Affine) (step *graph.Step, then real.Affine, ok bool) {
	step = im.program.Producer(tensor)
	for step != nil && !scaled.IsCode(step) {
		if step.Window == nil || step.Elem == nil { // no maximum
			return nil, of, false
		}
		own, known := im.lowered.Integer.Integer(tensor, 0)
		forms, err := im.lowered.Integer.Forms(step.Node.Inputs[0], []int32{0})
		if err != nil || !known || own.Scale.Sign() == 0 {
			return nil, of, false
		}
		_, leaf, one := forms.One()
		in, affine := forms.Of[0].Affine(0)
		if !one || !affine {
			return nil, of, false
		}
		factor := new(big.Rat).Quo(of.Scale, own.Scale)
		bias := new(big.Rat).Sub(in.Bias, own.Bias)
		of = real.Affine{Scale: new(big.Rat).Mul(factor, in.Scale), Bias: bias.Add(bias.Mul(bias, factor), of.Bias)}
		tensor = leaf.Tensor
		step = im.program.Producer(tensor)
	}
	return step, of, step != nil
}

// of says what inputs are, of codes and what their values have more. A zero point between two codes halves the unit,
// and inputs are then values in that unit.
func (s *Sum) of(codes num.Range, more *big.Rat, bipolar bool) {
	den, off := more.Denom().Int64(), more.Num().Int64()
	if s.In, s.zero = codes, -off; den > 1 {
		s.In, s.zero = num.Range{Lo: codes.Lo*den + off, Hi: codes.Hi*den + off}, 0
	}
	t := num.Smallest(s.In)
	if s.InBits, s.InSigned = t.Width, t.Signed(); bipolar {
		s.InBits = 1
	}
}

// readWeights finds the integers of the weights.
func (s *Sum) readWeights(p *graph.Program, units map[string]weightUnit) error {
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
			span = span.Union(num.Hull(weights))
			if r, ok := num.Dot(weights, []num.Range{s.In}); !ok || SignedBits(r) > maxSumBits {
				return fmt.Errorf("its sums leave %d bits", maxSumBits)
			}
		}
		s.row = append(s.row, row)
	}
	if s.Bits = u.bits; s.Bits == 0 {
		s.Bits = num.Smallest(span.Union(num.Point(-1))).Width
	}
	return nil
}

// inOrder puts the products of a sum in the order in which the file has their weights, and gives where these lie.
func (s *Sum) inOrder(d *graph.Dot) (offsets []int32) {
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

// wholeRow is a row of weights in the unit that they have.
func wholeRow(w *graph.Tensor, u weightUnit, known bool, base int32, offsets []int32) ([]int64, *big.Rat, error) {
	unit := 1.0
	if known {
		unit = u.unit.At(int(base + offsets[0]))
	}
	row := make([]int64, len(offsets))
	for k, o := range offsets {
		at := int(base + o)
		if known && u.unit.At(at) != unit {
			return nil, nil, fmt.Errorf("the scale of its weights varies along the inputs")
		}
		n := w.At(at) / unit
		if row[k] = int64(n); float64(row[k]) != n || n*unit != w.At(at) || max(n, -n) > 1<<40 {
			return nil, nil, fmt.Errorf("its weights are no integers times a scale")
		}
	}
	return row, new(big.Rat).SetFloat64(unit), nil
}

// A weightUnit is what the integers of constant weights stand for, element by element, and their bits as their
// quantiser has them; 0 where none says.
type weightUnit struct {
	unit *graph.Tensor
	bits int
}

// weightUnits finds the units of the weights of products, by tensor: their quantisers' scales are put in the place of
// what these give, and move with it. Weights that no quantiser makes have none.
func (im *Imported) weightUnits() map[string]weightUnit {
	g := im.written.Graph
	found := map[string][]*graph.Node{} // quantisers by tensor of weights
	for _, s := range im.written.Steps {
		if s.Dot == nil {
			continue
		}
		tensor := s.Node.Inputs[s.Dot.B]
		if im.written.Known[tensor].Const == nil {
			continue
		}
		found[tensor] = graph.Quantisers(im.written, tensor)
	}
	next := g.Copy()
	bits := map[*graph.Node]int{}
	for tensor, quantisers := range found {
		for _, n := range quantisers {
			unit, b := graph.UnitOf(im.written, n)
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
	p := im.written.Again(next, &quiet)
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

// A ChannelBound is what the accumulator of an output channel may hold, as a signed number.
type ChannelBound struct {
	L1, Total int64     // of the weights: of their magnitudes, and of themselves
	Range     num.Range // exact, over all that inputs may be
	Exact     int       // bits for that
	L1Bits    int       // by the l1 norm
	Centred   int       // by the l1 norm of weights that sum to zero; 0 where they do not
}

// Bound is that of a channel.
func (s *Sum) Bound(channel int) ChannelBound {
	b := ChannelBound{}
	for _, w := range s.Weights[channel] {
		b.L1, b.Total = b.L1+max(w, -w), b.Total+w
	}
	b.Range, _ = num.Dot(s.Weights[channel], []num.Range{s.In}) // which was looked at before
	b.Exact, b.L1Bits = SignedBits(b.Range), num.L1Bound(b.L1, s.InBits, s.InSigned)
	if b.Total == 0 {
		b.Centred = num.ZeroCentredBound(b.L1, s.InBits)
	}
	return b
}

// DataType is the bits by the data types alone.
func (s *Sum) DataType() int {
	return num.DataTypeBound(len(s.Weights[0]), s.InBits, s.Bits, s.InSigned)
}

// L1Cap is the largest l1 norm of a channel's weights whose l1 bound is so many bits: A2Q's cap, rounded down.
func (s *Sum) L1Cap(bits int) int64 {
	if bits > maxSumBits {
		bits = maxSumBits
	}
	n := s.InBits
	if s.InSigned {
		n--
	}
	return (int64(1)<<(bits-1) - 1) >> n
}

// maxSumBits is what sums are held in.
const maxSumBits = 63

// SignedBits is how many bits a two's complement number takes that holds a range.
func SignedBits(r num.Range) int { return num.Smallest(r.Union(num.Point(-1))).Width }
