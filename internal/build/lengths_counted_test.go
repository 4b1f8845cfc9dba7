package build

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"hlsgen/boards"
	"hlsgen/folding"
	"hlsgen/frontend"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/engines"
	"hlsgen/internal/npy"
	"hlsgen/internal/samples"
	"hlsgen/internal/testsupport/rnntest"
	"hlsgen/internal/testsupport/tier"
	"hlsgen/internal/verify"
	"hlsgen/templates"
)

// TestSequenceLensOfData runs operators of ONNX whose sequence_lens are data: all engines give what the same file
// gives, as it is written, where the lengths are constants, behind the ends of sequences, too.
func TestSequenceLensOfData(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	for i, has := range [][]string{{"LSTM"}, {"GRU"}, {"RNN"}, {"reverse", "output h"},
		{"bidirectional", "output sequence"}, {"two layers"}, {"dense behind", "output sequence"}} {
		for _, fixed := range []bool{true, false} {
			if tier.Quick() && (i%2 > 0 || fixed == (i%4 > 0)) {
				continue
			}
			t.Run(fmt.Sprint(has, fixed), func(t *testing.T) {
				t.Parallel()
				n := countedNetwork(has...)
				n.Lengths = !fixed
				sequenceLens(t, n, has[0] == "bidirectional")
			})
		}
	}
}

// TestSequenceLensOfSamples is the same for files with several samples, side by side, along the first axis or the
// second: each has a length of its own.
func TestSequenceLensOfSamples(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	for i, has := range [][]string{{"LSTM", "time first"}, {"GRU", "samples first"}, {"RNN", "time first"},
		{"reverse", "output h", "time first"}, {"bidirectional", "output sequence", "samples first"},
		{"bidirectional", "output sequence", "output h", "time first"}, {"two layers", "time first"},
		{"states as data", "time first"}, {"states as data", "samples first"}, {"constant states", "time first"},
		{"dense behind", "output sequence", "time first"}} {
		if tier.Quick() && i%3 > 0 {
			continue
		}
		t.Run(fmt.Sprint(has), func(t *testing.T) {
			t.Parallel()
			n := countedNetwork(has...)
			n.Lengths, n.Side = i%2 > 0, 2+i%2
			sequenceLens(t, n, i == 5)
		})
	}
}

// laid is an array of samples, so many at a time side by side along an axis of their shape.
func laid(samples [][]float64, shape []int, axis, side int) (data []float64) {
	inner := dataflow.Shape(shape[axis:]).ElementCount()
	for first := 0; first < len(samples); first += side {
		for at := 0; at < len(samples[0]); at += inner {
			for i := range side {
				data = append(data, samples[first+i][at:at+inner]...)
			}
		}
	}
	return data
}

// sideAxis is the one along which a file has its samples side by side, in a tensor of a rank.
func sideAxis(n *rnntest.Network, rank int) int {
	if rank == 3 && n.Form == "time first" {
		return 1
	}
	return 0
}

// countedNetwork is the first network of ONNX' operators that has all of some things, and can have sequence_lens.
func countedNetwork(has ...string) *rnntest.Network {
	axes := rnntest.Axes{GRU: true, RNN: true, Nodes: true, Data: slices.Contains(has, "states as data")}
	for seed := uint64(0); ; seed++ {
		n := rnntest.Draw(rnntest.Seeded(seed), axes)
		lacks := slices.ContainsFunc(has, func(what string) bool { return !slices.Contains(n.Has, what) })
		written := slices.ContainsFunc(n.Layers, func(l *rnntest.Layer) bool { return l.Form != "Node" })
		last := slices.ContainsFunc(n.Outputs, func(o rnntest.Output) bool { return o.Of == "last" })
		if !lacks && !written && !last && n.Front == nil {
			n.Steps, n.Counted = 4, true
			return n
		}
	}
}

func sequenceLens(t *testing.T, n *rnntest.Network, compiled bool) {
	ctx, lengths := context.Background(), []float64{1, 4, 3, 2, 4, 1}
	choices := rnntest.Seeded(3)
	var data []rnntest.Sample
	for range lengths {
		data = append(data, n.Sample(choices))
	}
	want := writtenLens(t, n, data, lengths)
	var d diag.List
	im, err := frontend.Import("m.onnx", n.ONNX(), lengthsOptions(n), &d)
	if err != nil || im.Model == nil {
		t.Fatal(err, d.Diags)
	}
	arrays := map[string]*npy.Array{}
	for k, in := range im.Model.In {
		var list [][]float64
		for i, sample := range data {
			list = append(list, counted(n, slices.Clone(sample), int(lengths[i]))[k])
		}
		shape, side := slices.Clone(in.Shape), max(1, n.Side)
		axis := sideAxis(n, len(shape))
		if n.Side > 0 {
			shape[axis] = side
		}
		arrays[in.Name] = &npy.Array{DType: in.DType, Shape: append([]int{len(data) / side}, shape...),
			Data: laid(list, in.Shape, axis, side)}
	}
	runs, err := samples.SplitIntoRunsOfLengths(im.Model, arrays, nil)
	if err != nil {
		t.Fatal(err)
	}
	compare := func(engine string, got []engines.ModelTensors, err error) {
		for i := range got {
			for k := range got[i] {
				got[i][k] = runs.PadOutput(k, got[i][k])
			}
		}
		if err == nil {
			err = verify.CompareModelOutputs(engine, got, want)
		}
		if err != nil {
			t.Errorf("%v: %v", n.Has, err)
			return
		}
		for k, out := range im.Model.Out {
			var list []dataflow.RealTensor
			var data [][]float64
			for i := range got {
				list, data = append(list, got[i][k]), append(data, want[i][k].Data)
			}
			a := runs.JoinOutputs(out, list)
			if !slices.Equal(a, laid(data, out.Shape, sideAxis(n, len(out.Shape)), max(1, n.Side))) {
				t.Errorf("%v: output %d of all samples is %v", n.Has, k, a)
			}
			for i, run := range runs.SplitOutputs(out, a) {
				if !slices.Equal(run.Data, data[i]) {
					t.Errorf("%v: output %d of sample %d is %v, want %v", n.Has, k, i, run.Data, data[i])
				}
			}
		}
	}
	got, err := engines.RunReference(ctx, im.Model, runs)
	compare("reference", got, err)
	streams, got, err := engines.RunHostAndEvalKeepingStreams(ctx, im.Model, runs)
	compare("eval", got, err)
	board, _ := boards.FindBoard("zcu104")
	design, err := folding.FindBestDesign(ctx, im.Model, dataflow.Target{Board: board, ClockMHz: 200}, folding.Goal{},
		&d)
	if err != nil || design == nil {
		t.Fatal(err, d.Diags)
	}
	in := engines.SelectStreams(streams, im.Model.Graph.In)
	if streams, err = engines.RunEval(ctx, design.Model, in); err != nil {
		t.Fatal(err)
	}
	if _, err := engines.RunCycle(ctx, design.Design, in, streams, false); err != nil {
		t.Error(err)
	}
	if !compiled {
		return
	}
	files, err := templates.GenerateHLSProject(design.Design, templates.TestVectors{Frames: streams},
		templates.Options{})
	if err == nil {
		_, err = engines.RunCSim(ctx, design.Design, files, streams)
	}
	if err != nil {
		t.Error(err)
	}
}

// writtenLens is what a network gives as it is written, for samples of which so many steps count.
func writtenLens(t *testing.T, n *rnntest.Network, data []rnntest.Sample,
	lengths []float64) (out []engines.ModelTensors) {
	t.Helper()
	constant := *n
	constant.Side = 0
	for i, steps := range lengths {
		constant.Counts = int(steps)
		var d diag.List
		opt := recurrentOptions(n)
		if n.Lengths {
			opt.Dims = map[string]int{"T": n.Steps}
		}
		im := frontend.ImportForReference("m.onnx", constant.ONNX(), opt, &d)
		if im.Model == nil {
			t.Fatal(d.Diags)
		}
		var in engines.ModelTensors
		for k, v := range data[i] {
			in = append(in, dataflow.RealTensor{Shape: im.Model.In[k].Shape, Data: v})
		}
		y, err := im.Model.Reference(in)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, y)
	}
	return out
}
