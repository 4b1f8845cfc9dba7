package operatorlevel_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"hlsgen/boards"
	"hlsgen/frontend"
	"hlsgen/hlslib/price/cost"
	"hlsgen/hlslib/price/luts"
	"hlsgen/internal/circuit"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/testsupport/layertest"
	"hlsgen/internal/testsupport/models"
	"hlsgen/internal/testsupport/operatorlevel"
	"hlsgen/internal/testsupport/randomtest"
	"hlsgen/internal/testsupport/tier"
)

// A layerOf is a bound layer with its inputs.
type layerOf struct {
	op dataflow.Op
	in []dataflow.StreamType
}

// layersOf returns layers by kind: those of the repository's models, and some that are drawn.
func layersOf(t testing.TB) map[string][]layerOf {
	list := map[string][]layerOf{}
	add := func(op dataflow.Op, in []dataflow.StreamType) {
		if kind := op.Kind(); kind == "MVAU" || kind == "Thresholding" || kind == "Pool" {
			list[kind] = append(list[kind], layerOf{op, in})
		}
	}
	for _, m := range models.InRepository(t) {
		if _, err := os.Stat(m.Path("model.onnx")); err != nil {
			continue
		}
		var d diag.List
		model, err := frontend.Import(m.Name, m.Read(t, "model.onnx"), frontend.Options{}, &d)
		if err != nil || model == nil || model.Model == nil {
			continue
		}
		for _, n := range model.Model.Graph.Nodes {
			var in []dataflow.StreamType
			for _, s := range n.In {
				in = append(in, model.Model.Graph.Streams[s].Type)
			}
			add(n.Op, in)
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 40 {
		for _, draw := range []func(*rand.Rand) layertest.Case{randomtest.MVAU, randomtest.DrawRequantMVAU,
			randomtest.Threshold, randomtest.Pool} {
			c := draw(r)
			if op, _, err := c.Op.Bind(c.In); err == nil {
				add(op, c.In)
			}
		}
	}
	return list
}

// foldsOf returns at most twelve of the folds of a layer, evenly spread.
func foldsOf(op dataflow.Op) (list []dataflow.Fold) {
	var all []dataflow.Fold
	for f := range op.Folds() {
		all = append(all, f)
	}
	n := min(12, len(all))
	for i := range n {
		list = append(list, all[i*len(all)/n])
	}
	return list
}

// targets are the devices and clocks at which depths are compared.
func targets(t testing.TB) (list []dataflow.Target) {
	for _, at := range []struct {
		board string
		mhz   float64
	}{{"zcu104", 200}, {"pynq-z1", 100}} {
		b, err := boards.FindBoard(at.board)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, dataflow.Target{Board: b, ClockMHz: at.mhz})
	}
	return list
}

// packs reports whether channels of the fold share DSP slices.
func packs(i dataflow.KernelInstance) bool {
	for _, c := range i.Config {
		if c.Name == "lanes" {
			return true
		}
	}
	return false
}

// A tally counts depths.
type tally struct{ all, operators, packed, gates int }

// count counts the depths of a layer's folds for C++, and how many of them operators and gates give. packed counts
// those from which operators differ by the addition that packed lanes take.
func (n *tally) count(t testing.TB, l layerOf) {
	for _, f := range foldsOf(l.op) {
		for _, target := range targets(t) {
			g, _ := operatorlevel.GraphOf(l.op, l.in, f, target)
			clocks, ok := g.LatencyClocks(target.OperationDelays())
			if !ok {
				continue
			}
			n.all++
			chain := l.op.Loop(f, target).Latency
			if clocks == chain {
				n.operators++
			} else if clocks == chain-1 && packs(l.op.Emit(f, target)) {
				n.packed++
			}
			rtl := target
			rtl.Backend = dataflow.BackendRTL
			own := l.op.(dataflow.HasCircuit).Circuit(f, rtl)
			if operatorlevel.CircuitClocks(own, target.OperationDelays(), false) == chain {
				n.gates++
			}
		}
	}
}

// TestDepths counts depths by kind. docs/RATIONALE.md has the rows.
func TestDepths(t *testing.T) {
	tier.NeedsLong(t)
	t.Parallel()
	page, err := os.ReadFile("../../../docs/RATIONALE.md")
	if err != nil {
		t.Fatal(err)
	}
	layers := layersOf(t)
	for _, kind := range []string{"MVAU", "Thresholding", "Pool"} {
		var n tally
		for _, l := range layers[kind] {
			n.count(t, l)
		}
		packed := ""
		if n.packed > 0 {
			packed = fmt.Sprintf(", and %d but for packed lanes", n.packed)
		}
		row := fmt.Sprintf("| %s, %d layers | %d | %d | %d%s | %d |", kind, len(layers[kind]), n.all, n.all,
			n.operators, packed, n.gates)
		if !strings.Contains(string(page), row) {
			t.Errorf("docs/RATIONALE.md lacks the row\n%s", row)
		}
	}
}

// TestSomeDepths checks that drawn layers without sums of products have the depths of their chains.
func TestSomeDepths(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 1))
	for range 10 {
		for _, draw := range []func(*rand.Rand) layertest.Case{randomtest.Threshold, randomtest.Pool} {
			c := draw(r)
			op, _, err := c.Op.Bind(c.In)
			if err != nil {
				t.Fatal(err)
			}
			var n tally
			if n.count(t, layerOf{op, c.In}); n.operators != n.all {
				t.Errorf("%s of %v: %d of %d depths are those of its chain", op.Kind(), c.In, n.operators, n.all)
			}
		}
	}
}

// BenchmarkDepth measures the depth of a fold of an MVAU, by its chain and by operators.
func BenchmarkDepth(b *testing.B) {
	s := samplesOf(b)[0]
	target := targets(b)[0]
	b.Run("chain", func(b *testing.B) {
		for b.Loop() {
			s.op.Loop(s.fold, target)
		}
	})
	b.Run("operators", func(b *testing.B) {
		for b.Loop() {
			g, _ := operatorlevel.GraphOf(s.op, s.in, s.fold, target)
			g.LatencyClocks(target.OperationDelays())
		}
	})
	b.Run("graph made before", func(b *testing.B) {
		g, _ := operatorlevel.GraphOf(s.op, s.in, s.fold, target)
		for b.Loop() {
			g.LatencyClocks(target.OperationDelays())
		}
	})
}

// TestLowered compares the circuits that graphs are lowered to with those of the layers: their latencies, and the
// lookup tables of all together. docs/RATIONALE.md has the rows.
func TestLowered(t *testing.T) {
	tier.NeedsLong(t)
	t.Parallel()
	page, err := os.ReadFile("../../../docs/RATIONALE.md")
	if err != nil {
		t.Fatal(err)
	}
	target := targets(t)[0]
	target.Backend = dataflow.BackendRTL
	lookupTables := func(m *circuit.Module) (n int) {
		for _, p := range luts.EstimateCircuitCost(m, cost.FabricOf(target.Board)) {
			n += p.LUT
		}
		return n
	}
	layers := layersOf(t)
	for _, kind := range []string{"MVAU", "Thresholding", "Pool"} {
		var all, alike, tables, lowered int
		for _, l := range layers[kind] {
			for _, f := range foldsOf(l.op) {
				g, _ := operatorlevel.GraphOf(l.op, l.in, f, target)
				m, ok := g.Circuit(target.CircuitTiming())
				if !ok || packs(l.op.Emit(f, target)) {
					continue
				}
				own := l.op.(dataflow.HasCircuit).Circuit(f, target)
				if all++; own.Latency == m.Latency {
					alike++
				}
				tables, lowered = tables+lookupTables(own), lowered+lookupTables(m)
			}
		}
		row := fmt.Sprintf("| %s | %d | %d | %d | %d |", kind, all, alike, tables, lowered)
		if !strings.Contains(string(page), row) {
			t.Errorf("docs/RATIONALE.md lacks the row\n%s", row)
		}
	}
}
