package layertest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"hlsgen/boards"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/testsupport/rtltest"
	"hlsgen/internal/testsupport/synthtest"
	"hlsgen/internal/testsupport/tier"
	"hlsgen/rtlsim"
	"hlsgen/templates"
)

// CheckSequences checks layers for sequences of any length against the contract. The inputs of a case are those of the
// longest sequence; the first axis of an input is time if timed says so. The test runs sequences of all lengths, one
// after the other, up and down again. The clock simulator, the compiled C++, the circuits word by word and, clock by
// clock, the SystemVerilog must give what Eval of the layer for each length gives. A second compiler checks the C++,
// too. Mutants are tried with the last case, which is the only one of short tests. Verilator lints its top, and
// simulates it in the long tier. Below that tier, twelve designs represent all in SystemVerilog.
func CheckSequences(t *testing.T, timed func(input int) bool, mutants []Mutant, cases ...Case) {
	t.Helper()
	t.Run("circuit", func(t *testing.T) {
		t.Parallel()
		if tier.Quick() {
			t.Skip("takes some ten seconds of Verilator")
		}
		tier.Needs(t, "verilator", "g++", "make")
		var list []simulated
		for _, c := range cases {
			list = append(list, stepped(t, c, timed)...)
		}
		if !tier.Long() {
			list = spread(list, compiledRTL)
		}
		for i, s := range list {
			for k := range s.design.FIFO {
				s.design.FIFO[k].Depth = 1 + i%3
			}
		}
		if err := runRTL(t.Context(), t.TempDir(), list); err != nil {
			t.Error(err)
		}
	})
	t.Run("words", func(t *testing.T) {
		t.Parallel()
		for _, c := range cases {
			for _, s := range stepped(t, c, timed) {
				if err := s.runCircuits(t.Context()); err != nil {
					t.Errorf("%s: %v", s.name, err)
				}
			}
		}
	})
	for i, c := range cases {
		if tier.Quick() && i < len(cases)-1 {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			files := stepsProject(t, stepped(t, c, timed)[0])
			t.Run("synthesis", func(t *testing.T) {
				if !tier.Long() && i < len(cases)-1 {
					t.Skip("the last case stands for all below the long tier")
				}
				synthtest.Check(t, files, synthtest.Promises(files))
				if err := synthtest.CheckReset(t.Context(), t.TempDir(), files); err != nil {
					t.Error(err)
				}
				if err := synthtest.CheckThreaded(t.Context(), t.TempDir(), "g++", 120, files); err != nil {
					t.Error(err)
				}
			})
			tier.Needs(t, "g++")
			try := func(what string, files templates.ProjectFiles, want bool) {
				o, err := templates.RunCSim(t.Context(), files, templates.CSimOptions{})
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

// stepped returns a case in some of its folds, the middle one first, with sequences of all lengths.
func stepped(t *testing.T, c Case, timed func(input int) bool) (list []simulated) {
	t.Helper()
	op, out, err := c.Op.Bind(c.In)
	if err != nil {
		t.Fatal(err)
	}
	b := bound{Case: c, op: op, out: out}
	folds := slices.Collect(op.Folds())
	for k, at := range []int{len(folds) / 2, 0, len(folds) - 1} {
		if k > 0 && at == len(folds)/2 {
			continue
		}
		d := b.design(folds[at], 64)
		l := &dataflow.SequenceLengths{Min: 1}
		for i, in := range b.In {
			axis := -1
			if timed(i) {
				axis, l.Max = 0, in.Shape[0]
			}
			l.In = append(l.In, axis)
		}
		d.Model.Lengths, d.Model.Name = l, "steps"
		if d.Target.Board, err = boards.FindBoard("zcu104"); err == nil {
			err = d.Model.Graph.TakeAnySequenceLength(l)
		}
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, sequences(t, fmt.Sprintf("%s, fold %+v", c.Name, folds[at]), d))
	}
	return list
}

// sequences returns a design with sequences of all lengths.
func sequences(t *testing.T, name string, d *dataflow.Design) simulated {
	t.Helper()
	s, longest := simulated{name: name, design: d}, d.Model.Lengths.Max
	r := rand.New(rand.NewPCG(uint64(longest), 77))
	for k := range 2 * longest {
		at, err := d.AtSequenceLength(1 + min(k, 2*longest-1-k))
		if err != nil {
			t.Fatal(err)
		}
		g := at.Model.Graph
		var types []dataflow.StreamType
		for _, s := range g.In {
			types = append(types, g.Streams[s].Type)
		}
		in := frame(r, types, k)
		all, err := g.EvalFirstFrameByStream(context.Background(), in)
		if err != nil {
			t.Fatal(err)
		}
		s.in, s.streams = append(s.in, in), append(s.streams, all)
	}
	return s
}

// stepsProject simulates a design, and returns its project.
func stepsProject(t *testing.T, s simulated) templates.ProjectFiles {
	t.Helper()
	trace, err := rtlsim.RunFrames(t.Context(), s.design, s.in, rtlsim.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for k, all := range s.streams {
		if want := all[len(s.in[k]):]; fmt.Sprint(trace.Outputs[k]) != fmt.Sprint(want) {
			t.Errorf("sequence %d: simulated %v, want %v", k, trace.Outputs[k], want)
		}
	}
	files, err := templates.GenerateHLSProject(s.design, templates.TestVectors{Frames: s.streams}, templates.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
