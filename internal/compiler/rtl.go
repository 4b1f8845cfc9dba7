package compiler

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

	"hlsgen/boards"
	"hlsgen/folding"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/owned"
	"hlsgen/rtlsim"
	"hlsgen/templates"
	"hlsgen/templates/deploy"
	"hlsgen/templates/rtl"
)

// A Backend is what is generated of a design; the zero value is what the board's vendor has tools for (On).
type Backend string

// The back ends. Latencies and FIFOs of a design are those of its RTL where that is generated.
const (
	BackendHLS  Backend = "hls"
	BackendRTL  Backend = "rtl"
	BackendBoth Backend = "both"
)

// Backends lists them.
var Backends = []string{string(BackendHLS), string(BackendRTL), string(BackendBoth)}

// On is the back end on a board: where none is asked for, HLS on AMD's devices, which alone Vitis HLS knows, else RTL.
func (b Backend) On(board boards.Board) Backend {
	switch {
	case b != "":
		return b
	case board.Family == boards.AMD:
		return BackendHLS
	}
	return BackendRTL
}

// For is On; d says so where the board has no such back end.
func (b Backend) For(board boards.Board, d *diag.List) Backend {
	b = b.On(board)
	if b.HLS() && board.Family != boards.AMD {
		d.Fail(diag.BackendUnfit, "", fmt.Sprintf("%s has the device %s, and Vitis HLS makes nothing for "+
			"devices that are not AMD's", board.Name, board.Part), "use --backend rtl, or leave it out")
	}
	return b
}

// counted refuses counters where nothing has them.
func (o Options) counted(d *diag.List) {
	if o.Counters && !o.Backend.RTL() {
		d.Fail(diag.BackendUnfit, "", "--counters: a layer that Vitis HLS makes does not tell in which clocks it waits",
			"use --backend rtl, or --backend both: layers in SystemVerilog tell")
	}
}

// countedFrames is how many frames counters.json is of.
const countedFrames = 16

// counterFiles are what programs need to show the counters beside those of the simulation.
func counterFiles(ctx context.Context, r *Result) (templates.Files, error) {
	d := r.Design.Design
	trace, err := rtlsim.Run(ctx, d, nil, rtlsim.Options{Frames: countedFrames})
	if err != nil {
		return nil, err
	}
	c := trace.Counters(d)
	counted := deploy.Counted{Frames: c.Frames, Clocks: c.Clocks}
	for _, s := range c.Streams {
		counted.Streams = append(counted.Streams, deploy.CountedStream{Stalled: s.Stalled, Starved: s.Starved})
	}
	return deploy.CounterFiles(d, counted)
}

// HLS reports whether C++ is generated, RTL whether SystemVerilog is.
func (b Backend) HLS() bool { return b != BackendRTL }

// RTL is described at HLS.
func (b Backend) RTL() bool { return b == BackendRTL || b == BackendBoth }

// makes is what a build of the back end is, in words.
func (b Backend) makes() string {
	switch b {
	case BackendRTL:
		return "SystemVerilog"
	case BackendBoth:
		return "a Vitis HLS project, and the same in SystemVerilog"
	}
	return "a Vitis HLS project"
}

// generateRTL makes the design's SystemVerilog, and runs it where that can be.
func generateRTL(ctx context.Context, r *Result, o Options, streams []tensors,
	d *diag.List) (templates.Files, error) {
	n, err := rtl.Of(r.Design.Design, templates.Options{})
	if err != nil {
		return nil, err
	}
	files, err := n.Project(streams)
	if err != nil || len(streams) == 0 || o.NoCSim {
		return files, err
	}
	if program := noVerilator(); program != "" {
		r.Verified.Left = string(RTL)
		d.Add(diag.Diag{Severity: diag.Warning, Code: diag.VerilatorMissing,
			Msg:  "the generated SystemVerilog was not run: there is no " + program,
			Hint: "install verilator and g++, or pass --no-csim"})
		return files, nil
	}
	o.Step("compiling", 0, 0)
	if err := verilated(ctx, RTL, r.Design.Design, pick(streams, r.Design.Model.Graph.In), streams); err != nil {
		return nil, err
	}
	r.Verified.Engines = append(r.Verified.Engines, string(RTL))
	return files, nil
}

// noVerilator is what is missing of what engine rtl needs; empty where all is there.
func noVerilator() string { return missing("verilator", "g++") }

// missing is the first of the programs that is not in the PATH, or empty.
func missing(programs ...string) string {
	for _, program := range programs {
		if _, err := exec.LookPath(program); err != nil {
			return program
		}
	}
	return ""
}

// ready reports whether the programs are there that engines rtl and netlist need; d says what is missing.
func (e Engine) ready(d *diag.List) bool {
	if e == Netlist && missing("yosys") != "" {
		d.Fail(diag.YosysMissing, "", "engine netlist needs yosys, which is not here",
			"install yosys, or use --engine rtl")
		return false
	}
	if program := noVerilator(); program != "" {
		d.Fail(diag.VerilatorMissing, "", fmt.Sprintf("engine %s needs %s, which is not here", e, program),
			"install verilator and g++, or use --engine cycle")
		return false
	}
	return true
}

// maxNetlist is the LUTs of designs that engine netlist takes: Yosys takes a minute for each 2,000.
const maxNetlist = 10_000

// small reports whether the design's netlist is; d says so where it is not.
func small(design *folding.Design, d *diag.List) bool {
	n := rtl.CellsOf(design.Target.Board, design.Estimate.Total)
	if n > maxNetlist {
		d.Fail(diag.NetlistTooLarge, "", fmt.Sprintf("the netlist of this design has about %d LUTs, "+
			"memories included; engine netlist takes %d", n, maxNetlist),
			"use --engine rtl, or a design that takes less: fewer frames a second (--fps), another --folding")
	}
	return n <= maxNetlist
}

// paces are the ways in which engine rtl runs a design: at full speed, and with the host holding back both ends.
var paces = [...]pace{
	{}, {in: rtlsim.Pace{Stall: 30, Seed: 1}, out: rtlsim.Pace{Stall: 30, Seed: 2}},
}

// A pace is how the host moves words at the inputs and at the outputs.
type pace struct{ in, out rtlsim.Pace }

// maxTold is the words on all streams of a run of engine rtl: of more, only the outputs' clocks are compared.
const maxTold = 1 << 22

// maxBench is the elements on all streams of the frames that one bench has: their words are text, in memory and in
// files.
const maxBench = 1 << 26

// perBench is how many frames one bench runs: two at least, as the second follows the first through the pipeline. Those
// that depend on each other stay together.
func perBench(g *dataflow.Graph) int {
	if g.Keeps() {
		return math.MaxInt
	}
	return max(2, maxBench/max(elements(g), 1))
}

// verilated runs the design in SystemVerilog, or its netlist. Every word of every stream has to be Eval's, and has to
// move in the clock in which it moves in engine cycle.
func verilated(ctx context.Context, engine Engine, d *dataflow.Design, in, streams []tensors) error {
	n, err := rtl.Of(d, templates.Options{})
	if err != nil {
		return err
	}
	files, err := n.Project(streams)
	if err != nil {
		return err
	}
	dir, err := owned.Temporary("hlsgen-rtl-*")
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

// run runs a compiled bench, and the simulator, at a pace; told has the clocks of every stream compared, not of the
// outputs alone.
func (p pace) run(ctx context.Context, engine Engine, program *rtl.Program, d *dataflow.Design, in []tensors,
	told bool) error {
	said, err := program.Run(ctx, rtl.Pace(p.in), rtl.Pace(p.out))
	if err != nil {
		return err
	}
	if !rtl.Passed(said) {
		return &Mismatch{fmt.Sprintf("engine %s against eval: %s", engine, failure(said))}
	}
	trace, err := rtlsim.Run(ctx, d, in, rtlsim.Options{Record: told, In: p.in, Out: p.out})
	if err != nil {
		return err
	}
	return sameClocks(engine, d, trace, said)
}

// failure is what a bench has to say first.
func failure(said string) string {
	for _, line := range strings.Split(said, "\n") {
		if strings.HasPrefix(line, "FAIL ") {
			return strings.TrimPrefix(line, "FAIL ")
		}
	}
	return said
}

// sameClocks holds the clocks of a bench against a run of the simulator.
func sameClocks(engine Engine, d *dataflow.Design, trace *rtlsim.Trace, said string) error {
	frames := rtl.Frames(said)
	if len(frames) != len(trace.Frames) {
		return &Mismatch{fmt.Sprintf("engine %s against cycle: %d frames come out, want %d", engine, len(frames),
			len(trace.Frames))}
	}
	for f, got := range frames {
		if want := trace.Frames[f]; got != (rtl.Frame{First: want.First, Last: want.Last}) {
			return &Mismatch{fmt.Sprintf("engine %s against cycle, frame %d: it comes out in clocks %+v, want %+v",
				engine, f, got, want)}
		}
	}
	if trace.Record == nil {
		return nil
	}
	for s, what := range rtl.Elsewhen(d.Model.Graph, trace.Record.Moved, rtl.Events(said), 0) {
		return &Mismatch{fmt.Sprintf("engine %s against cycle, stream %s: %s", engine,
			streamName(d.Model.Graph, s), what)}
	}
	return nil
}
