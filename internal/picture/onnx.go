package picture

import (
	"cmp"
	"fmt"
	"strings"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/onnxio"
)

// domain is the domain of the nodes of a picture. No ONNX runtime knows it, so a picture is not taken for a model.
const domain = "hlsgen.picture"

// onnx returns the network as an ONNX file, for viewers of such files: a node for each node, with its facts as
// attributes. Inputs and outputs are those of the ports.
func (n *Drawing) onnx() ([]byte, error) {
	g := &graph.Graph{Name: n.Name, Opsets: map[string]int64{"": 13, domain: 1}, Producer: "hlsgen"}
	names := n.tensors()
	info := func(s int) graph.ValueInfo {
		v := graph.ValueInfo{Name: names[s], DType: container(n.Streams[s].Type), Known: n.Streams[s].Shape != nil}
		for _, d := range n.Streams[s].Shape {
			v.Dims = append(v.Dims, graph.Dim{Size: d})
		}
		return v
	}
	nodes := make([]*graph.Node, len(n.Nodes))
	for i, node := range n.Nodes {
		a := graph.AttributesByName{}
		for _, fact := range node.Facts {
			a[fact.Name] = graph.NewStringAttr(fact.Value)
		}
		nodes[i] = &graph.Node{Index: i, Name: node.Name, Op: word(node.Op), Domain: domain, Attrs: a}
	}
	written := map[string]bool{}
	var values []graph.ValueInfo
	for k, s := range n.Streams {
		from, to := n.Nodes[s.From], n.Nodes[s.To]
		if !written[names[k]] {
			written[names[k]] = true
			switch {
			case from.Port:
				g.Inputs = append(g.Inputs, info(k))
			default:
				nodes[s.From].Outputs = append(nodes[s.From].Outputs, names[k])
			}
			if !from.Port && !to.Port && s.Shape != nil {
				values = append(values, info(k))
			}
		}
		if to.Port {
			g.Outputs = append(g.Outputs, info(k))
		} else {
			nodes[s.To].Inputs = append(nodes[s.To].Inputs, names[k])
		}
	}
	for i, node := range nodes {
		if n.Nodes[i].Port {
			continue
		}
		if len(node.Outputs) == 0 { // ONNX wants an output; nothing reads this one
			node.Outputs = []string{fmt.Sprintf("unread %d", i)}
		}
		g.Nodes = append(g.Nodes, node)
	}
	return onnxio.EncodeGraph(g, values)
}

// tensors returns a name for each stream. Streams of one tensor from one node have one name. Others differ.
func (n *Drawing) tensors() []string {
	type origin struct {
		node   int
		tensor string
	}
	given := map[origin]string{}
	taken := map[string]bool{}
	names := make([]string, len(n.Streams))
	for k, s := range n.Streams {
		o := origin{s.From, s.Tensor}
		if s.Tensor != "" && given[o] != "" {
			names[k] = given[o]
			continue
		}
		name := cmp.Or(s.Tensor, fmt.Sprintf("stream %d", k))
		for taken[name] {
			name += "'"
		}
		taken[name], given[o], names[k] = true, name, name
	}
	return names
}

// container returns the smallest ONNX type of integers that holds elements of a type such as UINT4 or INT12. It returns
// float32 for all other types.
func container(t string) graph.DType {
	var bits int
	unsigned := strings.HasPrefix(t, "U")
	if _, err := fmt.Sscanf(strings.TrimPrefix(t, "U"), "INT%d", &bits); err != nil {
		return graph.DTypeFloat32
	}
	for _, c := range []struct {
		bits             int
		signed, unsigned graph.DType
	}{{8, graph.DTypeInt8, graph.DTypeUInt8}, {16, graph.DTypeInt16, graph.DTypeUInt16},
		{32, graph.DTypeInt32, graph.DTypeUInt32}, {64, graph.DTypeInt64, graph.DTypeUInt64}} {
		if bits <= c.bits {
			if unsigned {
				return c.unsigned
			}
			return c.signed
		}
	}
	return graph.DTypeFloat32
}

// word returns an operator's name, or Node if it is empty.
func word(op string) string { return cmp.Or(op, "Node") }
