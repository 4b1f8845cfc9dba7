package docs

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	vendorBlock = regexp.MustCompile("(?ms)^```sh vendor\n(.*?)^```")
	neverRow    = regexp.MustCompile("(?m)^\\| `([^`]+)` \\| ")
)

// TestNeverRun checks that the table of commands that were never run has those of the vendor's tools on its page and on
// that of boards, and no others.
func TestNeverRun(t *testing.T) {
	t.Parallel()
	var commands, table []string
	for _, page := range []string{"board.md", "boards.md"} {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range vendorBlock.FindAllStringSubmatch(string(text), -1) {
			for line := range strings.Lines(block[1]) {
				command, _, _ := strings.Cut(line, "#")
				commands = append(commands, strings.TrimSpace(command))
			}
		}
		if _, rows, ok := strings.Cut(string(text), "\n### Never run\n"); ok {
			for _, row := range neverRow.FindAllStringSubmatch(rows, -1) {
				table = append(table, row[1])
			}
		}
	}
	slices.Sort(commands)
	slices.Sort(table)
	if !slices.Equal(commands, table) || len(table) == 0 {
		t.Errorf("the pages have %q, the table %q", commands, table)
	}
}
