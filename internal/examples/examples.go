// Package examples is what hlsgen carries with it: a trained network with real data, so that a build works in an empty
// folder and its accuracy means something.
package examples

import "embed"

// Digits is a 64-64-64-64-10 perceptron for 8x8 handwritten digits, ternary weights, 2-bit activations, trained with
// Brevitas for this project on the UCI optical digits (NOTICE). inputs.npy holds 128 held-out samples and 13 edge
// cases, labels.npy their classes, -1 for an edge case.
const Digits = "digits-mlp-w2a2"

// Files holds one folder per example: model.onnx, inputs.npy, labels.npy.
//
//go:embed digits-mlp-w2a2
var Files embed.FS
