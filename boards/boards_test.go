package boards_test

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"hlsgen/boards"
	"hlsgen/internal/tier"
)

// want is every board, by name; what it says of the part and the resources is held against a list of figures where
// there is one, by TestFigures.
var want = []struct {
	name    string
	aliases []string
	clock   float64
}{
	{"alveo-u200", []string{"u200"}, 200},
	{"alveo-u250", []string{"u250"}, 200},
	{"alveo-u280", []string{"u280"}, 200},
	{"alveo-u50", []string{"u50"}, 200},
	{"alveo-u55c", []string{"u55c"}, 200},
	{"arty-a7-100", nil, 100},
	{"arty-a7-35", nil, 100},
	{"kr260", []string{"kr260_som"}, 200},
	{"kv260", []string{"kv260_som"}, 200},
	{"pynq-z1", nil, 100},
	{"pynq-z2", nil, 100},
	{"rfsoc2x2", nil, 200},
	{"rfsoc4x2", nil, 200},
	{"ultra96", nil, 200},
	{"ultra96-v2", nil, 200},
	{"vck190", nil, 200},
	{"zcu102", nil, 200},
	{"zcu104", nil, 200},
	{"zcu106", nil, 200},
	{"zcu111", nil, 200},
	{"zcu208", nil, 200},
	{"zcu216", nil, 200},
}

func TestAll(t *testing.T) {
	t.Parallel()
	got := boards.All()
	if len(got) != len(want) {
		t.Fatalf("%d boards, want %d", len(got), len(want))
	}
	unverified := []string{"arty-a7-100", "arty-a7-35", "vck190"}
	owner := map[string]string{}
	for i, b := range got {
		if w := want[i]; b.Name != w.name || !slices.Equal(b.Aliases, w.aliases) || b.ClockMHz != w.clock {
			t.Errorf("%s, also %v, at %g MHz; want %+v", b.Name, b.Aliases, b.ClockMHz, w)
		}
		if b.Unverified != slices.Contains(unverified, b.Name) {
			t.Errorf("%s: unverified is %t", b.Name, b.Unverified)
		}
		if b.InitialisesURAM() != (b.Name == "vck190") {
			t.Errorf("%s: initialises URAM: %t", b.Name, b.InitialisesURAM())
		}
		if b.PartSource == "" || b.ResourceSource == "" {
			t.Errorf("%s: a figure has no source", b.Name)
		}
		if strings.HasPrefix(b.Name, "alveo-") != strings.Contains(b.ResourceSource, "nothing subtracted for the shell") {
			t.Errorf("%s: the source says %q of the shell", b.Name, b.ResourceSource)
		}
		for _, name := range append([]string{b.Name}, b.Aliases...) {
			if name != strings.ToLower(name) {
				t.Errorf("%s: %q is not in lower case", b.Name, name)
			}
			if other, taken := owner[name]; taken {
				t.Errorf("%s and %s are both called %q", other, b.Name, name)
			}
			owner[name] = b.Name
		}
	}
	got[0].Name, got[0].Aliases[0] = "changed", "changed"
	if again := boards.All()[0]; again.Name != "alveo-u200" || again.Aliases[0] != "u200" {
		t.Error("All gives away its own slices")
	}
}

// One file per board, called as the board.
func TestFiles(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("*.json")
	if err != nil || len(paths) != len(want) {
		t.Fatalf("files %v, %v", paths, err)
	}
	for _, path := range paths {
		b, err := boards.Find(path)
		if err != nil || b.Name+".json" != path {
			t.Errorf("%s describes %q: %v", path, b.Name, err)
		}
		if known, err := boards.Find(b.Name); err != nil || !reflect.DeepEqual(known, b) {
			t.Errorf("%s: by name %+v, %v", path, known, err)
		}
	}
}

// The list of figures names two parts in two grades: the one that the board has, and the one that its source tells of.
var grades = map[string]struct{ part, other string }{
	"alveo-u50":   {"xcu50-fsvh2104-2-e", "xcu50-fsvh2104-2L-e"},
	"arty-a7-100": {"xc7a100tcsg324-1", "xc7a100ticsg324-1L"},
}

// Every row of the list of figures is a board, and every board is a row.
func TestFigures(t *testing.T) {
	t.Parallel()
	shared := tier.NeedsShared(t)
	f, err := os.Open(filepath.Join(shared, "reference", "boards.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	head := []string{"board", "part", "lut", "ff", "bram36", "uram", "dsp", "dsp_type", "ps_port_bits", "part_source", "resource_source"}
	if !slices.Equal(rows[0], head) {
		t.Fatalf("columns %v", rows[0])
	}
	if rows = rows[1:]; len(rows) != len(want) {
		t.Errorf("%d rows, %d boards", len(rows), len(want))
	}
	for _, r := range rows {
		b, err := boards.Find(r[0])
		if err != nil {
			t.Error(err)
			continue
		}
		part, _, _ := strings.Cut(r[1], " ")
		if g, ok := grades[b.Name]; ok {
			if part != g.part && part != g.other || !strings.Contains(b.PartSource, g.other) {
				t.Errorf("%s: the list has %q, the source %q", b.Name, r[1], b.PartSource)
			}
			part = g.part
		}
		port := r[8]
		if port == "" {
			port = "0"
		}
		got := []string{b.Name, b.Part, fmt.Sprint(b.LUT), fmt.Sprint(b.FF), fmt.Sprint(b.BRAM36), fmt.Sprint(b.URAM), fmt.Sprint(b.DSP), b.DSPType, fmt.Sprint(b.HostPortBits)}
		if row := append([]string{r[0], part}, append(slices.Clone(r[2:8]), port)...); !slices.Equal(got, row) {
			t.Errorf("got  %v\nwant %v", got, row)
		}
		if b.Unverified != strings.Contains(r[10], "NOT verified") {
			t.Errorf("%s: unverified is %t, the list says %q", b.Name, b.Unverified, r[10])
		}
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
	for name, want := range map[string]string{"zcu104": "zcu104", "ZCU104": "zcu104", "Zcu104": "zcu104", "u250": "alveo-u250", "U250": "alveo-u250",
		"Alveo-U55C": "alveo-u55c", "KV260_SOM": "kv260", "ultra96-V2": "ultra96-v2"} {
		if b, err := boards.Find(name); err != nil || b.Name != want {
			t.Errorf("%s: %q, %v", name, b.Name, err)
		}
	}
	var names []string
	for _, b := range boards.All() {
		names = append(names, b.Name)
	}
	known := strings.Join(names, ", ")
	for _, c := range []struct{ name, nearest, message string }{
		{"zcu140", "zcu104", `unknown board "zcu140", did you mean "zcu104"?`},
		{"PYNQZ1", "pynq-z1", `unknown board "PYNQZ1", did you mean "pynq-z1"?`},
		{"u520", "u250", `unknown board "u520", did you mean "u250"?`},
		{"U25", "u250", `unknown board "U25", did you mean "u250"?`},
		{"u55", "u50", `unknown board "u55", did you mean "u50"?`},
		{"alveo_u250", "alveo-u250", `unknown board "alveo_u250", did you mean "alveo-u250"?`},
		{"kv260-som", "kv260_som", `unknown board "kv260-som", did you mean "kv260_som"?`},
		{"cvk190", "vck190", `unknown board "cvk190", did you mean "vck190"?`},
		{"spartan", "", `unknown board "spartan"; known are ` + known},
		{"x", "", `unknown board "x"; known are ` + known},
		{"", "", `unknown board ""; known are ` + known},
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
	if b, err := boards.Find(good); err != nil || !reflect.DeepEqual(b, want) {
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
	with := func(entry string) string { return edit(`"lut": 1,`, `"lut": 1, `+entry+`,`) }
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
		{"price", "unknown key; known are name, aliases, part, lut", edit(`"lut": 1,`, `"lut": 1, "price": 2,`)},
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
		{"aliases", "wants a list of strings", with(`"aliases": "m"`)},
		{"aliases", "wants a list of strings", with(`"aliases": null`)},
		{"aliases", "wants a list of strings", with(`"aliases": {"m": 1}`)},
		{"aliases", "wants a list of strings", with(`"aliases": ["m", 1]`)},
		{"aliases", "wants a list of strings", with(`"aliases": [["m"]]`)},
		{"aliases", "wants a list of strings", with(`"aliases": [{"m": []}]`)},
		{"aliases", `"../m" does not match`, with(`"aliases": ["../m"]`)},
		{"aliases", `"" does not match`, with(`"aliases": [""]`)},
		{"aliases", `"M" is given twice`, with(`"aliases": ["m", "n", "M"]`)},
		{"aliases", "9 names are more than 8", with(`"aliases": ["a", "b", "c", "d", "e", "f", "g", "h", "i"]`)},
		{"aliases", "given twice", with(`"aliases": [], "aliases": []`)},
		{"", "not valid JSON", with(`"aliases": ["m"`)},
		{"", "not valid JSON", with(`"aliases": ["m" "n"]`)},
		{"", "not valid JSON", `{"aliases": [`},
		{"alias", `did you mean "aliases"`, with(`"alias": ["m"]`)},
		{"unverified", "wants true or false", with(`"unverified": "yes"`)},
		{"unverified", "wants true or false", with(`"unverified": 1`)},
		{"unverified", "wants true or false", with(`"unverified": null`)},
		{"unverified", "wants true or false", with(`"unverified": [true]`)},
		{"unverified", "given twice", with(`"unverified": true, "unverified": false`)},
		{"verified", `did you mean "unverified"`, with(`"verified": true`)},
		{"lut", "wants a whole number", edit(`"lut": 1,`, `"lut": true,`)},
		{"name", "wants a string", edit(`"mine"`, `["mine"]`)},
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

func TestParseOptional(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		entries    string
		aliases    []string
		unverified bool
	}{
		{``, nil, false},
		{`"aliases": [], "unverified": false,`, nil, false},
		{`"aliases": ["m"],`, []string{"m"}, false},
		{`"unverified": true, "aliases": ["m", "N_1.x"],`, []string{"m", "N_1.x"}, true},
	} {
		b, err := boards.Parse([]byte(strings.Replace(mine, `"lut"`, c.entries+`"lut"`, 1)))
		if err != nil || !reflect.DeepEqual(b.Aliases, c.aliases) || b.Unverified != c.unverified {
			t.Errorf("%s: %q, %t, %v", c.entries, b.Aliases, b.Unverified, err)
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
		if err != nil || !reflect.DeepEqual(got, b) {
			t.Errorf("%s: %+v, %v", b.Name, got, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(mine))
	f.Add([]byte(`{"lut":1e9}`))
	f.Add([]byte(strings.Replace(mine, `"lut"`, `"aliases": ["a", "b.c"], "unverified": true, "lut"`, 1)))
	f.Fuzz(func(t *testing.T, data []byte) {
		b, err := boards.Parse(data)
		if err != nil {
			return
		}
		again, err := json.Marshal(b)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := boards.Parse(again); err != nil || !reflect.DeepEqual(got, b) {
			t.Fatalf("%+v reads back as %+v, %v", b, got, err)
		}
	})
}
