package boards_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hlsgen/boards"
)

func TestAll(t *testing.T) {
	t.Parallel()
	want := []boards.Board{
		{Name: "pynq-z1", Part: "xc7z020clg400-1", LUT: 53200, FF: 106400, BRAM36: 140, URAM: 0, DSP: 220, DSPType: "DSP48E1", HostPortBits: 64, ClockMHz: 100},
		{Name: "zcu104", Part: "xczu7ev-ffvc1156-2-e", LUT: 230400, FF: 460800, BRAM36: 312, URAM: 96, DSP: 1728, DSPType: "DSP48E2", HostPortBits: 128, ClockMHz: 200},
	}
	got := boards.All()
	if len(got) != len(want) {
		t.Fatalf("%d boards, want %d", len(got), len(want))
	}
	for i, b := range got {
		if b.PartSource == "" || b.ResourceSource == "" {
			t.Errorf("%s: a figure has no source", b.Name)
		}
		if b.InitialisesURAM() {
			t.Errorf("%s: no Zynq device initialises URAM", b.Name)
		}
		b.PartSource, b.ResourceSource = "", ""
		if b != want[i] {
			t.Errorf("got  %+v\nwant %+v", b, want[i])
		}
	}
	got[0].Name = "changed"
	if boards.All()[0].Name != "pynq-z1" {
		t.Error("All gives away its own slice")
	}
}

func TestInitialisesURAM(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		b    boards.Board
		want bool
	}{
		{boards.Board{URAM: 463, DSPType: "DSP58"}, true},
		{boards.Board{URAM: 0, DSPType: "DSP58"}, false},
		{boards.Board{URAM: 96, DSPType: "DSP48E2"}, false},
	} {
		if got := c.b.InitialisesURAM(); got != c.want {
			t.Errorf("%+v: %v", c.b, got)
		}
	}
}

func TestFindName(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"zcu104", "ZCU104", "Zcu104"} {
		if b, err := boards.Find(name); err != nil || b.Name != "zcu104" {
			t.Errorf("%s: %q, %v", name, b.Name, err)
		}
	}
	for _, c := range []struct{ name, nearest, message string }{
		{"zcu140", "zcu104", `unknown board "zcu140", did you mean "zcu104"?`},
		{"PYNQZ1", "pynq-z1", `unknown board "PYNQZ1", did you mean "pynq-z1"?`},
		{"spartan", "", `unknown board "spartan"; known are pynq-z1, zcu104`},
		{"", "", `unknown board ""; known are pynq-z1, zcu104`},
	} {
		_, err := boards.Find(c.name)
		var unknown *boards.UnknownError
		if !errors.As(err, &unknown) {
			t.Errorf("%q: error is %T: %v", c.name, err, err)
			continue
		}
		if unknown.Nearest != c.nearest || err.Error() != c.message {
			t.Errorf("%q: nearest %q, message %q", c.name, unknown.Nearest, err)
		}
	}
}

const mine = `{"name": "mine", "part": "xcvc1902-vsva2197-2MP-e-S", "lut": 1, "ff": 2, "bram36": 3, "uram": 4,
	"dsp": 5, "dsp_type": "DSP58", "host_port_bits": 0, "default_clock_mhz": 333.25}`

func TestFindFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	good := filepath.Join(dir, "mine.json")
	huge := filepath.Join(dir, "huge.json")
	write(t, good, mine)
	write(t, huge, strings.Repeat(" ", 70_000)+mine)
	want := boards.Board{Name: "mine", Part: "xcvc1902-vsva2197-2MP-e-S", LUT: 1, FF: 2, BRAM36: 3, URAM: 4, DSP: 5, DSPType: "DSP58", ClockMHz: 333.25}
	if b, err := boards.Find(good); err != nil || b != want {
		t.Errorf("got %+v, %v", b, err)
	}
	if _, err := boards.Find(filepath.Join(dir, "none.json")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
	if _, err := boards.Find("none.json"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing file without a folder: %v", err)
	}
	for path, reason := range map[string]string{dir: "not a regular file", huge: "larger than 65536 bytes"} {
		_, err := boards.Find(path)
		var invalid *boards.InvalidError
		if !errors.As(err, &invalid) || invalid.Reason != reason || invalid.Path != path {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	edit := func(old, new string) string {
		if !strings.Contains(mine, old) {
			t.Fatalf("the sample has no %s", old)
		}
		return strings.Replace(mine, old, new, 1)
	}
	for _, c := range []struct{ key, reason, text string }{
		{"", "not a JSON object", ``},
		{"", "not a JSON object", `[1]`},
		{"", "not a JSON object", `null`},
		{"", "not valid JSON", `{"name": "a", `},
		{"", "not valid JSON", `{"name": NaN}`},
		{"", "not valid JSON", `{"name" "a"}`},
		{"", "text after", mine + `{}`},
		{"lut", "missing", edit(`"lut": 1,`, ``)},
		{"uram", "missing", edit(`"uram": 4,`, ``)},
		{"default_clock_mhz", "missing", edit(`, "default_clock_mhz": 333.25`, ``)},
		{"lut", "given twice", edit(`"lut": 1,`, `"lut": 1, "lut": 1,`)},
		{"luts", `did you mean "lut"`, edit(`"lut": 1,`, `"lut": 1, "luts": 2,`)},
		{"price", "unknown key; known are name, part, lut", edit(`"lut": 1,`, `"lut": 1, "price": 2,`)},
		{"LUT", "unknown key", edit(`"lut": 1,`, `"LUT": 1,`)},
		{"lut", "outside", edit(`"lut": 1,`, `"lut": 0,`)},
		{"lut", "outside", edit(`"lut": 1,`, `"lut": -5,`)},
		{"lut", "outside", edit(`"lut": 1,`, `"lut": 230400000,`)},
		{"lut", "not a whole number", edit(`"lut": 1,`, `"lut": 1.5,`)},
		{"lut", "not a whole number", edit(`"lut": 1,`, `"lut": 99999999999999999999,`)},
		{"lut", "wants a whole number", edit(`"lut": 1,`, `"lut": "1",`)},
		{"dsp", "wants a whole number", edit(`"dsp": 5,`, `"dsp": null,`)},
		{"bram36", "wants a whole number", edit(`"bram36": 3,`, `"bram36": [3],`)},
		{"ff", "wants a whole number", edit(`"ff": 2,`, `"ff": {"a": 2},`)},
		{"dsp_type", "does not match", edit(`"DSP58"`, `"DSP48"`)},
		{"part", "does not match", edit(`"xcvc1902-vsva2197-2MP-e-S"`, `"xc7z020; exec rm"`)},
		{"part", "does not match", edit(`"xcvc1902-vsva2197-2MP-e-S"`, `"[exit]"`)},
		{"part", "does not match", edit(`"xcvc1902-vsva2197-2MP-e-S"`, `"xc7z020\n"`)},
		{"part", "does not match", edit(`"xcvc1902-vsva2197-2MP-e-S"`, `""`)},
		{"part", "wants a string", edit(`"xcvc1902-vsva2197-2MP-e-S"`, `7`)},
		{"name", "does not match", edit(`"mine"`, `"../mine"`)},
		{"host_port_bits", "power of two", edit(`"host_port_bits": 0`, `"host_port_bits": 100`)},
		{"host_port_bits", "outside", edit(`"host_port_bits": 0`, `"host_port_bits": 8192`)},
		{"default_clock_mhz", "outside", edit(`333.25`, `0`)},
		{"default_clock_mhz", "outside", edit(`333.25`, `-100`)},
		{"default_clock_mhz", "outside", edit(`333.25`, `1e999`)},
		{"default_clock_mhz", "wants a number", edit(`333.25`, `"fast"`)},
		{"part_source", "does not match", edit(`"lut": 1,`, `"lut": 1, "part_source": "a\u0007b",`)},
	} {
		_, err := boards.Parse([]byte(c.text))
		var invalid *boards.InvalidError
		if !errors.As(err, &invalid) {
			t.Errorf("%s\nerror is %T: %v", c.text, err, err)
			continue
		}
		if invalid.Key != c.key || !strings.Contains(invalid.Reason, c.reason) {
			t.Errorf("%s\ngot  %q: %s\nwant %q: %s", c.text, invalid.Key, invalid.Reason, c.key, c.reason)
		}
	}
}

// Every board in the list reads back from its own JSON.
func TestParseRoundTrip(t *testing.T) {
	t.Parallel()
	for _, b := range boards.All() {
		data, err := json.Marshal(b)
		if err != nil {
			t.Fatal(err)
		}
		got, err := boards.Parse(data)
		if err != nil || got != b {
			t.Errorf("%s: %+v, %v", b.Name, got, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(mine))
	f.Add([]byte(`{"lut":1e9}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		b, err := boards.Parse(data)
		if err != nil {
			return
		}
		again, err := json.Marshal(b)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := boards.Parse(again); err != nil || got != b {
			t.Fatalf("%+v reads back as %+v, %v", b, got, err)
		}
	})
}
