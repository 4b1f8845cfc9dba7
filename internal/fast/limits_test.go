package fast_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"hlsgen/hlslib/mvau"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/fast"
	"hlsgen/internal/num"
	"hlsgen/internal/testsupport/tier"
)

// dense returns a graph with a single product of rows of weights with the given number of inputs of a type.
func dense(t *testing.T, codes num.Type, weights [][]int64) *dataflow.Graph {
	t.Helper()
	var b dataflow.GraphBuilder
	x := b.AddInput("x", dataflow.StreamType{Shape: dataflow.Shape{len(weights[0])}, Range: []num.Range{codes.Range()},
		Elem: codes})
	out, err := b.BindAndAddLayer(mvau.New(mvau.Params{Weights: weights}), []int{x}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	b.MarkOutput(out[0])
	g, err := b.VerifiedGraph()
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// extreme returns rows of weights whose sums become as large as possible, at the end or on the way: only the least
// weight, only the greatest, the one kind behind the other, and both in turn.
func extreme(inputs, outputs int, least, greatest int64) [][]int64 {
	rows := make([][]int64, outputs)
	for c := range rows {
		rows[c] = make([]int64, inputs)
		for k := range rows[c] {
			first := [4]bool{true, false, k < inputs/2, k%2 == 0}[c%4]
			if rows[c][k] = greatest; first {
				rows[c][k] = least
			}
		}
	}
	return rows
}

// TestLimits compares products with plain sums where these are as large as inputs and weights of 1 to 8 bits
// permit. It does so for every set of kernels, and for rows and columns that do not fill a block. If a kernel moves
// its sums of 16 bits to wider ones a step too late, they wrap around here.
func TestLimits(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	for bits := 1; bits <= 8; bits++ {
		for _, kind := range []num.TypeKind{num.KindUInt, num.KindInt} {
			codes := num.Type{Kind: kind, Width: bits}
			if kind == num.KindInt && bits == 1 {
				continue
			}
			t.Run(fmt.Sprint(codes), func(t *testing.T) {
				t.Parallel()
				for _, wide := range []int{1, 2, 4, 8} {
					least, greatest := -int64(1)<<(wide-1), max(int64(1)<<(wide-1)-1, 1)
					largest := max(codes.Range().Hi, -codes.Range().Lo) * -least
					// This number of products fills a sum of 16 bits.
					full := int(math.MaxInt16 / largest)
					sizes := []int{1, 3, 4, 7, 8, 31, 65, full, full + 1, 2 * full, 2*full + 5, 4*full + 9}
					// And this number fills a sum of 8 bits. For many outputs, kernels look up pairs of products.
					few := int(math.MaxInt8 / largest)
					sizes = append(sizes, few, few+1, 2*few+5, 9*few+9)
					slices.Sort(sizes)
					for i, inputs := range slices.Compact(sizes) {
						if inputs < 1 || inputs > 1<<15 {
							continue
						}
						limits(t, codes, extreme(inputs, []int{4, 16, 17, 5}[i%4], least, greatest))
						if largest <= 9 {
							limits(t, codes, extreme(inputs, 70, least, greatest))
							limits(t, codes, uneven(inputs, 70, least, greatest))
						}
						if i%3 == 2 {
							limits(t, codes, uneven(inputs, 17, least, greatest))
						}
					}
				}
			})
		}
	}
}

// uneven returns weights with long runs of zeros. So sums of few bits last for more steps than other weights would
// allow.
func uneven(inputs, outputs int, least, greatest int64) [][]int64 {
	rows := extreme(inputs, outputs, least, greatest)
	for c, row := range rows {
		for k := range row {
			if (k/(8+c)+c)%(2+c%3) != 0 {
				row[k] = 0
			}
		}
	}
	return rows
}

func limits(t *testing.T, codes num.Type, weights [][]int64) {
	t.Helper()
	list, err := fast.CompileForProcessorKinds(dense(t, codes, weights))
	if err != nil {
		t.Fatal(err)
	}
	lo, hi := codes.Range().Lo, codes.Range().Hi
	for pattern := range 3 {
		x := make([]int64, len(weights[0]))
		for k := range x {
			if x[k] = hi; pattern == 1 || pattern == 2 && k%2 == 1 {
				x[k] = lo
			}
		}
		want := make([]int64, len(weights))
		for c, row := range weights {
			for k, w := range row {
				want[c] += w * x[k]
			}
		}
		for _, p := range list {
			in := [][]dataflow.Tensor{{{Shape: dataflow.Shape{len(x)}, Data: x}}}
			if got := p.NewWorker().RunFrames(in)[0][0].Data; !slices.Equal(got, want) {
				t.Fatalf("%s, %v: %d inputs, pattern %d: sums are %v, want %v", p.ProcessorKind(), codes, len(x),
					pattern,
					got, want)
			}
		}
	}
}
