package folding

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
)

// MaxDepth is the words of the deepest FIFO that may be asked for.
const MaxDepth = 1 << 20

// Depths are the words that a file gives the FIFOs at a layer's ports, as FINN's inFIFODepths and outFIFODepths: 0 where a
// FIFO is left to hlsgen. The FIFO of a stream holds what the layers at both its ends ask for; where a width converter is
// between them, each has a FIFO of its own.
type depths struct{ in, out []int }

// A placed FIFO is one that a file lists as a node of its own, as FINN's final_hw_config.json does: between two layers, in the
// order of the file.
type placed struct {
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
			r.fail(where, fmt.Sprintf("%s is not a depth: a whole number of words up to %d, or 0 for as many as it takes", show(x), MaxDepth), "")
			return
		}
		*to = append(*to, i)
	}
}

// place notes a FIFO that the file lists.
func (r *reader) place(key string, o *object, before string, converted bool) {
	v, ok := o.values["depth"]
	if !ok {
		return
	}
	var words []int
	if r.words(&words, key+".depth", v); len(words) != 1 {
		return
	}
	r.fifos = append(r.fifos, placed{key: key, words: words[0], before: before, converted: converted})
}

// deepen gives streams the depths that the file asks for. It reports false, after telling why, where it asks for what there is
// not.
func (s *space) deepen(file *File, d *diag.List) bool {
	ok := true
	index := map[string]int{}
	for i := range s.layers {
		n := s.layers[i].node
		index[n.Name] = i
		a := file.layers[n.Name]
		for _, side := range []struct {
			attr    string
			words   []int
			streams []int
			to      func(*stream) *int
		}{
			{"inFIFODepths", a.depths.in, n.In, func(st *stream) *int { return &st.in }},
			{"outFIFODepths", a.depths.out, n.Out, func(st *stream) *int { return &st.out }},
		} {
			if side.words == nil {
				continue
			}
			if len(side.words) != len(side.streams) {
				dg := s.layers[i].asked(diag.Error, a, fmt.Sprintf("%d depths for %s, which has %s", len(side.words), n.Name, ports(n, side.attr)), "")
				dg.Where = "folding file, " + a.key + "." + side.attr
				d.Add(dg)
				ok = false
				continue
			}
			for p, id := range side.streams {
				*side.to(&s.streams[id]) = side.words[p]
			}
		}
	}
	for _, f := range file.fifos {
		id := s.between(index, f)
		if id < 0 {
			// Layers that the design does not have are told of by themselves.
			if _, known := index[f.before]; known {
				if _, known := index[f.after]; known {
					d.Add(fileDiag(diag.Warning, f.key, fmt.Sprintf("%s and %s are no neighbours: its depth has no effect", f.before, f.after),
						"give depths as inFIFODepths and outFIFODepths of the layers"))
				}
			}
			continue
		}
		st := &s.streams[id]
		to := &st.out
		if f.converted || st.writer.layer < 0 {
			to = &st.in
		}
		if *to == 0 { // the layers' own depths come first; FINN writes the same there
			*to = f.words
		}
	}
	return ok
}

func ports(n *dataflow.Node, attr string) string {
	count, what := len(n.In), "input"
	if attr == "outFIFODepths" {
		count, what = len(n.Out), "output"
	}
	if count != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", count, what)
}

// between is the stream of the FIFO between two layers, or -1: at an end of the file, the host's.
func (s *space) between(index map[string]int, f placed) int {
	w, before := index[f.before]
	r, after := index[f.after]
	g := s.graph
	switch {
	case before && after:
		for _, id := range g.Nodes[w].Out {
			if s.streams[id].reader.layer == r {
				return id
			}
		}
	case after && f.before == "":
		if i := slices.IndexFunc(g.Nodes[r].In, func(id int) bool { return s.streams[id].writer.layer < 0 }); i >= 0 {
			return g.Nodes[r].In[i]
		}
	case before && f.after == "":
		if i := slices.IndexFunc(g.Nodes[w].Out, func(id int) bool { return s.streams[id].reader.layer < 0 }); i >= 0 {
			return g.Nodes[w].Out[i]
		}
	}
	return -1
}

// given reports whether a file gives some FIFO its depth.
func (s *space) deepened() bool {
	return slices.ContainsFunc(s.streams, func(st stream) bool { return st.in > 0 || st.out > 0 })
}

// depthsOf is the words of the FIFOs at the ports of a design's node, past width converters only where these are the
// neighbours: what a file has to say for the design to come back.
func depthsOf(d *dataflow.Design, node int) (dep depths) {
	n := d.Model.Graph.Nodes[node]
	for _, id := range n.In {
		dep.in = append(dep.in, d.FIFO[id].Depth)
	}
	for _, id := range n.Out {
		dep.out = append(dep.out, d.FIFO[id].Depth)
	}
	return dep
}
