package templates

import "hlsgen/internal/dataflow"

// A WeightPort is an AXI4-Stream into a top of circuits that carries weights with every frame: words in the order in
// which the layer reads its table.
type WeightPort struct {
	dataflow.Weights
	Axis string
}

// WeightPorts are those of a design, in the order of its layers.
func WeightPorts(d *dataflow.Design) (ports []WeightPort) {
	for _, w := range d.Externals() {
		ports = append(ports, WeightPort{w, "s_axis_" + w.Name + "_weights"})
	}
	return ports
}
