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

// A circuit holds the integer tensors of a program that are known so far, and the layers that compute them.
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

// put records that an integer tensor is on a wire, its elements at the positions at; nil means in order.
func (c *circuit) put(tensor string, wire int, at *program.IndexList) {
	c.Places[tensor] = &place.TensorPlace{WireStream: place.NewStreamOnWire(&c.net, wire), At: at}
}

// take returns the wire of an integer tensor. If the tensor has none yet, take adds the layers that write it.
func (c *circuit) take(tensor string) int {
	return c.Places[tensor].EnsureWire(&c.net, c.StreamNameOf(tensor))
}

// operand returns elements of a tensor as scaled integers on streams. Where the elements are sums or functions of
// several integers, it first makes integer tensors of them. The error is the reason why they are not scaled integers.
func (c *circuit) operand(tensor string, elements *program.IndexList) (*find.LayerOperand, error) {
	if reject := c.CountTowardsTraceLimit(elements.Len()); reject != nil {
		return nil, reject
	}
	if reject := c.addUp(tensor); reject != nil {
		return nil, reject
	}
	for {
		o, reject := c.OperandOf(tensor, elements)
		if !errors.Is(reject, find.ErrNotScaledInteger) {
			return o, reject
		}
		recoded, why := recoder{circuit: c}.recode(tensor)
		if !recoded {
			return nil, cmp.Or(why, reject)
		}
	}
}

// arrange returns a wire that carries the elements of an operand as a frame of the given shape. If need be, it adds
// layers that move them. fill is the code of constants.
func (c *circuit) arrange(o *find.LayerOperand, shape dataflow.Shape, fill int64) (int, error) {
	if len(o.Tensors) == 1 && o.Constants == nil {
		tensor := o.Tensors[0]
		c.Places[tensor].SendFromHost(&o.Movement, shape, func() bool {
			return len(c.Uses.ReadingSteps(tensor)) <= 1 && c.waiting[tensor] == 0
		})
	}
	wires := make([]int, len(o.Tensors))
	for i, tensor := range o.Tensors {
		wires[i] = c.take(tensor)
	}
	return c.net.AddMovement(wires, o.Movement, shape, fill, o.Nodes)
}

// add adds the layers of a choice behind wires, and returns the wire of the last one's first output. That layer is
// named after the tensor; all count as computing nodes.
func (c *circuit) add(choice *choose.LayerChoice, in []int, tensor string, nodes []*graph.Node) (int, error) {
	w, rest := in[0], in[1:]
	for i, op := range choice.Ops {
		ins, name := in, c.StreamNameOf(tensor)
		if len(choice.Ops) > 1 {
			ins = []int{w, rest[i]}
		}
		if i < len(choice.Ops)-1 {
			name = ""
		}
		out, err := c.net.AddLayer(op, ins, name, nodes)
		if err != nil {
			return 0, choice.RefusalReason(err)
		}
		w = out[0]
	}
	return w, nil
}

// make adds the layers that compute a function behind wires, and returns the wire of the last one's first output. The
// error is the reason why no layer computes the function.
func (c *circuit) make(f choose.IntegerFunction, in []int, tensor string, nodes []*graph.Node) (int, error) {
	choice, reject := choose.ChooseLayersForFunction(f)
	if reject != nil {
		return 0, reject
	}
	return c.add(choice, in, tensor, nodes)
}
