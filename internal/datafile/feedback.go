package datafile

import (
	"context"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/engines"
	"hlsgen/internal/npy"
	"hlsgen/internal/samples"
)

// The functions in this file serve models with an output that is an input of the next sample. They compute these states
// in advance, sample by sample. Then the states are data, and every engine can compute all samples at once. States that
// the file of samples gives are kept.

// inTurn runs samples one after the other. It passes the states that a sample leaves to the next sample.
func inTurn(ctx context.Context, states []dataflow.Feedback, in []engines.Reals, run func(i int,
	in engines.Reals) (engines.Reals, error)) (
	out []engines.Reals, err error) {
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

// oneByOne returns a function that runs one sample. It runs the compiled layers, or the model as written if there are
// none. exact forbids float64.
func oneByOne(ctx context.Context, m *dataflow.Model, exact bool) func(i int, in engines.Reals) (engines.Reals, error) {
	switch {
	case m.Graph == nil && m.Float != nil && !exact:
		return func(_ int, in engines.Reals) (engines.Reals, error) { return m.Float(in) }
	case m.Graph == nil:
		return func(_ int, in engines.Reals) (engines.Reals, error) { return m.Reference(in) }
	}
	p := engines.CompileLayers(m)
	return func(_ int, in engines.Reals) (engines.Reals, error) {
		out, err := engines.RunFast(ctx, p, m, &samples.Runs{In: []engines.Reals{in}})
		if err != nil {
			return nil, err
		}
		return out[0], nil
	}
}

// without returns a copy of the model without the state inputs that the file does not give, and the feedback of these
// inputs.
func (f *Arrays) without(m *dataflow.Model) (*dataflow.Model, []dataflow.Feedback) {
	var fed []dataflow.Feedback
	rest := *m
	rest.In = nil
	for k, in := range m.In {
		if s := feeding(m, k); s != nil && f.ByName[in.Name] == nil {
			fed = append(fed, *s)
		} else {
			rest.In = append(rest.In, in)
		}
	}
	return &rest, fed
}

// feeding returns the feedback that arrives at an input, or nil if there is none.
func feeding(m *dataflow.Model, input int) *dataflow.Feedback {
	for i := range m.Feedback {
		if m.Feedback[i].In == input {
			return &m.Feedback[i]
		}
	}
	return nil
}

// begins adds an array of zeros for each state that the file does not give, and returns the feedback of these states.
// Each array has an entry per sample. ok is false after it adds an error to d.
func (f *Arrays) begins(m *dataflow.Model, d *diag.List) (fed []dataflow.Feedback, ok bool) {
	rest, fed := f.without(m)
	if fed == nil {
		return nil, true
	}
	s, err := samples.Open(rest, f.ByName, nil)
	if err != nil {
		f.told(err, d)
		return nil, false
	}
	if a := f.ByName[""]; a != nil && len(rest.In) == 1 { // an array without a name needs one beside other arrays
		delete(f.ByName, "")
		f.ByName[rest.In[0].Name] = a
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

// holdStates adds the computed states to the arrays of the file.
func (f *Arrays) holdStates() {
	for name, s := range samples.ArrayReaders(f.states) {
		f.ByName[name] = s
	}
}

// MissingStates returns the feedback of the states that the file does not give.
func (f *Arrays) MissingStates(m *dataflow.Model) []dataflow.Feedback {
	_, fed := f.without(m)
	return fed
}

// PerSample adapts a Reference to the signature of inTurn. It ignores the number of the sample.
func PerSample(run dataflow.Reference) func(int, engines.Reals) (engines.Reals, error) {
	return func(_ int, in engines.Reals) (engines.Reals, error) { return run(in) }
}

// CarryStates wraps run for parts of the samples. It fills in the states fed that the file does not give, and carries
// them from one part to the next.
func CarryStates(ctx context.Context, m *dataflow.Model, fed []dataflow.Feedback,
	run func(*samples.Runs) ([]engines.Reals, error)) func(*samples.Runs) ([]engines.Reals, error) {
	if fed == nil {
		return run
	}
	var last engines.Reals
	by := oneByOne(ctx, m, true)
	return func(runs *samples.Runs) ([]engines.Reals, error) {
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

// FeedStates computes the states that the file does not give, by running the model itself. ok is false if it fails or
// adds an error to d.
func (f *Arrays) FeedStates(ctx context.Context, m *dataflow.Model, exact bool, d *diag.List) (ok bool, err error) {
	if f.MissingStates(m) == nil {
		return true, nil
	}
	return f.FeedStatesBy(ctx, m, oneByOne(ctx, m, exact), d)
}

// FeedStatesBy computes the states that the file does not give. run runs one sample. ok is false if it fails or adds an
// error to d.
func (f *Arrays) FeedStatesBy(ctx context.Context, m *dataflow.Model, run func(int, engines.Reals) (engines.Reals,
	error), d *diag.List) (
	ok bool, err error) {
	fed, ok := f.begins(m, d)
	if fed == nil {
		return ok, nil
	}
	s, err := samples.Open(m, f.ByName, nil)
	if err == nil {
		var r *samples.Runs
		if r, err = s.All(); err == nil {
			_, err = inTurn(ctx, fed, r.In, run)
			f.remember(m, fed, r.In)
		}
	}
	return err == nil, err
}

// remember stores the states at the beginning of each sample in the arrays of the file.
func (f *Arrays) remember(m *dataflow.Model, fed []dataflow.Feedback, in []engines.Reals) {
	for _, x := range fed {
		a := f.states[m.In[x.In].Name]
		a.Data = a.Data[:0]
		for _, run := range in {
			a.Data = append(a.Data, run[x.In].Data...)
		}
	}
	f.holdStates()
}
