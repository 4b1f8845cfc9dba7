package build

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"hlsgen/frontend"
	"hlsgen/internal/crash"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/engines"
	"hlsgen/internal/samples"
	"hlsgen/internal/testsupport/rnntest"
	"hlsgen/internal/testsupport/tier"
	"hlsgen/internal/verify"
)

// lengthsOptions are what a network of sequences of different lengths is imported with.
func lengthsOptions(n *rnntest.Network) frontend.Options {
	opt := recurrentOptions(n)
	opt.Samples = 0
	switch {
	case !n.Counted:
		opt.Lengths = &frontend.AxisLengthRange{Axis: "T", Min: 1, Max: n.Steps}
	case n.Lengths:
		opt.Dims = map[string]int{"T": n.Steps}
	}
	return opt
}

// counted says how many steps count, where that is an input of a network.
func counted(n *rnntest.Network, s rnntest.Sample, steps int) rnntest.Sample {
	if !n.Counted {
		return s
	}
	return slices.Insert(s, len(n.Inputs), []float64{float64(steps)})
}

// lengthsRuns draws a sequence of every length in a row, up and down again, and what a network makes of them.
func lengthsRuns(n *rnntest.Network, m *dataflow.Model, seed uint64) (runs *samples.RunInputs,
	want []engines.ModelTensors,
	err error) {
	runs = &samples.RunInputs{}
	choices := rnntest.Seeded(seed)
	var list []rnntest.Sample
	for i := range 2 * n.Steps {
		runs.Lengths = append(runs.Lengths, 1+min(i, 2*n.Steps-1-i))
		list = append(list, n.SampleOf(choices, runs.Lengths[i]))
	}
	for i, outputs := range n.Run(list) {
		at, err := m.Lengths.Of(runs.Lengths[i])
		if err != nil {
			return nil, nil, err
		}
		var in, out engines.ModelTensors
		for k, data := range counted(n, slices.Clone(list[i]), runs.Lengths[i]) {
			in = append(in, dataflow.RealTensor{Shape: at.In[k].Shape, Data: data})
		}
		for k, data := range outputs {
			out = append(out, dataflow.RealTensor{Shape: at.Out[k].Shape, Data: data})
		}
		runs.In, want = append(runs.In, in), append(want, out)
	}
	return runs, want, nil
}

// lengthsAgree builds a network and compares what its engines compute of sequences of all lengths in a row.
func lengthsAgree(ctx context.Context, n *rnntest.Network, seed uint64, compiled bool) (err error) {
	defer crash.RecoverPanicIntoError(&err)
	var d diag.List
	ref := frontend.ImportForReference("recurrent.onnx", n.ONNX(), lengthsOptions(n), &d)
	if ref.Model == nil {
		return &refused{d.Diags}
	}
	runs, want, err := lengthsRuns(n, ref.Model, seed)
	if err != nil {
		return err
	}
	got, err := engines.RunReference(ctx, ref.Model, runs)
	if err == nil {
		err = verify.CompareModelOutputs("engine reference", got, want)
	}
	if err != nil {
		return err
	}
	r, err := recurrentBuilt(ctx, n, lengthsOptions(n), func(*dataflow.Graph) map[string]map[string]any { return nil })
	if err != nil {
		return err
	}
	if seed%2 == 0 {
		wide, err := split(ctx, rand.New(rand.NewPCG(seed, 3)), r.Design, r.Imported.Model)
		if err != nil {
			return err
		}
		if wide != nil {
			r.Design = wide
		}
	}
	streams, err := verify.RunForDifferentSequenceLengths(ctx, r.Design.Design, runs)
	if err != nil || !compiled {
		return err
	}
	return recurrentCompiled(ctx, r.Design.Design, streams)
}

// TestRandomLengths draws recurrent networks and runs sequences of every length, one after the other: the outputs of
// all engines are those that exact arithmetic gives, step by step.
func TestRandomLengths(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	axes := rnntest.All
	axes.Pieces, axes.Turns, axes.Unrolled = false, false, false // a file that writes steps out has one length
	networks, compiled := tier.CasesToRun(24), tier.CasesToRun(4)
	switch {
	case tier.Long():
		networks, compiled = 400, 60
	case tier.Quick():
		compiled = 0
	}
	for seed := range uint64(networks) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			axes := axes
			axes.Pieces = seed%2 == 0 // another network; its samples are whole sequences here
			n := rnntest.Draw(rnntest.Seeded(seed), axes)
			n.Pieces = false
			if slices.ContainsFunc(n.Layers, func(l *rnntest.Layer) bool { return l.Form == "Unrolled" }) {
				return // what is written out step by step has one length
			}
			n.Lengths, n.Steps = true, max(3, n.Steps)
			if !slices.ContainsFunc(n.Layers, func(l *rnntest.Layer) bool { return l.Form != "Node" }) && seed%3 > 0 {
				n.Counted, n.Lengths = true, seed%3 == 1
				if n.Form != "flat" { // which has one sample
					n.Side = int(seed % 4)
				}
			}
			err := lengthsAgree(context.Background(), n, seed, seed < uint64(compiled))
			var no *refused
			fixed := errors.As(err, &no) && slices.ContainsFunc(no.list, func(x diag.Diag) bool {
				return x.Code == diag.SequenceLengthsUnfit
			})
			// a convolution over time, and the step behind the last one that counts
			across := n.Front != nil && n.Front.Kernel > 0 || n.Counted &&
				slices.ContainsFunc(n.Outputs, func(o rnntest.Output) bool { return o.Of == "last" })
			switch {
			case across && !fixed:
				t.Errorf("%v: %v, want %s", n.Has, err, diag.SequenceLengthsUnfit)
			case !across && err != nil:
				t.Errorf("%v: %v", n.Has, err)
			}
		})
	}
}

// deadUnits gives networks, by seeds, whose sequences are quantised with constants among their elements.
func deadUnits(seeds uint64) iter.Seq2[uint64, *rnntest.Network] {
	axes := rnntest.All
	axes.Pieces, axes.Turns, axes.Unrolled = false, false, false
	dead := []string{"a dead unit", "a dead row", "a dead gate", "a dead matrix"}
	return func(yield func(uint64, *rnntest.Network) bool) {
		for seed := range seeds {
			n := rnntest.Draw(rnntest.Seeded(seed), axes)
			if n.Front == nil && slices.Contains(n.Has, "requantised") && n.Form != "flat" &&
				slices.ContainsFunc(dead, func(what string) bool { return slices.Contains(n.Has, what) }) &&
				!yield(seed, n) {
				return
			}
		}
	}
}

// TestLengthsOfDeadUnits has sequences that are quantised with constants among their elements, which no unit makes: in
// whatever order the file has steps and samples, steps stay steps.
func TestLengthsOfDeadUnits(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	seeds := uint64(tier.CasesToRun(1000))
	if tier.Long() {
		seeds = 5000
	}
	for seed, n := range deadUnits(seeds) {
		n.Lengths, n.Steps = true, max(3, n.Steps)
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			if seed < 100 || tier.Long() {
				if err := lengthsAgree(context.Background(), n, seed, false); err != nil {
					t.Errorf("%v: %v", n.Has, err)
				}
				return
			}
			var d diag.List
			im, err := frontend.Import("m.onnx", n.ONNX(), lengthsOptions(n), &d)
			if err != nil || im.Model == nil {
				t.Errorf("%v: %v %v", n.Has, err, &refused{d.Diags})
			}
		})
	}
}

// TestTurnsOfDeadUnits has the same where samples take turns.
func TestTurnsOfDeadUnits(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	for seed, n := range deadUnits(uint64(tier.CasesToRun(1000))) {
		if n.Turns == 1 {
			n.Turns = 2
		}
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			var d diag.List
			im, err := frontend.Import("m.onnx", n.ONNX(), recurrentOptions(n), &d)
			none := slices.ContainsFunc(d.Diags, func(x diag.Diag) bool {
				return strings.HasPrefix(x.Msg, "there is no recurrence")
			})
			if err != nil || im.Model == nil && !none {
				t.Errorf("%v: %v %v", n.Has, err, &refused{d.Diags})
			}
		})
	}
}
