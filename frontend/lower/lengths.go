package lower

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"hlsgen/hlslib/reorder"
	"hlsgen/internal/dataflow"
)

// Plain is the text of a graph without layers that leave everything where it is, as turns of a single step do, and
// without what only numbers and names things.
func Plain(g *dataflow.Graph) string {
	same := make([]int, len(g.Streams))
	for s := range same {
		same[s] = s
	}
	number := map[int]int{}
	of := func(s int) int {
		for same[s] != s {
			s = same[s]
		}
		if _, known := number[s]; !known {
			number[s] = len(number)
		}
		return number[s]
	}
	var b strings.Builder
	for _, s := range g.In {
		fmt.Fprintln(&b, "input", of(s), g.Streams[s].Type)
	}
	for _, n := range g.Nodes {
		p := n.Op.Params()
		if r, ok := p.(reorder.Params); ok {
			if r.Still() {
				same[n.Out[0]] = n.In[0]
				continue
			}
			r.Shape = slices.DeleteFunc(slices.Clone(r.Shape), func(d int) bool { return d == 1 })
			p = r
		}
		text, err := json.Marshal(p)
		if err != nil {
			panic(err)
		}
		var in, out []int
		for _, s := range n.In {
			in = append(in, of(s))
		}
		for _, s := range n.Out {
			out = append(out, of(s))
		}
		fmt.Fprintln(&b, n.Op.Kind(), in, out, string(text))
	}
	for _, s := range g.Out {
		fmt.Fprintln(&b, "output", of(s))
	}
	return b.String()
}

// Stepwise holds that a graph takes sequences of any length: each layer in front of the last step is a recurrence,
// takes the steps in another order, or computes each of them apart. The error may be one of a layer.
func Stepwise(g *dataflow.Graph, l *dataflow.Lengths) (*dataflow.Node, error) {
	at, err := g.At(l, l.Min)
	if err != nil {
		return nil, fmt.Errorf("in sequences of %d steps, %w", l.Min, err)
	}
	timed := func(s int) bool { return !slices.Equal(at.Streams[s].Type.Shape, g.Streams[s].Type.Shape) }
	for _, n := range g.Nodes {
		if !slices.ContainsFunc(n.In, timed) {
			continue
		}
		switch dataflow.DependenceOf(n.Op).Form {
		case dataflow.Recurrent, dataflow.Moved:
			continue
		case dataflow.Mixed, dataflow.Along:
			return n, fmt.Errorf("it computes with several steps at a time (%s)", n.Op.Kind())
		}
		for _, s := range slices.Concat(n.In, n.Out) {
			long, short := g.Streams[s].Type.Shape, at.Streams[s].Type.Shape
			if long.Size()/l.Max*l.Min != short.Size() {
				return n, fmt.Errorf("a stream of shape %v has no steps", long)
			}
		}
	}
	return nil, nil
}
