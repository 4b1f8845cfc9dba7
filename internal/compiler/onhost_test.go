package compiler_test

import (
	"math/big"
	"strings"
	"testing"

	"hlsgen/frontend"
	"hlsgen/internal/compiler"
	"hlsgen/internal/diag"
	"hlsgen/internal/num"
)

// Products that stay on the host are told of with the flag with which they do not, and a folding file that names their
// layer says so.
func TestProductsOnHost(t *testing.T) {
	t.Parallel()
	model := file(t, chain(8).matmul("fc1", 4, ones).quant("in", 8, 0, 0.5).matmul("fc2", 2, ones).end())
	told := func(o compiler.Options) (list []diag.Diag) {
		var d diag.List
		if _, err := compiler.Check(t.Context(), compiler.CheckOptions{Source: o.Source, AccBits: o.AccBits},
			&d); err != nil {
			t.Fatal(err)
		}
		for _, x := range d.Diags {
			if x.Code == diag.HostProducts {
				list = append(list, x)
			}
		}
		return list
	}
	got := told(compiler.Options{Source: compiler.Source{Model: model}})
	if len(got) != 1 || !strings.HasPrefix(got[0].Msg, "80 % of the model's MACs") ||
		!strings.HasPrefix(got[0].Hint, "with --input-type UINT8,") {
		t.Errorf("%v", got)
	}
	bytes := &frontend.InputType{Type: num.Type{Kind: num.UInt, Width: 8}, Scale: big.NewRat(1, 1)}
	if got := told(compiler.Options{Source: compiler.Source{Model: model,
		ModelInputs: compiler.ModelInputs{InputType: bytes}}}); len(got) > 0 {
		t.Errorf("as the hint says: %v", got)
	}
	for _, all := range []string{"Relu", "Sigmoid"} {
		quantised := file(t, chain(8).quant("in", 8, 0, 0.5).matmul("fc1", 4, ones).node(all, "f").end())
		if got := told(compiler.Options{Source: compiler.Source{Model: quantised}}); len(got) > 0 {
			t.Errorf("no product is on the host: %v", got)
		}
	}
}
