package frontend

import (
	"fmt"
	"slices"
	"strings"

	"hlsgen/frontend/axes"
	"hlsgen/frontend/graph"
	"hlsgen/frontend/operators"
	"hlsgen/frontend/program"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
)

// A StateFeedback pairs an input of a model with the output whose value becomes this input for the next sample. The two
// are one state.
type StateFeedback struct{ Input, Output string }

// String returns the feedback in the form of --state: INPUT=OUTPUT.
func (f StateFeedback) String() string { return f.Input + "=" + f.Output }

func refuseFeedback(input, msg, hint, file string, d *diag.List) {
	x := diag.Diag{Severity: diag.SeverityError, Code: diag.StatefulFlagUnfit, Node: input, Where: file, Msg: msg,
		Hint: hint}
	if input != "" {
		x.Op = "input"
	}
	d.Add(x)
}

// feedback returns the indices of the states that the user names, among a program's inputs and outputs. It returns nil
// if there are none, or after adding errors to d.
func (o Options) feedback(p *program.Program, d *diag.List) (list []dataflow.FedBackState) {
	in, out := inputNames(p), outputNames(p)
	for _, s := range o.States {
		f := dataflow.FedBackState{In: slices.Index(in, s.Input), Out: slices.Index(out, s.Output)}
		a, b := p.Known[s.Input], p.Known[s.Output]
		refuse := func(msg, hint string) {
			refuseFeedback(s.Input, fmt.Sprintf("--state %v: %s", s, msg), hint, p.File, d)
		}
		switch {
		case f.In < 0:
			refuse("the model has no such input", "its inputs are "+strings.Join(in, ", "))
		case f.Out < 0:
			refuse("the model has no such output", "its outputs are "+strings.Join(out, ", "))
		case !a.DType.IsReal() || !b.DType.IsReal() || !slices.Equal(a.Shape, b.Shape):
			refuse(fmt.Sprintf("what goes out is of type %s and shape %v, what comes in of type %s and shape %v",
				b.DType, b.Shape, a.DType, a.Shape), "name an input and an output that are one state")
		case slices.ContainsFunc(list, func(g dataflow.FedBackState) bool { return g.In == f.In }):
			refuse("this input has a state already", "name each input once")
		default:
			list = append(list, f)
		}
	}
	if len(list) < len(o.States) {
		return nil
	}
	return list
}

// keeping makes recurrences keep the states that the user names with --stateful: the input becomes zeros, the initial
// state, and the output is removed. It reports false after adding errors to d. A graph that cannot be prepared stays
// unchanged; a later attempt to prepare it reports why.
func (o Options) keeping(g *graph.Graph, file string, d *diag.List) bool {
	if !o.Stateful || len(o.States) == 0 {
		return true
	}
	var quiet diag.List
	bind := o.bind(g, file, &quiet)
	bound, bind := bind.BindLeadingAxes(g)
	p := operators.Prepare(bound, file, bind, &quiet)
	if p == nil {
		return true
	}
	if o.feedback(p, d) == nil {
		return false
	}
	for _, s := range o.States {
		if why := axes.WhyNotStatePair(p, s.Input, s.Output); why != "" {
			refuseFeedback(s.Input, fmt.Sprintf("--state %v with --stateful: %s", s, why),
				"without --stateful, the host carries the state from sample to sample", file, d)
			return false
		}
		k := p.Known[s.Input]
		g.Init[s.Input] = &graph.ConstantTensor{DType: k.DType, Shape: k.Shape, F: make([]float64,
			graph.ElementCount(k.Shape))}
		g.Inputs = slices.DeleteFunc(slices.Clone(g.Inputs), func(v graph.ValueInfo) bool { return v.Name == s.Input })
		g.Outputs = slices.DeleteFunc(slices.Clone(g.Outputs),
			func(v graph.ValueInfo) bool { return v.Name == s.Output })
	}
	if len(g.Outputs) == 0 {
		refuseFeedback("", "with --state and --stateful, no output is left", "leave one of the two out", file, d)
		return false
	}
	return true
}
