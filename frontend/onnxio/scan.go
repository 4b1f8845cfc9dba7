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

// The limits. A hostile file is refused by them before it can take memory or time out of proportion to what an
// accelerator could hold; no network that fits an FPGA comes near one of them.
const (
	// MaxFile is the length of a protobuf message: sizes are signed 32-bit numbers in its readers.
	MaxFile = 1<<31 - 1
	// maxNesting is how deep messages may lie within each other; it bounds the depth of subgraphs as well, at three
	// levels each. Protobuf's C++ and Python readers refuse more, so no tool wrote such a file.
	maxNesting = 100
	// maxNodes counts the nodes of the graph, of all subgraphs and functions. The largest networks have some ten
	// thousand.
	maxNodes = 1 << 16
	// maxMessages bounds the decoded size of small messages: an empty attribute takes two bytes in the file and three
	// hundred in memory. A node with its attributes and shapes takes about ten messages.
	maxMessages = 16 * maxNodes
	// maxEdges counts, over all nodes, outputs times inputs: the edges that onnx-go makes, a thousand bytes each.
	maxEdges = 1 << 18
	// maxElements counts the elements of all constants together: a byte each in memory where they are integers of at
	// most 8 bits (the file's own, where it has a byte for each), else eight. The largest device holds about this many
	// bits on chip.
	maxElements = 1 << 28
	// maxRank is numpy's own limit; tensors come in and go out as .npy files.
	maxRank = 64
	// maxString is the length of a name, a domain or an operator. Names go into reports and comments.
	maxString = 1 << 12
	// maxText is the length of a metadata value; some exporters keep whole configurations there.
	maxText = 1 << 24
)

// A fault is what is wrong with a piece of the file. Whoever knows the place makes it a diagnostic.
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

// decode makes a ModelProto of the bytes of a file. The bytes are scanned first, because protobuf's own reader sets no
// bounds and words its errors differently from build to build.
func decode(b []byte) (*onnxpb.ModelProto, *fault) {
	if f := recognise(b); f != nil {
		return nil, f
	}
	if len(b) > MaxFile {
		return nil, tooLarge("the file has %d bytes; an ONNX file has at most %d", len(b), MaxFile)
	}
	var s scanner
	if f := s.message(b, 0, modelForm(), 1); f != nil {
		return nil, f
	}
	m := new(onnxpb.ModelProto)
	// Unknown fields are those of later ONNX versions, none of which changes what a model computes.
	if err := (proto.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(b, m); err != nil {
		return nil, damaged("the bytes are not an ONNX model")
	}
	return m, nil
}

// Begins reports whether a file of so many bytes, at least one, may be a model, by the lengths of its outermost fields,
// or says in d why it is none: of a file that is none, however large it is, little is read. name is its base name, for
// diagnostics.
func Begins(name string, file io.ReaderAt, size int64, d *diag.List) bool {
	f := skim(file, size)
	if f != nil {
		(&reader{file: name, list: d}).report(subject{at: name}, f)
	}
	return f == nil
}

// skim walks over the outermost fields. Whoever reads the whole file says why it cannot be read.
func skim(file io.ReaderAt, size int64) *fault {
	const most = 1000 // fields; tools write some dozen
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
			return nil // has no length
		case protowire.BytesType:
			v, l := protowire.ConsumeVarint(b[tag:])
			if l < 0 {
				return wireFault(l, int(off))
			}
			length = int64(l) + int64(min(v, MaxFile+1))
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

// recognise tells files that are often taken for an ONNX model from one.
func recognise(b []byte) *fault {
	if len(b) == 0 {
		return damaged("the file is empty")
	}
	const (
		archive = 30 // where a zip archive has the name of its first file
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

// A form is what the scan has to know of a message type: its fields by number.
type form struct {
	node   bool // NodeProto
	fields []field
}

// A field is skipped unless it holds messages or a string with a limit.
type field struct {
	name  string
	sub   *form
	limit int
}

// modelForm is the form of ModelProto, read off the generated descriptors.
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

// A scanner walks over the wire format without keeping anything.
type scanner struct {
	messages, nodes int
	outside         bool // a tensor says that its data are in another file
}

// message checks one message that starts at byte off of the file.
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

// field checks a field with a length in front.
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

// word is a field's name as it stands in a sentence.
func word(field string) string { return "the " + strings.ReplaceAll(field, "_", " ") }

// wireFault words what protowire found in the field at byte off.
func wireFault(n, off int) *fault {
	if protowire.ParseError(n) == io.ErrUnexpectedEOF {
		return beyond(off)
	}
	return damaged("the bytes at %d of the file are not an ONNX model", off)
}

func beyond(off int) *fault {
	return damaged("the field at byte %d of the file goes beyond its end", off)
}
