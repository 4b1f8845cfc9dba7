// Package docs holds the pages about diagnostics that hlsgen shows: one for each code of package diag. The other pages
// of this folder are for readers of the project.
//
// In comes a code; out comes its page.
package docs

import (
	"embed"
	"strings"
)

// pages holds the Markdown page of each diagnostic, diagnostics/CODE.md.
//
//go:embed diagnostics/*.md
var pages embed.FS

// PageOfDiagnosticCode returns the Markdown page about a diagnostic's code, such as "not-mapped". ok is false if there
// is no such page.
func PageOfDiagnosticCode(code string) (text []byte, ok bool) {
	if strings.Contains(code, "/") {
		return nil, false
	}
	text, err := pages.ReadFile("diagnostics/" + code + ".md")
	return text, err == nil
}
