package quantise

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"runtime"
	"slices"

	"hlsgen/frontend/float"
	"hlsgen/frontend/graph"
	"hlsgen/frontend/operators"
	"hlsgen/frontend/program"
	"hlsgen/internal/diag"
	"hlsgen/internal/num"
)

// A values holds the values that a tensor had in all runs. If there are too many to keep, it holds every n-th value.
type values struct {
	kept     []float64
	every, n int // every says that one of so many values is kept; n counts all values
	most     int // largest number of values to keep; 0 for maxKept
	min, max float64
	chosen   map[choosing]choice // the chosen codes and scales
}

// maxKept is the largest number of values that are kept for a tensor.
const maxKept = 1 << 15

func (v *values) add(list []float64) {
	v.chosen = nil
	if v.every == 0 {
		v.every, v.min, v.max, v.most = 1, math.Inf(1), math.Inf(-1), cmp.Or(v.most, maxKept)
	}
	for _, x := range list {
		v.min, v.max = min(v.min, x), max(v.max, x)
		if v.n++; (v.n-1)%v.every != 0 {
			continue
		}
		if v.kept = append(v.kept, x); len(v.kept) == v.most {
			for i := range v.most / 2 {
				v.kept[i] = v.kept[2*i]
			}
			v.kept, v.every = v.kept[:v.most/2], 2*v.every
		}
	}
}

// all returns the kept values, and the least and the greatest value.
func (v *values) all() []float64 { return append(slices.Clip(v.kept), v.min, v.max) }

// quantiser returns the code and the scale that a rule gives for the values, in format f. If grid is above 0, the scale
// is grid times a power of two. The result is cached.
func (v *values) quantiser(r ScaleRule, f QuantFormat, grid float64) choice {
	by := choosing{r, f.of(v.min < 0, false), grid}
	c, ok := v.chosen[by]
	if ok {
		return c
	}
	if v.chosen == nil {
		v.chosen = map[choosing]choice{}
	}
	c.code, c.scale = r.quantiser(f, v.all(), v.min < 0, grid)
	v.chosen[by] = c
	return c
}

// A CalibrationRunner runs the float model of a network and records values, from which the scales of quantisers follow.
// In the float model, quantisers that will be replaced only clip.
type CalibrationRunner struct {
	n       *QuantisableNetwork
	part    *float.Evaluator
	out     []string
	formats []num.FloatFormat // by output
	watched map[*spot]string  // the tensor that holds the values of each place
	seen    map[string]func(shape []int, data []float64)
}

// NewCalibrationRunner returns a runner of the network's float model that is ready for samples. It returns an error if
// that model cannot be prepared or evaluated, or if an output depends on no data.
func (n *QuantisableNetwork) NewCalibrationRunner() (*CalibrationRunner, error) {
	c := &CalibrationRunner{n: n, watched: map[*spot]string{}, seen: map[string]func([]int, []float64){}}
	gathers := map[*graph.Node][]string{} // by loop: tensors that it gathers in addition
	g := n.write(func(s *scope, g *graph.Graph, it *item) []*graph.Node {
		p := it.spot
		switch {
		case p == nil:
			return []*graph.Node{it.node}
		case p.stays && p.node != nil:
			return []*graph.Node{p.own()}
		}
		nodes := []*graph.Node{}
		for i, l := range p.limits {
			m := *l
			if i == 0 {
				m.Inputs = append([]string{p.from}, l.Inputs[1:]...)
			}
			nodes = append(nodes, &m)
		}
		if c.watched[p] = p.from; s.loop != nil {
			inner, outer := s.names.TakeFreshName(p.from, "seen"), n.scopes[0].names.TakeFreshName(p.from, "seen")
			gathers[s.loop], c.watched[p] = append(gathers[s.loop], outer), outer
			nodes = append(nodes, &graph.Node{Index: p.index(), Op: operators.OpIdentity, Inputs: []string{p.from},
				Outputs: []string{inner}})
			g.Outputs = append(g.Outputs, graph.ValueInfo{Name: inner, DType: graph.DTypeFloat32})
		}
		return nodes
	}, gathers)
	var d diag.List
	prog := operators.ReprepareProgram(n.prog, g, &d)
	if prog == nil {
		return nil, errors.New("the float model: " + first(&d))
	}
	c.out = graph.ValueNames(n.prog.Graph.Outputs)
	for _, name := range c.out {
		if prog.ProducerOf(name) == nil {
			return nil, fmt.Errorf("output %q depends on no data", name)
		}
		c.formats = append(c.formats, prog.Known[name].DType.FloatFormat())
	}
	c.watch(prog)
	var err error
	c.part, err = float.NewEvaluator(prog, graph.ValueNames(g.Inputs), slices.Concat(c.out,
		slices.Sorted(maps.Keys(c.seen))))
	if err != nil {
		return nil, err
	}
	c.part.UseGoroutines(runtime.GOMAXPROCS(0))
	return c, nil
}

// watch makes each place of a quantiser record the values of its tensor when prog runs.
func (c *CalibrationRunner) watch(prog *program.Program) {
	add := func(tensor string, see func(shape []int, data []float64)) {
		if before := c.seen[tensor]; before != nil {
			one := see
			see = func(shape []int, data []float64) {
				before(shape, data)
				one(shape, data)
			}
		}
		c.seen[tensor] = see
	}
	runs := func(tensor string) bool {
		return prog.ProducerOf(tensor) != nil || slices.Contains(graph.ValueNames(prog.Graph.Inputs), tensor)
	}
	for _, p := range c.n.spots {
		if t := c.watched[p]; runs(t) {
			for _, kept := range p.surviving(t) {
				add(kept, func(_ []int, data []float64) { p.lead().values.add(data) })
			}
			if p.equalised != nil {
				add(t, func(shape []int, data []float64) {
					if p.equalised != nil {
						p.equalised.add(shape, data)
					}
				})
			}
		}
	}
	for _, w := range c.n.weights {
		if w.scope.loop == nil && runs(w.data) {
			add(w.data, w.mean)
		}
	}
}

// surviving returns the tensors whose values determine the scale of a place after tensor. These are the outputs of max
// pools, if only those read the tensor, and otherwise the tensor itself.
func (p *spot) surviving(tensor string) (list []string) {
	s := p.scope
	for _, it := range s.items {
		switch {
		case it.spot != nil && it.spot.given == p.to:
			return []string{tensor}
		case it.node != nil && slices.Contains(it.node.Inputs, p.to):
			if s.loop != nil || !operators.IsMaxPool(it.node) {
				return []string{tensor}
			}
			list = append(list, it.node.Outputs[0])
		}
	}
	if len(list) == 0 || slices.ContainsFunc(s.g.Outputs, func(o graph.ValueInfo) bool { return o.Name == p.to }) {
		return []string{tensor}
	}
	return list
}

func first(d *diag.List) string {
	for _, x := range d.Diags {
		if x.Severity == diag.SeverityError {
			return fmt.Sprintf("%s %q: %s", x.Op, x.Node, x.Msg)
		}
	}
	return "it cannot be prepared"
}

// RunSample runs a sample, given as the elements of each input of the graph, and returns the outputs of the graph,
// rounded to their types. If note is set, the places of quantisers record their values. An error is that of the
// evaluator.
func (c *CalibrationRunner) RunSample(in [][]float64, note bool) (out [][]float64, err error) {
	out = make([][]float64, len(c.out))
	if err := c.part.Run(in, func(tensor string, shape []int, data []float64) {
		if see := c.seen[tensor]; note && see != nil {
			see(shape, data)
		}
		for k, name := range c.out {
			if name == tensor {
				out[k] = rounded(data, c.formats[k])
			}
		}
	}); err != nil {
		return nil, err
	}
	if note {
		c.n.runs++
	}
	return out, nil
}

// rounded returns a list of the numbers, each rounded to the nearest one of format f.
func rounded(data []float64, f num.FloatFormat) []float64 {
	list := make([]float64, len(data))
	for i, v := range data {
		list[i] = f.RoundToNearest(v)
	}
	return list
}

// own returns a copy of the model's own quantiser at a place, which must have one. It reads what the model's quantiser
// reads.
func (p *spot) own() *graph.Node {
	m := *p.node
	m.Inputs = append([]string{p.given}, m.Inputs[1:]...)
	return &m
}

// write returns the graph with each item replaced by the nodes that become returns for it. gathers holds the tensors
// that loops gather in addition to those in the model.
func (n *QuantisableNetwork) write(become func(s *scope, g *graph.Graph, it *item) []*graph.Node,
	gathers map[*graph.Node][]string) *graph.Graph {
	bodies := map[*graph.Node]*graph.Graph{}
	for _, s := range slices.Backward(n.scopes) {
		s.own()
		g := s.g.ShallowCopy()
		g.Nodes = nil
		for _, it := range s.items {
			nodes := become(s, g, it)
			if body := bodies[it.origin()]; body != nil {
				m := *nodes[len(nodes)-1]
				nodes[len(nodes)-1] = &m
				m.Attrs = maps.Clone(m.Attrs)
				m.Attrs["body"] = graph.NewGraphAttr(body)
				m.Outputs = slices.Concat(m.Outputs, gathers[it.origin()])
				for _, name := range []string{"scan_output_axes", "scan_output_directions"} {
					if a := m.Attrs[name]; a.Ints != nil {
						a.Ints = append(slices.Clip(a.Ints), make([]int64, len(gathers[it.origin()]))...)
						m.Attrs[name] = a
					}
				}
				if len(gathers[it.origin()]) > 0 {
					complete(&m, body, len(gathers[it.origin()]))
				}
			}
			g.Nodes = append(g.Nodes, nodes...)
		}
		if s.loop == nil {
			return g
		}
		bodies[s.loop] = g
	}
	panic("no scope is the model's")
}
