package templates

import (
	"fmt"
	"strconv"
	"strings"

	"hlsgen/internal/dataflow"
)

// A topView holds what top.hpp.tpl and top.cpp.tpl need.
type topView struct {
	Top     string
	Model   string     // for a comment
	Shape   string     // size and target: "3 layers for xczu7ev-ffvc1156-2-e at 200 MHz"
	In, Out []axisView // the network's ends
	Params  string
	Streams []streamView
	Calls   []string // one process each, in topological order
}

// An axisView describes one AXI4-Stream of the top function.
type axisView struct {
	Name string
	Doc  string // "784 words of 8 bits: global_in"
}

// A streamView describes one FIFO of the top function.
type streamView struct{ Type, Name, Depth, Memory, Doc string }

// A scriptView holds what the Tcl and configuration templates need.
type scriptView struct {
	Top    string
	Part   string
	Period string // ns
}

// A makefileView holds what Makefile.tpl needs.
type makefileView struct {
	Top string // empty without a top
}

// topFiles adds the files that only a whole network has to files: the top function, its test bench, the scripts.
func topFiles(files *ProjectFiles, d *dataflow.Design, face IPInterface, b bench) error {
	if err := benchFiles(files, b, face); err != nil {
		return err
	}
	scripts, err := viewScripts(d.Target, face.Top)
	if err != nil {
		return err
	}
	top := viewTop(d, face, b)
	if err := ipFiles(files, scripts, b.instances(face)); err != nil {
		return err
	}
	if err := rtlFiles(files, d, face, b, scripts); err != nil {
		return err
	}
	return files.render([]written{
		{"hls/top.hpp", "top.hpp.tpl", top}, {"hls/top.cpp", "top.cpp.tpl", top},
		{"hls/run_hls.tcl", "run_hls.tcl.tpl", scripts},
		{"hls/run_hls_unified.tcl", "run_hls_unified.tcl.tpl", scripts},
		{"hls/hls_config.cfg", "hls_config.cfg.tpl", scripts},
	})
}

// viewTop returns the data for the templates of the top function.
func viewTop(d *dataflow.Design, face IPInterface, b bench) topView {
	g, q := d.Model.Graph, b.sequences
	v := topView{
		Top: face.Top, Model: comment(d.Model.Name),
		Shape: fmt.Sprintf("%s for %s at %s MHz", plural(len(g.Nodes), "layer"), d.Target.Board.Part,
			megahertz(d.Target)),
	}
	var params []string
	doc := func(p AXIStreamPort) string {
		frame := "a frame"
		if q.is(p.Stream) {
			frame = fmt.Sprintf("a step, TLAST at the end of a sequence of 1 to %d", q.longest)
		}
		return comment(fmt.Sprintf("%s of %s of type %s %s: %s", plural(q.port(d, p.Stream).Words, "word"),
			plural(p.Port.PerWord, "element"), p.Port.Elem, frame, g.Streams[p.Stream].Name))
	}
	for _, p := range face.In {
		v.In = append(v.In, axisView{p.Name, doc(p)})
		kind := cStream(p.TDATA)
		if q.is(p.Stream) {
			kind = cAXIOut(p.TDATA)
		}
		params = append(params, kind+"& "+p.Name)
	}
	for _, p := range face.Out {
		v.Out = append(v.Out, axisView{p.Name, doc(p)})
		params = append(params, cAXIOut(p.TDATA)+"& "+p.Name)
	}
	v.Params = strings.Join(params, ", ")
	for _, s := range g.Streams {
		f := d.FIFO[s.ID]
		v.Streams = append(v.Streams, streamView{cStream(d.PortOfStream(s.ID).Width()), cStreamName(s.ID),
			strconv.Itoa(f.Depth), storageImpl[f.Memory], comment(s.Name)})
	}
	ended, _ := ends(d, face)
	v.Streams = append(v.Streams, ended...)
	for _, i := range b.instances(face) {
		v.Calls = append(v.Calls, i.call())
	}
	return v
}

// viewScripts returns the data for the scripts, for a target. It returns an error if a string cannot stand in them
// unquoted.
func viewScripts(t dataflow.Target, top string) (scriptView, error) {
	if err := toolWord("part", t.Board.Part); err != nil {
		return scriptView{}, err
	}
	if !(t.ClockMHz > 0 && t.ClockMHz < 1e4) {
		return scriptView{}, fmt.Errorf("a clock of %g MHz", t.ClockMHz)
	}
	return scriptView{Top: top, Part: t.Board.Part, Period: strconv.FormatFloat(1000/t.ClockMHz, 'f', 3, 64)}, nil
}

// megahertz returns the target's clock in MHz as text.
func megahertz(t dataflow.Target) string { return strconv.FormatFloat(t.ClockMHz, 'g', -1, 64) }
