package layertest

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// Bipolar is the type of the elements -1 and +1.
var Bipolar = num.Type{Kind: num.KindBipolar, Width: 1}

// UInt returns the unsigned type of n bits.
func UInt(n int) num.Type { return num.Type{Kind: num.KindUInt, Width: n} }

// Int returns the signed type of n bits.
func Int(n int) num.Type { return num.Type{Kind: num.KindInt, Width: n} }

// FullType returns a type whose range has all values of the element type.
func FullType(elem num.Type, shape ...int) dataflow.StreamType {
	return dataflow.StreamType{Shape: shape, Range: []num.Range{elem.Range()}, Elem: elem}
}

// RangedType returns a type with the given ranges: one per channel, or one for all channels.
func RangedType(elem num.Type, shape dataflow.Shape, ranges ...num.Range) dataflow.StreamType {
	return dataflow.StreamType{Shape: shape, Range: ranges, Elem: elem}
}

// UnevenType returns a type of three channels with different ranges: one value, two values, and a few positive values.
func UnevenType(shape ...int) dataflow.StreamType {
	return RangedType(Int(4), shape, num.SingleValueRange(-8), num.Range{Lo: -1, Hi: 0}, num.Range{Lo: 5, Hi: 7})
}

// WithEach combines every case with every layer. It appends the layer's parameters to the case's name.
func WithEach(cases []Case, ops ...dataflow.Op) (all []Case) {
	for _, op := range ops {
		for _, c := range cases {
			c.Name, c.Op = fmt.Sprintf("%s, %v", c.Name, op.Params()), op
			all = append(all, c)
		}
	}
	return all
}

// RandomCases returns n cases that one makes, each from its own random numbers.
func RandomCases(n int, seed uint64, one func(*rand.Rand) Case) (cases []Case) {
	for i := range n {
		c := one(rand.New(rand.NewPCG(uint64(i), seed)))
		c.Name = fmt.Sprintf("random %d", i)
		cases = append(cases, c)
	}
	return cases
}

// Bind binds a layer to its inputs, and fails the test if the layer refuses them.
func Bind(t testing.TB, op dataflow.Op, in ...dataflow.StreamType) dataflow.Op {
	t.Helper()
	bound, _, err := op.Bind(in)
	if err != nil {
		t.Fatalf("Bind of %+v to %v: %v", op.Params(), in, err)
	}
	return bound
}

// Chain returns the graph of layers with one input and one output each, one behind the other. All must differ in
// kind.
func Chain(t *testing.T, in dataflow.StreamType, ops ...dataflow.Op) *dataflow.Graph {
	t.Helper()
	g := &dataflow.Graph{In: []int{0}, Out: []int{len(ops)}, Streams: []*dataflow.Stream{{Type: in}}}
	for i, op := range ops {
		bound, out, err := op.Bind([]dataflow.StreamType{in})
		if err != nil {
			t.Fatal(err)
		}
		in = out[0]
		n := &dataflow.Node{Name: op.Kind() + "_0", Op: bound, In: []int{i}, Out: []int{i + 1}}
		g.Nodes = append(g.Nodes, n)
		g.Streams = append(g.Streams, &dataflow.Stream{ID: i + 1, Type: in})
	}
	return g
}

// CheckOutputs checks that a layer's outputs have the given types.
func CheckOutputs(t *testing.T, op dataflow.Op, in []dataflow.StreamType, want ...dataflow.StreamType) {
	t.Helper()
	if _, out, err := op.Bind(in); err != nil || !reflect.DeepEqual(out, want) {
		t.Errorf("Bind of %+v to %v: %v, %v, want %v", op.Params(), in, out, err, want)
	}
}

// CheckLoop checks that a bound layer has the given loop.
func CheckLoop(t *testing.T, op dataflow.Op, f dataflow.Fold, want dataflow.Loop) {
	t.Helper()
	if l := op.Loop(f, dataflow.Target{}); !reflect.DeepEqual(l, want) {
		t.Errorf("%+v, %+v: %v, want %v", op.Params(), f, l, want)
	}
}

// CountFolds returns the number of folds of a bound layer.
func CountFolds(op dataflow.Op) (n int) {
	for range op.Folds() {
		n++
	}
	return n
}

// DescribeTables describes an instance's tables for comparison: the name, type, memory and rows of each. Of more than
// eight rows it gives only the number.
func DescribeTables(i dataflow.KernelInstance) string {
	tables := make([]string, len(i.Tables))
	for k, t := range i.Tables {
		rows := fmt.Sprint(t.Rows)
		if n := len(t.Rows); n > 8 {
			rows = fmt.Sprintf("%d rows of %d", n, len(t.Rows[0]))
		}
		tables[k] = fmt.Sprintf("%s %s %s %s", t.Name, t.Elem, i.StorageOf(t.Name).In, rows)
	}
	return strings.Join(tables, ", ")
}

// CheckRefused checks that a layer refuses its inputs or its parameters, with an error that contains want. If want is
// empty, the layer must accept them.
func CheckRefused(t *testing.T, op dataflow.Op, in []dataflow.StreamType, want string) {
	t.Helper()
	_, _, err := op.Bind(in)
	if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
		t.Errorf("Bind of %.200v to %v: %v, want %q", op.Params(), in, err, want)
	}
}

// CheckTextRefused checks that a kind decodes none of the texts.
func CheckTextRefused(t *testing.T, kind dataflow.LayerKind, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if op, err := kind.Decode([]byte(text)); err == nil || op != nil {
			t.Errorf("%s is taken", text)
		}
	}
}

// CheckFINNCost checks that a bound layer costs want by FINN's formulas.
func CheckFINNCost(t *testing.T, op dataflow.Op, f dataflow.Fold, want dataflow.Resources) {
	t.Helper()
	if got := op.Cost(f, dataflow.Target{Formula: dataflow.FINNCostFormula}).Total(); got != want {
		t.Errorf("%+v: %+v, want %+v", f, got, want)
	}
}
