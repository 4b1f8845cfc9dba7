package simulate

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"hlsgen/internal/npy"
	"hlsgen/internal/report"
)

// A TraceIndex describes the arrays of a trace file. The file has it as the array index.json: the bytes of a JSON text.
type TraceIndex struct {
	report.ReportHead
	Samples int             `json:"samples"` // the first axis of all values and integers
	Tensors []TraceIndexRow `json:"tensors"`
}

// A TraceIndexRow names the arrays of a tensor. Where it is the integers of a stream, values are scale*integers + bias.
type TraceIndexRow struct {
	Tensor   string `json:"tensor"`           // the name in the ONNX file
	Layer    string `json:"layer,omitempty"`  // the layer that computes it, where a stream carries it
	Values   string `json:"values,omitempty"` // the name of the array of real numbers, where they are known
	Integers string `json:"integers,omitempty"`
	Scale    string `json:"scale,omitempty"` // of one sample
	Bias     string `json:"bias,omitempty"`  // of one sample
}

// traceIndexName is the name of the array with the index.
const traceIndexName = "index.json"

// longestMember limits the bytes of a tensor's name that is also the name of an array.
const longestMember = 4096

// IsTraceFile reports whether the path of --trace names an .npz file. Other paths name folders.
func IsTraceFile(path string) bool { return strings.EqualFold(filepath.Ext(path), ".npz") }

// memberName returns the name of the array of a tensor in an archive: the tensor's own, or the name of its file in a
// folder where zip programs could not read that.
func memberName(tensor string) string {
	if len(tensor) > longestMember || !utf8.ValidString(tensor) || strings.ContainsAny(tensor, "\x00\\") {
		return traceName(tensor)
	}
	return tensor
}

// bytesArray returns bytes as an array of uint8.
func bytesArray(b []byte) *npy.Array {
	a := &npy.Array{DType: "uint8", Shape: []int{len(b)}, Data: make([]float64, len(b))}
	for i, x := range b {
		a.Data[i] = float64(x)
	}
	return a
}

// traceName converts a tensor's name to a file name. Bytes other than letters, digits, '-', '_' and '.' become %XX, as
// does a leading '.'. A long name is cut and completed by a hash.
func traceName(tensor string) string {
	var b strings.Builder
	for i := range len(tensor) {
		c := tensor[i]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c == '.' &&
			i > 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	if b.Len() > 180 {
		sum := sha256.Sum256([]byte(tensor))
		return b.String()[:160] + "-" + hex.EncodeToString(sum[:8])
	}
	return b.String()
}
