package layertest

import (
	"fmt"
	"slices"
	"testing"

	"hlsgen/internal/dataflow"
	"hlsgen/templates"
	"hlsgen/templates/synthtest"
)

// A Path is the longest path of a fold from its kernel's state to the next one, which clang has compiled.
type Path struct {
	Name   string // of the case, and its fold
	Op     dataflow.Op
	Fold   dataflow.Fold
	Target dataflow.Target
	Kernel *synthtest.Kernel
}

// Paths compiles the folds of all cases.
func Paths(t testing.TB, cases ...Case) (list []Path) {
	t.Helper()
	var programs []program
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
			list = append(list, Path{fmt.Sprintf("%s %+v", c.Name, f), b.op, f, b.target(), nil})
		}
	}
	trials := make([]templates.Trial, len(programs))
	for i, p := range programs {
		in, out := p.op.Ports(p.fold)
		trials[i] = templates.Trial{Layer: templates.Layer{Name: fmt.Sprintf("%s_%04d", p.op.Kind(), i),
			Origin: []string{p.Name}, Instance: p.op.Emit(p.fold, p.target()), In: in, Out: out},
			In: make([][]dataflow.Tensor, len(in)), Out: make([][]dataflow.Tensor, len(out))}
	}
	files, err := templates.Bench(trials)
	if err != nil {
		t.Fatal(err)
	}
	kernels, err := synthtest.Kernels(t.Context(), t.TempDir(), files)
	if err != nil {
		t.Fatal(err)
	}
	for i := range list {
		at := slices.IndexFunc(kernels, func(k *synthtest.Kernel) bool { return k.Process == trials[i].Name })
		if at < 0 {
			t.Fatalf("no process %s", trials[i].Name)
		}
		list[i].Kernel = kernels[at]
	}
	return list
}
