// Package rnntest draws recurrent networks for tests: files of quantised LSTMs, GRUs and plain recurrent networks in
// the spellings of exporters, and beside each file what it means, computed step by step in exact arithmetic by code
// that reads no file. In come choices; out come networks (bytes, samples, their outputs). It sees graph and onnxtest,
// to write files.
//
//   - choices.go is where all decisions come from, so that a network that fails can become smaller
//   - draw.go draws networks, drawcell.go the cells in them
//   - network.go and cell.go say what is computed, exact.go does it with rationals and enclosures of what is none
//   - write.go writes files, body.go the step of a Scan in several spellings, nodes.go the operators of ONNX and
//     Brevitas' cell; loop.go an ONNX Loop; unrolled.go copies of a step
package rnntest
