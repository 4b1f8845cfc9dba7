package rtl

import (
	"fmt"
	"strconv"
	"strings"

	"hlsgen/hlslib"
	"hlsgen/internal/dataflow"
	"hlsgen/templates"
)

// A Run is a network with what its streams carry: Frames[f][s] is frame f on stream s.
type Run struct {
	*Network
	Frames [][]dataflow.Tensor
}

// A benchView is what bench.sv.tpl shows.
type benchView struct {
	Reset, Patience, Checks, Events string
	Tops                            []dutView
}

// A dutView is a top in the bench.
type dutView struct {
	Name, Top string
	Axes      []axisView
	Pins      []string
	Feeds     []string
	Watches   []string
}

// An axisView is an AXI4-Stream of the top.
type axisView struct{ Name, High string }

// Bench is all files of a bench that runs networks side by side, each under a name of its own: T0, T1 and so on. All of
// them have the same number of frames.
func Bench(runs []Run) (templates.Files, error) {
	files := Library(true)
	for _, h := range hlslib.RTL() {
		if strings.Contains(h.Path, "hlsgen_check") || strings.Contains(h.Path, "hlsgen_recording") {
			files = append(files, templates.File{Path: "rtl/bench/" + strings.TrimPrefix(h.Path, "rtl/"), Data: h.Text})
		}
	}
	b := bencher{}
	for i, r := range runs {
		files = append(files, r.Files...)
		if err := b.top(fmt.Sprint("T", i), r, &files); err != nil {
			return nil, fmt.Errorf("generate RTL: %w", err)
		}
	}
	b.view.Reset = strconv.Itoa(b.reset + 16)
	b.view.Patience = strconv.Itoa(10000 + 16*b.longest)
	b.view.Checks, b.view.Events = strconv.Itoa(b.checks), strconv.Itoa(b.events)
	text, err := templates.Render(texts, "bench.sv.tpl", b.view)
	if err != nil {
		return nil, err
	}
	files = append(files, templates.File{Path: "rtl/bench/hlsgen_bench.sv", Data: text},
		templates.File{Path: "rtl/bench/main.cpp", Data: []byte(mainText)},
		templates.File{Path: "rtl/bench/data/frames.txt", Data: []byte(strconv.Itoa(len(runs[0].Frames)) + "\n")})
	return files, nil
}

// mainText turns the clock of a bench until it says that it has ended.
const mainText = `// Turns the clock of a bench until it says that it has ended.
#include "Vbench.h"
#include "verilated.h"

int main(int argc, char** argv) {
    VerilatedContext context;
    context.commandArgs(argc, argv);
    Vbench bench(&context);
    while (!context.gotFinish()) {
        bench.clk = 0;
        bench.eval();
        bench.clk = 1;
        bench.eval();
    }
    bench.final();
    return 0;
}
`

// bencher collects tops.
type bencher struct {
	view           benchView
	reset, longest int
	checks, events int
}

// top adds a network, and the recordings of its streams.
func (b *bencher) top(name string, r Run, files *templates.Files) error {
	d, g := r.design, r.design.Model.Graph
	b.reset = max(b.reset, r.reset)
	dut := dutView{Name: name, Top: r.Top}
	watch := func(format string, a ...any) { dut.Watches = append(dut.Watches, fmt.Sprintf(format, a...)) }
	event := func(stream, what, signal string, limit int) {
		watch("hlsgen_events #(.LIMIT(%d), .NAME(\"%s %s %s\")) %s_%s_%s (.clk(clk), .run(run), .now(now), "+
			".happens(%s.%s), .ended(tell), .done(told[%d]));", max(limit, 0), name, stream, what, name, stream, what, name,
			signal, b.events)
		b.events++
	}
	for s := range g.Streams {
		p := d.Port(s)
		frames := make([]dataflow.Tensor, len(r.Frames))
		words := 0
		for f := range frames {
			frames[f] = r.Frames[f][s]
			words += len(frames[f].Data) / p.PerWord
		}
		text, err := templates.Recording(p, frames)
		if err != nil {
			return fmt.Errorf("stream s%d: %w", s, err)
		}
		*files = append(*files, templates.File{Path: fmt.Sprintf("rtl/bench/data/%s_s%d.dat", name, s), Data: text})
		watch("assign passes[%d] = %s.s%d_read;", b.checks, name, s)
		watch("hlsgen_check #(%s) %s_s%d_check (.clk(clk), .rst(!run), .data(%s.s%d_word), .last(1'b0), "+
			".passes(passes[%d]), .done(done[%d]), .wrong(wrong[%d]));", recorded(name, s, p, words, p.Width()), name, s,
			name, s, b.checks, b.checks, b.checks)
		b.checks++
		if writer, _ := g.Writer(s); writer >= 0 {
			event(stream(s), "written", stream(s)+"_claim", words)
		}
		event(stream(s), "read", stream(s)+"_read", words)
	}
	for i := range g.Nodes {
		b.longest = max(b.longest, d.Loop(i).Iterations())
	}
	for k, p := range r.face.In {
		axis := name + "_" + p.Name
		dut.Axes = append(dut.Axes, axisView{p.Name, strconv.Itoa(p.TDATA - 1)})
		dut.Pins = append(dut.Pins, pins(axis, p.Name, "TDATA", "TVALID", "TREADY")...)
		words := 0
		for _, f := range r.Frames {
			words += len(f[p.Stream].Data) / p.Port.PerWord
		}
		dut.Feeds = append(dut.Feeds, fmt.Sprintf("hlsgen_feed #(%s, .INDEX(%d), .EVERY(%d)) %s_feed (.clk(clk), "+
			".run(run), .now(now), .free(int'(%s.s%d.taken) - int'(%s.s%d_read) < %d), .data(%s_TDATA), .last(%s_TLAST), "+
			".valid(%s_TVALID));", recorded(name, p.Stream, p.Port, words, p.TDATA), k, d.Target.HostEvery(p.Port), axis,
			name, p.Stream, name, p.Stream, d.FIFO[p.Stream].Depth, axis, axis, axis))
	}
	for k, p := range r.face.Out {
		axis := name + "_" + p.Name
		dut.Axes = append(dut.Axes, axisView{p.Name, strconv.Itoa(p.TDATA - 1)})
		dut.Pins = append(dut.Pins, pins(axis, p.Name, "TDATA", "TVALID", "TREADY", "TLAST")...)
		dut.Pins = append(dut.Pins, fmt.Sprintf(".%s_TKEEP()", p.Name), fmt.Sprintf(".%s_TSTRB()", p.Name))
		dut.Feeds = append(dut.Feeds, fmt.Sprintf("hlsgen_pace #(.SIDE(\"out\"), .INDEX(%d), .EVERY(%d)) %s_pace "+
			"(.clk(clk), .clock(now), .moves(%s_TVALID && %s_TREADY), .open(%s_TREADY));", len(r.face.In)+k,
			d.Target.HostEvery(p.Port), axis, axis, axis, axis))
	}
	b.view.Tops = append(b.view.Tops, dut)
	return nil
}

func pins(axis, port string, suffixes ...string) (list []string) {
	for _, s := range suffixes {
		list = append(list, fmt.Sprintf(".%s_%s(%s_%s)", port, s, axis, s))
	}
	return list
}

// recorded are the parameters by which a module of the bench finds the words of a stream.
func recorded(name string, s int, p dataflow.Port, words, width int) string {
	return fmt.Sprintf(".WIDTH(%d), .BITS(%d), .WORDS(%d), .PER(%d), .STREAM(\"%s_s%d\")", width, p.Width(),
		max(1, words), p.Words, name, s)
}
