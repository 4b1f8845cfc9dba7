package folding

import "slices"

// A folding is one option per layer.
type folding struct {
	options    []int32
	cost       vector // width converters included
	converters int64
}

// A tree is the foldings that keep an interval: the tables of the plan, with the choices of each leaf's rows.
//
// Where the plan leaves streams out, the tree is either the outer one, in which the two ends of such a stream need not
// agree and nothing is paid for it, so that what it excludes is excluded; or the inner one, in which both ends have one
// form each, so that what it has is a folding.
type tree struct {
	*space
	interval int              // 0 in a tree of other options than those that keep an interval
	inner    *tree            // of an outer tree, where there is one; else nil
	groups   [][][]choice     // of each leaf, per row
	dearest  vector           // no path takes more of a kind
	single   []price          // per kind: one for a unit of it, nothing for the others
	most     [kinds][][]int64 // mostAround, where it was needed
	prices   []price          // others that were tried, the sharpest of each relaxation
	found    []*folding       // foldings of the tree that turned up
}

// at is the tree of an interval. It is kept, for the same intervals are asked for again.
func (s *space) at(interval int) *tree {
	if t, ok := s.trees[interval]; ok {
		return t
	}
	if len(s.trees) >= 8 {
		clear(s.trees)
	}
	allowed := func(layer, option int) bool { return s.layers[layer].options[option].iterations <= interval }
	t := s.newTree(allowed, nil)
	if t.interval = interval; len(s.wide) > 0 {
		t.inner = s.newTree(allowed, t.pins())
	}
	s.trees[interval] = t
	return t
}

// pins is a form for each end that the plan leaves out, such that width converters can stand between: those of a folding
// of the outer tree that needs little. It is empty, and nothing has these forms, where none is found.
func (t *tree) pins() map[int]form {
	if t.possible() {
		t.relax(t.budget)
	}
	for _, f := range t.found {
		pins, ok := map[int]form{}, true
		for _, id := range t.wide {
			w, r := &t.streams[id].writer, &t.streams[id].reader
			in, out := t.shapeOf(f, w.layer).out[w.port], t.shapeOf(f, r.layer).in[r.port]
			pins[writerEnd(id)], pins[readerEnd(id)] = in, out
			ok = ok && t.convert(id, in, out).ok
		}
		if ok {
			return pins
		}
	}
	return map[int]form{}
}

func (s *space) shapeOf(f *folding, layer int) shape {
	l := &s.layers[layer]
	return l.shapes[l.options[f.options[layer]].shape]
}

// newTree lists the choices of the leaves among the options allowed. pins is nil for the outer tree.
func (s *space) newTree(allowed func(layer, option int) bool, pins map[int]form) *tree {
	t := &tree{space: s}
	for i := range s.plan {
		switch p := &s.plan[i]; {
		case p.layer >= 0:
			t.groups = append(t.groups, s.layerGroups(p, s.layers[p.layer].groups(func(o int) bool { return allowed(p.layer, o) }), pins))
		case p.stream >= 0:
			t.groups = append(t.groups, s.streamGroups(p))
		}
	}
	t.ready()
	return t
}

// layerGroups is the choices of a layer's rows, given those of its shapes.
func (s *space) layerGroups(p *table, shapes [][]choice, pins map[int]form) [][]choice {
	l := &s.layers[p.layer]
	groups := make([][]choice, p.rows)
	for r := range groups {
		if len(p.shapes[r]) == 1 && len(s.wide) == 0 {
			groups[r] = shapes[p.shapes[r][0]]
			continue
		}
		for _, k := range p.shapes[r] {
			groups[r] = append(groups[r], s.pinned(l, int(k), shapes[k], pins)...)
		}
		groups[r] = undominated(groups[r])
	}
	return groups
}

// pinned is the choices of a shape, with what its readers' converters take where the plan leaves these out; none where
// the shape has other forms than the pins.
func (s *space) pinned(l *layer, shape int, choices []choice, pins map[int]form) []choice {
	if pins == nil {
		return choices
	}
	choices = slices.Clone(choices)
	for p, id := range l.node.Out {
		if slices.Contains(s.wide, id) && pins[writerEnd(id)] != l.shapes[shape].out[p] {
			return nil
		}
	}
	for p, id := range l.node.In {
		if !slices.Contains(s.wide, id) {
			continue
		}
		in, out := pins[writerEnd(id)], pins[readerEnd(id)]
		if out != l.shapes[shape].in[p] {
			return nil
		}
		for i := range choices {
			choices[i].cost = choices[i].cost.plus(s.convert(id, in, out).cost)
			if in != out {
				choices[i].converter++
			}
		}
	}
	return choices
}

func (s *space) streamGroups(p *table) [][]choice {
	groups := make([][]choice, p.rows)
	for r := range groups {
		in, out := s.streams[p.stream].writer.forms[p.values[2*r]], s.streams[p.stream].reader.forms[p.values[2*r+1]]
		c := choice{cost: s.convert(p.stream, in, out).cost, option: -1}
		if in != out {
			c.converter = 1
		}
		groups[r] = []choice{c}
	}
	return groups
}

// ready derives what every relaxation needs.
func (t *tree) ready() {
	for _, groups := range t.groups {
		var most vector
		for _, g := range groups {
			for _, c := range g {
				for k := range most {
					most[k] = max(most[k], c.cost[k])
				}
			}
		}
		t.dearest = t.dearest.plus(most)
	}
	for kind := range kinds {
		var unit vector
		unit[kind] = 1
		t.single = append(t.single, t.priced(unit))
	}
}

// possible reports whether any folding keeps the interval.
func (t *tree) possible() bool { return t.single[0].least < never }

// keep adds a folding to those that turned up.
func (t *tree) keep(f *folding) {
	if !slices.ContainsFunc(t.found, func(o *folding) bool { return o.cost == f.cost && o.converters == f.converters }) {
		t.found = append(t.found, f)
	}
}
