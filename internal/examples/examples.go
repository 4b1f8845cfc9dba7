// Package examples is what hlsgen carries with it: trained networks with real data, so that a build works in an empty
// folder and its accuracy means something. Each folder holds model.onnx (QONNX), inputs.npy, labels.npy (the class of
// each sample, -1 for an edge case) and outputs.npy (what Brevitas computes).
//
// In comes the name of an example; out come its files. It sees nothing of this module.
package examples

import "embed"

// Digits is a 64-64-64-64-10 perceptron for 8x8 handwritten digits, ternary weights, 2-bit activations, trained with
// Brevitas for this project on the UCI optical digits (NOTICE): 128 held-out samples and 13 edge cases. It is what a
// build without a model builds.
const Digits = "digits-mlp-w2a2"

// Iris is a 4-8-3 perceptron, 3-bit weights and activations, on Fisher's iris data; qcdq.onnx is the same network in
// QuantizeLinear form.
const Iris = "iris-mlp-w3a3"

// An Example is one of them, with its line in a list.
type Example struct{ Name, Doc string }

// All lists the examples, the default first.
var All = []Example{
	{Digits, "a perceptron (64-64-64-64-10) for handwritten digits of 8x8 pixels, 2-bit weights and activations"},
	{Iris, "a perceptron (4-8-3) for Fisher's irises, 3-bit weights and activations"},
}

// Files holds one folder per example.
//
//go:embed digits-mlp-w2a2 iris-mlp-w3a3
var Files embed.FS
