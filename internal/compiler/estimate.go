package compiler

import "hlsgen/internal/dataflow"

// A resourceReport is the content of report/resources.json: the sum over the layers, the FIFOs, the host's port and the
// total.
type resourceReport struct {
	Cost   string                  `json:"formula"`
	Layers dataflow.Resources      `json:"layers"`
	FIFOs  []dataflow.ResourcePart `json:"fifos"`
	Host   []dataflow.ResourcePart `json:"host"`
	Total  dataflow.Resources      `json:"total"`
}

func (r *BuildResult) resources() resourceReport {
	e := r.Design.Estimate
	out := resourceReport{Cost: r.Design.Target.Formula.String(), FIFOs: append([]dataflow.ResourcePart{}, e.FIFOs...),
		Host: append([]dataflow.ResourcePart{}, e.Host...), Total: e.Total}
	for _, c := range e.Layers {
		out.Layers = out.Layers.Plus(c.Total())
	}
	return out
}
