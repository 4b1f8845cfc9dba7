package float

import (
	"fmt"
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/program"
)

// A loop executes a recurrence in float64. The steps of all its outputs share it.
type loop struct {
	*program.Recur
	body *Evaluator
	out  map[string][]int // by tensor of the body: the outputs with that name
}

func newLoop(r *program.Recur) (*loop, error) {
	g := r.Body.Graph
	body, err := NewEvaluator(r.Body, graph.ValueNames(g.Inputs), graph.ValueNames(g.Outputs))
	l := &loop{Recur: r, body: body, out: map[string][]int{}}
	for i, o := range g.Outputs {
		l.out[o.Name] = append(l.out[o.Name], i)
	}
	return l, err
}

func (l *loop) fork() *loop {
	f := *l
	f.body = l.body.Fork()
	return &f
}

// run returns the outputs of the node: the final states, and then the gathered outputs of all runs.
func (l *loop) run(x *Evaluator, in []*buffer) (out []*buffer, err error) {
	g := l.Body.Graph
	shape := func(name string) []int { return l.Body.Known[name].Shape }
	l.body.team = x.team
	values := make([][]float64, len(g.Inputs)) // by input of the body
	for i := range values {
		values[i] = make([]float64, graph.ElementCount(shape(g.Inputs[i].Name)))
		if i < l.States {
			copy(values[i], in[i].data)
		}
	}
	next := make([][]float64, l.States)
	whole := make([][]int, len(g.Outputs)) // the shapes of the outputs
	for i, o := range g.Outputs {
		whole[i] = shape(o.Name)
		if i >= l.States {
			whole[i] = slices.Insert(slices.Clone(whole[i]), l.Gathered[i-l.States].Axis, l.Length)
		} else {
			next[i] = make([]float64, len(values[i]))
		}
		out = append(out, x.room.take(graph.ElementCount(whole[i])))
	}
	for t := range l.Length {
		for k, s := range l.Scanned {
			into, from := values[l.States+k], in[l.States+k].data
			outer := slices.Insert(slices.Clone(shape(g.Inputs[l.States+k].Name)), s.Axis, l.Length)
			for i := range into {
				into[i] = from[s.ElementIndexInWhole(outer, t, i)]
			}
		}
		err := l.body.Run(values, func(tensor string, _ []int, data []float64) {
			for _, i := range l.out[tensor] {
				if i < l.States {
					copy(next[i], data)
					continue
				}
				for k, v := range data {
					out[i].data[l.Gathered[i-l.States].ElementIndexInWhole(whole[i], t, k)] = v
				}
			}
		})
		if err != nil {
			return nil, fmt.Errorf("run %d: %w", t, err)
		}
		for i := range next {
			values[i], next[i] = next[i], values[i]
		}
	}
	for i := range l.States {
		copy(out[i].data, values[i])
	}
	return out, nil
}
