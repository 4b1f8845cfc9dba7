package hlslib

import (
	"embed"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

//go:embed core/*.hpp csim/*.h */*.hpp core/*.sv
var sources embed.FS

// RTLFiles returns the SystemVerilog files of the library, sorted by path. A project keeps them in rtl/. Each file
// contains one module, with the file's name.
func RTLFiles() []EmbeddedLibraryFile {
	names, err := fs.Glob(sources, "core/*.sv")
	if err != nil {
		panic("hlslib: embedded files: " + err.Error())
	}
	var hs []EmbeddedLibraryFile
	for _, name := range names {
		text, err := sources.ReadFile(name)
		if err != nil {
			panic("hlslib: embedded files: " + err.Error())
		}
		hs = append(hs, EmbeddedLibraryFile{"rtl/" + path.Base(name), text})
	}
	return hs
}

// An EmbeddedLibraryFile is one file of the library: its text, and its path in a project. Kernels are in
// include/hlsgen/, the headers that they share in include/hlsgen/core/, the headers for C simulation in csim/, and
// modules in rtl/.
type EmbeddedLibraryFile struct {
	Path string
	Text []byte
}

// included matches a line with which a kernel includes the header of another kernel. Its group is the header's name.
var included = regexp.MustCompile(`(?m)^#include "(\w+\.hpp)"`)

// HeadersForKernelFiles returns the C++ headers of the library for a project, sorted by path. They are the shared
// headers, those for C simulation, and the named kernels ("mvau.hpp") with the kernels that they include. Unknown names
// are ignored. Without names, all kernels are among them.
func HeadersForKernelFiles(kernels ...string) []EmbeddedLibraryFile {
	var hs []EmbeddedLibraryFile
	own := map[string][]byte{}
	err := fs.WalkDir(sources, ".", func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path.Ext(file) == ".sv" {
			return err
		}
		text, err := sources.ReadFile(file)
		switch dir, base := path.Split(file); dir {
		case "core/":
			hs = append(hs, EmbeddedLibraryFile{"include/hlsgen/core/" + base, text})
		case "csim/":
			hs = append(hs, EmbeddedLibraryFile{"csim/" + base, text})
		default:
			own[base] = text
		}
		return err
	})
	if err != nil {
		panic("hlslib: embedded files: " + err.Error())
	}
	wanted := kernels
	if len(wanted) == 0 {
		wanted = slices.Collect(maps.Keys(own))
	}
	taken := map[string]bool{}
	for len(wanted) > 0 {
		k := wanted[0]
		wanted = wanted[1:]
		if text, ok := own[k]; ok && !taken[k] {
			taken[k] = true
			hs = append(hs, EmbeddedLibraryFile{"include/hlsgen/" + k, text})
			for _, m := range included.FindAllSubmatch(text, -1) {
				wanted = append(wanted, string(m[1]))
			}
		}
	}
	slices.SortFunc(hs, func(a, b EmbeddedLibraryFile) int { return strings.Compare(a.Path, b.Path) })
	return hs
}
