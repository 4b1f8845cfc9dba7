package report

import (
	"fmt"
	"math"
	"strings"

	"hlsgen/internal/options"
	"hlsgen/templates"
	"hlsgen/templates/rtl"
)

// A WeightLoadReport gives the time to load weights before the first frame, and the traffic of weights that layers read
// with every frame.
type WeightLoadReport struct {
	From   options.WeightSource `json:"from"`
	Tables int                  `json:"tables"`
	Words  int                  `json:"words"` // of 32 bits, with a last word that no table takes
	Bytes  int                  `json:"bytes"`
	// minimum time from the first word to the last, through the host's port, if the memory is always ready; 0 for
	// registers
	Clocks int `json:"clocks_at_least,omitempty"`
	// Clocks in seconds, or longer if the memory's peak rate limits it
	Seconds float64 `json:"seconds_at_least,omitempty"`
	GB      float64 `json:"gb_per_s,omitempty"`  // rate while loading
	Port    float64 `json:"of_port,omitempty"`   // share of the port's rate, to a thousandth; 0 without a port
	Memory  float64 `json:"of_memory,omitempty"` // share of the memory's peak rate; 0 if that is unknown
	Mover   bool    `json:"mover"`               // the build contains a mover that reads the weights

	External []LayerExternalWeightsReport `json:"external,omitempty"`
}

// A LayerExternalWeightsReport describes the weights that one layer reads from memory with every frame.
type LayerExternalWeightsReport struct {
	Layer string  `json:"layer"`
	Port  string  `json:"port"`            // name of the AXI4-Stream of the accelerator
	Bits  int     `json:"bits"`            // width of the stream; a word per clock
	Bytes int64   `json:"bytes_per_frame"` // size of the table times its reads per frame
	GB    float64 `json:"gb_per_s"`        // at the simulated frame rate
}

// WeightLoadReport returns the report on the loading of weights, or nil if weights are constants.
func (r *Build) WeightLoadReport() *WeightLoadReport {
	d := r.Design
	if !r.Loaded {
		return nil
	}
	l := &WeightLoadReport{From: options.WeightSourceRuntime}
	for _, t := range rtl.LoadedTablesOf(d.Design) {
		l.Tables++
		l.Words += t.WordsToLoadCount()
	}
	if l.Tables > 0 {
		l.Words++
	}
	frames := d.ReachedClockMHz() * 1e6 / d.ClocksBetweenFrames(d.Clocks.IntervalAndLatency) // per second
	for _, p := range templates.WeightPortsOf(d.Design) {
		l.External = append(l.External, LayerExternalWeightsReport{p.Name, p.Axis, p.Port.TDATABits(),
			p.BytesPerFrame(),
			rounded(float64(p.BytesPerFrame()) * frames / 1e9)})
	}
	l.Bytes = templates.TableLoadWordBytes * l.Words
	if !d.Target.Loader {
		return l
	}
	l.From, l.Mover, l.Clocks = options.WeightSourceStream, r.System != nil, l.Words
	if l.External != nil {
		l.From = options.WeightSourceExternal
	}
	if l.Words == 0 {
		return l
	}
	hz, bits := d.ReachedClockMHz()*1e6, d.Target.HostPortBits()
	if bits > 0 && bits < 8*templates.TableLoadWordBytes {
		l.Clocks *= 8 * templates.TableLoadWordBytes / bits
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

// String returns text about the loading: its words, its time, and its share of the bandwidth.
func (l *WeightLoadReport) String() string {
	if l.From == options.WeightSourceRuntime {
		return fmt.Sprintf("%d words of 32 bits, written to a register one by one before the first frame", l.Words)
	}
	text := ""
	for _, e := range l.External {
		text += fmt.Sprintf("%s reads %d bytes with every frame, %s GB/s; ", e.Layer, e.Bytes, FormatDecimal(e.GB))
	}
	if l.Words == 0 {
		return strings.TrimSuffix(text, "; ")
	}
	text += fmt.Sprintf("%d words of 32 bits in %s us, once, before the first frame: %s GB/s", l.Words,
		FormatDecimal(math.Round(1e7*l.Seconds)/10), FormatDecimal(l.GB))
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

// thousandths rounds x to three decimals.
func thousandths(x float64) float64 { return math.Round(1e3*x) / 1e3 }

// share returns x, a share of 1, as text in percent, rounded to a tenth.
func share(x float64) string { return FormatDecimal(math.Round(1e3*x) / 10) }
