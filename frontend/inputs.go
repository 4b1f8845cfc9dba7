package frontend

import (
	"fmt"
	"math"
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/lower"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/num"
)

// An InputType declares that the model's inputs arrive as integers.
type InputType = lower.InputType

// An InputQuant is a quantiser that the user puts in front of every real input: the model's own has none there.
type InputQuant struct {
	Type  num.Type // INTn or UINTn
	Scale float64  // a float32, as in the file of a model
}

// insert changes the graph, and tells the user that it does. The inputs of has were given a quantiser.
func (q *InputQuant) insert(g *graph.Graph, file string, has []string, d *diag.List) {
	taken := g.Taken()
	fresh := func(name string) string {
		for !taken.Take(name) {
			name += "_"
		}
		return name
	}
	constant := func(name string, v float64) string {
		name = fresh(name)
		g.Init[name] = &graph.Tensor{DType: graph.Float32, F: []float64{v}}
		return name
	}
	var nodes []*graph.Node
	for _, in := range g.Inputs {
		if !in.DType.Float() || slices.Contains(has, in.Name) {
			continue
		}
		out := fresh(in.Name + ".quantised")
		for _, n := range g.Nodes {
			for i, name := range n.Inputs {
				if name == in.Name {
					n.Inputs[i] = out
				}
			}
		}
		nodes = append(nodes, &graph.Node{Index: -1, Name: "input-quant", Op: graph.Quant, Domain: graph.QONNX,
			Outputs: []string{out}, Attrs: graph.Attrs{"signed": graph.FlagAttr(q.Type.Signed())},
			Inputs: []string{in.Name, constant(out+".scale", q.Scale), constant(out+".zero", 0),
				constant(out+".bits", float64(q.Type.Width))}})
		d.Add(diag.Diag{Severity: diag.Note, Code: diag.InputQuantised, Node: in.Name, Op: "input", Where: file,
			Msg: fmt.Sprintf("a quantiser to %s with scale %v was put behind this input, which changes the model",
				q.Type, q.Scale),
			Hint: "what the engines agree on is the changed model: measure its accuracy"})
	}
	g.Nodes = append(nodes, g.Nodes...)
}

// grids tells which values the inputs may have that arrive as integers.
func grids(in []dataflow.Real, arrive map[string]*lower.InputType) {
	for k := range in {
		t := arrive[in[k].Name]
		if t == nil {
			continue
		}
		r := t.Type.Range()
		scale, _ := t.Scale.Float64()
		in[k].Range = [2]float64{t.Value(r.Lo), t.Value(r.Hi)}
		in[k].Grid = func(x float64) float64 { return t.Value(max(r.Lo, min(r.Hi, int64(math.Round(x/scale))))) }
		if _, _, integer := in[k].Limits(); !integer {
			in[k].Code, in[k].Arrives = t.Value, t.Type
		}
	}
}

// arrived finds the integers of an input's real values, and refuses what is not on the grid.
func arrived(name string, x []float64, t *lower.InputType) ([]int64, error) {
	scale, _ := t.Scale.Float64()
	codes := make([]int64, len(x))
	for i, v := range x {
		q := math.Round(v / scale)
		if math.Abs(q) > 1<<53 || !t.Type.Holds(int64(q)) || t.Value(int64(q)) != v {
			return nil, &OffGrid{fmt.Sprintf("input %q, element %d: %v is not %s times an integer that %s holds", name,
				i, v, t.Scale.RatString(), t.Type)}
		}
		codes[i] = int64(q)
	}
	return codes, nil
}

// An OffGrid error is a value that an input of integers cannot have.
type OffGrid struct{ Msg string }

func (e *OffGrid) Error() string { return e.Msg }
