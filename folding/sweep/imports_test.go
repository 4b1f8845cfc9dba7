package sweep

import (
	"math/big"
	"testing"

	"hlsgen/frontend"
	"hlsgen/internal/compiler"
	"hlsgen/internal/num"
)

// TestImports checks that each option of the import makes another model for the journal.
func TestImports(t *testing.T) {
	t.Parallel()
	of := func(in compiler.ModelInputs) Options { return Options{Source: compiler.Source{ModelInputs: in}} }
	bytes := func(change func(in *frontend.InputType)) Options {
		in := &frontend.InputType{Type: num.Type{Kind: num.UInt, Width: 8}, Scale: big.NewRat(1, 255)}
		change(in)
		return of(compiler.ModelInputs{InputType: in})
	}
	list := []*big.Rat{big.NewRat(97, 200)}
	seen := map[string]int{}
	for i, o := range []Options{
		{}, {OutputFolder: compiler.OutputFolder{Version: "other"}},
		of(compiler.ModelInputs{Dims: map[string]int{"N": 4}}),
		of(compiler.ModelInputs{Lengths: &frontend.AxisLengths{Axis: "T", Min: 1, Max: 9}}),
		bytes(func(*frontend.InputType) {}), bytes(func(in *frontend.InputType) { in.Offset = big.NewRat(-1, 2) }),
		bytes(func(in *frontend.InputType) { in.Mean = list }),
		bytes(func(in *frontend.InputType) { in.Deviation = list }),
		bytes(func(in *frontend.InputType) { in.Inputs = map[string]frontend.Normalisation{"x": {Mean: list}} }),
		bytes(func(in *frontend.InputType) { in.Inputs = map[string]frontend.Normalisation{"y": {Mean: list}} }),
		bytes(func(in *frontend.InputType) { in.Inputs = map[string]frontend.Normalisation{"x": {Deviation: list}} }),
		of(compiler.ModelInputs{InputQuant: &frontend.InputQuant{Type: num.Type{Kind: num.Int, Width: 8}, Scale: 0.5}}),
		of(compiler.ModelInputs{Initial: frontend.InitialStateModes{"": "zero"}}),
		of(compiler.ModelInputs{Shapes: frontend.Shapes{"x": {1}}}),
		of(compiler.ModelInputs{Outputs: []string{"a"}}), of(compiler.ModelInputs{Outputs: []string{"a", "b"}}),
		of(compiler.ModelInputs{Stateful: true}),
	} {
		one, err := o.imports()
		again, _ := o.imports()
		if before, is := seen[one]; is || err != nil || one != again {
			t.Errorf("options %d are those of %d, or change: %q, %q, %v", i, before, one, again, err)
		}
		seen[one] = i
	}
}
