package lower

import (
	"cmp"
	"errors"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/lower/choose"
	"hlsgen/frontend/lower/find"
	"hlsgen/frontend/lower/place"
	"hlsgen/frontend/program"
	"hlsgen/internal/dataflow"
)

// A circuit holds the integer tensors of a program, and the layers that compute them.
type circuit struct {
	*find.AnalysedProgram // the known integer tensors and their places
	net                   place.Netlist
	waiting               map[string]int // per tensor: number of operands that have been read but not arranged yet
	wires                 []*graph.Node  // quantisers that change nothing, and nodes in front of them
	apart                 bool           // time steps of sequences stay separate
	wide                  []wideCodes    // wide codes of functions that no quantiser follows
	host                  sending
	steps                 *choose.StepFunctionCache
}

// put records that an integer tensor is on a wire.
func (c *circuit) put(tensor string, wire int, at *program.IndexList) {
	c.Places[tensor] = &place.Place{WireStream: place.StreamOnWire(&c.net, wire), At: at}
}

// take returns the wire of an integer tensor.
func (c *circuit) take(tensor string) int { return c.Places[tensor].Wire(&c.net, c.Name(tensor)) }

// operand reads data as integers of streams. It first adds up integers of several tensors that are summed.
func (c *circuit) operand(tensor string, elements *program.IndexList) (*find.LayerOperand, error) {
	if reject := c.Trace(elements.Len()); reject != nil {
		return nil, reject
	}
	if reject := c.addUp(tensor); reject != nil {
		return nil, reject
	}
	for {
		o, reject := c.Operand(tensor, elements)
		if !errors.Is(reject, find.ErrNotScaledInteger) {
			return o, reject
		}
		recoded, why := recoder{circuit: c}.recode(tensor)
		if !recoded {
			return nil, cmp.Or(why, reject)
		}
	}
}

// arrange brings an operand into the order of a frame with the given shape. fill is the code of its constants.
func (c *circuit) arrange(o *find.LayerOperand, shape dataflow.Shape, fill int64) (int, error) {
	if len(o.Tensors) == 1 && o.Constants == nil {
		tensor := o.Tensors[0]
		c.Places[tensor].Send(&o.Movement, shape, func() bool {
			return len(c.Uses.Readers(tensor)) <= 1 && c.waiting[tensor] == 0
		})
	}
	wires := make([]int, len(o.Tensors))
	for i, tensor := range o.Tensors {
		wires[i] = c.take(tensor)
	}
	return c.net.Move(wires, o.Movement, shape, fill, o.Nodes)
}

// add connects the layers of a choice to wires, and returns the wire of the first output. The last layer is named
// after the tensor.
func (c *circuit) add(choice *choose.FunctionChoice, in []int, tensor string, nodes []*graph.Node) (int, error) {
	w, rest := in[0], in[1:]
	for i, op := range choice.Ops {
		ins, name := in, c.Name(tensor)
		if len(choice.Ops) > 1 {
			ins = []int{w, rest[i]}
		}
		if i < len(choice.Ops)-1 {
			name = ""
		}
		out, err := c.net.Add(op, ins, name, nodes)
		if err != nil {
			return 0, choice.Refused(err)
		}
		w = out[0]
	}
	return w, nil
}

// make chooses a layer for a function, and connects it to wires.
func (c *circuit) make(f choose.Function, in []int, tensor string, nodes []*graph.Node) (int, error) {
	choice, reject := choose.Layer(f)
	if reject != nil {
		return 0, reject
	}
	return c.add(choice, in, tensor, nodes)
}
