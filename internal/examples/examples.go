// Package examples holds the example networks in hlsgen: trained networks with real data, so that a build works in
// an empty folder and its accuracy is meaningful. Each folder has model.onnx (QONNX), inputs.npy, labels.npy (the
// class of each sample, -1 for an edge case) and outputs.npy (Brevitas' results).
//
//	examples.go  the list and the files
//	write.go     writes a folder per example
package examples

import "embed"

// DigitsName names a 64-64-64-64-10 perceptron for 8x8 handwritten digits, with ternary weights and 2-bit activations.
// A build without a model builds it. It was trained with Brevitas for this project on the UCI optical digits (NOTICE).
// It has 128 held-out samples and 13 edge cases.
const DigitsName = "digits-mlp-w2a2"

// IrisName names a 4-8-3 perceptron for Fisher's iris data, with 3-bit weights and activations. Its folder also has
// qcdq.onnx, the same network in QuantizeLinear form.
const IrisName = "iris-mlp-w3a3"

// A NameAndDoc describes an example network: Name is its folder in EmbeddedFiles, and Doc one line for users.
type NameAndDoc struct{ Name, Doc string }

// NamesAndDocs lists the examples, the default first.
var NamesAndDocs = []NameAndDoc{
	{DigitsName, "a perceptron (64-64-64-64-10) for handwritten digits of 8x8 pixels, 2-bit weights and activations"},
	{IrisName, "a perceptron (4-8-3) for Fisher's irises, 3-bit weights and activations"},
}

// EmbeddedFiles contains one folder per example.
//
//go:embed digits-mlp-w2a2 iris-mlp-w3a3
var EmbeddedFiles embed.FS
