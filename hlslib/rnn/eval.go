package rnn

import (
	"hlsgen/hlslib/layer"
	"hlsgen/internal/dataflow"
)

// dependence says that an output step depends on the input steps up to it. A frame's inputs and outputs have one part
// per step. An initial state is one part, and so is the output of the last step alone. With several sequences per frame
// it says that no part can be computed alone.
func dependence(o *op) dataflow.Dependence {
	if o.P.sequences() > 1 {
		return dataflow.Dependence{Why: "sequences take turns in it already"}
	}
	d := dataflow.Dependence{Form: dataflow.DependenceFormRecurrent, In: []int{o.length}, Out: 1,
		Beside: func(frames int) dataflow.Op {
			p := o.P
			p.Sequences = frames
			return New(p)
		}}
	for range o.P.Starts {
		d.In = append(d.In, 1)
	}
	if o.P.Sequence {
		d.Out = o.length
	}
	return d
}

// Eval returns the outputs of a frame that begins with the initial states.
func (o *op) Eval(in []dataflow.Tensor) []dataflow.Tensor { return o.run()(in) }

// Begin returns a function that computes frames one after the other, each with the states that the one before left. It
// returns nil if every frame begins with the initial states.
func (o *op) Begin() func(in []dataflow.Tensor) []dataflow.Tensor {
	if !o.P.Keeps {
		return nil
	}
	return o.run()
}

// run returns a function that computes frames one after the other.
func (o *op) run() func(in []dataflow.Tensor) []dataflow.Tensor {
	states := make([][][]int64, o.turns)
	return func(in []dataflow.Tensor) []dataflow.Tensor {
		for turn := range states {
			if states[turn] == nil || !o.P.Keeps {
				states[turn] = o.cellOf(turn).start()
			}
			for i, s := range o.P.Starts {
				n := o.cell.units(s)
				copy(states[turn][s], in[1+i].Data[turn*n:(turn+1)*n])
			}
		}
		return o.frame(in[0].Data, states)
	}
}

// frame returns the outputs of as many time steps as the input x has. It replaces states, which are by turn (a sequence
// and a direction), state and unit.
func (o *op) frame(x []int64, states [][][]int64) []dataflow.Tensor {
	n := o.cell.Phases[0].Units * o.lanes
	length := len(x) / (n * o.turns)
	out := make([]dataflow.Tensor, len(o.P.Outputs))
	for i, r := range o.P.Outputs {
		out[i].Shape = o.shape(r, length)
	}
	for t := range length {
		for turn := range states {
			var values [][][]int64
			values, states[turn] = o.cellOf(turn).step(x[:n], states[turn])
			x = x[n:]
			for i, r := range o.P.Outputs {
				if o.P.Sequence || t == length-1 {
					out[i].Data = append(out[i].Data, column(values[r.Phase], r.Value)...)
				}
			}
		}
	}
	return out
}

// start returns the cell's initial states, by state and unit.
func (c Cell) start() [][]int64 {
	var states [][]int64
	for s, state := range c.States {
		v := make([]int64, c.units(s))
		copy(v, state.Start)
		states = append(states, v)
	}
	return states
}

// step computes one time step of one turn, which is a sequence and a direction. x is that turn's part of the step's
// input. values is by phase, unit and index in CellPhase.Values; next holds the states after the step.
func (c Cell) step(x []int64, states [][]int64) (values [][][]int64, next [][]int64) {
	lanes := c.InputLanesPerUnit()
	for i, p := range c.Phases {
		var vector []int64
		switch {
		case p.State != nil:
			vector = states[*p.State]
		case p.Of != nil:
			vector = column(values[p.Of.Phase], p.Of.Value)
		}
		units := make([][]int64, p.Units)
		for u := range units {
			for _, v := range p.Values {
				in := x[min(len(x), u*lanes):]
				units[u] = append(units[u], c.value(v, i, u, units[u], in, vector, states, values))
			}
		}
		values = append(values, units)
	}
	for _, s := range c.States {
		next = append(next, column(values[s.Next.Phase], s.Next.Value))
	}
	return values, next
}

// column returns the value with the given index for each of the units.
func column(units [][]int64, value int) []int64 {
	list := make([]int64, len(units))
	for u := range units {
		list[u] = units[u][value]
	}
	return list
}

// value returns the value v of unit u in phase i. before holds the unit's earlier values of the phase, and values those
// of the phases before. x and vector are the inputs of the step and of the dots.
func (c Cell) value(v CellOperation, i, u int, before, x, vector []int64, states [][]int64,
	values [][][]int64) (z int64) {
	switch v.Op {
	case OpInput:
		z = x[v.At]
	case OpDot:
		dot := c.Phases[i].Dots[v.At]
		for k, w := range dot.Weights[u] {
			product := w * vector[k]
			if dot.Product != nil {
				product = dot.Product.Apply(product)
			}
			z += product
		}
	case OpState:
		z = states[v.At][u]
	case OpEarlierPhaseValue:
		z = values[v.Phase][u][v.At]
	case OpLinear:
		if len(v.Bias) > 0 {
			z = layer.ElementForChannel(v.Bias, u)
		}
		for a, of := range v.Of {
			z += layer.ElementForChannel(v.Factors[a], u) * before[of]
		}
	case OpProduct:
		z = before[v.Of[0]] * before[v.Of[1]]
	case OpStepFunction:
		z = layer.ElementForChannel(v.Steps, u).Apply(before[v.Of[0]])
	case OpRequant:
		z = v.Requant.Apply(before[v.Of[0]])
	}
	return z
}
