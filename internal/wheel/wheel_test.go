package wheel

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/csv"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestWheel checks a wheel against the specification of the binary distribution format: names, RECORD, tags, modes,
// and equal bytes whenever it is written.
func TestWheel(t *testing.T) {
	t.Parallel()
	d := Distribution{Name: "some-thing", Version: "1.2", Summary: "Does something.", Description: "Some *text*.\n",
		Licence: "Apache-2.0", RequiresPython: ">=3.8", Requires: []string{"numpy>=1.17"},
		Extras: []string{"plot"}, Scripts: map[string]string{"some": "some_thing:main", "a": "some_thing:other"},
		Platforms: []string{"manylinux_2_17_x86_64", "musllinux_1_1_x86_64"},
		Files: []File{{Path: "some_thing/__init__.py", Data: []byte("x = 1\n")},
			{Path: "some_thing/a,b", Data: bytes.Repeat([]byte{0}, 1000), Mode: 0o755}},
		Licences: []File{{Path: "LICENSE", Data: []byte("as is")}}}
	if want := "some_thing-1.2-py3-none-manylinux_2_17_x86_64.musllinux_1_1_x86_64.whl"; d.FileName() != want {
		t.Errorf("%s, want %s", d.FileName(), want)
	}
	text, err := d.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	if again, _ := d.Bytes(); !bytes.Equal(text, again) {
		t.Error("written twice, it has other bytes")
	}
	got, err := zip.NewReader(bytes.NewReader(text), int64(len(text)))
	if err != nil {
		t.Fatal(err)
	}
	data, names := map[string][]byte{}, []string{}
	for _, f := range got.File {
		from, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		if data[f.Name], err = io.ReadAll(from); err != nil {
			t.Fatal(err)
		}
		names = append(names, f.Name)
		mode := map[bool]int{false: 0o644, true: 0o755}[f.Name == "some_thing/a,b"]
		const first = "1980-01-01 00:00:00"
		if int(f.Mode()) != mode || f.Modified.Format(time.DateTime) != first {
			t.Errorf("%s: mode %o, made %v", f.Name, f.Mode(), f.Modified)
		}
	}
	const info = "some_thing-1.2.dist-info/"
	if text := string(data[info+"entry_points.txt"]); text != "[console_scripts]\na = some_thing:other\n"+
		"some = some_thing:main\n" {
		t.Errorf("scripts are %q", text)
	}
	if want := []string{"some_thing/__init__.py", "some_thing/a,b", info + "licenses/LICENSE", info + "METADATA",
		info + "WHEEL", info + "entry_points.txt", info + "RECORD"}; !slices.Equal(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
	rows, err := csv.NewReader(bytes.NewReader(data[info+"RECORD"])).ReadAll()
	if err != nil || len(rows) != len(names) {
		t.Fatal(err, rows)
	}
	for i, row := range rows {
		sum := sha256.Sum256(data[row[0]])
		want := []string{names[i], "sha256=" + base64.RawURLEncoding.EncodeToString(sum[:]),
			strconv.Itoa(len(data[row[0]]))}
		if i == len(rows)-1 {
			want = []string{names[i], "", ""}
		}
		if !slices.Equal(row, want) {
			t.Errorf("%q, want %q", row, want)
		}
	}
	for name, want := range map[string]string{
		"METADATA": "Metadata-Version: 2.1\nName: some-thing\nVersion: 1.2\nSummary: Does something.\n" +
			"License: Apache-2.0\nRequires-Python: >=3.8\nRequires-Dist: numpy>=1.17\n" +
			"Provides-Extra: plot\nDescription-Content-Type: text/markdown\n\nSome *text*.\n",
		"WHEEL": "Wheel-Version: 1.0\nGenerator: hlsgen\nRoot-Is-Purelib: false\n" +
			"Tag: py3-none-manylinux_2_17_x86_64\nTag: py3-none-musllinux_1_1_x86_64\n",
	} {
		if string(data[info+name]) != want {
			t.Errorf("%s\n%s\nwant\n%s", name, data[info+name], want)
		}
	}
	d.Platforms = []string{"any"}
	if !strings.Contains(string(d.wheel()), "Purelib: true\nTag: py3-none-any\n") {
		t.Errorf("%s", d.wheel())
	}
	d.Files = append(d.Files, d.Files[0])
	if _, err := d.Bytes(); err == nil {
		t.Error("two files have one path")
	}
}

func TestVersionOf(t *testing.T) {
	t.Parallel()
	for git, want := range map[string]string{
		"v1.2": "1.2", "1.2.3": "1.2.3", "v1.2-dirty": "1.2+dirty", "v1.2-14-g1a2b3c4": "1.2.post14+g1a2b3c4",
		"v1.2-14-g1a2b3c4-dirty": "1.2.post14+g1a2b3c4.dirty", "1a2b3c4d": "0+g1a2b3c4d",
		"12345678": "0+g12345678", "v1": "",
		"1a2b3c4d-dirty": "0+g1a2b3c4d.dirty",
		"":               "", "dev": "", "v1.2-rc1": "", "v1.2 ": "",
	} {
		if got, err := VersionOf(git); got != want || (err == nil) != (want != "") {
			t.Errorf("%q is %q, %v, want %q", git, got, err, want)
		}
	}
}
