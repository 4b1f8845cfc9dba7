package main

import (
	"math/big"
	"strings"
	"testing"

	"hlsgen/folding"
	"hlsgen/folding/sweep"
	"hlsgen/frontend"
	"hlsgen/internal/options"
)

// TestSweepNext checks that the command for the chosen design has all flags about the model that the sweep had.
func TestSweepNext(t *testing.T) {
	t.Parallel()
	r := &sweep.SweepReport{Out: "out", Points: []sweep.PointResult{{Chosen: true, Board: "zcu104"}}}
	r.Points[0].MaxUse = folding.DefaultMaxUseName
	o := &sweep.Options{Source: options.Source{Model: "my net.onnx",
		ModelInputs: options.ModelInputs{Dims: map[string]int{"N": 4, "C": 2},
			Lengths: &frontend.AxisLengthRange{Axis: "T", Min: 1, Max: 9}, Stateful: true,
			Shapes: frontend.GivenInputShapes{"y": {1,
				2},
				"": {3}}, Initial: frontend.InitialStateModesByInput{"h0": "zero", "": "quant"}, LSTM: "f/lstm.json",
			Cells:     "c.json",
			InputType: &frontend.IntegerInputType{Scale: big.NewRat(1, 255)}}}}
	s := &screen{}
	s.sweepNext(r, o)
	got := strings.Join(strings.Fields(strings.ReplaceAll(s.String(), "\\\n", " ")), " ")
	for _, want := range []string{"hlsgen build 'my net.onnx' --board zcu104",
		"--dim C=2 --dim N=4 --dim T=1..9 --shape 3 --shape y=1,2",
		":1/255", "--initial-state quant --initial-state h0=zero",
		"--lstm-config f/lstm.json --cell-config c.json", "--stateful"} {
		if !strings.Contains(got, want) {
			t.Errorf("want %q in\n%s", want, got)
		}
	}
}
