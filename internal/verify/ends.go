package verify

import (
	"context"
	"fmt"
	"sync"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/engines"
	"hlsgen/internal/fast"
	"hlsgen/internal/samples"
)

// An ends compares the model with other ways to compute the same outputs: the tables that drivers read, and engine
// fast.
type ends struct {
	model *dataflow.Model
	host  *dataflow.HostDescription // nil if there is no driver
	real  bool                      // the samples are the user's, not random
	fast  func() *fast.Executable
}

// tables names the two sides of a comparison, in the message about a mismatch.
const tables = "the tables of drivers against the model"

// endsOf returns the comparisons for a model. real says that the samples are the user's. There are no tables for models
// that interleave samples or keep state.
func endsOf(m *dataflow.Model, real bool) *ends {
	e := &ends{model: m, real: real, fast: sync.OnceValue(func() *fast.Executable { return engines.CompileLayers(m) })}
	if m.Host != nil && m.Turns == nil && m.Stream == nil {
		e.host = m.Host()
	}
	return e
}

// thresholds compares the driver's tables for inputs with the model, at every threshold, at the numbers next to it, and
// at both zeros. It returns an *engines.MismatchError for the first difference. It leaves out samples beyond mostProbed
// elements, and does nothing for a design without a driver.
func (e *ends) thresholds(ctx context.Context) error {
	if e.host == nil || e.host.Codes == nil {
		return nil
	}
	inputs := e.model.In
	if e.host.Begins != nil {
		inputs = e.host.Begins
	}
	for in := range e.host.ProbeSamples(inputs) {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		want, err := e.host.Codes(in)
		if err != nil {
			return err // the tables have codes for all numbers, so the model must have values
		}
		if err := e.sent(in, want); err != nil {
			return err
		}
	}
	return nil
}

// sent compares the codes that the tables give for a sample with want, the model's frames. It returns an
// *engines.MismatchError for the first difference.
func (e *ends) sent(in []dataflow.RealTensor, want []dataflow.Tensor) error {
	for k, h := range e.host.In {
		if h == nil {
			continue
		}
		for i, code := range h.QuantiseSample(in) {
			if code != want[k].Data[i] {
				at := h.Index[i]
				return &engines.MismatchError{Msg: fmt.Sprintf("%s: input %d, element %d is %v: code %d, want %d",
					tables, h.Input,
					at,
					in[h.Input].Data[at], code, want[k].Data[i])}
			}
		}
	}
	return nil
}

// agree compares the results of the tables and of engine fast with want, the model's outputs. in holds the
// accelerator's input frames, and out its output frames. Tables are compared only if sequences have one length, and
// engine fast only on the user's samples.
func (e *ends) agree(ctx context.Context, s *samples.RunInputs, in, out []engines.FrameTensors,
	want []engines.ModelTensors) error {
	if e.host != nil && s.Lengths == nil {
		for i := range s.In {
			if e.host.Begins == nil {
				if err := e.sent(s.In[i], in[i]); err != nil {
					return err
				}
			}
			if e.host.Ends != nil {
				continue
			}
			for k, h := range e.host.Out {
				if h == nil {
					continue
				}
				of := e.model.Out[k]
				got := []engines.ModelTensors{{{Shape: of.Shape, Data: h.DequantiseFrames(out[i], of.NumberFormat())}}}
				if err := CompareModelOutputs(tables, got, []engines.ModelTensors{want[i][k : k+1]}); err != nil {
					return err
				}
			}
		}
	}
	if !e.real {
		return nil
	}
	got, err := engines.RunFast(ctx, e.fast(), e.model, s)
	if err != nil {
		return err
	}
	return CompareModelOutputs("engine fast against the model", got, want)
}

// others compares the driver's tables for inputs with the model on all samples from index from on. It also compares
// the ends of engine fast, around its own layers, with those of the model. The engines of the design do not run on
// these samples. It does nothing without tables for the model's own inputs, or if sequences differ
// in length.
func (e *ends) others(ctx context.Context, s *samples.SampleSource, from int) error {
	if e.host == nil || e.host.Begins != nil || s.Lengths != nil {
		return nil
	}
	const together = 1 << 8
	for ; from < s.Count; from += together {
		part, err := s.ReadRange(from, from+together)
		if err == nil {
			err = e.other(ctx, part)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// other makes the two comparisons of method others on one part of its samples: the driver's tables for inputs, and the
// ends of engine fast.
func (e *ends) other(ctx context.Context, s *samples.RunInputs) error {
	in, err := engines.RunHostPrefix(ctx, e.model, s)
	if err != nil {
		return err
	}
	for i := range in {
		if err := e.sent(s.In[i], in[i]); err != nil {
			return err
		}
	}
	if e.fast() == nil {
		return nil
	}
	want, err := engines.RunFastFrames(ctx, e.fast(), e.model, in)
	if err != nil {
		return err
	}
	outs, err := engines.RunHostSuffix(ctx, e.model, s, want)
	if err != nil {
		return err
	}
	got, err := engines.RunFast(ctx, e.fast(), e.model, s)
	if err != nil {
		return err
	}
	return CompareModelOutputs("engine fast against its layers and the model's ends", got, outs)
}
