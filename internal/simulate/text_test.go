package simulate

import (
	"testing"

	"hlsgen/internal/ctc"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
)

// TestDecode holds when outputs become text, and that what cannot be decoded is said where it was asked for.
func TestDecode(t *testing.T) {
	t.Parallel()
	abc := map[string]string{"alphabet": `["", "a", "b"]`, "decode": "greedy"}
	fits, other := dataflow.RealTensorInfo{Shape: []int{5, 3}}, dataflow.RealTensorInfo{Shape: []int{5, 4}}
	for _, tt := range []struct {
		meta   map[string]string
		out    dataflow.RealTensorInfo
		method ctc.DecodingMethod
		want   ctc.DecodingMethod // "" for none
		msg    string
	}{
		{nil, fits, "", "", ""},
		{nil, fits, ctc.MethodNone, "", ""},
		{nil, fits, ctc.MethodGreedy, "", "text cannot be made of the outputs: there is no alphabet"},
		{abc, fits, "", ctc.MethodGreedy, ""},
		{abc, fits, ctc.MethodBestBetweenBlanks, ctc.MethodBestBetweenBlanks, ""},
		{abc, fits, ctc.MethodNone, "", ""},
		{abc, other, "", "", ""},
		{abc, other, ctc.MethodBestBetweenBlanks, "",
			"text cannot be made of the outputs: no output has a score for each of the 3 classes"},
		{map[string]string{"alphabet": "abc"}, fits, "", "", ""},
		{map[string]string{"alphabet": `["a"]`, "decode": "none"}, dataflow.RealTensorInfo{Shape: []int{5, 1}},
			"", "", ""},
	} {
		var d diag.List
		got := decoderOf(&dataflow.Model{Meta: tt.meta, Out: []dataflow.RealTensorInfo{{Shape: []int{3}}, tt.out}},
			tt.method,
			"m.onnx", &d)
		if (got == nil) != (tt.want == "") || got != nil && got.Method != tt.want {
			t.Errorf("%v, %q: %v, want %q", tt.meta, tt.method, got, tt.want)
		}
		if (len(d.Diags) == 0) != (tt.msg == "") || tt.msg != "" &&
			(d.Diags[0].Msg != tt.msg || d.Diags[0].Code != diag.InputDataInvalid) {
			t.Errorf("%v, %q: %v, want %q", tt.meta, tt.method, d.Diags, tt.msg)
		}
	}
}
