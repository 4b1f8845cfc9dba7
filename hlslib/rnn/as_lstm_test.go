package rnn_test

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"hlsgen/hlslib/layertest"
	"hlsgen/hlslib/lstm"
	"hlsgen/hlslib/rnn"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// lstm is the cell as the engine has it that knows nothing else.
func (c lstmCell) lstm() lstm.Cell {
	l := lstm.Cell{Recurrent: c.recurrent, Product: c.product, CIFG: c.cifg, Forget: c.forget, Input: c.input,
		CellFactors: c.factors, Cell: c.cell, Tanh: c.tanh, Hidden: c.hidden, H0: c.h0, C0: c.c0}
	for g, gate := range c.gates {
		l.Gates[g] = lstm.Gate{Factors: gate.factors, Bias: gate.bias, Peephole: gate.peephole, Steps: gate.steps}
	}
	return l
}

// TestAsLSTM holds programs of LSTMs against the engine that knows nothing else: results, types, clocks and costs.
func TestAsLSTM(t *testing.T) {
	t.Parallel()
	for i := range 60 {
		r := rand.New(rand.NewPCG(uint64(i), 12))
		b := func() bool { return r.IntN(2) == 0 }
		o := recipe{kind: "lstm", cells: 1 + r.IntN(2), units: 1 + r.IntN(8), cifg: b(), peepholes: b(), product: b(),
			perUnit: b(), started: b(), scaled: b()}
		l := lstm.Params{Sequence: b()}
		p := rnn.Params{Sequence: l.Sequence}
		for range o.cells {
			c := o.weights(r, o.common(r))
			l.Cells, p.Cells = append(l.Cells, c.lstm()), append(p.Cells, c.program())
		}
		p.Outputs = []rnn.Ref{p.Cells[0].States[0].Next}
		if l.States = b(); l.States {
			p.Outputs = append(p.Outputs, p.Cells[0].States[1].Next)
		}
		in := []dataflow.Type{layertest.Type(r, dataflow.Shape{1 + r.IntN(5), o.cells * o.units * 4}, 7)}
		was, out, err := lstm.New(l).Bind(in)
		if err != nil {
			t.Fatal(err)
		}
		now, types, err := rnn.New(p).Bind(in)
		if err != nil {
			t.Errorf("%+v: %v", o, err)
			continue
		}
		for n := range out {
			if !slices.EqualFunc(types[n].Range, out[n].Range, num.Range.Within) ||
				types[n].Elem.Width > out[n].Elem.Width {
				t.Errorf("%+v: %v, was %v", o, types, out)
			}
		}
		x := []dataflow.Tensor{values(r, in[0])}
		if a, b := was.Eval(x), now.Eval(x); !reflect.DeepEqual(a, b) {
			t.Errorf("%+v: %v, was %v", o, b, a)
		}
		for f := range was.Folds() {
			a, b := was.Loop(f, dataflow.Target{}), now.Loop(f, dataflow.Target{})
			x, y := was.Cost(f, dataflow.Target{}), now.Cost(f, dataflow.Target{})
			twice := 0 // factors and a requantiser both multiply, which was counted once
			if o.scaled {
				twice = 1
			}
			if b.Latency > a.Latency+twice || b.Iterations() > a.Iterations()+twice*in[0].Shape[0] ||
				dearer(x.Total(), y.Total()) {
				t.Errorf("%+v, %+v: latency %d, was %d, iterations %d, was %d, %+v, was %+v", o, f, b.Latency,
					a.Latency, b.Iterations(), a.Iterations(), y.Total(), x.Total())
			}
		}
	}
}

// dearer reports whether a layer takes more than another one, by more than a fiftieth of its LUTs or a twentieth of its
// flip-flops.
func dearer(was, now dataflow.Resources) bool {
	return now.LUT > was.LUT+was.LUT/50 || now.FF > was.FF+was.FF/20 || now.BRAM > was.BRAM || now.URAM > was.URAM ||
		now.DSP > was.DSP
}
