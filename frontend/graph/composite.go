package graph

import "fmt"

// Composite operators say in one node what others say in several. Decompose writes them out, which changes no meaning:
//
//	QLinearMatMul(a, as, az, b, bs, bz, ys, yz)  QuantizeLinear(MatMul(DequantizeLinear(a..), DequantizeLinear(b..)), ys, yz)
//	MatMulInteger(a, b, az, bz)                  MatMul(a - az, b - bz)
func Decompose(g *Graph) {
	taken := map[string]bool{}
	for name := range g.Init {
		taken[name] = true
	}
	for _, n := range g.Nodes {
		for _, o := range n.Outputs {
			taken[o] = true
		}
	}
	var nodes []*Node
	for _, n := range g.Nodes {
		d := decomposition{n: n, taken: taken}
		switch {
		case n.Domain != "" || len(n.Outputs) != 1:
			nodes = append(nodes, n)
		case n.Op == "QLinearMatMul" && len(n.Inputs) == 8:
			in := n.Inputs
			a := d.add("DequantizeLinear", "a", in[0], in[1], in[2])
			b := d.addAlong("DequantizeLinear", "b", -1, in[3], in[4], in[5])
			d.last("QuantizeLinear", d.add("MatMul", "product", a, b), in[6], in[7])
			nodes = append(nodes, d.nodes...)
		case n.Op == "MatMulInteger" && len(n.Inputs) >= 2:
			a, b := n.Inputs[0], n.Inputs[1]
			if z := n.In(2); z != "" {
				a = d.add("Sub", "a", a, z)
			}
			if z := n.In(3); z != "" {
				b = d.add("Sub", "b", b, z)
			}
			d.last("MatMul", a, b)
			nodes = append(nodes, d.nodes...)
		default:
			nodes = append(nodes, n)
		}
	}
	g.Nodes = nodes
}

type decomposition struct {
	n     *Node
	nodes []*Node
	taken map[string]bool
}

func (d *decomposition) add(op, suffix string, inputs ...string) string {
	base := d.n.Outputs[0] + "." + suffix
	name := base
	for i := 2; d.taken[name]; i++ {
		name = fmt.Sprintf("%s%d", base, i)
	}
	d.taken[name] = true
	d.nodes = append(d.nodes, &Node{Index: d.n.Index, Name: d.n.Name, Op: op, Inputs: inputs, Outputs: []string{name}, Attrs: map[string]Attr{}})
	return name
}

func (d *decomposition) addAlong(op, suffix string, axis int64, inputs ...string) string {
	name := d.add(op, suffix, inputs...)
	d.nodes[len(d.nodes)-1].Attrs["axis"] = Attr{Kind: AttrInt, I: axis}
	return name
}

func (d *decomposition) last(op string, inputs ...string) {
	d.nodes = append(d.nodes, &Node{Index: d.n.Index, Name: d.n.Name, Op: op, Inputs: inputs, Outputs: d.n.Outputs, Attrs: map[string]Attr{}})
}
