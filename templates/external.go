package templates

import "hlsgen/internal/dataflow"

// A WeightPort is an AXI4-Stream into a top of circuits that carries weights with every frame. Its words come in the
// order in which the layer reads its table.
type WeightPort struct {
	dataflow.ExternalWeights
	Axis string
	// Copies is the number of copies of the table in memory, one after the other. There are enough to fill whole
	// words of the memory, and long bursts.
	Copies int
}

// WeightPortsOf returns the weight ports of a design, in the order of its layers.
func WeightPortsOf(d *dataflow.Design) (ports []WeightPort) {
	for _, w := range d.ExternalWeights() {
		ports = append(ports, WeightPort{w, "s_axis_" + w.Name + "_weights",
			copies(w.Port.FrameBytes(), d.Target.Board.MemoryPortBits()/8)})
	}
	return ports
}

// shortest is the number of bytes that bursts of weights should have. A table of at least so many bytes is not
// repeated.
const shortest = 4096

// copies returns the number of copies of a table of that many bytes that lie in memory one after the other. Together
// they are whole words of word bytes, a power of two, and long enough for bursts.
func copies(bytes, word int) int {
	n := max(1, word/(bytes&-bytes))
	return n * max(1, shortest/(n*bytes))
}

// EncodeTable returns one copy of a port's table as bytes in memory. Each row is a word of whole bytes, with its first
// element in the lowest bits.
func (p WeightPort) EncodeTable(t dataflow.Table) []byte {
	word := p.Port.TDATABits() / 8
	data := make([]byte, 0, word*len(t.Rows))
	for _, row := range t.Rows {
		at := len(data)
		data = append(data, make([]byte, word)...)
		for i, v := range row {
			code := t.Elem.EncodeBits(v)
			for bit := range t.Elem.Width {
				place := i*t.Elem.Width + bit
				data[at+place/8] |= byte(code>>bit&1) << (place % 8)
			}
		}
	}
	return data
}
