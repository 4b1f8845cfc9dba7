package compiler

import (
	"context"

	"hlsgen/internal/compiler/samples"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/npy"
)

// A model whose output is an input with the next sample has its states as data, so that every engine computes all
// samples at once: they are computed first, sample by sample. States that a file gives stay.

// inTurn runs samples one after the other: each begins with the states that the one before has left.
func inTurn(ctx context.Context, states []dataflow.Feedback, in []reals, run func(i int, in reals) (reals, error)) (
	out []reals, err error) {
	for i := range in {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		for _, s := range states {
			if i > 0 {
				in[i][s.In].Data = out[i-1][s.Out].Data
			}
		}
		one, err := run(i, in[i])
		if err != nil {
			return nil, err
		}
		out = append(out, one)
	}
	return out, nil
}

// oneByOne runs a model on a sample: its layers, compiled, or, of one that has none, the model as written.
func oneByOne(ctx context.Context, m *dataflow.Model, exact bool) func(i int, in reals) (reals, error) {
	switch {
	case m.Graph == nil && m.Float != nil && !exact:
		return func(_ int, in reals) (reals, error) { return m.Float(in) }
	case m.Graph == nil:
		return func(_ int, in reals) (reals, error) { return m.Reference(in) }
	}
	p := programOf(m)
	return func(_ int, in reals) (reals, error) {
		out, err := compiledAs(ctx, p, m, &samples.Runs{In: []reals{in}})
		if err != nil {
			return nil, err
		}
		return out[0], nil
	}
}

// without is a model that lacks the inputs of states that a file does not give, and these; the model itself where it
// gives all.
func (f *dataFile) without(m *dataflow.Model) (*dataflow.Model, []dataflow.Feedback) {
	var fed []dataflow.Feedback
	rest := *m
	rest.In = nil
	for k, in := range m.In {
		if s := feeding(m, k); s != nil && f.arrays[in.Name] == nil {
			fed = append(fed, *s)
		} else {
			rest.In = append(rest.In, in)
		}
	}
	return &rest, fed
}

// feeding is the state that arrives on an input; nil where none does.
func feeding(m *dataflow.Model, input int) *dataflow.Feedback {
	for i := range m.Feedback {
		if m.Feedback[i].In == input {
			return &m.Feedback[i]
		}
	}
	return nil
}

// begins gives the states that a file does not have an array of zeros each, one for every sample, and lists them. ok is
// false where d says why it cannot.
func (f *dataFile) begins(m *dataflow.Model, d *diag.List) (fed []dataflow.Feedback, ok bool) {
	rest, fed := f.without(m)
	if fed == nil {
		return nil, true
	}
	s, err := samples.Open(rest, f.arrays, nil)
	if err != nil {
		f.told(err, d)
		return nil, false
	}
	if a := f.arrays[""]; a != nil && len(rest.In) == 1 { // it needs a name beside others
		delete(f.arrays, "")
		f.arrays[rest.In[0].Name] = a
	}
	f.states = map[string]*npy.Array{}
	for _, x := range fed {
		in := m.In[x.In]
		a := &npy.Array{DType: in.DType, Shape: append([]int{s.Count}, in.Shape...)}
		a.Data = make([]float64, s.Count*size(in.Shape))
		f.states[in.Name] = a
	}
	f.holdStates()
	return fed, true
}

func size(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}

// holdStates has the file give its states.
func (f *dataFile) holdStates() {
	for name, s := range samples.InMemory(f.states) {
		f.arrays[name] = s
	}
}

// lacks lists the states that a file does not have.
func (f *dataFile) lacks(m *dataflow.Model) []dataflow.Feedback {
	_, fed := f.without(m)
	return fed
}

// bySample is a run of a sample, whichever it is.
func bySample(run dataflow.Reference) func(int, reals) (reals, error) {
	return func(_ int, in reals) (reals, error) { return run(in) }
}

// carrying has parts of samples begin with the states that a model leaves itself, where a file has none.
func carrying(ctx context.Context, m *dataflow.Model, fed []dataflow.Feedback,
	run func(*samples.Runs) ([]reals, error)) func(*samples.Runs) ([]reals, error) {
	if fed == nil {
		return run
	}
	var last reals
	by := oneByOne(ctx, m, true)
	return func(runs *samples.Runs) ([]reals, error) {
		for _, s := range fed {
			if last != nil {
				runs.In[0][s.In].Data = last[s.Out].Data
			}
		}
		out, err := inTurn(ctx, fed, runs.In, by)
		if err != nil {
			return nil, err
		}
		last = out[len(out)-1]
		return run(runs)
	}
}

// feed computes the states that a file does not have, by a model itself. ok is false where d says why it cannot.
func (f *dataFile) feed(ctx context.Context, m *dataflow.Model, exact bool, d *diag.List) (ok bool, err error) {
	if f.lacks(m) == nil {
		return true, nil
	}
	return f.feedBy(ctx, m, oneByOne(ctx, m, exact), d)
}

// feedBy computes the states that a file does not have. ok is false where d says why it cannot.
func (f *dataFile) feedBy(ctx context.Context, m *dataflow.Model, run func(int, reals) (reals, error), d *diag.List) (
	ok bool, err error) {
	fed, ok := f.begins(m, d)
	if fed == nil {
		return ok, nil
	}
	s, err := samples.Open(m, f.arrays, nil)
	if err == nil {
		var r *samples.Runs
		if r, err = s.All(); err == nil {
			_, err = inTurn(ctx, fed, r.In, run)
			f.remember(m, fed, r.In)
		}
	}
	return err == nil, err
}

// remember keeps the states that samples begin with.
func (f *dataFile) remember(m *dataflow.Model, fed []dataflow.Feedback, in []reals) {
	for _, x := range fed {
		a := f.states[m.In[x.In].Name]
		a.Data = a.Data[:0]
		for _, run := range in {
			a.Data = append(a.Data, run[x.In].Data...)
		}
	}
	f.holdStates()
}
