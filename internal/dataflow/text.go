package dataflow

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"hlsgen/internal/num"
)

// String returns the text form, one line per input, node and output of the graph:
//
//	input s0 "global_in" [28,28,1] [0,255] UINT8
//	node MVAU_0 MVAU (s0) -> (s1 "/fc1/Gemm") from ["/fc1/Gemm","/act1/Quant"] {"weights":[[1,-1]]}
//	output s1
//
// An input has its stream, ONNX name, shape, range (or one per channel: [0,3],[0,7]) and element type. A node has its
// name, kind, streams, the ONNX tensor of each output, the ONNX nodes that it computes, and its parameters. The text
// omits the types of inner streams, because binding the layers derives them. layertest.Parse reads this form, and also
// accepts empty lines and lines that begin with #. The parts of a split layer in a design have no text form.
func (g *Graph) String() string {
	var b strings.Builder
	for _, s := range g.In {
		t := g.Streams[s].Type
		fmt.Fprintf(&b, "input s%d %s [", s, strconv.Quote(g.Streams[s].Name))
		list(&b, t.Shape, func(d int) { b.WriteString(strconv.Itoa(d)) })
		b.WriteString("] ")
		list(&b, t.Range, func(r num.Range) { b.WriteString(r.String()) })
		fmt.Fprintf(&b, " %s\n", t.Elem)
	}
	for _, n := range g.Nodes {
		fmt.Fprintf(&b, "node %s %s (", n.Name, n.Op.Kind())
		list(&b, n.In, func(s int) { fmt.Fprintf(&b, "s%d", s) })
		b.WriteString(") -> (")
		list(&b, n.Out, func(s int) { fmt.Fprintf(&b, "s%d %s", s, strconv.Quote(g.Streams[s].Name)) })
		b.WriteString(") from [")
		list(&b, n.Origin, func(s string) { b.WriteString(strconv.Quote(s)) })
		fmt.Fprintf(&b, "] %s\n", paramText(n.Op))
	}
	for _, s := range g.Out {
		fmt.Fprintf(&b, "output s%d\n", s)
	}
	return b.String()
}

// list writes items, separated by commas, by calls of write.
func list[T any](b *strings.Builder, items []T, write func(T)) {
	for i, x := range items {
		if i > 0 {
			b.WriteByte(',')
		}
		write(x)
	}
}

// paramText returns the parameters of op as JSON on one line.
func paramText(op Op) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(op.Params()); err != nil {
		panic(fmt.Sprintf("dataflow: parameters of %s: %v", op.Kind(), err))
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}
