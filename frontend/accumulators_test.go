package frontend_test

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"

	"hlsgen/frontend"
	"hlsgen/frontend/graph"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/testsupport/tier"
)

// A summed is a layer drawn for the test, in the file's own numbers: a convolution, or a matrix, which is one of images
// of one pixel.
type summed struct {
	in, out, group, size, kernel, stride, pad int

	weights   []int64   // [out][in/group][kernel][kernel]
	scales    []float64 // of the weights, per output channel
	unit      float64   // of the inputs
	zero      int64
	bits      int // of the inputs
	signed    bool
	codes     []int64 // [in][size][size]
	positions int     // of outputs along an axis
}

func drawn(rnd *rand.Rand) *summed {
	p := &summed{in: 1 + rnd.IntN(4), group: 1, size: 1, kernel: 1, stride: 1, bits: 2 + rnd.IntN(4)}
	if p.out = 1 + rnd.IntN(4); rnd.IntN(3) > 0 {
		p.size, p.kernel = 3+rnd.IntN(3), 1+rnd.IntN(3)
		if p.stride, p.pad = 1+rnd.IntN(2), rnd.IntN(2); p.kernel == 1 {
			p.pad = 0
		}
		if rnd.IntN(3) == 0 {
			p.group, p.out = p.in, p.in*(1+rnd.IntN(2))
		}
	} else {
		p.in = 1 + rnd.IntN(20)
	}
	p.unit, p.signed = float64(float32(0.01+rnd.Float64())), rnd.IntN(2) == 0
	if !p.signed {
		p.zero = rnd.Int64N(1 << p.bits)
	}
	p.positions = (p.size+2*p.pad-p.kernel)/p.stride + 1
	for range p.out {
		p.scales = append(p.scales, float64(float32(0.01+rnd.Float64())))
		for range p.in / p.group * p.kernel * p.kernel {
			p.weights = append(p.weights, rnd.Int64N(15)-7)
		}
	}
	for range p.in * p.size * p.size {
		code := rnd.Int64N(1 << p.bits)
		if p.signed {
			code -= 1 << (p.bits - 1)
		}
		p.codes = append(p.codes, code)
	}
	return p
}

// net is the layer as a file.
func (p *summed) net() *net {
	n := newNet(14)
	signed := 0
	if p.signed {
		signed = 1
	}
	each := p.in / p.group
	n.Input("x", graph.DTypeFloat32, 1, p.in, p.size, p.size)
	if p.size == 1 {
		n = newNet(14).Input("x", graph.DTypeFloat32, 1, p.in)
	}
	n.Node("Quant", "x", n.s(p.unit), n.s(float64(p.zero)), n.s(float64(p.bits))).Domain(qonnx).
		Int("signed", int64(signed)).Out("q")
	real := make([]float64, len(p.weights))
	for i, w := range p.weights {
		real[i] = float64(float32(float64(w) * p.scales[i/(each*p.kernel*p.kernel)]))
	}
	w, scales := n.c([]int{p.out, each, p.kernel, p.kernel}, real...), n.c([]int{p.out, 1, 1, 1}, p.scales...)
	if p.size == 1 {
		w, scales = n.c([]int{p.out, p.in}, real...), n.c([]int{p.out, 1}, p.scales...)
	}
	n.Node("Quant", w, scales, n.s(0), n.s(4)).Domain(qonnx).Out("w")
	if p.size == 1 {
		n.Node("Transpose", "w").Ints("perm", 1, 0).Out("wt")
		n.op("MatMul", "y", "q", "wt")
		return n.Output("y", graph.DTypeFloat32, 1, p.out)
	}
	n.op("Conv", "y", "q", "w").Int("group", int64(p.group)).Ints("strides", int64(p.stride), int64(p.stride)).
		Ints("pads", int64(p.pad), int64(p.pad), int64(p.pad), int64(p.pad))
	return n.Output("y", graph.DTypeFloat32, 1, p.out, p.positions, p.positions)
}

// outputs returns the results of accumulators of a given width, computed with big integers from the definitions.
func (p *summed) outputs(a frontend.AccumulatorSettings) (out []float64) {
	half := new(big.Int).Lsh(big.NewInt(1), uint(max(1, a.Bits)-1))
	lo, hi := new(big.Int).Neg(half), new(big.Int).Sub(half, big.NewInt(1))
	each := p.in / p.group
	for c := range p.out {
		for y := range p.positions {
			for x := range p.positions {
				var terms []*big.Int
				all := new(big.Int) // weights
				for i := range each {
					for ky := range p.kernel {
						for kx := range p.kernel {
							row, col := y*p.stride+ky-p.pad, x*p.stride+kx-p.pad
							w := big.NewInt(p.weights[((c*each+i)*p.kernel+ky)*p.kernel+kx])
							v := big.NewInt(p.zero) // padding
							if row >= 0 && col >= 0 && row < p.size && col < p.size {
								channel := c/(p.out/p.group)*each + i
								v.SetInt64(p.codes[(channel*p.size+row)*p.size+col])
							}
							all.Add(all, w)
							terms = append(terms, v.Mul(v, w))
						}
					}
				}
				sum := new(big.Int)
				for k := range terms {
					at := k
					if a.Order != nil {
						at = a.Order[k]
					}
					if sum.Add(sum, terms[at]); a.Bits > 0 && a.Overflow == frontend.OverflowModeSaturate {
						if sum.Cmp(lo) < 0 {
							sum.Set(lo)
						}
						if sum.Cmp(hi) > 0 {
							sum.Set(hi)
						}
					}
				}
				if a.Bits > 0 && a.Overflow == frontend.OverflowModeWrap {
					sum.Add(sum, half).Mod(sum, new(big.Int).Lsh(half, 1)).Sub(sum, half)
				}
				sum.Sub(sum, all.Mul(all, big.NewInt(p.zero)))
				r := new(big.Rat).SetInt(sum)
				r.Mul(r, new(big.Rat).SetFloat64(p.unit)).Mul(r, new(big.Rat).SetFloat64(p.scales[c]))
				f, _ := r.Float32()
				out = append(out, float64(f))
			}
		}
	}
	return out
}

// TestAccumulators compares layers whose accumulators wrap or saturate with big integers. At the exact width and above
// the accumulators change nothing.
func TestAccumulators(t *testing.T) {
	t.Parallel()
	overflows := 0
	for seed := range uint64(tier.CasesToRun(150)) {
		rnd := rand.New(rand.NewPCG(seed, 17))
		p := drawn(rnd)
		var d diag.List
		im, err := frontend.Import("model.onnx", p.net().Bytes(), frontend.Options{}, &d)
		if err != nil || im.Model == nil {
			t.Fatal(seed, err, d.Diags)
		}
		sums := im.AllLayerDotProducts()
		if len(sums) != 1 || sums[0].Why != "" {
			t.Fatalf("%d: %d sums, %s", seed, len(sums), sums[0].Why)
		}
		exact := 0
		for c := range sums[0].Weights {
			exact = max(exact, sums[0].AccumulatorBitsOfChannel(c).Exact)
		}
		x := make([]float64, len(p.codes))
		for i, code := range p.codes {
			x[i] = float64(float32(float64(code-p.zero) * p.unit))
		}
		in := []dataflow.RealTensor{{Shape: im.Model.In[0].Shape, Data: x}}
		run := func(a frontend.AccumulatorSettings) string {
			with := map[*frontend.LayerDotProducts]frontend.AccumulatorSettings{sums[0]: a}
			out, err := im.ReferenceWithAccumulators(with)(in)
			if err != nil {
				t.Fatal(seed, err)
			}
			return fmt.Sprint(out[0].Data)
		}
		plain, err := im.Model.Reference(in)
		if err != nil {
			t.Fatal(seed, err)
		}
		if got, want := fmt.Sprint(plain[0].Data), fmt.Sprint(p.outputs(frontend.AccumulatorSettings{})); got != want {
			t.Fatalf("%d: the model gives\n%s, want\n%s", seed, got, want)
		}
		for _, o := range []frontend.OverflowMode{frontend.OverflowModeWrap, frontend.OverflowModeSaturate} {
			for bits := 1; bits <= exact+2; bits++ {
				seen := &frontend.ObservedSumStatistics{}
				a := frontend.AccumulatorSettings{Bits: bits, Overflow: o, Seen: seen}
				if o == frontend.OverflowModeSaturate && bits%2 == 0 {
					a.Order = rnd.Perm(len(sums[0].Weights[0]))
				}
				got, want := run(a), fmt.Sprint(p.outputs(a))
				if got != want {
					t.Fatalf("%d: %s at %d bits gives\n%s, want\n%s", seed, o, bits, got, want)
				}
				if bits >= exact && (got != fmt.Sprint(plain[0].Data) || seen.Left > 0) {
					t.Fatalf("%d: %s at %d bits, %d are exact: %d sums overflow, outputs\n%s, want\n%v", seed, o, bits,
						exact, seen.Left, got, plain[0].Data)
				}
				overflows += seen.Left
			}
		}
	}
	if overflows == 0 {
		t.Error("nothing has overflowed")
	}
}
