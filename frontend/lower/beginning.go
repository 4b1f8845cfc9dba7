package lower

import (
	"math/big"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/lower/choose"
	"hlsgen/frontend/lower/find"
	"hlsgen/frontend/lower/integers"
	"hlsgen/frontend/lower/recur"
	"hlsgen/frontend/program"
	"hlsgen/frontend/real"
	"hlsgen/frontend/scaled"
	"hlsgen/internal/dataflow"
)

// initial returns the codes of a cell's state that begins with a tensor of integers from the data, and the tensor as an
// operand. It returns nil if the tensor has constants or its values are not scaled integers.
func (l *circuit) initial(tensor string) (*recur.IntegersWithValues, *find.LayerOperand) {
	n := graph.ElementCount(l.Known[tensor].Shape)
	o, reject := l.operand(tensor, program.NewIndexList(scaled.NewCountingList(n)))
	if reject != nil || o.Constants != nil {
		return nil, nil
	}
	of, ok := o.ChannelAffines(n)
	if !ok {
		return nil, nil
	}
	return &recur.IntegersWithValues{Values: of, Span: l.span(o)}, o
}

// instead returns a hint for an initial state that arrives as real numbers, or "" if no option helps.
func instead(l *lowering, tensor string) string {
	for step := l.ProducerOf(tensor); step != nil && step.Move != nil; step = l.ProducerOf(tensor) {
		tensor = step.Node.Inputs[0]
	}
	if l.begins == nil {
		return ""
	}
	return l.begins(tensor)
}

// starts returns the wires, one per state, that carry those initial states that arrive with the data. The error is the
// reason why this is impossible.
func (e *loop) starts(l *lowering) (wires []int, reject error) {
	for k := range e.cells[0].arrives {
		o := &find.LayerOperand{Nodes: e.nodes}
		for _, c := range e.cells {
			join(l, o, c.arrives[k], 0, c.arrives[k].Len())
		}
		w, reject := l.arrange(o, dataflow.Shape{o.Len()}, 0)
		if reject != nil {
			return nil, reject
		}
		if w, reject = e.ontoState(l, k, w); reject != nil {
			return nil, reject
		}
		wires = append(wires, w)
	}
	return wires, nil
}

// ontoState adds layers that convert the integers on a wire, the initial values of state k of all cells, to integers of
// the state. It returns their output's wire, or the same wire if nothing has to change.
func (e *loop) ontoState(l *lowering, k, wire int) (int, error) {
	var functions []*real.Expr
	same := true
	for _, c := range e.cells {
		for _, m := range c.Arrives[k].Map {
			same = same && m == (recur.IntegerAffine{Factor: 1})
			factor, offset := real.ConstantExpr(new(big.Rat).SetInt64(m.Factor)),
				real.ConstantExpr(new(big.Rat).SetInt64(m.Offset))
			functions = append(functions, real.Add(real.Mul(real.Var(0), factor), offset))
		}
	}
	if same { // fits integers of any range
		return wire, nil
	}
	a, reject := l.steps.StepActivationOf(functions, l.net.WireType(wire), nil, integers.MaxActivationSteps, false)
	if reject != nil {
		return 0, reject
	}
	c, reject := choose.ChooseLayersForFunction(a)
	if reject != nil {
		return 0, reject
	}
	out, err := l.net.AddLayer(c.Ops[0], []int{wire}, "", e.nodes)
	if err != nil {
		return 0, c.RefusalReason(err)
	}
	return out[0], nil
}
