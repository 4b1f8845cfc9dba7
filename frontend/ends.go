package frontend

import (
	"fmt"
	"math/big"
	"slices"

	"hlsgen/frontend/execution"
	"hlsgen/frontend/graph"
	"hlsgen/frontend/lower"
	"hlsgen/frontend/program"
	"hlsgen/frontend/real"
	"hlsgen/internal/dataflow"
)

// before returns the part of the program that computes, from the named tensors, the codes that the host computes. Other
// codes arrive as integers.
func before(p *program.Program, low *lower.LoweredProgram, names []string) *execution.ProgramPart {
	var quantised []string
	for _, name := range low.In {
		if low.Arrive[name] == nil {
			quantised = append(quantised, name)
		}
	}
	return mustPart(p, names, quantised)
}

// behind returns the part of the program that the host computes from the accelerator's outputs.
func behind(p *program.Program, low *lower.LoweredProgram) *execution.ProgramPart {
	return mustPart(p, append(inputNames(p), low.Out...), outputNames(p))
}

func prefix(p *program.Program, low *lower.LoweredProgram) dataflow.HostFunction {
	names := inputNames(p)
	part := before(p, low, names)
	return dataflow.HostFunction{Nodes: graph.NodeLabelsOncePerIndex(part.Nodes()), ToCodes: toCodes(low, names, part)}
}

// toCodes returns the function that computes the accelerator's input frames from the named tensors.
func toCodes(low *lower.LoweredProgram, names []string,
	part *execution.ProgramPart) func([]dataflow.RealTensor) ([]dataflow.Tensor,
	error) {
	return func(in []dataflow.RealTensor) ([]dataflow.Tensor, error) {
		if err := checkFinite(in); err != nil {
			return nil, err
		}
		vals, err := part.Fork().RunForOutputs(reals(in))
		if err != nil {
			return nil, err
		}
		out := make([]dataflow.Tensor, len(low.In))
		for i, name := range low.In {
			t := low.Graph.Streams[low.Graph.In[i]].Type
			out[i].Shape = t.Shape
			if a := low.Arrive[name]; a != nil {
				x := in[slices.Index(names, name)]
				out[i].Data, err = a.IntegersOfSample(name, x.Shape, x.Data)
			} else {
				out[i].Data, err = codesOf(low, name, vals[name], t)
			}
			if err != nil {
				return nil, err
			}
			out[i].Data = low.ToStreamOrder(name, out[i].Data)
		}
		return out, nil
	}
}

// codesOf returns the integers of a tensor whose values the host has computed.
func codesOf(low *lower.LoweredProgram, name string, v *program.Reals, t dataflow.StreamType) ([]int64, error) {
	codes := make([]int64, len(v.Lo))
	known := map[real.Interval]int64{} // by value, for elements with one affine function
	var of real.Affine
	var plain bool
	for i, f := range v.Lo {
		if is := low.AffineOfSentInteger(name, i); i == 0 || is != of {
			of, plain = is, is.IsIdentity()
			clear(known)
		}
		if codes[i] = int64(f); !plain { // int64() truncates and does not clamp
			at, is := v.IntervalAt(i), false
			if codes[i], is = known[at]; !is {
				codes[i] = of.NearestIntegerPreimage(at)
				known[at] = codes[i]
			}
		}
		if !t.Elem.Holds(codes[i]) {
			return nil, fmt.Errorf("element %d of %q has code %d, which %s does not hold", i, name, codes[i], t.Elem)
		}
	}
	return codes, nil
}

func suffix(p *program.Program, low *lower.LoweredProgram) dataflow.HostFunction {
	part := behind(p, low)
	return dataflow.HostFunction{
		Nodes: graph.NodeLabelsOncePerIndex(part.Nodes()),
		ToReal: func(in []dataflow.RealTensor, codes []dataflow.Tensor) ([]dataflow.RealTensor, error) {
			vals := reals(in)
			for k, name := range low.Out {
				vals = append(vals, integers(low, name, p.Known[name].Shape, low.FromStreamOrder(name, codes[k].Data)))
			}
			return results(p, part.Fork(), vals)
		},
	}
}

// integers returns the real values of an integer tensor whose elements are the integers q. They need not be float64s.
func integers(low *lower.LoweredProgram, name string, shape []int, q []int64) *program.Reals {
	v := &program.Reals{Shape: shape, Lo: make([]float64, len(q)), Hi: make([]float64, len(q))}
	v.Truth = func(i int) *big.Rat {
		f := low.AffineOfInteger(name, i)
		r := new(big.Rat).SetInt64(q[i])
		return r.Add(r.Mul(r, f.Scale), f.Bias)
	}
	for i := range q {
		y := graph.FloatIntervalOfRational(v.Truth(i))
		v.Lo[i], v.Hi[i] = y.Lo, y.Hi
	}
	return v
}
