// Package onnxio reads and writes ONNX files. Our own protobuf bindings read the content of a file: names, domains,
// types, constants, attributes and subgraphs. onnx-go determines the topology: which node makes the tensor that
// another node reads.
//
// The two are separate because onnx-go v0.5.0 drops node names, domains, opset versions, dynamic axes, metadata and
// annotations, and refuses int8 and float16 constants and subgraphs. It therefore gets a copy of the model that
// contains only tensor names and the index of each node (wire.go).
//
// In come bytes; out comes a graph.Graph, or diagnostics, whatever the bytes are.
//
//   - scan.go limits sizes and nesting before anything is decoded
//   - whole.go inserts the tensors that a model keeps in other files
//   - read.go reads the model, graph.go a graph in it, tensor.go constants, minifloat.go their 8- and 16-bit floats
//   - inline.go expands the model's own functions
//   - wire.go lets onnx-go connect the nodes, link.go sorts them and finds missing tensors
//   - write.go writes a graph as a file
package onnxio

import (
	"fmt"
	"strings"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/onnxio/onnxpb"
	"hlsgen/internal/diag"
)

// maxErrors is the largest number of errors of a file that are reported one by one.
const maxErrors = 100

// ParseGraph parses the bytes of an ONNX file as a graph. Nodes come in topological order, in the file's order if that
// is topological. name is the file's base name, for diagnostics. The result is nil if ParseGraph added an error to d.
//
// Tensors in other files are an error; InlineExternalData inserts them.
//
// Bytes of any kind give a graph or errors. The memory used is at most a small multiple of len(b) plus the limits in
// scan.go. ParseGraph does not keep b.
func ParseGraph(name string, b []byte, d *diag.List) *graph.Graph {
	r := &reader{file: name, list: d, versions: map[*onnxpb.NodeProto]int64{}}
	m, f := decode(b)
	if f != nil {
		r.report(subject{at: name}, f)
		return nil
	}
	g := r.model(m)
	if r.errors > maxErrors {
		d.Add(diag.Diag{Severity: diag.SeverityNote, Code: diag.ModelMalformed, Where: name,
			Msg: fmt.Sprintf("%d more errors in the model are not shown", r.errors-maxErrors)})
	}
	if r.errors > 0 {
		return nil
	}
	return g
}

// A reader is the state of one call of ParseGraph: its diagnostics, the declarations of the model, and how much of the
// limits is used.
type reader struct {
	file     string
	list     *diag.List
	opsets   map[string]int64
	versions map[*onnxpb.NodeProto]int64 // of nodes of functions with an import of their own
	core     bool                        // a node of the domain ai.onnx was seen
	external int                         // number of tensors in other files; first is the first of them
	first    *onnxpb.TensorProto
	errors   int
	full     bool // a limit was exceeded
	edges    int
	elements int
}

// A subject is the node or the place that a diagnostic is about. An empty node and op stand for the whole model.
type subject struct{ node, op, at string }

// report adds an error about a subject. Once a limit is exceeded it adds no more, since further errors would be about
// the same problem.
func (r *reader) report(s subject, f *fault) {
	if r.full {
		return
	}
	r.full = f.code == diag.ModelTooLarge
	if r.errors++; r.errors > maxErrors {
		return
	}
	r.list.Add(diag.Diag{Severity: diag.SeverityError, Code: f.code, Node: s.node, Op: s.op, Where: s.at, Msg: f.msg,
		Hint: f.hint})
}

// prefix returns a copy of a fault with text, formatted as by fmt.Sprintf, and a colon in front of its message. The
// text names the part of the subject that is at fault.
func (f *fault) prefix(format string, args ...any) *fault {
	g := *f
	g.msg = fmt.Sprintf(format, args...) + ": " + f.msg
	return &g
}

// model reads the whole model. After errors the result is incomplete, or nil; model reports as many errors as
// independent parts allow.
func (r *reader) model(m *onnxpb.ModelProto) *graph.Graph {
	top := subject{at: r.file}
	if m.GetGraph() == nil {
		r.report(top, damaged("the model has no graph"))
		return nil
	}
	if !r.inline(m) {
		return nil
	}
	r.readOpsets(m)
	g, unmet := r.graph(m.GetGraph(), r.file)
	for _, u := range unmet {
		r.report(u.by, malformed("a tensor must be an input, an initializer or the output of a node",
			"the tensor %s is read, but nothing makes it", quote(u.tensor)))
	}
	if len(m.GetGraph().GetOutput()) == 0 {
		r.report(top, damaged("the graph has no output"))
	}
	if _, ok := r.opsets[""]; r.core && !ok {
		r.report(top, damaged("the model does not import a version of the ONNX operators that it uses"))
	}
	if r.external > 0 {
		r.reportExternal()
	}
	g.Meta = make(map[string]string)
	for _, e := range m.GetMetadataProps() {
		g.Meta[e.GetKey()] = e.GetValue()
	}
	g.Producer = strings.TrimSpace(m.GetProducerName() + " " + m.GetProducerVersion())
	return g
}

// readOpsets reads the versions of operators that the model imports, by domain, and reports faults.
func (r *reader) readOpsets(m *onnxpb.ModelProto) {
	r.opsets = make(map[string]int64)
	if m.GetIrVersion() < 3 && len(m.GetOpsetImport()) == 0 {
		// Opset imports came with IR version 3. Older models mean version 1 (onnx/docs/IR.md).
		r.opsets[""] = 1
	}
	for _, o := range m.GetOpsetImport() {
		domain, v := canonical(o.GetDomain()), o.GetVersion()
		switch old, twice := r.opsets[domain]; {
		case v < 1:
			r.report(subject{at: r.file}, damaged("version %d of operator domain %s is imported", v,
				quote(domain)))
		case twice && old != v:
			r.report(subject{at: r.file}, malformed("import each domain once",
				"versions %d and %d of operator domain %s are imported", old, v, quote(domain)))
		}
		r.opsets[domain] = v
	}
}

// canonical returns the spelling of a domain that the reader uses. ONNX's own domain has two spellings, "ai.onnx" and
// "".
func canonical(domain string) string {
	if domain == "ai.onnx" {
		return ""
	}
	return domain
}

func fullOp(domain, op string) string {
	n := graph.Node{Domain: canonical(domain), Op: op}
	return n.QualifiedOpName()
}

func (r *reader) noteExternal(p *onnxpb.TensorProto) {
	if r.external++; r.external == 1 {
		r.first = p
	}
}

func (r *reader) reportExternal() {
	location := ""
	for _, e := range r.first.GetExternalData() {
		if e.GetKey() == "location" {
			location = " in " + quote(e.GetValue())
		}
	}
	r.report(subject{at: r.file}, &fault{diag.ExternalTensorUnreadable,
		fmt.Sprintf("%d tensors are kept in other files, the first is %s%s, and the model came without a folder to "+
			"read them from", r.external, quote(r.first.GetName()), location),
		"give the model by its path; or put them into its file: " +
			`onnx.save_model(onnx.load("model.onnx"), "whole.onnx")`})
}

// quote returns a string of the model in quotes, cut to 80 bytes, for use in a message.
func quote(s string) string { return fmt.Sprintf("%.80q", s) }

// typeName returns the name of an element type, even an unknown one, for use in a message.
func typeName(d graph.DType) string {
	if s := d.String(); s != "unknown" {
		return s
	}
	return fmt.Sprintf("number %d", int32(d))
}
