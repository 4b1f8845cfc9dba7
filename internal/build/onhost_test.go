package build_test

import (
	"math/big"
	"strings"
	"testing"

	"hlsgen/frontend"
	"hlsgen/internal/build"
	"hlsgen/internal/check"
	"hlsgen/internal/diag"
	"hlsgen/internal/num"
	"hlsgen/internal/options"
	"hlsgen/internal/testsupport/samplefiles"
)

// Products that stay on the host are told of with the flag with which they do not, and a folding file that names their
// layer says so.
func TestProductsOnHost(t *testing.T) {
	t.Parallel()
	model := samplefiles.WriteFile(t, "model.onnx", chain(8).matmul("fc1", 4, ones).quant("in", 8, 0,
		0.5).matmul("fc2", 2, ones).end())
	told := func(o build.Options) (list []diag.Diag) {
		var d diag.List
		if _, err := check.Run(t.Context(), check.Options{Source: o.Source, AccBits: o.AccBits},
			&d); err != nil {
			t.Fatal(err)
		}
		for _, x := range d.Diags {
			if x.Code == diag.ProductsOnHost {
				list = append(list, x)
			}
		}
		return list
	}
	got := told(build.Options{Source: options.Source{Model: model}})
	if len(got) != 1 || !strings.HasPrefix(got[0].Msg, "80 % of the model's MACs") ||
		!strings.HasPrefix(got[0].Hint, "with --input-type UINT8,") {
		t.Errorf("%v", got)
	}
	bytes := &frontend.IntegerInputType{Type: num.Type{Kind: num.KindUInt, Width: 8}, Scale: big.NewRat(1, 1)}
	if got := told(build.Options{Source: options.Source{Model: model,
		ModelInputs: options.ModelInputs{InputType: bytes}}}); len(got) > 0 {
		t.Errorf("as the hint says: %v", got)
	}
	for _, all := range []string{"Relu", "Sigmoid"} {
		quantised := samplefiles.WriteFile(t, "model.onnx", chain(8).quant("in", 8, 0, 0.5).matmul("fc1", 4,
			ones).node(all, "f").end())
		if got := told(build.Options{Source: options.Source{Model: quantised}}); len(got) > 0 {
			t.Errorf("no product is on the host: %v", got)
		}
	}
}
