// Package circuittest draws random circuits of numbers of up to 128 bits, and computes with math/big what they mean.
//
// In come seeds; out come circuits, and the words that they must write; and matrices (matrix.go).
package circuittest

import (
	"fmt"
	"math/big"
	"math/rand/v2"

	"hlsgen/internal/circuit"
	"hlsgen/internal/num"
)

// A Drawing is the random circuit of a layer that reads a word and writes a word in each iteration. The written word
// holds all numbers of the circuit.
type Drawing struct {
	*rand.Rand
	Module *circuit.Module
	In     int // bits of a word that is read

	b       *circuit.Builder
	numbers []number
	word    *big.Int   // the word that the iteration reads
	now     []*big.Int // by number: its value in the iteration
	ends    []func()   // what happens to states behind an iteration
	first   int        // a condition that holds in every third iteration, and its counter
	counter int
	library circuit.FunctionLibrary
}

// A number is a number of a circuit. The function of returns its value in the present iteration; values of earlier
// numbers are known.
type number struct {
	value circuit.Value // until the circuit is finished
	width int
	in    num.WideRange
	of    func() *big.Int
}

// Draw returns the circuit with the given seed. It has at least as many operations as there are kinds of them.
func Draw(seed uint64) *Drawing {
	d := &Drawing{Rand: rand.New(rand.NewPCG(seed, 128))}
	d.b = circuit.NewBuilder(circuit.TimingModel{Stage: 4000 << (2 * d.IntN(3)), LUT: 700, Carry: 30,
		Inputs: 4 + 2*d.IntN(2), ThreeCarry: 4 + 4*d.IntN(2)})
	always := d.b.ConstantNumber(1)
	types := make([]num.Type, 5)
	for i := range types {
		types[i] = d.anyType()
		d.In += types[i].Width
	}
	word := d.b.AddInputStream(d.In, always)
	low := 0
	for _, t := range types {
		at := low
		d.add(circuit.LowBitsAsType(circuit.SliceBits(word, at, t.Width), t), func() *big.Int {
			return Wrapped(new(big.Int).Rsh(d.word, uint(at)), t)
		})
		low += t.Width
	}
	level, turn := d.b.AddCounter("turn", 3, always), int64(0)
	d.first = d.add(level.First, func() *big.Int { return truth(turn == 0) })
	d.counter = d.add(level.Index, func() *big.Int { return big.NewInt(turn) })
	d.ends = append(d.ends, func() { turn = (turn + 1) % 3 })
	for _, kind := range d.Perm(len(kinds)) {
		for n := len(d.numbers); len(d.numbers) == n; { // operands are drawn again while the result is too wide
			kinds[kind](d)
		}
	}
	var words []circuit.Value
	for i := range d.numbers {
		n := &d.numbers[i]
		n.width, n.in = n.value.Width(), n.value.WideRange()
		words = append(words, circuit.LowBitsOf(n.value, n.width))
	}
	d.b.AddOutputStream(circuit.ConcatenateWords(words...), always)
	d.Module = d.b.FinishLayer()
	return d
}

// Iterate returns the word that the next iteration writes if it reads the given word.
func (d *Drawing) Iterate(word *big.Int) (written *big.Int) {
	d.word, d.now, written = word, d.now[:0], new(big.Int)
	at := 0
	for _, n := range d.numbers {
		v := n.of()
		d.now = append(d.now, v)
		bits := Wrapped(v, num.Type{Kind: num.KindUInt, Width: n.width})
		written.Or(written, bits.Lsh(bits, uint(at)))
		at += n.width
	}
	for _, end := range d.ends {
		end()
	}
	return written
}

// Describe names the first number that differs between two written words, with its range and both values.
func (d *Drawing) Describe(got, want *big.Int) string {
	at := 0
	for i, n := range d.numbers {
		t := n.in.NarrowestIntType()
		a, b := Wrapped(new(big.Int).Rsh(got, uint(at)), t), Wrapped(new(big.Int).Rsh(want, uint(at)), t)
		if a.Cmp(b) != 0 {
			return fmt.Sprintf("number %d in %v is %v, want %v", i, n.in, a, b)
		}
		at += n.width
	}
	return "no number differs"
}

// Word returns a random word for an iteration to read: random bits, or runs of equal bits.
func (d *Drawing) Word() *big.Int {
	v := new(big.Int)
	for n := 0; n < d.In; {
		run, bit := 1, int64(d.IntN(2))
		if d.IntN(2) == 0 {
			run = 1 + d.IntN(40)
		}
		for ; run > 0 && n < d.In; run, n = run-1, n+1 {
			v.Add(v.Lsh(v, 1), big.NewInt(bit))
		}
	}
	return v
}

// Wrapped returns the lowest bits of v, read as an integer of type t.
func Wrapped(v *big.Int, t num.Type) *big.Int {
	whole := new(big.Int).Lsh(big.NewInt(1), uint(t.Width))
	y := new(big.Int).Mod(v, whole)
	if t.IsSigned() && y.Bit(t.Width-1) == 1 {
		y.Sub(y, whole)
	}
	return y
}

// Limbs returns a word of the given width in parts of 64 bits, the lowest first.
func Limbs(v *big.Int, width int) (word []uint64) {
	v = Wrapped(v, num.Type{Kind: num.KindUInt, Width: width})
	for range circuit.LimbCount(width) {
		word = append(word, new(big.Int).And(v, new(big.Int).SetUint64(^uint64(0))).Uint64())
		v.Rsh(v, 64)
	}
	return word
}

// OfLimbs returns the word of which Limbs returns the parts.
func OfLimbs(word []uint64) *big.Int {
	v := new(big.Int)
	for i := len(word) - 1; i >= 0; i-- {
		v.Add(v.Lsh(v, 64), new(big.Int).SetUint64(word[i]))
	}
	return v
}

// truth returns 1 for true and 0 for false.
func truth(holds bool) *big.Int {
	if holds {
		return big.NewInt(1)
	}
	return new(big.Int)
}

// bigOf returns a number of a circuit in math/big.
func bigOf(v num.Wide) *big.Int {
	y := new(big.Int).Lsh(big.NewInt(v.Hi), 64)
	return y.Add(y, new(big.Int).SetUint64(v.Lo))
}

// add adds a number to the drawing and returns its place.
func (d *Drawing) add(v circuit.Value, of func() *big.Int) int {
	d.numbers = append(d.numbers, number{value: v, of: of})
	return len(d.numbers) - 1
}

// anyType returns a random integer type, often of more than 64 bits.
func (d *Drawing) anyType() num.Type {
	t := num.Type{Kind: num.KindInt, Width: 1 + d.IntN(num.MaxNumberBits)}
	if d.IntN(2) == 0 && t.Width < num.MaxNumberBits {
		t.Kind = num.KindUInt
	}
	return t
}

// constant returns a random number of at most the given width.
func (d *Drawing) constant(width int) num.Wide {
	width = 1 + d.IntN(width)
	return num.Wide{Hi: int64(d.Uint64()), Lo: d.Uint64()}.LowBits(width, width == 128 || d.IntN(2) == 0)
}

// number returns a random number of the circuit, and its place. A wider one is cut to the given width.
func (d *Drawing) number(width int) (circuit.Value, int) {
	at := d.IntN(len(d.numbers))
	v := d.numbers[at].value
	if v.Width() <= width {
		return v, at
	}
	t := num.Type{Kind: num.KindUInt, Width: width}
	if v.WideRange().Lo.Hi < 0 {
		t.Kind = num.KindInt
	}
	v = circuit.LowBitsAsType(v, t)
	return v, d.add(v, func() *big.Int { return Wrapped(d.now[at], t) })
}

// two returns two random numbers of at most 128 bits, and their places.
func (d *Drawing) two() (a, b circuit.Value, x, y int) {
	a, x = d.number(num.MaxNumberBits)
	b, y = d.number(num.MaxNumberBits)
	return a, b, x, y
}

// name returns a name that no state or memory has yet.
func (d *Drawing) name(of string) string { return fmt.Sprint(of, len(d.numbers)) }
