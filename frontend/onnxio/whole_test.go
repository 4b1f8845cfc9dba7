package onnxio

import (
	"bytes"
	"io/fs"
	"maps"
	"strings"
	"testing"
	"testing/fstest"

	"hlsgen/frontend/graph"
	"hlsgen/internal/diag"
	"hlsgen/internal/testsupport/onnxtest"
)

// scattered returns a model with tensors of several types, as initializers, in an attribute and in a body, and the
// same model with its data in other files.
func scattered(one bool) (whole, file []byte, folder fstest.MapFS) {
	body := onnxtest.New(0).Output("b", graph.DTypeFloat32).Init("k", graph.DTypeInt8, []int{3}, 1, -2, 3)
	body.Node("Cast", "k").Int("to", int64(graph.DTypeFloat32)).Out("b")
	m := onnxtest.New(13).Input("c", graph.DTypeBool).Output("y", graph.DTypeFloat32, 3).Output("z",
		graph.DTypeFloat32, 2)
	m.Init("w", graph.DTypeFloat32, []int{2}, 0.5, -1.5).Init("none", graph.DTypeFloat32, []int{0}).
		Init("d", graph.DTypeFloat64, nil, 0.1)
	m.Node("If", "c").Graph("then_branch", body).Graph("else_branch", body).Out("y")
	m.Node("Constant").Tensor("value", graph.DTypeFloat16, []int{2}, 1, 2).Out("v")
	m.Node("Identity", "w").Out("z")
	whole = m.Bytes()
	file, files := onnxtest.ExternaliseTensors(whole, one)
	folder = fstest.MapFS{}
	for name, data := range files {
		folder[name] = &fstest.MapFile{Data: data}
	}
	return whole, file, folder
}

// TestWhole checks that a model in several files becomes the model in a single file, byte for byte.
func TestWhole(t *testing.T) {
	t.Parallel()
	for _, one := range []bool{true, false} {
		want, file, folder := scattered(one)
		for name, folder := range map[string]fs.FS{"plain": folder, "forward": onlyForward{folder}} {
			var d diag.List
			if got := InlineExternalData("m.onnx", file, folder, &d); !bytes.Equal(got, want) || len(d.Diags) > 0 {
				t.Errorf("%s, one file %v: %d bytes of %d, %v", name, one, len(got), len(want), d.Diags)
			}
			if got := InlineExternalData("m.onnx", want, nil, &d); &got[0] != &want[0] {
				t.Error("a model that keeps nothing outside was copied")
			}
		}
	}
}

// An onlyForward has files that can only be read in order, like those of an archive.
type onlyForward struct{ fs.FS }

func (f onlyForward) Open(name string) (fs.File, error) {
	file, err := f.FS.Open(name)
	return struct{ fs.File }{file}, err
}

// TestOutside checks which locations are read, and the errors for the others.
func TestOutside(t *testing.T) {
	t.Parallel()
	data := bytes.Repeat([]byte{0, 0, 0, 0x40}, 4)
	folder := fstest.MapFS{"w.bin": {Data: data}, "in/w.bin": {Data: data}, "empty": {}}
	for _, c := range []struct {
		name, location string
		more           []string
		says           string // empty: it is read
	}{
		{"beside", "w.bin", nil, ""},
		{"below", "in/w.bin", []string{"offset", "8", "length", "8"}, ""},
		{"an idle step", "./in//w.bin", []string{"length", "0"}, ""},
		{"other keys", "w.bin", []string{"checksum", "0", "offset", "4"}, ""},
		{"absolute", "/etc/passwd", nil, "absolute path"},
		{"absolute, elsewhere", `C:\w.bin`, nil, "absolute path"},
		{"up", "../w.bin", nil, "a step upwards"},
		{"up in the middle", "in/../w.bin", nil, "a step upwards"},
		{"up, elsewhere", `..\w.bin`, nil, "a step upwards"},
		{"empty", "", nil, "no location"},
		{"no text", "w\x00.bin", nil, "no path"},
		{"missing", "v.bin", nil, "does not exist"},
		{"a folder", "in", nil, "no regular file"},
		{"the folder itself", ".", nil, "no regular file"},
		{"short", "empty", nil, "8 bytes from byte 0"},
		{"negative offset", "w.bin", []string{"offset", "-4"}, `offset of its data in "w.bin" is "-4"`},
		{"negative length", "w.bin", []string{"length", "-8"}, `length of its data in "w.bin" is "-8"`},
		{"far negative", "w.bin", []string{"length", "-99999999999999999999"}, "no number of bytes"},
		{"beyond the end", "w.bin", []string{"offset", "12"}, "8 bytes from byte 12"},
		{"far beyond", "w.bin", []string{"offset", "99999999999999999999"}, "bytes from byte"},
		{"no number", "w.bin", []string{"offset", "0x4"}, "no number of bytes"},
		{"another length", "w.bin", []string{"length", "12"}, "takes 8 bytes, and 12"},
		{"twice", "w.bin", []string{"location", "in/w.bin"}, `"location" of its data is told twice`},
	} {
		m := onnxtest.New(13).Output("y", graph.DTypeFloat32, 2).Init("w", graph.DTypeFloat32, []int{2}, 2, 2)
		m.Node("Identity", "w").Out("y")
		whole := m.Bytes()
		file := m.External("w", c.location, c.more...).Bytes()
		var d diag.List
		got := InlineExternalData("m.onnx", file, folder, &d)
		if c.says == "" {
			if !bytes.Equal(got, whole) {
				t.Errorf("%s: not read: %v", c.name, d.Diags)
			}
			continue
		}
		if got != nil || len(d.Diags) != 1 || !strings.Contains(d.Diags[0].Msg, `tensor "w": `) ||
			!strings.Contains(d.Diags[0].String(), c.says) {
			t.Errorf("%s: %v", c.name, d.Diags)
		}
	}
}

// TestOutsideTooLarge checks that stated sizes of tensors take no memory.
func TestOutsideTooLarge(t *testing.T) {
	t.Parallel()
	m := onnxtest.New(13).Output("y", graph.DTypeFloat32)
	for _, name := range []string{"v", "w"} {
		m.Init(name, graph.DTypeFloat32, []int{0}).External(name, "w.bin", "length", "1099511627776")
	}
	m.Node("Add", "v", "w").Out("y")
	for dims, says := range map[[2]int64]string{{1 << 20, 1 << 18}: "have more than", {1 << 40, 1 << 40}: "multiply",
		{1 << 13, 1 << 13}: "takes 268435456 bytes, and 1099511627776"} {
		for _, t := range m.Proto.Graph.Initializer {
			t.Dims = dims[:]
		}
		var d diag.List
		if InlineExternalData("m.onnx", m.Bytes(), fstest.MapFS{}, &d) != nil || len(d.Diags) == 0 ||
			!strings.HasPrefix(d.Diags[0].Msg, `tensor "v": `) || !strings.Contains(d.Diags[0].Msg, says) {
			t.Errorf("%v: %v", dims, d.Diags)
		}
	}
}

// TestOutsideFaults checks that InlineExternalData leaves other faults to ParseGraph, and reports all tensors.
func TestOutsideFaults(t *testing.T) {
	t.Parallel()
	_, file, folder := scattered(false)
	for _, b := range [][]byte{nil, []byte("text"), file[:len(file)-1]} {
		var d diag.List
		if got := InlineExternalData("m.onnx", b, folder, &d); len(got) != len(b) || len(d.Diags) > 0 {
			t.Errorf("%q: %v", b, d.Diags)
		}
	}
	maps.DeleteFunc(folder, func(name string, _ *fstest.MapFile) bool { return name != "weights/0.bin" })
	var d diag.List
	if InlineExternalData("m.onnx", file, folder, &d) != nil || len(d.Diags) != 4 {
		t.Errorf("%v", d.Diags)
	}
}
