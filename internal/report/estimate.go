package report

import "hlsgen/internal/dataflow"

// A ResourceReport is the content of report/resources.json: the sum over the layers, the FIFOs, the host's port and the
// total.
type ResourceReport struct {
	Cost   string                      `json:"formula"`
	Layers dataflow.Resources          `json:"layers"`
	FIFOs  []dataflow.CostContribution `json:"fifos"`
	Host   []dataflow.CostContribution `json:"host"`
	Total  dataflow.Resources          `json:"total"`
}

// ResourceReport returns the content of report/resources.json.
func (r *Build) ResourceReport() ResourceReport {
	e := r.Design.Estimate
	out := ResourceReport{Cost: r.Design.Target.Formula.String(), FIFOs: append([]dataflow.CostContribution{},
		e.FIFOs...),
		Host: append([]dataflow.CostContribution{}, e.Host...), Total: e.Total}
	for _, c := range e.Layers {
		out.Layers = out.Layers.Plus(c.Total())
	}
	return out
}
