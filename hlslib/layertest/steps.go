package layertest

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"hlsgen/boards"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/tier"
	"hlsgen/rtlsim"
	"hlsgen/templates"
	"hlsgen/templates/rtltest"
	"hlsgen/templates/synthtest"
)

// A Mutant is other text in a file of a project, which must not pass. Path is how the file's path ends.
type Mutant struct{ Path, From, To string }

// Steps holds layers for sequences of any length against the contract: the inputs of a case are those of the longest
// sequence, and their first axes are time where timed says so. Sequences of all lengths, one after the other, up and
// down again, give in the clock simulator and in compiled C++ what Eval of the layer for each length gives; and a
// second compiler looks at them. Mutants are tried with the last case, which is the only one of short tests; Verilator
// reads its written top, and in the long tier simulates it.
func Steps(t *testing.T, timed func(input int) bool, mutants []Mutant, cases ...Case) {
	t.Helper()
	for i, c := range cases {
		if tier.Quick() && i < len(cases)-1 {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			files := stepsProject(t, c, timed)
			t.Run("synthesis", func(t *testing.T) {
				if !tier.Long() && i < len(cases)-1 {
					t.Skip("the last case stands for all below the long tier")
				}
				synthtest.Check(t, files, synthtest.Promises(files))
			})
			tier.Needs(t, "g++")
			try := func(what string, files templates.Files, want bool) {
				o, err := templates.RunCSim(t.Context(), files, templates.CSim{})
				if err != nil && want {
					t.Fatal(err)
				}
				if passed := err == nil && o.Passed; passed != want {
					t.Errorf("%s: passed is %v, %v", what, passed, err)
				}
			}
			try("C++", files, true)
			if tier.Quick() || i < len(cases)-1 {
				return
			}
			for _, m := range mutants {
				try(m.To, m.of(t, files), false)
			}
			t.Run("RTL", func(t *testing.T) {
				rtltest.Lint(t, files)
				if !tier.Long() {
					return
				}
				b := rtltest.Build(t, files)
				for pauses := range 4 {
					if said := b.Run(t, pauses); !rtltest.Passed(said) {
						t.Errorf("pauses=%d: %s", pauses, said)
					}
				}
			})
		})
	}
}

// of is a project with the mutant's text.
func (m Mutant) of(t *testing.T, files templates.Files) templates.Files {
	t.Helper()
	files = slices.Clone(files)
	for i, f := range files {
		if strings.HasSuffix(f.Path, "/"+m.Path) && bytes.Contains(f.Data, []byte(m.From)) {
			files[i].Data = bytes.Replace(f.Data, []byte(m.From), []byte(m.To), 1)
			return files
		}
	}
	t.Fatalf("%s has no %q", m.Path, m.From)
	return nil
}

// stepsProject simulates a case, and writes it.
func stepsProject(t *testing.T, c Case, timed func(input int) bool) templates.Files {
	t.Helper()
	op, out, err := c.Op.Bind(c.In)
	if err != nil {
		t.Fatal(err)
	}
	folds := slices.Collect(op.Folds())
	f := folds[len(folds)/2]
	b := bound{Case: c, op: op, out: out}
	d := b.design(f, 64)
	if d.Target.Board, err = boards.Find("zcu104"); err != nil {
		t.Fatal(err)
	}
	l := &dataflow.Lengths{Min: 1}
	for i, in := range c.In {
		axis := -1
		if timed(i) {
			axis, l.Max = 0, in.Shape[0]
		}
		l.In = append(l.In, axis)
	}
	d.Model.Lengths, d.Model.Name = l, "steps"
	r := rand.New(rand.NewPCG(uint64(l.Max), 77))
	var given, streams, want [][]dataflow.Tensor
	for k := range 2 * l.Max {
		at, err := d.At(1 + min(k, 2*l.Max-1-k))
		if err != nil {
			t.Fatal(err)
		}
		var types []dataflow.Type
		for _, s := range at.Model.Graph.In {
			types = append(types, at.Model.Graph.Streams[s].Type)
		}
		in := frame(r, types, k)
		all, err := at.Model.Graph.Eval(context.Background(), in)
		if err != nil {
			t.Fatal(err)
		}
		given, streams, want = append(given, in), append(streams, all), append(want, all[len(in):])
	}
	trace, err := rtlsim.Run(t.Context(), d, given, rtlsim.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for k := range want {
		if fmt.Sprint(trace.Outputs[k]) != fmt.Sprint(want[k]) {
			t.Errorf("sequence %d: simulated %v, want %v", k, trace.Outputs[k], want[k])
		}
	}
	files, err := templates.Project(d, templates.Vectors{Frames: streams}, templates.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
