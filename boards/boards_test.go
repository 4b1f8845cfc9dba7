package boards_test

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"math"
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
// there is one, by TestFigures. The memory is bits, and millions of transfers a second.
var want = []struct {
	name     string
	aliases  []string
	grade    string
	lutram   int
	clock    float64
	bits, mt float64
}{
	{"alveo-u200", []string{"u200"}, "-2", 591_840, 200, 0, 0},
	{"alveo-u250", []string{"u250"}, "-2L", 791_040, 200, 0, 0},
	{"alveo-u280", []string{"u280"}, "-2L", 600_960, 200, 0, 0},
	{"alveo-u50", []string{"u50"}, "-2", 403_200, 200, 0, 0},
	{"alveo-u55c", []string{"u55c"}, "-2L", 600_960, 200, 0, 0},
	{"arty-a7-100", nil, "-1", 19_000, 100, 0, 0},
	{"arty-a7-35", nil, "-1L", 9_600, 100, 0, 0},
	{"icebreaker", nil, "", 0, 12, 0, 0},
	{"kr260", []string{"kr260_som"}, "-2LV", 57_600, 150, 64, 2400},
	{"kv260", []string{"kv260_som"}, "-2LV", 57_600, 150, 64, 2400},
	{"pynq-z1", nil, "-1", 17_400, 100, 16, 1050},
	{"pynq-z2", nil, "-1", 17_400, 100, 16, 1050},
	{"rfsoc2x2", nil, "-2", 213_600, 200, 64, 2400},
	{"rfsoc4x2", nil, "-2", 213_600, 200, 64, 2400},
	{"ultra96", nil, "-1", 28_800, 200, 32, 1066},
	{"ultra96-v2", nil, "-1", 28_800, 200, 32, 1066},
	{"ulx3s-85f", []string{"ulx3s"}, "-6", 41_820, 25, 0, 0},
	{"vck190", nil, "-2MP", 449_920, 200, 0, 0},
	{"zcu102", nil, "-2", 144_000, 200, 64, 2134},
	{"zcu104", nil, "-2", 101_760, 200, 64, 2134},
	{"zcu106", nil, "-2", 101_760, 200, 64, 2134},
	{"zcu111", nil, "-2", 213_600, 200, 64, 2134},
	{"zcu208", nil, "-2", 213_600, 200, 64, 2132},
	{"zcu216", nil, "-2", 213_600, 200, 64, 2132},
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
		w := want[i]
		if b.Name != w.name || !slices.Equal(b.Aliases, w.aliases) || b.ClockMHz != w.clock || b.LUTRAM != w.lutram {
			t.Errorf("%s, also %v, at %g MHz, %d LUTRAM; want %+v", b.Name, b.Aliases, b.ClockMHz, b.LUTRAM, w)
		}
		gbps := w.bits / 8 * w.mt / 1000
		if math.Abs(b.MemoryGBps-gbps) > 0.02 || b.MemoryGBps > 0 && b.HostPortBits == 0 {
			t.Errorf("%s: %g GB/s behind a port of %d bits, want %g", b.Name, b.MemoryGBps, b.HostPortBits, gbps)
		}
		if b.SpeedGrade != w.grade || b.Family == boards.AMD && !strings.Contains(b.Part+"-", w.grade+"-") {
			t.Errorf("%s: %s of grade %s, want %s", b.Name, b.Part, b.SpeedGrade, w.grade)
		}
		if b.Unverified != slices.Contains(unverified, b.Name) {
			t.Errorf("%s: unverified is %t", b.Name, b.Unverified)
		}
		if b.InitialisesURAM() != (b.Name == "vck190") {
			t.Errorf("%s: initialises URAM: %t", b.Name, b.InitialisesURAM())
		}
		sources := []string{b.PartSource, b.ResourceSource, b.LUTRAMSource, b.MemorySource, b.ClockSource}
		if len(b.Pins) > 0 {
			sources = append(sources, b.PinSource)
		}
		if b.PS != boards.NoPS {
			sources = append(sources, b.PSSource, b.BoardPart, b.BoardPartSource, b.BoardFiles)
		}
		if b.Platform != "" {
			sources = append(sources, b.PlatformSource)
		}
		if (b.PS == boards.NoPS) != (b.HostPortBits == 0) || (b.Platform != "") != strings.HasPrefix(b.Name, "alveo-") {
			t.Errorf("%s: ps %q, platform %q, a port of %d bits", b.Name, b.PS, b.Platform, b.HostPortBits)
		}
		if slices.Contains(sources, "") {
			t.Errorf("%s: a figure has no source", b.Name)
		}
		if strings.HasPrefix(b.Name, "alveo-") != strings.Contains(b.ResourceSource,
			"nothing subtracted for the shell") {
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

// One file per board, called as the board. What a user may leave out stands in it.
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
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range keysOf(boards.Board{}) {
			own := []string{"family", "bram", "bram_kbit", "spram", "pins", "pin_source"} // of some boards
			if b.Family != boards.AMD {
				own = []string{"bram36", "speed_grade", "spram"}
			}
			own = append(own, "aliases", "unverified", "ps", "memory_ports", "board_part", "board_files", "platform",
				"ps_source", "board_part_source", "platform_source")
			if !slices.Contains(own, key) && !strings.Contains(string(data), `"`+key+`": `) {
				t.Errorf("%s: no %s", path, key)
			}
		}
		if known, err := boards.Find(b.Name); err != nil || !reflect.DeepEqual(known, b) {
			t.Errorf("%s: by name %+v, %v", path, known, err)
		}
	}
}

// keysOf is the keys of a board file, in their order.
func keysOf(b boards.Board) (keys []string) {
	for f := range reflect.TypeOf(b).Fields() {
		key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		keys = append(keys, key)
	}
	return keys
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
	head := []string{"board", "part", "lut", "ff", "bram36", "uram", "dsp", "dsp_type", "ps_port_bits", "part_source",
		"resource_source"}
	if !slices.Equal(rows[0], head) {
		t.Fatalf("columns %v", rows[0])
	}
	amd := slices.DeleteFunc(boards.All(), func(b boards.Board) bool { return b.Family != boards.AMD })
	if rows = rows[1:]; len(rows) != len(amd) {
		t.Errorf("%d rows, %d boards", len(rows), len(amd))
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
		got := []string{b.Name, b.Part, fmt.Sprint(b.LUT), fmt.Sprint(b.FF), fmt.Sprint(b.BRAM36), fmt.Sprint(b.URAM),
			fmt.Sprint(b.DSP), b.DSPType, fmt.Sprint(b.HostPortBits)}
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
	for name, want := range map[string]string{"zcu104": "zcu104", "ZCU104": "zcu104", "Zcu104": "zcu104",
		"u250": "alveo-u250", "U250": "alveo-u250", "Alveo-U55C": "alveo-u55c", "KV260_SOM": "kv260",
		"ultra96-V2": "ultra96-v2"} {
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
	want := boards.Board{Name: "mine", Part: "xcvc1902-vsva2197-2MP-e-S", SpeedGrade: "-2MP", LUT: 1, FF: 2, BRAM36: 3,
		URAM: 4, DSP: 5, DSPType: "DSP58", ClockMHz: 333.25}
	if b, err := boards.Find(good); err != nil || !reflect.DeepEqual(b, want) {
		t.Errorf("got %+v, %v", b, err)
	}
	if _, err := boards.Find(filepath.Join(dir, "none.json")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
	if _, err := boards.Find("none.json"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing file without a folder: %v", err)
	}
	for path, reason := range map[string]string{dir: "it is no regular file but a folder",
		huge: "it has 70178 bytes; at most 65536 are read"} {
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
		{"price", "unknown key; known are name, aliases, family, part, speed_grade, lut",
			edit(`"lut": 1,`, `"lut": 1, "price": 2,`)},
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
		{"lutram", "2 are more than lut, 1", with(`"lutram": 2`)},
		{"lutram", "outside", with(`"lutram": -1`)},
		{"lutram", "not a whole number", with(`"lutram": 0.5`)},
		{"lutram", "given twice", with(`"lutram": 1, "lutram": 1`)},
		{"lutrams", `did you mean "lutram"`, with(`"lutrams": 1`)},
		{"memory_gbps", "outside 0 to 2000 GB/s", with(`"memory_gbps": -1`)},
		{"memory_gbps", "outside", with(`"memory_gbps": 2100`)},
		{"memory_gbps", "outside", with(`"memory_gbps": 1e999`)},
		{"memory_gbps", "wants a number", with(`"memory_gbps": "19.2"`)},
		{"memory_gbps", "wants a number", with(`"memory_gbps": null`)},
		{"memory_gb_s", `did you mean "memory_gbps"`, with(`"memory_gb_s": 1`)},
		{"speed_grade", "-2 is not that of the part, -2MP", with(`"speed_grade": "-2"`)},
		{"speed_grade", "does not match", with(`"speed_grade": ""`)},
		{"speed_grade", "does not match", with(`"speed_grade": "2MP"`)},
		{"speed_grade", "wants a string", with(`"speed_grade": -2`)},
		{"clock_source", "does not match", with(`"clock_source": "` + strings.Repeat("a", 401) + `"`)},
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

// TestHostSide: what a file says of processor, memory ports and platform fits together, or is refused.
func TestHostSide(t *testing.T) {
	t.Parallel()
	file := func(bits int, entries string) []byte {
		text := strings.Replace(mine, `"host_port_bits": 0`, fmt.Sprintf(`"host_port_bits": %d`, bits), 1)
		return []byte(strings.Replace(text, `"lut": 1,`, `"lut": 1, `+entries+`,`, 1))
	}
	const part = `, "board_part": "a.b:c:part0:*"`
	for _, c := range []struct {
		bits        int
		entries     string
		key, reason string
		ps          boards.PS
		ports       int
	}{
		{0, `"ps": "none"`, "", "", boards.NoPS, 0},
		{64, `"ps": "zynq7000", "memory_ports": ["S_AXI_HP2"]` + part, "", "", boards.Zynq7000, 1},
		{128, `"ps": "zynqmp", "memory_ports": ["S_AXI_HP0_FPD", "S_AXI_HP3_FPD"]` + part, "", "", boards.ZynqMP, 2},
		{0, `"platform": "xilinx_u250", "memory_ports": ["DDR[0]", "HBM[31]"]`, "", "", boards.NoPS, 2},
		{64, `"ps": "zynq"`, "ps", `none of none, zynq7000, zynqmp`, "", 0},
		{64, `"ps": 7`, "ps", "wants a string", "", 0},
		{128, `"ps": "zynq7000", "memory_ports": ["S_AXI_HP2"]` + part, "host_port_bits", "no width", "", 0},
		{0, `"ps": "zynqmp", "memory_ports": ["S_AXI_HP0_FPD"]` + part, "host_port_bits", "no width", "", 0},
		{64, `"ps": "zynqmp", "memory_ports": ["S_AXI_HP0"]` + part, "memory_ports", "does not match", "", 0},
		{64, `"ps": "zynq7000", "memory_ports": ["S_AXI_HP4"]` + part, "memory_ports", "does not match", "", 0},
		{64, `"ps": "zynq7000", "memory_ports": []` + part, "memory_ports", "missing", "", 0},
		{64, `"ps": "zynq7000", "memory_ports": ["S_AXI_HP2"]`, "board_part", "missing", "", 0},
		{0, `"platform": "x", "memory_ports": ["DDR[0]; exec rm"]`, "memory_ports", "does not match", "", 0},
		{0, `"platform": "x", "memory_ports": ["DDR[0]", "DDR[0]"]`, "memory_ports", "given twice", "", 0},
		{0, `"platform": "x", "memory_ports": "DDR[0]"`, "memory_ports", "wants a list", "", 0},
		{0, `"platform": "x", "memory_ports": [1]`, "memory_ports", "wants a list", "", 0},
		{0, `"platform": "x"`, "memory_ports", "missing", "", 0},
		{0, `"platform": "[exit]"`, "platform", "does not match", "", 0},
		{0, `"memory_ports": ["DDR[0]"]`, "memory_ports", "neither ps nor platform", "", 0},
		{64, `"platform": "x", "ps": "zynq7000"`, "platform", "has none", "", 0},
		{0, `"board_part": "xilinx.com:zcu104:part0"`, "board_part", "does not match", "", 0},
		{0, `"board_files": "a } b"`, "board_files", "does not match", "", 0},
	} {
		b, err := boards.Parse(file(c.bits, c.entries))
		invalid := new(boards.InvalidError)
		if errors.As(err, &invalid); invalid.Key != c.key || !strings.Contains(invalid.Reason, c.reason) {
			t.Errorf("%s: %v, want %q: %s", c.entries, err, c.key, c.reason)
		}
		if err == nil && (b.PS != c.ps || len(b.MemoryPorts) != c.ports) {
			t.Errorf("%s: %q, %v", c.entries, b.PS, b.MemoryPorts)
		}
	}
	other := strings.Replace(ice, `"host_port_bits": 0`, `"host_port_bits": 64`, 1)
	other = strings.Replace(other, `"lut"`, `"ps": "zynq7000", "memory_ports": ["S_AXI_HP0"]`+part+`, "lut"`, 1)
	_, err := boards.Parse([]byte(other))
	if err == nil || !strings.Contains(err.Error(), `"ps": AMD's devices alone`) {
		t.Errorf("another family: %v", err)
	}
}

// ice is a board of another family.
const ice = `{"name": "mine", "family": "ice40up", "part": "iCE40UP5K-SG48", "lut": 5280, "ff": 5280, "bram": 30,
	"bram_kbit": 4, "uram": 0, "dsp": 8, "dsp_type": "SB_MAC16", "host_port_bits": 0, "default_clock_mhz": 12}`

// What families have is not asked for twice, and must not be contradicted.
func TestFamilies(t *testing.T) {
	t.Parallel()
	b, err := boards.Parse([]byte(ice))
	if err != nil || b.LUTRAM != 0 || b.Blocks() != 30 || b.Device() != (boards.Device{Name: "up5k", Package: "sg48"}) {
		t.Errorf("%+v, %v", b, err)
	}
	for part, want := range map[string]boards.Device{
		"LFE5U-85F-6BG381C":    {Name: "85k", Package: "CABGA381", Speed: "6"},
		"LFE5U-12F-8MG285I":    {Name: "12k", Package: "CSFBGA285", Speed: "8"},
		"LFE5UM5G-85F-8BG381C": {Name: "um5g-85k", Package: "CABGA381", Speed: "8"},
	} {
		if got := (boards.Board{Family: boards.ECP5, Part: part}).Device(); got != want {
			t.Errorf("%s is %+v, want %+v", part, got, want)
		}
		if boards.FamilyOf(part) != boards.ECP5 {
			t.Errorf("%s is of family %q", part, boards.FamilyOf(part))
		}
	}
	for _, b := range boards.All() {
		if boards.FamilyOf(b.Part) != b.Family {
			t.Errorf("%s is of family %q", b.Part, boards.FamilyOf(b.Part))
		}
	}
	for _, c := range []struct{ key, reason, old, new string }{
		{"family", "none of ecp5, ice40up", `"ice40up"`, `"ice40"`},
		{"family", "wants a string", `"ice40up"`, `40`},
		{"part", "no part of family ice40up", `iCE40UP5K`, `iCE40HX8K`},
		{"bram36", "have 4 Kbit", `"bram": 30`, `"bram36": 30, "bram": 30`},
		{"bram", "missing", `"bram": 30,`, ``},
		{"bram_kbit", "missing", `"bram_kbit": 4,`, ``},
		{"bram_kbit", "have 4", `"bram_kbit": 4`, `"bram_kbit": 18`},
		{"dsp_type", "has SB_MAC16", `SB_MAC16`, `DSP58`},
		{"lutram", "no LUT of family ice40up", `"lut"`, `"lutram": 16, "lut"`},
		{"uram", "has none", `"uram": 0`, `"uram": 1`},
		{"pins", "no site of led", `"dsp"`, `"pins": ["clk 35", "reset_n 10", "rx 6", "tx 9"], "dsp"`},
		{"pins", "rx is given twice", `"dsp"`, `"pins": ["rx 6", "rx 7"], "dsp"`},
		{"pins", "not a pin and its site", `"dsp"`, `"pins": ["rx 6; set_io tx 7"], "dsp"`},
		{"pins", "not a pin and its site", `"dsp"`, `"pins": [6], "dsp"`},
		{"pins", "wants a list", `"dsp"`, `"pins": "rx 6", "dsp"`},
		{"dsp_type", "names no family", `"family": "ice40up",`, `"bram36": 1,`},
		{"bram", "have bram36", `"family": "ice40up",`, ``},
	} {
		text := strings.Replace(ice, c.old, c.new, 1)
		if c.key == "dsp_type" && strings.Contains(c.reason, "family") {
			text = strings.Replace(text, `"bram": 30,
	"bram_kbit": 4, `, "", 1)
		}
		_, err := boards.Parse([]byte(text))
		var invalid *boards.InvalidError
		if !errors.As(err, &invalid) || invalid.Key != c.key || !strings.Contains(invalid.Reason, c.reason) {
			t.Errorf("%s\ngot  %v\nwant %q: %s", text, err, c.key, c.reason)
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

// What a file leaves out has a value all the same.
func TestParseDefaults(t *testing.T) {
	t.Parallel()
	const head = `{"name": "mine", "lut": 4003, "part": `
	const tail = `, "ff": 2, "bram36": 3, "uram": 4, "dsp": 5, "dsp_type": "DSP58", "host_port_bits": 0, "default_clock_mhz": 100}`
	for _, c := range []struct {
		entries string
		lutram  int
		gbps    float64
		grade   string
	}{
		{`"xc7z020clg400-1"`, 1000, 0, "-1"},
		{`"xc7a35ticsg324-1L"`, 1000, 0, "-1L"},
		{`"xck26-sfvc784-2LV-c"`, 1000, 0, "-2LV"},
		{`"xcv80-lsva4737-2MHP-e-s"`, 1000, 0, "-2MHP"},
		{`"xc7z020"`, 1000, 0, ""},
		{`"xc7z020-1clg400c"`, 1000, 0, ""},
		{`"xc7z020-1clg400c", "speed_grade": "-1"`, 1000, 0, "-1"},
		{`"xc7z020clg400-1", "speed_grade": "-1"`, 1000, 0, "-1"},
		{`"xc7z020", "lutram": 0`, 0, 0, ""},
		{`"xc7z020", "lutram": 4003, "memory_gbps": 0.5`, 4003, 0.5, ""},
	} {
		b, err := boards.Parse([]byte(head + c.entries + tail))
		if err != nil || b.LUTRAM != c.lutram || b.MemoryGBps != c.gbps || b.SpeedGrade != c.grade {
			t.Errorf("%s: %d, %g GB/s, %q, %v", c.entries, b.LUTRAM, b.MemoryGBps, b.SpeedGrade, err)
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
	f.Add([]byte(ice))
	f.Add([]byte(`{"lut":1e9}`))
	f.Add([]byte(strings.Replace(mine, `"lut"`, `"lutram": 1, "memory_gbps": 19.2, "speed_grade": "-2MP", "lut"`, 1)))
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
