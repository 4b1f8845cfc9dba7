package frontend

import (
	"os"
	"testing"
	"time"

	"hlsgen/internal/diag"
)

func TestTry(t *testing.T) {
	path := os.Getenv("TRY")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Skip()
	}
	var d diag.List
	start := time.Now()
	im, err := Import("m.onnx", b, Options{Dims: map[string]int{"T": 12}}, &d)
	t.Log(time.Since(start), err)
	for _, x := range d.Diags {
		t.Log(x.Node, x.Op, x.Code, x.Msg)
	}
	if im != nil && im.Model != nil {
		for _, n := range im.Model.Graph.Nodes {
			t.Log(n.Name, n.In, n.Out, im.Model.Graph.Streams[n.Out[0]].Type.Shape, im.Model.Graph.Streams[n.Out[0]].Type.Elem, n.Origin)
		}
	}
}
