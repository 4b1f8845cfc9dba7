package hlslib_test

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"hlsgen/hlslib"
)

// TestHeadersStandAlone checks that shipped headers describe their own computation. They name no Go file, because none
// is shipped. Each kernel describes its mathematics in front of the members of its config.
func TestHeadersStandAlone(t *testing.T) {
	t.Parallel()
	goFile := regexp.MustCompile(`\b\w+\.go\b|\bGo layers\b`)
	for _, h := range hlslib.HeadersForKernelFiles() {
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

var (
	included = regexp.MustCompile(`(?m)^#include "([\w/]+\.hpp)"$`)
	asked    = regexp.MustCompile(`\bC::(?:template )?(\w+)`)
	listed   = regexp.MustCompile(`(?m)^//     (\w+(?:, \w+)*)(?: \.\.\.)?   +\S`)
	told     = regexp.MustCompile(`(?m)^// C has the members? (.*(?:\n// \S.*)*)`)
	member   = regexp.MustCompile(`\b[a-z]\w*_(?:t|width|per_word|per_limb)\b`)
)

// TestHeadersNameMembers checks that a kernel, or a header that it includes, uses every member of the config that its
// header lists.
func TestHeadersNameMembers(t *testing.T) {
	t.Parallel()
	texts := map[string]string{}
	for _, h := range hlslib.HeadersForKernelFiles() {
		texts[strings.TrimPrefix(h.Path, "include/hlsgen/")] = string(h.Text)
	}
	for name, text := range texts {
		if strings.HasPrefix(name, "csim/") {
			continue
		}
		for _, m := range unasked(name, texts) {
			t.Errorf("%s: no C::%s", name, m)
		}
		if !strings.Contains(name, "/") && !told.MatchString(text) {
			t.Errorf("%s does not say what C has", name)
		}
	}
	texts["dwc.hpp"] = strings.Replace(texts["dwc.hpp"], "in_width and", "in_width, in_per_word and", 1) +
		"//     buffer_width, trips   two\n"
	if got := fmt.Sprint(unasked("dwc.hpp", texts)); got != "[in_per_word trips]" {
		t.Errorf("members planted in dwc.hpp: found are %s", got)
	}
}

// unasked returns the members that a header names and that no code uses.
func unasked(name string, texts map[string]string) (names []string) {
	asks, seen := map[string]bool{}, map[string]bool{}
	var read func(name string)
	read = func(name string) {
		if seen[name] {
			return
		}
		seen[name] = true
		for _, m := range asked.FindAllStringSubmatch(texts[name], -1) {
			asks[m[1]] = true
		}
		for _, m := range included.FindAllStringSubmatch(texts[name], -1) {
			read(path.Join(path.Dir(name), m[1]))
			read(m[1])
		}
	}
	read(name)
	for _, m := range told.FindAllStringSubmatch(texts[name], -1) {
		names = append(names, member.FindAllString(m[1], -1)...)
	}
	for _, m := range listed.FindAllStringSubmatch(texts[name], -1) {
		names = append(names, strings.Split(m[1], ", ")...)
	}
	return slices.DeleteFunc(names, func(n string) bool { return asks[n] })
}
