package frontend_test

import (
	"fmt"
	"strings"
	"testing"

	"hlsgen/frontend"
	"hlsgen/frontend/graph"
	"hlsgen/frontend/operators"
	"hlsgen/internal/testsupport/tier"
)

// TestQuantisedStates checks an LSTM whose states arrive through its cell's own quantisers, of few and of many steps,
// and one along a tensor of as many steps. The host must keep nothing that the layer needs.
func TestQuantisedStates(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	for _, bits := range []int{4, 8, 9, 12, 16} {
		for _, behind := range []int{0, 9} { // bits of a quantiser of the input's sums; 0: the input as it arrives
			t.Run(fmt.Sprint(bits, " ", behind), func(t *testing.T) {
				t.Parallel()
				n := newNet(14)
				n.Input("x", graph.DTypeFloat32, 5, 1, 3).quant("x", "q", n.s(0.25), 0, 4, 1)
				in, layers := "q", "MVAU RNN DuplicateStreams"
				if behind > 0 {
					n.dense().quant("h", "wide", n.s(1./64), 0, behind, 1)
					in, layers = "wide", "MVAU MVAU RNN DuplicateStreams"
				}
				features := map[string]int{"q": 3, "wide": 4}[in]
				for _, s := range []string{"h", "c"} {
					n.Input(s+"0", graph.DTypeFloat32, 1, 1, 2).quant(s+"0", s+"q", n.s(1./16), 0, bits, 1)
				}
				n.Node("LSTM", in, n.c([]int{1, 8, features}, count(8*features)...),
					n.c([]int{1, 8, 2}, count(16)...), "", "", "hq", "cq").Int("hidden_size", 2).Name("cell").
					Out("y", "last", "state")
				for _, out := range []string{"y", "last", "state"} {
					n.Output(out, graph.DTypeFloat32)
				}
				formats := operators.CellFormats{}
				for _, name := range operators.LSTMCellQuantiserNames {
					formats[name] = operators.CellQuantiserFormat{Scale: 1. / 16, Bits: 6, Signed: true,
						Rounding: "ROUND"}
				}
				for _, name := range []string{"output", "cell_state"} {
					formats[name] = operators.CellQuantiserFormat{Scale: 1. / 16, Bits: bits, Signed: true,
						Rounding: "ROUND"}
				}
				im, found := imported(t, n, frontend.Options{Cells: []frontend.CellFormatsFile{
					{Flag: frontend.LSTMFormatsFlag, Cells: map[string]operators.CellFormats{"cell": formats}}}})
				if im.Model == nil {
					t.Fatal(found)
				}
				if got := kinds(im); got != layers {
					t.Errorf("layers %s, want %s", got, layers)
				}
				agree(t, im.Model, 20)
			})
		}
	}
}

// TestStatesOfOneDirection has states that arrive for one direction, and constants for the other: both are engines.
func TestStatesOfOneDirection(t *testing.T) {
	t.Parallel()
	for name, joined := range map[string][]string{"forward": {"hq", "constant"}, "backward": {"constant", "hq"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := newNet(14)
			n.Input("x", graph.DTypeFloat32, 80, 1, 3).quant("x", "q", n.s(0.25), 0, 4, 1)
			n.Input("h0", graph.DTypeFloat32, 1, 1, 2).quant("h0", "hq", n.s(1./16), 0, 6, 1)
			n.Init("constant", graph.DTypeFloat32, []int{1, 1, 2}, 0.5, -0.25)
			n.op("Concat", "both", joined...).Int("axis", 0)
			n.Node("RNN", "q", n.c([]int{2, 2, 3}, count(12)...), n.c([]int{2, 2, 2}, count(8)...), "", "", "both").
				Int("hidden_size", 2).Str("direction", "bidirectional").Name("cell").Out("y")
			n.Output("y", graph.DTypeFloat32)
			formats := operators.CellFormats{"output": {Scale: 1. / 16, Bits: 6, Signed: true, Rounding: "ROUND"}}
			im, found := imported(t, n, frontend.Options{Cells: []frontend.CellFormatsFile{
				{Flag: frontend.CellFormatsFlag, Cells: map[string]operators.CellFormats{"cell": formats}}}})
			if im.Model == nil {
				t.Fatal(found)
			}
			if got := strings.Count(kinds(im), "RNN"); got != 2 {
				t.Errorf("layers %s, want two engines", kinds(im))
			}
			agree(t, im.Model, 10)
		})
	}
}
