package measured

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"hlsgen/hlslib/mvau"
	"hlsgen/hlslib/requant"
	"hlsgen/hlslib/threshold"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
	"hlsgen/internal/testsupport/layertest"
)

// constantSigns returns matrix layers whose weights are constant signs, for inputs that are signs or numbers.
func constantSigns(t testing.TB, to dataflow.Target) (list []point) {
	for _, bits := range []int{1, 2, 4, 8} {
		for _, size := range [][2]int{{1, 8}, {1, 16}, {2, 8}, {4, 4}, {8, 2}, {2, 16}, {8, 8}, {16, 16}, {4, 32}} {
			if bits > 1 && size[0]*size[1] > 64 {
				continue
			}
			r := rand.New(rand.NewPCG(uint64(size[0]*100+size[1]), uint64(1000+bits)))
			op := bind(t, mvau.New(mvau.Params{Weights: draw(r, size[0], size[1], 1)}),
				layertest.FullType(element(bits, false), 2, size[1]))
			for f := range withoutAdders(op) {
				if f.PE == size[0] && f.SIMD == size[1] && f.Compute != dataflow.MultiplierInDSPs &&
					f.Memory == dataflow.MemoryLUTRAM &&
					f.Steps != dataflow.SerialStepEvaluation {
					name := fmt.Sprintf("signs_a%d_pe%d_simd%d", bits, f.PE, f.SIMD)
					list = append(list, point{name: name, op: op, fold: f, target: to})
				}
			}
		}
	}
	return list
}

// constantSteps returns requantisers with constant factors, and step functions in lookup tables.
func constantSteps(t testing.TB, to dataflow.Target) (list []point) {
	r := rand.New(rand.NewPCG(3, 3))
	more := func(name string, op dataflow.Op, in num.Type) {
		bound := bind(t, op, layertest.FullType(in, 4, 8))
		for f := range withoutAdders(bound) {
			if (f.Memory == dataflow.NoMemory || f.Memory == dataflow.MemoryLUTRAM) &&
				f.Compute != dataflow.MultiplierInDSPs &&
				f.Steps != dataflow.SerialStepEvaluation && (f.PE == 1 || f.PE == 8) {
				list = append(list, point{name: fmt.Sprintf("%s_pe%d", name, f.PE), op: bound, fold: f, target: to})
			}
		}
	}
	for _, in := range []int{8, 12, 16} {
		for _, out := range []int{2, 4, 8} {
			for _, channels := range []int{1, 8} {
				factors, biases := make([]int64, channels), make([]int64, channels)
				for c := range factors {
					factors[c], biases[c] = 33+r.Int64N(95), r.Int64N(1<<8)
				}
				p := requant.Params{Multiplier: factors, Bias: biases, Shift: 6 + in - out, Lo: 0, Hi: 1<<out - 1}
				more(fmt.Sprintf("scaled_%d_i%d_u%d", channels, in, out), requant.New(p), layertest.Int(in))
			}
		}
	}
	for _, in := range []int{8, 10, 12} {
		for _, out := range []int{2, 4} {
			for _, channels := range []int{1, 8} {
				name := fmt.Sprintf("stepped_%d_i%d_u%d", channels, in, out)
				op := threshold.New(threshold.Params{Steps: stairs(r, channels, out, int64(max(1, 1<<(in-out)/3)))})
				more(name, op, layertest.Int(in))
			}
		}
	}
	return list
}

// swept reports whether a point belongs to constantSigns or constantSteps. These only check the estimates.
func (p point) swept() bool { return p.prefixed("signs", "scaled", "stepped") }
