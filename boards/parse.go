package boards

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"

	"hlsgen/internal/suggest"
)

// An InvalidFileError states what is wrong with a board file. Key is the wrong JSON key, or "" for the whole file. Path
// is empty if the text was not read from a file.
type InvalidFileError struct{ Path, Key, Reason string }

func (e *InvalidFileError) Error() string {
	var b strings.Builder
	if e.Path != "" {
		fmt.Fprintf(&b, "%s: ", e.Path)
	}
	if e.Key != "" {
		fmt.Fprintf(&b, "%q: ", e.Key)
	}
	return b.String() + e.Reason
}

// A key is one key of a board file. read stores its value in the board, or returns the reason why the value is wrong.
type key struct {
	name     string
	optional bool
	read     func(b *Board, v any) (reason string)
}

const namePattern = `^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`

// keys lists all keys of a board file. The limits of figures far exceed any real device; they catch wrong units.
var keys = append(figureKeys, hostKeys...)

var figureKeys = []key{
	{"name", false, word(func(b *Board) *string { return &b.Name }, namePattern)},
	{"aliases", true, aliases},
	{"family", true, setFamily},
	{"part", false, word(func(b *Board) *string { return &b.Part }, `^[A-Za-z0-9][A-Za-z0-9-]{0,63}$`)},
	{"speed_grade", true, word(func(b *Board) *string { return &b.SpeedGrade }, `^`+gradePattern+`$`)},
	{"lut", false, figure(func(b *Board) *int { return &b.LUT }, 1, 20_000_000)},
	{"lutram", true, figure(func(b *Board) *int { return &b.LUTRAM }, 0, 20_000_000)},
	{"ff", false, figure(func(b *Board) *int { return &b.FF }, 1, 40_000_000)},
	{"bram36", true, figure(func(b *Board) *int { return &b.BRAM36 }, 0, 100_000)},
	{"bram", true, figure(func(b *Board) *int { return &b.BRAM }, 0, 100_000)},
	{"bram_kbit", true, figure(func(b *Board) *int { return &b.BRAMKbit }, 1, 1000)},
	{"spram", true, figure(func(b *Board) *int { return &b.SPRAM }, 0, 100_000)},
	{"uram", false, figure(func(b *Board) *int { return &b.URAM }, 0, 100_000)},
	{"dsp", false, figure(func(b *Board) *int { return &b.DSP }, 0, 100_000)},
	{"dsp_type", false, word(func(b *Board) *string { return &b.DSPType }, dspPattern)},
	{"host_port_bits", false, port},
	{"memory_gbps", true, amount(func(b *Board) *float64 { return &b.MemoryGBps }, 0, 2000, "GB/s")},
	{"default_clock_mhz", false, amount(func(b *Board) *float64 { return &b.ClockMHz }, 1, 2000, "MHz")},
	{"pins", true, pins},
	{"unverified", true, unverified},
	{"part_source", true, source(func(b *Board) *string { return &b.PartSource })},
	{"resource_source", true, source(func(b *Board) *string { return &b.ResourceSource })},
	{"lutram_source", true, source(func(b *Board) *string { return &b.LUTRAMSource })},
	{"memory_source", true, source(func(b *Board) *string { return &b.MemorySource })},
	{"clock_source", true, source(func(b *Board) *string { return &b.ClockSource })},
	{"pin_source", true, source(func(b *Board) *string { return &b.PinSource })},
}

// dspPattern matches the types of multipliers: AMD's, and those of the other families.
var dspPattern = dspTypes()

func dspTypes() string {
	names := []string{"DSP48E1", "DSP48E2", "DSP58"}
	for _, f := range Families {
		names = append(names, regexp.QuoteMeta(f.DSP.Name))
	}
	return "^(" + strings.Join(names, "|") + ")$"
}

// gradePattern matches a speed grade of an AMD part, such as -1, -2LV or -2MP.
const gradePattern = `-[1-9][A-Z]{0,3}`

var gradeOfPart = regexp.MustCompile(`(` + gradePattern + `)(-|$)`)

// grade returns the speed grade that a part number contains, such as -1, or "" if there is none.
func grade(part string) string {
	if m := gradeOfPart.FindStringSubmatch(part); m != nil {
		return m[1]
	}
	return ""
}

// complete sets the values that a file omits, and checks that all values agree. given has the keys that the file
// states. It returns a wrong key and the reason, or two empty strings.
func complete(b *Board, given map[string]bool) (key, reason string) {
	if key, reason := b.contradicts(given); reason != "" {
		return key, reason
	}
	if key, reason := b.hostContradicts(); reason != "" {
		return key, reason
	}
	if !given["lutram"] && (b.Family == FamilyAMD || b.Family.Row().Logic.Memory) {
		b.LUTRAM = b.LUT / 4 // about the smallest share of any device
	}
	if b.LUTRAM > b.LUT {
		return "lutram", fmt.Sprintf("%d are more than lut, %d", b.LUTRAM, b.LUT)
	}
	g := grade(b.Part)
	if !given["speed_grade"] {
		b.SpeedGrade = g
	}
	if g != "" && g != b.SpeedGrade {
		return "speed_grade", fmt.Sprintf("%s is not that of the part, %s", b.SpeedGrade, g)
	}
	return "", ""
}

// contradicts returns a key that does not suit the board's family, and the reason, or two empty strings. given has the
// keys that the file states.
func (b *Board) contradicts(given map[string]bool) (key, reason string) {
	if b.Family == FamilyAMD {
		for _, k := range []string{"bram", "bram_kbit", "spram"} {
			if given[k] {
				return k, "a file without a family is for an AMD device, which has bram36"
			}
		}
		if !given["bram36"] {
			return "bram36", "missing"
		}
		if !strings.HasPrefix(b.DSPType, "DSP") {
			return "dsp_type", b.DSPType + " is not one of AMD's, and the file states no family"
		}
		return "", ""
	}
	k := b.Family.Row()
	switch {
	case !k.Part.MatchString(b.Part):
		return "part", fmt.Sprintf("%q is not a known part of family %s (%s)", b.Part, b.Family, k.Part)
	case b.BRAM36 > 0:
		return "bram36", fmt.Sprintf("the block RAMs of family %s have %d Kbit: bram counts them", b.Family,
			k.Block.Kbit)
	case !given["bram"]:
		return "bram", "missing"
	case !given["bram_kbit"]:
		return "bram_kbit", "missing"
	case b.BRAMKbit != k.Block.Kbit:
		return "bram_kbit", fmt.Sprintf("%d, and block RAMs of family %s have %d", b.BRAMKbit, b.Family, k.Block.Kbit)
	case b.DSPType != k.DSP.Name:
		return "dsp_type", fmt.Sprintf("%s, and family %s has %s", b.DSPType, b.Family, k.DSP.Name)
	case b.LUTRAM > 0 && !k.Logic.Memory:
		return "lutram", fmt.Sprintf("no LUT of family %s can be a memory", b.Family)
	case b.URAM > 0:
		return "uram", fmt.Sprintf("family %s has none", b.Family)
	}
	return "", ""
}

// Parse returns the board of a board file's text. Every required key must have a plausible value, and no key may be
// unknown or given twice. The default speed grade is that of the part number, and the default LUTRAM a quarter of the
// LUTs. Every error is an *InvalidFileError.
func Parse(data []byte) (Board, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return Board{}, &InvalidFileError{Reason: "not a JSON object"}
	}
	var b Board
	seen := map[string]bool{}
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return Board{}, malformed(err)
		}
		name := t.(string) // the decoder accepts nothing else as a key
		i := slices.IndexFunc(keys, func(k key) bool { return k.name == name })
		if i < 0 {
			return Board{}, &InvalidFileError{Key: name, Reason: unknownKey(name)}
		}
		if seen[name] {
			return Board{}, &InvalidFileError{Key: name, Reason: "given twice"}
		}
		seen[name] = true
		v, err := value(dec)
		if err != nil {
			return Board{}, malformed(err)
		}
		if reason := keys[i].read(&b, v); reason != "" {
			return Board{}, &InvalidFileError{Key: name, Reason: reason}
		}
	}
	if _, err := dec.Token(); err != nil {
		return Board{}, malformed(err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return Board{}, &InvalidFileError{Reason: "text after the JSON object"}
	}
	for _, k := range keys {
		if !k.optional && !seen[k.name] {
			return Board{}, &InvalidFileError{Key: k.name, Reason: "missing"}
		}
	}
	if key, reason := complete(&b, seen); reason != "" {
		return Board{}, &InvalidFileError{Key: key, Reason: reason}
	}
	return b, nil
}

// value reads a scalar, or a list of scalars as []any. For any other value it returns an opening or closing bracket,
// which no key accepts.
func value(dec *json.Decoder) (any, error) {
	v, err := dec.Token()
	if err != nil || v != json.Delim('[') {
		return v, err
	}
	list := []any{}
	for dec.More() {
		if v, err = dec.Token(); err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	_, err = dec.Token()
	return list, err
}

func malformed(err error) error { return &InvalidFileError{Reason: "not valid JSON: " + err.Error()} }

func unknownKey(name string) string {
	var names []string
	for _, k := range keys {
		names = append(names, k.name)
	}
	if n := suggest.NearestWord(name, names); n != "" {
		return fmt.Sprintf("unknown key, did you mean %q?", n)
	}
	return "unknown key; known are " + strings.Join(names, ", ")
}

func word(field func(*Board) *string, pattern string) func(*Board, any) string {
	re := sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) }) // many commands never use it
	return func(b *Board, v any) string {
		s, ok := v.(string)
		if !ok {
			return "wants a string"
		}
		if !re().MatchString(s) {
			return fmt.Sprintf("%q does not match %s", s, pattern)
		}
		*field(b) = s
		return ""
	}
}

func source(field func(*Board) *string) func(*Board, any) string {
	return word(field, `^[^\x00-\x1f\x7f]{0,400}$`)
}

func figure(field func(*Board) *int, lo, hi int) func(*Board, any) string {
	return func(b *Board, v any) string {
		n, ok := v.(json.Number)
		if !ok {
			return "wants a whole number"
		}
		i, err := n.Int64()
		if err != nil {
			return fmt.Sprintf("%s is not a whole number", n)
		}
		if i < int64(lo) || i > int64(hi) {
			return fmt.Sprintf("%d is outside %d to %d", i, lo, hi)
		}
		*field(b) = int(i)
		return ""
	}
}

func port(b *Board, v any) string {
	if reason := figure(func(b *Board) *int { return &b.HostPortBits }, 0, 4096)(b, v); reason != "" {
		return reason
	}
	if n := b.HostPortBits; n != 0 && (n < 8 || n&(n-1) != 0) {
		return fmt.Sprintf("%d is not 0 (none) or a power of two from 8", n)
	}
	return ""
}

func amount(field func(*Board) *float64, lo, hi float64, unit string) func(*Board, any) string {
	return func(b *Board, v any) string {
		n, ok := v.(json.Number)
		if !ok {
			return "wants a number"
		}
		f, err := n.Float64()
		if err != nil || f < lo || f > hi {
			return fmt.Sprintf("%s is outside %g to %g %s", n, lo, hi, unit)
		}
		*field(b) = f
		return ""
	}
}

// maxAliases limits the aliases in a board file. No board has as many names.
const maxAliases = 8

var alias = regexp.MustCompile(namePattern)

func aliases(b *Board, v any) string {
	list, ok := v.([]any)
	if !ok {
		return "wants a list of strings"
	}
	if len(list) > maxAliases {
		return fmt.Sprintf("%d names are more than %d", len(list), maxAliases)
	}
	for _, v := range list {
		s, ok := v.(string)
		if !ok {
			return "wants a list of strings"
		}
		if !alias.MatchString(s) {
			return fmt.Sprintf("%q does not match %s", s, namePattern)
		}
		if slices.ContainsFunc(b.Aliases, func(a string) bool { return strings.EqualFold(a, s) }) {
			return fmt.Sprintf("%q is given twice", s)
		}
		b.Aliases = append(b.Aliases, s)
	}
	return ""
}

func setFamily(b *Board, v any) string {
	s, ok := v.(string)
	if !ok {
		return "wants a string"
	}
	if Family(s).Row() == nil {
		var names []string
		for _, f := range Families {
			names = append(names, f.Name)
		}
		slices.Sort(names)
		return fmt.Sprintf("%q is not a known family (%s); files for AMD's devices state none", s,
			strings.Join(names, ", "))
	}
	b.Family = Family(s)
	return ""
}

var site = regexp.MustCompile(`^[A-Z]{0,2}[0-9]{1,3}$`)

// pins sets the board's pins from a list of "NAME SITE", which must have every pin of UARTTopPinNames. It returns what
// is wrong, or "".
func pins(b *Board, v any) string {
	list, ok := v.([]any)
	if !ok {
		return "wants a list of strings"
	}
	for _, v := range list {
		s, _ := v.(string)
		name, at, _ := strings.Cut(s, " ")
		switch {
		case !slices.Contains(UARTTopPinNames, name) || !site.MatchString(at):
			return fmt.Sprintf("%q is not a pin and its site: \"clk 35\"; pins are %s", fmt.Sprint(v),
				strings.Join(UARTTopPinNames, ", "))
		case b.PinSite(name) != "":
			return fmt.Sprintf("%s is given twice", name)
		}
		b.Pins = append(b.Pins, s)
	}
	for _, name := range UARTTopPinNames {
		if b.PinSite(name) == "" {
			return "no site of " + name
		}
	}
	return ""
}

func unverified(b *Board, v any) string {
	is, ok := v.(bool)
	if !ok {
		return "wants true or false"
	}
	b.Unverified = is
	return ""
}
