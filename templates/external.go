package templates

import "hlsgen/internal/dataflow"

// A WeightPort is an AXI4-Stream into a top of circuits that carries weights with every frame: words in the order in
// which the layer reads its table.
type WeightPort struct {
	dataflow.Weights
	Axis string
	// Copies is how often the table lies in memory, one behind the other: as often as whole words of the memory take,
	// and long bursts.
	Copies int
}

// WeightPorts are those of a design, in the order of its layers.
func WeightPorts(d *dataflow.Design) (ports []WeightPort) {
	for _, w := range d.Externals() {
		ports = append(ports, WeightPort{w, "s_axis_" + w.Name + "_weights",
			copies(w.Port.Bytes(), d.Target.Board.MemoryBits()/8)})
	}
	return ports
}

// shortest is the bytes from which on a table is not repeated for the bursts' sake.
const shortest = 4096

// copies is how often a table of so many bytes lies in a memory of words of so many, a power of two.
func copies(bytes, word int) int {
	n := max(1, word/(bytes&-bytes))
	return n * max(1, shortest/(n*bytes))
}

// Image is a port's table as it lies in memory once: words of whole bytes, the first element of a row in the lowest
// bits.
func (p WeightPort) Image(t dataflow.Table) []byte {
	word := p.Port.TDATA() / 8
	data := make([]byte, 0, word*len(t.Rows))
	for _, row := range t.Rows {
		at := len(data)
		data = append(data, make([]byte, word)...)
		for i, v := range row {
			code := t.Elem.Encode(v)
			for bit := range t.Elem.Width {
				place := i*t.Elem.Width + bit
				data[at+place/8] |= byte(code>>bit&1) << (place % 8)
			}
		}
	}
	return data
}
