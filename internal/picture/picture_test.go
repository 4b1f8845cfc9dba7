package picture

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"hlsgen/frontend/graph"
	"hlsgen/internal/check"
	"hlsgen/internal/diag"
	"hlsgen/internal/options"
	"hlsgen/internal/testsupport/models"
	"hlsgen/internal/testsupport/onnxtest"
	"hlsgen/internal/testsupport/tier"
)

// checked draws a model.
func checked(t *testing.T, file string) *Drawing {
	t.Helper()
	var d diag.List
	c, err := check.Run(context.Background(), check.Options{Source: options.Source{Model: file}}, &d)
	if err != nil || c == nil || len(c.Imported.Fates) == 0 {
		t.Fatal(file, err, d.Diags)
	}
	return OfModel("a model", c.Imported, c.Layers)
}

// hostile returns a model whose names would do harm in a page, in Graphviz, and on a terminal.
func hostile(t *testing.T) string {
	t.Helper()
	m := onnxtest.New(13)
	m.Input("x", graph.DTypeFloat32, 1, 4).Output("y", graph.DTypeFloat32, 1, 4)
	last := "x"
	for i, name := range []string{"</script><img src=x onerror=alert(1)>", `"]; evil [label="`, `back\`,
		"esc\x1b[2J\x00",
		strings.Repeat("long", 500), "same", "same", "\u202eright\nto left"} {
		next := fmt.Sprint(name, i)
		if i == 7 {
			next = "y"
		}
		m.Node("Relu", last).Name(name).Out(next)
		last = next
	}
	file := filepath.Join(t.TempDir(), "hostile.onnx")
	if err := os.WriteFile(file, m.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestFormats draws the repository's models, and a hostile one. Each SVG is XML without scripts, Graphviz reads as many
// nodes and arrows as there are, and ONNX's checker accepts each file for viewers.
func TestFormats(t *testing.T) {
	t.Parallel()
	needs := tier.Needs(t, "dot", "onnx")
	dir := t.TempDir()
	files := []string{hostile(t)}
	for _, m := range models.InRepository(t) {
		for _, f := range m.Files {
			files = append(files, m.Path(f))
		}
	}
	var dots bytes.Buffer
	var nodes, arrows, checks int
	for i, file := range files {
		n := checked(t, file)
		nodes += len(n.Nodes)
		arrows += len(n.Streams)
		dots.Write(encode(t, n, "dot"))
		wellFormed(t, encode(t, n, "svg"))
		if len(n.Nodes) < 20 { // a large one takes a second
			if png := encode(t, n, "png"); !bytes.HasPrefix(png, []byte("\x89PNG")) {
				t.Errorf("%s: the PNG begins with %q", file, png[:8])
			}
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(i, ".onnx")), encode(t, n, "onnx"), 0o666); err != nil {
			t.Fatal(err)
		}
		checks++
	}
	c := exec.Command(needs[0], "-Tplain")
	c.Stdin = &dots
	plain, err := c.Output()
	if err != nil {
		t.Fatal(err)
	}
	for what, want := range map[string]int{"node": nodes, "edge": arrows, "graph": checks} {
		if got := len(regexp.MustCompile(`(?m)^`+what+" ").FindAll(plain, -1)); got != want {
			t.Errorf("Graphviz reads %d of %s, want %d", got, what, want)
		}
	}
	const script = "import glob, onnx, sys\n" +
		"files = sorted(glob.glob(sys.argv[1] + '/*.onnx'))\n" +
		"for f in files: onnx.checker.check_model(onnx.load(f))\n" +
		"print(len(files))\n"
	out, err := exec.Command(needs[1], "-c", script, dir).CombinedOutput()
	if err != nil || strings.TrimSpace(string(out)) != fmt.Sprint(checks) {
		t.Errorf("%v\n%s", err, out)
	}
}

// encode encodes a network twice, and fails if the bytes differ.
func encode(t *testing.T, n *Drawing, format string) []byte {
	t.Helper()
	first, err := n.Encode(format)
	if err != nil {
		t.Fatal(err)
	}
	if format == "png" {
		return first
	}
	second, err := n.Encode(format)
	if err != nil || !bytes.Equal(first, second) {
		t.Errorf("%s: two files differ, %v", format, err)
	}
	return first
}

// wellFormed checks that a picture is XML with none but drawing elements.
func wellFormed(t *testing.T, svg []byte) {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(svg))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		e, ok := token.(xml.StartElement)
		if ok && !slices.Contains([]string{"svg", "g", "path", "text"}, e.Name.Local) {
			t.Errorf("the picture has an element %q", e.Name.Local)
		}
	}
}

// TestModel compares the network of a small model with what it says: names, fates, shapes and integers.
func TestModel(t *testing.T) {
	t.Parallel()
	for _, m := range models.InRepository(t) {
		if m.Name != "iris-mlp-w3a3" {
			continue
		}
		n := checked(t, m.Path(m.Files[0]))
		var b strings.Builder
		for _, x := range n.Nodes {
			fmt.Fprintf(&b, "%s: %s, %s\n", x.Name, strings.Join(x.Lines, ", "), n.Classes[x.Class].Name)
		}
		for _, s := range n.Streams {
			fmt.Fprintf(&b, "%s -> %s: %s\n", n.Nodes[s.From].Name, n.Nodes[s.To].Name, s.Label)
		}
		for _, want := range []string{": MatMul, MVAU_0, in a layer\n", "host prefix, on the host\n",
			"constant, constant or unused\n", ": input, constant or unused\n", "1x4 ", " UINT3\n"} {
			if !strings.Contains(b.String(), want) {
				t.Errorf("nothing says %q:\n%s", want, b.String())
			}
		}
		return
	}
	t.Fatal("there is no iris-mlp-w3a3")
}

// TestNotBuilt gives OfDesign folders that no build wrote.
func TestNotBuilt(t *testing.T) {
	t.Parallel()
	for name, files := range map[string]map[string]string{
		"empty":     {},
		"truncated": {"layers.json": "[", "cycle_simulation.json": "{}"},
		"old":       {"layers.json": "[]", "cycle_simulation.json": `{"fifos": [{"stream": "s0"}]}`},
		"wrong":     {"layers.json": "[]", "cycle_simulation.json": `{"fifos": [{"from": "input", "to": "MVAU_9"}]}`},
	} {
		dir := t.TempDir()
		if err := os.Mkdir(filepath.Join(dir, "report"), 0o777); err != nil {
			t.Fatal(err)
		}
		for file, text := range files {
			if err := os.WriteFile(filepath.Join(dir, "report", file), []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		if n, err := OfDesign(dir); !errors.Is(err, ErrNotBuilt) {
			t.Errorf("%s: %v, %v", name, n, err)
		}
	}
}

// TestTooLarge draws more boxes than a PNG can hold.
func TestTooLarge(t *testing.T) {
	t.Parallel()
	n := &Drawing{Classes: layerClasses}
	for i := range 400 {
		n.Nodes = append(n.Nodes, Node{Name: strings.Repeat("wide ", 20)})
		if i > 0 {
			n.Streams = append(n.Streams, Wire{From: i - 1, To: i})
		}
	}
	n.Streams = n.Streams[:200]
	for i := 201; i < 400; i++ { // beside each other
		n.Streams = append(n.Streams, Wire{From: 0, To: i})
	}
	var large *TooLargeError
	if _, err := n.Encode("png"); !errors.As(err, &large) || large.Boxes != 400 {
		t.Errorf("%v", err)
	}
	if svg, err := n.Encode("svg"); err != nil || len(svg) == 0 {
		t.Errorf("%v", err)
	}
}
