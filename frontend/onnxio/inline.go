package onnxio

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/onnxio/onnxpb"
	"hlsgen/frontend/operators"
)

// maxNames is the largest total length, in bytes, of the names of tensors of inlined functions.
const maxNames = 1 << 26

// An inliner expands calls of the model's own functions in the decoded message, so that later code sees plain
// nodes. It leaves functions of the quantiser dialects alone. Exporters add these so that other tools can run the
// model; hlsgen knows the operators themselves.
type inliner struct {
	*reader
	functions map[string]*onnxpb.FunctionProto // by key
	opsets    map[string]int64                 // versions that the model imports, by domain
	model     *onnxpb.ModelProto
	taken     graph.UsedTensorNames
	calls     []string // keys of the functions being expanded, outermost first
	nodes     int      // number of nodes made
	names     int      // bytes of names made
	failed    bool
}

// key returns the map key of a function, made of its domain, name and overload.
func key(domain, name, overload string) string {
	return canonical(domain) + "\x00" + name + "\x00" + overload
}

// inline replaces the calls of a model's functions by their nodes, in m itself. It returns false after reporting an
// error.
func (r *reader) inline(m *onnxpb.ModelProto) bool {
	x := &inliner{reader: r, model: m, functions: map[string]*onnxpb.FunctionProto{}, opsets: map[string]int64{},
		taken: graph.UsedTensorNames{}}
	for _, f := range m.GetFunctions() {
		if operators.IsQuantisationDomain(f.GetDomain()) {
			continue
		}
		k := key(f.GetDomain(), f.GetName(), f.GetOverload())
		if x.functions[k] != nil {
			x.refuse(subject{at: r.file}, malformed("give each function a name of its own",
				"the name %s stands for two functions", quote(fullOp(f.GetDomain(), f.GetName()))))
			return false
		}
		x.functions[k] = f
	}
	if len(x.functions) == 0 || m.GetGraph() == nil {
		return true
	}
	for _, o := range m.GetOpsetImport() {
		x.opsets[canonical(o.GetDomain())] = o.GetVersion()
	}
	x.take(m.Graph)
	m.Graph.Node = x.expand(m.Graph.Node, r.file)
	return !x.failed
}

// refuse reports an error if it is the first one. Later errors are often about the same call.
func (x *inliner) refuse(s subject, f *fault) {
	if !x.failed {
		x.report(s, f)
	}
	x.failed = true
}

// take marks the names of all tensors in a graph and its subgraphs as used.
func (x *inliner) take(g *onnxpb.GraphProto) {
	for _, list := range [][]*onnxpb.ValueInfoProto{g.GetInput(), g.GetOutput()} {
		for _, v := range list {
			x.taken.MarkUsed(v.GetName())
		}
	}
	for _, t := range g.GetInitializer() {
		x.taken.MarkUsed(t.GetName())
	}
	for _, t := range g.GetSparseInitializer() {
		x.taken.MarkUsed(t.GetValues().GetName())
	}
	for _, n := range g.GetNode() {
		for _, o := range n.GetOutput() {
			x.taken.MarkUsed(o)
		}
		for _, a := range n.GetAttribute() {
			x.take(a.GetG())
		}
	}
}

// expand returns the given nodes with all calls of functions expanded, also in bodies and in the functions themselves.
// It does not change the given nodes, since several calls share them. After an error the result is incomplete.
func (x *inliner) expand(nodes []*onnxpb.NodeProto, at string) (list []*onnxpb.NodeProto) {
	for i, n := range nodes {
		if x.failed {
			return nil
		}
		here := subjectOf(&graph.Node{Index: i, Name: n.GetName(), Op: n.GetOpType(), Domain: canonical(n.GetDomain())},
			at)
		if slices.ContainsFunc(n.GetAttribute(), func(a *onnxpb.AttributeProto) bool { return a.GetG() != nil }) {
			own := &onnxpb.NodeProto{Name: n.Name, OpType: n.OpType, Domain: n.Domain, Overload: n.Overload,
				Input: n.Input, Output: n.Output, MetadataProps: n.MetadataProps}
			for _, a := range n.GetAttribute() {
				if g := a.GetG(); g != nil {
					a = attribute(a, a.GetName(), &onnxpb.GraphProto{Name: g.Name, Input: g.Input, Output: g.Output,
						Initializer: g.Initializer, SparseInitializer: g.SparseInitializer,
						Node: x.expand(g.Node, fmt.Sprintf("%s, attribute %s", here.at, quote(a.GetName())))})
				}
				own.Attribute = append(own.Attribute, a)
			}
			if v := x.versions[n]; v > 0 {
				x.versions[own] = v
			}
			n = own
		}
		if f := x.functions[key(n.GetDomain(), n.GetOpType(), n.GetOverload())]; f != nil {
			list = append(list, x.call(n, f, here)...)
			continue
		}
		list = append(list, n)
	}
	return list
}

// attribute returns a copy of an attribute with another name and, in place of its graph, g.
func attribute(a *onnxpb.AttributeProto, name string, g *onnxpb.GraphProto) *onnxpb.AttributeProto {
	return &onnxpb.AttributeProto{Name: &name, Type: a.Type, F: a.F, I: a.I, S: a.S, T: a.T, G: g, Floats: a.Floats,
		Ints: a.Ints, Strings: a.Strings, Tensors: a.Tensors}
}

// made counts nodes and bytes that inlining adds. It returns false if there are too many, which it reports, or after
// any earlier error.
func (x *inliner) made(s subject, nodes, bytes int) bool {
	x.nodes, x.names = x.nodes+nodes, x.names+bytes
	switch {
	case x.nodes > maxNodes:
		x.refuse(s, tooLarge("with its functions written out, the model has more than %d nodes", maxNodes))
	case x.names > maxNames:
		x.refuse(s, tooLarge("with its functions written out, the model has names of more than %d bytes", maxNames))
	}
	return !x.failed
}

// call returns the nodes that replace n, a call of function f, with the calls in them expanded. After an error they are
// incomplete.
func (x *inliner) call(n *onnxpb.NodeProto, f *onnxpb.FunctionProto, here subject) []*onnxpb.NodeProto {
	k := key(f.GetDomain(), f.GetName(), f.GetOverload())
	switch {
	case slices.Contains(x.calls, k):
		x.refuse(here, malformed("functions of ONNX may not be recursive: export the model again",
			"the function %s calls itself", quote(here.op)))
	case len(x.calls) == maxNesting:
		x.refuse(here, tooLarge("functions call each other deeper than %d", maxNesting))
	case len(n.GetInput()) > len(f.GetInput()), len(n.GetOutput()) > len(f.GetOutput()):
		x.refuse(here, damaged("the function %s has %d inputs and %d outputs, and is called with %d and %d",
			quote(here.op), len(f.GetInput()), len(f.GetOutput()), len(n.GetInput()), len(n.GetOutput())))
	}
	if !x.made(here, 1, 64*(len(f.GetInput())+len(f.GetOutput())+len(f.GetAttributeProto())+len(n.GetAttribute()))) {
		return nil
	}
	b := &binding{inliner: x, call: cmp.Or(n.GetName(), n.GetOpType()), here: here, names: map[string]string{},
		attrs: map[string]*onnxpb.AttributeProto{}, versions: map[string]int64{}}
	for _, o := range f.GetOpsetImport() {
		domain, v := canonical(o.GetDomain()), o.GetVersion()
		switch model, imported := x.opsets[domain]; {
		case !imported:
			x.opsets[domain] = v
			x.model.OpsetImport = append(x.model.OpsetImport, o)
		case model != v && v < 1:
			x.refuse(here, damaged("the function %s imports version %d of operator domain %s", quote(here.op), v,
				quote(domain)))
		case model != v:
			b.versions[domain] = v
		}
	}
	for _, a := range slices.Concat(f.GetAttributeProto(), n.GetAttribute()) {
		b.attrs[a.GetName()] = a
	}
	for i, name := range f.GetInput() {
		b.names[name] = ""
		if i < len(n.GetInput()) {
			b.names[name] = n.Input[i]
		}
	}
	var through []*onnxpb.NodeProto // outputs of the function that are also its inputs
	for i, name := range f.GetOutput() {
		if i >= len(n.GetOutput()) || n.Output[i] == "" {
			continue
		}
		if from, twice := b.names[name]; twice {
			through = append(through, &onnxpb.NodeProto{OpType: new(operators.OpIdentity), Input: []string{from},
				Output: []string{n.Output[i]}})
			continue
		}
		b.names[name] = n.Output[i]
	}
	x.calls = append(x.calls, k)
	nodes := x.expand(append(b.nodes(f.GetNode()), through...), fmt.Sprintf("%s, function %s", here.at, quote(here.op)))
	x.calls = x.calls[:len(x.calls)-1]
	return nodes
}

// A binding maps the tensors and attributes of a function to those of a call.
type binding struct {
	*inliner
	call  string
	here  subject
	names map[string]string
	attrs map[string]*onnxpb.AttributeProto
	// versions of operators by domain, if the function imports others than the model
	versions map[string]int64
}

// name returns the name in the model of a tensor of the function. If the tensor has none yet, name makes one.
func (b *binding) name(of string) string {
	if of == "" {
		return ""
	}
	to, ok := b.names[of]
	if !ok {
		to = b.taken.TakeFreshName(b.call, of)
		b.names[of] = to
		b.named(to)
	}
	return to
}

// named counts a new name. It returns false after reporting that the name is longer than a name in a file may be, or
// that there are too many names.
func (b *binding) named(name string) bool {
	if len(name) > maxString {
		b.refuse(b.here, tooLarge("functions within functions make a name of more than %d bytes", maxString))
	}
	return b.made(b.here, 0, len(name))
}

func (b *binding) renamed(names []string) []string {
	list := make([]string, len(names))
	for i, name := range names {
		list[i] = b.name(name)
	}
	return list
}

// nodes returns the nodes of the function, or of a graph in it, renamed for the call. It names their outputs first,
// since nodes may come in any order.
func (b *binding) nodes(of []*onnxpb.NodeProto) (list []*onnxpb.NodeProto) {
	for _, n := range of {
		if b.failed {
			return nil
		}
		b.renamed(n.GetOutput())
	}
	for _, n := range of {
		size := 64 * (len(n.GetInput()) + len(n.GetOutput()) + len(n.GetAttribute()))
		own := &onnxpb.NodeProto{OpType: n.OpType, Domain: n.Domain, Overload: n.Overload,
			MetadataProps: n.MetadataProps, Name: new(b.call + "/" + cmp.Or(n.GetName(), n.GetOpType()))}
		if v := b.versions[canonical(own.GetDomain())]; v > 0 {
			b.reader.versions[own] = v
		}
		if !b.named(*own.Name) || !b.made(b.here, 1, size) {
			return nil
		}
		own.Input, own.Output = b.renamed(n.GetInput()), b.renamed(n.GetOutput())
		for _, a := range n.GetAttribute() {
			if a = b.attr(a); a != nil {
				own.Attribute = append(own.Attribute, a)
			}
		}
		list = append(list, own)
	}
	return list
}

// attr returns an attribute of a node of the function. It returns nil if the attribute refers to one that the call
// omits.
func (b *binding) attr(a *onnxpb.AttributeProto) *onnxpb.AttributeProto {
	ref := a.GetRefAttrName()
	if ref == "" {
		if a.GetG() == nil {
			return a
		}
		return attribute(a, a.GetName(), b.body(a.G))
	}
	of := b.attrs[ref]
	if of == nil {
		return nil
	}
	if of.GetRefAttrName() != "" || attrKind(a) != 0 && attrKind(a) != attrKind(of) {
		b.refuse(b.here, damaged("attribute %s is not of the kind that the function wants", quote(ref)))
		return nil
	}
	return attribute(of, a.GetName(), of.GetG())
}

// body returns a graph of the function with the names and the attributes of the call. Tensors of the graph may have
// the same names as tensors elsewhere.
func (b *binding) body(g *onnxpb.GraphProto) *onnxpb.GraphProto {
	outer := b.names
	b.names = maps.Clone(outer)
	defer func() { b.names = outer }()
	b.made(b.here, 0, 64*(len(outer)+len(g.GetInput())+len(g.GetOutput())+len(g.GetInitializer())))
	inner := &inliner{taken: graph.UsedTensorNames{}}
	inner.take(&onnxpb.GraphProto{Input: g.Input, Initializer: g.Initializer, Node: g.Node})
	for name := range inner.taken {
		delete(b.names, name)
	}
	values := func(list []*onnxpb.ValueInfoProto) (own []*onnxpb.ValueInfoProto) {
		for _, v := range list {
			own = append(own, &onnxpb.ValueInfoProto{Name: new(b.name(v.GetName())), Type: v.Type})
		}
		return own
	}
	own := &onnxpb.GraphProto{Name: g.Name, SparseInitializer: g.SparseInitializer, Input: values(g.GetInput())}
	for _, t := range g.GetInitializer() {
		own.Initializer = append(own.Initializer, &onnxpb.TensorProto{Name: new(b.name(t.GetName())), Dims: t.Dims,
			DataType: t.DataType, Segment: t.Segment, FloatData: t.FloatData, Int32Data: t.Int32Data,
			StringData: t.StringData, Int64Data: t.Int64Data, RawData: t.RawData, DoubleData: t.DoubleData,
			Uint64Data: t.Uint64Data, ExternalData: t.ExternalData, DataLocation: t.DataLocation})
	}
	own.Node = b.nodes(g.GetNode())
	own.Output = values(g.GetOutput())
	return own
}
