package templates

import (
	"fmt"
	"strings"

	"hlsgen/internal/dataflow"
)

// A process is one of the network's ends in C++, which converts between an AXI4-Stream and an internal stream
// (hlslib/core/axis.hpp).
type process struct {
	instance
	kernel string
	doc    string
	config []dataflow.ConfigField
	stream int
	input  bool
}

// processes returns the ends of the network, inputs first. q says which streams carry time steps of sequences; it is
// nil if none do.
func processes(d *dataflow.Design, face IPInterface, q *sequences) (list []process) {
	_, written := ends(d, face)
	for _, p := range face.In {
		e := process{instance: instance{name: p.ConverterProcessName()}, kernel: "axis_in", stream: p.Stream,
			input: true}
		longest := 0
		if q.is(p.Stream) {
			e.kernel, longest = "axis_in_steps", q.longest
		}
		e.port(p, q.port(d, p.Stream), longest)
		e.join(port{name: "in0", width: p.TDATA, axis: true, packet: longest > 0}, p.Name)
		e.join(port{name: "out0", width: p.Port.Width(), writes: true}, cStreamName(p.Stream))
		for k, name := range written[p.Stream] {
			told := port{name: fmt.Sprintf("out_ends%d", k), width: d.Model.Lengths.SequenceEndPort().Width(),
				writes: true}
			e.join(told, name)
		}
		list = append(list, e)
	}
	for _, p := range face.Out {
		e := process{instance: instance{name: p.ConverterProcessName()}, kernel: "axis_out", stream: p.Stream}
		longest := 0
		if q.is(p.Stream) {
			e.kernel, longest = "axis_out_steps", q.longest
			e.join(port{name: "ends", width: d.Model.Lengths.SequenceEndPort().Width()}, endsOf(p.Name))
		}
		e.port(p, q.port(d, p.Stream), longest)
		e.join(port{name: "in0", width: p.Port.Width()}, cStreamName(p.Stream))
		e.join(port{name: "out0", width: p.TDATA, writes: true, axis: true, packet: true}, p.Name)
		list = append(list, e)
	}
	return list
}

// port sets the config of an end at the AXI4-Stream p. words describes a frame or, if longest > 0, a time step of a
// sequence of at most that many.
func (e *process) port(p AXIStreamPort, words dataflow.Port, longest int) {
	e.doc = "the network's end " + p.Name
	e.config = []dataflow.ConfigField{
		{Name: "width", Doc: "bits of a word inside", Value: p.Port.Width()},
		{Name: "tdata", Doc: "bits of a word outside", Value: p.TDATA},
		{Name: "words", Doc: "words of a frame", Value: words.Words},
	}
	if longest > 0 {
		e.config[2].Doc = "words of a step"
	}
	switch {
	case e.input && longest > 0:
		e.config = append(e.config, dataflow.ConfigField{Name: "longest", Doc: "steps of a sequence", Value: longest})
	case e.input:
		e.config = e.config[:2]
	}
}

// join adds a port to the end, and connects it to the stream with the name to.
func (e *process) join(p port, to string) { e.ports, e.to = append(e.ports, p), append(e.to, to) }

// view returns the end in the form in which templates write layers.
func (e process) view() (layerView, error) {
	config := members{names: map[string]bool{}}
	for _, f := range e.config {
		config.add(f.Name, f.Value, f.Doc)
	}
	params, args := decls(e.ports)
	lines, err := config.aligned()
	return layerView{Name: e.name, Origin: comment(e.doc), Header: "core/axis.hpp", Config: lines,
		Params: strings.Join(params, ", "), Func: e.kernel, Args: strings.Join(args, ", ")}, err
}

// addEnds adds the network's ends to its layers: inputs in front, outputs behind.
func (v *layersView) addEnds(list []process) error {
	var in, out []layerView
	for _, e := range list {
		view, err := e.view()
		if err != nil {
			return fmt.Errorf("%s: %w", e.name, err)
		}
		if e.input {
			in = append(in, view)
		} else {
			out = append(out, view)
		}
	}
	v.Layers = append(append(in, v.Layers...), out...)
	return nil
}
