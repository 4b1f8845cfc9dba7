package graph

import "fmt"

// Composite operators say in one node what others say in several. Decompose writes them out, which changes no meaning:
//
//	QLinearMatMul(a, as, az, b, bs, bz, ys, yz)  QuantizeLinear(MatMul(DequantizeLinear(a..), DequantizeLinear(b..)), ys, yz)
//	MatMulInteger(a, b, az, bz)                  MatMul(a - az, b - bz) in int32
//
// Scales and zero points that are vectors belong to the rows of a and y and to the columns of b.
func Decompose(g *Graph) {
	taken, constants := map[string]bool{}, map[string]*Tensor{}
	for name, t := range g.Init {
		taken[name], constants[name] = true, t
	}
	for _, in := range g.Inputs {
		taken[in.Name] = true
	}
	for _, n := range g.Nodes {
		for _, o := range n.Outputs {
			taken[o] = true
		}
		if n.Op == "Constant" && n.Domain == "" && len(n.Outputs) == 1 {
			constants[n.Outputs[0]] = n.Attrs["value"].T
		}
	}
	var nodes []*Node
	for _, n := range g.Nodes {
		d := decomposition{g: g, n: n, taken: taken}
		switch {
		case n.Domain != "" || len(n.Outputs) != 1:
		case n.Op == "QLinearMatMul" && len(n.Inputs) == 8:
			in := n.Inputs
			a := d.addAlong("DequantizeLinear", "a", -2, in[0], in[1], in[2])
			b := d.addAlong("DequantizeLinear", "b", -1, in[3], in[4], in[5])
			d.last("QuantizeLinear", -2, d.add("MatMul", "product", a, b), in[6], in[7])
		case n.Op == "MatMulInteger" && len(n.Inputs) >= 2 && (n.In(2) == "" || constants[n.In(2)] != nil):
			a, b := d.wide("a", n.Inputs[0]), d.wide("b", n.Inputs[1])
			if z := n.In(2); z != "" {
				a = d.add("Sub", "a", a, d.wide("az", d.column(z, constants[z])))
			}
			if z := n.In(3); z != "" {
				b = d.add("Sub", "b", b, d.wide("bz", z))
			}
			d.last("MatMul", 0, a, b)
		}
		if d.nodes == nil {
			d.nodes = []*Node{n}
		}
		nodes = append(nodes, d.nodes...)
	}
	g.Nodes = nodes
}

type decomposition struct {
	g     *Graph
	n     *Node
	nodes []*Node
	taken map[string]bool
}

// wide casts to int32, which holds the difference of two bytes.
func (d *decomposition) wide(suffix, tensor string) string {
	name := d.add("Cast", suffix, tensor)
	d.nodes[len(d.nodes)-1].Attrs["to"] = Attr{Kind: AttrInt, I: int64(Int32)}
	return name
}

// column is a constant vector that stands upright: one value per row.
func (d *decomposition) column(name string, t *Tensor) string {
	if len(t.Shape) != 1 || t.Len() == 1 {
		return name
	}
	up := *t
	up.Shape = []int{t.Len(), 1}
	name = d.fresh("rows")
	d.g.Init[name] = &up
	return name
}

func (d *decomposition) fresh(suffix string) string {
	base := d.n.Outputs[0] + "." + suffix
	name := base
	for i := 2; d.taken[name]; i++ {
		name = fmt.Sprintf("%s%d", base, i)
	}
	d.taken[name] = true
	return name
}

func (d *decomposition) add(op, suffix string, inputs ...string) string {
	name := d.fresh(suffix)
	d.nodes = append(d.nodes, &Node{Index: d.n.Index, Name: d.n.Name, Was: d.n.FullOp(), Op: op, Inputs: inputs, Outputs: []string{name}, Attrs: map[string]Attr{}})
	return name
}

func (d *decomposition) addAlong(op, suffix string, axis int64, inputs ...string) string {
	name := d.add(op, suffix, inputs...)
	d.nodes[len(d.nodes)-1].Attrs["axis"] = Attr{Kind: AttrInt, I: axis}
	return name
}

// last writes the node's own output; an axis of 0 is none.
func (d *decomposition) last(op string, axis int64, inputs ...string) {
	attrs := map[string]Attr{}
	if axis != 0 {
		attrs["axis"] = Attr{Kind: AttrInt, I: axis}
	}
	d.nodes = append(d.nodes, &Node{Index: d.n.Index, Name: d.n.Name, Was: d.n.FullOp(), Op: op, Inputs: inputs, Outputs: d.n.Outputs, Attrs: attrs})
}
