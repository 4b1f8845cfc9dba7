package frontend

import (
	"fmt"

	"hlsgen/frontend/canon"
	"hlsgen/frontend/execution"
	"hlsgen/frontend/pass"
	"hlsgen/frontend/program"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
)

// An OutputVerdict says how another executor's output of one sample compares with the exact one (docs/numbers.md).
type OutputVerdict struct {
	Equal bool // every element follows from the exact codes, up to the float32 rounding of the host's part
	// If not equal but excused: the tensor in which a float32 executor's codes begin to differ from the exact ones.
	NearTie string
	Output  int // the first output and element that differs
	Index   int
}

// An OutputComparer judges the outputs of other executors, which run a model in float32. Samples that are pieces of one
// stream must come in order from one goroutine; each then begins with the exact states.
type OutputComparer struct {
	Stream bool
	part   *execution.ProgramPart
	outs   []string
}

// NewOutputComparer returns an OutputComparer for the model. It returns an error if the model cannot be normalised.
func (im *ImportedModel) NewOutputComparer() (*OutputComparer, error) {
	var d diag.List
	p, err := canon.NormaliseGraph(&canon.PassState{Program: im.written}, pass.Options[*canon.PassState]{}, &d)
	if err != nil {
		return nil, err
	}
	if p == nil {
		return nil, fmt.Errorf("the model cannot be normalised: %s", d.Diags[0].Msg)
	}
	part := mustPart(p, inputNames(p), outputNames(p))
	part.Watch = true
	if im.stream {
		part = part.NewCopyKeepingLoopStates()
	}
	return &OutputComparer{im.stream, part, outputNames(p)}, nil
}

// ContinueStreamFrom makes c continue the stream that before has judged so far. That comparer belongs to the same model
// for samples of another length.
func (c *OutputComparer) ContinueStreamFrom(before *OutputComparer) {
	c.part.TakeLoopStatesFrom(before.part)
}

// JudgeOutputs compares the outputs that another executor has given for one sample with the exact ones. The outputs
// have the model's order and shapes. An error is that of the exact run.
func (c *OutputComparer) JudgeOutputs(in, given []dataflow.RealTensor) (OutputVerdict, error) {
	part := c.part
	if !c.Stream {
		part = part.Fork()
	}
	vals := reals(in)
	_, exact, err := part.Run(vals)
	if err != nil {
		return OutputVerdict{}, err
	}
	if _, _, ok := c.within(exact, given); ok { // integers times powers of two need no rounding
		return OutputVerdict{Equal: true}, nil
	}
	bounds, open := part.BoundFloat32Values(vals, exact)
	output, index, ok := c.within(bounds, given)
	if ok {
		return OutputVerdict{Equal: true}, nil
	}
	for _, v := range execution.Float32Variants {
		run := part.RunFloat32(vals, v)
		tie, ok := nearTie(part.QuantiserTensorNames(), exact, run, open)
		if !ok {
			continue
		}
		theirs, _ := part.BoundFloat32Values(vals, run)
		if _, _, ok := c.within(theirs, given); ok {
			return OutputVerdict{NearTie: tie}, nil
		}
	}
	if tie := c.decided(part, vals, given, exact); tie != "" {
		return OutputVerdict{NearTie: tie}, nil
	}
	return OutputVerdict{Output: output, Index: index}, nil
}

func (c *OutputComparer) within(bounds map[string]*program.Reals, given []dataflow.RealTensor) (output, index int,
	ok bool) {
	for k, name := range c.outs {
		b := bounds[name]
		for i, v := range given[k].Data {
			if !(b.Lo[i] <= v && v <= b.Hi[i]) {
				return k, i, false
			}
		}
	}
	return 0, 0, true
}

// nearTie returns the first quantiser whose codes differ. ok is false if one of the differing elements there does not
// lie on a rounding boundary, as far as float32 can tell.
func nearTie(codes []string, exact, run map[string]*program.Reals, open map[string][]bool) (tensor string, ok bool) {
	for _, name := range codes {
		differs := false
		for i, v := range exact[name].Lo {
			if run[name].Lo[i] == v {
				continue
			}
			if !open[name][i] {
				return "", false
			}
			differs = true
		}
		if differs {
			return name, true
		}
	}
	return "", false
}
