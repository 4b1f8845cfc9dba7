// Package wheel writes wheels: distributions of Python that pip installs, as zip files. A wheel's bytes depend on its
// contents alone.
//
// In comes a Distribution, out come the name of a file and its bytes.
package wheel

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/csv"
	"fmt"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Distribution describes a wheel for any Python 3 without an ABI of its own.
type Distribution struct {
	Name           string // hlsgen-driver
	Version        string // in the form of VersionOf
	Summary        string // one line
	Description    string // in Markdown
	Licence        string // as an SPDX identifier
	Homepage       string // an address, or empty
	RequiresPython string
	Requires       []string // other distributions, as pip takes them
	Extras         []string // names that some of them are asked for by
	Platforms      []string // any, or names such as manylinux_2_17_x86_64
	Files          []File   // below the folder of packages
	Licences       []File   // texts of licences

	Scripts map[string]string // programs that pip makes: module:function by name
}

// A File is a file of a wheel, with its path from the folder in which it is installed.
type File struct {
	Path string
	Data []byte
	Mode fs.FileMode // permissions; 0 means 0644
}

// described matches a version as git describes it: a tag, the number of commits since then, and the commit.
var described = regexp.MustCompile(`^v?(\d+(?:\.\d+)+)(?:-(\d+)-g([0-9a-f]+))?(-dirty)?$`)

// commit matches the version of a commit that no tag comes before.
var commit = regexp.MustCompile(`^([0-9a-f]{7,40})(-dirty)?$`)

// VersionOf returns a version as Python writes it (PEP 440), of one that git describes: 1.2 of v1.2, 1.2.post3+g1a2b3c4
// of v1.2-3-g1a2b3c4, and 0+g1a2b3c4 of the commit 1a2b3c4. It returns an error for other texts.
func VersionOf(git string) (string, error) {
	dirty := func(local, mark string) string {
		if mark == "" {
			return local
		}
		return strings.TrimPrefix(local+".dirty", ".")
	}
	join := func(public, local string) string {
		if local == "" {
			return public
		}
		return public + "+" + local
	}
	if m := commit.FindStringSubmatch(git); m != nil {
		return join("0", dirty("g"+m[1], m[2])), nil
	}
	m := described.FindStringSubmatch(git)
	switch {
	case m == nil:
		return "", fmt.Errorf("%q is no version: want a tag such as v1.2, or a commit", git)
	case m[2] == "":
		return join(m[1], dirty("", m[4])), nil
	}
	return join(m[1]+".post"+m[2], dirty("g"+m[3], m[4])), nil
}

// FileName returns the name that the wheel must have.
func (d *Distribution) FileName() string {
	return d.stem() + "-py3-none-" + strings.Join(d.Platforms, ".") + ".whl"
}

// stem returns the name and the version as they begin the names of files.
func (d *Distribution) stem() string { return strings.ReplaceAll(d.Name, "-", "_") + "-" + d.Version }

// Bytes returns the wheel. It returns an error if a file has no path, or two have the same one.
func (d *Distribution) Bytes() ([]byte, error) {
	info := d.stem() + ".dist-info/"
	files := append([]File{}, d.Files...)
	for _, f := range d.Licences {
		f.Path = info + "licenses/" + f.Path
		files = append(files, f)
	}
	files = append(files, File{Path: info + "METADATA", Data: d.metadata()},
		File{Path: info + "WHEEL", Data: d.wheel()})
	if len(d.Scripts) > 0 {
		text := "[console_scripts]\n"
		for _, name := range slices.Sorted(maps.Keys(d.Scripts)) {
			text += name + " = " + d.Scripts[name] + "\n"
		}
		files = append(files, File{Path: info + "entry_points.txt", Data: []byte(text)})
	}
	record, err := record(files, info+"RECORD")
	if err != nil {
		return nil, err
	}
	first := time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC) // that a zip file can have
	var text bytes.Buffer
	to := zip.NewWriter(&text)
	for _, f := range append(files, File{Path: info + "RECORD", Data: record}) {
		h := &zip.FileHeader{Name: f.Path, Method: zip.Deflate, Modified: first}
		if f.Mode == 0 {
			f.Mode = 0o644
		}
		h.SetMode(f.Mode)
		w, err := to.CreateHeader(h)
		if err != nil {
			return nil, err
		}
		if _, err := w.Write(f.Data); err != nil {
			return nil, err
		}
	}
	err = to.Close()
	return text.Bytes(), err
}

// record returns the list of files, with their hashes and sizes. Its own path is the last one.
func record(files []File, path string) ([]byte, error) {
	var text bytes.Buffer
	to, seen := csv.NewWriter(&text), map[string]bool{}
	for _, f := range files {
		if f.Path == "" || seen[f.Path] {
			return nil, fmt.Errorf("two files of a wheel have the path %q, or it is empty", f.Path)
		}
		seen[f.Path] = true
		sum := sha256.Sum256(f.Data)
		row := []string{f.Path, "sha256=" + base64.RawURLEncoding.EncodeToString(sum[:]), strconv.Itoa(len(f.Data))}
		if err := to.Write(row); err != nil {
			return nil, err
		}
	}
	if err := to.Write([]string{path, "", ""}); err != nil {
		return nil, err
	}
	to.Flush()
	return text.Bytes(), to.Error()
}

// metadata returns what package indexes and pip read of the distribution.
func (d *Distribution) metadata() []byte {
	var text bytes.Buffer
	row := func(key, value string) {
		if value != "" {
			fmt.Fprintf(&text, "%s: %s\n", key, value)
		}
	}
	row("Metadata-Version", "2.1")
	row("Name", d.Name)
	row("Version", d.Version)
	row("Summary", d.Summary)
	row("Home-page", d.Homepage)
	row("License", d.Licence)
	row("Requires-Python", d.RequiresPython)
	for _, r := range d.Requires {
		row("Requires-Dist", r)
	}
	for _, e := range d.Extras {
		row("Provides-Extra", e)
	}
	row("Description-Content-Type", "text/markdown")
	return append(text.Bytes(), "\n"+d.Description...)
}

// wheel returns what the installer reads: the platforms, and whether the files are the same on all.
func (d *Distribution) wheel() []byte {
	pure := len(d.Platforms) == 1 && d.Platforms[0] == "any"
	text := fmt.Sprintf("Wheel-Version: 1.0\nGenerator: hlsgen\nRoot-Is-Purelib: %t\n", pure)
	for _, p := range d.Platforms {
		text += "Tag: py3-none-" + p + "\n"
	}
	return []byte(text)
}
