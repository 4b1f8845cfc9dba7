package onnxio

import (
	"fmt"
	"strconv"

	"github.com/owulveryck/onnx-go"
	gonum "gonum.org/v1/gonum/graph"
	"gonum.org/v1/gonum/graph/multi"
	"gonum.org/v1/gonum/graph/simple"
	"google.golang.org/protobuf/proto"

	"hlsgen/frontend/onnxio/onnxpb"
)

// A wiring is the backend in which onnx-go connects a graph. Its nodes are tensors. An edge leads from every output
// of an operator to each tensor that the operator reads, weighted by the input slot. It must be a multigraph,
// because Mul(x, x) reads x twice.
type wiring struct {
	*multi.WeightedDirectedGraph
	byName  map[string]*tensorNode
	made    [][]*tensorNode         // outputs of each operator
	writers map[*tensorNode][]int32 // operators that make a tensor, in the file's order
}

// A tensorNode is one tensor in onnx-go's graph, to which onnx-go gives the name.
type tensorNode struct {
	multi.Node
	name string
	w    *wiring
}

func (t *tensorNode) GetName() string { return t.name }

func (t *tensorNode) SetName(name string) {
	t.name = name
	t.w.byName[name] = t
}

func (w *wiring) NewNode() gonum.Node {
	return &tensorNode{Node: w.WeightedDirectedGraph.NewNode().(multi.Node), w: w}
}

func (w *wiring) NewWeightedEdge(from, to gonum.Node, weight float64) gonum.WeightedEdge {
	return simple.WeightedEdge{F: from, T: to, W: weight}
}

func (w *wiring) SetWeightedEdge(e gonum.WeightedEdge) {
	w.SetWeightedLine(w.NewWeightedLine(e.From(), e.To(), e.Weight()))
}

// ApplyOperation records which operator made the tensors outputs. onnx-go calls it for each operator; topology has put
// the operator's index into op.
func (w *wiring) ApplyOperation(op onnx.Operation, outputs ...gonum.Node) error {
	i := op.Attributes[indexAttr].(int64)
	for _, o := range outputs {
		t := o.(*tensorNode)
		w.made[i] = append(w.made[i], t)
		w.writers[t] = append(w.writers[t], int32(i))
	}
	return nil
}

const indexAttr = "index"

// tensorName returns the name that a model's tensor has in onnx-go's graph, which no placeholder has.
func tensorName(name string) string { return "=" + name }
func emptySlot(n int) string        { return "#" + strconv.Itoa(n) }

// An operator is a node as onnx-go sees it: the tensors that it and its subgraphs read, and the tensors that it
// makes. Empty names are empty slots.
type operator struct{ reads, makes []string }

// wire lets onnx-go connect the operators of one graph, and returns the connections.
func wire(ops []operator) (w *wiring, err error) {
	w = &wiring{
		WeightedDirectedGraph: multi.NewWeightedDirectedGraph(),
		byName:                make(map[string]*tensorNode),
		made:                  make([][]*tensorNode, len(ops)),
		writers:               make(map[*tensorNode][]int32),
	}
	if len(ops) == 0 {
		return w, nil // onnx-go refuses a graph without nodes
	}
	b, err := proto.Marshal(topology(ops))
	if err != nil {
		return nil, err
	}
	// onnx-go panics on some unexpected models.
	defer func() {
		if e := recover(); e != nil {
			w, err = nil, fmt.Errorf("onnx-go: %v", e)
		}
	}()
	return w, onnx.NewModel(w).UnmarshalBinary(b)
}

// topology returns the model for onnx-go: tensor names and operator indices, without types and constants. It omits
// graph inputs and outputs, since onnx-go makes a further tensor for each declaration, except for one output that
// onnx-go requires. Every operator gets at least one input and one output, since onnx-go skips operators without.
func topology(ops []operator) *onnxpb.ModelProto {
	slots := 0
	names := func(list []string) []string {
		out := make([]string, 0, max(1, len(list)))
		for _, name := range list {
			if name != "" {
				out = append(out, tensorName(name))
				continue
			}
			out = append(out, emptySlot(slots))
			slots++
		}
		if len(out) == 0 {
			out = append(out, emptySlot(slots))
			slots++
		}
		return out
	}
	g := &onnxpb.GraphProto{Name: proto.String("topology")}
	for i, op := range ops {
		g.Node = append(g.Node, &onnxpb.NodeProto{
			Input:  names(op.reads),
			Output: names(op.makes),
			OpType: proto.String("operator"),
			Attribute: []*onnxpb.AttributeProto{{
				Name: proto.String(indexAttr),
				Type: onnxpb.AttributeProto_INT.Enum(),
				I:    proto.Int64(int64(i)),
			}},
		})
	}
	g.Output = []*onnxpb.ValueInfoProto{{Name: proto.String(emptySlot(slots))}}
	return &onnxpb.ModelProto{IrVersion: proto.Int64(int64(onnxpb.Version_IR_VERSION)), Graph: g}
}

// dependences returns the graph of operators, in which an edge leads from the maker of a tensor to its readers. loops
// lists operators that read their own outputs, which gonum's sort does not detect.
func (w *wiring) dependences() (g *simple.DirectedGraph, loops []int) {
	g = simple.NewDirectedGraph()
	for i := range w.made {
		g.AddNode(simple.Node(i))
	}
	for i, made := range w.made {
		loop := false
		// All outputs of an operator lead to the same inputs.
		for from := w.From(made[0].ID()); from.Next(); {
			for _, maker := range w.writers[from.Node().(*tensorNode)] {
				if int(maker) == i {
					loop = true
					continue
				}
				g.SetEdge(simple.Edge{F: simple.Node(maker), T: simple.Node(i)})
			}
		}
		if loop {
			loops = append(loops, i)
		}
	}
	return g, loops
}
