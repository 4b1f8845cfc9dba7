package main

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"hlsgen/frontend/graph"
	"hlsgen/internal/examples"
	"hlsgen/internal/testsupport/onnxtest"
	"hlsgen/internal/testsupport/tier"
)

const qonnx = "qonnx.custom_op.general"

// A hostile is a model that begins well: an input x of 8 values, quantised as q, and a weight w of 8 x 4; y has to be
// made.
type hostile struct{ *onnxtest.Model }

func hostileModel(width any) hostile {
	m := onnxtest.New(13).Opset(qonnx, 2).Input("x", graph.DTypeFloat32, 1, width).Output("y", graph.DTypeFloat32, 1, 4)
	m.Init("s", graph.DTypeFloat32, nil, 0.5).Init("z", graph.DTypeFloat32, nil, 0).Init("b", graph.DTypeFloat32, nil,
		4)
	w := make([]float64, 32)
	for i := range w {
		w[i] = float64(i%3 - 1)
	}
	m.Init("w", graph.DTypeFloat32, []int{8, 4}, w...)
	m.Node("Quant", "x", "s", "z", "b").Domain(qonnx).Int("signed", 1).Out("q")
	return hostile{m}
}

// ints adds a constant of integers.
func (h hostile) ints(name string, values ...float64) hostile {
	h.Init(name, graph.DTypeInt64, []int{len(values)}, values...)
	return h
}

const huge = 1 << 62

// hostileModels are models that ask for too much, contradict themselves, or are called something.
var hostileModels = map[string]func(h hostile){
	"reshape to a huge shape":   func(h hostile) { h.ints("n", huge, 4).Node("Reshape", "q", "n").Out("y") },
	"reshape that overflows":    func(h hostile) { h.ints("n", 1<<32, 1<<32).Node("Reshape", "q", "n").Out("y") },
	"reshape to minus":          func(h hostile) { h.ints("n", -1, -1).Node("Reshape", "q", "n").Out("y") },
	"expand to a huge shape":    func(h hostile) { h.ints("n", huge, 8).Node("Expand", "q", "n").Out("y") },
	"tile often":                func(h hostile) { h.ints("n", 1<<31, 1<<31).Node("Tile", "q", "n").Out("y") },
	"a huge constant":           func(h hostile) { h.ints("n", 1<<20, 1<<20).Node("ConstantOfShape", "n").Out("y") },
	"a range without end":       rangeOf(0, math.MaxInt64, 1),
	"a range that goes nowhere": rangeOf(0, 8, 0),
	"pad by more than there is memory": func(h hostile) {
		h.ints("n", 0, 1<<40, 0, 1<<40).Node("Pad", "q", "n").Out("y")
	},
	"pad away":             func(h hostile) { h.ints("n", 0, -9, 0, -9).Node("Pad", "q", "n").Out("y") },
	"gather outside":       func(h hostile) { h.ints("n", 99, -99).Node("Gather", "q", "n").Int("axis", 1).Out("y") },
	"gather on no axis":    func(h hostile) { h.ints("n", 0).Node("Gather", "q", "n").Int("axis", 1<<40).Out("y") },
	"transpose twice":      func(h hostile) { h.Node("Transpose", "q").Ints("perm", 0, 0).Out("y") },
	"transpose to nowhere": func(h hostile) { h.Node("Transpose", "q").Ints("perm", 7, -3).Out("y") },
	"concat on no axis":    func(h hostile) { h.Node("Concat", "q", "q").Int("axis", -huge).Out("y") },
	"split into nothing":   func(h hostile) { h.ints("n", 0, 0).Node("Split", "q", "n").Int("axis", 1).Out("y", "") },
	"split into too much": func(h hostile) {
		h.ints("n", huge, huge).Node("Split", "q", "n").Int("axis", 1).Out("y", "v")
	},
	"topk of more": func(h hostile) { h.ints("n", huge).Node("TopK", "q", "n").Out("y", "") },
	"slice backwards": func(h hostile) {
		h.ints("a", math.MinInt64).ints("e", math.MaxInt64).ints("k", 1).ints("d", math.MinInt64)
		h.Node("Slice", "q", "a", "e", "k", "d").Out("y")
	},
	"resize to a city": func(h hostile) {
		h.Init("f", graph.DTypeFloat32, []int{2}, 1, 1e30).Node("Resize", "q", "", "f").Out("y")
	},
	"resize by nothing": func(h hostile) {
		h.Init("f", graph.DTypeFloat32, []int{2}, 1, math.NaN()).Node("Resize", "q", "", "f").Out("y")
	},
	"a kernel larger than the world": func(h hostile) {
		h.ints("n", 1, 2, 2, 2).Node("Reshape", "q", "n").Out("i")
		h.Node("MaxPool", "i").Ints("kernel_shape", 1<<40, 1<<40).Ints("pads", 1<<40, 1<<40, 1<<40, 1<<40).Out("y")
	},
	"strides of 0": func(h hostile) {
		h.ints("n", 1, 2, 2, 2).Node("Reshape", "q", "n").Out("i")
		h.Node("MaxPool", "i").Ints("kernel_shape", 1, 1).Ints("strides", 0, -1).Out("y")
	},
	"groups of 0": func(h hostile) {
		h.ints("n", 1, 2, 2, 2).Node("Reshape", "q", "n").Out("i")
		h.Init("k", graph.DTypeFloat32, []int{2, 2, 1, 1}, 1, 1, 1, 1).Node("Conv", "i", "k").Int("group", 0).Out("y")
	},
	"dilations of 2^62": func(h hostile) {
		h.ints("n", 1, 2, 2, 2).Node("Reshape", "q", "n").Out("i")
		h.Init("k", graph.DTypeFloat32, []int{1, 2, 2, 2}, make([]float64, 8)...)
		h.Node("Conv", "i", "k").Ints("dilations", huge, huge).Out("y")
	},
	"a loop of 2^62 rounds": func(h hostile) {
		body := onnxtest.New(0).Input("i", graph.DTypeInt64).Input("c", graph.DTypeBool).Input("a", graph.DTypeFloat32,
			1, 8)
		body.Output("c", graph.DTypeBool).Output("o", graph.DTypeFloat32, 1, 8)
		body.Node("Add", "a", "q").Out("o")
		h.Init("n", graph.DTypeInt64, nil, huge).Node("Loop", "n", "", "q").Graph("body", body).Out("y")
	},
	"a loop without a body": func(h hostile) { h.Node("Loop", "", "", "q").Out("y") },
	"a scan of itself": func(h hostile) {
		body := onnxtest.New(0).Input("a", graph.DTypeFloat32).Output("y", graph.DTypeFloat32)
		body.Node("Add", "a", "y").Out("y")
		h.Node("Scan", "q").Int("num_scan_inputs", 1).Graph("body", body).Out("y")
	},
	"more scan inputs than inputs": func(h hostile) {
		body := onnxtest.New(0).Input("a", graph.DTypeFloat32).Output("a", graph.DTypeFloat32)
		h.Node("Scan", "q").Int("num_scan_inputs", huge).Graph("body", body).Out("y")
	},
	"an lstm of 2^40 units":    func(h hostile) { h.Node("LSTM", "q", "w", "w").Int("hidden_size", 1<<40).Out("y") },
	"an lstm of no units":      func(h hostile) { h.Node("LSTM", "q", "w", "w").Int("hidden_size", -1).Out("y") },
	"a node that reads itself": func(h hostile) { h.Node("Add", "q", "y").Out("y") },
	"nodes in a ring": func(h hostile) {
		h.Node("Add", "q", "v").Out("u")
		h.Node("Relu", "u").Out("v")
		h.Node("Relu", "v").Out("y")
	},
	"two makers of one tensor": func(h hostile) {
		h.Node("Relu", "q").Out("y")
		h.Node("Abs", "q").Out("y")
	},
	"an output that nobody makes": func(h hostile) { h.Node("Relu", "q").Out("v") },
	"no operator at all":          func(h hostile) { h.Node("", "q").Out("y") },
	"a scale of 0":                quantBy(0, 0, 4),
	"a scale that is no number":   quantBy(math.NaN(), 0, 4),
	"a scale without end":         quantBy(math.Inf(1), 0, 4),
	"0 bits":                      quantBy(1, 0, 0),
	"-3 bits":                     quantBy(1, 0, -3),
	"2.5 bits":                    quantBy(1, 0, 2.5),
	"1e38 bits":                   quantBy(1, 0, 1e38),
	"bits that are no number":     quantBy(1, 0, math.NaN()),
	"names that leave the folder": named("../../../../tmp/evil"),
	"names for a shell":           named("$(touch evil); `touch evil` | touch evil\n\x1b[2J"),
	"names for C++":               named("*/ #include \"/etc/passwd\"\n\\\n??/"),
	"names for HTML":              named("</title><script src=//evil></script>&\"'"),
	"names of 4096 bytes":         named(strings.Repeat("n", 4096)),
	"weights of another file": func(h hostile) {
		h.External("w", "../../../../etc/passwd")
		h.Node("MatMul", "q", "w").Out("y")
	},
	"weights without end": func(h hostile) {
		h.Init("v", graph.DTypeFloat32, []int{8, 1}, math.Inf(1), math.NaN(), 0, 0, 0, 0, 0, 0)
		h.Node("MatMul", "q", "v").Out("y")
	},
}

// quantBy puts a second quantiser behind the first.
func quantBy(scale, zero, bits float64) func(h hostile) {
	return func(h hostile) {
		h.Init("S", graph.DTypeFloat64, nil, scale).Init("Z", graph.DTypeFloat32, nil, zero).Init("B",
			graph.DTypeFloat32, nil, bits)
		h.Node("MatMul", "q", "w").Out("m")
		h.Node("Quant", "m", "S", "Z", "B").Domain(qonnx).Out("y")
	}
}

func rangeOf(from, to, step float64) func(h hostile) {
	return func(h hostile) {
		h.Init("f", graph.DTypeInt64, nil, from).Init("t", graph.DTypeInt64, nil, to).Init("d", graph.DTypeInt64, nil,
			step)
		h.Node("Range", "f", "t", "d").Out("y")
	}
}

// named calls everything so.
func named(name string) func(h hostile) {
	return func(h hostile) {
		h.Node("MatMul", "q", "w").Name(name).Out(name)
		h.Node("Nonesuch", name).Name(name + "2").Out("y")
	}
}

// hostileFiles makes models that are large, and files that are no models, from a few numbers.
var hostileFiles = map[string]func() []byte{
	"65,537 nodes": func() []byte {
		m := hostileModel(8)
		last := "q"
		for i := range 1<<16 + 1 {
			next := "t" + strconv.Itoa(i)
			m.Node("Relu", last).Out(next)
			last = next
		}
		return m.Bytes()
	},
	"a million empty messages": func() []byte { return bytes.Repeat([]byte{0x42, 0x00}, 1<<20) },
	"an input of 2^62":         func() []byte { return hostileModel(huge).Bytes() },
	"an input of -5":           func() []byte { return hostileModel(-5).Bytes() },
	"an input of 0":            func() []byte { return hostileModel(0).Bytes() },
	"a thousand graphs in each other": func() []byte {
		b := []byte{}
		for range 1000 { // a node of an attribute of a graph
			for _, tag := range []byte{0x0a, 0x2a, 0x32} {
				b = append(varint([]byte{tag}, len(b)), b...)
			}
		}
		return append(varint([]byte{0x3a}, len(b)), b...)
	},
}

func varint(b []byte, n int) []byte {
	for ; n >= 0x80; n >>= 7 {
		b = append(b, byte(n)|0x80)
	}
	return append(b, byte(n))
}

// TestHostileModels checks that models that ask for too much are refused, with little memory and without a trace.
func TestHostileModels(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	files := map[string]func() []byte{}
	for name, spoil := range hostileModels {
		files[name] = func() []byte {
			h := hostileModel(8)
			spoil(h)
			return h.Bytes()
		}
	}
	for name, make := range hostileFiles {
		files[name] = make
	}
	for name, make := range files {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write(t, filepath.Join(dir, "m.onnx"), string(make()))
			got := unharmed(t, dir, exitDiagnostics, !tier.Quick(), "check", "m.onnx")
			if strings.ContainsAny(got, "\x1b") {
				t.Errorf("a name reached the terminal: %q", got)
			}
		})
	}
}

// TestDamagedModels checks and builds models with a flipped bit or without their end, and models that fuzzing has
// found.
func TestDamagedModels(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	whole, err := examples.EmbeddedFiles.ReadFile(iris)
	if err != nil {
		t.Fatal(err)
	}
	flips, cuts := 120, 20
	if tier.Long() {
		flips, cuts = 1200, 100
	}
	files := map[string][]byte{}
	for i := range flips {
		b := bytes.Clone(whole)
		bit := (i*2654435761 + 12345) % (8 * len(b))
		b[bit/8] ^= 1 << (bit % 8)
		files[fmt.Sprintf("bit %d", bit)] = b
	}
	for i := range cuts {
		n := len(whole) * i / cuts
		files[fmt.Sprintf("%d bytes", n)] = whole[:n]
	}
	seeds, err := filepath.Glob("../../frontend/onnxio/testdata/fuzz/FuzzRead/*")
	if err != nil || len(seeds) < 100 {
		t.Fatal(len(seeds), err)
	}
	for _, path := range seeds {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		_, literal, _ := strings.Cut(string(text), "[]byte(")
		b, err := strconv.Unquote(strings.TrimSuffix(strings.TrimSpace(literal), ")"))
		if err != nil {
			t.Fatal(path, err)
		}
		files[filepath.Base(path)] = []byte(b)
	}
	refused := 0
	for name, b := range files {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "m.onnx"), string(b))
		got := say(dir, nil, "check", "m.onnx")
		harmless(t, got, exitOK, exitDiagnostics)
		if left := entries(t, dir); left != "m.onnx" {
			t.Errorf("%s: left %s", name, left)
		}
		if got.code != exitOK {
			refused++
			continue
		}
		built := say(dir, nil, "build", "m.onnx", "--board", "zcu104", "--no-csim", "--verify", "1", "--out", "out")
		harmless(t, built, exitOK, exitDiagnostics)
		want := map[bool]string{true: "m.onnx out", false: "m.onnx"}[built.code == exitOK]
		if left := entries(t, dir); left != want {
			t.Errorf("%s: left %s", name, left)
		}
	}
	if refused < cuts || refused > len(files)-flips/4 {
		t.Errorf("%d of %d are refused", refused, len(files))
	}
}
