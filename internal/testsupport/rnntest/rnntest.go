// Package rnntest draws recurrent networks for tests. It writes files of quantised LSTMs, GRUs and plain recurrent
// networks as different exporters do. It also computes the outputs of each network step by step in exact
// arithmetic, with code that reads no file. In come choices; out come networks (bytes, samples, their outputs). It
// sees graph and onnxtest, to write files.
//
//   - choices.go supplies all decisions, so that a network that fails can be made smaller
//   - draw.go draws networks, drawcell.go their cells; echoing.go draws until one gives a vector for every step
//   - network.go and cell.go compute the outputs; exact.go does so with rationals and with enclosures of irrational
//     numbers
//   - write.go writes files: body.go the step of a Scan in several spellings, nodes.go the operators of ONNX and
//     Brevitas' cell, loop.go an ONNX Loop, unrolled.go copies of a step
package rnntest
