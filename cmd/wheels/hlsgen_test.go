package main

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/csv"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hlsgen/internal/testsupport/tier"
)

// maxWheel is the most bytes that a wheel may have.
const maxWheel = 20 << 20

// checkWheel checks a wheel of hlsgen: sizes and hashes by its RECORD, tags by its name, the mode of the program.
func checkWheel(t *testing.T, path string) {
	t.Helper()
	text := read(t, path)
	if len(text) > maxWheel {
		t.Errorf("%s has %d bytes, more than %d", filepath.Base(path), len(text), maxWheel)
	}
	z, err := zip.NewReader(bytes.NewReader(text), int64(len(text)))
	if err != nil {
		t.Fatal(err)
	}
	data, programs := map[string][]byte{}, 0
	for _, f := range z.File {
		from, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		if data[f.Name], err = io.ReadAll(from); err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(f.Name, "hlsgen/bin/") {
			if programs++; f.Mode().Perm() != 0o755 {
				t.Errorf("%s: %s has mode %v", path, f.Name, f.Mode())
			}
		} else if f.Mode().Perm() != 0o644 {
			t.Errorf("%s: %s has mode %v", path, f.Name, f.Mode())
		}
	}
	base := filepath.Base(path)
	parts := strings.Split(strings.TrimSuffix(base, ".whl"), "-")
	info := parts[0] + "-" + parts[1] + ".dist-info/"
	rows, err := csv.NewReader(bytes.NewReader(data[info+"RECORD"])).ReadAll()
	if err != nil || len(rows) != len(data) {
		t.Fatalf("%s: %d rows of RECORD for %d files: %v", base, len(rows), len(data), err)
	}
	for _, row := range rows[:len(rows)-1] {
		sum := sha256.Sum256(data[row[0]])
		if row[1] != "sha256="+base64.RawURLEncoding.EncodeToString(sum[:]) {
			t.Errorf("%s: %s has another hash in RECORD", base, row[0])
		}
	}
	for _, tag := range strings.Split(parts[4], ".") {
		if !strings.Contains(string(data[info+"WHEEL"]), "Tag: py3-none-"+tag+"\n") {
			t.Errorf("%s: WHEEL does not have the tag %s", base, tag)
		}
	}
	for name, want := range map[string]string{"hlsgen/py.typed": "", info +
		"entry_points.txt": "hlsgen = hlsgen.__main__:main",
		info + "METADATA": "Requires-Dist: hlsgen-driver\n", "hlsgen/_version.py": `__version__ = "1.2"`} {
		if text, there := data[name]; !there || !strings.Contains(string(text), want) {
			t.Errorf("%s: %s does not say %q", base, name, want)
		}
	}
	if programs != 1 || strings.Contains(string(data[info+"METADATA"]), "<") {
		t.Errorf("%s has %d programs, or bounds above", base, programs)
	}
}

// TestPlatforms names platforms.
func TestPlatforms(t *testing.T) {
	t.Parallel()
	if rows, err := chosen([]string{"all"}); err != nil || len(rows) != len(platforms) {
		t.Errorf("%v, %v", rows, err)
	}
	if rows, err := chosen([]string{"windows/amd64", "linux/arm64"}); err != nil || len(rows) != 2 ||
		rows[0].tags[0] != "win_amd64" {
		t.Errorf("%v, %v", rows, err)
	}
	if _, err := chosen([]string{"plan9/amd64"}); err == nil || !strings.Contains(err.Error(),
		`there is no wheel for "plan9/amd64": want own, all, or one of [linux/amd64 `) {
		t.Error(err)
	}
}

// TestAllWheels writes the wheels of all platforms. twine accepts them, and the program for 64-bit ARM builds an
// example.
func TestAllWheels(t *testing.T) {
	t.Parallel()
	tier.NeedsLong(t)
	qemu := tier.Needs(t, "qemu-aarch64-static")[0]
	all := pythons(t)
	folder := t.TempDir()
	wheels, err := write(t.Context(), "v1.2", folder, tier.Root(t), []string{"all"})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range wheels[1:] {
		checkWheel(t, path)
	}
	all[len(all)-1].run(t, folder, "", nil, append([]string{"-m", "twine", "check", "--strict"}, wheels...)...)
	at := slices.IndexFunc(wheels, func(path string) bool { return strings.Contains(path, "aarch64") })
	z, err := zip.OpenReader(wheels[at])
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	from, err := z.Open("hlsgen/bin/hlsgen")
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(folder, "hlsgen")
	b, err := io.ReadAll(from)
	if err == nil {
		err = os.WriteFile(program, b, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(qemu, program, "build", "--board", "pynq-z1", "--no-csim", "--verify", "1", "--out",
		filepath.Join(folder, "built"))
	if said, err := c.CombinedOutput(); err != nil || !strings.Contains(string(said), "bit-exact") {
		t.Errorf("%v\n%s", err, said)
	}
}
