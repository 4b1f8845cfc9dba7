package folding

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"

	"hlsgen/boards"
	"hlsgen/folding/goal"
	"hlsgen/hlslib/mvau"
	"hlsgen/hlslib/threshold"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
	"hlsgen/internal/testsupport/onnxtest"
)

var (
	uint2    = num.Type{Kind: num.KindUInt, Width: 2}
	int8Type = num.Type{Kind: num.KindInt, Width: 8}
)

// mlp returns a chain of fully connected layers of random weights; all but the last have an activation.
func mlp(r *rand.Rand, in num.Type, weightBits, outBits int, sizes ...int) *dataflow.Model {
	var b dataflow.GraphBuilder
	s := b.AddInput("x", dataflow.StreamType{Shape: dataflow.Shape{sizes[0]}, Range: []num.Range{in.Range()}, Elem: in})
	for i := range len(sizes) - 1 {
		p := mvau.Params{}
		half := int64(1) << (weightBits - 1)
		p.Weights = randomWeights(r, sizes[i+1], sizes[i], -half, half-1)
		if i < len(sizes)-2 {
			p.Steps = []num.StepFunction{staircase(1<<outBits - 1)}
		}
		s = must(b.BindAndAddLayer(mvau.New(p), []int{s}, []string{fmt.Sprintf("y%d", i)},
			[]string{fmt.Sprintf("/fc%d/MatMul", i)}))[0]
	}
	b.MarkOutput(s)
	return &dataflow.Model{Name: "mlp", Graph: must(b.VerifiedGraph())}
}

// staircase returns a step function that rises by one at 0, 3, 6 and so on.
func staircase(steps int) num.StepFunction {
	st := num.StepFunction{Value: []int64{0}}
	for v := range int64(steps) {
		st.At, st.Value = append(st.At, 3*v), append(st.Value, v+1)
	}
	return st
}

// withThresholds returns a Thresholding layer before a fully connected one.
func withThresholds(r *rand.Rand, channels, outputs int) *dataflow.Model {
	in := num.Type{Kind: num.KindUInt, Width: 8}
	var b dataflow.GraphBuilder
	s := b.AddInput("x", dataflow.StreamType{Shape: dataflow.Shape{channels}, Range: []num.Range{in.Range()}, Elem: in})
	steps := make([]num.StepFunction, channels)
	for c := range steps {
		at := r.Int64N(200) + 1
		steps[c] = num.StepFunction{At: []int64{at, at + 5}, Value: []int64{0, 1, 2}}
	}
	s = must(b.BindAndAddLayer(threshold.New(threshold.Params{Steps: steps}), []int{s}, []string{"q"},
		[]string{"/act/Quant"}))[0]
	p := mvau.Params{Weights: randomWeights(r, outputs, channels, -2, 1)}
	s = must(b.BindAndAddLayer(mvau.New(p), []int{s}, []string{"y"}, []string{"/fc/MatMul"}))[0]
	b.MarkOutput(s)
	return &dataflow.Model{Name: "thresholds", Graph: must(b.VerifiedGraph())}
}

// randomWeights returns a matrix of weights with some rows and columns of zeros.
func randomWeights(r *rand.Rand, rows, columns int, lo, hi int64) [][]int64 {
	w := make([]int64, rows*columns)
	for i := range w {
		w[i] = lo + r.Int64N(hi-lo+1)
	}
	return slices.Collect(slices.Chunk(onnxtest.ZeroRandomRowsAndColumns(r, w, columns), columns))
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func board(name string) boards.Board { return must(boards.FindBoard(name)) }

// A listed is a layer for tests with a given list of options: any number of ports of two windows of 6 channels each.
type listed struct {
	ins, outs int
	rows      []row
	typ       dataflow.StreamType
}

// A row is one option of a listed layer.
type row struct {
	in, out    []int // elements per word
	iterations int
	cost       dataflow.Resources
	tin, tout  []int // tiles; nil means row-major
}

const elements = 12

// twelve is the type of streams between listed layers.
var twelve = dataflow.StreamType{Shape: dataflow.Shape{2, elements / 2}, Range: []num.Range{uint2.Range()}, Elem: uint2}

func (t *listed) Kind() string { return "Listed" }
func (t *listed) Params() any  { return t.rows }

// Describe has factors of few bits for every other layer.
func (t *listed) Describe() dataflow.LayerDescription {
	bits := func() int { return goal.MaxNarrowFactorBits + t.rows[0].iterations%2 }
	return dataflow.LayerDescription{NarrowerFactorBits: bits}
}

func (t *listed) Bind(in []dataflow.StreamType) (dataflow.Op, []dataflow.StreamType, error) {
	b := *t
	b.typ = twelve
	outs := make([]dataflow.StreamType, t.outs)
	for i := range outs {
		outs[i] = b.typ
	}
	return &b, outs, nil
}

func (t *listed) Eval([]dataflow.Tensor) []dataflow.Tensor { panic("a table has no meaning") }

// Folds numbers the rows by PE; the other fields only vary so that a folding file can ask for them.
func (t *listed) Folds() iter.Seq[dataflow.Fold] {
	return func(yield func(dataflow.Fold) bool) {
		for i := range t.rows {
			if !yield(dataflow.Fold{PE: i + 1, SIMD: 1}) {
				return
			}
		}
	}
}

func (t *listed) Ports(f dataflow.Fold) (in, out []dataflow.Port) {
	ports := func(per, tiles []int) (list []dataflow.Port) {
		for i, n := range per {
			p := dataflow.Port{Elem: t.typ.Elem, PerWord: n, Words: elements / n}
			if tiles != nil {
				p.Tile = tiles[i]
			}
			list = append(list, p)
		}
		return list
	}
	w := t.rows[f.PE-1]
	return ports(w.in, w.tin), ports(w.out, w.tout)
}

// Loop moves words in the first iterations.
func (t *listed) Loop(f dataflow.Fold, _ dataflow.Target) dataflow.Loop {
	n := t.rows[f.PE-1].iterations
	l := dataflow.LoopNest{Trips: []int{n}, Latency: 1}
	access := func(p dataflow.Port) dataflow.PortMoveIndices {
		return dataflow.PortMoveIndices{{Kind: dataflow.IndexSetKindPattern, Pattern: strings.Repeat("1", p.Words) +
			strings.Repeat("0", n-p.Words)}}
	}
	in, out := t.Ports(f)
	for _, p := range in {
		l.Read = append(l.Read, access(p))
	}
	for _, p := range out {
		l.Write = append(l.Write, access(p))
	}
	return l.AsLoop()
}

func (t *listed) Kernel(dataflow.Fold, dataflow.Target) dataflow.Kernel {
	panic("a table has no meaning")
}

func (t *listed) Cost(f dataflow.Fold, _ dataflow.Target) dataflow.Cost {
	return dataflow.Cost{{Name: "table", Resources: t.rows[f.PE-1].cost}}
}

func (t *listed) Emit(dataflow.Fold, dataflow.Target) dataflow.KernelInstance {
	panic("a table has no kernel")
}

// randomListed returns a layer of up to most options, the faster of which tend to cost more. Some of its ports have
// tiles.
func randomListed(r *rand.Rand, ins, outs, most int) *listed {
	t := &listed{ins: ins, outs: outs}
	divisors := []int{1, 2, 3, 4, 6, 12}
	tiled := r.IntN(3) == 0
	for range 1 + r.IntN(most) {
		var w row
		slowest := 1
		ports := func(n int) (per, tiles []int) {
			for range n {
				per, tiles = append(per, divisors[r.IntN(len(divisors))]), append(tiles, 0)
				slowest = max(slowest, elements/per[len(per)-1])
				if tiled && r.IntN(3) == 0 {
					tiles[len(tiles)-1] = 1 + r.IntN(2)
				}
			}
			return per, tiles
		}
		w.in, w.tin = ports(ins)
		w.out, w.tout = ports(outs)
		w.iterations = slowest * (1 + r.IntN(4))
		size := 600 / w.iterations
		w.cost = dataflow.Resources{LUT: r.IntN(size + 20), FF: r.IntN(size + 5), BRAM: r.IntN(4),
			URAM: max(0, r.IntN(6)-3), DSP: r.IntN(5)}
		t.rows = append(t.rows, w)
	}
	return t
}

// randomNet returns a few listed layers that join and fork at random: chains, branches within branches, several inputs
// and outputs, parallel streams between the same two layers.
func randomNet(r *rand.Rand, layers, options int) *dataflow.Model {
	var b dataflow.GraphBuilder
	open := []int{b.AddInput("x", twelve)}
	input := map[int]bool{open[0]: true}
	if r.IntN(3) == 0 {
		open = append(open, b.AddInput("z", twelve))
		input[open[1]] = true
	}
	for i := range layers {
		n := 1 + r.IntN(min(3, len(open)))
		if i == layers-1 && len(input) > 0 {
			n = len(open) // somebody must read the host's streams
		}
		r.Shuffle(len(open), func(i, j int) { open[i], open[j] = open[j], open[i] })
		outs := 1 + r.IntN(4)/2
		for _, s := range open[:n] {
			delete(input, s)
		}
		out := must(b.BindAndAddLayer(randomListed(r, n, outs, options), open[:n], nil, nil))
		open = append(open[n:], out...)
	}
	for _, s := range open {
		b.MarkOutput(s)
	}
	return &dataflow.Model{Name: "random", Graph: must(b.VerifiedGraph())}
}

// fc returns a fully connected layer of weights 1, -1, 0 in turn.
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
