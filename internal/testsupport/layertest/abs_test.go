package layertest

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"

	"hlsgen/hlslib"
	"hlsgen/hlslib/layer"
	"hlsgen/hlslib/price/cost"
	"hlsgen/hlslib/price/delay"
	"hlsgen/hlslib/price/estimate"
	"hlsgen/internal/circuit"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// abs is a small layer, the magnitude of every element, in words of PE. A defect spoils one of its answers.
type abs struct {
	p       absParams
	in, out dataflow.StreamType // set by Bind
}

type absParams struct {
	Defect string `json:"defect"` // a key of defects, or empty
}

// A defect replaces parts of a layer by wrong ones. A nil field leaves that part right.
type defect struct {
	params  func(*absParams)
	out     func(in num.Range, out *dataflow.StreamType)
	eval    func(in, out []dataflow.Tensor)
	depends func(*dataflow.Dependence)
	of      func(y int64) int64 // what the computation gives
	folds   func([]dataflow.Fold) []dataflow.Fold
	ports   func(in, out []dataflow.Port)
	loop    func(*dataflow.Loop)
	step    func(out []dataflow.Word)
	cost    func(dataflow.Cost) dataflow.Cost
	emit    func(*dataflow.KernelInstance)
	source  [2]string // text of the C++, and what stands in its place
	rtl     rtlDefect
}

// An rtlDefect changes the circuit.
type rtlDefect struct {
	keeps bool // negative values
	skips bool // every other word: an iteration in which nothing moves is between
	late  int  // clocks that words come later than Loop says
}

//go:embed testdata/mutant_abs.hpp
var absSource string

// absCase is the layer with a defect, on two vectors of four elements of [-7, 5].
func absCase(name string) Case {
	source := absSource
	if d := defects[name].source; d[0] != "" {
		if source = strings.Replace(absSource, d[0], d[1], 1); source == absSource {
			panic("mutant_abs.hpp has no " + d[0])
		}
	}
	in := dataflow.StreamType{Shape: dataflow.Shape{2, 4}, Range: []num.Range{{Lo: -7, Hi: 5}},
		Elem: num.Type{Kind: num.KindInt, Width: 4}}
	return Case{
		Name: "abs", Op: &abs{p: absParams{name}}, In: []dataflow.StreamType{in},
		Kinds:   []dataflow.LayerKind{{Name: "MutantAbs", Doc: "magnitudes", Decode: decodeAbs}},
		Headers: []hlslib.EmbeddedLibraryFile{{Path: "include/hlsgen/mutant_abs.hpp", Text: []byte(source)}},
	}
}

func decodeAbs(params []byte) (dataflow.Op, error) {
	var p absParams
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, err
	}
	if d := defects[p.Defect].params; d != nil {
		d(&p)
	}
	return &abs{p: p}, nil
}

func (o *abs) defect() defect { return defects[o.p.Defect] }

func (o *abs) Kind() string { return "MutantAbs" }

func (o *abs) Params() any { return o.p }

func (o *abs) Bind(in []dataflow.StreamType) (dataflow.Op, []dataflow.StreamType, error) {
	if len(in) != 1 {
		return nil, nil, fmt.Errorf("%d inputs, want 1", len(in))
	}
	b := &abs{p: o.p, in: in[0]}
	b.out = dataflow.StreamType{Shape: in[0].Shape}
	for _, r := range in[0].Range {
		m := num.Range{Lo: max(0, r.Lo, -r.Hi), Hi: max(-r.Lo, r.Hi)}
		b.out.Range = append(b.out.Range, m)
	}
	b.out.Elem = num.NarrowestIntTypeFor(b.out.UnionOfRanges())
	if d := o.defect().out; d != nil {
		d(in[0].UnionOfRanges(), &b.out)
	}
	return b, []dataflow.StreamType{b.out}, nil
}

func (o *abs) Describe() dataflow.LayerDescription {
	return dataflow.LayerDescription{Dependence: o.dependence, Computation: o.computation}
}

func (o *abs) dependence() dataflow.Dependence {
	d := dataflow.NewSeparateDependence(1, 2)
	if change := o.defect().depends; change != nil {
		change(&d)
	}
	return d
}

func (o *abs) computation() dataflow.Computation {
	return dataflow.ElementwiseComputation{Channels: 1, Of: func(_ int, x []int64) int64 {
		y := max(x[0], -x[0])
		if change := o.defect().of; change != nil {
			y = change(y)
		}
		return y
	}}
}

func (o *abs) Eval(in []dataflow.Tensor) []dataflow.Tensor {
	y := dataflow.Tensor{Shape: o.out.Shape}
	for _, v := range in[0].Data {
		y.Data = append(y.Data, max(v, -v))
	}
	out := []dataflow.Tensor{y}
	if d := o.defect().eval; d != nil {
		d(in, out)
	}
	return out
}

func (o *abs) Folds() iter.Seq[dataflow.Fold] {
	var folds []dataflow.Fold
	for _, pe := range dataflow.Divisors(o.in.Shape.ChannelCount()) {
		folds = append(folds, dataflow.Fold{PE: pe, SIMD: 1})
	}
	if d := o.defect().folds; d != nil {
		folds = d(folds)
	}
	return slices.Values(folds)
}

func (o *abs) words(f dataflow.Fold) int { return o.in.Shape.ElementCount() / f.PE }

func (o *abs) Ports(f dataflow.Fold) (in, out []dataflow.Port) {
	in = []dataflow.Port{{Elem: o.in.Elem, PerWord: f.PE, Words: o.words(f)}}
	out = []dataflow.Port{{Elem: o.out.Elem, PerWord: f.PE, Words: o.words(f)}}
	if d := o.defect().ports; d != nil {
		d(in, out)
	}
	return in, out
}

func (o *abs) Loop(f dataflow.Fold, t dataflow.Target) dataflow.Loop {
	c := layer.NewIterationChain(t)
	c.DoStreamRead()
	c.DoOp(delay.OpAdd, o.width())
	c.DoSelect(o.width())
	l := dataflow.Loop{Body: []dataflow.LoopRun{{Times: o.words(f), Moves: dataflow.PortMoves{Read: 1, Write: 1}}},
		Latency: c.DoStreamWrite()}
	if t.Backend.Stalls == dataflow.StallByCredit {
		l.Latency = o.Circuit(f, t).Latency - o.defect().rtl.late
	}
	if d := o.defect().loop; d != nil {
		d(&l)
	}
	return l
}

func (o *abs) Kernel(dataflow.Fold, dataflow.Target) dataflow.Kernel { return absKernel{o} }

type absKernel struct{ o *abs }

func (k absKernel) Step(_ int, in []dataflow.Word) []dataflow.Word {
	if in[0] == nil { // in an iteration that moves nothing
		return []dataflow.Word{nil}
	}
	y := make(dataflow.Word, len(in[0]))
	for i, v := range in[0] {
		y[i] = max(v, -v)
	}
	out := []dataflow.Word{y}
	if d := k.o.defect().step; d != nil {
		d(out)
	}
	return out
}

func (o *abs) Circuit(f dataflow.Fold, t dataflow.Target) *circuit.Module {
	b, defect := circuit.NewBuilder(t.CircuitTiming()), o.defect().rtl
	moves := b.ConstantNumber(1)
	if defect.skips {
		moves = b.AddCounter("odd", 2, moves).First
	}
	var magnitudes []circuit.Value
	for _, x := range layer.ElementsOfWord(b.AddInputStream(f.PE*o.in.Elem.Width, moves), o.in.Elem) {
		if !defect.keeps {
			x = circuit.MuxByCondition(circuit.IsNegative(x), circuit.Negate(x), x)
		}
		magnitudes = append(magnitudes, circuit.AssumeRange(x, o.out.Elem.Range()))
	}
	b.AddOutputStream(circuit.PackIntoWord(o.out.Elem, magnitudes...).DelayedByClocks(1), moves)
	return b.FinishLayer()
}

// width is the bits of a value and of its negative.
func (o *abs) width() int { return o.in.Elem.Width + 1 }

func (o *abs) Cost(f dataflow.Fold, t dataflow.Target) dataflow.Cost {
	m := estimate.CostModelOf(t)
	c := estimate.CostOfParts(
		m.StreamControlCost(cost.CounterCost(o.words(f))),
		cost.AdderCost(o.width()).Times(f.PE).AsPart("adders"),
		m.RegisterCost(f.PE*o.out.Elem.Width),
	)
	if d := o.defect().cost; d != nil {
		c = d(c)
	}
	return c
}

func (o *abs) Emit(f dataflow.Fold, _ dataflow.Target) dataflow.KernelInstance {
	i := dataflow.KernelInstance{
		Header:  "mutant_abs.hpp",
		Func:    "magnitude",
		Streams: []string{"in_t", "in_width", "out_t", "out_width"},
		Config: []dataflow.ConfigField{
			{Name: "pe", Doc: "elements computed side by side", Value: f.PE},
			{Name: "value_width", Doc: "bits of a value and of its negative", Value: o.width()},
		},
	}
	if d := o.defect().emit; d != nil {
		d(&i)
	}
	return i
}
