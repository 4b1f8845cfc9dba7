package hlslib

import (
	"embed"
	"io/fs"
	"path"
	"slices"
)

//go:embed core/*.hpp csim/*.h */*.hpp
var sources embed.FS

// A Header is one C++ file of the library. Path is where a project keeps it: kernels under include/hlsgen/, what they
// share under include/hlsgen/core/, the C simulation headers under csim/.
type Header struct {
	Path string
	Text []byte
}

// Headers returns the library for a project, sorted by path: the shared headers, the C simulation headers, and of
// the kernels those named ("mvau.hpp"), or every kernel where none is named.
func Headers(kernels ...string) []Header {
	var hs []Header
	err := fs.WalkDir(sources, ".", func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		dir, base := path.Split(file)
		switch dir {
		case "core/":
			base = "include/hlsgen/core/" + base
		case "csim/":
			base = "csim/" + base
		default:
			if len(kernels) > 0 && !slices.Contains(kernels, base) {
				return nil
			}
			base = "include/hlsgen/" + base
		}
		text, err := sources.ReadFile(file)
		hs = append(hs, Header{Path: base, Text: text})
		return err
	})
	if err != nil {
		panic("hlslib: embedded files: " + err.Error())
	}
	return hs
}
