package rtl

import (
	"fmt"
	"strconv"

	"hlsgen/internal/dataflow"
	"hlsgen/templates"
)

// weights returns the name of the FIFO in front of a layer whose weights come with every frame.
func weights(layer string) string { return layer + "_weights" }

// weights adds an AXI4-Stream for each layer of the design whose weights come with every frame.
func (v *topView) weights(d *dataflow.Design) {
	for _, p := range templates.WeightPortsOf(d) {
		w, f := p.Port.Width(), dataflow.ExternalWeightFIFO
		v.Streams = append(v.Streams, streamView{weights(p.Name), strconv.Itoa(w), strconv.Itoa(w - 1),
			strconv.Itoa(f.Depth), style(f.Memory, d.Target.Board), false})
		b := borderView{Axis: p.Axis, Stream: weights(p.Name), Word: fmt.Sprintf("%s_TDATA[%d:0]", p.Axis, w-1),
			Width: strconv.Itoa(w)}
		if p.Port.TDATABits() > w {
			b.Unused = fmt.Sprintf("%s_TDATA[%d:%d]", p.Axis, p.Port.TDATABits()-1, w)
		}
		v.In = append(v.In, b)
	}
}

// A feedView describes a stream of weights in the bench, which always has a word. Name begins the names of its wires.
type feedView struct{ Name, Width, High, Words, File string }

// feeds makes the bench give a network's layers the weights that they read with every frame.
func (b *bencher) feeds(dut *dutView, d *dataflow.Design, files *templates.ProjectFiles) {
	for _, p := range templates.WeightPortsOf(d) {
		f := feedView{Name: dut.Name + "_" + weights(p.Name), Width: strconv.Itoa(p.Port.TDATABits()),
			High: strconv.Itoa(p.Port.TDATABits() - 1), Words: strconv.Itoa(p.Port.Words)}
		f.File = "bench/data/" + f.Name + ".dat"
		var text []byte
		table := d.ExternalWeightRows(p.ExternalWeights)
		for _, row := range table.Rows {
			text = append(templates.AppendHexWord(text, table.Elem, row), '\n')
		}
		*files = append(*files, templates.GeneratedFile{Path: "rtl/" + f.File, Data: text})
		dut.Feeds = append(dut.Feeds, f)
		for _, suffix := range []string{"TDATA", "TVALID", "TREADY"} {
			dut.Pins = append(dut.Pins, fmt.Sprintf(".%s_%s(%s_%[2]s)", p.Axis, suffix, f.Name))
		}
		b.view.Feeds = true
	}
}
