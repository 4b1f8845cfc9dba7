package onnxio

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/onnxio/onnxpb"
	"hlsgen/internal/diag"
	"hlsgen/internal/testsupport/onnxtest"
	"hlsgen/internal/testsupport/tier"

	"google.golang.org/protobuf/encoding/protowire"
)

// TestTruncated checks that a file cut off anywhere gives an error or, if the cut leaves a complete model, that
// model.
func TestTruncated(t *testing.T) {
	t.Parallel()
	b := quantModel().Bytes()
	read := 0
	for n := range len(b) {
		var d diag.List
		g := ParseGraph("m.onnx", b[:n], &d)
		if (g == nil) != d.HasErrors() {
			t.Fatalf("%d bytes: read %v, errors %v", n, g != nil, d.Diags)
		}
		if g != nil {
			read++
		}
	}
	// The file ends with two opset imports and the metadata. It can be cut before the metadata, or between the
	// imports.
	if read > 2 {
		t.Errorf("%d truncated files were read", read)
	}
}

// TestDamaged checks that a single wrong byte causes an error at worst.
func TestDamaged(t *testing.T) {
	t.Parallel()
	b := quantModel().Bytes()
	for i := range b {
		for _, flip := range []byte{0x01, 0x07, 0x80, 0xff} {
			c := bytes.Clone(b)
			c[i] ^= flip
			var d diag.List
			if g := ParseGraph("m.onnx", c, &d); (g == nil) != d.HasErrors() {
				t.Fatalf("byte %d: read %v, errors %v", i, g != nil, d.Diags)
			}
		}
	}
}

func TestForeignFiles(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ start, says string }{
		{"", "empty"},
		{"version https://git-lfs.github.com/spec/v1\noid sha256:0", "Git LFS pointer"},
		{"PK\x03\x04\x14\x00", "zip archive"},
		{"PK\x03\x04" + strings.Repeat("\x00", 26) + "archive/data.pkl", "(.pt)"},
		{"PK\x03\x04" + strings.Repeat("\x00", 26) + "metadata.json", "(.keras)"},
		{"PK\x03\x04" + strings.Repeat("\x00", 26) + "config.json", "(.keras)"},
		{"\x1c\x00\x00\x00TFL3\x14\x00", "(.tflite)"},
		{"\x89HDF\r\n\x1a\n", "HDF5"},
		{"\x80\x02}q\x00", "pickled"},
		{"\x1f\x8b\x08", "gzip"},
		{"<!DOCTYPE html>", "web page"},
		{`{"model": 1}`, "JSON"},
		{"some text", "not an ONNX model"},
		{"\x08", "beyond its end"},
		{"\x3a\xff\xff\xff\xff\x07abc", "beyond its end"},
	} {
		checkFault(t, c.start, []byte(c.start), diag.ModelMalformed)
		var d diag.List
		ParseGraph("m.onnx", []byte(c.start), &d)
		if !strings.Contains(d.Diags[0].Msg, c.says) || d.Diags[0].Hint == "" {
			t.Errorf("%q: %v, want %q", c.start, d.Diags[0], c.says)
		}
	}
}

// wrap puts b into a length-delimited field.
func wrap(num protowire.Number, b []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(nil, num, protowire.BytesType), b)
}

func TestLimits(t *testing.T) {
	t.Parallel()
	named := func(name string) []byte {
		m := linkModel()
		m.Node("Relu", "x").Name(name).Out("y")
		return m.Bytes()
	}
	nested := func(levels int) []byte {
		b := onnxtest.New(13).Output("x", graph.DTypeFloat32)
		for range levels {
			outer := onnxtest.New(13).Output("y", graph.DTypeFloat32)
			outer.Node("If", "x").Graph("then_branch", b).Out("y")
			b = outer
		}
		return b.Input("x", graph.DTypeFloat32).Bytes()
	}
	for _, c := range []struct {
		name string
		file []byte
		want diag.Code // empty if the file is read
	}{
		{"a name of 4096 bytes", named(strings.Repeat("n", maxString)), ""},
		{"a name of 4097 bytes", named(strings.Repeat("n", maxString+1)), diag.ModelTooLarge},
		{"a name that is not UTF-8", named("\xff"), diag.ModelMalformed},
		{"30 subgraphs deep", nested(30), ""},
		{"40 subgraphs deep", nested(40), diag.ModelTooLarge},
		{"a file of 2 GiB", make([]byte, MaxFileBytes+1), diag.ModelTooLarge},
		{"too many nodes", wrap(7, bytes.Repeat([]byte{0x0a, 0}, maxNodes+1)), diag.ModelTooLarge},
		{"too many inputs", wrap(7, bytes.Repeat([]byte{0x5a, 0}, maxMessages+1)), diag.ModelTooLarge},
		{"too many connections", func() []byte {
			m := linkModel()
			n := m.Node("Op", strings.Fields(strings.Repeat("x ", 2000))...)
			for i := range 2000 {
				n.Proto.Output = append(n.Proto.Output, fmt.Sprint(i))
			}
			return m.Bytes()
		}(), diag.ModelTooLarge},
		{"too many elements", func() []byte {
			m := linkModel()
			m.Proto.Graph.Initializer = []*onnxpb.TensorProto{{Name: new("y"), Dims: []int64{maxElements + 4},
				DataType: new(int32(graph.DTypeInt2)), RawData: make([]byte, maxElements/4+1)}}
			return m.Bytes()
		}(), diag.ModelTooLarge},
	} {
		if c.want != "" {
			checkFault(t, c.name, c.file, c.want)
			continue
		}
		mustRead(t, c.file)
	}
}

// TestLargest checks that a file at the limits takes time and memory in proportion to its size, with its nodes in
// the worst order for sorting.
func TestLargest(t *testing.T) {
	tier.NotQuick(t)
	var before, after runtime.MemStats
	m := linkModel()
	for i := range maxNodes - 1 {
		m.Node("Relu", fmt.Sprint(i+1)).Out(fmt.Sprint(i))
	}
	m.Node("Relu", "x").Out(fmt.Sprint(maxNodes - 1))
	m.Proto.Graph.Output[0].Name = new("0")
	b := m.Bytes()
	runtime.ReadMemStats(&before)
	g := mustRead(t, b)
	runtime.ReadMemStats(&after)
	if first := g.Nodes[0].Index; first != maxNodes-1 {
		t.Errorf("the first node is %d, want %d", first, maxNodes-1)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 2<<30 {
		t.Errorf("%d bytes were allocated", used)
	} else {
		t.Logf("%d MiB allocated for a file of %d KiB", used>>20, len(b)>>10)
	}
}

// A sparse is a file of any length. It has zeros behind a given beginning, and counts the bytes that are read.
type sparse struct {
	begins []byte
	read   int
}

func (s *sparse) ReadAt(b []byte, off int64) (int, error) {
	s.read += len(b)
	clear(b)
	if off < int64(len(s.begins)) {
		copy(b, s.begins[off:])
	}
	return len(b), nil
}

// TestBegins checks that a file which is no model is refused after its beginning, whatever its size.
func TestBegins(t *testing.T) {
	t.Parallel()
	for begins, want := range map[string]string{
		"":                 "the bytes at 0 of the file are not an ONNX model",
		"\x08\x07":         "the bytes at 2 of the file are not an ONNX model",
		"\x08\x07\x3a\x05": "the bytes at 9 of the file are not an ONNX model",
		"\x3a\xff\xff\xff\xff\xff\xff\xff\xff\x01":     "the field at byte 0 of the file goes beyond its end",
		"\x3a\xff\xff\xff\xff\x07":                     "the field at byte 0 of the file goes beyond its end",
		"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff": "the bytes at 0 of the file are not an ONNX model",
		"PK\x03\x04": "the file is not an ONNX model but a zip archive, as PyTorch saves models (.pt)",
	} {
		s := &sparse{begins: []byte(begins)}
		var d diag.List
		if LooksLikeONNXFile("m.onnx", s, 1<<30, &d) || len(d.Diags) != 1 || d.Diags[0].Msg != want || s.read > 1000 {
			t.Errorf("%q: %v, %d bytes were read", begins, d.Diags, s.read)
		}
	}
}
