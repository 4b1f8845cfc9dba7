package delay_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"hlsgen/hlslib/price/delay"
)

var update = flag.Bool("update", false, "write the tables of docs/clock.md")

// TestPage checks the tables of docs/clock.md, each after a marker and up to the next blank line, against the entries.
func TestPage(t *testing.T) {
	t.Parallel()
	const page = "../../../docs/clock.md"
	b, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	for _, table := range []struct{ name, want string }{{"delays", entries()}, {"ends", ends()}} {
		head, rest, found := strings.Cut(text, "<!-- "+table.name+" -->\n\n")
		old, tail, more := strings.Cut(rest, "\n\n")
		if !found || !more {
			t.Fatalf("%s has no table of %s", page, table.name)
		}
		if old+"\n" == table.want {
			continue
		}
		text = head + "<!-- " + table.name + " -->\n\n" + table.want + "\n" + tail
		if !*update {
			t.Errorf("the table of %s in %s is not that of the entries; -update writes it", table.name, page)
		}
	}
	if *update {
		if err := os.WriteFile(page, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// families lists the families with entries of their own.
var families = [...]struct {
	name   string
	family delay.DelayFamily
}{{"7 series", delay.FamilySeries7}, {"UltraScale+", delay.FamilyUltraScale}}

// ends returns a table of the clocks of a network's ends.
func ends() string {
	var b strings.Builder
	b.WriteString("| family | MHz | input | output | together |\n|---|---|---|---|---|\n")
	for _, f := range families {
		for _, mhz := range []float64{100, 200, 300} {
			in, out := delay.NewStageDelayModel(f.family, mhz, nil, delay.DelayRangeExpected).IOLatencyClocks()
			fmt.Fprintf(&b, "| %s | %g | %d | %d | %d |\n", f.name, mhz, in, out, in+out)
		}
	}
	return b.String()
}

// entries returns a table of the delays of operations.
func entries() string {
	var b strings.Builder
	b.WriteString("| family | operation | bits | ns | from |\n|---|---|---|---|---|\n")
	for _, f := range families {
		for _, e := range delay.OpDelaysOf(f.family) {
			fmt.Fprintf(&b, "| %s | %v | %d | %.2f | %v: %s |\n", f.name, e.Op, e.Bits, e.NS, e.Grade, e.Source)
		}
		for _, u := range delay.UnitTimingsOf(f.family) {
			fmt.Fprintf(&b, "| %s | %v | | %.2f, %d clocks, %.2f | %v: %s |\n", f.name, u.Unit, u.In, u.Clocks, u.Out,
				u.Grade, u.Source)
		}
	}
	return b.String()
}
