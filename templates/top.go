package templates

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"hlsgen/internal/dataflow"
)

// A topView is what top.hpp.tpl and top.cpp.tpl show.
type topView struct {
	Top     string
	Model   string     // for a comment
	Shape   string     // what the network is: "3 layers for xczu7ev-ffvc1156-2-e at 200 MHz"
	In, Out []axisView // the network's ends
	Params  string
	Streams []streamView
	Calls   []string // one process each, in topological order
}

// An axisView is one AXI4-Stream.
type axisView struct {
	Name string
	Doc  string // "784 words of 8 bits: global_in"
}

// A streamView is one FIFO.
type streamView struct{ Type, Name, Depth, Memory, Doc string }

// A scriptView is what the Tcl and configuration templates show.
type scriptView struct {
	Top    string
	Part   string
	Period string // ns
}

// A makefileView is what Makefile.tpl shows.
type makefileView struct {
	Top string // empty where there is none
}

// topFiles are the parts that only a whole network has: the top function, its test bench, the scripts.
func topFiles(files *Files, d *dataflow.Design, face Interface, b bench) error {
	if err := benchFiles(files, b, face); err != nil {
		return err
	}
	scripts, err := viewScripts(d.Target, face.Top)
	if err != nil {
		return err
	}
	top := viewTop(d, face, b.sequences)
	for _, f := range []struct {
		path string
		view any
	}{
		{"top.hpp", top}, {"top.cpp", top},
		{"run_hls.tcl", scripts}, {"run_hls_unified.tcl", scripts}, {"hls_config.cfg", scripts},
	} {
		text, err := render(f.path+".tpl", f.view)
		if err != nil {
			return err
		}
		files.add("hls/"+f.path, text)
	}
	return nil
}

func viewTop(d *dataflow.Design, face Interface, q *sequences) topView {
	g := d.Model.Graph
	v := topView{
		Top: face.Top, Model: comment(d.Model.Name),
		Shape: fmt.Sprintf("%s for %s at %s MHz", plural(len(g.Nodes), "layer"), d.Target.Board.Part,
			megahertz(d.Target)),
	}
	var params []string
	name := func(s int) string { return "s" + strconv.Itoa(s) }
	doc := func(p AXIPort) string {
		frame := "a frame"
		if q.is(p.Stream) {
			frame = fmt.Sprintf("a step, TLAST at the end of a sequence of 1 to %d", q.longest)
		}
		return comment(fmt.Sprintf("%s of %s of type %s %s: %s", plural(q.port(d, p.Stream).Words, "word"),
			plural(p.Port.PerWord, "element"), p.Port.Elem, frame, g.Streams[p.Stream].Name))
	}
	ended, written := ends(d, face)
	for _, p := range face.In {
		v.In = append(v.In, axisView{p.Name, doc(p)})
		if q.is(p.Stream) {
			params = append(params, cAXIOut(p.TDATA)+"& "+p.Name)
			args := append([]string{p.Name, name(p.Stream)}, written[p.Stream]...)
			v.Calls = append(v.Calls, fmt.Sprintf("hlsgen::axis_in_steps<%d, %d, %d, %d>(%s);", p.Port.Width(), p.TDATA,
				q.port(d, p.Stream).Words, q.longest, strings.Join(args, ", ")))
			continue
		}
		params = append(params, cStream(p.TDATA)+"& "+p.Name)
		v.Calls = append(v.Calls, fmt.Sprintf("hlsgen::axis_in<%d, %d, %d>(%s, %s);", p.Port.Width(), p.TDATA,
			p.Port.Words, p.Name, name(p.Stream)))
	}
	for _, p := range face.Out {
		v.Out = append(v.Out, axisView{p.Name, doc(p)})
		params = append(params, cAXIOut(p.TDATA)+"& "+p.Name)
	}
	v.Params = strings.Join(params, ", ")
	for _, s := range g.Streams {
		f := d.FIFO[s.ID]
		v.Streams = append(v.Streams, streamView{cStream(d.Port(s.ID).Width()), name(s.ID), strconv.Itoa(f.Depth),
			storageImpl[f.Memory], comment(s.Name)})
	}
	v.Streams = append(v.Streams, ended...)
	for _, n := range g.Nodes {
		var args []string
		if q.reads(n) {
			args = append(args, endsOf(n.Name))
		}
		for _, s := range slices.Concat(n.In, n.Out) {
			args = append(args, name(s))
		}
		v.Calls = append(v.Calls, n.Name+"("+strings.Join(args, ", ")+");")
	}
	for _, p := range face.Out {
		if q.is(p.Stream) {
			v.Calls = append(v.Calls, fmt.Sprintf("hlsgen::axis_out_steps<%d, %d, %d>(%s, %s, %s);", p.Port.Width(),
				p.TDATA, q.port(d, p.Stream).Words, endsOf(p.Name), name(p.Stream), p.Name))
			continue
		}
		v.Calls = append(v.Calls, fmt.Sprintf("hlsgen::axis_out<%d, %d, %d>(%s, %s);", p.Port.Width(), p.TDATA,
			p.Port.Words, name(p.Stream), p.Name))
	}
	return v
}

// viewScripts checks what goes into Tcl and configuration files as it is.
func viewScripts(t dataflow.Target, top string) (scriptView, error) {
	if err := toolWord("part", t.Board.Part); err != nil {
		return scriptView{}, err
	}
	if !(t.ClockMHz > 0 && t.ClockMHz < 1e4) {
		return scriptView{}, fmt.Errorf("a clock of %g MHz", t.ClockMHz)
	}
	return scriptView{Top: top, Part: t.Board.Part, Period: strconv.FormatFloat(1000/t.ClockMHz, 'f', 3, 64)}, nil
}

func megahertz(t dataflow.Target) string { return strconv.FormatFloat(t.ClockMHz, 'g', -1, 64) }
