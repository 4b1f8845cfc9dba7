package report

import (
	"bytes"
	"fmt"
	"html"

	"github.com/dustin/go-humanize"
)

// The sizes of a timeline, in pixels.
const (
	timelineWidth = 960 // of all columns
	timelineRow   = 20
	timelineBar   = 14
	timelineNames = 230
	timelineHead  = 48
)

// timelineStates are the states of layers, in the order of a run's clocks. The style has their colours.
var timelineStates = [...]string{"busy", "starved", "blocked"}

// svg returns a picture with a row per layer. Every column shows the shares of its clocks in which the layer was busy,
// starved and blocked, from the bottom up.
func (t *Timeline) svg() []byte {
	var b bytes.Buffer
	width, height := timelineNames+timelineWidth+30, timelineHead+len(t.Rows)*timelineRow+42
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" `+
		`font-family="sans-serif" font-size="11">`+"\n", width, height, width, height)
	for i, s := range timelineStates {
		x := timelineNames + 90*i
		fmt.Fprintf(&b, `<rect x="%d" y="12" width="12" height="12" class="%s"/><text x="%d" y="22">%s</text>`+"\n", x,
			s, x+17, s)
	}
	fmt.Fprintf(&b, `<text x="%d" y="22">%s clocks, %s in a column</text>`+"\n", timelineNames+300,
		humanize.Comma(int64(t.Clocks)), humanize.Comma(int64(t.Bin)))
	columns := float64((t.Clocks + t.Bin - 1) / t.Bin)
	for i, row := range t.Rows {
		top := timelineHead + i*timelineRow
		fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="end">%s<title>%s</title></text>`+"\n",
			timelineNames-8, top+11, html.EscapeString(cut(row.Name, 34)), html.EscapeString(row.Name))
		var areas [len(timelineStates)]bytes.Buffer
		column := 0
		for _, run := range row.Runs {
			below := 0
			for s := range timelineStates {
				if high := run[1+s]; high > 0 {
					fmt.Fprintf(&areas[s], "M%d %dh%dv%dh-%dz", column, below, run[0], high, run[0])
				}
				below += run[1+s]
			}
			column += run[0]
		}
		fmt.Fprintf(&b, `<g transform="translate(%d %d) scale(%.5f %.5f)">`, timelineNames, top+timelineBar,
			timelineWidth/columns, -timelineBar/float64(t.Bin))
		for s, state := range timelineStates {
			if areas[s].Len() > 0 {
				fmt.Fprintf(&b, `<path class="%s" d="%s"/>`, state, areas[s].Bytes())
			}
		}
		b.WriteString("</g>\n")
	}
	foot := timelineHead + len(t.Rows)*timelineRow
	for k := 0; k <= 4; k++ {
		x := timelineNames + k*timelineWidth/4
		fmt.Fprintf(&b, `<path d="M%d %dV%d" stroke="#888" stroke-width="0.5"/>`+
			`<text x="%d" y="%d" text-anchor="middle">%s</text>`+"\n", x, timelineHead-4, foot+4, x, foot+18,
			humanize.Comma(int64(k*int(columns)*t.Bin/4)))
	}
	fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="middle">clocks</text>`+"\n", timelineNames+timelineWidth/2,
		foot+34)
	fmt.Fprintln(&b, `</svg>`)
	return b.Bytes()
}

// cut returns the first n characters of a text, with an ellipsis if there are more.
func cut(text string, n int) string {
	if r := []rune(text); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return text
}
