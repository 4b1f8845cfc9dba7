package cost

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"hlsgen/internal/num"
	"hlsgen/internal/testsupport/tier"
)

// unrolledRow matches a network of the source: its name, LUT and FF.
var unrolledRow = regexp.MustCompile(`(?m)^\| (dense|90 % pruned) \| ([0-9,]+) \| ([0-9,]+) \|`)

// TestUnrolled checks whole networks of constant weights: within a quarter of the LUTs and flip-flops that Vivado gave.
func TestUnrolled(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(tier.NeedsShared(t), "reference", "truth", "unrolled", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	rows := unrolledRow.FindAllStringSubmatch(string(text), -1)
	if len(rows) != 2 {
		t.Fatalf("%d networks, want 2", len(rows))
	}
	for _, row := range rows {
		var measured [2]float64
		for i := range measured {
			n, err := strconv.Atoi(strings.ReplaceAll(row[2+i], ",", ""))
			if err != nil {
				t.Fatal(err)
			}
			measured[i] = float64(n)
		}
		got := Total(unrolled(row[1] != "dense"))
		for i, kind := range []string{"LUT", "FF"} {
			n := []int{got.LUT, got.FF}[i]
			if e := float64(n)/measured[i] - 1; math.Abs(e) > 0.25 {
				t.Errorf("%s: %d %s, Vivado has %.0f: %+.1f %%", row[1], n, kind, measured[i], 100*e)
			}
		}
	}
}

// unrolled returns the network of CNStanLee/DATELBR, layer by layer as FINN builds it: 32 floats, a search among
// their seven thresholds, 64 and then 8 sums with seven thresholds each, 4 sums in DSP slices, and FIFOs of two
// words around them. Its weights are not published; they are drawn here in the way in which they were made.
func unrolled(pruned bool) (list []CostPart) {
	r := rand.New(rand.NewPCG(36, 5))
	int3, uint3 := num.Type{Kind: num.KindInt, Width: 3}, num.Type{Kind: num.KindUInt, Width: 3}
	floats := ThresholdingShape{InBits: 32, PE: 32, Rows: 1, Steps: 7, Memory: StyleDistributedRAM, Search: true}
	last := MVAUShape{MW: 8, MH: 4, PE: 4, SIMD: 8, WeightBits: 2, InBits: 3, AccBits: 8, DSP: true}
	for _, c := range []HasFormulaCosts{
		floats, embedded(64, 32, 9, int3, started(r, 64, 32, pruned)),
		embedded(8, 64, 10, uint3, started(r, 8, 64, pruned)), last,
		FIFOShape{Depth: 2, Width: 32 * 32}, FIFOShape{Depth: 2, Width: 32 * 3}, FIFOShape{Depth: 2, Width: 64 * 3},
		FIFOShape{Depth: 2, Width: 8 * 3}, FIFOShape{Depth: 2, Width: 4 * 8},
	} {
		list = append(list, c.FittedCost()...)
	}
	// Floats are compared as equal and as less.
	for _, p := range floats.FittedCost() {
		if p.Name == "comparators" {
			list = append(list, p)
		}
	}
	return list
}

// embedded returns a layer whose weights are in the kernel, with seven thresholds for each output.
func embedded(mh, mw, acc int, in num.Type, weights [][]int64) MVAUShape {
	return MVAUShape{MW: mw, MH: mh, PE: mh, SIMD: mw, WeightBits: 3, InBits: 3, AccBits: acc, InSigned: in.IsSigned(),
		Memory: StyleInKernel, Constants: ConstantWeightAdderCountsOf(weights, true, in, in.Range(), acc), Steps: 7,
		ThresholdBits:   acc,
		ThresholdMemory: StyleDistributedRAM}
}

// started returns weights of -3 to 3 as a linear layer is initialised, uniform and scaled to the largest, which that
// network's training leaves unchanged. If pruned is true, only the largest tenth remains.
func started(r *rand.Rand, mh, mw int, pruned bool) [][]int64 {
	exact := make([]float64, mh*mw)
	for i := range exact {
		exact[i] = 2*r.Float64() - 1
	}
	order := make([]float64, len(exact))
	for i, x := range exact {
		order[i] = math.Abs(x)
	}
	slices.Sort(order)
	scale, least := order[len(order)-1]/3, 0.
	if pruned {
		least = order[len(order)*9/10]
	}
	weights := make([][]int64, mh)
	for i, x := range exact {
		if math.Abs(x) < least {
			x = 0
		}
		weights[i/mw] = append(weights[i/mw], int64(math.Round(x/scale)))
	}
	return weights
}
