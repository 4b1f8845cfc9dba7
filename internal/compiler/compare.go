package compiler

import (
	"context"
	"fmt"
	"path/filepath"

	"hlsgen/frontend"
	"hlsgen/internal/compiler/samples"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/npy"
)

// A Comparison is what --compare found.
type Comparison struct {
	Samples int `json:"samples"`
	Equal   int `json:"equal"`      // in every code: what is real behind the last may be rounded otherwise
	Bits    int `json:"equal_bits"` // of these, to the last bit of float32
	// a float32 executor rounds another way than exact arithmetic, provably at a boundary
	NearTies int    `json:"near_ties"`
	Differ   int    `json:"differ"`
	First    string `json:"first_difference,omitempty"`
}

// compareWith judges the given outputs sample by sample.
func compareWith(ctx context.Context, path string, im *frontend.Imported, r *Simulated, s *samples.Runs, ours []reals,
	d *diag.List) (*Comparison, error) {
	arrays, err := npy.ReadFile(path)
	if err != nil {
		unreadable(path, err, "give a numeric .npy or .npz file of outputs", d)
		return nil, nil
	}
	given := make([]reals, len(s.In))
	for k, out := range r.Out {
		a := arrays[out.Name]
		if a == nil && len(arrays) == 1 && k == 0 {
			for _, only := range arrays {
				a = only
			}
		}
		if a == nil || len(a.Data) != len(r.Outputs[k].Data) {
			if a == nil && k > 0 { // an .npy file holds the first output only
				for i := range given {
					given[i] = append(given[i], dataflow.RealTensor{})
				}
				continue
			}
			d.Fail(diag.DataInvalid, filepath.Base(path),
				fmt.Sprintf("the data do not match output %q of shape %v", out.Name, r.Outputs[k].Shape),
				"give the outputs of the same samples")
			return nil, nil
		}
		for i, run := range s.Apart(out, a.Data) {
			given[i] = append(given[i], s.Cut(k, i, run))
		}
	}
	return r.judge(ctx, im, s, ours, given)
}

func (r *Simulated) judge(ctx context.Context, im *frontend.Imported, s *samples.Runs, ours,
	given []reals) (*Comparison, error) {
	comparers, err := comparersOf(im, s)
	if err != nil {
		return nil, err
	}
	all := each[frontend.Verdict]
	if comparers[0].Stream {
		all = inOrder[frontend.Verdict]
	}
	verdicts, err := all(ctx, len(s.In), func(i int) (frontend.Verdict, error) {
		if comparers[0].Stream && i > 0 && comparers[i] != comparers[i-1] {
			comparers[i].Follow(comparers[i-1])
		}
		return comparers[i].Judge(s.In[i], given[i])
	})
	if err != nil {
		return nil, err
	}
	c := &Comparison{Samples: len(s.In)}
	for i, v := range verdicts {
		switch {
		case v.Equal:
			if c.Equal++; bitsEqual(ours[i], given[i]) {
				c.Bits++
			}
		case v.NearTie != "":
			c.NearTies++
		default:
			if c.Differ++; c.Differ == 1 {
				c.First = fmt.Sprintf("sample %d, output %q, element %d: got %v, the file has %v%s", i,
					r.Out[v.Output].Name, v.Index, ours[i][v.Output].Data[v.Index], given[i][v.Output].Data[v.Index],
					outputLayers(im))
			}
		}
	}
	return c, nil
}

// bitsEqual reports whether outputs are the same float32s; zeros have no sign.
func bitsEqual(ours, given reals) bool {
	for k, out := range given {
		for i, v := range out.Data {
			if float32(v) != float32(ours[k].Data[i]) {
				return false
			}
		}
	}
	return true
}

// comparersOf gives what judges each sample: one for all, or one for each length.
func comparersOf(im *frontend.Imported, s *samples.Runs) (list []*frontend.Comparer, err error) {
	made := map[int]*frontend.Comparer{}
	for i := range s.In {
		at, steps := im, 0
		if s.Lengths != nil {
			steps = s.Lengths[i]
		}
		if made[steps] == nil {
			if s.Lengths != nil {
				if at, err = im.At(steps); err != nil {
					return nil, err
				}
			}
			if made[steps], err = at.Comparer(); err != nil {
				return nil, err
			}
		}
		list = append(list, made[steps])
	}
	return list, nil
}

// outputLayers names the layers and streams that the outputs are computed from.
func outputLayers(im *frontend.Imported) string {
	if im.Model.Graph == nil {
		return ""
	}
	s := "; computed from"
	for _, o := range im.Model.Graph.Out {
		s += " " + streamName(im.Model.Graph, o)
	}
	return s
}
