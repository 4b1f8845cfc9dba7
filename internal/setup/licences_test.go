package setup

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"hlsgen/internal/testsupport/tier"
)

var update = flag.Bool("update", false, "write what is linked into THIRD_PARTY_LICENSES")

// licencesFile is the file, below the module's root, that lists the libraries in the binary with their licences.
const licencesFile = "THIRD_PARTY_LICENSES"

// A kind is a licence, by its SPDX identifier, with words that are in its text and in none of the licences before it.
type kind struct {
	id    string
	words []string
}

var kinds = []kind{
	{"Apache-2.0", []string{"Apache License", "Version 2.0, January 2004"}},
	{"OFL-1.1", []string{"SIL OPEN FONT LICENSE Version 1.1"}},
	{"CC-BY-4.0", []string{"Creative Commons Attribution 4.0 International"}},
	{"LicenseRef-Gorgonia-1.0", []string{"Gorgonia License, Version 1.0"}},
	{"FTL", []string{"The FreeType Project LICENSE"}},
	{"MIT AND Apache-2.0", []string{"covered by two different licenses: MIT and Apache"}},
	{"BSD-3-Clause", []string{"Redistribution and use in source and binary forms", "either the name"}},
	{"BSD-2-Clause", []string{"Redistribution and use in source and binary forms"}},
	{"MIT", []string{"Permission is hereby granted, free of charge", `PROVIDED "AS IS"`}},
	{"BSD-3-Clause", []string{"a BSD-style licence", "golang.org/LICENSE"}}, // math32 has no other text
}

// elsewhere are the files of modules whose licence is not, or not alone, in the files called so.
var elsewhere = map[string][]string{
	"github.com/chewxy/math32":   {"README.md"},
	"github.com/golang/freetype": {"licenses/ftl.txt"}, // the one that is chosen of two
	"github.com/ajstarks/svgo":   {"LICENSE"},
}

// called matches the names of licence files. Files in a folder of such a name cover parts of the module.
var called = regexp.MustCompile(`(?i)^(licen[cs]e|copying|third_party_licenses)`)

// space is between words.
var space = regexp.MustCompile(`[\s>*]+`)

// A library is a module that the binary links.
type library struct {
	path, version string
	licence       string
	texts         []string // and NOTICE
}

// linked are the modules of the packages that the binary has on Linux, as the module cache has them.
func linked(t *testing.T) (list []library) {
	t.Helper()
	const form = "{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}} {{.Dir}}{{end}}{{end}}"
	cmd := exec.Command("go", "list", "-deps", "-f", form, "./cmd/hlsgen")
	cmd.Dir, cmd.Stderr = tier.Root(t), os.Stderr
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0",
		"GOPROXY=off", "GOFLAGS=-mod=readonly")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := slices.Compact(slices.Sorted(strings.SplitSeq(strings.TrimSpace(string(out)), "\n")))
	for _, line := range lines {
		words := strings.SplitN(line, " ", 3)
		if len(words) == 3 {
			list = append(list, licensed(t, library{path: words[0], version: words[1]}, words[2]))
		}
	}
	return list
}

// licensed reads the licences of a library in its folder.
func licensed(t *testing.T, l library, dir string) library {
	t.Helper()
	files := elsewhere[l.path]
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var parts []string
	for _, e := range entries {
		switch name := e.Name(); {
		case name == "NOTICE":
			parts = append(parts, name)
		case !called.MatchString(name) || elsewhere[l.path] != nil:
		case e.IsDir():
			inside, err := filepath.Glob(filepath.Join(dir, name, "*"))
			if err != nil {
				t.Fatal(err)
			}
			for _, path := range inside {
				parts = append(parts, filepath.Join(name, filepath.Base(path)))
			}
		default:
			files = append(files, name)
		}
	}
	var ids []string
	for i, name := range append(files, parts...) {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		text := strings.ReplaceAll(string(b), "\r", "")
		l.texts = append(l.texts, strings.Trim(text, "\n"))
		if i >= len(files) {
			continue
		}
		id := kindOf(text)
		if id == "" {
			t.Errorf("%s: no known licence stands in %s", l.path, name)
		}
		ids = append(ids, id)
	}
	if slices.Sort(ids); len(ids) == 0 {
		t.Errorf("%s has no licence", l.path)
	}
	l.licence = strings.Join(slices.Compact(ids), " AND ")
	return l
}

// kindOf is the licence that a text is; "" where it is none that is known.
func kindOf(text string) string {
	text = space.ReplaceAllString(text, " ")
	for _, k := range kinds {
		if !slices.ContainsFunc(k.words, func(w string) bool { return !strings.Contains(text, w) }) {
			return k.id
		}
	}
	return ""
}

// licences is the text of the file.
func licences(list []library) []byte {
	var b bytes.Buffer
	b.WriteString(`The binary hlsgen links the Go standard library and these modules. They are listed for Linux on
x86-64, with their licences by SPDX identifier, and after that the texts of these, each with the
modules that it is of. What else is included stands in NOTICE.

This file is written by: go test ./internal/setup -run TestLicences -args -update

`)
	wide := 0
	for _, l := range list {
		wide = max(wide, len(l.path+" "+l.version))
	}
	row := func(name, licence string) { fmt.Fprintf(&b, "%-*s  %s\n", wide, name, licence) }
	row("Go standard library", "BSD-3-Clause")
	of := map[string][]string{} // modules by text
	for _, l := range list {
		row(l.path+" "+l.version, l.licence)
		for _, text := range l.texts {
			if names := of[text]; !slices.Contains(names, l.path) {
				of[text] = append(names, l.path)
			}
			if l.path == "golang.org/x/sys" { // has the standard library's, to the letter
				of[text] = slices.Compact(append([]string{"Go standard library"}, of[text]...))
			}
		}
	}
	texts := slices.SortedFunc(maps.Keys(of), func(a, b string) int {
		return cmp.Or(slices.Compare(of[a], of[b]), cmp.Compare(a, b))
	})
	for _, text := range texts {
		fmt.Fprintf(&b, "\n%s\n%s\n\n%s\n", strings.Repeat("=", 80), strings.Join(of[text], "\n"), text)
	}
	return b.Bytes()
}

// TestLicences checks that the file names every library in the binary with its version and licence, and has the texts.
func TestLicences(t *testing.T) {
	t.Parallel()
	list := linked(t)
	for _, must := range []string{"github.com/spf13/cobra", "google.golang.org/protobuf", "golang.org/x/sys"} {
		if !slices.ContainsFunc(list, func(l library) bool { return l.path == must }) {
			t.Errorf("%s is not linked, or not seen", must)
		}
	}
	file := filepath.Join(tier.Root(t), licencesFile)
	want := licences(list)
	got, err := os.ReadFile(file)
	switch {
	case bytes.Equal(got, want):
	case *update:
		err = os.WriteFile(file, want, 0o666)
	default:
		t.Errorf("%s is not of what is linked (-update to accept)", licencesFile)
	}
	if err != nil {
		t.Error(err)
	}
}
