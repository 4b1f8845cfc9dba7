package doctest

import (
	"os"
	"path/filepath"
	"testing"

	"hlsgen/internal/npy"
	"hlsgen/internal/testsupport/onnxtest"
)

// recurrentPage is the page about recurrent networks.
const recurrentPage = "docs/recurrent.md"

// recurrent writes the networks that this page uses, and eight digits, into a folder.
func (p *program) recurrent(t testing.TB, dir string) {
	t.Helper()
	read := func(path string) []byte {
		b, err := os.ReadFile(filepath.Join(p.root, "internal", "testsupport", "models", filepath.FromSlash(path)))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	write := func(name string, b []byte, err error) {
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), b, 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	const size = 8 // time steps of a digit: its columns of eight pixels
	for name, from := range map[string]string{"lstm.onnx": "lstm-h16-w8a8-pot", "bilstm.onnx": "bilstm-scan-h32-w4a8"} {
		b, err := onnxtest.MakeAxisDynamic(read(from+"/model.onnx"), size, "T")
		write(name, b, err)
	}
	write("op.onnx", read("lstm-onnxop-h32-w8/qcdq.onnx"), nil)
	write("gates.json", read("lstm-formats.json"), nil)
	write("y.npy", read("lstm-h16-w8a8-pot/outputs.npy"), nil)
	digits, err := npy.ParseNPY(read("lstm-h16-w8a8-pot/inputs.npy"))
	if err != nil {
		t.Fatal(err)
	}
	samples := len(digits.Data) / (size * size)
	for name, shape := range map[string][]int{"x.npy": {samples, size, 1, size},
		"columns.npy": {samples, size, size, 1}, "pieces.npy": {2 * samples, size / 2, 1, size}} {
		b, err := npy.EncodeNPY(&npy.Array{DType: digits.DType, Shape: shape, Data: digits.Data})
		write(name, b, err)
	}
	lengths := &npy.Array{DType: "int64", Shape: []int{samples}}
	for i := range samples {
		lengths.Data = append(lengths.Data, float64(size-3*i%size))
	}
	b, err := npy.EncodeNPY(lengths)
	write("lengths.npy", b, err)
}
