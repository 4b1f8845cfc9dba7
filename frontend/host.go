package frontend

import (
	"math"
	"math/big"
	"slices"
	"strings"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/lower"
	"hlsgen/frontend/program"
	"hlsgen/frontend/real"
	"hlsgen/frontend/scaled"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// These limits bound the description of the host's parts as data. hostSteps bounds the breakpoints of a quantiser.
// hostAll bounds the breakpoints of an input, or the values of an output, together. hostValues bounds the codes with a
// table of values, hostTried the codes at which a formula is checked, and hostCodes the functions of an output.
const (
	hostSteps  = 1 << 18
	hostAll    = 1 << 20
	hostValues = 1 << 16
	hostTried  = 1 << 26
	hostCodes  = 1 << 10
)

// host returns a description of the computations of the host, as far as each result is a function of one element.
func host(written, p *program.Program, low *lower.LoweredProgram,
	prefix dataflow.HostFunction) *dataflow.HostDescription {
	h := &dataflow.HostDescription{Codes: prefix.ToCodes, In: make([]*dataflow.HostInput, len(low.In)),
		Out: make([]*dataflow.HostOutput, len(p.Graph.Outputs))}
	front := scaled.New(p)
	for _, v := range p.Graph.Inputs {
		front.DeclareIntegerTensor(v.Name, scaled.IdentityAffines)
	}
	for i, name := range low.In {
		h.In[i] = hostIn(front, low, name, inputNames(p))
	}
	back := scaled.New(p)
	for _, name := range low.Out {
		of := make([]real.Affine, graph.ElementCount(p.Known[name].Shape))
		for i := range of {
			of[i] = low.AffineOfInteger(name, i)
		}
		back.DeclareIntegerTensor(name, of)
	}
	for i, o := range p.Graph.Outputs {
		h.Out[i] = hostOut(back, low, o.Name)
	}
	if slices.Contains(h.In, nil) {
		h.In, h.Begins, h.Codes = begins(p, low)
		h.Before = outside(written, inputNames(p), realNames(h.Begins))
	}
	if slices.Contains(h.Out, nil) {
		h.Out, h.Ends = nil, nil
		for _, name := range low.Out {
			out := hostOut(back, low, quantised(p, name))
			h.Out, h.Ends = append(h.Out, out), append(h.Ends, inside(p, quantised(p, name)))
		}
		h.After = outside(written, realNames(h.Ends), outputNames(p))
	}
	return h
}

// quantised returns the tensor of the file whose codes the given tensor holds, because normalisation gives the codes of
// a quantiser a name of their own. If there is no other tensor, it returns the given one.
func quantised(p *program.Program, codes string) string {
	at := strings.LastIndex(codes, ".codes")
	if at < 0 {
		return codes
	}
	known, ok := p.Known[codes[:at]]
	if !ok || !slices.Equal(known.Shape, p.Known[codes].Shape) {
		return codes
	}
	return codes[:at]
}

// values returns, for elements of a quantised tensor, the functions from codes to values. It returns nil if the values
// are not affine functions of the codes.
func values(p *program.Program, low *lower.LoweredProgram, codes string, index []int32) (of []real.Affine) {
	middle := scaled.New(p)
	declared := make([]real.Affine, graph.ElementCount(p.Known[codes].Shape))
	for i := range declared {
		if declared[i] = low.AffineOfInteger(codes, i); declared[i].Scale == nil {
			return nil
		}
	}
	middle.DeclareIntegerTensor(codes, declared)
	forms, err := middle.FormsOfElements(quantised(p, codes), index)
	if err != nil {
		return nil
	}
	for k := range index {
		leaves := forms.FormOf(k).IntegerVariables()
		if len(leaves) != 1 || leaves[0].Tensor != codes || leaves[0].Index[k] != index[k] {
			return nil
		}
		e, _ := forms.FormOf(k).ExprAtElement(k)
		a, ok := e.AsAffine()
		if !ok || a.Scale.Sign() == 0 {
			return nil
		}
		of = append(of, a)
	}
	return of
}

// inside returns a tensor of the model as an input or an output of the accelerator's part.
func inside(p *program.Program, name string) dataflow.RealTensorInfo {
	k := p.Known[name]
	batch := len(k.Shape) > 1 && k.Shape[0] == 1
	return dataflow.RealTensorInfo{Name: name, Shape: k.Shape, DType: k.DType.String(), Batch: batch}
}

// begins returns a description of how frames follow from tensors inside the model: from the inputs of their quantisers
// or, if these have no such tables, from the quantised tensors. In the second case a number becomes the code with the
// nearest value.
func begins(p *program.Program, low *lower.LoweredProgram) (in []*dataflow.HostInput, of []dataflow.RealTensorInfo,
	codes func([]dataflow.RealTensor) ([]dataflow.Tensor, error)) {
	middle := scaled.New(p)
	var names []string
	for _, name := range low.In {
		from := name
		if producer := quantiser(p, name); low.Arrive[name] == nil && producer != nil {
			from = producer.Node.Inputs[0]
		}
		if !slices.Contains(names, from) {
			names, of = append(names, from), append(of, inside(p, from))
			middle.DeclareIntegerTensor(from, scaled.IdentityAffines)
		}
	}
	for _, name := range low.In {
		in = append(in, hostIn(middle, low, name, names))
	}
	if slices.Contains(in, nil) {
		in, of = beginsQuantised(p, low)
		return in, of, nil
	}
	return in, of, toCodes(low, names, before(p, low, names))
}

// quantiser returns the quantiser whose codes a tensor holds, or is a function of. It returns nil if there is none.
func quantiser(p *program.Program, tensor string) *program.Step {
	step := p.ProducerOf(tensor)
	for step != nil && !scaled.IsQuantiserStep(step) {
		data := slices.IndexFunc(step.Node.Inputs, func(in string) bool { return in != "" && p.Known[in].Const == nil })
		if data < 0 {
			return nil
		}
		step = p.ProducerOf(step.Node.Inputs[data])
	}
	return step
}

// beginsQuantised returns what begins returns, for the quantised tensors.
func beginsQuantised(p *program.Program, low *lower.LoweredProgram) (in []*dataflow.HostInput,
	of []dataflow.RealTensorInfo) {
	for i, name := range low.In {
		of = append(of, inside(p, quantised(p, name)))
		index := elements(low, name, graph.ElementCount(p.Known[name].Shape))
		h := &dataflow.HostInput{Input: i, Index: index, Which: make([]uint16, len(index))}
		codes := low.Graph.Streams[low.Graph.In[i]].Type.UnionOfRanges()
		known := map[string]int{}
		means := values(p, low, name, index)
		if means == nil || codes.Hi-codes.Lo >= hostSteps {
			return append(in, nil), of
		}
		for k, a := range means {
			key := a.Scale.String() + " " + a.Bias.String()
			which, is := known[key]
			if !is {
				which = len(h.Steps)
				known[key], h.Steps = which, append(h.Steps, nearest(a, codes, of[i].NumberFormat()))
			}
			if which >= hostCodes {
				return append(in, nil), of
			}
			h.Which[k] = uint16(which)
		}
		if len(h.Steps) == 1 {
			h.Which = nil
		}
		in = append(in, h)
	}
	return in, of
}

// nearest returns the step function that maps a number of a format to the code of a range with the nearest value. Half
// way between two values it maps to the greater value.
func nearest(a real.Affine, codes num.Range, f num.FloatFormat) (s dataflow.HostStepFunction) {
	value := func(code int64) *big.Rat {
		v := new(big.Rat).SetInt64(code)
		return v.Add(v.Mul(v, a.Scale), a.Bias)
	}
	for code := codes.Lo; code <= codes.Hi; code++ {
		s.Codes = append(s.Codes, code)
	}
	if a.Scale.Sign() < 0 {
		slices.Reverse(s.Codes)
	}
	for k := range s.Codes[1:] {
		middle := value(s.Codes[k])
		middle.Mul(middle.Add(middle, value(s.Codes[k+1])), big.NewRat(1, 2))
		near, _ := middle.Float64()
		at := f.RoundToNearest(near)
		if new(big.Rat).SetFloat64(at).Cmp(middle) < 0 {
			at = f.NumberAtPosition(f.PositionOf(at) + 1)
		}
		s.At = append(s.At, at)
	}
	return s
}

// elements returns the elements of a tensor in the order of its stream.
func elements(low *lower.LoweredProgram, tensor string, n int) []int32 {
	order := make([]int64, n)
	for i := range order {
		order[i] = int64(i)
	}
	list := make([]int32, n)
	for i, v := range low.ToStreamOrder(tensor, order) {
		list[i] = int32(v)
	}
	return list
}

// hostIn returns a description of how the frame of a tensor follows from one of the named tensors, element by element.
// It returns nil if the frame does not follow in this way.
func hostIn(front *scaled.IntegerAnalysis, low *lower.LoweredProgram, tensor string,
	names []string) *dataflow.HostInput {
	p := front.Program
	n := graph.ElementCount(p.Known[tensor].Shape)
	index := elements(low, tensor, n)
	if low.Arrive[tensor] != nil {
		return &dataflow.HostInput{Input: slices.Index(names, tensor), Index: index}
	}
	producer := p.ProducerOf(tensor)
	if producer == nil {
		return nil
	}
	forms, err := front.FormsOfStepElements(producer, index)
	if err != nil {
		return nil
	}
	if !scaled.IsQuantiserStep(producer) {
		of := scaled.AffinesOfElements{Of: make([]real.Affine, n)}
		for i := range of.Of {
			of.Of[i] = low.AffineOfSentInteger(tensor, i)
		}
		forms = forms.QuantisedForms(of, index)
	}
	h := &dataflow.HostInput{Input: -1, Index: make([]int32, n), Which: make([]uint16, n)}
	kinds, all := newKinds(forms, nil), 0
	var format num.FloatFormat
	for k := range n {
		leaves := forms.FormOf(k).IntegerVariables()
		if len(leaves) != 1 {
			return nil
		}
		at := slices.Index(names, leaves[0].Tensor)
		if h.Input < 0 {
			h.Input, format = at, formatOf(p, leaves[0].Tensor)
		}
		if at < 0 || at != h.Input {
			return nil
		}
		h.Index[k] = leaves[0].Index[k]
		which, is := kinds.of(k)
		if which < 0 {
			return nil
		}
		if !is {
			e, _ := forms.FormOf(k).ExprAtElement(k)
			step, err := real.Compile(e).StepFunctionOverFloats(format, hostSteps)
			if all += len(step.At); err != nil || all > hostAll {
				return nil
			}
			of := dataflow.HostStepFunction{Codes: step.Value, At: make([]float64, len(step.At))}
			for i, key := range step.At {
				of.At[i] = format.NumberAtPosition(key)
			}
			h.Steps = append(h.Steps, of)
		}
		h.Which[k] = uint16(which)
	}
	if len(h.Steps) == 1 {
		h.Which = nil
	}
	return h
}

// hostOut returns a description of how an output follows from frames, element by element. It returns nil if the output
// does not follow in this way.
func hostOut(back *scaled.IntegerAnalysis, low *lower.LoweredProgram, output string) *dataflow.HostOutput {
	p := back.Program
	known := p.Known[output]
	n := graph.ElementCount(known.Shape)
	forms, err := back.FormsOfElements(output, scaled.NewCountingList(n))
	if err != nil {
		return nil
	}
	h := &dataflow.HostOutput{Index: make([]int32, n), Which: make([]uint16, n)}
	frames, all := received(low), 0
	kinds := newKinds(forms, func(k, l int) bool {
		a, b := forms.FormOf(k).IntegerVariables()[0], forms.FormOf(l).IntegerVariables()[0]
		x, y := low.AffineOfInteger(a.Tensor, int(a.Index[k])), low.AffineOfInteger(b.Tensor, int(b.Index[l]))
		return x.Scale.Cmp(y.Scale) == 0 && x.Bias.Cmp(y.Bias) == 0 && frames[a.Tensor].codes == frames[b.Tensor].codes
	})
	for k := range n {
		leaves := forms.FormOf(k).IntegerVariables()
		if len(leaves) != 1 {
			return nil
		}
		from, is := frames[leaves[0].Tensor]
		if !is {
			return nil
		}
		h.Index[k] = int32(from.at[leaves[0].Index[k]])
		which, is := kinds.of(k)
		if which < 0 {
			return nil
		}
		if !is {
			e, _ := forms.FormOf(k).ExprAtElement(k)
			code := hostCode(e, from.codes, formatOf(p, output))
			if code == nil {
				return nil
			}
			if all += len(code.Values); all > hostAll {
				return nil
			}
			h.Codes = append(h.Codes, *code)
		}
		h.Which[k] = uint16(which)
	}
	if len(h.Codes) == 1 {
		h.Which = nil
	}
	return h
}

// A carried says which part of the frames that the accelerator returns belongs to a tensor.
type carried struct {
	at    []int64 // the position of each element
	codes num.Range
}

// received returns, by name, the positions of the tensors that the accelerator returns.
func received(low *lower.LoweredProgram) map[string]carried {
	found := map[string]carried{}
	var begin int64
	for k, name := range low.Out {
		t := low.Graph.Streams[low.Graph.Out[k]].Type
		order := make([]int64, t.Shape.ElementCount())
		for i := range order {
			order[i] = begin + int64(i)
		}
		begin += int64(len(order))
		found[name] = carried{low.FromStreamOrder(name, order), t.UnionOfRanges()}
	}
	return found
}

// A kinds groups the elements of a tensor by equal functions, and numbers the groups.
type kinds struct {
	forms *scaled.ElementForms
	same  func(k, l int) bool // a further condition for equal functions; may be nil
	first [][]int             // by form: the first element of every kind
	names [][]int             // by form: the numbers of these kinds
	n     int
}

func newKinds(forms *scaled.ElementForms, same func(k, l int) bool) *kinds {
	return &kinds{forms: forms, same: same, first: make([][]int, len(forms.Of)), names: make([][]int, len(forms.Of))}
}

// of returns the number of element k's kind, and whether an earlier element has the same kind. It returns -1 if there
// are too many kinds.
func (s *kinds) of(k int) (which int, is bool) {
	f := s.forms.FormIndexOf(k)
	for i, first := range s.first[f] {
		if s.forms.FormOf(k).IsSameAtElements(first, k) && (s.same == nil || s.same(first, k)) {
			return s.names[f][i], true
		}
	}
	if s.n == hostCodes {
		return -1, false
	}
	s.first[f], s.names[f] = append(s.first[f], k), append(s.names[f], s.n)
	s.n++
	return s.n - 1, false
}

// hostCode returns the values of the codes in r, rounded to format t: as a table, or as a formula with the codes for
// which it does not hold. It returns nil if there are too many codes for either, or if the value of a code is infinite
// or cannot be determined.
func hostCode(e *real.Expr, r num.Range, t num.FloatFormat) *dataflow.HostCodeValues {
	f := real.Compile(e)
	single := t == num.Float32Format
	c := &dataflow.HostCodeValues{Range: r}
	affine, ok := e.AsAffine()
	if !ok || r.Hi-r.Lo < 16 || t != num.Float32Format && t != num.Float64Format { // formulas are only rounded to these
		if r.Hi-r.Lo >= hostValues {
			return nil
		}
		for code := r.Lo; code <= r.Hi; code++ {
			v, ok := meaning(f, code, t)
			if !ok {
				return nil
			}
			c.Values = append(c.Values, v)
		}
		return c
	}
	if r.Hi-r.Lo >= hostTried || !single && r.Hi-r.Lo >= hostValues {
		return nil
	}
	c.Scale, _ = affine.Scale.Float64()
	c.Bias, _ = affine.Bias.Float64()
	for code := r.Lo; code <= r.Hi; code++ {
		if single && c.IsFormulaRoundingSafe(code, t) {
			continue
		}
		v, fused := c.ValueOfCode(code, t), c.FusedFormulaValue(code, t)
		want, ok := meaning(f, code, t)
		if !ok {
			return nil
		}
		if v != want || fused != want {
			if c.Except == nil {
				c.Except = map[int64]float64{}
			}
			c.Except[code] = want
		}
	}
	return c
}

// formatOf returns the format to which the values of a tensor are rounded.
func formatOf(p *program.Program, tensor string) num.FloatFormat {
	return p.Known[tensor].DType.FloatFormat()
}

// meaning returns the value of a code, rounded to a format. ok is false if the value is infinite or could not be
// determined.
func meaning(f *real.Func, code int64, t num.FloatFormat) (v float64, ok bool) {
	if x := float64(code); int64(x) == code {
		y, _ := f.EvaluateInterval([]real.Interval{real.NewPointInterval(x)})
		// zero has two signs
		if v = t.RoundToNearest(y.Lo); v == t.RoundToNearest(y.Hi) && v != 0 && !math.IsInf(v, 0) {
			return v, true
		}
	}
	in := []real.Num{real.NumberOfRational(new(big.Rat).SetInt64(code))}
	for _, bits := range real.WorkingPrecisionBits {
		y, err := f.EvaluateExactly(in, bits)
		if err != nil {
			continue
		}
		if v, ok = y.RoundToFormat(t); ok {
			return v, !math.IsInf(v, 0)
		}
	}
	return 0, false
}
