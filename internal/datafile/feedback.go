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

// inTurn runs the samples in one after the other, and returns their outputs. It puts the states that a sample leaves
// into the inputs of the next sample, in place. run computes sample i. The error is the first one of run or ctx.
func inTurn(ctx context.Context, states []dataflow.FedBackState, in []engines.ModelTensors, run func(i int,
	in engines.ModelTensors) (engines.ModelTensors, error)) (
	out []engines.ModelTensors, err error) {
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

// oneByOne returns a function that computes one sample and ignores its number. It runs the compiled layers, or the
// model as written if the model has none. exact forbids float64.
func oneByOne(ctx context.Context, m *dataflow.Model, exact bool) func(i int,
	in engines.ModelTensors) (engines.ModelTensors, error) {
	switch {
	case m.Graph == nil && m.Float != nil && !exact:
		return func(_ int, in engines.ModelTensors) (engines.ModelTensors, error) { return m.Float(in) }
	case m.Graph == nil:
		return func(_ int, in engines.ModelTensors) (engines.ModelTensors, error) { return m.Reference(in) }
	}
	p := engines.CompileLayers(m)
	return func(_ int, in engines.ModelTensors) (engines.ModelTensors, error) {
		out, err := engines.RunFast(ctx, p, m, &samples.RunInputs{In: []engines.ModelTensors{in}})
		if err != nil {
			return nil, err
		}
		return out[0], nil
	}
}

// without returns a copy of the model without the state inputs that the file does not give. It also returns the
// feedback of these inputs.
func (f *ArrayFile) without(m *dataflow.Model) (*dataflow.Model, []dataflow.FedBackState) {
	var fed []dataflow.FedBackState
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

// feeding returns the feedback that arrives at the input with this index, or nil if there is none.
func feeding(m *dataflow.Model, input int) *dataflow.FedBackState {
	for i := range m.Feedback {
		if m.Feedback[i].In == input {
			return &m.Feedback[i]
		}
	}
	return nil
}

// begins adds an array of zeros for each state that the file does not give, with an entry per sample. It returns the
// feedback of these states. ok is false after it adds an error to d.
func (f *ArrayFile) begins(m *dataflow.Model, d *diag.List) (fed []dataflow.FedBackState, ok bool) {
	rest, fed := f.without(m)
	if fed == nil {
		return nil, true
	}
	s, err := samples.OpenSampleSource(rest, f.ByName, nil)
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

// size returns the number of elements of a shape.
func size(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}

// holdStates adds the computed states in f.states to the arrays of the file.
func (f *ArrayFile) holdStates() {
	for name, s := range samples.NewArrayReaders(f.states) {
		f.ByName[name] = s
	}
}

// MissingStates returns the feedback of the model's states that the file does not give, or nil if it gives all.
func (f *ArrayFile) MissingStates(m *dataflow.Model) []dataflow.FedBackState {
	_, fed := f.without(m)
	return fed
}

// WrapRunIgnoringSampleNumber returns run as a function that also takes the number of the sample and ignores it.
// ComputeMissingStatesBy takes such functions.
func WrapRunIgnoringSampleNumber(run dataflow.ReferenceFunc) func(int, engines.ModelTensors) (engines.ModelTensors,
	error) {
	return func(_ int, in engines.ModelTensors) (engines.ModelTensors, error) { return run(in) }
}

// WrapRunWithCarriedStates returns a function that fills in the states fed, which the file does not give, and then
// calls run. It must be called with the parts of the samples in order: each begins with the last states of the part
// before. If fed is nil, WrapRunWithCarriedStates returns run itself.
func WrapRunWithCarriedStates(ctx context.Context, m *dataflow.Model, fed []dataflow.FedBackState,
	run func(*samples.RunInputs) ([]engines.ModelTensors, error)) func(*samples.RunInputs) ([]engines.ModelTensors,
	error) {
	if fed == nil {
		return run
	}
	var last engines.ModelTensors
	by := oneByOne(ctx, m, true)
	return func(runs *samples.RunInputs) ([]engines.ModelTensors, error) {
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

// ComputeMissingStates computes the states that the file does not give, by running the model itself. It adds them to
// f.ByName. exact forbids float64. ok is false if err is not nil, or after it adds an error to d.
func (f *ArrayFile) ComputeMissingStates(ctx context.Context, m *dataflow.Model, exact bool, d *diag.List) (ok bool,
	err error) {
	if f.MissingStates(m) == nil {
		return true, nil
	}
	return f.ComputeMissingStatesBy(ctx, m, oneByOne(ctx, m, exact), d)
}

// ComputeMissingStatesBy computes the states that the file does not give, by calling run for one sample after the
// other. It adds them to f.ByName. ok is false if err is not nil, or after it adds an error to d.
func (f *ArrayFile) ComputeMissingStatesBy(ctx context.Context, m *dataflow.Model, run func(int,
	engines.ModelTensors) (engines.ModelTensors,
	error), d *diag.List) (
	ok bool, err error) {
	fed, ok := f.begins(m, d)
	if fed == nil {
		return ok, nil
	}
	s, err := samples.OpenSampleSource(m, f.ByName, nil)
	if err == nil {
		var r *samples.RunInputs
		if r, err = s.ReadAll(); err == nil {
			_, err = inTurn(ctx, fed, r.In, run)
			f.remember(m, fed, r.In)
		}
	}
	return err == nil, err
}

// remember copies the states with which each sample in in begins to the computed arrays of the file.
func (f *ArrayFile) remember(m *dataflow.Model, fed []dataflow.FedBackState, in []engines.ModelTensors) {
	for _, x := range fed {
		a := f.states[m.In[x.In].Name]
		a.Data = a.Data[:0]
		for _, run := range in {
			a.Data = append(a.Data, run[x.In].Data...)
		}
	}
	f.holdStates()
}
