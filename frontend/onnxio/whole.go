package onnxio

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/onnxio/onnxpb"
	"hlsgen/internal/diag"
)

// InlineExternalData returns the bytes of a model's file with all its tensors in it. It reads tensors in other files
// from the model's folder. It returns b itself if there are none or if b cannot be decoded, which ParseGraph reports.
// It returns nil if it added an error to d. A location is a path below the folder. The folder must ensure that links do
// not lead out of it, as os.Root does.
func InlineExternalData(name string, b []byte, folder fs.FS, d *diag.List) []byte {
	if !keepsOutside(b) {
		return b
	}
	m, f := decode(b)
	if f != nil {
		return b
	}
	r := &reader{file: name, list: d}
	o := &outside{folder: folder, left: MaxFileBytes - len(b)}
	list := slices.DeleteFunc(tensorsOf(m.ProtoReflect(), nil), func(t *onnxpb.TensorProto) bool {
		return t.GetDataLocation() != onnxpb.TensorProto_EXTERNAL
	})
	if len(list) == 0 {
		return b
	}
	for _, t := range list {
		if f := o.fetch(t); f != nil {
			r.report(subject{at: name}, f.prefix("tensor %s", quote(t.GetName())))
		}
	}
	if r.errors > 0 {
		return nil
	}
	whole, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		r.report(subject{at: name}, damaged("the model cannot be put together with its tensors"))
		return nil
	}
	return whole
}

// keepsOutside reports whether the bytes of a model can be decoded, and the model keeps tensors in other files.
func keepsOutside(b []byte) bool {
	s := scanner{}
	return recognise(b) == nil && len(b) <= MaxFileBytes && s.message(b, 0, modelForm(), 1) == nil && s.outside
}

// tensorsOf appends to list all tensors in a message and its inner messages, in the order of the file, and returns the
// extended list.
func tensorsOf(m protoreflect.Message, list []*onnxpb.TensorProto) []*onnxpb.TensorProto {
	if t, ok := m.Interface().(*onnxpb.TensorProto); ok {
		return append(list, t)
	}
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		switch f := fields.Get(i); {
		case f.Kind() != protoreflect.MessageKind || !m.Has(f):
		case f.IsList():
			of := m.Get(f).List()
			for k := range of.Len() {
				list = tensorsOf(of.Get(k).Message(), list)
			}
		default:
			list = tensorsOf(m.Get(f).Message(), list)
		}
	}
	return list
}

// An outside reads the tensors that a model keeps in other files below its folder.
type outside struct {
	folder   fs.FS
	left     int // bytes that the whole file may still grow
	elements uint64
}

// A region is the place of a tensor's data: a file below the model's folder, an offset and a length in bytes.
type region struct {
	location       string
	offset, length int64 // a length of 0 means the size of the tensor
}

func elsewhere(hint, format string, args ...any) *fault {
	return &fault{diag.ExternalTensorUnreadable, fmt.Sprintf(format, args...), hint}
}

// fetch reads the data of a tensor from another file and stores them in the tensor. It allocates memory only after
// checking that the file has as many bytes.
func (o *outside) fetch(t *onnxpb.TensorProto) *fault {
	e, ok := encodings[graph.DType(t.GetDataType())]
	if !ok {
		return unsupported("", "constants of type %s are not read", typeName(graph.DType(t.GetDataType())))
	}
	shape, n, f := constantShape(t.GetDims())
	if f != nil {
		return f
	}
	if len(t.GetRawData()) > 0 {
		return damaged("it has data both in the model and in another file")
	}
	at, f := regionOf(t)
	if f != nil {
		return f
	}
	if n > maxElements || o.elements+n > maxElements {
		return tooLarge("%d elements; all constants together would have more than %d", n, maxElements)
	}
	o.elements += n
	size := int64(n*uint64(e.bits)+7) / 8
	if size > int64(o.left) {
		return tooLarge("%d bytes; the whole model would have more than %d", size, MaxFileBytes)
	}
	o.left -= int(size)
	if at.length != 0 && at.length != size {
		return elsewhere("the model and its files do not belong together; export it again",
			"the shape %v of %s takes %d bytes, and %d are said to be in %s", shape,
			typeName(graph.DType(t.GetDataType())), size, at.length, quote(at.location))
	}
	at.length = size
	b, f := o.read(at)
	if f != nil {
		return f
	}
	t.RawData, t.ExternalData, t.DataLocation = b, nil, nil
	return nil
}

// regionOf returns the place of a tensor's data. The fault says that it does not lie below the model's folder, or is
// malformed.
func regionOf(t *onnxpb.TensorProto) (at region, f *fault) {
	told := map[string]string{}
	for _, e := range t.GetExternalData() {
		if _, twice := told[e.GetKey()]; twice {
			return at, damaged("%s of its data is told twice", quote(e.GetKey()))
		}
		told[e.GetKey()] = e.GetValue()
	}
	const hint = "write it again with onnx.save_model(model, path, save_as_external_data=True), which makes paths " +
		"below the model's folder"
	at.location = told["location"]
	parts := strings.FieldsFunc(at.location, func(r rune) bool { return r == '/' || r == '\\' })
	switch clean := path.Clean(at.location); {
	case at.location == "":
		return at, elsewhere(hint, "its data are in another file, but no location says in which")
	case strings.HasPrefix(at.location, "/"), strings.HasPrefix(at.location, `\`),
		len(at.location) > 1 && at.location[1] == ':':
		return at, elsewhere(hint, "the location %s is an absolute path: data are read from the model's folder, "+
			"and from below it", quote(at.location))
	case slices.Contains(parts, ".."):
		return at, elsewhere(hint, "the location %s has a step upwards: data are read from the model's folder, and "+
			"from below it", quote(at.location))
	case !fs.ValidPath(clean) || strings.Contains(clean, "\x00"):
		return at, elsewhere(hint, "the location %s is no path", quote(at.location))
	default:
		at.location = clean
	}
	for _, x := range []struct {
		key string
		to  *int64
	}{{"offset", &at.offset}, {"length", &at.length}} {
		text, ok := told[x.key]
		if !ok {
			continue
		}
		v, err := strconv.ParseInt(text, 10, 64)
		if errors.Is(err, strconv.ErrSyntax) || err == nil && v < 0 || err != nil && strings.HasPrefix(text, "-") {
			return at, elsewhere("the file is damaged; export the model again",
				"the %s of its data in %s is %s, which is no number of bytes", x.key, quote(at.location), quote(text))
		} else if err != nil {
			v = math.MaxInt64
		}
		*x.to = v
	}
	return at, nil
}

// read returns the content of a region. The fault says that the file is missing, unreadable or too short.
func (o *outside) read(at region) ([]byte, *fault) {
	unreadable := func(err error) *fault {
		hint := "put the file beside the model, where it was when the model was written"
		reason := new(fs.PathError)
		switch system := errors.As(err, &reason); {
		case !system:
			hint = "put a copy of the file there, below the model's folder"
		case !errors.Is(err, fs.ErrNotExist):
			hint = ""
			fallthrough
		default:
			err = reason.Err
		}
		return elsewhere(hint, "its data in %s cannot be read: %v", quote(at.location), err)
	}
	// Check before opening: opening a pipe would wait for a writer.
	if info, err := fs.Stat(o.folder, at.location); err != nil {
		return nil, unreadable(err)
	} else if !info.Mode().IsRegular() {
		return nil, unreadable(fmt.Errorf("it is no regular file"))
	}
	file, err := o.folder.Open(at.location)
	if err != nil {
		return nil, unreadable(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, unreadable(err)
	}
	if have := info.Size(); at.offset > have || at.length > have-at.offset {
		return nil, elsewhere("the file was not copied whole, or belongs to another model",
			"its data are %d bytes from byte %d of %s on, which has %d bytes", at.length, at.offset,
			quote(at.location), have)
	}
	b := make([]byte, at.length)
	if from, ok := file.(io.ReaderAt); ok {
		_, err = io.ReadFull(io.NewSectionReader(from, at.offset, at.length), b)
	} else if _, err = io.CopyN(io.Discard, file, at.offset); err == nil {
		_, err = io.ReadFull(file, b)
	}
	if err != nil {
		return nil, unreadable(err)
	}
	return b, nil
}
