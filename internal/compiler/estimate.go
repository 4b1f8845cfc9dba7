package compiler

import "hlsgen/internal/dataflow"

// A resourceReport is the content of report/resources.json: the sum over the layers, the FIFOs, the host's port and the
// total.
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
