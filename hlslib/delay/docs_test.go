package delay_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"hlsgen/hlslib/delay"
)

var update = flag.Bool("update", false, "write the table of docs/clock.md")

// TestPage holds the table of docs/clock.md against the entries.
func TestPage(t *testing.T) {
	t.Parallel()
	const page, mark, end = "../../docs/clock.md", "<!-- delays -->\n", "\n## "
	b, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, found := strings.Cut(string(b), mark)
	old, tail, more := strings.Cut(rest, end)
	if !found || !more {
		t.Fatalf("%s has no %s", page, mark)
	}
	if want := "\n" + table(); old != want {
		if *update {
			err = os.WriteFile(page, []byte(head+mark+want+end+tail), 0o644)
		}
		if !*update || err != nil {
			t.Errorf("the table of %s is not that of the entries (%v); -update writes it", page, err)
		}
	}
}

// table is the entries of the families that have some of their own.
func table() string {
	var b strings.Builder
	b.WriteString("| family | operation | bits | ns | from |\n|---|---|---|---|---|\n")
	for _, f := range []struct {
		name   string
		family delay.Family
	}{{"7 series", delay.Series7}, {"UltraScale+", delay.UltraScale}} {
		for _, e := range delay.Entries(f.family) {
			fmt.Fprintf(&b, "| %s | %v | %d | %.2f | %v: %s |\n", f.name, e.Op, e.Bits, e.NS, e.Grade, e.Source)
		}
		for _, u := range delay.Registered(f.family) {
			fmt.Fprintf(&b, "| %s | %v | | %.2f, %d clocks, %.2f | %v: %s |\n", f.name, u.Unit, u.In, u.Clocks, u.Out,
				u.Grade, u.Source)
		}
	}
	return b.String()
}
