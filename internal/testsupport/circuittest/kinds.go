package circuittest

import (
	"math/big"

	"hlsgen/internal/circuit"
	"hlsgen/internal/num"
)

// kinds has a function per kind of operation, which adds one of random operands. It adds none if the result of these
// operands may not fit into 128 bits.
var kinds = []func(d *Drawing){constants, sums, differences, sumsOfThree, negatives, products, heaps, multiples, shifts,
	quotients, comparisons, equalities, choices, selections, greatest, clips, wraps, words, bits, delays, runningSums,
	runningMaxima, registers, tables, arrays, calls, addends}

func constants(d *Drawing) {
	c := d.constant(num.MaxNumberBits)
	d.add(circuit.WideConstant(d.b, c), func() *big.Int { return bigOf(c) })
}

func sums(d *Drawing) {
	a, b, x, y := d.two()
	if _, ok := a.WideRange().Plus(b.WideRange()); ok {
		d.add(circuit.SumOfTwo(a, b), func() *big.Int { return new(big.Int).Add(d.now[x], d.now[y]) })
	}
}

func differences(d *Drawing) {
	a, b, x, y := d.two()
	if _, ok := a.WideRange().Minus(b.WideRange()); ok {
		d.add(circuit.Subtract(a, b), func() *big.Int { return new(big.Int).Sub(d.now[x], d.now[y]) })
	}
}

func sumsOfThree(d *Drawing) {
	a, x := d.number(40)
	r, of := a.Range(), []int{x}
	var addends [2]circuit.Addend
	for i := range addends {
		b, y := d.number(24)
		addends[i] = circuit.Addend{Value: b, Shift: d.IntN(8), Minus: d.IntN(2) == 0}
		s, _ := b.Range().TimesConstant(1 << addends[i].Shift)
		if addends[i].Minus {
			s = s.Negated()
		}
		r, _ = r.Plus(s)
		of = append(of, y)
	}
	d.add(circuit.SumOfThree(a, addends[0], addends[1], r), func() *big.Int {
		v := new(big.Int).Set(d.now[of[0]])
		for i, s := range addends {
			if term := new(big.Int).Lsh(d.now[of[i+1]], uint(s.Shift)); s.Minus {
				v.Sub(v, term)
			} else {
				v.Add(v, term)
			}
		}
		return v
	})
}

func negatives(d *Drawing) {
	a, x := d.number(num.MaxNumberBits - 1)
	d.add(circuit.Negate(a), func() *big.Int { return new(big.Int).Neg(d.now[x]) })
}

func products(d *Drawing) {
	a, x := d.number(1 + d.IntN(120))
	b, y := d.number(num.MaxNumberBits - a.Width())
	if _, ok := a.WideRange().Times(b.WideRange()); ok {
		d.add(circuit.MultiplyInDSP(a, b), func() *big.Int { return new(big.Int).Mul(d.now[x], d.now[y]) })
	}
}

// heaps adds a sum of a product, a shifted number, a multiple, and a number or its negative, of bits.
func heaps(d *Drawing) {
	a, x := d.number(6)
	b, y := d.number(100)
	c, z := d.number(90)
	m, shift := d.constant(20), d.IntN(30)
	sign := circuit.IsNegative(c)
	h := d.b.NewBitHeap()
	h.AddProduct(a, b)
	h.AddShifted(c, shift)
	h.AddWideMultiple(b, m)
	h.AddOrSubtract(sign, c)
	p, _ := a.WideRange().Times(b.WideRange())
	s, _ := c.WideRange().Shifted(shift)
	f, _ := b.WideRange().Times(num.WideRange{Lo: m, Hi: m})
	o, _ := num.Range{}.Wide().Minus(c.WideRange())
	all, _ := p.Plus(s)
	all, _ = all.Plus(f)
	all, _ = all.Plus(o.Union(c.WideRange()))
	d.add(h.SumInWideRange(all), func() *big.Int {
		v := new(big.Int).Mul(d.now[x], d.now[y])
		v.Add(v, new(big.Int).Lsh(d.now[z], uint(shift)))
		v.Add(v, new(big.Int).Mul(d.now[y], bigOf(m)))
		if d.now[z].Sign() < 0 {
			return v.Add(v, d.now[z])
		}
		return v.Sub(v, d.now[z])
	})
}

// addends adds a sum of the addends of a heap.
func addends(d *Drawing) {
	a, x := d.number(5)
	b, y := d.number(90)
	h, sum := d.b.NewBitHeap(), d.b.NewBitHeap()
	h.AddProduct(a, b)
	for _, v := range h.ReduceToAddends() {
		sum.AddShifted(v, 0)
	}
	r, _ := a.WideRange().Times(b.WideRange())
	d.add(sum.SumInWideRange(r), func() *big.Int { return new(big.Int).Mul(d.now[x], d.now[y]) })
}

func multiples(d *Drawing) {
	a, x := d.number(100)
	m := d.constant(60)
	room := num.WideRange{Lo: m, Hi: m}
	room, _ = room.Shifted(2) // of a digit
	if _, ok := a.WideRange().Times(room); ok {
		d.add(circuit.MultiplyByWide(a, m), func() *big.Int { return new(big.Int).Mul(d.now[x], bigOf(m)) })
	}
}

func shifts(d *Drawing) {
	a, x := d.number(num.MaxNumberBits)
	n := d.IntN(240) - 120
	if _, ok := a.WideRange().Shifted(n); ok {
		d.add(circuit.ShiftByConstant(a, n), func() *big.Int {
			v := new(big.Int).Rsh(d.now[x], uint(max(0, -n)))
			return v.Lsh(v, uint(max(0, n)))
		})
	}
}

func quotients(d *Drawing) {
	a, x := d.number(num.MaxNumberBits)
	shift, mode := 1+d.IntN(126), num.Roundings[d.IntN(len(num.Roundings))]
	d.add(circuit.ShiftRightRounded(a, shift, mode), func() *big.Int { return Rounded(d.now[x], shift, mode) })
}

// Rounded returns x / 2^shift, rounded.
func Rounded(x *big.Int, shift int, mode num.Rounding) *big.Int {
	floor := new(big.Int).Rsh(x, uint(shift))
	rest := new(big.Int).Sub(x, new(big.Int).Lsh(floor, uint(shift)))
	half := rest.Cmp(new(big.Int).Lsh(big.NewInt(1), uint(shift-1)))
	some, negative := rest.Sign() > 0, x.Sign() < 0
	if map[num.Rounding]bool{
		num.RoundingCeil:             some,
		num.RoundingTowardZero:       some && negative,
		num.RoundingAwayFromZero:     some && !negative,
		num.RoundingHalfUp:           half >= 0,
		num.RoundingHalfEven:         half > 0 || half == 0 && floor.Bit(0) == 1,
		num.RoundingHalfTowardZero:   half > 0 || half == 0 && negative,
		num.RoundingHalfAwayFromZero: half > 0 || half == 0 && !negative,
	}[mode] {
		floor.Add(floor, big.NewInt(1))
	}
	return floor
}

func comparisons(d *Drawing) {
	a, b, x, y := d.two()
	d.add(circuit.IsGreater(a, b), func() *big.Int { return truth(d.now[x].Cmp(d.now[y]) > 0) })
}

func equalities(d *Drawing) {
	a, b, x, y := d.two()
	d.add(circuit.IsEqual(a, b), func() *big.Int { return truth(d.now[x].Cmp(d.now[y]) == 0) })
	same := circuit.MuxByCondition(circuit.IsNegative(b), b, a)
	d.add(circuit.IsEqual(a, same), func() *big.Int {
		return truth(d.now[y].Sign() >= 0 || d.now[x].Cmp(d.now[y]) == 0)
	})
}

func choices(d *Drawing) {
	a, b, x, y := d.two()
	c, z := d.number(num.MaxNumberBits)
	d.add(circuit.MuxByCondition(circuit.IsNegative(c), a, b), func() *big.Int {
		if d.now[z].Sign() < 0 {
			return d.now[x]
		}
		return d.now[y]
	})
}

func selections(d *Drawing) {
	two := num.Type{Kind: num.KindUInt, Width: 2}
	at, k := d.number(num.MaxNumberBits)
	var values []circuit.Value
	var places []int
	for range 4 {
		v, x := d.number(num.MaxNumberBits)
		values, places = append(values, v), append(places, x)
	}
	d.add(circuit.MuxByIndex(circuit.LowBitsAsType(circuit.LowBitsOf(at, 2), two), values...), func() *big.Int {
		return d.now[places[Wrapped(d.now[k], two).Int64()]]
	})
}

func greatest(d *Drawing) {
	a, b, x, y := d.two()
	least := d.add(circuit.LesserOf(a, b), func() *big.Int {
		if d.now[x].Cmp(d.now[y]) < 0 {
			return d.now[x]
		}
		return d.now[y]
	})
	d.add(circuit.GreaterOf(a, b), func() *big.Int {
		v := new(big.Int).Add(d.now[x], d.now[y])
		return v.Sub(v, d.now[least])
	})
}

func clips(d *Drawing) {
	a, x := d.number(num.MaxNumberBits)
	r := d.anyType().WideRange()
	if d.IntN(2) == 0 {
		v, w := d.constant(num.MaxNumberBits), d.constant(num.MaxNumberBits)
		r = num.WideRange{Lo: num.LesserWide(v, w), Hi: num.GreaterWide(v, w)}
	}
	d.add(circuit.ClipToWideRange(a, r), func() *big.Int {
		switch lo, hi := bigOf(r.Lo), bigOf(r.Hi); {
		case d.now[x].Cmp(lo) < 0:
			return lo
		case d.now[x].Cmp(hi) > 0:
			return hi
		}
		return d.now[x]
	})
}

func wraps(d *Drawing) {
	a, x := d.number(num.MaxNumberBits)
	t := d.anyType()
	d.add(circuit.LowBitsAsType(a, t), func() *big.Int { return Wrapped(d.now[x], t) })
}

// words adds the number of a word whose parts are those of another number's word, swapped.
func words(d *Drawing) {
	a, x := d.number(num.MaxNumberBits)
	t := d.anyType()
	width := t.Width + d.IntN(60) + 2
	cut := 1 + d.IntN(width-1)
	word := circuit.LowBitsOf(a, width)
	swapped := circuit.ConcatenateWords(circuit.SliceBits(word, cut, width-cut), circuit.SliceBits(word, 0, cut))
	d.add(circuit.LowBitsAsType(swapped, t), func() *big.Int {
		v := Wrapped(d.now[x], num.Type{Kind: num.KindUInt, Width: width})
		low := Wrapped(v, num.Type{Kind: num.KindUInt, Width: cut})
		v.Rsh(v, uint(cut))
		return Wrapped(v.Add(v, low.Lsh(low, uint(width-cut))), t)
	})
}

func bits(d *Drawing) {
	a, x := d.number(num.MaxNumberBits)
	k := d.IntN(a.Width())
	d.add(circuit.BitOf(a, k), func() *big.Int {
		return Wrapped(new(big.Int).Rsh(d.now[x], uint(k)), num.Type{Kind: num.KindUInt, Width: 1})
	})
}

func delays(d *Drawing) {
	a, x := d.number(num.MaxNumberBits)
	d.add(a.DelayedByClocks(1+d.IntN(3)), func() *big.Int { return d.now[x] })
}

func runningSums(d *Drawing) {
	a, x := d.number(num.MaxNumberBits)
	t, sum := d.anyType(), new(big.Int)
	d.add(d.b.AddRunningSum(d.name("sum"), t, d.numbers[d.first].value, a), func() *big.Int {
		if d.now[d.first].Sign() > 0 {
			sum = new(big.Int)
		}
		sum = Wrapped(new(big.Int).Add(sum, d.now[x]), t)
		return sum
	})
}

func runningMaxima(d *Drawing) {
	a, x := d.number(num.MaxNumberBits)
	peak := new(big.Int)
	d.add(circuit.AddRunningMaximum(d.name("peak"), d.numbers[d.first].value, a), func() *big.Int {
		if d.now[d.first].Sign() > 0 || d.now[x].Cmp(peak) > 0 {
			peak = d.now[x]
		}
		return peak
	})
}

// registers adds the number that another one was an iteration ago.
func registers(d *Drawing) {
	a, x := d.number(num.MaxNumberBits)
	r := a.WideRange()
	reg := circuit.AddWideRegister(d.b, d.name("kept"), max(0, a.Stage()), r).WithWideResetValue(r.Hi)
	reg.SetNext(a, d.b.ConstantNumber(1))
	before := bigOf(r.Hi)
	d.add(reg.ValueBefore(), func() *big.Int { return before })
	d.ends = append(d.ends, func() { before = d.now[x] })
}

func tables(d *Drawing) {
	a, x := d.number(num.MaxNumberBits)
	address := num.Type{Kind: num.KindUInt, Width: d.IntN(3) + 1}
	t, columns := d.anyType(), 1+d.IntN(2)
	var rows [][]num.Wide
	for range 1 << address.Width {
		row := make([]num.Wide, columns)
		for i := range row {
			row[i] = d.constant(num.MaxNumberBits).LowBits(t.Width, t.IsSigned())
		}
		rows = append(rows, row)
	}
	style := []circuit.StorageStyle{circuit.DistributedRAMStyle, circuit.BlockRAMStyle}[d.IntN(2)]
	table := circuit.AddWideTable(d.b, d.name("table"), style, t, columns, len(rows),
		func() [][]num.Wide { return rows })
	row := table.ReadRow(circuit.LowBitsAsType(circuit.LowBitsOf(a, address.Width), address))
	d.add(circuit.LowBitsAsType(circuit.SliceBits(row, (columns-1)*t.Width, t.Width), t), func() *big.Int {
		return bigOf(rows[Wrapped(d.now[x], address).Int64()][columns-1])
	})
}

// arrays adds a number that went through a memory.
func arrays(d *Drawing) {
	a, x := d.number(num.MaxNumberBits)
	t := a.WideRange().NarrowestIntType()
	array := d.b.AddArray(d.name("array"), circuit.BlockRAMStyle, 3, t.Width)
	at := d.numbers[d.counter].value
	array.WriteRow(at, circuit.LowBitsOf(a, t.Width), d.b.ConstantNumber(1))
	d.add(circuit.LowBitsAsType(array.ReadRowAfter(at), t), func() *big.Int { return d.now[x] })
}

// calls adds the results of a function.
func calls(d *Drawing) {
	a, b, x, y := d.two()
	if _, ok := a.WideRange().Minus(b.WideRange()); !ok {
		return
	}
	key := d.name("function")
	results := d.b.CallFunction(&d.library, key, []circuit.Value{a, b}, func(f *circuit.Builder,
		in []circuit.Value) []circuit.Value {
		return []circuit.Value{circuit.Subtract(in[0], in[1]), circuit.IsGreater(in[0], in[1]),
			circuit.WideConstant(f, num.Wide{Hi: 5, Lo: 7})}
	})
	d.add(results[0], func() *big.Int { return new(big.Int).Sub(d.now[x], d.now[y]) })
	d.add(results[1], func() *big.Int { return truth(d.now[x].Cmp(d.now[y]) > 0) })
	d.add(results[2], func() *big.Int { return bigOf(num.Wide{Hi: 5, Lo: 7}) })
}
