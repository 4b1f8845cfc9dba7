package synthtest

import (
	_ "embed"
	"fmt"
	"regexp"
	"strings"

	"hlsgen/templates"
)

//go:embed habits/hls_stream.h
var habitsStream []byte

// A habit is a difference between the vendor's ap_int.h and this project's.
type habit struct {
	ours   *regexp.Regexp
	theirs string
	times  int
}

// habits lists the differences that VendorHeaders makes.
var habits = []habit{
	// Uninitialised variables have arbitrary values.
	{regexp.MustCompile(`constexpr store\(\) : V\{\} \{\}`), `store() {}`, 1},
	// An assignment of bits with another width prints a warning.
	{regexp.MustCompile(`(#define \w+_SAME_WIDTH\(width\)) static_assert\(.*\);`), `$1 if (W != width) ` +
		`std::fprintf(stderr, "WARNING: Bitsize mismatch for ap_[u]int.\n");`, 1},
	// No constructor is constexpr. A static with a constructor is initialised at its first use, which a guard
	// remembers.
	{regexp.MustCompile(`constexpr (store\(ap_ulong|ap_int_base\(T|name\(T)`), `$1`, 3},
}

// VendorHeaders returns the headers of a project, below hls/habits, changed to behave as the vendor's. No constructor
// is constexpr, and uninitialised variables have arbitrary values. Three things print warnings: assigning bits of
// another width, reading an empty stream, and leaving words in a stream.
func VendorHeaders(files templates.ProjectFiles) (templates.ProjectFiles, error) {
	var list templates.ProjectFiles
	for _, f := range files {
		name, ok := strings.CutPrefix(f.Path, "hls/csim/")
		if !ok {
			continue
		}
		text := f.Data
		switch name {
		case "hls_stream.h":
			text = habitsStream
		case "ap_int.h":
			for _, h := range habits {
				if n := len(h.ours.FindAll(text, -1)); n != h.times {
					return nil, fmt.Errorf("%s has %v %d times, not %d", f.Path, h.ours, n, h.times)
				}
				text = h.ours.ReplaceAll(text, []byte(h.theirs))
			}
		}
		list = append(list, templates.GeneratedFile{Path: "hls/habits/" + name, Data: text})
	}
	return list, nil
}
