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

// Ranged is a type whose channels have the ranges, or all the one.
func Ranged(elem num.Type, shape dataflow.Shape, ranges ...num.Range) dataflow.Type {
	return dataflow.Type{Shape: shape, Range: ranges, Elem: elem}
}

// Uneven is a type of three channels whose ranges differ: one value, two, and some that are positive.
func Uneven(shape ...int) dataflow.Type {
	return Ranged(Int(4), shape, num.Point(-8), num.Range{Lo: -1, Hi: 0}, num.Range{Lo: 5, Hi: 7})
}

// Each is the cases with every layer, whose parameters follow the name.
func Each(cases []Case, ops ...dataflow.Op) (all []Case) {
	for _, op := range ops {
		for _, c := range cases {
			c.Name, c.Op = fmt.Sprintf("%s, %v", c.Name, op.Params()), op
			all = append(all, c)
		}
	}
	return all
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
func Bind(t testing.TB, op dataflow.Op, in ...dataflow.Type) dataflow.Op {
	t.Helper()
	bound, _, err := op.Bind(in)
	if err != nil {
		t.Fatalf("Bind of %+v to %v: %v", op.Params(), in, err)
	}
	return bound
}

// Chain is layers of one input and one output, each of another kind, one behind the other.
func Chain(t *testing.T, in dataflow.Type, ops ...dataflow.Op) *dataflow.Graph {
	t.Helper()
	g := &dataflow.Graph{In: []int{0}, Out: []int{len(ops)}, Streams: []*dataflow.Stream{{Type: in}}}
	for i, op := range ops {
		bound, out, err := op.Bind([]dataflow.Type{in})
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

// Gives holds that a layer's outputs are of the types.
func Gives(t *testing.T, op dataflow.Op, in []dataflow.Type, want ...dataflow.Type) {
	t.Helper()
	if _, out, err := op.Bind(in); err != nil || !reflect.DeepEqual(out, want) {
		t.Errorf("Bind of %+v to %v: %v, %v, want %v", op.Params(), in, out, err, want)
	}
}

// Loops holds that a bound layer has the loop.
func Loops(t *testing.T, op dataflow.Op, f dataflow.Fold, want dataflow.Loop) {
	t.Helper()
	if l := op.Loop(f, dataflow.Target{}); !reflect.DeepEqual(l, want) {
		t.Errorf("%+v, %+v: %v, want %v", op.Params(), f, l, want)
	}
}

// Choices is how many folds a bound layer has.
func Choices(op dataflow.Op) (n int) {
	for range op.Folds() {
		n++
	}
	return n
}

// Tables is an instance's tables: of each its name, type, memory and rows, or how many, where they are more than eight.
func Tables(i dataflow.Instance) string {
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
