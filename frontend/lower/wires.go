package lower

import (
	"hlsgen/frontend/graph"
	"hlsgen/frontend/lower/choose"
	"hlsgen/frontend/lower/find"
	"hlsgen/frontend/lower/place"
	"hlsgen/frontend/lower/unmapped"
	"hlsgen/internal/dataflow"
)

// put says that an integer tensor is on a wire.
func (l *lowering) put(tensor string, wire int, at []int32) {
	l.Places[tensor] = &place.Place{Stream: place.On(&l.net, wire), At: at}
}

// take gives the wire of an integer tensor.
func (l *lowering) take(tensor string) int { return l.Places[tensor].Wire(&l.net, l.Name(tensor)) }

// operand reads data as integers of streams: where several meet, they are added up first.
func (l *lowering) operand(tensor string, elements []int32) (*find.Operand, *unmapped.Reason) {
	if reject := l.Trace(len(elements)); reject != nil {
		return nil, reject
	}
	if reject := l.addUp(tensor); reject != nil {
		return nil, reject
	}
	return l.Operand(tensor, elements)
}

// arrange brings an operand in the order of a frame of the shape. fill is the code of its constants.
func (l *lowering) arrange(o *find.Operand, shape dataflow.Shape, fill int64) (int, *unmapped.Reason) {
	if len(o.Tensors) == 1 && o.Value == nil {
		tensor := o.Tensors[0]
		l.Places[tensor].Send(&o.Movement, shape, func() bool { return len(l.Uses.Readers(tensor)) <= 1 })
	}
	wires := make([]int, len(o.Tensors))
	for i, tensor := range o.Tensors {
		wires[i] = l.take(tensor)
	}
	return l.net.Move(wires, o.Movement, shape, fill, o.Nodes)
}

// add joins the layers of a choice to wires; the last is called after a tensor. It gives the wire of the first output.
func (l *lowering) add(c *choose.Choice, in []int, tensor string, nodes []*graph.Node) (int, *unmapped.Reason) {
	w, rest := in[0], in[1:]
	for i, op := range c.Ops {
		ins, name := append([]int{w}, rest...), l.Name(tensor)
		if len(c.Ops) > 1 {
			ins = []int{w, rest[i]}
		}
		if i < len(c.Ops)-1 {
			name = ""
		}
		out, err := l.net.Add(op, ins, name, nodes)
		if err != nil {
			return 0, c.Refused(err)
		}
		w = out[0]
	}
	return w, nil
}

// make chooses a layer for a function, and joins it to wires.
func (l *lowering) make(f choose.Function, in []int, tensor string, nodes []*graph.Node) (int, *unmapped.Reason) {
	c, reject := choose.Layer(f)
	if reject != nil {
		return 0, reject
	}
	return l.add(c, in, tensor, nodes)
}
