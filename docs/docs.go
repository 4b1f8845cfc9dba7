// Package docs holds the pages that hlsgen shows: one per code of package diag. The other pages of this folder are for
// readers of the project.
//
// In comes a code; out comes its page.
package docs

import (
	"embed"
	"strings"
)

//go:embed diagnostics/*.md
var pages embed.FS

// DiagnosticPage returns the Markdown page of a diagnostic's code, such as "not-mapped". ok is false if there is no
// such page.
func DiagnosticPage(code string) (text []byte, ok bool) {
	if strings.Contains(code, "/") {
		return nil, false
	}
	text, err := pages.ReadFile("diagnostics/" + code + ".md")
	return text, err == nil
}
