package boards_test

import (
	"encoding/csv"
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
	"hlsgen/internal/testsupport/tier"
)

// want lists figures read in the sources of boards. TestAll compares them with the boards' files. TestFigures does
// the same for parts and resources. A board that is not listed must only satisfy the rules for all boards. The
// memory has a width in bits and a rate in millions of transfers per second.
var want = []struct {
	name     string
	aliases  []string
	grade    string
	lutram   int
	clock    float64
	bits, mt float64
}{
	{"alveo-u200", []string{"u200"}, "-2", 591_840, 200, 64, 2400},
	{"alveo-u250", []string{"u250"}, "-2L", 791_040, 200, 64, 2400},
	{"alveo-u280", []string{"u280"}, "-2L", 600_960, 200, 64, 1796.875},
	{"alveo-u50", []string{"u50"}, "-2", 403_200, 200, 64, 1796.875},
	{"alveo-u55c", []string{"u55c"}, "-2L", 600_960, 200, 64, 1796.875},
	{"arty-a7-100", nil, "-1", 19_000, 100, 0, 0},
	{"arty-a7-35", nil, "-1L", 9_600, 100, 0, 0},
	{"icebreaker", nil, "", 0, 12, 0, 0},
	{"kr260", []string{"kr260_som"}, "-2LV", 57_600, 142.857, 64, 2400},
	{"kv260", []string{"kv260_som"}, "-2LV", 57_600, 142.857, 64, 2400},
	{"pynq-z1", nil, "-1", 17_400, 100, 16, 1050},
	{"pynq-z2", nil, "-1", 17_400, 100, 16, 1050},
	{"rfsoc2x2", nil, "-2", 213_600, 187.5, 64, 2400},
	{"rfsoc4x2", nil, "-2", 213_600, 187.5, 64, 2400},
	{"ultra96", nil, "-1", 28_800, 187.5, 32, 1066},
	{"ultra96-v2", nil, "-1", 28_800, 187.5, 32, 1066},
	{"ulx3s-85f", []string{"ulx3s"}, "-6", 41_820, 25, 0, 0},
	{"vck190", nil, "-2MP", 449_920, 200, 0, 0},
	{"zcu102", nil, "-2", 144_000, 187.5, 64, 2134},
	{"zcu104", nil, "-2", 101_760, 187.5, 64, 2134},
	{"zcu106", nil, "-2", 101_760, 187.5, 64, 2134},
	{"zcu111", nil, "-2", 213_600, 187.5, 64, 2134},
	{"zcu208", nil, "-2", 213_600, 187.5, 64, 2132},
	{"zcu216", nil, "-2", 213_600, 187.5, 64, 2132},
}

func TestAll(t *testing.T) {
	t.Parallel()
	for _, w := range want {
		b, err := boards.FindBoard(w.name)
		if err != nil || b.Name != w.name {
			t.Errorf("%s: %q, %v", w.name, b.Name, err)
			continue
		}
		if !slices.Equal(b.Aliases, w.aliases) || b.ClockMHz != w.clock || b.LUTRAM != w.lutram {
			t.Errorf("%s, also %v, at %g MHz, %d LUTRAM; want %+v", b.Name, b.Aliases, b.ClockMHz, b.LUTRAM, w)
		}
		gbps := w.bits / 8 * w.mt / 1000
		if math.Abs(b.MemoryGBps-gbps) > 0.02 {
			t.Errorf("%s: %g GB/s, want %g", b.Name, b.MemoryGBps, gbps)
		}
		if b.SpeedGrade != w.grade {
			t.Errorf("%s: %s of grade %s, want %s", b.Name, b.Part, b.SpeedGrade, w.grade)
		}
		if unverified := []string{"arty-a7-100", "arty-a7-35", "vck190"}; b.Unverified != slices.Contains(unverified,
			b.Name) {
			t.Errorf("%s: unverified is %t", b.Name, b.Unverified)
		}
	}
	got := boards.AllBoards()
	if !slices.IsSortedFunc(got, func(a, b boards.Board) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("boards are not in the order of their names")
	}
	owner := map[string]string{}
	for _, b := range got {
		if b.MemoryGBps > 0 && b.HostPortBits == 0 {
			t.Errorf("%s: %g GB/s without a port", b.Name, b.MemoryGBps)
		}
		if b.Family == boards.FamilyAMD && !strings.Contains(b.Part+"-", b.SpeedGrade+"-") {
			t.Errorf("%s: %s of grade %s", b.Name, b.Part, b.SpeedGrade)
		}
		sources := []string{b.PartSource, b.ResourceSource, b.LUTRAMSource, b.MemorySource, b.ClockSource}
		if len(b.Pins) > 0 {
			sources = append(sources, b.PinSource)
		}
		if b.PS != boards.PSNone {
			sources = append(sources, b.PSSource, b.BoardPart, b.BoardPartSource, b.BoardFiles)
		}
		if b.Platform != "" {
			sources = append(sources, b.PlatformSource)
		}
		if (b.PS == boards.PSNone && b.Platform == "") != (b.HostPortBits == 0) ||
			(b.Platform != "") != strings.HasPrefix(b.Name, "alveo-") {
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
	i := slices.IndexFunc(got, func(b boards.Board) bool { return len(b.Aliases) > 0 })
	name, alias := got[i].Name, got[i].Aliases[0]
	got[i].Name, got[i].Aliases[0] = "changed", "changed"
	if again := boards.AllBoards()[i]; again.Name != name || again.Aliases[0] != alias {
		t.Error("All gives away its own slices")
	}
}

// TestFiles checks that there is one file per board, with the board's name, and that it states even the keys that a
// user may omit.
func TestFiles(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("*.json")
	if err != nil || len(paths) != len(boards.AllBoards()) {
		t.Fatalf("files %v, %v", paths, err)
	}
	for _, path := range paths {
		b, err := boards.FindBoard(path)
		if err != nil || b.Name+".json" != path {
			t.Errorf("%s describes %q: %v", path, b.Name, err)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range keysOf(boards.Board{}) {
			own := []string{"family", "bram", "bram_kbit", "spram", "pins", "pin_source"} // only some boards have these
			if b.Family != boards.FamilyAMD {
				own = []string{"bram36", "speed_grade", "spram"}
			}
			own = append(own, "aliases", "unverified", "ps", "memory_ports", "board_part", "board_files", "platform",
				"board_connections", "ps_source", "pll_mhz", "pll_source", "board_part_source", "platform_source")
			if (b.PLLMHz > 0) != (b.PLLSource != "") {
				t.Errorf("%s: pll_mhz and pll_source are not given together", path)
			}
			if !slices.Contains(own, key) && !strings.Contains(string(data), `"`+key+`": `) {
				t.Errorf("%s: no %s", path, key)
			}
		}
		if known, err := boards.FindBoard(b.Name); err != nil || !reflect.DeepEqual(known, b) {
			t.Errorf("%s: by name %+v, %v", path, known, err)
		}
	}
}

// keysOf returns the keys of a board file in order.
func keysOf(b boards.Board) (keys []string) {
	for f := range reflect.TypeOf(b).Fields() {
		key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		keys = append(keys, key)
	}
	return keys
}

// grades lists boards whose list of figures names two parts in two speed grades: the part of the board, and the
// part in the source.
var grades = map[string]struct{ part, other string }{
	"alveo-u50":   {"xcu50-fsvh2104-2-e", "xcu50-fsvh2104-2L-e"},
	"arty-a7-100": {"xc7a100tcsg324-1", "xc7a100ticsg324-1L"},
}

// TestFigures checks that every row of the list of figures is a board with these figures.
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
	for _, r := range rows[1:] {
		b, err := boards.FindBoard(r[0])
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
		switch {
		case b.Platform != "": // the list has only processors' ports
			port = "512"
		case port == "":
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
		if got := c.b.CanInitialiseURAM(); got != c.want {
			t.Errorf("%+v: %v", c.b, got)
		}
	}
}

func TestFindName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"zcu104": "zcu104", "ZCU104": "zcu104", "Zcu104": "zcu104",
		"u250": "alveo-u250", "U250": "alveo-u250", "Alveo-U55C": "alveo-u55c", "KV260_SOM": "kv260",
		"ultra96-V2": "ultra96-v2", "ultra96": "ultra96", "xczu3eg-sbva484-1-e": "ultra96",
		"XCZU9EG-FFVB1156-2-E": "zcu102", "ice40up5k-sg48": "icebreaker"} {
		if b, err := boards.FindBoard(name); err != nil || b.Name != want {
			t.Errorf("%s: %q, %v", name, b.Name, err)
		}
	}
	var names []string
	for _, b := range boards.AllBoards() {
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
		_, err := boards.FindBoard(c.name)
		var unknown *boards.UnknownNameError
		if !errors.As(err, &unknown) {
			t.Errorf("%q: error is %T: %v", c.name, err, err)
			continue
		}
		if unknown.Nearest != c.nearest || err.Error() != c.message {
			t.Errorf("%q: nearest %q, message %q", c.name, unknown.Nearest, err)
		}
	}
}

// TestFindAmbiguous checks that the error names all boards that a part number, or the beginning of a name, may mean.
func TestFindAmbiguous(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"pynq":                 `"pynq" may be pynq-z1 or pynq-z2`,
		"PYNQ-Z":               `"PYNQ-Z" may be pynq-z1 or pynq-z2`,
		"xc7z020clg400-1":      `"xc7z020clg400-1" may be pynq-z1 or pynq-z2`,
		"XC7Z020":              `"XC7Z020" may be pynq-z1 or pynq-z2`,
		"xczu7ev-ffvc1156-2-e": `"xczu7ev-ffvc1156-2-e" may be zcu104 or zcu106`,
		"zcu10":                `"zcu10" may be zcu102, zcu104 or zcu106`,
	} {
		_, err := boards.FindBoard(name)
		var ambiguous *boards.AmbiguousNameError
		if !errors.As(err, &ambiguous) || err.Error() != want {
			t.Errorf("%s: %T %v, want %s", name, err, err, want)
		}
	}
}

func TestFindFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	good := filepath.Join(dir, "mine.json")
	huge := filepath.Join(dir, "huge.json")
	write(t, good, mine)
	write(t, huge, strings.Repeat(" ", 70_000)+mine)
	want := boards.Board{Name: "mine", Part: "xcvc1902-vsva2197-2MP-e-S", SpeedGrade: "-2MP", LUT: 1, FF: 2, BRAM36: 3,
		URAM: 4, DSP: 5, DSPType: "DSP58", ClockMHz: 333.25}
	if b, err := boards.FindBoard(good); err != nil || !reflect.DeepEqual(b, want) {
		t.Errorf("got %+v, %v", b, err)
	}
	if _, err := boards.FindBoard(filepath.Join(dir, "none.json")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
	if _, err := boards.FindBoard("none.json"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing file without a folder: %v", err)
	}
	for path, reason := range map[string]string{dir: "it is no regular file but a folder",
		huge: "it has 70178 bytes; at most 65536 are read"} {
		_, err := boards.FindBoard(path)
		var invalid *boards.InvalidFileError
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
