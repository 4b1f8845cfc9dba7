package delay_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"hlsgen/hlslib/mvau"
	"hlsgen/hlslib/price/delay"
	"hlsgen/internal/circuit"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
	"hlsgen/internal/testsupport/layertest"
	"hlsgen/internal/testsupport/operatorlevel"
	"hlsgen/internal/testsupport/tier"
)

// TestOperators counts how many public depths a chain, a graph of operators and a circuit of gates give. The chain and
// the graph are FINN's layer, and the circuit is hlsgen's layer of the same size. docs/RATIONALE.md has the rows.
func TestOperators(t *testing.T) {
	tier.NotQuick(t)
	t.Parallel()
	var points []report
	for _, p := range sweeps {
		points = append(points, report{family: delay.FamilyUltraScale, mhz: 200, m: p.finn(),
			depth: p.clocks - p.trips})
	}
	page, err := os.ReadFile("../../../docs/RATIONALE.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []string{
		alike(t, "public sweeps of FINN's MVAU", sweepCalibration(t), points),
		alike(t, "public reports of FINN's MVAU", nil, reports),
	} {
		if !strings.Contains(string(page), row) {
			t.Errorf("docs/RATIONALE.md lacks the row\n%s", row)
		}
	}
}

// alike returns the row of the table of depths for some reports.
func alike(t *testing.T, name string, c *delay.DelayCalibration, list []report) string {
	var chain, operators, gates int
	for _, p := range list {
		clock := delay.NewStageDelayModel(p.family, p.mhz, c, delay.DelayRangeExpected)
		target := dataflow.Target{ClockMHz: p.mhz, Calibration: c}
		target.Board.DSPType = string(p.family)
		for n, got := range map[*int]int{&chain: p.m.chain(clock), &operators: p.m.operators(clock),
			&gates: operatorlevel.CircuitClocks(p.m.circuit(t, target), clock, true)} {
			if got == p.depth {
				*n++
			}
		}
	}
	return fmt.Sprintf("| %s | %d | %d | %d | %d |", name, len(list), chain, operators, gates)
}

// operators returns the depth of the layer as a graph of operators.
func (m finn) operators(clock delay.StageDelayModel) int {
	n, _ := operatorlevel.FINNShape{SF: m.sf, NF: m.nf, SIMD: m.simd, Weight: m.weight, In: m.in, Acc: m.acc,
		Thresholds: m.thresholds, DSP: m.dsp, Table: m.rom, SignedCode: m.signed}.Graph().LatencyClocks(clock)
	return n
}

// circuit returns the circuit of hlsgen's layer of that size, with drawn weights and thresholds.
func (m finn) circuit(t *testing.T, target dataflow.Target) *circuit.Module {
	elem := func(width int, kind num.TypeKind) num.Type {
		if m.weight == 1 && (width == m.weight || m.in == 1) {
			kind = num.KindBipolar
		}
		return num.Type{Kind: kind, Width: width}
	}
	r := rand.New(rand.NewPCG(1, 1))
	in := layertest.FullType(elem(m.in, num.KindUInt), m.sf*m.simd)
	p := mvau.Params{Weights: layertest.Weights(r, m.nf, m.sf*m.simd, elem(m.weight, num.KindInt).Range(), false)}
	for c := range m.nf {
		if m.thresholds == 0 {
			break
		}
		acc, _ := num.DotProductRange(p.Weights[c], in.Range)
		p.Steps = append(p.Steps, stairs(acc, m.thresholds))
	}
	f := dataflow.Fold{PE: 1, SIMD: m.simd, Memory: dataflow.MemoryLUTRAM, Compute: dataflow.MultiplierInLUTs}
	if m.dsp {
		f.Compute = dataflow.MultiplierInDSPs
	}
	return layertest.Bind(t, mvau.New(p), in).(dataflow.HasCircuit).Circuit(f, target)
}

// stairs returns a step function with n breakpoints at equal distances in x, with values from 0 to n.
func stairs(x num.Range, n int) num.StepFunction {
	s := num.StepFunction{Value: []int64{0}}
	for i := range int64(n) {
		s.At = append(s.At, x.Lo+(i+1)*(x.ValueCount()/int64(n+1)))
		s.Value = append(s.Value, i+1)
	}
	return s
}
