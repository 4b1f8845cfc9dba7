package options

import (
	"fmt"
	"strconv"
	"strings"
)

// AskedAccBits holds the accumulator widths that --acc-bits asks for, in bits.
type AskedAccBits struct {
	All    int            // for all layers; 0: not asked
	Hidden int            // for all matrix layers but the first and the last; 0: not asked
	Layers map[string]int // by the name of a layer or of its ONNX node; these override All and Hidden
	text   string
}

// HiddenLayersWord is the word in --acc-bits that stands for all matrix layers but the first and the last.
const HiddenLayersWord = "hidden"

// MaxAccBits is the largest width that --acc-bits accepts, in bits.
const MaxAccBits = 64

// ParseAccBits parses the value of --acc-bits: "16", "hidden=10", "MVAU_1=12,MVAU_2=10" or a mix of these. Widths are
// from 1 to MaxAccBits, and nothing may have two. The error says what is wrong with the text.
func ParseAccBits(s string) (AskedAccBits, error) {
	a := AskedAccBits{text: s, Layers: map[string]int{}}
	for _, part := range strings.Split(s, ",") {
		name, text, named := cutLast(strings.TrimSpace(part), "=")
		if !named {
			name, text = "", name
		}
		bits, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil || bits < 1 || bits > MaxAccBits {
			return AskedAccBits{}, fmt.Errorf("want an integer from 1 to %d, or LAYER=BITS,... or hidden=BITS",
				MaxAccBits)
		}
		switch name = strings.TrimSpace(name); {
		case !named && a.All == 0:
			a.All = bits
		case name == HiddenLayersWord && a.Hidden == 0:
			a.Hidden = bits
		case named && name != HiddenLayersWord && a.Layers[name] == 0 && name != "":
			a.Layers[name] = bits
		default:
			return AskedAccBits{}, fmt.Errorf("%q says twice how many bits, or of nothing", part)
		}
	}
	return a, nil
}

// cutLast cuts s at the last sep, because names of nodes may contain sep, too. found is false if s has no sep.
func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// String returns the text that ParseAccBits parsed.
func (a AskedAccBits) String() string { return a.text }

// IsAsked reports whether the user gave --acc-bits.
func (a AskedAccBits) IsAsked() bool { return a.text != "" }
