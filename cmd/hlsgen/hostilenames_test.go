package main

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"hlsgen/frontend/graph"
	"hlsgen/internal/testsupport/samplefiles"
	"hlsgen/internal/testsupport/tier"
)

// namesToEscape are names of layers that are more than a word: to a browser, to a screen, and to a terminal.
var namesToEscape = []string{`</script><img src=x onerror=alert(1)>`, strings.Repeat("long ", 400),
	"\x1b[31mred\x1b]0;title\a $end $var", "last\nline\u202e\u200f\u061c\u2028"}

// namedModel returns a model whose nodes and tensors have these names.
func namedModel(names []string) []byte {
	h := hostileModel(8)
	last := "q"
	for i, name := range names {
		weight, out := name+" weights", name+" out"
		h.Init(weight, graph.DTypeFloat32, []int{8, 8}, slices.Repeat([]float64{1, 0, -1, 1, 1, 0, 0, 1, 1}, 8)[:64]...)
		h.Node("MatMul", last, weight).Name(name).Out(name + " sums")
		last = out
		h.Node("Quant", name+" sums", "s", "z", "b").Domain(qonnx).Int("signed", 1).Out(out)
		if i == len(names)-1 {
			h.Node("MatMul", out, "w").Name("end").Out("y")
		}
	}
	return h.Bytes()
}

// TestNamesHarmNothing builds a model with hostile names, and draws it in all ways. Every written text is what it was
// to be, and nothing reaches the terminal but letters.
func TestNamesHarmNothing(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	dir := filesIn(t, map[string]string{"m.onnx": string(namedModel(namesToEscape))})
	save(t, filepath.Join(dir, "x.npy"), samplefiles.Noise(1, 2, 8))
	for _, line := range []string{
		"check m.onnx",
		"build m.onnx --board pynq-z1 --no-csim --verify 1 --with-model --out built",
		"build m.onnx --board pynq-z1 --no-csim --verify 1 --backend rtl --out circuit",
		"report built --out again.html", "report built circuit --out both.html",
		"graph m.onnx --out m.svg", "graph m.onnx --out m.png", "graph m.onnx --out m.dot", "graph m.onnx --out g.onnx",
		"graph built --out b.svg", "graph built --out b.png", "graph built --out b.dot", "graph built --out gb.onnx",
		"simulate m.onnx --input x.npy --engine cycle --board pynq-z1 --trace-vcd w.vcd --timeline l.svg --trace t.npz",
		"simulate m.onnx --input x.npy --engine cycle --board pynq-z1 --timeline l.json --trace traced",
	} {
		got := say(dir, nil, strings.Fields(line)...)
		if got.code != exitOK {
			t.Errorf("%s: %d, %.400s", line, got.code, got.stderr)
		}
		if at := controls.FindStringIndex(got.stdout + got.stderr); at != nil {
			t.Errorf("%s: %q reaches the terminal", line, (got.stdout + got.stderr)[at[0]:at[1]])
		}
	}
	seen := map[string]int{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		ext := filepath.Ext(path)
		switch seen[ext]++; ext {
		case ".onnx", ".npy", ".npz", ".png", ".gz", ".dat", ".bin":
			return nil // names are data there, or there are none
		case ".svg":
			if fault := svgFault(string(text)); fault != nil {
				t.Errorf("%s: %v", path, fault)
			}
		case ".json":
			if !json.Valid(text) {
				t.Errorf("%s is no JSON", path)
			}
			return nil
		case ".html":
			if strings.Contains(string(text), "<img") {
				t.Errorf("%s has the element of a name", path)
			}
		case ".vcd":
			if line := vcdLine(string(text)); line != "" {
				t.Errorf("%s: a line is %q", path, line)
			}
		}
		if at := controls.Find(text); at != nil {
			t.Errorf("%s holds %q", path, at)
		}
		return nil
	})
	if err != nil || seen[".html"] < 4 || seen[".svg"] < 3 || seen[".vcd"] != 1 || seen[".hpp"] == 0 {
		t.Errorf("%v, %v", err, seen)
	}
}

// controls matches characters that a terminal or an editor obeys, or that turn a text round.
var controls = regexp.MustCompile("[\x00-\x08\x0b-\x1f\x7f\u0080-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")

// svgFault returns what is wrong with a picture: no XML, or an element that is no part of a drawing.
func svgFault(text string) error {
	for d := xml.NewDecoder(strings.NewReader(text)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if e, ok := token.(xml.StartElement); ok && !slices.Contains(drawingElements, e.Name.Local) {
			return errors.New("there is an element " + e.Name.Local)
		}
	}
}

// drawingElements lists the elements of pictures.
var drawingElements = []string{"svg", "g", "rect", "path", "text", "title", "style", "line", "polygon", "polyline",
	"circle", "tspan", "desc", "defs", "marker"}

// vcdLine returns the first line of a dump that has another form than those of scopes, variables, times and values.
func vcdLine(text string) string {
	form := regexp.MustCompile(`^(\$timescale 1 ps \$end|\$scope module \w+ \$end|\$upscope \$end|` +
		`\$var wire \d+ \S+ \w+ \$end|\$enddefinitions \$end|#\d+|[01]\S+|b[01]+ \S+)$`)
	for line := range strings.Lines(text) {
		if line = strings.TrimSuffix(line, "\n"); !form.MatchString(line) {
			return line
		}
	}
	return ""
}
