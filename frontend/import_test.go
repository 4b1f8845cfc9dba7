package frontend_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"hlsgen/frontend"
	"hlsgen/frontend/graph"
	"hlsgen/internal/diag"
	"hlsgen/internal/testsupport/tier"
)

var imports = []struct {
	name   string
	build  func(n *net)
	layers string    // the kinds of the layers, in order
	refuse diag.Code // or why there are none
	hint   string    // part of the message or hint, where the code alone says little
}{
	{name: "sums to the host", build: func(n *net) {
		n.input("N", 3).dense().op("Identity", "y", "h").output("N", 4)
	}, layers: "MVAU"},
	{name: "activation", build: func(n *net) {
		n.input("N", 3).dense().op("Relu", "r", "h").quant("r", "y", n.s(0.75), 0, 2, 0).output("N", 4)
	}, layers: "MVAU"},
	{name: "gammas of every kind", build: func(n *net) {
		n.input("N", 3).dense().
			norm("h", "b", v{-0.7, 2.9e-7, 1e-41, -1.5}, v{0.3, 0.25, 0.5, -0.1}, v{0.1, 0, -3, 2},
				v{2, 3, 1e-12, 0.5}).
			quant("b", "y", n.s(0.5), 0, 3, 1).output("N", 4)
	}, layers: "MVAU"},
	{name: "a pruned channel on a tie", build: func(n *net) {
		n.input("N", 3).dense().
			norm("h", "b", v{0, 0, -1, 1}, v{0.25, 0.75, 0.25, 0.25}, v{1, 1, 1, 1}, v{2, 2, 2, 2}).
			quant("b", "y", n.s(0.5), 0, 3, 1).output("N", 4)
	}, layers: "MVAU"},
	{name: "all weights zero", build: func(n *net) {
		n.input("N", 3).op("MatMul", "h", "q", n.c([]int{3, 2}, make([]float64, 6)...)).
			op("Add", "a", "h", n.c([]int{2}, 0.3, -5)).quant("a", "y", n.s(0.5), 0, 3, 1).output("N", 2)
	}, layers: "MVAU"},
	{name: "the largest over the steps of a sequence", build: func(n *net) {
		n.input(40, 1, 3).dense().quant("h", "a", n.s(2), 0, 5, 1).op("ReduceMax", "m", "a").Ints("axes", 0).
			Int("keepdims", 0).op("MatMul", "y", "m", n.c([]int{4, 2}, 1, -1, 1, 0, 0, 1, 2, 0)).output(1, 2)
	}, layers: "MVAU Reorder GlobalPool MVAU"},
	{name: "an embedding", build: func(n *net) {
		n.Input("x", graph.DTypeInt64, 1, 4).op("Gather", "e", n.c([]int{256, 3}, count(768)...), "x").
			op("MatMul", "y", "e", n.c([]int{3, 2}, 1, 2, 3, -4, 5, 6)).output(1, 4, 2)
	}, layers: "Lookup MVAU"},
	{name: "an embedding of a list of one", build: func(n *net) {
		n.Input("x", graph.DTypeInt64, 1).op("Gather", "e", n.c([]int{256, 3}, count(768)...), "x").
			op("MatMul", "y", "e", n.c([]int{3, 2}, 1, 2, 3, -4, 5, 6)).output(1, 2)
	}, layers: "Lookup MVAU"},
	{name: "an embedding of real numbers, on the host", build: func(n *net) {
		n.Input("x", graph.DTypeInt64, 1, 4).
			op("Gather", "e", n.c([]int{256, 3}, roots(768)...), "x").
			quant("e", "q", n.s(0.25), 0, 7, 1).
			op("MatMul", "y", "q", n.c([]int{3, 2}, 1, 2, 3, -4, 5, 6)).output(1, 4, 2)
	}, layers: "MVAU"},
	{name: "an embedding of real numbers", build: func(n *net) {
		n.Input("x", graph.DTypeUInt8, 1, 4).op("Gather", "y", n.c([]int{256, 1}, roots(256)...), "x").output(1, 4, 1)
	}, refuse: diag.WeightsNotInteger},
	{name: "weights of 1e-10", build: func(n *net) {
		n.input("N", 3).op("MatMul", "h", "q", n.c([]int{3, 1}, 1e-10, -1e-10, 0)).
			op("Mul", "a", "h", n.s(1e10)).quant("a", "y", n.s(0.5), 0, 3, 1).output("N", 1)
	}, layers: "MVAU"},
	{name: "weight scales per channel and a zero point of weights", build: func(n *net) {
		n.input("N", 3)
		w, scale := n.c([]int{3, 2}, 0.3, -0.8, 0.1, 0.9, -0.6, 0.2), n.c([]int{1, 2}, 0.1, 0.3)
		n.Node("Quant", w, scale, n.s(1), n.s(3)).Domain(qonnx).Out("w")
		n.op("MatMul", "h", "q", "w").quant("h", "y", n.c([]int{2}, 0.25, 0.3), 0, 4, 1).output("N", 2)
	}, layers: "MVAU"},
	{name: "asymmetric activations", build: func(n *net) {
		n.Input("x", graph.DTypeFloat32, "N", 3).Init("z", graph.DTypeUInt8, nil, 131).Init("z2", graph.DTypeUInt8,
			nil, 7).
			op("QuantizeLinear", "c", "x", n.s(0.05), "z").op("DequantizeLinear", "q", "c", n.s(0.05), "z").
			dense().op("QuantizeLinear", "c2", "h", n.s(0.3), "z2").
			op("DequantizeLinear", "d2", "c2", n.s(0.3), "z2").
			op("MatMul", "y", "d2", n.c([]int{4, 2}, 1, -1, 1, 0, 0, 1, 2, 0)).output("N", 2)
	}, layers: "MVAU Requantization MVAU"},
	{name: "two layers and a Gemm", build: func(n *net) {
		n.input("N", 3).dense().op("Relu", "r", "h").quant("r", "q2", n.s(0.4), 0, 3, 0).
			op("Gemm", "y", "q2", n.c([]int{2, 4}, 1, 2, 3, 4, -1, -2, -3, -4), n.c([]int{2}, 0.1, 0.2)).
			Int("transB", 1).Float("alpha", 0.3).output("N", 2)
	}, layers: "MVAU MVAU"},
	{name: "weights as a vector", build: func(n *net) {
		n.input(1, 3).op("MatMul", "h", "q", n.c([]int{3}, 1, -2, 3)).quant("h", "y", n.s(0.5), 0, 4, 1).
			output(1)
	}, layers: "MVAU"},
	{name: "data as a vector", build: func(n *net) {
		n.input(3).dense().quant("h", "y", n.s(0.5), 0, 4, 1).output(4)
	}, layers: "MVAU"},
	{name: "vectors in a row", build: func(n *net) {
		n.input("N", 5, 3).dense().op("Add", "a", "h", n.c([]int{4}, 0.1, 0.2, 0.3, 0.4)).
			quant("a", "y", n.s(0.75), 0, 3, 1).output("N", 5, 4)
	}, layers: "MVAU"},
	{name: "images", build: func(n *net) {
		n.Input("x", graph.DTypeFloat32, "N", 1, 2, 3).quant("x", "q", n.s(0.5), 0, 4, 1).op("Flatten", "f", "q").
			op("MatMul", "h", "f", n.c([]int{6, 2}, count(12)...)).op("Reshape", "y", "h", n.i(-1)).output(2)
	}, layers: "MVAU"},
	{name: "permuted vectors", build: func(n *net) {
		n.Input("x", graph.DTypeFloat32, 1, 2, 3).quant("x", "q", n.s(0.5), 0, 4, 1).op("Transpose", "t", "q").
			Ints("perm", 0, 2, 1).op("Flatten", "f", "t").
			op("MatMul", "y", "f", n.c([]int{6, 2}, count(12)...)).output(1, 2)
	}, layers: "MVAU"},
	{name: "elements taken twice and left out", build: func(n *net) {
		n.input(1, 3).op("Gather", "g", "q", n.i(2, 0, 0)).Int("axis", 1).
			op("MatMul", "y", "g", n.c([]int{3, 2}, 1, 2, 3, 4, 5, -4)).output(1, 2)
	}, layers: "MVAU"},
	{name: "a negated and shifted input", build: func(n *net) {
		n.input("N", 3).op("Neg", "m", "q").op("Add", "a", "m", n.c([]int{3}, 0.1, 0.2, 0.3)).
			op("MatMul", "h", "a", n.c([]int{3, 4}, weights...)).quant("h", "y", n.s(0.75), 0, 3, 1).
			output("N", 4)
	}, layers: "MVAU"},
	{name: "input scales with a common unit", build: func(n *net) {
		n.Input("x", graph.DTypeFloat32, "N", 3).quant("x", "q", n.c([]int{3}, 0.5, 1, 0.75), 0, 4, 1).dense().
			op("Identity", "y", "h").output("N", 4)
	}, layers: "MVAU"},
	{name: "input scales without", build: func(n *net) {
		n.Input("x", graph.DTypeFloat32, "N", 3).quant("x", "q", n.c([]int{3}, 0.1, 0.3, 0.7), 0, 4, 1).dense().
			op("Identity", "y", "h").output("N", 4)
	}, layers: "DuplicateStreams MVAU MVAU MVAU"},
	{name: "input scales of nine kinds", build: func(n *net) {
		n.Input("x", graph.DTypeFloat32, "N", 9).
			quant("x", "q", n.c([]int{9}, 0.1, 0.2, 0.3, 0.5, 0.6, 0.7, 0.9, 1.1, 1.3), 0, 4, 1).
			op("MatMul", "y", "q", n.c([]int{9, 1}, 1, 2, 3, 4, 5, 6, 7, 8, 9)).output("N", 1)
	}, refuse: diag.ScalePerInputChannel},
	{name: "multiplied by nothing", build: func(n *net) {
		n.input("N", 3).op("Mul", "m", "q", n.s(0)).op("MatMul", "h", "m", n.c([]int{3, 4}, weights...)).
			op("Add", "a", "h", n.s(0.75)).quant("a", "y", n.s(0.5), 0, 3, 1).output("N", 4)
	}, layers: "MVAU"},
	{name: "a square", build: func(n *net) {
		n.input("N", 3).dense().op("Mul", "m", "h", "h").quant("m", "y", n.s(2), 0, 3, 0).output("N", 4)
	}, layers: "MVAU Thresholding"},
	{name: "rising, falling and neither", build: func(n *net) {
		n.input("N", 3).dense().op("Mul", "m", "h", "h").op("Mul", "k", "m", n.c([]int{4}, 0, 0, 1, 0)).
			op("Mul", "l", "h", n.c([]int{4}, 1, 1, 0, -1)).op("Add", "a", "k", "l").
			quant("a", "y", n.s(2), 0, 3, 1).output("N", 4)
	}, layers: "MVAU Thresholding"},
	{name: "a quantiser of codes", build: func(n *net) {
		n.input("N", 3).op("Mul", "m", "q", n.c([]int{3}, 0.3, -0.3, 1)).quant("m", "q2", n.s(0.7), 1, 3, 1).
			op("MatMul", "y", "q2", n.c([]int{3, 4}, weights...)).output("N", 4)
	}, layers: "MVAU"},
	{name: "a quantiser of codes, of more bits", build: func(n *net) {
		n.input("N", 3).op("Mul", "m", "q", n.c([]int{3}, 0.3, -0.3, 1)).quant("m", "q2", n.s(0.7), 1, 5, 1).
			op("MatMul", "y", "q2", n.c([]int{3, 4}, weights...)).output("N", 4)
	}, layers: "Thresholding MVAU"},
	{name: "the same codes again", build: func(n *net) {
		n.input("N", 3).quant("q", "again", n.s(0.5), 0, 4, 1).
			op("MatMul", "h", "again", n.c([]int{3, 4}, weights...)).quant("h", "a", n.s(0.5), 0, 4, 1).
			quant("a", "y", n.s(0.5), 0, 5, 1).output("N", 4)
	}, layers: "MVAU"},
	{name: "the same codes again, and the first", build: func(n *net) {
		n.input("N", 3).quant("q", "again", n.s(0.5), 0, 4, 1).dense().
			op("MatMul", "g", "again", n.c([]int{3, 4}, weights...)).quant("h", "a", n.s(0.5), 0, 4, 1).
			quant("g", "b", n.s(0.5), 0, 4, 1).op("Add", "y", "a", "b").output("N", 4)
	}, layers: "DuplicateStreams MVAU MVAU"},
	{name: "codes alone", build: func(n *net) {
		n.input("N", 3).quant("q", "y", n.s(0.5), 0, 4, 1).output("N", 3)
	}, refuse: diag.NothingQuantised},
	{name: "bipolar", build: func(n *net) {
		n.Input("x", graph.DTypeFloat32, "N", 3).bipolar("x", "q", n.s(0.25)).
			op("MatMul", "h", "q", n.c([]int{3, 2}, 1, -1, -1, 1, 1, 1)).
			op("Add", "a", "h", n.c([]int{2}, 0.25, -0.1)).bipolar("a", "q2", n.s(0.5)).
			op("MatMul", "y", "q2", n.c([]int{2, 2}, 1, 1, -1, 1)).output("N", 2)
	}, layers: "MVAU MVAU"},
	{name: "a sigmoid and an irrational threshold", build: func(n *net) {
		n.input("N", 3).dense().op("Sigmoid", "g", "h").quant("g", "q2", n.s(0.1), 0, 4, 0).
			op("MatMul", "h2", "q2", n.c([]int{4, 2}, 1, 1, -1, 1, 2, 0, 0, -3)).
			norm("h2", "b", v{-1, 0.5}, v{0, 0.3}, v{0.2, 0}, v{2, 3}).
			bipolar("b", "y", n.s(1)).output("N", 2)
	}, layers: "MVAU MVAU"},
	{name: "bytes with zero points", build: func(n *net) {
		n.Input("x", graph.DTypeFloat32, 1, 3).Init("z", graph.DTypeUInt8, nil, 100).Init("az", graph.DTypeUInt8, nil,
			100).
			Init("bz", graph.DTypeUInt8, []int{2}, 128, 7).Init("w", graph.DTypeUInt8, []int{3, 2}, 0, 1, 128, 9, 255,
			7).
			op("QuantizeLinear", "q", "x", n.s(0.1), "z").op("MatMulInteger", "h", "q", "w", "az", "bz").
			op("Cast", "c", "h").Int("to", int64(graph.DTypeFloat32)).op("Mul", "y", "c", n.s(0.01)).output(1, 2)
	}, layers: "MVAU"},
	{name: "a head of 8 bits", build: func(n *net) {
		n.input("N", 3).dense().quant("h", "y", n.s(0.01), 0, 8, 1).output("N", 4)
	}, layers: "MVAU"},
	{name: "a head of 16 bits goes to the host", build: func(n *net) {
		n.Input("x", graph.DTypeFloat32, "N", 3).quant("x", "q", n.s(0.5), 0, 8, 1).dense().
			quant("h", "y", n.s(0.01), 0, 16, 1).output("N", 4)
	}, layers: "MVAU"},
	{name: "an activation of 16 bits", build: func(n *net) {
		n.Input("x", graph.DTypeFloat32, "N", 3).quant("x", "q", n.s(0.5), 0, 16, 1).dense().
			quant("h", "q2", n.s(0.5), 0, 16, 1).op("MatMul", "y", "q2", n.c([]int{4, 1}, 1, 1, 1, 1)).
			output("N", 1)
	}, layers: "MVAU MVAU"},
	{name: "host prefix", build: func(n *net) {
		n.Input("x", graph.DTypeFloat32, "N", 3).op("Mul", "m", "x", n.s(2)).op("Sub", "a", "m", n.s(1)).
			quant("a", "q", n.s(0.5), 0, 4, 1).dense().
			norm("h", "y", v{1, 2, 3, 4}, v{1, 2, 3, 4}, v{1, 2, 3, 4}, v{1, 2, 3, 4}).
			output("N", 4)
	}, layers: "MVAU"},
	{name: "an input of bytes", build: func(n *net) {
		n.Input("x", graph.DTypeUInt8, "N", 3).op("Cast", "m", "x").Int("to", int64(graph.DTypeFloat32)).
			op("Div", "a", "m", n.s(255)).quant("a", "q", n.s(1.0/16), 0, 4, 0).dense().op("Relu", "y", "h").
			output("N", 4)
	}, layers: "Thresholding MVAU"},
	{name: "unused nodes", build: func(n *net) {
		n.input("N", 3).op("Identity", "i", "x").quant("i", "uq", n.s(0.5), 0, 4, 1).
			op("MatMul", "u1", "uq", n.c([]int{3, 1}, 1, 2, 3)).dense().op("Relu", "u2", "h").
			op("MatMul", "u3", "u2", n.c([]int{4, 1}, 0.1, 0.2, 0.3, 0.7)).quant("h", "q2", n.s(0.5), 0, 4, 1).
			quant("q2", "u4", n.s(0.7), 0, 2, 1).op("Identity", "y", "q2").output("N", 4)
	}, layers: "MVAU"},
	{name: "unused layer", build: func(n *net) {
		n.input("N", 3).dense().quant("h", "q2", n.s(0.5), 0, 4, 1).
			op("MatMul", "u", "q2", n.c([]int{4, 1}, 1, 2, 3, 4)).op("Identity", "y", "q2").output("N", 4)
	}, layers: "MVAU"},
	{name: "part of the sums quantised", build: func(n *net) {
		n.input(1, 3).dense().op("Gather", "g", "h", n.i(0, 1)).Int("axis", 1).
			quant("g", "y", n.s(0.5), 0, 4, 1).output(1, 2)
	}, layers: "MVAU Reorder"},
	{name: "reordered sums quantised", build: func(n *net) {
		n.input(1, 3).dense().op("Gather", "g", "h", n.i(3, 2, 1, 0)).Int("axis", 1).
			quant("g", "y", n.s(0.5), 0, 4, 1).output(1, 4)
	}, layers: "MVAU"},
	{name: "part of the codes multiplied", build: func(n *net) {
		n.input(1, 3).op("Gather", "g", "q", n.i(0, 1)).Int("axis", 1).
			op("MatMul", "y", "g", n.c([]int{2, 2}, 1, 2, 3, 4)).output(1, 2)
	}, layers: "MVAU"},
	{name: "more than the codes multiplied", build: func(n *net) {
		n.input(1, 3).op("Concat", "g", "q", "q").Int("axis", 1).
			op("MatMul", "y", "g", n.c([]int{6, 2}, count(12)...)).output(1, 2)
	}, layers: "MVAU"},
	{name: "overlapping vectors", build: func(n *net) {
		n.input(1, 3).op("Gather", "g", "q", n.i(0, 1, 1, 2)).Int("axis", 1).op("Reshape", "v", "g", n.i(2, 2)).
			op("MatMul", "y", "v", n.c([]int{2, 1}, 1, 2)).output(2, 1)
	}, layers: "Reorder MVAU"},
	{name: "vectors taken in parts", build: func(n *net) {
		n.input(1, 4, 3).op("Gather", "g", "q", n.i(2, 0)).Int("axis", 2).
			op("MatMul", "h", "g", n.c([]int{2, 2}, 1, 2, -3, 1)).quant("h", "y", n.s(0.75), 0, 3, 1).
			output(1, 4, 2)
	}, layers: "MVAU"},
	{name: "vectors in another order", build: func(n *net) {
		n.input(1, 2, 3).op("Gather", "g", "q", n.i(1, 0)).Int("axis", 1).
			op("MatMul", "y", "g", n.c([]int{3, 1}, 1, 2, -3)).output(1, 2, 1)
	}, layers: "MVAU"},
	{name: "two readers", build: func(n *net) {
		n.input("N", 3).dense().op("MatMul", "h2", "q", n.c([]int{3, 4}, weights...)).
			quant("h", "a", n.s(0.5), 0, 4, 1).quant("h2", "b", n.s(0.5), 0, 4, 1).op("Add", "y", "a", "b").
			output("N", 4)
	}, layers: "DuplicateStreams MVAU MVAU"},
	{name: "two quantisers of one sum", build: func(n *net) {
		n.input("N", 3).dense().quant("h", "a", n.s(0.5), 0, 4, 1).quant("h", "b", n.s(0.25), 0, 4, 1).
			op("Add", "y", "a", "b").output("N", 4)
	}, layers: "MVAU DuplicateStreams Thresholding Thresholding"},
	{name: "a residual", build: func(n *net) {
		n.input("N", 3).op("MatMul", "h", "q", n.c([]int{3, 3}, count(9)...)).op("Add", "a", "h", "q").
			quant("a", "y", n.s(0.5), 0, 4, 1).output("N", 3)
	}, layers: "DuplicateStreams MVAU AddStreams"},
	{name: "codes that are an output as well", build: func(n *net) {
		n.input("N", 3).dense().quant("h", "a", n.s(0.5), 0, 4, 1).
			op("MatMul", "y", "a", n.c([]int{4, 1}, 1, 2, 3, 4)).output("N", 1).
			Output("a", graph.DTypeFloat32, "N", 4)
	}, layers: "MVAU DuplicateStreams MVAU"},
	{name: "input codes that are an output as well", build: func(n *net) {
		n.input("N", 3).dense().op("Identity", "y", "h").output("N", 4).Output("q", graph.DTypeFloat32, "N", 3)
	}, layers: "MVAU"},
	{name: "a scale per vector", build: func(n *net) {
		n.input(1, 2, 3).dense().quant("h", "y", n.c([]int{1, 2, 1}, 0.5, 0.75), 0, 4, 1).output(1, 2, 4)
	}, layers: "MVAU"},
	{name: "no activation quantised", build: func(n *net) {
		n.Input("x", graph.DTypeFloat32, "N", 3).op("MatMul", "h", "x", n.c([]int{3, 4}, weights...)).
			op("Relu", "y", "h").output("N", 4)
	}, refuse: diag.NothingQuantised},
	{name: "the second layer's input not quantised", build: func(n *net) {
		n.input("N", 3).dense().op("Relu", "r", "h").op("MatMul", "y", "r", n.c([]int{4, 1}, 1, 2, 3, 4)).
			output("N", 1)
	}, layers: "MVAU MVAU"},
	{name: "weights of floats", build: func(n *net) {
		n.input("N", 3).op("MatMul", "y", "q", n.c([]int{3, 1}, 0.1, 0.7000001, 1e-5)).output("N", 1)
	}, refuse: diag.WeightsNotInteger},
	{name: "attention", build: func(n *net) {
		n.input(3, 3).op("MatMul", "y", "q", "q").output(3, 3)
	}, refuse: diag.NodeNotMapped},
	{name: "the constant on the left", build: func(n *net) {
		n.input(3, 3).op("MatMul", "y", n.c([]int{2, 3}, 1, 2, 3, 4, 5, 6), "q").output(2, 3)
	}, refuse: diag.NodeNotMapped},
	{name: "weights per sample", build: func(n *net) {
		n.input(2, 1, 3).op("MatMul", "y", "q", n.c([]int{2, 3, 1}, 1, 2, 3, 4, 5, 6)).output(2, 1, 1)
	}, refuse: diag.NodeNotMapped},
	{name: "division by data", build: func(n *net) {
		n.input("N", 3).dense().op("Div", "d", n.s(1), "h").quant("d", "q2", n.s(0.5), 0, 4, 1).
			op("MatMul", "y", "q2", n.c([]int{4, 1}, 1, 1, 1, 1)).output("N", 1)
	}, refuse: diag.NodeNotMapped},
	{name: "steps beyond all numbers", build: func(n *net) {
		n.Input("x", graph.DTypeFloat64, "N", 3).Init("huge", graph.DTypeFloat64, nil, 1.7e308).
			quant("x", "q", "huge", 0, 8, 1).dense().op("Identity", "y", "h").
			Output("y", graph.DTypeFloat64, "N", 4)
	}, layers: "MVAU"},
	{name: "a frame without end", build: func(n *net) {
		n.Input("few", graph.DTypeUInt8, 3).Input("many", graph.DTypeUInt8, 1<<26)
		for _, name := range []string{"few", "many"} {
			n.op("Cast", name+".real", name).Int("to", int64(graph.DTypeFloat32))
			n.quant(name+".real", name+".q", n.s(16), 0, 4, 0)
			n.Output(name+".q", graph.DTypeFloat32, nil)
		}
	}, refuse: diag.ModelTooLarge},
	{name: "our own operators", build: func(n *net) {
		n.Opset("hlsgen", 1).Input("x", graph.DTypeFloat32, "N", 3)
		n.Node("Sign", "x").Domain("hlsgen").Out("q")
		n.dense().op("Identity", "y", "h").output("N", 4)
	}, refuse: diag.OpUnsupported, hint: "inside"},
	{name: "diamonds without end", build: func(n *net) {
		n.input("N", 3).dense()
		in := "h"
		for i := range 40 {
			a, b, sum := fmt.Sprintf("a%d", i), fmt.Sprintf("b%d", i), fmt.Sprintf("s%d", i)
			n.op("Mul", a, in, n.s(0.25))
			n.op("Mul", b, in, n.s(0.75))
			n.op("Add", sum, a, b)
			in = sum
		}
		n.quant(in, "y", n.s(0.75), 0, 3, 1).output("N", 4)
	}, layers: "MVAU"},
}

func count(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = float64(i - n/2)
	}
	return out
}

// roots are the square roots of 1 to n: real numbers that no scale makes integers of.
func roots(n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = float64(float32(math.Sqrt(float64(i + 1))))
	}
	return v
}

// TestImport imports the handmade models, and compares the layers, with the host's parts around them, with the model as
// written, bit by bit. Many of the inputs lie on rounding boundaries.
func TestImport(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	for _, c := range imports {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			n := newNet(13)
			c.build(n)
			im, found := imported(t, n, frontend.Options{})
			if im.Model == nil {
				if c.refuse == "" || found[0].Code != c.refuse ||
					!strings.Contains(found[0].Msg+found[0].Hint, c.hint) {
					t.Errorf("%v, want %s with %q", found, c.refuse, c.hint)
				}
				return
			}
			if got := kinds(im); got != c.layers {
				t.Errorf("layers %s, want %s", got, c.layers)
			}
			agree(t, im.Model, 300)
		})
	}
}
