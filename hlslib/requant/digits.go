package requant

import (
	"errors"
	"fmt"
	"slices"

	"hlsgen/hlslib/layer"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// A LowDigit is a digit of multipliers and biases that are too long for one product: the bits below those of
// Params.Multiplier and Params.Bias. Each list has one number for all channels, or one per channel.
type LowDigit struct {
	Multiplier []int64 `json:"multiplier"`
	Bias       []int64 `json:"bias"`
}

// A LowerLine has the multipliers and the biases for inputs below a bend, as a LeakyReLU has one at 0. At is the least
// input above it. Each list has one number for all channels, or one per channel. There must be as many low digits as
// above the bend, and at least one.
type LowerLine struct {
	At         []int64    `json:"at"`
	Multiplier []int64    `json:"multiplier"`
	Bias       []int64    `json:"bias"`
	Low        []LowDigit `json:"low"`
}

// pieces returns the parameters above the bend, and those below; a layer without a bend has one piece.
func (p Params) pieces() []Params {
	if p.Below == nil {
		return []Params{p}
	}
	above, below := p, p
	above.Below, below.Below = nil, nil
	below.Multiplier, below.Bias, below.Low = p.Below.Multiplier, p.Below.Bias, p.Below.Low
	return []Params{above, below}
}

// pieceAt returns the parameters for the input x of channel c: those above the bend, or those below.
func (p Params) pieceAt(c int, x int64) Params {
	if p.Below == nil {
		return p
	}
	pieces := p.pieces()
	if x < layer.ElementForChannel(p.Below.At, c) {
		return pieces[1]
	}
	return pieces[0]
}

// corners returns the inputs of channel c in x at which sums are least or greatest: the ends of each piece.
func (p Params) corners(c int, x num.Range) []int64 {
	list := []int64{x.Lo, x.Hi}
	if p.Below != nil {
		if at := layer.ElementForChannel(p.Below.At, c); x.Lo < at && at <= x.Hi {
			list = append(list, at-1, at)
		}
	}
	return list
}

// verifyLow reports what is wrong with the low digits and the line below the bend.
func (p Params) verifyLow() error {
	if b := p.Below; b != nil {
		if len(b.At) == 0 || len(b.Multiplier) == 0 || len(b.Bias) == 0 || len(b.Low) != len(p.Low) || len(b.Low) == 0 {
			return fmt.Errorf("a line below a bend with %d low digits and %d above", len(b.Low), len(p.Low))
		}
		if err := p.pieces()[1].verifyLow(); err != nil {
			return err
		}
	}
	if len(p.Low) == 0 && p.LowShift == 0 {
		return nil
	}
	if len(p.Low) == 0 || p.LowShift < 1 || p.LowShift > maxShiftBits {
		return fmt.Errorf("%d low digits of %d bits, want 1..%d bits", len(p.Low), p.LowShift, maxShiftBits)
	}
	for _, d := range p.Low {
		if len(d.Multiplier) == 0 || len(d.Bias) == 0 {
			return errors.New("a low digit without a multiplier or a bias")
		}
	}
	return nil
}

// lists returns the lists of multipliers, and those of biases: those of the low digits first, the lowest foremost.
// Those of the line below the bend are not among them.
func (p Params) lists() (multipliers, biases [][]int64) {
	for _, d := range p.Low {
		multipliers, biases = append(multipliers, d.Multiplier), append(biases, d.Bias)
	}
	return append(multipliers, p.Multiplier), append(biases, p.Bias)
}

// channels returns how many channels the lists are for, 1 if each list serves all.
func (p Params) channels() int {
	n := 1
	for _, list := range p.allLists() {
		n = max(n, len(list))
	}
	return n
}

// checkLengths returns an error unless each list has one number, or one for each channel of v.
func (p Params) checkLengths(v dataflow.StreamType) error {
	check := func(what string, n int) error { return layer.CheckPerChannelLength(what, n, []dataflow.StreamType{v}) }
	for _, piece := range p.pieces() {
		multipliers, biases := piece.lists()
		for i, m := range multipliers {
			if err := check("multipliers", len(m)); err != nil {
				return err
			}
			if err := check("biases", len(biases[i])); err != nil {
				return err
			}
		}
	}
	if p.Below == nil {
		return nil
	}
	return check("bends", len(p.Below.At))
}

// allLists returns all lists with numbers of channels.
func (p Params) allLists() (lists [][]int64) {
	for _, piece := range p.pieces() {
		multipliers, biases := piece.lists()
		lists = append(append(lists, multipliers...), biases...)
	}
	if p.Below != nil {
		lists = append(lists, p.Below.At)
	}
	return lists
}

// carry returns what the low digits add to the sum of channel c for the input x. Dividing digit by digit, each time
// rounded down, gives the same as dividing once. wrap is applied to each sum.
func (p Params) carry(c int, x int64, wrap func(int64) int64) int64 {
	carry := int64(0)
	for _, d := range p.Low {
		carry += layer.ElementForChannel(d.Multiplier, c)*x + layer.ElementForChannel(d.Bias, c)
		carry = wrap(carry) >> p.LowShift
	}
	return carry
}

// sumsAt returns the sums of channel c for the input x, that of the lowest digit first. ok is false if a number leaves
// 64 bits.
func (p Params) sumsAt(c int, x int64) (list []int64, ok bool) {
	carry := num.Range{}
	multipliers, biases := p.pieceAt(c, x).lists()
	for i, m := range multipliers {
		product, ok1 := num.SingleValueRange(x).TimesConstant(layer.ElementForChannel(m, c))
		sum, ok2 := product.Plus(num.SingleValueRange(layer.ElementForChannel(biases[i], c)))
		sum, ok3 := sum.Plus(carry)
		if !ok1 || !ok2 || !ok3 {
			return nil, false
		}
		list = append(list, sum.Lo)
		carry = num.SingleValueRange(sum.Lo >> p.LowShift)
	}
	return list, true
}

// lowSums returns the range of the sums of all low digits, for channels 0 to n-1 with inputs in the ranges x gives. The
// sums must not leave 64 bits.
func (p Params) lowSums(n int, x func(c int) num.Range) num.Range {
	var all num.Range // all sums of a piece rise or fall with the input
	for c := range n {
		for _, end := range p.corners(c, x(c)) {
			sums, _ := p.sumsAt(c, end)
			for _, s := range sums[:len(p.Low)] {
				all = all.Union(num.SingleValueRange(s))
			}
		}
	}
	return all
}

// rows returns lists as a table with the numbers of pe channels in each row: those of the first list, then those of the
// next. If each list is the same for all channels, the table is one row with an element per list.
func rows(lists [][]int64, pe int) [][]int64 {
	if allShared(lists) {
		row := make([]int64, len(lists))
		for i, list := range lists {
			row[i] = list[0]
		}
		return [][]int64{row}
	}
	n := 1
	for _, d := range lists {
		n = max(n, len(d))
	}
	var rows [][]int64
	for first := 0; first < n; first += pe {
		var row []int64
		for _, d := range lists {
			for c := first; c < first+pe; c++ {
				row = append(row, layer.ElementForChannel(d, c))
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// allShared reports whether each list has the same number for all channels.
func allShared(lists [][]int64) bool {
	return !slices.ContainsFunc(lists, func(l []int64) bool { return !layer.AllEqual(l) })
}

// low has what a bound layer knows of its low digits.
type low struct {
	multipliers, biases [][]int64 // by digit: those above the bend, then those below
	multiplier, bias    num.Type  // the narrowest types that hold the numbers of all digits
	sum                 num.Type  // of each digit's sum
}

// newLow returns the low digits of p for channels 0 to n-1, whose inputs x gives. It returns an error if a sum needs
// more than 63 bits.
func newLow(p Params, n int, x func(c int) num.Range) (l low, err error) {
	if len(p.Low) == 0 {
		return low{}, nil
	}
	for _, piece := range p.pieces() {
		multipliers, biases := piece.lists()
		l.multipliers = append(l.multipliers, multipliers[:len(p.Low)]...)
		l.biases = append(l.biases, biases[:len(p.Low)]...)
	}
	l.multiplier, l.bias = num.NarrowestIntTypeFor(num.RangeOfLists(l.multipliers...)),
		num.NarrowestIntTypeFor(num.RangeOfLists(l.biases...))
	sums := p.lowSums(n, x).Union(num.Range{Lo: -1})
	l.sum, err = layer.NarrowestTypeOfRanges("sum of a low digit", []num.Range{sums})
	return l, err
}

// tables returns the tables of the low digits for a fold with pe channels in a word; none if there are no low digits.
func (l *low) tables(pe int) []dataflow.Table {
	if len(l.multipliers) == 0 {
		return nil
	}
	return []dataflow.Table{
		{Name: "low_multipliers", Doc: "by fold: the lowest digits of pe elements, then the next", Elem: l.multiplier,
			Rows: rows(l.multipliers, pe)},
		{Name: "low_biases", Doc: "by fold: the lowest digits of pe elements, then the next", Elem: l.bias,
			Rows: rows(l.biases, pe)},
	}
}

// fields returns what the C++ knows of the low digits.
func (l *low) fields(digits, shift int) []dataflow.ConfigField {
	if digits == 0 {
		return nil
	}
	return []dataflow.ConfigField{
		{Name: "low_sum_t", Doc: "low digits times input, plus bias and carry", Value: l.sum},
		{Name: "low_digits", Doc: "digits below those of the multiplier", Value: digits},
		{Name: "low_shift", Doc: "bits of a low digit", Value: shift},
		{Name: "low_one_multiplier", Doc: "one serves all channels", Value: allShared(l.multipliers)},
		{Name: "low_one_bias", Doc: "one serves all channels", Value: allShared(l.biases)},
	}
}

// rowBits returns the bits of the widest row of a table per channel.
func (l *low) rowBits(pe int) (bits int) {
	if !allShared(l.multipliers) {
		bits = pe * len(l.multipliers) * l.multiplier.Width
	}
	if !allShared(l.biases) {
		bits = max(bits, pe*len(l.biases)*l.bias.Width)
	}
	return bits
}
