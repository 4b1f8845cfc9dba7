package circuit_test

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"hlsgen/internal/circuit"
	"hlsgen/internal/num"
)

// A drawing is a random circuit of numbers of up to 128 bits, beside their values in math/big.
type drawing struct {
	*rand.Rand
	m      circuit.Module
	values []*big.Int
}

// add adds a node whose exact result is v; the node wraps it to its width.
func (d *drawing) add(n circuit.Node, v *big.Int) circuit.NodeID {
	if n.Range = (num.Range{}); n.Width < 64 || n.Width == 64 && n.Signed {
		n.Range = num.Type{Kind: num.KindInt, Width: n.Width}.Range()
		if !n.Signed {
			n.Range = num.Type{Kind: num.KindUInt, Width: n.Width}.Range()
		}
	}
	d.m.Nodes, d.values = append(d.m.Nodes, n), append(d.values, wrapped(v, n.Width, n.Signed && !n.Word))
	return circuit.NodeID(len(d.values) - 1)
}

// wrapped returns the lowest bits of v, read as a number.
func wrapped(v *big.Int, width int, signed bool) *big.Int {
	whole := new(big.Int).Lsh(big.NewInt(1), uint(width))
	y := new(big.Int).Mod(v, whole)
	if signed && y.Bit(width-1) == 1 {
		y.Sub(y, whole)
	}
	return y
}

func truthOf(holds bool) *big.Int { return big.NewInt(truth(holds)) }

// number returns a random number that the circuit has already.
func (d *drawing) number() circuit.NodeID {
	for {
		if id := d.IntN(len(d.values)); !d.m.Nodes[id].Word {
			return circuit.NodeID(id)
		}
	}
}

// step adds a random operation.
func (d *drawing) step() {
	a, b := d.number(), d.number()
	x, y := d.values[a], d.values[b]
	n := circuit.Node{Args: []circuit.NodeID{a, b}, Width: 1 + d.IntN(127), Signed: d.IntN(2) == 0}
	if d.IntN(3) > 0 { // wide enough for sums
		n.Width, n.Signed = min(128, max(d.m.Nodes[a].Width, d.m.Nodes[b].Width)+2), true
	}
	v := new(big.Int)
	switch d.IntN(9) {
	case 0:
		n.Op = circuit.OpAdd
		v.Add(x, y)
	case 1:
		n.Op = circuit.OpSubtract
		v.Sub(x, y)
	case 2:
		n.Op, n.Width, n.Signed = circuit.OpMultiply, min(128, d.m.Nodes[a].Width+d.m.Nodes[b].Width), true
		v.Mul(x, y)
	case 3:
		n.Op, n.Args, n.K = circuit.OpShiftByConstant, n.Args[:1], d.IntN(160)-80
		if v.Lsh(x, uint(max(0, n.K))); n.K < 0 {
			v.Rsh(x, uint(-n.K))
		}
	case 4:
		n.Op, n.Width, n.Signed = circuit.OpLess, 1, false
		v = truthOf(x.Cmp(y) < 0)
	case 5:
		n.Op, n.Width, n.Signed = circuit.OpEqual, 1, false
		v = truthOf(x.Cmp(y) == 0)
	case 6:
		less := d.add(circuit.Node{Op: circuit.OpLess, Args: []circuit.NodeID{a, b}, Width: 1}, truthOf(x.Cmp(y) < 0))
		n.Op, n.Args = circuit.OpMuxByCondition, []circuit.NodeID{less, a, b}
		if v = y; d.values[less].Sign() > 0 {
			v = x
		}
	case 7: // bits of a number, joined in another order
		width := 2 + d.IntN(180)
		word := d.add(circuit.Node{Op: circuit.OpNumberToWord, Args: []circuit.NodeID{a}, Width: width, Word: true}, x)
		cut := 1 + d.IntN(width-1)
		all := d.values[word]
		low := d.add(circuit.Node{Op: circuit.OpSliceWord, Args: []circuit.NodeID{word}, Width: cut, Word: true}, all)
		high := d.add(circuit.Node{Op: circuit.OpSliceWord, Args: []circuit.NodeID{word}, K: cut, Width: width - cut,
			Word: true}, new(big.Int).Rsh(all, uint(cut)))
		joined := new(big.Int).Add(d.values[high], new(big.Int).Lsh(d.values[low], uint(width-cut)))
		word = d.add(circuit.Node{Op: circuit.OpConcatenateWords, Args: []circuit.NodeID{high, low}, Width: width,
			Word: true},
			joined)
		n.Op, n.Args, n.Width = circuit.OpLowBitsAsNumber, []circuit.NodeID{word}, min(n.Width, width)
		v = joined
	case 8:
		n.Op, n.Args = circuit.OpLowBitsAsNumber, n.Args[:1]
		v = x
	}
	d.add(n, v)
}

// limbs returns a number as a word.
func limbs(v *big.Int, width int) (word []uint64) {
	v = wrapped(v, width, false)
	for range circuit.LimbCount(width) {
		word = append(word, new(big.Int).And(v, new(big.Int).SetUint64(^uint64(0))).Uint64())
		v = new(big.Int).Rsh(v, 64)
	}
	return word
}

// TestWideNumbers compares random circuits of numbers of up to 128 bits with math/big.
func TestWideNumbers(t *testing.T) {
	t.Parallel()
	for seed := range uint64(2000) {
		d := &drawing{Rand: rand.New(rand.NewPCG(seed, 128))}
		always := d.add(circuit.Node{Op: circuit.OpConstant, Width: 1}, big.NewInt(1))
		d.m.Nodes[always].Range = num.SingleValueRange(1)
		d.m.Fire = always
		var in [][]uint64
		for k := range 4 {
			width := 1 + d.IntN(127)
			v := new(big.Int)
			for range 2 {
				v.Add(v.Lsh(v, 64), new(big.Int).SetUint64(d.Uint64()))
			}
			word := d.add(circuit.Node{Op: circuit.OpReadInputStream, K: k, Width: width, Word: true}, v)
			d.m.In = append(d.m.In, circuit.StreamPort{Name: fmt.Sprint("in", k), Width: width, When: always,
				Word: word})
			in = append(in, limbs(v, width))
			d.add(circuit.Node{Op: circuit.OpLowBitsAsNumber, Args: []circuit.NodeID{word}, Width: width,
				Signed: d.IntN(2) == 0}, v)
		}
		for range 30 {
			d.step()
		}
		for id, n := range slices.Clone(d.m.Nodes) {
			if !n.Word {
				word := d.add(circuit.Node{Op: circuit.OpNumberToWord, Args: []circuit.NodeID{circuit.NodeID(id)},
					Width: 130,
					Word:  true}, d.values[id])
				d.m.Out = append(d.m.Out, circuit.StreamPort{Width: 130, When: always, Word: word})
			}
		}
		r := newMachine(t, &d.m)
		if lacks, err := r.Iterate(in); lacks >= 0 || err != nil {
			t.Fatalf("seed %d: %d, %v", seed, lacks, err)
		}
		for k, o := range d.m.Out {
			if got, want := r.WrittenWord(k), limbs(d.values[o.Word], 130); !slices.Equal(got, want) {
				n := d.m.Nodes[d.m.Nodes[o.Word].Args[0]]
				t.Fatalf("seed %d: %v of %d bits is %x, want %x", seed, n.Op, n.Width, got, want)
			}
		}
	}
}

// TestWideStates keeps a word of 4,096 bits in a register and in an array.
func TestWideStates(t *testing.T) {
	t.Parallel()
	const width = 4096
	b := circuit.NewBuilder(rates[0])
	word := b.AddInputStream(width, b.ConstantNumber(1))
	kept := b.AddWordRegister("kept", 0, width)
	kept.SetNext(word, b.ConstantNumber(1))
	at := b.AddCounter("at", 3, b.ConstantNumber(1)).Index
	array := b.AddArray("array", circuit.BlockRAMStyle, 3, width)
	b.AddOutputStream(array.ReadRowBefore(at), b.ConstantNumber(1))
	array.WriteRow(at, word, b.ConstantNumber(1))
	b.AddOutputStream(array.ReadRowAfter(at), b.ConstantNumber(1))
	b.AddOutputStream(kept.ValueBefore(), b.ConstantNumber(1))
	r := newMachine(t, b.FinishLayer())
	var words [][]uint64
	for i := range 9 {
		elements := make([]int64, width/13)
		for k := range elements {
			elements[k] = int64(i*k%4000 - 2000)
		}
		w := append(circuit.AppendPackedElements(nil, intN(13), elements), 0)[:width/64]
		if back := circuit.AppendUnpackedElements(nil, intN(13), width/13, w); !slices.Equal(back, elements) {
			t.Fatalf("%v comes back as %v", elements, back)
		}
		words = append(words, w)
		if _, err := r.Iterate([][]uint64{w}); err != nil {
			t.Fatal(err)
		}
		if i >= 3 && !slices.Equal(r.WrittenWord(0), words[i-3]) || !slices.Equal(r.WrittenWord(1), w) ||
			i > 0 && !slices.Equal(r.WrittenWord(2), words[i-1]) {
			t.Errorf("iteration %d: another word", i)
		}
	}
}

// TestLoaded loads rows of a table, and begins again with them.
func TestLoaded(t *testing.T) {
	t.Parallel()
	b := circuit.NewBuilder(rates[0])
	circuit.MakeTablesLoadable(b)
	at := b.AddCounter("at", 2, b.ConstantNumber(1)).Index
	data := func() [][]int64 { return [][]int64{{1}, {-2}} }
	b.AddOutputStream(b.AddTable("first", circuit.BlockRAMStyle, intN(4), 1, 2, data).ReadRow(at), b.ConstantNumber(1))
	b.AddOutputStream(b.AddTable("second", circuit.BlockRAMStyle, intN(4), 1, 2, data).ReadRow(at), b.ConstantNumber(1))
	m := b.FinishLayer()
	r := newMachine(t, m)
	two := func() (list []int64) {
		for range 2 {
			out, _, err := iterate(r, m)
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, intN(4).DecodeBits(out[0]), intN(4).DecodeBits(out[1]))
		}
		return list
	}
	before := two()
	if err := r.LoadTableRow(1, 1, []uint64{7}); err != nil {
		t.Fatal(err)
	}
	after := two()
	r.Reset()
	if want := "[1 1 -2 -2] [1 1 -2 7] [1 1 -2 7]"; fmt.Sprint(before, after, two()) != want {
		t.Errorf("%v, want %v", fmt.Sprint(before, after), want)
	}
	for _, wrong := range []error{r.LoadTableRow(2, 0, []uint64{1}), r.LoadTableRow(0, 2, []uint64{1}),
		r.LoadTableRow(0, -1, []uint64{1}),
		r.LoadTableRow(0, 0, []uint64{16}), r.LoadTableRow(0, 0, []uint64{1, 0})} {
		if wrong == nil {
			t.Error("it loads a row that does not fit")
		}
	}
}

// TestLacks checks that an iteration without its word does not begin, and that it begins once the word is there.
func TestLacks(t *testing.T) {
	t.Parallel()
	b := circuit.NewBuilder(rates[0])
	place := b.AddCounter("place", 2, b.ConstantNumber(1))
	b.AddInputStream(4, b.ConstantNumber(1))
	x := b.AddInputStream(4, place.Last)
	b.AddOutputStream(x, place.Last)
	r := newMachine(t, b.FinishLayer())
	w := []uint64{5}
	var told []int
	for _, in := range [][][]uint64{{nil, nil}, {w, nil}, {w, nil}, {nil, w}, {w, w}, {nil, w}} {
		lacks, err := r.Iterate(in)
		if err != nil {
			t.Fatal(err)
		}
		told = append(told, lacks)
	}
	if want := []int{0, -1, 1, 0, -1, 0}; !slices.Equal(told, want) {
		t.Errorf("%v, want %v", told, want)
	}
}

// TestMachineErrors checks that operations which fail are errors if something depends on them, and not otherwise.
func TestMachineErrors(t *testing.T) {
	t.Parallel()
	small := num.Range{Lo: 0, Hi: 9}
	layers := map[string]struct {
		make func(b *circuit.Builder, x value)
		want string // part of the error; empty if there is none
	}{
		"range": {func(b *circuit.Builder, x value) {
			b.AddOutputStream(circuit.LowBitsOf(circuit.AssumeRange(x, small), 4), b.ConstantNumber(1))
		}, "is 12, outside of [0,9]"},
		"range, chosen": {func(b *circuit.Builder, x value) {
			b.AddOutputStream(circuit.LowBitsOf(circuit.MuxByCondition(circuit.IsGreater(x, b.ConstantNumber(11)),
				b.ConstantNumber(1),
				circuit.AssumeRange(x, small)), 4), b.ConstantNumber(1))
		}, ""},
		"range, of more than 64 bits": {func(b *circuit.Builder, x value) {
			y := circuit.AssumeWideRange(circuit.ShiftByConstant(x, 90), shifted(small, 90))
			b.AddOutputStream(circuit.LowBitsOf(circuit.ShiftByConstant(y, -90), 4), b.ConstantNumber(1))
		}, "is 14855280471424563298789490688, outside of [0,11141460353568422474092118016]"},
		"range, of more than 64 bits, chosen": {func(b *circuit.Builder, x value) {
			y := circuit.AssumeWideRange(circuit.ShiftByConstant(x, 90), shifted(small, 90))
			b.AddOutputStream(circuit.LowBitsOf(circuit.MuxByCondition(circuit.IsGreater(x, b.ConstantNumber(11)),
				x, circuit.ShiftByConstant(y, -90)), 4), b.ConstantNumber(1))
		}, ""},
		"range, of another bit": {func(b *circuit.Builder, x value) {
			y := circuit.PackIntoWord(uintN(4), circuit.AssumeRange(x, small), x)
			b.AddOutputStream(circuit.SliceBits(y, 4, 4), b.ConstantNumber(1))
		}, ""},
		"range, in a function": {func(b *circuit.Builder, x value) {
			y := b.CallFunction(new(circuit.FunctionLibrary), "f", some{x}, func(_ *circuit.Builder, v some) some {
				return some{circuit.AssumeRange(v[0], small)}
			})
			b.AddOutputStream(circuit.LowBitsOf(y[0], 4), b.ConstantNumber(1))
		}, "in the call of f_0: "},
		"range, of a state": {func(b *circuit.Builder, x value) {
			reg := b.AddRegister("reg", 0, small).WithResetValue(0)
			reg.SetNext(circuit.AssumeRange(x, small), b.ConstantNumber(1))
			b.AddOutputStream(circuit.LowBitsOf(reg.ValueBefore(), 4), b.ConstantNumber(1))
		}, "outside of [0,9]"},
		"range, of a state that stays": {func(b *circuit.Builder, x value) {
			reg := b.AddRegister("reg", 0, small).WithResetValue(0)
			reg.SetNext(circuit.AssumeRange(x, small), circuit.IsGreater(b.ConstantNumber(10), x))
			b.AddOutputStream(circuit.LowBitsOf(reg.ValueBefore(), 4), b.ConstantNumber(1))
		}, ""},
		"row": {func(b *circuit.Builder, x value) {
			b.AddOutputStream(b.AddTable("table", circuit.DistributedRAMStyle, intN(3), 1, 12, func() [][]int64 {
				return slices.Repeat([][]int64{{1}}, 12)
			}).ReadRow(x), b.ConstantNumber(1))
		}, "takes row 12 of memory table, which has 12 rows"},
		"written row": {func(b *circuit.Builder, x value) {
			array := b.AddArray("array", circuit.BlockRAMStyle, 12, 4)
			array.WriteRow(x, circuit.LowBitsOf(x, 4), b.ConstantNumber(1))
			b.AddOutputStream(array.ReadRowAfter(b.ConstantNumber(3)), b.ConstantNumber(1))
		}, "takes row 12 of memory array, which has 12 rows"},
		"row that is not written": {func(b *circuit.Builder, x value) {
			array := b.AddArray("array", circuit.BlockRAMStyle, 12, 4)
			array.WriteRow(x, circuit.LowBitsOf(x, 4), circuit.IsGreater(b.ConstantNumber(12), x))
			b.AddOutputStream(array.ReadRowAfter(b.ConstantNumber(3)), b.ConstantNumber(1))
		}, ""},
	}
	for name, tt := range layers {
		b := circuit.NewBuilder(rates[0])
		tt.make(b, circuit.ElementOf(b.AddInputStream(4, b.ConstantNumber(1)), 0, uintN(4)))
		r := newMachine(t, b.FinishLayer())
		for _, v := range []uint64{3, 12} {
			_, err := r.Iterate([][]uint64{{v}})
			if want := tt.want; v == 3 && err != nil || v == 12 && (err == nil) != (want == "") ||
				err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%s of %d: %v, want %q", name, v, err, want)
			}
		}
		if _, err := r.Iterate([][]uint64{{16}}); err == nil {
			t.Errorf("%s: it takes a word of five bits", name)
		}
		if _, err := r.Iterate(nil); err == nil {
			t.Errorf("%s: it takes no words", name)
		}
	}
}

// shifted returns the range r times 2^n.
func shifted(r num.Range, n int) num.WideRange {
	s, _ := r.Wide().Shifted(n)
	return s
}

// TestNoMachine checks that circuits without a meaning are refused.
func TestNoMachine(t *testing.T) {
	t.Parallel()
	one := circuit.Node{Op: circuit.OpConstant, Width: 1, Range: num.SingleValueRange(1)}
	for want, m := range map[string]*circuit.Module{
		"depends on itself":          {Nodes: []circuit.Node{{Op: circuit.OpNot, Args: []circuit.NodeID{0}, Width: 1}}},
		"is a number of 129 bits":    {Nodes: []circuit.Node{{Op: circuit.OpConstant, Width: 129, Signed: true}}},
		"operation 99":               {Nodes: []circuit.Node{{Op: 99, Width: 1}}},
		"has 1 rows, want 2":         {Memories: []circuit.RowMemory{{Name: "t", Rows: 2, Width: 1, Data: rowsOf(1)}}},
		"a row of 1 elements of INT": {Memories: []circuit.RowMemory{{Name: "t", Rows: 1, Width: 3, Data: rowsOf(1)}}},
		"function f has a state": {Nodes: []circuit.Node{one}, Calls: []circuit.FunctionCall{{Function: &circuit.Module{
			Name: "f", States: make([]circuit.StateRegister, 1)}}}},
	} {
		if len(m.Nodes) > 0 {
			m.Results = []circuit.NodeID{0}
		}
		for k := range m.Memories {
			a := &m.Memories[k]
			a.When, a.Word, a.Address = circuit.NoNode, circuit.NoNode, circuit.NoNode
		}
		if _, err := circuit.NewMachine(m); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// rowsOf returns the data of a table of one row.
func rowsOf(v int64) func() (num.Type, [][]int64) {
	return func() (num.Type, [][]int64) { return intN(2), [][]int64{{v}} }
}
