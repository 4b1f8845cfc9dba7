package frontend

import (
	"sync"

	"hlsgen/frontend/float"
	"hlsgen/frontend/program"
	"hlsgen/internal/dataflow"
)

// floating returns a reference that runs a program in float64. It returns nil if the program needs exact values: it
// rounds data to integers, sorts them, or has inputs that arrive as integers.
func floating(p *program.Program) dataflow.ReferenceFunc {
	if len(p.Graph.Arrive) > 0 || float.NeedsExactArithmetic(p) {
		return nil
	}
	part, err := float.NewEvaluator(p, inputNames(p), outputNames(p))
	if err != nil {
		panic(err) // a program's outputs depend on its inputs alone
	}
	forks := sync.Pool{New: func() any { return part.Fork() }}
	return func(in []dataflow.RealTensor) ([]dataflow.RealTensor, error) {
		if err := checkFinite(in); err != nil {
			return nil, err
		}
		fork := forks.Get().(*float.Evaluator)
		defer forks.Put(fork)
		return floatResults(p, fork, in)
	}
}

// floatResults runs a part and returns the outputs of the program.
func floatResults(p *program.Program, part *float.Evaluator, in []dataflow.RealTensor) ([]dataflow.RealTensor, error) {
	all, err := floatTensors(p, part, in)
	if err != nil {
		return nil, err
	}
	var out []dataflow.RealTensor
	for _, o := range p.Graph.Outputs {
		out = append(out, all[o.Name])
	}
	return out, nil
}

// floatTensors runs a part and returns its wanted tensors, rounded to their types.
func floatTensors(p *program.Program, part *float.Evaluator, in []dataflow.RealTensor) (map[string]dataflow.RealTensor,
	error) {
	all := map[string]dataflow.RealTensor{}
	err := part.Run(dataOf(in), func(tensor string, shape []int, data []float64) {
		to, format := make([]float64, len(data)), p.Known[tensor].DType.FloatFormat()
		for i, v := range data {
			to[i] = format.RoundToNearest(v)
		}
		all[tensor] = dataflow.RealTensor{Shape: shape, Data: to}
	})
	return all, err
}

// dataOf returns the elements of each tensor.
func dataOf(in []dataflow.RealTensor) (list [][]float64) {
	for _, t := range in {
		list = append(list, t.Data)
	}
	return list
}
