package scaled_test

import (
	"errors"
	"fmt"
	"math/big"
	"testing"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/program"
	"hlsgen/frontend/real"
	"hlsgen/frontend/scaled"
	"hlsgen/internal/testsupport/onnxtest"
)

func constant(shape []int, v ...float64) *graph.ConstantTensor {
	return &graph.ConstantTensor{DType: graph.DTypeFloat32, Shape: shape, F: v}
}

func node(op string, attrs map[string]graph.Attr, out string, in ...string) *graph.Node {
	return &graph.Node{Name: out, Op: op, Inputs: in, Outputs: []string{out}, Attrs: attrs}
}

// programOf has an input x of two by two, which the tests declare to be integers, and another one, r, of reals.
func programOf(t *testing.T) *program.Program {
	t.Helper()
	square := func(name string) graph.ValueInfo {
		return graph.ValueInfo{Name: name, DType: graph.DTypeFloat32, Dims: []graph.Dim{{Size: 2}, {Size: 2}},
			Known: true}
	}
	axis := func(v int64) map[string]graph.Attr {
		return map[string]graph.Attr{"axis": {Kind: graph.AttrKindInt, I: v}}
	}
	g := &graph.Graph{
		Inputs: []graph.ValueInfo{square("x"), square("r")}, Outputs: []graph.ValueInfo{{Name: "relu"}},
		Opsets: map[string]int64{"": 13},
		Init: map[string]*graph.ConstantTensor{"s": constant([]int{2}, 0.5, 3), "w": constant([]int{2, 2}, 1, 2, 3, 4),
			"one": constant(nil, 1)},
		Nodes: []*graph.Node{
			node("Mul", nil, "scaled", "x", "s"), node("Transpose", nil, "turned", "scaled"),
			node("Add", nil, "shifted", "turned", "one"), node("Relu", nil, "relu", "shifted"),
			node("MatMul", nil, "product", "x", "w"), node("Add", nil, "after", "product", "one"),
			node("Add", nil, "mixed", "x", "r"), node("Concat", axis(0), "both", "x", "product"),
			node("Sub", nil, "twice", "x", "turned"), node("Relu", nil, "other", "r"),
		},
	}
	return onnxtest.Prepare(t, g)
}

func TestSlices(t *testing.T) {
	t.Parallel()
	a := scaled.New(programOf(t))
	third := real.Affine{Scale: big.NewRat(1, 3), Bias: big.NewRat(-1, 1)}
	a.DeclareIntegerTensor("x", []real.Affine{third})
	for _, c := range []struct {
		tensor      string
		i           int
		leaves      string
		nodes       int
		scale, bias *big.Rat // nil: not affine
	}{
		{"x", 3, "[{x 3}]", 0, big.NewRat(1, 3), big.NewRat(-1, 1)},
		{"scaled", 1, "[{x 1}]", 1, big.NewRat(1, 1), big.NewRat(-3, 1)},
		{"turned", 1, "[{x 2}]", 2, big.NewRat(1, 6), big.NewRat(-1, 2)},
		{"shifted", 2, "[{x 1}]", 3, big.NewRat(1, 1), big.NewRat(-2, 1)},
		{"relu", 2, "[{x 1}]", 4, nil, nil},
		{"both", 1, "[{x 1}]", 1, big.NewRat(1, 3), big.NewRat(-1, 1)},
		{"twice", 1, "[{x 1} {x 2}]", 3, nil, nil},
		{"twice", 0, "[{x 0}]", 3, big.NewRat(1, 6), big.NewRat(-1, 2)},
	} {
		s, err := a.FunctionOfElement(c.tensor, c.i)
		if err != nil {
			t.Errorf("%s[%d]: %v", c.tensor, c.i, err)
			continue
		}
		if got := fmt.Sprint(s.Leaves); got != c.leaves || len(s.Nodes) != c.nodes {
			t.Errorf("%s[%d]: leaves %s, %d nodes, want %s, %d", c.tensor, c.i, got, len(s.Nodes), c.leaves, c.nodes)
		}
		if len(s.Leaves) > 1 {
			continue
		}
		f, ok := s.Expr.AsAffine()
		if ok != (c.scale != nil) || ok && (f.Scale.Cmp(c.scale) != 0 || f.Bias.Cmp(c.bias) != 0) {
			t.Errorf("%s[%d] = %v*q%+v, %v, want %v, %v", c.tensor, c.i, f.Scale, f.Bias, ok, c.scale, c.bias)
		}
	}
}

func TestBlocked(t *testing.T) {
	t.Parallel()
	p := programOf(t)
	a := scaled.New(p)
	a.DeclareIntegerTensor("x", scaled.IdentityAffines)
	for tensor, want := range map[string]string{"other": "r", "mixed": "r", "after": "product", "product": "product"} {
		_, err := a.FunctionOfElement(tensor, 0)
		var b *scaled.NoIntegerFunctionError
		if !errors.As(err, &b) || b.Tensor != want || (b.Step == nil) != (want == "r") || b.Error() == "" {
			t.Errorf("%s: %v, want blocked at %s", tensor, err, want)
		}
	}
	if s, err := a.FunctionOfElement("both", 4); err == nil {
		t.Errorf("a product that is no integer gives %v", s.Leaves)
	}
	// A product that is declared is a leaf, and each element may have a scale of its own.
	unit := func(scale int64) real.Affine { return real.Affine{Scale: big.NewRat(scale, 1), Bias: new(big.Rat)} }
	a.DeclareIntegerTensor("product", []real.Affine{unit(1), unit(2), unit(1), unit(2)})
	s, err := a.FunctionOfElement("after", 3)
	if err != nil {
		t.Fatal(err)
	}
	if f, ok := s.Expr.AsAffine(); !ok || f.Scale.Cmp(big.NewRat(2, 1)) != 0 || f.Bias.Cmp(big.NewRat(1, 1)) != 0 ||
		fmt.Sprint(s.Leaves) != "[{product 3}]" {
		t.Errorf("product[3]+1 = %v of %v", f, s.Leaves)
	}
	// FormsOfStepElements looks through a declaration of the step's own output.
	a.DeclareIntegerTensor("scaled", scaled.IdentityAffines)
	f, err := a.FormsOfStepElements(p.ProducerOf("scaled"), []int32{1})
	if err != nil || len(f.Of) != 1 || f.Of[0].IntegerVariables()[0].Tensor != "x" ||
		f.Of[0].IntegerVariables()[0].Index[0] != 1 {
		t.Errorf("the slice of a declared step: %v %v", f, err)
	}
}

func TestDerived(t *testing.T) {
	t.Parallel()
	a := scaled.New(programOf(t))
	a.DeclareIntegerTensor("x", scaled.IdentityAffines)
	for tensor, want := range map[string]bool{"x": true, "relu": true, "product": true, "mixed": true, "r": false,
		"other": false, "w": false, "nowhere": false} {
		if a.IsFromIntegers(tensor) != want {
			t.Errorf("%s: want %v", tensor, want)
		}
	}
	if _, ok := a.AffineOfElement("relu", 0); ok {
		t.Error("a derived tensor is an integer one")
	}
	if f, ok := a.AffineOfElement("x", 3); !ok || f.Scale.Cmp(big.NewRat(1, 1)) != 0 {
		t.Errorf("x is %v %v", f, ok)
	}
}

// TestPieces checks that joined pieces of one tensor are its elements in one form, and that pieces joined with another
// tensor have two forms.
func TestPieces(t *testing.T) {
	t.Parallel()
	x := graph.ValueInfo{Name: "x", DType: graph.DTypeFloat32, Dims: []graph.Dim{{Size: 2}, {Size: 3}}, Known: true}
	axis := func(v int) map[string]graph.Attr { return map[string]graph.Attr{"axis": graph.NewIntAttr(v)} }
	split := node("Split", axis(1), "p0", "scaled")
	split.Outputs = []string{"p0", "p1", "p2"}
	p := onnxtest.Prepare(t, &graph.Graph{
		Inputs: []graph.ValueInfo{x}, Outputs: []graph.ValueInfo{{Name: "all"}}, Opsets: map[string]int64{"": 13},
		Init: map[string]*graph.ConstantTensor{"s": constant(nil, 0.5), "c": constant([]int{2, 1}, 7, 8)},
		Nodes: []*graph.Node{
			node("Mul", nil, "scaled", "x", "s"), split,
			node("Concat", axis(1), "back", "p2", "p1"), node("Transpose", nil, "turned", "back"),
			node("Transpose", nil, "again", "turned"), node("Concat", axis(1), "joined", "again", "p0", "scaled"),
			node("Concat", axis(1), "all", "p1", "c", "joined"),
		},
	})
	a := scaled.New(p)
	a.DeclareIntegerTensor("x", scaled.IdentityAffines)
	forms, err := a.FormsOfElements("joined", scaled.NewCountingList(12))
	if err != nil {
		t.Fatal(err)
	}
	form, leaf, ok := forms.SingleForm()
	if !ok || fmt.Sprint(leaf.Index) != "[2 1 0 0 1 2 5 4 3 3 4 5]" || len(form.Nodes) != 6 ||
		form.Nodes[0].Op != "Concat" || form.Nodes[5].Op != "Mul" {
		t.Errorf("the forms %+v", forms.Of)
	}
	if forms, err = a.FormsOfElements("all", scaled.NewCountingList(16)); err != nil || len(forms.Of) != 2 {
		t.Fatalf("%d forms, %v", len(forms.Of), err)
	}
	for k, want := range []int{1, -7, 2, 1, 0, 0, 1, 2, 4, -8, 5, 4, 3, 3, 4, 5} {
		form := forms.FormOf(k)
		if want < 0 {
			if e, n := form.ExprAtElement(k); n != 0 || !e.HasSameForm(real.ConstantExprOfFloat(float64(-want))) {
				t.Errorf("element %d is a function of %d integers", k, n)
			}
			continue
		}
		if leaves := form.IntegerVariables(); len(leaves) != 1 || leaves[0].Index[k] != int32(want) {
			t.Errorf("element %d is of element %d, want %d", k, leaves[0].Index[k], want)
		}
	}
}
