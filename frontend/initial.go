package frontend

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"hlsgen/frontend/axes"
	"hlsgen/frontend/graph"
	"hlsgen/frontend/operators"
	"hlsgen/frontend/program"
	"hlsgen/internal/diag"
)

// An InitialStateMode says how recurrences treat an initial state that arrives on an input as real numbers.
type InitialStateMode string

// These are the modes.
const (
	InitialStateModeZero InitialStateMode = "zero" // replace the input by constant zeros
	// put the state's own quantiser, from the loop's body, behind the input
	InitialStateModeQuant InitialStateMode = "quant"
)

// InitialStateModeNames lists the names of all modes.
var InitialStateModeNames = []string{string(InitialStateModeZero), string(InitialStateModeQuant)}

// InitialStateModesByInput maps the name of an input that is an initial state to its mode. "" stands for all other such
// inputs.
type InitialStateModesByInput map[string]InitialStateMode

// FlagValues returns the modes in the form of the flag --initial-state, one text per input, in order of the inputs.
func (s InitialStateModesByInput) FlagValues() (list []string) {
	for _, input := range slices.Sorted(maps.Keys(s)) {
		text := string(s[input])
		if input != "" {
			text = input + "=" + text
		}
		list = append(list, text)
	}
	return list
}

// begin applies the modes that the user chose for initial states, and notes in d that this changes the model. It
// returns the names of the inputs that got a quantiser. ok is false after errors were added to d. A graph that cannot
// be prepared stays unchanged; a later attempt to prepare it reports why.
func (o Options) begin(g *graph.Graph, file string, d *diag.List) (quantised []string, ok bool) {
	if len(o.Initial) == 0 {
		return nil, true
	}
	var quiet diag.List
	bind := o.bind(g, file, &quiet)
	bound, bind := bind.BindLeadingAxes(g)
	p := operators.Prepare(bound, file, bind, &quiet)
	if p == nil {
		return nil, true
	}
	states := axes.FindStateInputs(p)
	ok = o.namesStates(states, file, d)
	b, found := &inserting{Graph: g, taken: g.UsedTensorNames()}, false
	for _, s := range states {
		as, named := o.Initial[s.Name]
		if !named {
			as = o.Initial[""]
		}
		if as == "" || !named && !s.Real && as == InitialStateModeQuant {
			continue
		}
		found = true
		told, why := b.state(s, as)
		if why != "" {
			ok = false
			refuseState(s.Name, "--initial-state quant has no quantiser to put behind this input: "+why,
				fmt.Sprintf("--initial-state %s=zero begins with zeros, the usual meaning", s.Name), file, d)
			continue
		}
		if as == InitialStateModeQuant {
			quantised = append(quantised, s.Name)
		}
		d.Add(diag.Diag{Severity: diag.SeverityNote, Code: diag.InitialStateChangedOrUnfit, Node: s.Name, Op: "input",
			Where: file,
			Msg:   told + ", which changes the model",
			Hint:  "what the engines agree on is the changed model: measure its accuracy"})
	}
	if ok && !found {
		ok = false
		refuseState("", "--initial-state has nothing to do: no recurrence begins with an input that arrives as real "+
			"numbers", "leave it out", file, d)
	}
	g.Nodes = append(b.first, g.Nodes...)
	return quantised, ok
}

func refuseState(input, msg, hint, file string, d *diag.List) {
	x := diag.Diag{Severity: diag.SeverityError, Code: diag.InitialStateChangedOrUnfit, Node: input, Where: file,
		Msg:  msg,
		Hint: hint}
	if input != "" {
		x.Op = "input"
	}
	d.Add(x)
}

// namesStates reports whether all inputs for which the user chose a mode are initial states. It adds errors for the
// others to d.
func (o Options) namesStates(states []*axes.StateInput, file string, d *diag.List) bool {
	ok := true
	for _, name := range slices.Sorted(maps.Keys(o.Initial)) {
		if name != "" && !slices.ContainsFunc(states, func(s *axes.StateInput) bool { return s.Name == name }) {
			ok = false
			refuseState(name, "--initial-state names it, but it is not an initial state that only recurrences "+
				"read", inputsToName(states), file, d)
		}
	}
	return ok
}

// inputsToName returns the hint for a name that is not an initial state.
func inputsToName(states []*axes.StateInput) string {
	if len(states) == 0 {
		return "leave it out: no recurrence of this model begins with an input"
	}
	var names []string
	for _, s := range states {
		names = append(names, fmt.Sprintf("%q", s.Name))
	}
	return "recurrences begin with " + strings.Join(names, ", ")
}

// state applies the mode of one initial state to the graph. It returns a description of the change or, in why, the
// reason why that is impossible.
func (b *inserting) state(s *axes.StateInput, as InitialStateMode) (told, why string) {
	if as == InitialStateModeZero {
		at := slices.IndexFunc(b.Inputs, func(v graph.ValueInfo) bool { return v.Name == s.Name })
		for _, dim := range b.Inputs[at].Dims {
			if dim.Param != "" {
				b.Gone = append(b.Gone, dim.Param)
			}
		}
		b.Inputs = slices.Delete(slices.Clone(b.Inputs), at, at+1)
		b.Init[s.Name] = &graph.ConstantTensor{DType: s.KnownTensor.DType, Shape: s.Shape, F: make([]float64,
			graph.ElementCount(s.Shape))}
		return "the initial state that arrives on it became zeros, a constant: it is no input any more", ""
	}
	out := b.fresh(s.Name + ".quantised")
	nodes, why := s.NewStateQuantiserNodes(s.Name, out, b.fresh, b.Init)
	if why != "" {
		return "", why
	}
	b.moveReaders(s.Name, out)
	b.first = append(b.first, nodes...)
	return "the quantiser that makes this state in the loop's body was put behind it", ""
}

// beginsWith returns a hint with the flags that give a recurrence an initial state instead of a real-valued input. It
// returns "" if no flag does.
func beginsWith(p *program.Program, input string) string {
	for _, s := range axes.FindStateInputs(p) {
		if s.Name != input || !s.Real {
			continue
		}
		hint := fmt.Sprintf("--initial-state %s=zero begins with zeros, the usual meaning, and takes the input away",
			s.Name)
		if s.CanQuantiseLikeBodies() {
			hint += fmt.Sprintf("; --initial-state %s=quant puts the quantiser that makes the state in the loop's "+
				"body in front", s.Name)
		}
		return hint
	}
	return ""
}
