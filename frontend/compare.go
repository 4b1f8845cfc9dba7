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

// A Verdict says how another executor's output of one sample compares with the exact one (docs/numbers.md).
type Verdict struct {
	Equal bool // every element follows from the exact codes, up to the float32 rounding of the host's part
	// If not equal but excused: the tensor in which a float32 executor's codes begin to differ from the exact ones.
	NearTie string
	Output  int // the first output and element that differs
	Index   int
}

// A Comparer judges the outputs of other executors of a model in float32. Samples that are pieces of one stream must
// come in order from one goroutine; each then begins with the exact states.
type Comparer struct {
	Stream bool
	part   *execution.ProgramPart
	outs   []string
}

// Comparer returns a Comparer for the model.
func (im *Imported) Comparer() (*Comparer, error) {
	var d diag.List
	p, err := canon.Run(&canon.PassState{Program: im.written}, pass.Options[*canon.PassState]{}, &d)
	if err != nil {
		return nil, err
	}
	if p == nil {
		return nil, fmt.Errorf("the model cannot be normalised: %s", d.Diags[0].Msg)
	}
	part := mustPart(p, inputNames(p), outputNames(p))
	part.Watch = true
	if im.stream {
		part = part.Stream()
	}
	return &Comparer{im.stream, part, outputNames(p)}, nil
}

// ContinueFrom makes c continue the stream that another comparer has judged so far. The other one belongs to the model
// for samples of another length.
func (c *Comparer) ContinueFrom(before *Comparer) { c.part.ContinueFrom(before.part) }

// Judge compares the given outputs of one sample with the exact ones.
func (c *Comparer) Judge(in, given []dataflow.RealTensor) (Verdict, error) {
	part := c.part
	if !c.Stream {
		part = part.Fork()
	}
	vals := reals(in)
	_, exact, err := part.Run(vals)
	if err != nil {
		return Verdict{}, err
	}
	if _, _, ok := c.within(exact, given); ok { // integers times powers of two need no rounding
		return Verdict{Equal: true}, nil
	}
	bounds, open := part.Bounds32(vals, exact)
	output, index, ok := c.within(bounds, given)
	if ok {
		return Verdict{Equal: true}, nil
	}
	for _, v := range execution.Variants {
		run := part.RunFloat32(vals, v)
		tie, ok := nearTie(part.QuantiserTensors(), exact, run, open)
		if !ok {
			continue
		}
		theirs, _ := part.Bounds32(vals, run)
		if _, _, ok := c.within(theirs, given); ok {
			return Verdict{NearTie: tie}, nil
		}
	}
	if tie := c.decided(part, vals, given, exact); tie != "" {
		return Verdict{NearTie: tie}, nil
	}
	return Verdict{Output: output, Index: index}, nil
}

func (c *Comparer) within(bounds map[string]*program.Reals, given []dataflow.RealTensor) (output, index int, ok bool) {
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
