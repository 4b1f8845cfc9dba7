package boards_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"hlsgen/boards"
	"hlsgen/boards/family"
)

const mine = `{"name": "mine", "part": "xcvc1902-vsva2197-2MP-e-S", "lut": 1, "ff": 2, "bram36": 3, "uram": 4,
	"dsp": 5, "dsp_type": "DSP58", "host_port_bits": 0, "default_clock_mhz": 333.25}`

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
		var invalid *boards.InvalidFileError
		if !errors.As(err, &invalid) {
			t.Errorf("%s\nerror is %T: %v", c.text, err, err)
			continue
		}
		if invalid.Key != c.key || !strings.Contains(invalid.Reason, c.reason) {
			t.Errorf("%s\ngot  %q: %s\nwant %q: %s", c.text, invalid.Key, invalid.Reason, c.key, c.reason)
		}
	}
}

// TestHostSide checks that the processor, memory ports and platform in a file fit together, or are refused.
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
		ps          boards.ProcessingSystem
		ports       int
	}{
		{0, `"ps": "none"`, "", "", boards.PSNone, 0},
		{64, `"ps": "zynq7000", "memory_ports": ["S_AXI_HP2"]` + part, "", "", boards.PSZynq7000, 1},
		{128, `"ps": "zynqmp", "memory_ports": ["S_AXI_HP0_FPD", "S_AXI_HP3_FPD"]` + part, "", "", boards.PSZynqMP, 2},
		{256, `"platform": "xilinx_u250", "memory_ports": ["DDR[0]", "HBM[31]"]`, "", "", boards.PSNone, 2},
		{0, `"pll_mhz": 1000`, "pll_mhz", "a board without a ps has none", "", 0},
		{64, `"ps": "zynq7000", "pll_mhz": 1, "memory_ports": ["S_AXI_HP2"]` + part, "pll_mhz", "outside", "", 0},
		{64, `"ps": "zynq"`, "ps", `none of none, zynq7000, zynqmp`, "", 0},
		{64, `"ps": 7`, "ps", "wants a string", "", 0},
		{128, `"ps": "zynq7000", "memory_ports": ["S_AXI_HP2"]` + part, "host_port_bits", "not a width", "", 0},
		{0, `"ps": "zynqmp", "memory_ports": ["S_AXI_HP0_FPD"]` + part, "host_port_bits", "not a width", "", 0},
		{64, `"ps": "zynqmp", "memory_ports": ["S_AXI_HP0"]` + part, "memory_ports", "does not match", "", 0},
		{64, `"ps": "zynq7000", "memory_ports": ["S_AXI_HP4"]` + part, "memory_ports", "does not match", "", 0},
		{64, `"ps": "zynq7000", "memory_ports": []` + part, "memory_ports", "missing", "", 0},
		{64, `"ps": "zynq7000", "memory_ports": ["S_AXI_HP2"]`, "board_part", "missing", "", 0},
		{512, `"platform": "x", "memory_ports": ["DDR[0]; exec rm"]`, "memory_ports", "does not match", "", 0},
		{0, `"platform": "x", "memory_ports": ["DDR[0]", "DDR[0]"]`, "memory_ports", "given twice", "", 0},
		{0, `"platform": "x", "memory_ports": "DDR[0]"`, "memory_ports", "wants a list", "", 0},
		{0, `"platform": "x", "memory_ports": [1]`, "memory_ports", "wants a list", "", 0},
		{0, `"platform": "x", "memory_ports": ["DDR[0]"]`, "host_port_bits", "not a width of a kernel's", "", 0},
		{1024, `"platform": "x", "memory_ports": ["DDR[0]"]`, "host_port_bits", "not a width of a kernel's", "", 0},
		{512, `"platform": "x"`, "memory_ports", "missing", "", 0},
		{0, `"platform": "[exit]"`, "platform", "does not match", "", 0},
		{0, `"memory_ports": ["DDR[0]"]`, "memory_ports", "neither ps nor platform", "", 0},
		{64, `"platform": "x", "ps": "zynq7000"`, "platform", "has none", "", 0},
		{0, `"board_part": "xilinx.com:zcu104:part0"`, "board_part", "does not match", "", 0},
		{0, `"board_connections": "c a:b:c:1.0"`, "board_connections", "only a module", "", 0},
		{128, `"ps": "zynqmp", "memory_ports": ["S_AXI_HP0_FPD"], "board_connections": "c a:b:c:1.0 d a:b:d:1.0"` +
			part, "", "", boards.PSZynqMP, 1},
		{128, `"ps": "zynqmp", "memory_ports": ["S_AXI_HP0_FPD"], "board_connections": "c [exit]"` + part,
			"board_connections", "does not match", "", 0},
		{0, `"board_files": "a } b"`, "board_files", "does not match", "", 0},
	} {
		b, err := boards.Parse(file(c.bits, c.entries))
		invalid := new(boards.InvalidFileError)
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
	if err == nil || !strings.Contains(err.Error(), `"ps": only AMD's devices`) {
		t.Errorf("another family: %v", err)
	}
}

// ice is a file for a board of another family.
const ice = `{"name": "mine", "family": "ice40up", "part": "iCE40UP5K-SG48", "lut": 5280, "ff": 5280, "bram": 30,
	"bram_kbit": 4, "uram": 0, "dsp": 8, "dsp_type": "SB_MAC16", "host_port_bits": 0, "default_clock_mhz": 12}`

// TestFamilies checks that a file need not repeat the facts of a family, and must not contradict them.
func TestFamilies(t *testing.T) {
	t.Parallel()
	b, err := boards.Parse([]byte(ice))
	if err != nil || b.LUTRAM != 0 || b.BlockRAMCount() != 30 ||
		b.NextpnrDevice() != (family.NextpnrDevice{Name: "up5k",
			Package: "sg48"}) {
		t.Errorf("%+v, %v", b, err)
	}
	for part, want := range map[string]family.NextpnrDevice{
		"LFE5U-85F-6BG381C":    {Name: "85k", Package: "CABGA381", Speed: "6"},
		"LFE5U-12F-8MG285I":    {Name: "12k", Package: "CSFBGA285", Speed: "8"},
		"LFE5UM5G-85F-8BG381C": {Name: "um5g-85k", Package: "CABGA381", Speed: "8"},
	} {
		if got := (boards.Board{Family: boards.FamilyECP5, Part: part}).NextpnrDevice(); got != want {
			t.Errorf("%s is %+v, want %+v", part, got, want)
		}
		if boards.FamilyOfPart(part) != boards.FamilyECP5 {
			t.Errorf("%s is of family %q", part, boards.FamilyOfPart(part))
		}
	}
	for _, b := range boards.AllBoards() {
		if boards.FamilyOfPart(b.Part) != b.Family {
			t.Errorf("%s is of family %q", b.Part, boards.FamilyOfPart(b.Part))
		}
	}
	for _, c := range []struct{ key, reason, old, new string }{
		{"family", "not a known family (ecp5, ice40up)", `"ice40up"`, `"ice40"`},
		{"family", "wants a string", `"ice40up"`, `40`},
		{"part", "not a known part of family ice40up", `iCE40UP5K`, `iCE40HX8K`},
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
		{"dsp_type", "states no family", `"family": "ice40up",`, `"bram36": 1,`},
		{"bram", "has bram36", `"family": "ice40up",`, ``},
	} {
		text := strings.Replace(ice, c.old, c.new, 1)
		if c.key == "dsp_type" && strings.Contains(c.reason, "family") {
			text = strings.Replace(text, `"bram": 30,
	"bram_kbit": 4, `, "", 1)
		}
		_, err := boards.Parse([]byte(text))
		var invalid *boards.InvalidFileError
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

// TestParseDefaults checks the values of keys that a file omits.
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

// TestParseRoundTrip checks that every board can be read from its own JSON.
func TestParseRoundTrip(t *testing.T) {
	t.Parallel()
	for _, b := range boards.AllBoards() {
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
