package finn

import (
	"encoding/json"
	"fmt"
	"strconv"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
)

// MaxDepth is the words of the deepest FIFO that may be asked for.
const MaxDepth = 1 << 20

// depths are the words that a file gives the FIFOs at a layer's ports, as FINN's inFIFODepths and outFIFODepths: 0
// where a FIFO is left to hlsgen. The FIFO of a stream holds what the layers at both its ends ask for; where a width
// converter is between them, each has a FIFO of its own.
type depths struct{ in, out []int }

// A listed FIFO is one that a file lists as a node of its own, as FINN's final_hw_config.json does: between two layers,
// in the order of the file.
type listed struct {
	key           string
	words         int
	before, after string // the layers next to it, by our names; empty at the ends of the file
	converted     bool   // a width converter stands between the layer before it and the FIFO
}

// words takes a list of depths: inFIFODepths, or FINN's older inFIFODepth of a single number.
func (r *reader) words(to *[]int, where string, v any) {
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	*to = nil
	for _, x := range list {
		n, _ := x.(json.Number)
		i, err := strconv.Atoi(n.String())
		if err != nil || i < 0 || i > MaxDepth {
			r.fail(where,
				fmt.Sprintf("%s is not a depth: a whole number of words up to %d, or 0 for as many as it takes",
					show(x), MaxDepth), "")
			return
		}
		*to = append(*to, i)
	}
}

// listed notes a FIFO that the file lists.
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

// Depths is the words that the file gives the FIFOs of a graph, per stream: in front of its reader, and behind its
// writer; 0 where a FIFO is left to hlsgen. It reports false, after telling why, where the file asks for what there is
// not.
func (f *File) Depths(g *dataflow.Graph, d *diag.List) (in, out []int, ok bool) {
	in, out, ok = make([]int, len(g.Streams)), make([]int, len(g.Streams)), true
	index := map[string]int{}
	for i, n := range g.Nodes {
		index[n.Name] = i
		a := f.layers[n.Name]
		for _, side := range []struct {
			attr, what     string
			words, streams []int
			to             []int
		}{{"inFIFODepths", "input", a.depths.in, n.In, in}, {"outFIFODepths", "output", a.depths.out, n.Out, out}} {
			if side.words != nil && len(side.words) != len(side.streams) {
				if len(side.streams) != 1 {
					side.what += "s"
				}
				dg := a.diag(n, diag.Error, fmt.Sprintf("%d depths for %s, which has %d %s", len(side.words), n.Name,
					len(side.streams), side.what), "")
				dg.Where = "folding file, " + a.key + "." + side.attr
				d.Add(dg)
				ok = false
				continue
			}
			for p, words := range side.words {
				side.to[side.streams[p]] = words
			}
		}
	}
	for _, p := range f.fifos {
		id := between(g, index, p)
		if id < 0 {
			// Layers that the design does not have are told of by themselves.
			_, before := index[p.before]
			if _, after := index[p.after]; before && after {
				d.Add(fileDiag(diag.Warning, p.key, fmt.Sprintf("%s and %s are no neighbours: its depth has no effect",
					p.before, p.after),
					"give depths as inFIFODepths and outFIFODepths of the layers"))
			}
			continue
		}
		to := &out[id]
		if w, _ := g.Writer(id); p.converted || w < 0 {
			to = &in[id]
		}
		if *to == 0 { // the layers' own depths come first; FINN writes the same there
			*to = p.words
		}
	}
	return in, out, ok
}

// between is the stream of the FIFO between two layers, or -1: at an end of the file, the host's.
func between(g *dataflow.Graph, index map[string]int, f listed) int {
	w, before := index[f.before]
	r, after := index[f.after]
	switch {
	case before && (after || f.after == ""):
		for _, id := range g.Nodes[w].Out {
			if i, _ := g.Reader(id); after && i == r || !after && i < 0 {
				return id
			}
		}
	case after && f.before == "":
		for _, id := range g.Nodes[r].In {
			if i, _ := g.Writer(id); i < 0 {
				return id
			}
		}
	}
	return -1
}

// depthsOf is the words of the FIFOs at the ports of a design's node, past width converters only where these are the
// neighbours: what a file has to say for the design to come back.
func depthsOf(d *dataflow.Design, node int) depths {
	words := func(streams []int) (list []int) {
		for _, id := range streams {
			list = append(list, d.FIFO[id].Depth)
		}
		return list
	}
	n := d.Model.Graph.Nodes[node]
	return depths{words(n.In), words(n.Out)}
}
