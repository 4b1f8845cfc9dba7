package rnn

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"hlsgen/hlslib/layer"
	"hlsgen/hlslib/mac"
	"hlsgen/internal/dataflow"
)

func (o *op) Emit(f dataflow.Fold, t dataflow.Target) dataflow.KernelInstance {
	return instance(o, f, t, false)
}

// ReadsEnds returns true: the layer must be told where a sequence ends, because the next one begins with its own
// states.
func (o *op) ReadsEnds(int) bool { return true }

// Sequence returns a copy of the layer at, which is this layer bound to some length, for sequences of any length. The
// latency of its circuit is the same for all lengths.
func (o *op) Sequence(at dataflow.Op, _, _ int) dataflow.Op {
	of := *at.(*op)
	of.sequence = true
	if of.timings = o.timings; !o.sequence {
		of.timings = new(sync.Map)
	}
	return &of
}

// Describe returns the facts of the layer.
func (o *op) Describe() dataflow.LayerDescription {
	d := o.Base.Describe()
	d.Dependence = func() dataflow.Dependence { return dependence(o) }
	d.Recurrences, d.Accumulators = o.recurrences, o.unit.AccumulatorWidthsByRule
	d.Storage, d.Counts, d.CarriedDelayNS = o.Storage, o.counts, mac.CarriedDelayNS
	if o.sequence && len(o.P.Starts) > 0 { // the signal of a sequence's end decides whether states arrive next
		d.CarriedStatePath = layer.TimingPathOfSequenceEnd
	}
	return d
}

// EmitSteps returns the data of the C++ instance for sequences of any length. Every step is written: a step's first
// words leave before it is known whether the step is the last. It panics for a layer that writes only the last step.
func (o *op) EmitSteps(f dataflow.Fold, t dataflow.Target, _ int) dataflow.KernelInstance {
	if !o.P.Sequence {
		panic("rnn: a last step alone, of sequences of different lengths")
	}
	return instance(o, f, t, true)
}

// instance returns the data of the C++ instance for frames of one length or, if steps is true, for sequences of any
// length.
func instance(o *op, f dataflow.Fold, target dataflow.Target, steps bool) dataflow.KernelInstance {
	t := o.timing(f, target)
	i := dataflow.KernelInstance{
		Header:  "rnn.hpp",
		Func:    "rnn",
		Ends:    steps,
		Config:  loopFields(o, f, t, steps),
		Storage: o.Storage(f),
	}
	i.Config = append(i.Config, o.unit.SumConfigFields(f, packing(o, f, target))...)
	if o.dots > 0 {
		i.Tables = append(i.Tables, o.weights(f))
		i.Config = append(i.Config, o.unit.Codes.DecoderConfigFields(o.rows(f))...)
	}
	for p := range o.phases {
		for k := range o.phases[p].values {
			fields, tables := emit(o, p, &o.phases[p].values[k], f.PE)
			i.Config, i.Tables = append(i.Config, fields...), append(i.Tables, tables...)
		}
	}
	for n := range o.stores {
		s := &o.stores[n]
		i.Config = append(i.Config,
			dataflow.ConfigField{Name: s.name + "_t", Doc: "an element of array " + s.name, Value: s.elem},
			dataflow.ConfigField{Name: s.name + "_distance", Doc: "least iterations from a write to a read of a word",
				Value: t.distance(o, s, f)})
		if table, ok := o.start(s, f); ok {
			i.Tables = append(i.Tables, table)
		}
	}
	w := newWriter(o, f, i.Tables)
	w.steps = steps
	i.Code = w.code()
	code := strings.Join(i.Code, "\n")
	i.Streams = streams(o, code)
	i.Config = slices.DeleteFunc(i.Config, func(m dataflow.ConfigField) bool {
		const variable = "pe" // the loop variable of the generated program, not the config's pe
		return slices.Contains(unread(o, f, target), m.Name) && (m.Name == variable || !names(code, m.Name))
	})
	return i
}

// unread returns the config members that rnn.hpp does not read for this fold. Without dots these are the dots'
// members; if dots share DSP slices, it is use_dsp.
func unread(o *op, f dataflow.Fold, t dataflow.Target) []string {
	switch {
	case o.dots == 0:
		return []string{"pe", "simd", "dots", "dot_t", "use_dsp", "vector_t", "vector_width"}
	case packing(o, f, t).HasMultipleLanes():
		return []string{"use_dsp"}
	}
	return nil
}

// names reports whether the C++ code mentions the given member of its config.
func names(code, member string) bool {
	return regexp.MustCompile(`\b` + member + `\b`).MatchString(code)
}

// streams returns the names of the config's members for the streams' types and widths that the C++ code mentions.
func streams(o *op, code string) (list []string) {
	for side, ports := range map[string]int{"in": len(o.in), "out": len(o.out)} {
		for k := range ports {
			for _, of := range []string{"_t", "_width"} {
				if name := numbered(side, k, ports) + of; names(code, name) {
					list = append(list, name)
				}
			}
		}
	}
	slices.Sort(list)
	return list
}

// loopFields returns the config members that the loop in rnn.hpp reads.
func loopFields(o *op, f dataflow.Fold, t timing, steps bool) []dataflow.ConfigField {
	var nf, sf, idle, sums []int
	for i, p := range t.phases {
		nf, sf, idle, sums = append(nf, p.nf), append(sf, p.sf), append(idle, p.idle), append(sums, 0)
		if len(o.phases[i].dots) > 0 {
			sums[i] = 1
		}
	}
	if !o.P.Keeps && o.length == 1 && !steps {
		idle[len(idle)-1] = 0
	}
	word := f.PE / dataflow.GCD(f.PE, f.SIMD) * f.SIMD
	return []dataflow.ConfigField{
		{Name: "length", Doc: "time steps in a frame", Value: o.length},
		{Name: "turns", Doc: "turns in a step", Value: o.turns},
		{Name: "cells", Doc: "turns of one sequence in a step", Value: len(o.P.Cells)},
		{Name: "phases", Doc: "phases of a step; by phase:", Value: len(t.phases)},
		{Name: "nf", Doc: "words of a turn", Value: nf},
		{Name: "sf", Doc: "clocks of a word", Value: sf},
		{Name: "idle", Doc: "idle clocks after the last turn", Value: idle},
		{Name: "sums", Doc: "1 if the phase has dots", Value: sums},
		{Name: "head", Doc: "clocks for the arrival of states", Value: t.head},
		{Name: "rest", Doc: "idle clocks after their arrival", Value: t.rest},
		{Name: "pe", Doc: "units computed side by side", Value: f.PE},
		{Name: "simd", Doc: "elements of a vector that each dot consumes per clock", Value: f.SIMD},
		{Name: "dots", Doc: "dots per unit", Value: o.dots},
		{Name: "weights_rows", Doc: "rows of the weights, one per clock", Value: o.rows(f)},
		{Name: "parts", Doc: "words of simd elements in a word of a vector", Value: word / f.SIMD},
		{Name: "fills", Doc: "words of pe units in a word of a vector", Value: word / f.PE},
		{Name: "sequence", Doc: "every step is written, else only the last", Value: o.P.Sequence},
		{Name: "steps", Doc: "a frame is a sequence of any length", Value: steps},
		{Name: "keeps", Doc: "a frame starts with the states of the frame before", Value: o.P.Keeps},
		{Name: "vector_t", Doc: "an element of a vector that dots multiply", Value: o.vector},
		{Name: "vector_width", Value: word * o.vector.Width},
	}
}

// emit returns the config members and tables of the value v of phase i, for pe units side by side.
func emit(o *op, i int, v *value, pe int) (fields []dataflow.ConfigField, tables []dataflow.Table) {
	if !v.built() {
		return nil, nil
	}
	fields = []dataflow.ConfigField{{Name: v.name + "_t", Doc: v.Op, Value: v.elem}}
	for _, p := range o.parameters(i, v) {
		tables = append(tables, p.table(pe))
	}
	switch v.Op {
	case OpStepFunction:
		tables = v.steps.tables(pe)
	case OpRequant:
		fields = append(fields, dataflow.NewRequantField(v.name+"_requant", "requantiser", v.of, v.requant...))
	}
	return fields, tables
}
