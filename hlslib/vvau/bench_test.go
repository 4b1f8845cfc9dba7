package vvau_test

import (
	"math/rand/v2"
	"testing"

	"hlsgen/hlslib/layertest"
	"hlsgen/hlslib/vvau"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
	"hlsgen/rtlsim"
)

// BenchmarkVVAU is a layer in the middle of MobileNet: 128 channels of 14 by 14 pixels and 3 by 3 positions.
func BenchmarkVVAU(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	p := vvau.Params{Weights: weights(r, 128, 9, -8, 7)}
	relu := num.Step{Value: []int64{0}}
	for v := range int64(15) {
		relu.At, relu.Value = append(relu.At, 40*v+1), append(relu.Value, v+1)
	}
	p.Steps = []num.Step{relu}
	in := typ(uintN(4), 14, 14, 9, 128)
	x := dataflow.Tensor{Shape: in.Shape, Data: make([]int64, in.Shape.Size())}
	for i := range x.Data {
		x.Data[i] = layertest.Between(r, in.Range[0])
	}
	op, out, err := vvau.New(p).Bind([]dataflow.Type{in})
	if err != nil {
		b.Fatal(err)
	}
	report := func(b *testing.B) {
		b.ReportMetric(float64(len(x.Data))*float64(b.N)/b.Elapsed().Seconds()/1e6, "MMAC/s")
	}
	b.Run("search", func(b *testing.B) {
		n := 0
		for b.Loop() {
			for f := range op.Folds() {
				if op.Loop(f, dataflow.Target{}).Iterations() == 0 || op.Cost(f, dataflow.Target{}).Total().LUT == 0 {
					b.Fatal("a fold for nothing")
				}
				n++
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/fold")
	})
	b.Run("eval", func(b *testing.B) {
		for b.Loop() {
			op.Eval([]dataflow.Tensor{x})
		}
		report(b)
	})
	b.Run("simulation", func(b *testing.B) {
		g := &dataflow.Graph{In: []int{0}, Out: []int{1}, Nodes: []*dataflow.Node{{Name: "VVAU_0", Op: op, In: []int{0},
			Out: []int{1}}}, Streams: []*dataflow.Stream{{ID: 0, Type: in}, {ID: 1, Type: out[0]}}}
		fold := dataflow.Fold{PE: 16, SIMD: 9, Memory: dataflow.BRAM, Compute: dataflow.LUT}
		d := &dataflow.Design{Model: &dataflow.Model{Graph: g}, Folds: []dataflow.Fold{fold},
			FIFO: dataflow.ShiftRegisters(2, 2)}
		for b.Loop() {
			if _, err := rtlsim.Run(b.Context(), d, [][]dataflow.Tensor{{x}}, rtlsim.Options{}); err != nil {
				b.Fatal(err)
			}
		}
		report(b)
	})
}
