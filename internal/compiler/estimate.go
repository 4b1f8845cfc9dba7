package compiler

import "hlsgen/internal/dataflow"

// A resourceReport is report/resources.json: the layers of report/layers.json in sum, and what is beside them.
type resourceReport struct {
	Cost   string             `json:"formula"`
	Layers dataflow.Resources `json:"layers"`
	FIFOs  []dataflow.Part    `json:"fifos"`
	Host   []dataflow.Part    `json:"host"`
	Total  dataflow.Resources `json:"total"`
}

func (r *Result) resources() resourceReport {
	e := r.Design.Estimate
	out := resourceReport{Cost: r.Design.Target.Formula.String(), FIFOs: append([]dataflow.Part{}, e.FIFOs...),
		Host: append([]dataflow.Part{}, e.Host...), Total: e.Total}
	for _, c := range e.Layers {
		out.Layers = out.Layers.Plus(c.Total())
	}
	return out
}
