package onnxio

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"hlsgen/frontend/onnxio/onnxpb"
	"hlsgen/internal/diag"
)

// The limits. They reject a hostile file before it takes memory or time out of proportion to what an accelerator
// could hold. No network that fits an FPGA comes near any of them.
const (
	// MaxFileBytes is the length limit of a protobuf message in bytes. Protobuf's readers use signed 32-bit sizes.
	MaxFileBytes = 1<<31 - 1
	// maxNesting limits how deeply messages are nested. It also limits the depth of subgraphs, which take three
	// levels each. Protobuf's C++ and Python readers accept no more, so no tool wrote a deeper file.
	maxNesting = 100
	// maxNodes limits the nodes of the graph with all subgraphs and functions. The largest networks have some ten
	// thousand.
	maxNodes = 1 << 16
	// maxMessages limits the decoded size of small messages. An empty attribute takes two bytes in the file but
	// three hundred in memory. A node with its attributes and shapes takes about ten messages.
	maxMessages = 16 * maxNodes
	// maxEdges limits the edges that onnx-go makes, outputs times inputs over all nodes. Each takes a thousand
	// bytes.
	maxEdges = 1 << 18
	// maxElements limits the elements of all constants together. Integers of at most 8 bits take a byte of memory
	// each, other elements eight bytes. The largest device holds about this many bits on chip.
	maxElements = 1 << 28
	// maxRank limits the number of axes, as numpy does. Tensors are read and written as .npy files.
	maxRank = 64
	// maxString limits the length of a name, a domain or an operator in bytes. Names go into reports and comments.
	maxString = 1 << 12
	// maxText limits the length of a metadata value in bytes. Some exporters store whole configurations there.
	maxText = 1 << 24
)

// A fault is a problem with a part of the file, with a hint. A caller that knows the part's place turns it into a
// diagnostic.
type fault struct {
	code      diag.Code
	msg, hint string
}

func malformed(hint, format string, args ...any) *fault {
	return &fault{diag.ModelMalformed, fmt.Sprintf(format, args...), hint}
}

func damaged(format string, args ...any) *fault {
	return malformed("the file is damaged or was not copied whole; export the model again", format, args...)
}

func tooLarge(format string, args ...any) *fault {
	return &fault{diag.ModelTooLarge, fmt.Sprintf(format, args...), ""}
}

func unsupported(hint, format string, args ...any) *fault {
	return &fault{diag.OpUnsupported, fmt.Sprintf(format, args...), hint}
}

// decode decodes the bytes of a file as a ModelProto. It scans the bytes first, because protobuf's own reader has no
// limits, and its errors are worded differently from build to build.
func decode(b []byte) (*onnxpb.ModelProto, *fault) {
	if f := recognise(b); f != nil {
		return nil, f
	}
	if len(b) > MaxFileBytes {
		return nil, tooLarge("the file has %d bytes; an ONNX file has at most %d", len(b), MaxFileBytes)
	}
	var s scanner
	if f := s.message(b, 0, modelForm(), 1); f != nil {
		return nil, f
	}
	m := new(onnxpb.ModelProto)
	// Unknown fields come from later ONNX versions. None of them changes what a model computes.
	if err := (proto.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(b, m); err != nil {
		return nil, damaged("the bytes are not an ONNX model")
	}
	return m, nil
}

// LooksLikeONNXFile reports whether a file of at least one byte may be a model, judging by the lengths of its outermost
// fields. If not, it adds the reason to d. It reads only little of a file that is no model, however large. name is the
// file's base name, for diagnostics.
func LooksLikeONNXFile(name string, file io.ReaderAt, size int64, d *diag.List) bool {
	f := skim(file, size)
	if f != nil {
		(&reader{file: name, list: d}).report(subject{at: name}, f)
	}
	return f == nil
}

// skim returns a fault if a file begins like another kind of file, or if one of its first outermost fields is malformed
// or goes beyond its end. It looks at no more than 1,000 fields. It ignores read errors, which the reader of the
// whole file reports.
func skim(file io.ReaderAt, size int64) *fault {
	const most = 1000 // fields; tools write a few dozen
	for off, n := int64(0), 0; off < size && n < most; n++ {
		b := make([]byte, min(64, size-off))
		if _, err := file.ReadAt(b, off); err != nil {
			return nil
		}
		if f := recognise(b); f != nil && off == 0 {
			return f
		}
		num, typ, tag := protowire.ConsumeTag(b)
		if tag < 0 {
			return wireFault(tag, int(off))
		}
		var length int64
		switch typ {
		case protowire.StartGroupType:
			return nil // a group has no length
		case protowire.BytesType:
			v, l := protowire.ConsumeVarint(b[tag:])
			if l < 0 {
				return wireFault(l, int(off))
			}
			length = int64(l) + int64(min(v, MaxFileBytes+1))
		default:
			if length = int64(protowire.ConsumeFieldValue(num, typ, b[tag:])); length < 0 {
				return wireFault(int(length), int(off))
			}
		}
		if int64(tag)+length > size-off {
			return beyond(int(off))
		}
		off += int64(tag) + length
	}
	return nil
}

// recognise returns a fault if b, the beginning of a file, shows a kind of file that is often mistaken for an ONNX
// model. Otherwise it returns nil.
func recognise(b []byte) *fault {
	if len(b) == 0 {
		return damaged("the file is empty")
	}
	const (
		archive = 30 // position of the first file's name in a zip archive
		torch   = `export the model: torch.onnx.export(model, (example,), "model.onnx"), or, of a network of ` +
			`Brevitas, export_qonnx of brevitas.export`
		keras = "export the model: python -m tf2onnx.convert --keras model.h5 --output model.onnx, or, of a network " +
			"of QKeras, from_keras of qonnx.converters.keras"
		tflite = "convert the model: python -m tf2onnx.convert --tflite model.tflite --output model.onnx"
	)
	others := []struct {
		at                int
		holds, what, hint string
	}{
		{0, "version https://git-lfs", "a Git LFS pointer", "fetch the file itself: git lfs pull"},
		{archive, "metadata.json", "one of Keras (.keras)", keras},
		{archive, "config.json", "one of Keras (.keras)", keras},
		{0, "PK\x03\x04", "a zip archive, as PyTorch saves models (.pt)", torch},
		{0, "\x89HDF", "an HDF5 file, as Keras saves models (.h5)", keras},
		{0, "\x80\x02", "a pickled Python object, as PyTorch saves models (.pt)", torch},
		{4, "TFL3", "one of TensorFlow Lite (.tflite)", tflite},
		{0, "\x1f\x8b", "compressed by gzip", "decompress it"},
		{0, "<", "a web page", "the download failed; fetch the file itself"},
		{0, "{", "JSON", "export the model to ONNX"},
	}
	for _, o := range others {
		if len(b) > o.at && bytes.HasPrefix(b[o.at:], []byte(o.holds)) &&
			(o.at != archive || bytes.HasPrefix(b, []byte("PK\x03\x04"))) {
			return malformed(o.hint, "the file is not an ONNX model but %s", o.what)
		}
	}
	return nil
}

// A form tells the scan which fields, by number, a message type has.
type form struct {
	node   bool // NodeProto
	fields []field
}

// A field tells the scan what to check of a field: the messages in it (sub), or the length of a string (limit). Other
// fields are skipped.
type field struct {
	name  string
	sub   *form
	limit int
}

// modelForm returns the form of ModelProto, derived from the generated descriptors.
var modelForm = sync.OnceValue(func() *form {
	known := make(map[protoreflect.FullName]*form)
	var of func(protoreflect.MessageDescriptor) *form
	of = func(m protoreflect.MessageDescriptor) *form {
		if f, ok := known[m.FullName()]; ok {
			return f
		}
		f := &form{node: m.Name() == "NodeProto"}
		known[m.FullName()] = f
		for i := range m.Fields().Len() {
			d := m.Fields().Get(i)
			for int(d.Number()) >= len(f.fields) {
				f.fields = append(f.fields, field{})
			}
			to := field{name: string(d.Name())}
			switch {
			case d.Kind() == protoreflect.MessageKind:
				to.sub = of(d.Message())
			case d.Kind() == protoreflect.StringKind && d.Name() == "value":
				to.limit = maxText
			case d.Kind() == protoreflect.StringKind && d.Name() != "doc_string":
				to.limit = maxString
			}
			f.fields[d.Number()] = to
		}
		return f
	}
	return of((*onnxpb.ModelProto)(nil).ProtoReflect().Descriptor())
})

// A scanner checks the wire format of a model against the limits, without storing anything.
type scanner struct {
	messages, nodes int
	outside         bool // a tensor has its data in another file
}

// message checks the message b of form m, which starts at byte off of the file and lies depth messages deep.
func (s *scanner) message(b []byte, off int, m *form, depth int) *fault {
	if depth > maxNesting {
		return tooLarge("messages lie deeper than %d within each other, at byte %d of the file", maxNesting, off)
	}
	if s.messages++; s.messages > maxMessages {
		return tooLarge("the file describes more than %d nodes, attributes, tensors and axes", maxMessages)
	}
	if m.node {
		if s.nodes++; s.nodes > maxNodes {
			return tooLarge("the model has more than %d nodes", maxNodes)
		}
	}
	for len(b) > 0 {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			return wireFault(n, off)
		}
		size := protowire.ConsumeFieldValue(num, typ, b[n:])
		if size < 0 {
			return wireFault(size, off)
		}
		if int(num) >= len(m.fields) {
			b, off = b[n+size:], off+n+size
			continue
		}
		s.outside = s.outside || m.fields[num].name == "data_location"
		if typ == protowire.BytesType {
			if f := s.field(m.fields[num], b[n:n+size], off+n, depth); f != nil {
				return f
			}
		}
		b, off = b[n+size:], off+n+size
	}
	return nil
}

// field checks the value b of a field with a length prefix, which starts at byte off of the file.
func (s *scanner) field(f field, b []byte, off, depth int) *fault {
	if f.sub == nil && f.limit == 0 {
		return nil
	}
	v, n := protowire.ConsumeBytes(b)
	if f.sub != nil {
		return s.message(v, off+n-len(v), f.sub, depth+1)
	}
	if len(v) > f.limit {
		return tooLarge("%s at byte %d of the file has %d bytes; at most %d are read", word(f.name), off, len(v),
			f.limit)
	}
	if !utf8.Valid(v) {
		return damaged("%s at byte %d of the file is not UTF-8 text", word(f.name), off)
	}
	return nil
}

// word returns a field's name as words, such as "the doc string" for doc_string.
func word(field string) string { return "the " + strings.ReplaceAll(field, "_", " ") }

// wireFault returns the fault for the negative length n with which package protowire reports an error in the field at
// byte off.
func wireFault(n, off int) *fault {
	if protowire.ParseError(n) == io.ErrUnexpectedEOF {
		return beyond(off)
	}
	return damaged("the bytes at %d of the file are not an ONNX model", off)
}

func beyond(off int) *fault {
	return damaged("the field at byte %d of the file goes beyond its end", off)
}
