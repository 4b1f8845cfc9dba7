package layertest

import (
	"fmt"
	"slices"
	"testing"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/testsupport/synthtest"
	"hlsgen/templates"
)

// A KernelPath is a fold's kernel, compiled by clang, in which a test measures the longest path from one state to the
// next.
type KernelPath struct {
	Name   string // of the case and its fold
	Op     dataflow.Op
	Fold   dataflow.Fold
	Target dataflow.Target
	Kernel *synthtest.Kernel

	Sequence bool // the kernel takes sequences of any length
}

// CompileKernelPaths compiles the folds of all cases.
func CompileKernelPaths(t testing.TB, cases ...Case) (list []KernelPath) {
	t.Helper()
	programs := folded(t, cases)
	trials := make([]templates.LayerTestCase, len(programs))
	for i, p := range programs {
		trials[i] = silent(templates.Layer{Instance: p.op.Emit(p.fold, p.target())}, p.op, p, i)
	}
	return compiled(t, programs, trials)
}

// SequencePaths compiles the folds of all cases for sequences of any length. The first axis of the first input must
// be time, with the length of the longest sequence.
func SequencePaths(t testing.TB, cases ...Case) (list []KernelPath) {
	t.Helper()
	programs := folded(t, cases)
	trials := make([]templates.LayerTestCase, len(programs))
	for i, p := range programs {
		longest := p.In[0].Shape[0]
		one, err := step(p.bound, longest)
		if err != nil {
			t.Fatalf("%s: %v", p.Name, err)
		}
		instance := p.op.(dataflow.TakesSequenceEnds).EmitSteps(p.fold, p.target(), longest)
		trials[i] = silent(templates.Layer{Instance: instance, Steps: true}, one, p, i)
	}
	list = compiled(t, programs, trials)
	for i := range list {
		list[i].Sequence = true
	}
	return list
}

// folded binds all cases, and lists their folds.
func folded(t testing.TB, cases []Case) (programs []program) {
	t.Helper()
	for _, c := range cases {
		b := &bound{Case: c}
		var err error
		if b.op, b.out, err = c.Op.Bind(c.In); err != nil {
			t.Fatalf("%s: %v", c.Name, err)
		}
		if err := b.listFolds(); err != nil {
			t.Fatalf("%s: %v", c.Name, err)
		}
		for _, f := range b.folds {
			programs = append(programs, program{b, f})
		}
	}
	return programs
}

// silent returns a trial of a layer without frames, whose ports carry words as op's do.
func silent(l templates.Layer, op dataflow.Op, p program, number int) templates.LayerTestCase {
	l.Name, l.Origin = fmt.Sprintf("%s_%04d", op.Kind(), number), []string{p.Name}
	l.In, l.Out = op.Ports(p.fold)
	none := func(ports []dataflow.Port) [][]dataflow.Tensor { return make([][]dataflow.Tensor, len(ports)) }
	return templates.LayerTestCase{Layer: l, In: none(l.In), Out: none(l.Out)}
}

// step returns a layer bound to a single time step of its first input.
func step(b *bound, longest int) (dataflow.Op, error) {
	op, in := b.op, slices.Clone(b.In)
	in[0].Shape = slices.Clone(in[0].Shape)
	in[0].Shape[0] = 1
	if stretch := op.Describe().Stretch; stretch != nil {
		var err error
		if op, err = stretch(longest, 1); err != nil {
			return nil, err
		}
	}
	op, _, err := op.Bind(in)
	return op, err
}

// compiled returns the kernels of the programs, whose trials are given.
func compiled(t testing.TB, programs []program, trials []templates.LayerTestCase) (list []KernelPath) {
	t.Helper()
	files, err := templates.GenerateLayerBench(trials)
	if err != nil {
		t.Fatal(err)
	}
	kernels, err := synthtest.Kernels(t.Context(), t.TempDir(), files)
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range programs {
		at := slices.IndexFunc(kernels, func(k *synthtest.Kernel) bool { return k.Process == trials[i].Name })
		if at < 0 {
			t.Fatalf("no process %s", trials[i].Name)
		}
		list = append(list, KernelPath{fmt.Sprintf("%s %+v", p.Name, p.fold), p.op, p.fold, p.target(), kernels[at],
			false})
	}
	return list
}
