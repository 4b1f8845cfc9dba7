package circuit

import (
	"encoding/binary"
	"fmt"
	"strings"
	"sync"
)

// A FunctionLibrary keeps the circuits of functions, so that those of many layers share them. It serves circuits of any
// TimingModel. The zero value is empty. Several goroutines may use it at a time.
type FunctionLibrary struct {
	functions sync.Map // from a shape, a text, to a *keptFunction
	Room      NodeRoom // the memory of builders that use the library
}

// A keptFunction is the place of one function in a library.
type keptFunction struct {
	mutex sync.Mutex
	*Module
}

// function returns the library's function with the given shape, a text. If there is none yet, it keeps and returns the
// result of make. It does the same if there is only an outline, unless outlines will do.
func (l *FunctionLibrary) function(shape string, outlines bool, make func() *Module) *Module {
	kept, _ := l.functions.LoadOrStore(shape, new(keptFunction))
	k := kept.(*keptFunction)
	k.mutex.Lock()
	defer k.mutex.Unlock()
	if k.Module == nil || k.IsOutline && !outlines {
		known := new(sync.Map)
		if k.Module != nil {
			known = k.Known
		}
		k.Module = make()
		k.Known = known
		k.replace = func(o *Module) {
			k.mutex.Lock()
			defer k.mutex.Unlock()
			k.Module = o
		}
	}
	return k.Module
}

// KeepOutlines makes the libraries of the functions that a circuit calls keep only outlines of them: their results, and
// the facts that are known about them. The circuit itself does not change.
func KeepOutlines(m *Module) {
	for _, c := range m.Calls {
		f := c.Function
		if f.IsOutline {
			continue
		}
		KeepOutlines(f)
		o := &Module{Stages: f.Stages, Known: f.Known, IsOutline: true, replace: f.replace}
		for _, id := range f.Results {
			n := f.Nodes[id]
			n.Args = nil
			o.Results, o.Nodes = append(o.Results, NodeID(len(o.Nodes))), append(o.Nodes, n)
		}
		f.replace(o)
	}
}

// CallFunction adds a call of a function that make builds, and returns its results. Library l keeps one function per
// key and kind of operands, so the key must say what make builds. The function's name begins with the key's first word.
// If all operands are constant, or a word or what is made of one is, make builds the operations in place.
func (b *Builder) CallFunction(l *FunctionLibrary, key string, operands []Value,
	make func(f *Builder, operands []Value) []Value) []Value {
	at, stage, _ := together(0, operands...)
	shape := append(b.scratch[:0], key...)
	var args []Value
	for _, v := range at {
		n := v.node()
		if n.Stage == ConstantStage && n.Op != OpConstant {
			return make(b, at)
		}
		shape = n.appendKind(shape)
		if n.Stage != ConstantStage {
			args = append(args, v)
		}
	}
	if len(args) == 0 {
		return make(b, at)
	}
	b.scratch = shape
	f := b.functions[string(shape)]
	if f == nil {
		shape := string(shape)
		kept := l.function(fmt.Sprint(b.rate, shape), b.outlines, func() *Module { return function(b, at, make) })
		f = new(Module)
		*f = *kept
		f.Name = fmt.Sprintf("%s_%d", strings.Fields(key)[0], len(b.functions))
		if b.functions == nil {
			b.functions = map[string]*Module{}
		}
		b.functions[shape] = f
	}
	call := uint64(len(b.m.Calls))
	b.m.Calls = append(b.m.Calls, FunctionCall{f, ids(args), stage})
	var results []Value
	for k, id := range f.Results {
		n := f.Nodes[id]
		if n.Op == OpConstant {
			results = append(results, WideConstant(b, n.WideRange().Lo))
			continue
		}
		results = append(results, b.add(Node{Op: OpCallResult, K: k, Table: call, Width: n.Width, Signed: n.Signed,
			Range: n.Range, Wide: n.Wide, Word: n.Word, Stage: stage + f.Stages, level: n.level}))
	}
	return results
}

// appendKind appends to the text all that a function depends on of an operand that n computes.
func (n *Node) appendKind(text []byte) []byte {
	flags := uint64(0)
	if n.Signed {
		flags |= 1
	}
	if n.Word {
		flags |= 2
	}
	r := n.WideRange()
	text = append(text, 0)
	for _, v := range [...]uint64{uint64(n.Width), flags, uint64(n.level), uint64(r.Lo.Hi), r.Lo.Lo, uint64(r.Hi.Hi),
		r.Hi.Lo} {
		text = binary.AppendUvarint(text, v)
	}
	return text
}

// function returns the circuit of a function that make builds, for operands of the same kinds as those in like.
func function(b *Builder, like []Value, make func(f *Builder, operands []Value) []Value) *Module {
	f := newBuilder(b.rate, b.room)
	f.counts = b.counts
	f.m.Fire = NoNode
	var operands []Value
	for _, v := range like {
		n := v.node()
		if n.Stage == ConstantStage {
			operands = append(operands, WideConstant(f, n.WideRange().Lo))
			continue
		}
		k := len(f.m.Pins)
		p := f.add(Node{Op: OpFunctionArgument, K: k, Width: n.Width, Signed: n.Signed, Range: n.Range,
			Wide: n.Wide, Word: n.Word, Name: fmt.Sprint("x", k), level: n.level})
		operands, f.m.Pins = append(operands, p), append(f.m.Pins, p.id)
	}
	results := AlignStages(make(f, operands)...)
	f.m.Stages = max(0, FirstCommonStage(results...))
	for _, r := range results {
		f.m.Results = append(f.m.Results, r.id)
	}
	return finished(f)
}
