package rtlsim

import (
	"bufio"
	"fmt"
	"io"

	"hlsgen/internal/dataflow"
)

// A SAIFInstance is an instance in a design, by the names of the instances from the top on, with the names of the nets
// that say of a stream whether there is a word for its reader, and whether there is room for one: formats with the
// stream's number.
type SAIFInstance struct {
	Path         []string
	Valid, Ready string
}

// WriteSAIF writes the switching activity of a run recorded with Options.Record, for tools that estimate power (IEEE
// 1801, SAIF 2.0); any other run is an error. It has what WriteVCD has of the handshakes of streams, in picoseconds,
// for the instance i.
func WriteSAIF(w io.Writer, d *dataflow.Design, t *RunTrace, i SAIFInstance) error {
	if t.Record == nil || t.Record.Streams == nil {
		return errNoRecord
	}
	b := bufio.NewWriter(w)
	period := 2 * halfPeriod(d)
	fmt.Fprintf(b, "(SAIFILE\n(SAIFVERSION \"2.0\")\n(DIRECTION \"backward\")\n(PROGRAM_NAME \"hlsgen\")\n"+
		"(DIVIDER /)\n(TIMESCALE 1 ps)\n(DURATION %d)\n", period*t.Cycles)
	for _, name := range i.Path {
		fmt.Fprintf(b, "(INSTANCE %s\n", name)
	}
	fmt.Fprint(b, "(NET\n")
	for s := range t.Record.Streams {
		var high, toggles [2]int // of valid and ready
		was := handshake{}
		since := 0
		add := func(until int) {
			for k, on := range []int{was.valid, was.ready} {
				high[k] += on * (until - since)
			}
			since = until
		}
		for n, h := range handshakes(d, t, s) {
			if h.clock >= t.Cycles {
				break // the run has ended
			}
			add(h.clock)
			if n > 0 {
				toggles[0] += was.valid ^ h.valid
				toggles[1] += was.ready ^ h.ready
			}
			was = h
		}
		add(t.Cycles)
		for k, name := range []string{i.Valid, i.Ready} {
			fmt.Fprintf(b, "(%s (T0 %d) (T1 %d) (TX 0) (TC %d) (IG 0))\n", fmt.Sprintf(name, s),
				period*(t.Cycles-high[k]), period*high[k], toggles[k])
		}
	}
	fmt.Fprint(b, ")\n")
	for range i.Path {
		fmt.Fprint(b, ")\n")
	}
	fmt.Fprint(b, ")\n")
	return b.Flush()
}
