package sweep

import (
	"math/big"
	"testing"

	"hlsgen/frontend"
	"hlsgen/internal/num"
	"hlsgen/internal/options"
)

// TestImports checks that each option of the import makes another model for the journal.
func TestImports(t *testing.T) {
	t.Parallel()
	of := func(in options.ModelInputs) Options { return Options{Source: options.Source{ModelInputs: in}} }
	bytes := func(change func(in *frontend.IntegerInputType)) Options {
		in := &frontend.IntegerInputType{Type: num.Type{Kind: num.KindUInt, Width: 8}, Scale: big.NewRat(1, 255)}
		change(in)
		return of(options.ModelInputs{InputType: in})
	}
	list := []*big.Rat{big.NewRat(97, 200)}
	seen := map[string]int{}
	for i, o := range []Options{
		{}, {OutputFolder: options.OutputFolder{Version: "other"}},
		of(options.ModelInputs{Dims: map[string]int{"N": 4}}),
		of(options.ModelInputs{Lengths: &frontend.AxisLengthRange{Axis: "T", Min: 1, Max: 9}}),
		bytes(func(*frontend.IntegerInputType) {}),
		bytes(func(in *frontend.IntegerInputType) { in.Offset = big.NewRat(-1, 2) }),
		bytes(func(in *frontend.IntegerInputType) { in.Mean = list }),
		bytes(func(in *frontend.IntegerInputType) { in.Deviation = list }),
		bytes(func(in *frontend.IntegerInputType) {
			in.Inputs = map[string]frontend.InputNormalisation{"x": {Mean: list}}
		}),
		bytes(func(in *frontend.IntegerInputType) {
			in.Inputs = map[string]frontend.InputNormalisation{"y": {Mean: list}}
		}),
		bytes(func(in *frontend.IntegerInputType) {
			in.Inputs = map[string]frontend.InputNormalisation{"x": {Deviation: list}}
		}),
		of(options.ModelInputs{InputQuant: &frontend.AddedInputQuantiser{Type: num.Type{Kind: num.KindInt, Width: 8},
			Scale: 0.5}}),
		of(options.ModelInputs{Initial: frontend.InitialStateModesByInput{"": "zero"}}),
		of(options.ModelInputs{Shapes: frontend.GivenInputShapes{"x": {1}}}),
		of(options.ModelInputs{Outputs: []string{"a"}}), of(options.ModelInputs{Outputs: []string{"a", "b"}}),
		of(options.ModelInputs{Stateful: true}),
	} {
		one, err := o.imports()
		again, _ := o.imports()
		if before, is := seen[one]; is || err != nil || one != again {
			t.Errorf("options %d are those of %d, or change: %q, %q, %v", i, before, one, again, err)
		}
		seen[one] = i
	}
}
