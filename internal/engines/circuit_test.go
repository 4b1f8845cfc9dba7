package engines_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"path"
	"slices"
	"testing"

	"hlsgen/boards"
	"hlsgen/folding"
	"hlsgen/frontend"
	"hlsgen/hlslib/dwc"
	"hlsgen/internal/circuit"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/testsupport/layertest"
	"hlsgen/internal/testsupport/models"
	"hlsgen/internal/testsupport/rnntest"
	"hlsgen/internal/testsupport/tier"
	"hlsgen/rtlsim"
)

// inputs returns random frames for a design, of all lengths in turn if it takes sequences.
func inputs(t *testing.T, d *dataflow.Design, n int) (frames [][]dataflow.Tensor) {
	t.Helper()
	r := rand.New(rand.NewPCG(uint64(n), 9))
	for f := range n {
		at := d
		if l := d.Model.Lengths; l != nil {
			var err error
			if at, err = d.AtSequenceLength(l.Min + f%(l.Max-l.Min+1)); err != nil {
				t.Fatal(err)
			}
		}
		var frame []dataflow.Tensor
		for _, s := range at.Model.Graph.In {
			typ := at.Model.Graph.Streams[s].Type
			x := dataflow.Tensor{Shape: typ.Shape, Data: make([]int64, typ.Shape.ElementCount())}
			for i := range x.Data {
				for ok := false; !ok; ok = typ.Elem.Holds(x.Data[i]) {
					x.Data[i] = layertest.RandomInRange(r, typ.ChannelRange(i%typ.Shape.ChannelCount()))
				}
			}
			frame = append(frame, x)
		}
		frames = append(frames, frame)
	}
	return frames
}

// sameWords checks that circuits put the same words on every stream as engine cycle, in the same order.
func sameWords(t *testing.T, d *dataflow.Design, n int) {
	t.Helper()
	in := inputs(t, d, n)
	streams := len(d.Model.Graph.Streams)
	var cycle, circuits bytes.Buffer
	collect := func(to [][]dataflow.Tensor) func(frame, s int, x dataflow.Tensor) error {
		return func(frame, s int, x dataflow.Tensor) error {
			to[frame][s] = dataflow.Tensor{Shape: x.Shape, Data: slices.Clone(x.Data)}
			return nil
		}
	}
	list := func() (all [][]dataflow.Tensor) {
		for range in {
			all = append(all, make([]dataflow.Tensor, streams))
		}
		return all
	}
	got, want := list(), list()
	trace, err := rtlsim.RunFrames(t.Context(), d, in, rtlsim.Options{OnTensor: collect(want)})
	if err != nil {
		t.Fatal(err)
	}
	out, err := rtlsim.ComputeOutputsByCircuits(t.Context(), d, in, collect(got))
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(&circuits, got, out)
	fmt.Fprint(&cycle, want, trace.Outputs)
	if len(want[0][0].Data) == 0 || !bytes.Equal(circuits.Bytes(), cycle.Bytes()) {
		t.Errorf("the streams carry %.2000s, want %.2000s", circuits.Bytes(), cycle.Bytes())
	}
}

// folded returns a design of a model. The search is that for C++, which needs no circuits; a design that cannot
// deadlock there cannot where layers stall by credit (docs/clock.md).
func folded(t *testing.T, m *dataflow.Model, goal folding.Goal) *dataflow.Design {
	t.Helper()
	target := rtlTarget(t)
	target.Backend = dataflow.BackendHLS
	var d diag.List
	design, err := folding.FindBestDesign(t.Context(), m, target, goal, &d)
	if err != nil || design == nil {
		t.Fatal(err, d.Diags)
	}
	design.Target.Backend = dataflow.BackendRTL
	return design.Design
}

// rtlTarget returns a target whose layers stall by credit.
func rtlTarget(t *testing.T) dataflow.Target {
	t.Helper()
	board, err := boards.FindBoard("zcu104")
	if err != nil {
		t.Fatal(err)
	}
	return dataflow.Target{Board: board, ClockMHz: 200, IO: dataflow.HostIOStream, Backend: dataflow.BackendRTL}
}

// TestCircuitsOfModels compares the circuits of the repository's models with engine cycle: perceptrons, convolutions,
// residual and recurrent networks, minifloats.
func TestCircuitsOfModels(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	count := 0
	for _, m := range models.InRepository(t) {
		if !slices.Contains(m.Files, "model.onnx") || m.HasOp(t, "model.onnx", "LSTM") {
			continue // LSTM lacks formats without a configuration
		}
		count++
		t.Run(path.Base(m.Name), func(t *testing.T) {
			t.Parallel()
			var d diag.List
			im, err := frontend.Import("model.onnx", m.Read(t, "model.onnx"), frontend.Options{}, &d)
			if err != nil || im == nil || im.Model == nil {
				t.Fatal(err, d.Diags)
			}
			sameWords(t, folded(t, im.Model, folding.Goal{MaxCycles: 100_000}), 2)
		})
	}
	if count < 12 {
		t.Errorf("%d models, want 12", count)
	}
}

// TestCircuitsOfSequences compares the circuits of networks for sequences of 1 to 5 steps with engine cycle.
func TestCircuitsOfSequences(t *testing.T) {
	t.Parallel()
	for _, twice := range []bool{false, true} {
		var d diag.List
		opt := frontend.Options{Lengths: &frontend.AxisLengthRange{Axis: "T", Min: 1, Max: 5}}
		im, err := frontend.Import("echo.onnx", rnntest.Echoing(t, 5, twice).ONNX(), opt, &d)
		if err != nil || im == nil || im.Model == nil {
			t.Fatal(err, d.Diags)
		}
		sameWords(t, folded(t, im.Model, folding.Goal{}), 12)
	}
}

// chain returns a design of layers one behind the other, each in its first fold.
func chain(t *testing.T, in dataflow.StreamType, layers ...dataflow.Op) *dataflow.Design {
	t.Helper()
	g := &dataflow.Graph{In: []int{0}, Streams: []*dataflow.Stream{{Type: in}}, Out: []int{len(layers)}}
	d := &dataflow.Design{Model: &dataflow.Model{Name: "chain", Graph: g}, Target: rtlTarget(t),
		FIFO: slices.Repeat([]dataflow.FIFO{{Depth: 2, Memory: dataflow.MemorySRL}}, len(layers)+1)}
	for i, o := range layers {
		op, out, err := o.Bind([]dataflow.StreamType{g.Streams[i].Type})
		if err != nil {
			t.Fatal(err)
		}
		g.Nodes = append(g.Nodes, &dataflow.Node{Name: fmt.Sprint(op.Kind(), "_", i), Op: op, In: []int{i},
			Out: []int{i + 1}})
		g.Streams = append(g.Streams, &dataflow.Stream{ID: i + 1, Type: out[0]})
		for f := range op.Folds() {
			d.Folds = append(d.Folds, f)
			break
		}
	}
	return d
}

// TestCircuitsOfWideWords compares the circuits around a stream with words of 4,096 bits with engine cycle.
func TestCircuitsOfWideWords(t *testing.T) {
	t.Parallel()
	d := chain(t, layertest.FullType(layertest.Int(4), 3, 1024), dwc.New(dwc.Params{In: 64, Out: 1024}),
		dwc.New(dwc.Params{In: 1024, Out: 32}))
	if w := d.PortOfStream(1).Width(); w != 4096 {
		t.Errorf("words of %d bits", w)
	}
	sameWords(t, d, 3)
}

// altered is a layer with a defect in its circuit.
type altered struct {
	dataflow.Op
	alter func(m *circuit.Module)
}

func (o altered) Circuit(f dataflow.Fold, t dataflow.Target) *circuit.Module {
	m := o.Op.(dataflow.HasCircuit).Circuit(f, t)
	o.alter(m)
	return m
}

// TestCircuitsThatFail checks that circuits which do not do what their loop says end in an error with the layer's name.
func TestCircuitsThatFail(t *testing.T) {
	t.Parallel()
	always := func(s *circuit.StreamPort, m *circuit.Module) { s.When = m.Fire }
	rarely := func(m *circuit.Module) { m.In[0].When = m.Out[0].When }
	for want, c := range map[string]struct {
		node  int
		alter func(m *circuit.Module)
	}{
		"1, frame 0: iteration 1: input 0 has no word left": {1, func(m *circuit.Module) { always(&m.In[0], m) }},
		"0, frame 0: 3 words of input 0 are left":           {0, rarely},
		"0, frame 0: 4 words at output 0, want 1":           {0, func(m *circuit.Module) { always(&m.Out[0], m) }},
	} {
		d := chain(t, layertest.FullType(layertest.Int(4), 1, 8), dwc.New(dwc.Params{In: 2, Out: 8}),
			dwc.New(dwc.Params{In: 8, Out: 1}))
		d.Model.Graph.Nodes[c.node].Op = altered{d.Model.Graph.Nodes[c.node].Op, c.alter}
		_, err := rtlsim.ComputeOutputsByCircuits(t.Context(), d, inputs(t, d, 1), nil)
		if err == nil || err.Error() != "layer StreamingDataWidthConverter_"+want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	d := chain(t, layertest.FullType(layertest.Int(4), 1, 8), dwc.New(dwc.Params{In: 2, Out: 8}))
	d.Target.Backend = dataflow.BackendHLS
	if _, err := rtlsim.ComputeOutputsByCircuits(t.Context(), d, inputs(t, d, 1), nil); err == nil {
		t.Error("it runs circuits of a design in C++")
	}
}
