package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"hlsgen/internal/testsupport/samplefiles"
	"hlsgen/internal/testsupport/tier"
)

// TestWaves checks that the words of a dump, taken apart, are the integers that --trace writes, on every stream that
// carries a tensor of the model.
func TestWaves(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	dir := filesIn(t, nil)
	got := say(dir, nil, strings.Fields("simulate "+iris+" --input "+irisInputs+
		" --engine cycle --board pynq-z1 --trace t --trace-vcd w.vcd --timeline l.json")...)
	if got.code != exitOK {
		t.Fatalf("%+v", got)
	}
	dump, err := os.ReadFile(filepath.Join(dir, "w.vcd"))
	if err != nil {
		t.Fatal(err)
	}
	streams := regexp.MustCompile(`\$scope module s\d+_(\w+) \$end(?:\n\$var [^\n]*){3}\n`+
		`\$var wire \d+ (\S+) data \$end`).FindAllStringSubmatch(string(dump), -1)
	if len(streams) != 3 {
		t.Fatalf("%d streams have data", len(streams))
	}
	for _, s := range streams {
		want := tracedIntegers(t, filepath.Join(dir, "t"), s[1])
		words := regexp.MustCompile(`(?m)^b([01]+) `+regexp.QuoteMeta(s[2])+`$`).FindAllStringSubmatch(string(dump), -1)
		var found []int64
		for _, w := range words {
			n := len(want) / len(words) // elements of a word
			for width := len(w[1]) / n; n > 0; n-- {
				digits := w[1][(n-1)*width : n*width] // the first element has the lowest bits
				v, err := strconv.ParseInt(digits, 2, 64)
				if err != nil {
					t.Fatal(err)
				}
				if digits[0] == '1' && slices.Min(want) < 0 {
					v -= 1 << width
				}
				found = append(found, v)
			}
		}
		if !slices.Equal(found, want) {
			t.Errorf("%s: %d integers in %d words differ from the %d of --trace", s[1], len(found), len(words),
				len(want))
		}
	}
	if data, err := os.ReadFile(filepath.Join(dir, "l.json")); err != nil || !strings.Contains(string(data), "MVAU_0") {
		t.Errorf("%v: %.200s", err, data)
	}
}

// TestFST has a stand-in for vcd2fst make the compressed waveforms. Where it is not on the path, nothing runs. Where it
// fails, no file is left.
func TestFST(t *testing.T) {
	tier.Needs(t, "sh")
	bin := filesIn(t, map[string]string{"vcd2fst": "#!/bin/sh\n(echo compressed; cat \"$1\") > \"$2\"\n",
		"bad/vcd2fst": "#!/bin/sh\necho part > \"$2\"; echo no space; exit 1\n"})
	for _, name := range []string{"vcd2fst", "bad/vcd2fst"} {
		if err := os.Chmod(filepath.Join(bin, name), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	args := strings.Fields("simulate " + iris + " --input " + irisInputs +
		" --engine cycle --board pynq-z1 --trace-vcd w.fst")
	for _, c := range []struct {
		path string
		code int
		want string // in a refusal
	}{{bin + ":/bin:/usr/bin", exitOK, ""}, {filepath.Join(bin, "none"), exitUsage, "install gtkwave"},
		{filepath.Join(bin, "bad") + ":/bin:/usr/bin", exitDiagnostics, "no space"}} {
		t.Setenv("PATH", c.path)
		dir := filesIn(t, nil)
		got := say(dir, nil, args...)
		made, err := os.ReadFile(filepath.Join(dir, "w.fst"))
		switch {
		case got.code != c.code:
			t.Errorf("%+v", got)
		case c.code == exitOK && (err != nil || !strings.HasPrefix(string(made), "compressed\n$timescale")):
			t.Errorf("%v: %.100s", err, made)
		case c.code != exitOK && (err == nil || !strings.Contains(got.stderr, c.want)):
			t.Errorf("%+v", got)
		}
		if left, err := filepath.Glob(filepath.Join(dir, "*w.fst*")); err != nil || c.code != exitOK && len(left) > 0 {
			t.Errorf("%v, %v are left", err, left)
		}
	}
}

// tracedIntegers returns the integers of the tensor that --trace has written and to which a dump gives this name.
func tracedIntegers(t *testing.T, dir, name string) (list []int64) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.npy"))
	if err != nil {
		t.Fatal(err)
	}
	other := regexp.MustCompile(`\W`)
	for _, f := range files {
		tensor := strings.ReplaceAll(strings.TrimSuffix(filepath.Base(f), ".npy"), "%2F", "/")
		if other.ReplaceAllString(tensor, "_") != name {
			continue
		}
		for _, v := range samplefiles.Read(t, f).Data {
			list = append(list, int64(v))
		}
		return list
	}
	t.Fatal(fmt.Errorf("no tensor is called %s", name))
	return nil
}
