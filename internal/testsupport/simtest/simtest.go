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

// Run simulates a model. It fails the test after an error, but not after diagnostics.
func Run(t *testing.T, o simulate.Options) (*simulate.Result, *diag.List) {
	t.Helper()
	var d diag.List
	r, err := simulate.Run(context.Background(), o, &d)
	if err != nil {
		t.Fatalf("engine %s: %v", o.Engine, err)
	}
	return r, &d
}

// RunClean simulates a model, and fails the test after any diagnostic.
func RunClean(t *testing.T, o simulate.Options) *simulate.Result {
	t.Helper()
	r, d := Run(t, o)
	samplefiles.WantClean(t, d, nil)
	return r
}

// RunOK simulates a model, and fails the test after a diagnostic that is an error.
func RunOK(t *testing.T, o simulate.Options) *simulate.Result {
	t.Helper()
	r, d := Run(t, o)
	if d.Failed() {
		t.Fatalf("engine %s: %v", o.Engine, d.Diags)
	}
	return r
}

// Agree runs a simulation on several engines, compares the outputs with want, and returns the results.
func Agree(t *testing.T, list []engines.Engine, o simulate.Options, want []*npy.Array) (results []*simulate.Result) {
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

// QuickEngines lists the engines that the tier has time for.
func QuickEngines(t *testing.T) []engines.Engine {
	list := []engines.Engine{engines.Reference, engines.Eval, engines.Cycle}
	if tier.Quick() {
		return list
	}
	return append(list, engines.CSim)
}

// SameByEngines holds that engines give the same outputs, and returns those.
func SameByEngines(t *testing.T, o simulate.Options, list ...engines.Engine) (outputs []*npy.Array) {
	t.Helper()
	for _, e := range list {
		var d diag.List
		o.Engine = e
		r, err := simulate.Run(t.Context(), o, &d)
		if err != nil || r == nil || d.Failed() {
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
