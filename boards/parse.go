package boards

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strings"
)

// An InvalidError says what is wrong with a board file. Key is the JSON key at fault, empty where it is the whole.
type InvalidError struct{ Path, Key, Reason string }

func (e *InvalidError) Error() string {
	var b strings.Builder
	if e.Path != "" {
		fmt.Fprintf(&b, "%s: ", e.Path)
	}
	if e.Key != "" {
		fmt.Fprintf(&b, "%q: ", e.Key)
	}
	return b.String() + e.Reason
}

// A key is one entry of a board file: how its value is checked and where it goes.
type key struct {
	name     string
	optional bool
	read     func(b *Board, v any) (reason string)
}

const namePattern = `^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`

// keys is the form of a board file. The limits on figures are far above any device made; they catch a wrong unit.
var keys = []key{
	{"name", false, word(func(b *Board) *string { return &b.Name }, namePattern)},
	{"aliases", true, aliases},
	{"part", false, word(func(b *Board) *string { return &b.Part }, `^[A-Za-z0-9][A-Za-z0-9-]{0,63}$`)},
	{"lut", false, figure(func(b *Board) *int { return &b.LUT }, 1, 20_000_000)},
	{"ff", false, figure(func(b *Board) *int { return &b.FF }, 1, 40_000_000)},
	{"bram36", false, figure(func(b *Board) *int { return &b.BRAM36 }, 0, 100_000)},
	{"uram", false, figure(func(b *Board) *int { return &b.URAM }, 0, 100_000)},
	{"dsp", false, figure(func(b *Board) *int { return &b.DSP }, 0, 100_000)},
	{"dsp_type", false, word(func(b *Board) *string { return &b.DSPType }, `^(DSP48E1|DSP48E2|DSP58)$`)},
	{"host_port_bits", false, port},
	{"default_clock_mhz", false, clock},
	{"unverified", true, unverified},
	{"part_source", true, word(func(b *Board) *string { return &b.PartSource }, `^[^\x00-\x1f\x7f]{0,400}$`)},
	{"resource_source", true, word(func(b *Board) *string { return &b.ResourceSource }, `^[^\x00-\x1f\x7f]{0,400}$`)},
}

// Parse reads a board file strictly: every figure must be there and plausible, no key may be unknown or given twice.
// The name and the part are restricted to characters that mean nothing to a shell, to Tcl or in a path. Every error
// is an *InvalidError.
func Parse(data []byte) (Board, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return Board{}, &InvalidError{Reason: "not a JSON object"}
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
			return Board{}, &InvalidError{Key: name, Reason: unknownKey(name)}
		}
		if seen[name] {
			return Board{}, &InvalidError{Key: name, Reason: "given twice"}
		}
		seen[name] = true
		v, err := value(dec)
		if err != nil {
			return Board{}, malformed(err)
		}
		if reason := keys[i].read(&b, v); reason != "" {
			return Board{}, &InvalidError{Key: name, Reason: reason}
		}
	}
	if _, err := dec.Token(); err != nil {
		return Board{}, malformed(err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return Board{}, &InvalidError{Reason: "text after the JSON object"}
	}
	for _, k := range keys {
		if !k.optional && !seen[k.name] {
			return Board{}, &InvalidError{Key: k.name, Reason: "missing"}
		}
	}
	return b, nil
}

// value reads a scalar, or a list of scalars as []any. Of what is nested deeper it gives the opening bracket, which no
// key accepts.
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

func malformed(err error) error { return &InvalidError{Reason: "not valid JSON: " + err.Error()} }

func unknownKey(name string) string {
	var names []string
	for _, k := range keys {
		names = append(names, k.name)
	}
	if n := nearest(name, names); n != "" {
		return fmt.Sprintf("unknown key, did you mean %q?", n)
	}
	return "unknown key; known are " + strings.Join(names, ", ")
}

func word(field func(*Board) *string, pattern string) func(*Board, any) string {
	re := regexp.MustCompile(pattern)
	return func(b *Board, v any) string {
		s, ok := v.(string)
		if !ok {
			return "wants a string"
		}
		if !re.MatchString(s) {
			return fmt.Sprintf("%q does not match %s", s, pattern)
		}
		*field(b) = s
		return ""
	}
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

func clock(b *Board, v any) string {
	n, ok := v.(json.Number)
	if !ok {
		return "wants a number"
	}
	f, err := n.Float64()
	if err != nil || math.IsNaN(f) || f < 1 || f > 2000 {
		return fmt.Sprintf("%s is outside 1 to 2000 MHz", n)
	}
	b.ClockMHz = f
	return ""
}

// maxAliases is more than any board is called.
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

func unverified(b *Board, v any) string {
	is, ok := v.(bool)
	if !ok {
		return "wants true or false"
	}
	b.Unverified = is
	return ""
}
