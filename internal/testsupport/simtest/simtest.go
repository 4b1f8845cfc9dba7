// Package simtest runs simulations for tests.
package simtest

import (
	"context"
	"slices"
	"testing"

	"hlsgen/internal/diag"
	"hlsgen/internal/engines"
	"hlsgen/internal/npy"
	"hlsgen/internal/simulate"
	"hlsgen/internal/testsupport/samplefiles"
	"hlsgen/internal/testsupport/tier"
)

// Run simulates a model, and returns the result and the diagnostics. It fails the test after an error, but not after
// diagnostics.
func Run(t *testing.T, o simulate.Options) (*simulate.Result, *diag.List) {
	t.Helper()
	var d diag.List
	r, err := simulate.Run(context.Background(), o, &d)
	if err != nil {
		t.Fatalf("engine %s: %v", o.Engine, err)
	}
	return r, &d
}

// RunClean simulates a model and returns the result. It fails the test after an error or any diagnostic.
func RunClean(t *testing.T, o simulate.Options) *simulate.Result {
	t.Helper()
	r, d := Run(t, o)
	samplefiles.WantClean(t, d, nil)
	return r
}

// RunOK simulates a model and returns the result. It fails the test after an error, or after a diagnostic that is an
// error.
func RunOK(t *testing.T, o simulate.Options) *simulate.Result {
	t.Helper()
	r, d := Run(t, o)
	if d.HasErrors() {
		t.Fatalf("engine %s: %v", o.Engine, d.Diags)
	}
	return r
}

// Agree runs a simulation on each of the engines, compares the outputs with want, and returns the results by engine.
func Agree(t *testing.T, list []engines.EngineName, o simulate.Options,
	want []*npy.Array) (results []*simulate.Result) {
	t.Helper()
	for _, o.Engine = range list {
		got := RunOK(t, o)
		for k, y := range want {
			if !slices.Equal(got.Outputs[k].Data, y.Data) {
				t.Errorf("engine %s, %d samples in turns: output %d is %v, want %v", o.Engine, max(1, o.Interleave), k,
					got.Outputs[k].Data, y.Data)
			}
		}
		results = append(results, got)
	}
	return results
}

// QuickEngines returns the engines that the tier of the test run has time for.
func QuickEngines(t *testing.T) []engines.EngineName {
	list := []engines.EngineName{engines.EngineReference, engines.EngineEval, engines.EngineCycle}
	if tier.Quick() {
		return list
	}
	return append(list, engines.EngineCSim)
}

// SameByEngines checks that all engines in the list give the same outputs, and returns the outputs of the first one.
func SameByEngines(t *testing.T, o simulate.Options, list ...engines.EngineName) (outputs []*npy.Array) {
	t.Helper()
	for _, e := range list {
		var d diag.List
		o.Engine = e
		r, err := simulate.Run(t.Context(), o, &d)
		if err != nil || r == nil || d.HasErrors() {
			t.Fatal(e, err, d.Diags)
		}
		if outputs == nil {
			outputs = r.Outputs
		}
		for k, a := range r.Outputs {
			if !slices.Equal(a.Data, outputs[k].Data) {
				t.Errorf("output %d of engine %v is not that of %v", k, e, list[0])
			}
		}
	}
	return outputs
}
