package compiler

import (
	"fmt"
	"math"
	"strings"

	"hlsgen/templates"
	"hlsgen/templates/rtl"
)

// A LoadReport is what it takes to load weights: once, before the first frame, and, of External, with every frame.
type LoadReport struct {
	From   WeightsFrom `json:"from"`
	Tables int         `json:"tables"`
	Words  int         `json:"words"` // of 32 bits; with the last one, which no table takes
	Bytes  int         `json:"bytes"`
	// of a stream: from the first word to the last, through the host's port and from a memory that is always ready
	Clocks  int     `json:"clocks_at_least,omitempty"`
	Seconds float64 `json:"seconds_at_least,omitempty"` // these, or what the memory's peak allows
	GB      float64 `json:"gb_per_s,omitempty"`         // meanwhile
	Port    float64 `json:"of_port,omitempty"`          // a share to a thousandth, where the board has a port
	Memory  float64 `json:"of_memory,omitempty"`        // a share of its peak, where that is known
	Mover   bool    `json:"mover"`                      // the build has one that reads them from memory

	External []ExternalReport `json:"external,omitempty"`
}

// An ExternalReport is the weights of a layer that come from memory with every frame.
type ExternalReport struct {
	Layer string  `json:"layer"`
	Port  string  `json:"port"`            // AXI4-Stream of the accelerator
	Bits  int     `json:"bits"`            // in a clock of the layer
	Bytes int64   `json:"bytes_per_frame"` // all of the table, as often as a frame takes it
	GB    float64 `json:"gb_per_s"`        // at the simulated rate of frames
}

// LoadOf is what it takes to load weights; nil where they are constants.
func LoadOf(r *Result) *LoadReport {
	d := r.Design
	if r.rooms == nil {
		return nil
	}
	l := &LoadReport{From: WeightsRuntime}
	for _, t := range rtl.TablesOf(d.Design) {
		l.Tables++
		l.Words += t.Size()
	}
	if l.Tables > 0 {
		l.Words++
	}
	frames := d.ClockMHz() * 1e6 / d.Every(d.Clocks.Pace) // a second
	for _, p := range templates.WeightPorts(d.Design) {
		l.External = append(l.External, ExternalReport{p.Name, p.Axis, p.Port.TDATA(), p.Bytes(),
			rounded(float64(p.Bytes()) * frames / 1e9)})
	}
	l.Bytes = templates.LoadBytes * l.Words
	if !d.Target.Loader {
		return l
	}
	l.From, l.Mover, l.Clocks = WeightsStream, r.System != nil, l.Words
	if l.External != nil {
		l.From = WeightsExternal
	}
	if l.Words == 0 {
		return l
	}
	hz, bits := d.ClockMHz()*1e6, d.Target.PortBits()
	if bits > 0 && bits < 8*templates.LoadBytes {
		l.Clocks *= 8 * templates.LoadBytes / bits
	}
	l.Seconds = float64(l.Clocks) / hz
	memory := d.Target.Board.MemoryGBps
	if bits > 0 && memory > 0 {
		l.Seconds = max(l.Seconds, float64(l.Bytes)/(memory*1e9))
	}
	l.GB = float64(l.Bytes) / l.Seconds / 1e9
	if bits > 0 {
		l.Port = thousandths(l.GB / (float64(bits) / 8 * hz / 1e9))
	}
	if bits > 0 && memory > 0 {
		l.Memory = thousandths(l.GB / memory)
	}
	l.GB = rounded(l.GB)
	return l
}

// String says so in words.
func (l *LoadReport) String() string {
	if l.From == WeightsRuntime {
		return fmt.Sprintf("%d words of 32 bits, written to a register one by one before the first frame", l.Words)
	}
	text := ""
	for _, e := range l.External {
		text += fmt.Sprintf("%s reads %d bytes with every frame, %s GB/s; ", e.Layer, e.Bytes, plain(e.GB))
	}
	if l.Words == 0 {
		return strings.TrimSuffix(text, "; ")
	}
	text += fmt.Sprintf("%d words of 32 bits in %s us, once, before the first frame: %s GB/s", l.Words,
		plain(math.Round(1e7*l.Seconds)/10), plain(l.GB))
	if l.Port > 0 {
		text += fmt.Sprintf(", %s %% of the port", share(l.Port))
	}
	if l.Memory > 0 {
		text += fmt.Sprintf(" and %s %% of the memory", share(l.Memory))
	}
	if !l.Mover {
		text += "; no mover is made, as nothing is known of a memory that it could read"
	}
	return text
}

func thousandths(x float64) float64 { return math.Round(1e3*x) / 1e3 }

// share is one in percent, to a tenth.
func share(x float64) string { return plain(math.Round(1e3*x) / 10) }
