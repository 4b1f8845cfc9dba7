package hlslib_test

import (
	"regexp"
	"strings"
	"testing"

	"hlsgen/hlslib"
)

// TestHeadersStandAlone: what a project ships says itself what it computes: it names no Go file, which is not shipped,
// and each kernel has words of its own on its mathematics, ahead of the list of what its config has.
func TestHeadersStandAlone(t *testing.T) {
	t.Parallel()
	goFile := regexp.MustCompile(`\b\w+\.go\b|\bGo layers\b`)
	for _, h := range hlslib.Headers() {
		text := string(h.Text)
		for _, m := range goFile.FindAllString(text, -1) {
			t.Errorf("%s names %s", h.Path, m)
		}
		if strings.Contains(h.Path, "/core/") || strings.HasPrefix(h.Path, "csim/") {
			continue
		}
		about, _, ok := strings.Cut(text, "\n//\n// C has the member")
		if n := len(strings.Fields(about)); !ok || n < 15 {
			t.Errorf("%s: %d words on what it computes, ahead of the members of C", h.Path, n)
		}
	}
}
