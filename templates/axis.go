package templates

import (
	"fmt"
	"strings"

	"hlsgen/internal/dataflow"
)

// A process is one of the network's ends: between an AXI4-Stream and a stream inside (hlslib/core/axis.hpp).
type process struct {
	name, kernel string
	doc          string
	config       []dataflow.Field
	params, args []string // C++ types with names, and what the top calls it with
	stream       int
	input        bool
}

// processes are the ends of the network, inputs first.
func processes(d *dataflow.Design, face Interface, q *sequences) (list []process) {
	_, written := ends(d, face)
	for _, p := range face.In {
		e := process{name: p.End(), kernel: "axis_in", stream: p.Stream, input: true}
		outer, longest := cStream(p.TDATA), 0
		if q.is(p.Stream) {
			e.kernel, outer, longest = "axis_in_steps", cAXIOut(p.TDATA), q.longest
		}
		e.port(p, q.port(d, p.Stream), longest)
		e.param(outer, "in", p.Name)
		e.param(cStream(p.Port.Width()), "out", cStreamName(p.Stream))
		told := written[p.Stream]
		for k, name := range told {
			e.param(cStream(d.Model.Lengths.EndPort().Width()), "out_"+numbered("ends", k, len(told)), name)
		}
		list = append(list, e)
	}
	for _, p := range face.Out {
		e := process{name: p.End(), kernel: "axis_out", stream: p.Stream}
		longest := 0
		if q.is(p.Stream) {
			e.kernel, longest = "axis_out_steps", q.longest
			e.param(cStream(d.Model.Lengths.EndPort().Width()), "ends", endsOf(p.Name))
		}
		e.port(p, q.port(d, p.Stream), longest)
		e.param(cStream(p.Port.Width()), "in", cStreamName(p.Stream))
		e.param(cAXIOut(p.TDATA), "out", p.Name)
		list = append(list, e)
	}
	return list
}

// port is the config of an end: words are those of a frame, or of a step of a sequence.
func (e *process) port(p AXIPort, words dataflow.Port, longest int) {
	e.doc = "the network's end " + p.Name
	e.config = []dataflow.Field{
		{Name: "width", Doc: "bits of a word inside", Value: p.Port.Width()},
		{Name: "tdata", Doc: "bits of a word outside", Value: p.TDATA},
		{Name: "words", Doc: "words of a frame", Value: words.Words},
	}
	if longest > 0 {
		e.config[2].Doc = "words of a step"
	}
	switch {
	case e.input && longest > 0:
		e.config = append(e.config, dataflow.Field{Name: "longest", Doc: "steps of a sequence", Value: longest})
	case e.input:
		e.config = e.config[:2]
	}
}

func (e *process) param(typ, name, arg string) {
	e.params, e.args = append(e.params, typ+"& "+name), append(e.args, arg)
}

// call is how the top calls it.
func (e process) call() string { return e.name + "(" + strings.Join(e.args, ", ") + ");" }

// view spells an end as layers are.
func (e process) view() (layerView, error) {
	config := members{names: map[string]bool{}}
	for _, f := range e.config {
		config.add(f.Name, f.Value, f.Doc)
	}
	var args []string
	for _, p := range e.params {
		args = append(args, p[strings.LastIndexByte(p, ' ')+1:])
	}
	lines, err := config.aligned()
	return layerView{Name: e.name, Origin: comment(e.doc), Config: lines, Params: strings.Join(e.params, ", "),
		Func: e.kernel, Args: strings.Join(args, ", ")}, err
}

// addEnds puts the network's ends around its layers.
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
	v.Ends = len(list) > 0
	return nil
}
