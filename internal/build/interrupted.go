package build

import (
	"fmt"
	"strings"

	"github.com/dustin/go-humanize"

	"hlsgen/folding"
	"hlsgen/internal/diag"
)

// interrupted adds a warning to d if the user ended the search for f. The warning says what the search found and what
// it left open.
func interrupted(f *folding.Design, d *diag.List) {
	c := &f.Certificate
	if !c.Interrupted {
		return
	}
	hint := "" // no better design exists
	if !c.IsProvedBest() {
		hint = "for what is left open, run it again to the end, or with --search-time for a longer search"
	}
	d.Add(diag.Diag{Severity: diag.SeverityWarning, Code: diag.SearchInterrupted, Hint: hint,
		Msg: "the search was interrupted, and the best design that it had is built: " + reached(c)})
}

// reached returns text about a design's interval, latency and resources, each with its proved lower bound. It ends a
// warning.
func reached(c *folding.OptimalityCertificate) string {
	text := humanize.Commaf(c.Interval) + " clocks a frame"
	if c.Interval == 1 {
		text = "1 clock a frame"
	}
	switch {
	case c.Floor > 0 && float64(c.Floor) == c.Interval:
		text += ", the least there is"
	case c.Floor > 0:
		text += fmt.Sprintf(", none below %s possible", humanize.Comma(int64(c.Floor)))
	}
	parts := []string{text}
	if c.Latency != nil {
		parts = append(parts, c.Latency.String())
	}
	for _, b := range c.Bounds {
		parts = append(parts, b.String())
	}
	if given := c.BoundsConditionText(); given != "" {
		parts = append(parts, "This covers designs"+given)
	}
	for i, p := range parts {
		parts[i] = strings.ToUpper(p[:1]) + p[1:]
	}
	return folding.ReplaceRAMB18ByBoardName(strings.Join(parts, ". "), c.On)
}
