package rtlsim

import (
	"bufio"
	"encoding/json"
	"fmt"
	"html"
	"io"

	"hlsgen/internal/dataflow"
)

// The sizes of a timeline, in pixels unless stated otherwise.
const (
	timelineBins  = 240 // columns at most
	timelineBin   = 4   // width of a column
	timelineRow   = 20  // height of a row
	timelineBar   = 16  // height of a bar
	timelineNames = 260
	timelineHead  = 48
)

var stateColours = [...]string{StateBusy: "#2a9d4a", StateStarved: "#c8ccd0", StateBlocked: "#d1495b"}

// WriteTimelineSVG writes an SVG picture of a run, without external files; a run without a record is an error. It has a
// row per layer. Each column shows the shares of its clocks that the layer was busy, starved (without words) and
// blocked (without room), from the bottom up. After a layer's last iteration its row is empty.
func WriteTimelineSVG(w io.Writer, d *dataflow.Design, t *RunTrace) error {
	if t.Record == nil {
		return errNoRecord
	}
	b := bufio.NewWriter(w)
	bin := max(1, (t.Cycles+timelineBins-1)/timelineBins) // clocks
	rows := len(t.Record.Layers)
	width, height := timelineNames+timelineBins*timelineBin+20, timelineHead+rows*timelineRow+30
	fmt.Fprintf(b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" font-family="sans-serif" font-size="11">`+"\n", width, height, width, height)
	fmt.Fprintf(b, `<rect width="%d" height="%d" fill="white"/>`+"\n", width, height)
	for s, colour := range stateColours {
		x := timelineNames + 90*s
		fmt.Fprintf(b, `<rect x="%d" y="12" width="12" height="12" fill="%s"/><text x="%d" y="22">%s</text>`+"\n", x,
			colour, x+17, LayerState(s))
	}
	fmt.Fprintf(b, `<text x="%d" y="22">%d clocks, %d in a column</text>`+"\n", timelineNames+300, t.Cycles, bin)
	for i := range t.Record.Layers {
		y := timelineHead + i*timelineRow
		fmt.Fprintf(b, `<text x="%d" y="%d" text-anchor="end">%s</text>`+"\n", timelineNames-8, y+12,
			html.EscapeString(d.Model.Graph.Nodes[i].Name))
		drawRow(b, y, columns(&t.Record.Layers[i], bin), bin)
	}
	y := timelineHead + rows*timelineRow
	for k := 0; k <= 4; k++ {
		x := timelineNames + k*timelineBins*timelineBin/4
		fmt.Fprintf(b, `<path d="M%d %dV%d" stroke="#888" stroke-width="0.5"/><text x="%d" y="%d" text-anchor="middle">%d</text>`+"\n", x, timelineHead-4, y+4, x, y+18, k*timelineBins*bin/4)
	}
	fmt.Fprintln(b, `</svg>`)
	return b.Flush()
}

// columns returns, for each column of bin clocks, how many clocks the layer spent in each state.
func columns(spans *StateSpans, bin int) (list [][3]int) {
	for s := range spans.AllSpans() {
		for from := s.From; from < s.To; {
			k := from / bin
			to := min(s.To, (k+1)*bin)
			for k >= len(list) {
				list = append(list, [3]int{})
			}
			list[k][s.LayerState] += to - from
			from = to
		}
	}
	return list
}

// drawRow draws the columns of a layer's row at height y, each of bin clocks. Successive columns with the same shares
// are one rectangle per state.
func drawRow(b *bufio.Writer, y int, list [][3]int, bin int) {
	for k := 0; k < len(list); {
		n := 1
		for k+n < len(list) && list[k+n] == list[k] {
			n++
		}
		below := 0 // clocks
		for s, clocks := range list[k] {
			if clocks > 0 {
				bottom, top := 10*timelineBar*below/bin, 10*timelineBar*(below+clocks)/bin // tenths of a pixel
				upper := 10*(y+timelineBar) - top
				fmt.Fprintf(b, `<rect x="%d" y="%d.%d" width="%d" height="%d.%d" fill="%s"/>`+"\n",
					timelineNames+k*timelineBin, upper/10, upper%10, n*timelineBin, (top-bottom)/10, (top-bottom)%10,
					stateColours[s])
			}
			below += clocks
		}
		k += n
	}
}

// A timelineEvent is an event in the format of Chrome's and Perfetto's traces: the name of a layer's row, or a span of
// one. Times are in microseconds.
type timelineEvent struct {
	Name   string         `json:"name"`
	Phase  string         `json:"ph"`
	Begin  float64        `json:"ts"`
	Length float64        `json:"dur,omitempty"`
	Run    int            `json:"pid"`
	Row    int            `json:"tid"`
	Facts  map[string]any `json:"args,omitempty"`
}

// WriteTimelineJSON writes a run for viewers of traces, such as Perfetto; a run without a record is an error. It has a
// row per layer, with a span for each time that the layer was busy, starved or blocked. Each span has its clocks as
// arguments.
func WriteTimelineJSON(w io.Writer, d *dataflow.Design, t *RunTrace) error {
	if t.Record == nil {
		return errNoRecord
	}
	const run = 1
	micros := func(clocks int) float64 { return float64(clocks) / d.Target.ClockMHz }
	b := bufio.NewWriter(w)
	fmt.Fprint(b, `{"displayTimeUnit": "ns", "traceEvents": [`)
	e := json.NewEncoder(b)
	comma := ""
	write := func(v timelineEvent) error {
		fmt.Fprint(b, comma)
		comma = ","
		return e.Encode(v)
	}
	for i := range t.Record.Layers {
		row := timelineEvent{Name: "thread_name", Phase: "M", Run: run, Row: i + 1,
			Facts: map[string]any{"name": d.Model.Graph.Nodes[i].Name}}
		if err := write(row); err != nil {
			return err
		}
		for s := range t.Record.Layers[i].AllSpans() {
			span := timelineEvent{Name: s.LayerState.String(), Phase: "X", Begin: micros(s.From),
				Length: micros(s.To - s.From), Run: run, Row: i + 1,
				Facts: map[string]any{"from_clock": s.From, "to_clock": s.To}}
			if err := write(span); err != nil {
				return err
			}
		}
	}
	fmt.Fprintln(b, "]}")
	return b.Flush()
}
