package finn

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
)

// MaxFIFODepthWords is the largest FIFO depth, in words, that a file may ask for.
const MaxFIFODepthWords = 1 << 20

// A depths holds what a file says of the FIFOs at a layer's ports: depths in words (0: left to hlsgen) and
// memories. A stream's FIFO must hold what the layers at both its ends ask for. With a width converter, each end has
// its own FIFO.
type depths struct {
	in, out             []int
	inMemory, outMemory []dataflow.Memory
}

// A listed is a FIFO with an entry of its own in the file, between two layers, as in FINN's final_hw_config.json.
type listed struct {
	key           string
	words         int
	before, after string // the neighbouring layers, by our names; empty at the ends of the file
	converted     bool   // whether a width converter stands between before and the FIFO
}

// words reads v, a list of depths in words or a single one, into to. A value that is no depth becomes an error at the
// place where.
func (r *reader) words(to *[]int, where string, v any) {
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	*to = nil
	for _, x := range list {
		n, _ := x.(json.Number)
		i, err := strconv.Atoi(n.String())
		if err != nil || i < 0 || i > MaxFIFODepthWords {
			r.fail(where,
				fmt.Sprintf("%s is not a depth: a whole number of words up to %d, or 0 for as many as it takes",
					show(x), MaxFIFODepthWords), "")
			return
		}
		*to = append(*to, i)
	}
}

// memories reads v, a list of memories of FIFOs or a single one, into to. A value that is no memory becomes an
// error at the place where.
func (r *reader) memories(to *[]dataflow.Memory, where string, v any) {
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	*to = nil
	for _, x := range list {
		var m dataflow.Memory
		style(r, &m, where, x, map[string]dataflow.Memory{"auto": dataflow.NoMemory, "srl": dataflow.MemorySRL,
			"distributed": dataflow.MemoryLUTRAM, "block": dataflow.MemoryBRAM, "ultra": dataflow.MemoryURAM})
		*to = append(*to, m)
	}
}

// WithoutFIFOs returns a copy of the file that leaves all FIFOs to hlsgen.
func (f *FoldingFile) WithoutFIFOs() *FoldingFile {
	of := *f
	of.fifos, of.layers = nil, map[string]ask{}
	for name, a := range f.layers {
		a.depths = depths{}
		of.layers[name] = a
	}
	return &of
}

// WithoutLayers returns a copy of the file without the entries of the given layers. Their folds are then left to the
// file's defaults and to hlsgen. FIFOs with entries of their own stay.
func (f *FoldingFile) WithoutLayers(layers ...string) *FoldingFile {
	of := *f
	of.names = slices.DeleteFunc(slices.Clone(f.names), func(name string) bool { return slices.Contains(layers, name) })
	of.layers = maps.Clone(f.layers)
	for _, name := range layers {
		delete(of.layers, name)
	}
	return &of
}

// listed records a FIFO that has an entry o of its own, under the given key; without a depth it does nothing. before is
// the layer in front of it; converted says that a width converter stands in between.
func (r *reader) listed(key string, o *object, before string, converted bool) {
	v, ok := o.values["depth"]
	if !ok {
		return
	}
	var words []int
	if r.words(&words, key+".depth", v); len(words) != 1 {
		return
	}
	r.fifos = append(r.fifos, listed{key: key, words: words[0], before: before, converted: converted})
}

// FIFOsForGraph returns the depths and memories that the file gives a graph's FIFOs, by stream: in at its
// reader, out at its writer. Zero leaves a choice to hlsgen. If a layer has another number of streams, ok is false and
// d says so.
func (f *FoldingFile) FIFOsForGraph(g *dataflow.Graph, d *diag.List) (in, out []dataflow.FIFO, ok bool) {
	in, out, ok = make([]dataflow.FIFO, len(g.Streams)), make([]dataflow.FIFO, len(g.Streams)), true
	index := map[string]int{}
	for i, n := range g.Nodes {
		index[n.Name] = i
		a := f.layers[n.Name]
		for _, side := range []struct {
			attr, what string
			given      int
			streams    []int
			set        func(p, id int)
		}{
			{"inFIFODepths", "input", len(a.depths.in), n.In, func(p, id int) { in[id].Depth = a.depths.in[p] }},
			{"outFIFODepths", "output", len(a.depths.out), n.Out, func(p, id int) { out[id].Depth = a.depths.out[p] }},
			{"inFIFOMemory", "input", len(a.depths.inMemory), n.In,
				func(p, id int) { in[id].Memory = a.depths.inMemory[p] }},
			{"outFIFOMemory", "output", len(a.depths.outMemory), n.Out,
				func(p, id int) { out[id].Memory = a.depths.outMemory[p] }},
		} {
			if side.given == 0 {
				continue
			}
			if side.given != len(side.streams) {
				d.Add(a.uneven(n, side.attr, side.what, side.given, len(side.streams)))
				ok = false
				continue
			}
			for p, id := range side.streams {
				side.set(p, id)
			}
		}
	}
	for _, p := range f.fifos {
		id := between(g, index, p)
		if id < 0 {
			// ReportUnknownLayers reports layers that the design does not have.
			_, before := index[p.before]
			if _, after := index[p.after]; before && after {
				d.Add(fileDiag(diag.SeverityWarning, p.key,
					fmt.Sprintf("%s and %s are no neighbours: its depth has no effect",
						p.before, p.after),
					"give depths as inFIFODepths and outFIFODepths of the layers"))
			}
			continue
		}
		to := &out[id]
		if w, _ := g.WriterOfStream(id); p.converted || w < 0 {
			to = &in[id]
		}
		if to.Depth == 0 { // the layers' own depths have priority; FINN writes the same numbers there
			to.Depth = p.words
		}
	}
	return in, out, ok
}

// uneven returns an error diagnostic: an attribute has another number of values than the node has streams. what is
// "input" or "output".
func (a *ask) uneven(n *dataflow.Node, attr, what string, given, streams int) diag.Diag {
	values := "depths"
	if strings.HasSuffix(attr, "Memory") {
		values = "memories"
	}
	if streams != 1 {
		what += "s"
	}
	dg := a.diag(n, diag.SeverityError, fmt.Sprintf("%d %s for %s, which has %d %s", given, values, n.Name, streams,
		what), "")
	dg.Where = "folding file, " + a.key + "." + attr
	return dg
}

// between returns the stream on which a listed FIFO lies, or -1 if there is none. At the beginning or end of the file,
// it is a stream of the host. index has the layers' nodes by name.
func between(g *dataflow.Graph, index map[string]int, f listed) int {
	w, before := index[f.before]
	r, after := index[f.after]
	switch {
	case before && (after || f.after == ""):
		for _, id := range g.Nodes[w].Out {
			if i, _ := g.ReaderOfStream(id); after && i == r || !after && i < 0 {
				return id
			}
		}
	case after && f.before == "":
		for _, id := range g.Nodes[r].In {
			if i, _ := g.WriterOfStream(id); i < 0 {
				return id
			}
		}
	}
	return -1
}

// depthsOf returns the depths and memories at a node's ports that a file must have to give the same design.
func depthsOf(d *dataflow.Design, node int) (list depths) {
	n := d.Model.Graph.Nodes[node]
	for _, id := range n.In {
		list.in, list.inMemory = append(list.in, d.FIFO[id].Depth), append(list.inMemory, d.FIFO[id].Memory)
	}
	for _, id := range n.Out {
		list.out, list.outMemory = append(list.out, d.FIFO[id].Depth), append(list.outMemory, d.FIFO[id].Memory)
	}
	return list
}
