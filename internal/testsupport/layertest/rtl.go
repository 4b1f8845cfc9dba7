package layertest

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/testsupport/tier"
	"hlsgen/rtlsim"
	"hlsgen/templates"
	"hlsgen/templates/rtl"
)

// compiledRTL is the number of folds side by side in one bench.
const compiledRTL = 12

// Verilator takes minutes for layers with thousands of bits, or with dozens of streams. So the ports of a layer have at
// most rtlBits bits in total, where each port counts rtlStream bits more.
const rtlBits, rtlStream = 1024, 16

// narrow returns the programs within these limits, or the first program if there are none.
func narrow(programs []program) []program {
	list := slices.DeleteFunc(slices.Clone(programs), func(p program) bool {
		in, out := p.op.Ports(p.fold)
		bits := 0
		for _, port := range slices.Concat(in, out) {
			bits += port.Width() + rtlStream
		}
		return bits > rtlBits
	})
	if len(list) == 0 {
		return programs[:1]
	}
	return list
}

// checkRTL compares folds in SystemVerilog with Eval, word by word, and with the simulator, clock by clock: at full
// speed and with both ends stalling. These are a covering set of the narrow folds. In the long tier they are all of
// them, and some of any width.
func checkRTL(t *testing.T, programs []program) {
	tier.Needs(t, "verilator", "g++", "make")
	list := narrow(programs)
	if tier.Long() {
		list = append(list, spread(programs, compiledRTL)...)
	} else {
		list = cover(list, program.circuitOptions)
	}
	for some := range slices.Chunk(list, compiledRTL) {
		if err := runRTL(t.Context(), t.TempDir(), simulations(some)); err != nil {
			t.Error(err)
		}
	}
}

// rtlPaces are the paces at which benches run.
var rtlPaces = []struct{ in, out rtlsim.HostSlowdown }{
	{}, {in: rtlsim.HostSlowdown{Stall: 40, Seed: 1}}, {out: rtlsim.HostSlowdown{Stall: 60, Seed: 2}},
	{in: rtlsim.HostSlowdown{Stall: 50, Seed: 3}, out: rtlsim.HostSlowdown{Every: 3, Stall: 20, Seed: 4}},
}

// runRTL checks that Verilator has no warnings about the text of the designs, and runs them side by side.
func runRTL(ctx context.Context, dir string, list []simulated) error {
	b, err := benchRTL(list)
	if err != nil {
		return err
	}
	if err := b.files.WriteBelow(dir); err != nil {
		return err
	}
	if err := lintRTL(ctx, dir, b.files, b.runs); err != nil {
		return named(checkRTLText, err)
	}
	return b.run(ctx, dir)
}

// A simulated design is the reference of an RTL design: in holds the host's inputs by frame, streams the contents of
// all streams.
type simulated struct {
	name        string
	design      *dataflow.Design
	in, streams [][]dataflow.Tensor
}

// fifos are the FIFOs around programs, used in turn: shallow ones, and one so deep that no pipeline waits for it.
var fifos = []dataflow.FIFO{
	{Depth: 1, Memory: dataflow.MemorySRL}, {Depth: 2, Memory: dataflow.MemoryLUTRAM}, {Depth: 3,
		Memory: dataflow.MemoryBRAM},
	{Depth: 40, Memory: dataflow.MemorySRL}, {Depth: 5, Memory: dataflow.MemoryURAM},
}

// simulations returns a design for each of the programs alone.
func simulations(programs []program) (list []simulated) {
	for i, p := range programs {
		s := simulated{name: fmt.Sprintf("%q, fold %+v", p.Name, p.fold), design: p.design(p.fold, 1), in: p.frames}
		for k := range s.design.FIFO {
			s.design.FIFO[k] = fifos[(i+k)%len(fifos)]
		}
		for f := range p.frames {
			s.streams = append(s.streams, slices.Concat(p.frames[f], p.want[f]))
		}
		list = append(list, s)
	}
	return list
}

// A rtlBench holds designs side by side in one bench.
type rtlBench struct {
	list  []simulated
	runs  []rtl.NetworkWithBenchFrames
	files templates.ProjectFiles
}

// benchRTL returns the bench of designs, not yet compiled.
func benchRTL(list []simulated) (b rtlBench, err error) {
	b.list = list
	for i, s := range list {
		s.design.Target.Backend = dataflow.BackendRTL
		n, err := rtl.New(s.design, templates.Options{Top: fmt.Sprintf("top_%04d", i)})
		if err != nil {
			return b, err
		}
		b.runs = append(b.runs, rtl.NetworkWithBenchFrames{Network: n, Frames: s.streams, Moves: true})
	}
	b.files, err = rtl.GenerateBench(b.runs)
	return b, err
}

// run compiles the bench in its folder, and runs it at every pace.
func (b rtlBench) run(ctx context.Context, dir string) error {
	built, err := rtl.CompileBench(ctx, dir, b.files, rtl.MaxUnoptimisedBenchClocks)
	if err != nil {
		return named(checkRTLBuild, err)
	}
	for _, pace := range rtlPaces {
		said, err := built.Run(ctx, rtl.BenchPace(pace.in), rtl.BenchPace(pace.out))
		if err != nil {
			return named(checkRTLWords, err)
		}
		if !rtl.HasBenchPassed(said) {
			return failed(checkRTLWords, "with paces %+v:\n%.2000s%s", pace, said, b.who(said))
		}
		events := rtl.ParseClockDigests(said)
		for i, l := range b.list {
			trace, err := rtlsim.RunFrames(ctx, l.design, l.in, rtlsim.Options{Record: true, In: pace.in,
				Out: pace.out})
			if err != nil {
				return err
			}
			for s, what := range rtl.FindStreamsWithWrongClocks(l.design.Model.Graph, trace.Record.MoveClocks, events,
				i) {
				return failed(checkRTLClocks, "%s, paces %+v: stream %d: %s", l.name, pace, s, what)
			}
		}
	}
	return nil
}

// who names the designs that the output of a bench or a tool mentions.
func (b rtlBench) who(said string) string {
	var list strings.Builder
	for i, l := range b.list {
		for _, name := range []string{fmt.Sprintf("T%d_", i), b.runs[i].Top} {
			if strings.Contains(said, name) {
				fmt.Fprintf(&list, "\n%s is %s", name, l.name)
			}
		}
	}
	return list.String()
}

// lintRTL checks that Verilator has no warnings about the networks. It runs them one at a time, because Verilator
// 5.006 confuses instances of one name in several tops.
func lintRTL(ctx context.Context, dir string, files templates.ProjectFiles, runs []rtl.NetworkWithBenchFrames) error {
	for _, r := range runs {
		args := []string{"--lint-only", "-Wall", "--unroll-count", rtl.VerilatorUnrollLimit, "--top-module", r.Top}
		for _, source := range rtl.ListSourcePaths(files, false) {
			if strings.HasPrefix(source, "shared/") || strings.Contains(source, r.Top) {
				args = append(args, source)
			}
		}
		c := exec.CommandContext(ctx, "verilator", args...)
		c.Dir = dir + "/rtl"
		if out, err := c.CombinedOutput(); err != nil || len(out) > 0 {
			return fmt.Errorf("verilator --lint-only -Wall of %s: %v\n%.3000s", r.Top, err, out)
		}
	}
	return nil
}
