// Package boards holds what is known of the boards: part, resources, host port. One JSON file per board; every figure
// names its source.
package boards

// A Board is one target. BRAM36 counts 36 Kbit blocks, as data sheets do.
type Board struct {
	Name           string  `json:"name"`
	Part           string  `json:"part"`
	LUT            int     `json:"lut"`
	FF             int     `json:"ff"`
	BRAM36         int     `json:"bram36"`
	URAM           int     `json:"uram"`
	DSP            int     `json:"dsp"`
	DSPType        string  `json:"dsp_type"`          // DSP48E1, DSP48E2 or DSP58
	HostPortBits   int     `json:"host_port_bits"`    // width of the port to the processor's memory, 0 where none
	ClockMHz       float64 `json:"default_clock_mhz"` // used without --clock
	PartSource     string  `json:"part_source"`
	ResourceSource string  `json:"resource_source"`
}
