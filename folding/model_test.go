package folding

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"strings"

	"hlsgen/boards"
	"hlsgen/hlslib/mvau"
	"hlsgen/hlslib/threshold"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

var (
	uint2    = num.Type{Kind: num.UInt, Width: 2}
	int8Type = num.Type{Kind: num.Int, Width: 8}
)

// mlp is a chain of fully connected layers of random weights; all but the last have an activation.
func mlp(r *rand.Rand, in num.Type, weightBits, outBits int, sizes ...int) *dataflow.Model {
	var b dataflow.Builder
	s := b.Input("x", dataflow.Type{Shape: dataflow.Shape{sizes[0]}, Range: []num.Range{in.Range()}, Elem: in})
	for i := range len(sizes) - 1 {
		p := mvau.Params{}
		half := int64(1) << (weightBits - 1)
		for range sizes[i+1] {
			row := make([]int64, sizes[i])
			for j := range row {
				row[j] = r.Int64N(2*half) - half
			}
			p.Weights = append(p.Weights, row)
		}
		if i < len(sizes)-2 {
			p.Steps = []num.Step{staircase(1<<outBits - 1)}
		}
		s = must(b.Add(mvau.New(p), []int{s}, []string{fmt.Sprintf("y%d", i)}, []string{fmt.Sprintf("/fc%d/MatMul", i)}))[0]
	}
	b.Output(s)
	return &dataflow.Model{Name: "mlp", Graph: must(b.Graph())}
}

// staircase rises by one at 0, 3, 6 ...
func staircase(steps int) num.Step {
	st := num.Step{Value: []int64{0}}
	for v := range int64(steps) {
		st.At, st.Value = append(st.At, 3*v), append(st.Value, v+1)
	}
	return st
}

// withThresholds is a Thresholding layer in front of a fully connected one.
func withThresholds(r *rand.Rand, channels, outputs int) *dataflow.Model {
	in := num.Type{Kind: num.UInt, Width: 8}
	var b dataflow.Builder
	s := b.Input("x", dataflow.Type{Shape: dataflow.Shape{channels}, Range: []num.Range{in.Range()}, Elem: in})
	steps := make([]num.Step, channels)
	for c := range steps {
		at := r.Int64N(200) + 1
		steps[c] = num.Step{At: []int64{at, at + 5}, Value: []int64{0, 1, 2}}
	}
	s = must(b.Add(threshold.New(threshold.Params{Steps: steps}), []int{s}, []string{"q"}, []string{"/act/Quant"}))[0]
	p := mvau.Params{}
	for range outputs {
		row := make([]int64, channels)
		for j := range row {
			row[j] = r.Int64N(4) - 2
		}
		p.Weights = append(p.Weights, row)
	}
	s = must(b.Add(mvau.New(p), []int{s}, []string{"y"}, []string{"/fc/MatMul"}))[0]
	b.Output(s)
	return &dataflow.Model{Name: "thresholds", Graph: must(b.Graph())}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func board(name string) boards.Board { return must(boards.Find(name)) }

// A table is a layer for tests whose options are a list: any number of ports of 12 elements each.
type table struct {
	ins, outs int
	rows      []row
	typ       dataflow.Type
}

// A row is one option of a table.
type row struct {
	in, out    []int // elements per word
	iterations int
	cost       dataflow.Resources
}

const elements = 12

func (t *table) Kind() string { return "Table" }
func (t *table) Params() any  { return t.rows }

func (t *table) Bind(in []dataflow.Type) (dataflow.Op, []dataflow.Type, error) {
	b := *t
	b.typ = dataflow.Type{Shape: dataflow.Shape{elements}, Range: []num.Range{uint2.Range()}, Elem: uint2}
	outs := make([]dataflow.Type, t.outs)
	for i := range outs {
		outs[i] = b.typ
	}
	return &b, outs, nil
}

func (t *table) Eval([]dataflow.Tensor) []dataflow.Tensor { panic("a table has no meaning") }

// Folds numbers the rows by PE; the other fields only vary so that a folding file can ask for them.
func (t *table) Folds() iter.Seq[dataflow.Fold] {
	return func(yield func(dataflow.Fold) bool) {
		for i := range t.rows {
			if !yield(dataflow.Fold{PE: i + 1, SIMD: 1}) {
				return
			}
		}
	}
}

func (t *table) Ports(f dataflow.Fold) (in, out []dataflow.Port) {
	port := func(per int) dataflow.Port {
		return dataflow.Port{Elem: t.typ.Elem, PerWord: per, Words: elements / per}
	}
	for _, per := range t.rows[f.PE-1].in {
		in = append(in, port(per))
	}
	for _, per := range t.rows[f.PE-1].out {
		out = append(out, port(per))
	}
	return in, out
}

// Loop moves words in the first iterations.
func (t *table) Loop(f dataflow.Fold, _ dataflow.Target) dataflow.Loop {
	n := t.rows[f.PE-1].iterations
	l := dataflow.Nest{Trips: []int{n}, Latency: 1}
	access := func(p dataflow.Port) dataflow.Access {
		return dataflow.Access{{Kind: dataflow.At, Pattern: strings.Repeat("1", p.Words) + strings.Repeat("0", n-p.Words)}}
	}
	in, out := t.Ports(f)
	for _, p := range in {
		l.Read = append(l.Read, access(p))
	}
	for _, p := range out {
		l.Write = append(l.Write, access(p))
	}
	return l.Loop()
}

func (t *table) Kernel(dataflow.Fold) dataflow.Kernel { panic("a table has no meaning") }

func (t *table) Cost(f dataflow.Fold, _ dataflow.Target) dataflow.Cost {
	return dataflow.Cost{{Name: "table", Resources: t.rows[f.PE-1].cost}}
}

func (t *table) Emit(dataflow.Fold, dataflow.Target) dataflow.Instance {
	panic("a table has no kernel")
}

// randomTable has up to most options whose faster ones tend to cost more.
func randomTable(r *rand.Rand, ins, outs, most int) *table {
	t := &table{ins: ins, outs: outs}
	divisors := []int{1, 2, 3, 4, 6, 12}
	for range 1 + r.IntN(most) {
		var w row
		slowest := 1
		for range ins {
			w.in = append(w.in, divisors[r.IntN(len(divisors))])
			slowest = max(slowest, elements/w.in[len(w.in)-1])
		}
		for range outs {
			w.out = append(w.out, divisors[r.IntN(len(divisors))])
			slowest = max(slowest, elements/w.out[len(w.out)-1])
		}
		w.iterations = slowest * (1 + r.IntN(4))
		size := 600 / w.iterations
		w.cost = dataflow.Resources{LUT: r.IntN(size + 20), FF: r.IntN(size + 5), BRAM: r.IntN(4), URAM: max(0, r.IntN(6)-3), DSP: r.IntN(5)}
		t.rows = append(t.rows, w)
	}
	return t
}

// randomNet is a chain, a fork with a join, or two chains side by side, of tables.
func randomNet(r *rand.Rand) *dataflow.Model {
	var b dataflow.Builder
	typ := dataflow.Type{Shape: dataflow.Shape{elements}, Range: []num.Range{uint2.Range()}, Elem: uint2}
	add := func(ins []int, outs, most int) []int {
		return must(b.Add(randomTable(r, len(ins), outs, most), ins, nil, nil))
	}
	s := b.Input("x", typ)
	switch r.IntN(4) {
	case 0: // a fork, a layer in one branch, a join, a layer
		f := add([]int{s}, 2, 6)
		a := add(f[:1], 1, 6)
		j := add([]int{a[0], f[1]}, 1, 6)
		b.Output(add(j, 1, 4)[0])
	case 1: // a fork to two outputs, one behind a layer
		f := add([]int{s}, 2, 8)
		b.Output(add(f[1:], 1, 8)[0])
		b.Output(f[0])
	case 2: // two inputs joined
		other := b.Input("z", typ)
		j := add([]int{add([]int{s}, 1, 8)[0], other}, 1, 8)
		b.Output(add(j, 1, 8)[0])
	default:
		for range 1 + r.IntN(4) {
			s = add([]int{s}, 1, 7)[0]
		}
		b.Output(s)
	}
	return &dataflow.Model{Name: "random", Graph: must(b.Graph())}
}

// fc is a fully connected layer of weights 1, -1, 0 in turn.
func fc(inputs, outputs int) dataflow.Op {
	p := mvau.Params{}
	for c := range outputs {
		row := make([]int64, inputs)
		for k := range row {
			row[k] = int64((c+k)%3 - 1)
		}
		p.Weights = append(p.Weights, row)
	}
	return mvau.New(p)
}
