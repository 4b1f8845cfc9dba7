package engines

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"hlsgen/folding"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/outputdir"
	"hlsgen/rtlsim"
	"hlsgen/templates"
	"hlsgen/templates/rtl"
)

// FindMissingRTLProgram returns the first program that engine rtl needs and that is not installed, or "".
func FindMissingRTLProgram() string { return missing("verilator", "g++") }

// missing returns the first of the programs that is not in the PATH, or "" if all are.
func missing(programs ...string) string {
	for _, program := range programs {
		if _, err := exec.LookPath(program); err != nil {
			return program
		}
	}
	return ""
}

// CheckProgramsInstalled reports whether the programs that the engine needs are installed. If not, it adds an error to
// d. e is EngineRTL, EngineNetlist, or EngineCircuit, which needs none.
func (e EngineName) CheckProgramsInstalled(d *diag.List) bool {
	if e == EngineNetlist && missing("yosys") != "" {
		d.AddError(diag.YosysMissing, "", "engine netlist needs yosys, which is not here",
			"install yosys, or use --engine rtl")
		return false
	}
	if program := FindMissingRTLProgram(); e != EngineCircuit && program != "" {
		d.AddError(diag.VerilatorMissing, "", fmt.Sprintf("engine %s needs %s, which is not here", e, program),
			"install verilator and g++, or use --engine circuit")
		return false
	}
	return true
}

// maxNetlist is the largest design for engine netlist, in LUTs. Yosys takes about a minute for each 2,000 LUTs.
const maxNetlist = 10_000

// CheckFitsNetlistEngine reports whether the design is small enough for engine netlist. If not, it adds an error to d.
func CheckFitsNetlistEngine(design *folding.Design, d *diag.List) bool {
	n := rtl.EstimateNetlistLUTs(design.Target.Board, design.Estimate.Total)
	if n > maxNetlist {
		d.AddError(diag.NetlistTooLarge, "", fmt.Sprintf("the netlist of this design has about %d LUTs, "+
			"memories included; engine netlist takes %d", n, maxNetlist),
			"use --engine rtl, or a design that takes less: fewer frames a second (--fps), another --folding")
	}
	return n <= maxNetlist
}

// paces lists the host's paces in the two runs of engine rtl. In the first run the host never stalls, in the second it
// stalls at both ends.
var paces = [...]pace{
	{}, {in: rtlsim.HostSlowdown{Stall: 30, Seed: 1}, out: rtlsim.HostSlowdown{Stall: 30, Seed: 2}},
}

// A pace says how often the host stalls at the inputs and at the outputs of a design.
type pace struct{ in, out rtlsim.HostSlowdown }

// maxTold is the largest number of words on all streams of a run whose clocks are compared. Longer runs compare only
// the clocks of outputs.
const maxTold = 1 << 22

// maxBench is the largest number of elements on all streams of one test bench. A test bench stores its words as text.
const maxBench = 1 << 26

// FramesPerBench returns the number of frames of one test bench. It is at least two, because the second frame follows
// the first one through the pipeline. It is math.MaxInt if frames depend on each other.
func FramesPerBench(g *dataflow.Graph) int {
	if g.KeepsStateBetweenFrames() {
		return math.MaxInt
	}
	return max(2, maxBench/max(StreamElementsPerFrame(g), 1))
}

// CheckDesignInVerilator runs the design's SystemVerilog, or its netlist, in Verilator: once with a host that never
// stalls, once with one that does. It returns a *MismatchError if a word on a stream differs from streams, or moves in
// another clock than in engine cycle. For more than maxTold words it compares only the clocks of outputs.
func CheckDesignInVerilator(ctx context.Context, engine EngineName, d *dataflow.Design, in,
	streams []FrameTensors) error {
	n, err := rtl.New(d, templates.Options{})
	if err != nil {
		return err
	}
	files, err := n.GenerateProject(streams)
	if err != nil {
		return err
	}
	dir, err := outputdir.MakeTemporaryFolder("hlsgen-rtl-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if engine == EngineNetlist {
		if files, err = n.SynthesiseNetlist(ctx, filepath.Join(dir, "synthesis"), files); err != nil {
			return err
		}
	}
	clocks, _ := d.BottleneckInterval()
	program, err := rtl.CompileBench(ctx, dir, files, clocks*len(in))
	if err != nil {
		return err
	}
	words := 0
	for s := range d.Model.Graph.Streams {
		words += d.PortOfStream(s).Words * len(in)
	}
	var g sync.WaitGroup
	var failed [len(paces)]error
	for i, p := range paces {
		g.Go(func() { failed[i] = p.run(ctx, engine, program, d, in, words <= maxTold) })
	}
	g.Wait()
	return cmp.Or(failed[:]...)
}

// run runs a compiled test bench and the clock-by-clock simulator at the pace p, and compares their clocks. told
// selects the clocks of every stream instead of those of outputs alone.
func (p pace) run(ctx context.Context, engine EngineName, program *rtl.CompiledBench, d *dataflow.Design,
	in []FrameTensors,
	told bool) error {
	said, err := program.Run(ctx, rtl.BenchPace(p.in), rtl.BenchPace(p.out))
	if err != nil {
		return err
	}
	if !rtl.HasBenchPassed(said) {
		return &MismatchError{fmt.Sprintf("engine %s against eval: %s", engine, failure(said))}
	}
	trace, err := rtlsim.RunFrames(ctx, d, in, rtlsim.Options{Record: told, In: p.in, Out: p.out})
	if err != nil {
		return err
	}
	return sameClocks(engine, d, trace, said)
}

// failure returns the first failure in the output of a test bench, or the whole output if it names none.
func failure(said string) string {
	for _, line := range strings.Split(said, "\n") {
		if strings.HasPrefix(line, "FAIL ") {
			return strings.TrimPrefix(line, "FAIL ")
		}
	}
	return said
}

// sameClocks returns an error if the clocks in said, the output of a test bench, differ from those of the simulator in
// trace.
func sameClocks(engine EngineName, d *dataflow.Design, trace *rtlsim.RunTrace, said string) error {
	frames := rtl.ParseFrameClocks(said)
	if len(frames) != len(trace.Frames) {
		return &MismatchError{fmt.Sprintf("engine %s against cycle: %d frames come out, want %d", engine,
			len(frames),
			len(trace.Frames))}
	}
	for f, got := range frames {
		if want := trace.Frames[f]; got != (rtl.BenchFrameClocks{First: want.First, Last: want.Last}) {
			return &MismatchError{fmt.Sprintf("engine %s against cycle, frame %d: it comes out in clocks %+v, want %+v",
				engine, f, got, want)}
		}
	}
	if trace.Record == nil {
		return nil
	}
	for s, what := range rtl.FindStreamsWithWrongClocks(d.Model.Graph, trace.Record.MoveClocks,
		rtl.ParseClockDigests(said), 0) {
		return &MismatchError{fmt.Sprintf("engine %s against cycle, stream %s: %s", engine,
			StreamNameInMessages(d.Model.Graph, s), what)}
	}
	return nil
}
