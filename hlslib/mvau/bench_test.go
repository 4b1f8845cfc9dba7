package mvau_test

import (
	"math/rand/v2"
	"testing"

	"hlsgen/hlslib/layertest"
	"hlsgen/hlslib/mvau"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
	"hlsgen/rtlsim"
)

// big is the widest layer of a CNV: 256 by 2304 ternary weights, 2 bit activations.
func big(b *testing.B, windows int) (mvau.Params, dataflow.Op, dataflow.Type) {
	r := rand.New(rand.NewPCG(1, 1))
	p := mvau.Params{Weights: make([][]int64, 256), Steps: []num.Step{{At: []int64{-20, 1, 20},
		Value: []int64{0, 1, 2, 3}}}}
	for c := range p.Weights {
		p.Weights[c] = make([]int64, 2304)
		for k := range p.Weights[c] {
			p.Weights[c][k] = r.Int64N(3) - 1
		}
	}
	in := typ(uintN(2), windows, 9, 256)
	op, _, err := mvau.New(p).Bind([]dataflow.Type{in})
	if err != nil {
		b.Fatal(err)
	}
	return p, op, in
}

func input(in dataflow.Type) dataflow.Tensor {
	r := rand.New(rand.NewPCG(2, 1))
	x := dataflow.Tensor{Shape: in.Shape, Data: make([]int64, in.Shape.Size())}
	for i := range x.Data {
		x.Data[i] = layertest.Between(r, in.Channel(i%in.Shape.Channels()))
	}
	return x
}

func reportMACs(b *testing.B, op dataflow.Op) {
	var macs int64
	for name, n := range op.(dataflow.Counting).Counts() {
		if name[:3] == "op_" {
			macs += n
		}
	}
	b.ReportMetric(float64(macs)*float64(b.N)/b.Elapsed().Seconds()/1e6, "MMAC/s")
}

func BenchmarkBind(b *testing.B) {
	p, _, in := big(b, 4)
	for b.Loop() {
		if _, _, err := mvau.New(p).Bind([]dataflow.Type{in}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkSearch is what a search of foldings asks of a layer: every fold's iterations and cost.
func BenchmarkSearch(b *testing.B) {
	_, op, _ := big(b, 4)
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
}

func BenchmarkEval(b *testing.B) {
	_, op, in := big(b, 4)
	x := []dataflow.Tensor{input(in)}
	for b.Loop() {
		op.Eval(x)
	}
	reportMACs(b, op)
}

// BenchmarkSimulation runs the layer clock by clock.
func BenchmarkSimulation(b *testing.B) {
	for _, f := range []struct {
		name     string
		pe, simd int
	}{{"PE 16 SIMD 32", 16, 32}, {"PE 1 SIMD 1", 1, 1}} {
		b.Run(f.name, func(b *testing.B) {
			_, op, in := big(b, 4)
			x := input(in)
			fold := dataflow.Fold{PE: f.pe, SIMD: f.simd, Memory: dataflow.BRAM, Compute: dataflow.LUT}
			g := &dataflow.Graph{In: []int{0}, Out: []int{1},
				Nodes:   []*dataflow.Node{{Name: "MVAU_0", Op: op, In: []int{0}, Out: []int{1}}},
				Streams: []*dataflow.Stream{{ID: 0, Type: in}, {ID: 1, Type: output(b, op, in)}}}
			d := &dataflow.Design{Model: &dataflow.Model{Graph: g}, Folds: []dataflow.Fold{fold},
				FIFO: dataflow.ShiftRegisters(2, 2)}
			for b.Loop() {
				if _, err := rtlsim.Run(b.Context(), d, [][]dataflow.Tensor{{x}}, rtlsim.Options{}); err != nil {
					b.Fatal(err)
				}
			}
			reportMACs(b, op)
		})
	}
}

func output(b *testing.B, op dataflow.Op, in dataflow.Type) dataflow.Type {
	_, out, err := op.Bind([]dataflow.Type{in})
	if err != nil {
		b.Fatal(err)
	}
	return out[0]
}

// BenchmarkEmit makes the tables of the layer.
func BenchmarkEmit(b *testing.B) {
	_, op, _ := big(b, 4)
	for b.Loop() {
		op.Emit(dataflow.Fold{PE: 16, SIMD: 32, Memory: dataflow.BRAM, Compute: dataflow.LUT}, dataflow.Target{})
	}
}
