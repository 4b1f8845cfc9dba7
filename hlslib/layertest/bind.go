package layertest

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// Bipolar is the type of signs.
var Bipolar = num.Type{Kind: num.Bipolar, Width: 1}

// UInt is the unsigned type of n bits.
func UInt(n int) num.Type { return num.Type{Kind: num.UInt, Width: n} }

// Int is the signed type of n bits.
func Int(n int) num.Type { return num.Type{Kind: num.Int, Width: n} }

// Full is a type with all the values of its elements.
func Full(elem num.Type, shape ...int) dataflow.Type {
	return dataflow.Type{Shape: shape, Range: []num.Range{elem.Range()}, Elem: elem}
}

// Random is n cases, each made of random numbers of its own.
func Random(n int, seed uint64, one func(*rand.Rand) Case) (cases []Case) {
	for i := range n {
		c := one(rand.New(rand.NewPCG(uint64(i), seed)))
		c.Name = fmt.Sprintf("random %d", i)
		cases = append(cases, c)
	}
	return cases
}

// Bind binds a layer that takes its inputs.
func Bind(t *testing.T, op dataflow.Op, in ...dataflow.Type) dataflow.Op {
	t.Helper()
	bound, _, err := op.Bind(in)
	if err != nil {
		t.Fatalf("Bind of %+v to %v: %v", op.Params(), in, err)
	}
	return bound
}

// Refuses holds that a layer refuses its inputs, or its parameters, with an error that says want; it takes them where
// want is empty.
func Refuses(t *testing.T, op dataflow.Op, in []dataflow.Type, want string) {
	t.Helper()
	_, _, err := op.Bind(in)
	if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
		t.Errorf("Bind of %.200v to %v: %v, want %q", op.Params(), in, err, want)
	}
}

// RefusesText holds that a kind decodes none of the texts.
func RefusesText(t *testing.T, kind dataflow.Kind, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if op, err := kind.Decode([]byte(text)); err == nil || op != nil {
			t.Errorf("%s is taken", text)
		}
	}
}

// Costs holds that a bound layer costs want by FINN's formulas.
func Costs(t *testing.T, op dataflow.Op, f dataflow.Fold, want dataflow.Resources) {
	t.Helper()
	if got := op.Cost(f, dataflow.Target{Formula: dataflow.FINN}).Total(); got != want {
		t.Errorf("%+v: %+v, want %+v", f, got, want)
	}
}
