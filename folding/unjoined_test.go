package folding

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
)

// tiled returns a layer of windows of 12 channels, each with weights of its own, between layers of pixels.
func tiled() *dataflow.Model {
	p := newPainter()
	return p.model("tiled", p.conv(p.depthwise(p.conv(p.image(6, 6, 12), 1, 1, 12), 1), 1, 1, 7))
}

var offer = regexp.MustCompile(`(PE|SIMD) ([0-9 or]+) of ([A-Za-z]+_[0-9]+)`)

// TestUnjoined checks that the message about two layers that cannot be joined names them and the reason, and that each
// of its offers works.
func TestUnjoined(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		folds  map[string]string
		want   string
		offers int
	}{
		{"orders", map[string]string{"ConvolutionInputGenerator_0": `"SIMD": 4`, "VVAU_0": `"PE": 3`},
			"ConvolutionInputGenerator_0 gives blocks of 4 channels, and VVAU_0 takes blocks of 3 channels: no width " +
				"converter puts one order into the other", 2},
		{"one of them", map[string]string{"ConvolutionInputGenerator_0": `"SIMD": 12`, "VVAU_0": `"PE": 1`},
			"VVAU_0 takes one channel after the other", 2},
	} {
		file := func(folds map[string]string) string {
			var list []string
			for name, fold := range folds {
				list = append(list, fmt.Sprintf("%q: {%s}", name, fold))
			}
			return "{" + strings.Join(list, ", ") + "}"
		}
		res, d := withFile(t, tiled(), file(c.folds), Goal{})
		if res != nil || len(d.Diags) != 1 || d.Diags[0].Code != diag.StreamWordTooWide ||
			!strings.Contains(d.Diags[0].Msg, c.want) {
			t.Errorf("%s:\n%swant %q", c.name, text(d), c.want)
			continue
		}
		followed := 0
		for _, o := range offer.FindAllStringSubmatch(d.Diags[0].Hint, -1) {
			for _, v := range strings.Split(o[2], " or ") {
				next := map[string]string{}
				for name, fold := range c.folds {
					next[name] = fold
				}
				next[o[3]] = fmt.Sprintf("%q: %s", o[1], v)
				if res, d := withFile(t, tiled(), file(next), Goal{}); res == nil {
					t.Errorf("%s: %s of %s:\n%s", c.name, next[o[3]], o[3], text(d))
				}
			}
			followed++
		}
		if followed != c.offers {
			t.Errorf("%s: %d offers in %q", c.name, followed, d.Diags[0].Hint)
		}
		if res, d := withFile(t, tiled(), "{}", Goal{}); res == nil {
			t.Errorf("%s: without them:\n%s", c.name, text(d))
		}
	}
}
