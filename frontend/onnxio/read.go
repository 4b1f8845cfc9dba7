// Package onnxio reads ONNX files, and writes them. Our own protobuf bindings carry what a file says: names, domains,
// types, constants, attributes, subgraphs. onnx-go wires the topology: which node makes the tensor that another one
// reads.
//
// The two are separate because onnx-go v0.5.0 drops node names, domains, opset versions, dynamic axes, metadata and
// annotations, and refuses int8 and float16 constants and subgraphs. It therefore gets a copy of the model that holds
// nothing but tensor names and the index of each node (wire.go).
//
// In come bytes; out comes a graph.Graph, or diagnostics, whatever the bytes are. It sees graph, diag and the
// bindings (onnxpb).
//
//   - scan.go bounds sizes and nesting before anything is decoded
//   - whole.go puts into a file what it keeps in others
//   - read.go walks the model, graph.go a graph in it, tensor.go constants, minifloat.go their 8- and 16-bit floats
//   - inline.go writes out the model's own functions
//   - wire.go lets onnx-go join the nodes, link.go puts them in order and finds what is missing
//   - write.go is the way back: the file of a graph
package onnxio

import (
	"fmt"
	"strings"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/onnxio/onnxpb"
	"hlsgen/internal/diag"
)

// maxErrors is how many errors of one file are reported one by one.
const maxErrors = 100

// Read makes a graph of the bytes of an ONNX file. Nodes come out in topological order, in the file's order where that
// is one. name is the file's base name, for diagnostics. The result is nil where an error was added to d.
//
// Tensors that are kept in other files are an error: Whole puts them in.
//
// Bytes of any kind end in a graph or in errors; memory stays within a small multiple of len(b) plus the limits in
// scan.go. b is not kept.
func Read(name string, b []byte, d *diag.List) *graph.Graph {
	r := &reader{file: name, list: d, versions: map[*onnxpb.NodeProto]int64{}}
	m, f := decode(b)
	if f != nil {
		r.report(subject{at: name}, f)
		return nil
	}
	g := r.model(m)
	if r.errors > maxErrors {
		d.Add(diag.Diag{Severity: diag.Note, Code: diag.ModelMalformed, Where: name,
			Msg: fmt.Sprintf("%d more errors in the model are not shown", r.errors-maxErrors)})
	}
	if r.errors > 0 {
		return nil
	}
	return g
}

// A reader is the state of one Read: where to report, what the model declares, and what it used of the limits.
type reader struct {
	file     string
	list     *diag.List
	opsets   map[string]int64
	versions map[*onnxpb.NodeProto]int64 // of nodes of functions that import another than the model
	core     bool                        // a node of ai.onnx was seen
	external int                         // tensors in other files; the first of them is first
	first    *onnxpb.TensorProto
	errors   int
	full     bool // a limit was reached
	edges    int
	elements int
}

// A subject is what a diagnostic is about. The zero node and op stand for the model as a whole.
type subject struct{ node, op, at string }

// report adds an error. A limit that was reached is the last one: what follows would be about the rest of the same.
func (r *reader) report(s subject, f *fault) {
	if r.full {
		return
	}
	r.full = f.code == diag.ModelTooLarge
	if r.errors++; r.errors > maxErrors {
		return
	}
	r.list.Add(diag.Diag{Severity: diag.Error, Code: f.code, Node: s.node, Op: s.op, Where: s.at, Msg: f.msg,
		Hint: f.hint})
}

// prefix says what part of a subject a fault is about.
func (f *fault) prefix(format string, args ...any) *fault {
	g := *f
	g.msg = fmt.Sprintf(format, args...) + ": " + f.msg
	return &g
}

// model reads everything. Errors are collected as far as the parts can be read without each other.
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

// readOpsets collects the imported versions by domain.
func (r *reader) readOpsets(m *onnxpb.ModelProto) {
	r.opsets = make(map[string]int64)
	if m.GetIrVersion() < 3 && len(m.GetOpsetImport()) == 0 {
		// Opset imports came with IR version 3; what is older means version 1 (onnx/docs/IR.md).
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

// canonical is the one spelling of a domain: ONNX's own has two.
func canonical(domain string) string {
	if domain == "ai.onnx" {
		return ""
	}
	return domain
}

func fullOp(domain, op string) string {
	n := graph.Node{Domain: canonical(domain), Op: op}
	return n.FullOp()
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
	r.report(subject{at: r.file}, &fault{diag.ExternalData,
		fmt.Sprintf("%d tensors are kept in other files, the first is %s%s, and the model came without a folder to "+
			"read them from", r.external, quote(r.first.GetName()), location),
		"give the model by its path; or put them into its file: " +
			`onnx.save_model(onnx.load("model.onnx"), "whole.onnx")`})
}

// quote shows a string of the model within a message.
func quote(s string) string { return fmt.Sprintf("%.80q", s) }

// typeName names an element type, also one that is not in the list.
func typeName(d graph.DType) string {
	if s := d.String(); s != "unknown" {
		return s
	}
	return fmt.Sprintf("number %d", int32(d))
}
