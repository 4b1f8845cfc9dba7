package layertest

import (
	"maps"
	"slices"
	"testing"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
	"hlsgen/internal/testsupport/tier"
)

// defects is the layer's mutants, by name. TestMutants says which check catches each.
var defects map[string]defect

// init replaces a literal, which would be a cycle, because the layer looks its defect up here.
func init() {
	defects = map[string]defect{
		"": {},
		"three clocks a word": {loop: func(l *dataflow.Loop) {
			word := dataflow.LoopRun{Times: 1, Moves: l.Body[0].Moves}
			l.Body = dataflow.RepeatLoopRuns(l.Body[0].Times, word, dataflow.LoopRun{Times: 2})
		}},
		"latency 40":        {loop: func(l *dataflow.Loop) { l.Latency = 40 }},
		"a stage too few":   {loop: func(l *dataflow.Loop) { l.Latency-- }},
		"no adders":         {cost: func(c dataflow.Cost) dataflow.Cost { return without(c, "adders") }},
		"adders of one PE":  {cost: func(c dataflow.Cost) dataflow.Cost { return constant(c, "adders", 5) }},
		"10,000 times":      {cost: func(c dataflow.Cost) dataflow.Cost { return times(c, 10_000) }},
		"ranges 2^20 wide":  {out: func(_ num.Range, t *dataflow.StreamType) { widen(t, 1<<20) }},
		"no UNROLL":         {source: [2]string{"#pragma HLS UNROLL\n", ""}},
		"C++ does not wait": {source: [2]string{"if (in.empty()) return;", ""}},
		"C++ counts waits": {source: [2]string{"if (in.empty()) return;",
			"static ap_uint<1> odd = 0;\n#pragma HLS RESET variable=odd\nodd += 1;\n" +
				"if (in.empty() || odd == 0) return;"}},
		"C++ begins at one": {source: [2]string{"if (in.empty()) return;",
			"static ap_uint<1> rest = 1;\n#pragma HLS RESET variable=rest\n" +
				"if (in.empty()) return;\nif (rest == 0) in.read();"}},
		"C++ keeps control": {source: [2]string{"if (in.empty()) return;",
			"static ap_uint<1> odd = 0;\n#pragma HLS RESET variable=odd off\nif (in.empty()) return;\n" +
				"odd += 1;\nif (odd == 2) return;"}},
		"C++ negates none":  {source: [2]string{"value = -value", "value = value"}},
		"C++ warns":         {source: [2]string{"#pragma HLS INLINE\n", "int spare = 0;\n"}},
		"C++ goes wide":     {source: [2]string{"ap_uint<C::out_width> y", "ap_uint<65536> y"}},
		"Eval negates":      {eval: func(_, out []dataflow.Tensor) { out[0].Data[0] *= -1 }},
		"Eval writes input": {eval: func(in, _ []dataflow.Tensor) { in[0].Data[0]++ }},
		"Eval mixes parts": {eval: func(in, out []dataflow.Tensor) {
			out[0].Data[0] = max(in[0].Data[7], -in[0].Data[7])
		}},
		"computation is 1":   {of: func(int64) int64 { return 1 }},
		"too many parts":     {depends: func(d *dataflow.Dependence) { d.In[0] = 3 }},
		"parts are moved":    {depends: func(d *dataflow.Dependence) { d.Form = dataflow.DependenceFormCopy }},
		"kernel flips a bit": {step: func(out []dataflow.Word) { out[0][0] ^= 1 }},
		"ranges too narrow":  {out: func(_ num.Range, t *dataflow.StreamType) { t.Range[0].Hi-- }},
		"a fold twice":       {folds: func(f []dataflow.Fold) []dataflow.Fold { return append(f, f[0]) }},
		"no folds":           {folds: func([]dataflow.Fold) []dataflow.Fold { return nil }},
		"a word too few":     {ports: func(in, _ []dataflow.Port) { in[0].Words-- }},
		"a negative part": {cost: func(c dataflow.Cost) dataflow.Cost {
			return append(c, dataflow.CostContribution{Name: "discount", Resources: dataflow.Resources{DSP: -1}})
		}},
		"unbound memory": {cost: func(c dataflow.Cost) dataflow.Cost {
			return append(c, dataflow.CostContribution{Name: "memory", Resources: dataflow.Resources{BRAM: 1}})
		}},
		"RTL keeps signs":     {rtl: rtlDefect{keeps: true}},
		"RTL skips a clock":   {rtl: rtlDefect{skips: true}},
		"RTL is a clock late": {rtl: rtlDefect{late: 1}},
		"other parameters":    {params: func(p *absParams) { p.Defect = "" }},
	}
}

func without(c dataflow.Cost, part string) dataflow.Cost {
	return slices.DeleteFunc(c, func(p dataflow.CostContribution) bool { return p.Name == part })
}

// constant has so many LUTs of a part, and the rest in another.
func constant(c dataflow.Cost, part string, luts int) dataflow.Cost {
	at := slices.IndexFunc(c, func(p dataflow.CostContribution) bool { return p.Name == part })
	rest := dataflow.CostContribution{Name: "rest", Resources: dataflow.Resources{LUT: c[at].LUT - luts}}
	c[at].LUT = luts
	return append(c, rest)
}

func times(c dataflow.Cost, n int) dataflow.Cost {
	for i, p := range c {
		c[i].Resources = dataflow.Resources{LUT: n * p.LUT, FF: n * p.FF}
	}
	return c
}

// widen makes ranges wider by n at either end, as far as they are signed.
func widen(t *dataflow.StreamType, n int64) {
	for i := range t.Range {
		t.Range[i].Hi += n
	}
	t.Elem = num.NarrowestIntTypeFor(t.UnionOfRanges())
}

// TestMutants has the contract catch every defect of abs on the covering sets of its folds, each by the check that is
// there for it.
func TestMutants(t *testing.T) {
	t.Parallel()
	caught := map[string]string{
		"":                   "",
		"Eval writes input":  checkEval,
		"Eval negates":       checkEval,
		"ranges too narrow":  checkEval,
		"computation is 1":   checkComputation,
		"Eval mixes parts":   checkDependence,
		"too many parts":     checkDependence,
		"parts are moved":    checkDependence,
		"a fold twice":       checkFolds,
		"no folds":           checkFolds,
		"other parameters":   checkParameters,
		"a word too few":     checkPorts,
		"kernel flips a bit": checkKernel,
		"a negative part":    checkCost,
		"unbound memory":     checkStorage,
		"C++ goes wide":      checkText,
		"C++ warns":          checkCompiler,
		"C++ negates none":   checkOutput,
		"C++ begins at one":  checkReset,
		"C++ keeps control":  checkText,

		"RTL keeps signs":     checkRTLWords,
		"RTL skips a clock":   checkRTLWords,
		"RTL is a clock late": checkRTLClocks,

		"three clocks a word": checkLoop,
		"latency 40":          checkLatency,
		"a stage too few":     checkLatency,
		"no adders":           checkBand,
		"adders of one PE":    checkBand,
		"10,000 times":        checkBand,
		"ranges 2^20 wide":    checkRanges,
		"no UNROLL":           checkText,
		"C++ does not wait":   checkOutput,
		"C++ counts waits":    checkOutput,
	}
	for _, name := range slices.Sorted(maps.Keys(defects)) {
		want, ok := caught[name]
		if !ok {
			t.Errorf("%q: no check is said to catch it", name)
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			programs, errs := examine(t.Context(), []Case{absCase(name)})
			if len(errs) == 0 {
				both, rtl := name == "", defects[name].rtl != rtlDefect{}
				if both || rtl { // iterations know no clocks, so that none is late
					other := runCircuits(programs)
					if found := len(other) > 0; found != (rtl && defects[name].rtl.late == 0) {
						t.Errorf("run as a circuit: %v", other)
					}
				}
				gxx := tier.Needs(t, "g++", "verilator")[0]
				var err error
				if both || !rtl { // the C++ of mutants in RTL is that of none
					err = run(t.Context(), gxx, t.TempDir(), cover(programs, program.options))
				}
				if err == nil && (both || name == "C++ begins at one") {
					err = runReset(t.Context(), t.TempDir(), cover(programs, program.formOptions))
				}
				if err == nil && (both || rtl) {
					err = runRTL(t.Context(), t.TempDir(), simulations(cover(programs, program.circuitOptions)))
				}
				if err != nil {
					errs = append(errs, err)
				}
			}
			got := ""
			if len(errs) > 0 {
				got = checkOf(errs[0])
			}
			if len(errs) > 1 || got != want {
				t.Errorf("caught by %q, want %q: %v", got, want, errs)
			}
		})
	}
}
