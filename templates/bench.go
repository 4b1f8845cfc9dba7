package templates

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"hlsgen/hlslib"
	"hlsgen/internal/dataflow"
)

// A bench holds the layers of a project's test bench, and the frames by which it checks them.
type bench struct {
	top     string // empty without a top function
	frames  int
	streams []traffic
	layers  []wiring

	sequences *sequences // nil if frames have one length
	ends      []process  // the ends of the network
}

// A traffic holds the frames that pass on one stream.
type traffic struct {
	name   string // name of the .dat file
	port   dataflow.Port
	frames []dataflow.Tensor
	steps  bool   // the port's words are those of a step
	text   []byte // the recorded words, or nil; with a recording, only the network's ends have frames
}

// copies reports whether the stream o carries the same frames in memory, in the same words.
func (t traffic) copies(o traffic) bool {
	return t.port == o.port && t.steps == o.steps && slices.EqualFunc(t.frames, o.frames,
		func(a, b dataflow.Tensor) bool {
			return slices.Equal(a.Shape, b.Shape) && len(a.Data) > 0 && len(a.Data) == len(b.Data) &&
				&a.Data[0] == &b.Data[0]
		})
}

// recordings returns the texts of the streams' frames. Streams with the same frames and words share one text.
func recordings(streams []traffic) ([][]byte, error) {
	var r recorder
	texts := make([][]byte, len(streams))
	for k, s := range streams {
		if s.text != nil {
			texts[k] = s.text
			continue
		}
		if of := slices.IndexFunc(streams[:k], s.copies); of >= 0 {
			texts[k] = texts[of]
			continue
		}
		var err error
		if texts[k], err = r.text(s.port, s.frames, s.steps); err != nil {
			return nil, fmt.Errorf("stream %s: %w", s.name, err)
		}
	}
	return texts, nil
}

// A wiring is a layer of the test bench with the indices of its streams.
type wiring struct {
	Layer
	in, out []int
}

// A typesView holds what ap_types.hpp.tpl needs.
type typesView struct {
	Max string // AP_INT_MAX_W
}

// A tbView holds what tb.cpp.tpl needs.
type tbView struct {
	Network bool        // the last check is of the whole network
	Checks  []checkView // one for each layer, and then perhaps the network's
}

// A checkView describes the check of one layer or of the whole network. For each frame the bench sends words, calls the
// function repeatedly, and compares the words that it wrote.
type checkView struct {
	Name    string
	Loads   []string // declarations of the recordings
	Ports   []string // declarations of the streams
	Next    string   // method that counts calls
	Send    []string // statements before a call
	Call    string
	Take    []string // statements after a call
	Compare []string // statements after a frame
}

// files returns the files that a project has with or without a top: layers, tables, kernel library and recordings. own
// are headers that the library lacks.
func (b bench) files(own ...hlslib.EmbeddedLibraryFile) (ProjectFiles, error) {
	layers := make([]Layer, len(b.layers))
	for i, l := range b.layers {
		layers[i] = l.Layer
	}
	view, files, err := viewLayers(layers)
	if err != nil {
		return nil, err
	}
	if err := view.addEnds(b.ends); err != nil {
		return nil, err
	}
	wide, err := widest(layers)
	if err != nil {
		return nil, err
	}
	// AMD's headers provide room in multiples of 1024 bits.
	types := typesView{strconv.Itoa((wide + 1023) / 1024 * 1024)}
	texts := []written{
		{"hls/ap_types.hpp", "ap_types.hpp.tpl", types},
		{"hls/layers.hpp", "layers.hpp.tpl", view},
		{"hls/layers.cpp", "layers.cpp.tpl", view},
	}
	for _, l := range view.Layers {
		texts = append(texts, written{"hls/layers/" + l.Name + ".hpp", "layer.hpp.tpl", l},
			written{"hls/layers/" + l.Name + ".cpp", "layer.cpp.tpl", l})
	}
	if err := files.render(texts); err != nil {
		return nil, err
	}
	lib, err := library(view.Kernels, own)
	if err != nil {
		return nil, err
	}
	files = append(files, lib...)
	recorded, err := recordings(b.streams)
	if err != nil {
		return nil, err
	}
	for k, s := range b.streams {
		files.add("hls/tb/data/"+s.name+".dat", recorded[k])
	}
	frames := strconv.Itoa(b.frames) + "\n"
	if b.sequences != nil { // followed by the steps of each frame
		for _, n := range b.sequences.steps {
			frames += strconv.Itoa(n) + "\n"
		}
	}
	files.add("hls/tb/data/frames.txt", []byte(frames))
	calls, err := b.calls()
	if err != nil {
		return nil, err
	}
	files.add("hls/tb/data/calls.txt", calls)
	return files, nil
}

// calls returns the text with the number of calls of each check's function, by frame. A layer is called once per
// iteration. The network is called at most twice as often as all processes together, because some continue in the next
// frame.
func (b bench) calls() ([]byte, error) {
	var text []byte
	line := func(name string, calls []int) {
		text = append(text, name...)
		for _, n := range calls {
			text = strconv.AppendInt(append(text, ' '), int64(n), 10)
		}
		text = append(text, '\n')
	}
	all := make([]int, b.frames)
	for _, l := range b.layers {
		if len(l.Calls) != b.frames {
			return nil, fmt.Errorf("layer %s: calls for %d of %d frames", l.Name, len(l.Calls), b.frames)
		}
		line(l.Name, l.Calls)
		for f, n := range l.Calls {
			all[f] += 2 * n
		}
	}
	if b.top == "" {
		return text, nil
	}
	for _, e := range b.ends {
		t := b.streams[e.stream]
		for f, frame := range t.frames {
			all[f] += 2 * len(frame.Data) / t.port.PerWord
		}
	}
	line(b.top, all)
	return text, nil
}

// benchFiles adds the test bench and the Makefile of a project to files.
func benchFiles(files *ProjectFiles, b bench, face IPInterface) error {
	var v tbView
	for _, l := range b.layers {
		v.Checks = append(v.Checks, b.layer(l))
	}
	if b.top != "" {
		v.Network = true
		v.Checks = append(v.Checks, b.network(face))
	}
	text, err := render("tb.cpp.tpl", v)
	if err != nil {
		return err
	}
	files.add("hls/tb/tb.cpp", text)
	text, err = render("Makefile.tpl", makefileView{b.top})
	if err != nil {
		return err
	}
	files.add("hls/Makefile", text)
	return nil
}

// load returns the C++ declaration of the recording of stream s.
func (b bench) load(s int) string {
	t := b.streams[s]
	load := "load"
	if t.steps {
		load = "load_steps"
	}
	return fmt.Sprintf("const hlsgen::recording& %s = bench.%s(%[1]q, %[3]d, %d);", t.name, load, t.port.Width(),
		t.port.Words)
}

// network returns the check of the whole network through its AXI4-Streams.
func (b bench) network(face IPInterface) checkView {
	v := checkView{Name: face.Top, Next: "next_call_until_done"}
	var args []string
	for k, p := range slices.Concat(face.In, face.Out) {
		words, kind := b.streams[p.Stream].name, cStream(p.TDATA)
		if k < len(face.In) {
			send := "send"
			if b.streams[p.Stream].steps {
				send, kind = "send_packet", cAXIOut(p.TDATA)
			}
			v.Send = append(v.Send, fmt.Sprintf("bench.%s(%s, %s);", send, words, p.Name))
			v.Take = append(v.Take, fmt.Sprintf("bench.sent(%s);", p.Name))
			v.Compare = append(v.Compare, fmt.Sprintf("bench.expect_read(%s, %s);", words, p.Name))
		} else {
			kind = cAXIOut(p.TDATA)
			v.Take = append(v.Take, fmt.Sprintf("bench.take(%q, %s, %[1]s);", p.Name, words))
			v.Compare = append(v.Compare, fmt.Sprintf("bench.expect_all(%q, %s);", p.Name, words))
		}
		v.Loads = append(v.Loads, b.load(p.Stream))
		v.Ports = append(v.Ports, fmt.Sprintf("%s %s(%[2]q);", kind, p.Name))
		args = append(args, p.Name)
	}
	v.Call = face.Top + "(" + strings.Join(args, ", ") + ");"
	return v
}

// layer returns the check of a single layer.
func (b bench) layer(l wiring) checkView {
	v := checkView{Name: l.Name, Next: "next_call"}
	var args []string
	port := func(name string, s int) {
		v.Loads = append(v.Loads, b.load(s))
		v.Ports = append(v.Ports, fmt.Sprintf("%s %s(%q);", cStream(b.streams[s].port.Width()), name, l.Name+"."+name))
		args = append(args, name)
	}
	if l.Instance.Ends {
		v.Ports = append(v.Ports, fmt.Sprintf("%s ends(%q);", cStream(1), l.Name+".ends"))
		v.Send = append(v.Send, "bench.send_ends(ends);")
		args = append(args, "ends")
	}
	for k, s := range l.in {
		name := numbered("in", k, len(l.in))
		port(name, s)
		v.Send = append(v.Send, fmt.Sprintf("bench.send(%s, %s);", b.streams[s].name, name))
		v.Compare = append(v.Compare, fmt.Sprintf("bench.expect_read(%s, %s);", b.streams[s].name, name))
	}
	for k, s := range l.out {
		name := numbered("out", k, len(l.out))
		port(name, s)
		v.Compare = append(v.Compare, fmt.Sprintf("bench.expect(%s, %s);", b.streams[s].name, name))
	}
	v.Call = l.Name + "(" + strings.Join(args, ", ") + ");"
	return v
}
