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

// MissingForVerilator returns the first missing program that engine rtl needs, or "".
func MissingForVerilator() string { return missing("verilator", "g++") }

// missing returns the first of the programs that is not in the PATH, or "".
func missing(programs ...string) string {
	for _, program := range programs {
		if _, err := exec.LookPath(program); err != nil {
			return program
		}
	}
	return ""
}

// Ready reports whether the programs that engines rtl and netlist need are installed. It adds an error to d otherwise.
func (e Engine) Ready(d *diag.List) bool {
	if e == Netlist && missing("yosys") != "" {
		d.Fail(diag.YosysMissing, "", "engine netlist needs yosys, which is not here",
			"install yosys, or use --engine rtl")
		return false
	}
	if program := MissingForVerilator(); e != Circuit && program != "" {
		d.Fail(diag.VerilatorMissing, "", fmt.Sprintf("engine %s needs %s, which is not here", e, program),
			"install verilator and g++, or use --engine circuit")
		return false
	}
	return true
}

// maxNetlist is the largest design for engine netlist, in LUTs. Yosys takes a minute for each 2,000.
const maxNetlist = 10_000

// FitsNetlist reports whether the design is small enough for engine netlist. It adds an error to d otherwise.
func FitsNetlist(design *folding.Design, d *diag.List) bool {
	n := rtl.NetlistLUTs(design.Target.Board, design.Estimate.Total)
	if n > maxNetlist {
		d.Fail(diag.NetlistTooLarge, "", fmt.Sprintf("the netlist of this design has about %d LUTs, "+
			"memories included; engine netlist takes %d", n, maxNetlist),
			"use --engine rtl, or a design that takes less: fewer frames a second (--fps), another --folding")
	}
	return n <= maxNetlist
}

// paces lists the two runs of engine rtl: one at full speed, and one with a host that stalls at both ends.
var paces = [...]pace{
	{}, {in: rtlsim.Pace{Stall: 30, Seed: 1}, out: rtlsim.Pace{Stall: 30, Seed: 2}},
}

// A pace says how often the host stalls at the inputs and at the outputs.
type pace struct{ in, out rtlsim.Pace }

// maxTold limits the words whose clocks are compared, on all streams of a run. Longer runs compare only the clocks of
// outputs.
const maxTold = 1 << 22

// maxBench limits the elements on all streams of one test bench, because a test bench stores its words as text.
const maxBench = 1 << 26

// FramesPerBench returns the number of frames of one test bench. It is at least two, because the second frame follows
// the first one through the pipeline. Frames that depend on each other stay together.
func FramesPerBench(g *dataflow.Graph) int {
	if g.KeepsState() {
		return math.MaxInt
	}
	return max(2, maxBench/max(StreamElements(g), 1))
}

// RunVerilator runs the design's SystemVerilog, or its netlist, in Verilator. Every word of every stream must equal
// Eval's, and must move in the same clock as in engine cycle.
func RunVerilator(ctx context.Context, engine Engine, d *dataflow.Design, in, streams []Tensors) error {
	n, err := rtl.New(d, templates.Options{})
	if err != nil {
		return err
	}
	files, err := n.Project(streams)
	if err != nil {
		return err
	}
	dir, err := outputdir.Temporary("hlsgen-rtl-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if engine == Netlist {
		if files, err = n.Netlist(ctx, filepath.Join(dir, "synthesis"), files); err != nil {
			return err
		}
	}
	clocks, _ := d.Interval()
	program, err := rtl.Compile(ctx, dir, files, clocks*len(in))
	if err != nil {
		return err
	}
	words := 0
	for s := range d.Model.Graph.Streams {
		words += d.Port(s).Words * len(in)
	}
	var g sync.WaitGroup
	var failed [len(paces)]error
	for i, p := range paces {
		g.Go(func() { failed[i] = p.run(ctx, engine, program, d, in, words <= maxTold) })
	}
	g.Wait()
	return cmp.Or(failed[:]...)
}

// run runs a compiled test bench and the simulator at a pace, and compares their clocks. told selects the clocks of
// every stream instead of the outputs alone.
func (p pace) run(ctx context.Context, engine Engine, program *rtl.BenchProgram, d *dataflow.Design, in []Tensors,
	told bool) error {
	said, err := program.Run(ctx, rtl.BenchPace(p.in), rtl.BenchPace(p.out))
	if err != nil {
		return err
	}
	if !rtl.Passed(said) {
		return &MismatchError{fmt.Sprintf("engine %s against eval: %s", engine, failure(said))}
	}
	trace, err := rtlsim.Run(ctx, d, in, rtlsim.Options{Record: told, In: p.in, Out: p.out})
	if err != nil {
		return err
	}
	return sameClocks(engine, d, trace, said)
}

// failure returns the first failure that a test bench reports.
func failure(said string) string {
	for _, line := range strings.Split(said, "\n") {
		if strings.HasPrefix(line, "FAIL ") {
			return strings.TrimPrefix(line, "FAIL ")
		}
	}
	return said
}

// sameClocks compares the clocks in the output of a test bench with a run of the simulator.
func sameClocks(engine Engine, d *dataflow.Design, trace *rtlsim.Trace, said string) error {
	frames := rtl.ParseFrameClocks(said)
	if len(frames) != len(trace.Frames) {
		return &MismatchError{fmt.Sprintf("engine %s against cycle: %d frames come out, want %d", engine, len(frames),
			len(trace.Frames))}
	}
	for f, got := range frames {
		if want := trace.Frames[f]; got != (rtl.FrameClocks{First: want.First, Last: want.Last}) {
			return &MismatchError{fmt.Sprintf("engine %s against cycle, frame %d: it comes out in clocks %+v, want %+v",
				engine, f, got, want)}
		}
	}
	if trace.Record == nil {
		return nil
	}
	for s, what := range rtl.WrongClocks(d.Model.Graph, trace.Record.MoveClocks, rtl.ParseDigests(said), 0) {
		return &MismatchError{fmt.Sprintf("engine %s against cycle, stream %s: %s", engine,
			StreamName(d.Model.Graph, s), what)}
	}
	return nil
}
