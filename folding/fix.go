package folding

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
)

// fix narrows every layer's options to what the file asks for. It reports false where the file asks for what a layer
// cannot do; d then says so, and for every layer.
func (s *space) fix(file *File, d *diag.List) bool {
	if file == nil {
		return true
	}
	file = file.onto(s.graph, d)
	ok := true
	ours := map[string]bool{}
	for i := range s.layers {
		l := &s.layers[i]
		ours[l.node.Name] = true
		ok = s.narrow(l, file.of(l.node), d) && ok
	}
	ok = s.deepen(file, d) && ok
	for _, n := range file.names {
		if !ours[n] {
			dg := missing(file.layers[n].key, n, s.graph)
			ok = ok && dg.Severity != diag.Error
			d.Add(dg)
		}
	}
	return ok
}

// of is what the file asks of a node: its own entry, and the defaults for its kind for attributes that do not stand
// there.
func (f *File) of(n *dataflow.Node) ask {
	a := f.layers[n.Name]
	for _, r := range f.defaults {
		if r.kinds != nil && !slices.Contains(r.kinds, n.Op.Kind()) || slices.Contains(a.given, r.attr) {
			continue
		}
		switch r.attr {
		case "PE":
			a.fold.PE = r.fold.PE
		case "SIMD":
			a.fold.SIMD = r.fold.SIMD
		case "ram_style":
			a.fold.Memory = r.fold.Memory
		case "resType":
			a.fold.Compute = r.fold.Compute
		case "parallel_window":
			a.window = r.window
		}
	}
	return a
}

// where is the place in the file at which the ask names the field.
func (a ask) where(f field) string {
	if a.own(f) {
		return a.key + "." + f.name
	}
	return "Defaults." + f.name
}

// own reports whether the layer's own entry names the field; a default is not meant for layers without the freedom.
func (a ask) own(f field) bool { return slices.Contains(a.given, f.name) }

// A field is one of the freedoms of a fold, as a folding file names it.
type field struct {
	name  string
	value func(dataflow.Fold) int // 0: not asked for
	text  func(v int) string
	none  int // the value in layers without the freedom
}

var fields = []field{
	{"PE", func(f dataflow.Fold) int { return f.PE }, strconv.Itoa, 1},
	{"SIMD", func(f dataflow.Fold) int { return f.SIMD }, strconv.Itoa, 1},
	{"ram_style", func(f dataflow.Fold) int { return int(f.Memory) }, func(v int) string { return dataflow.Memory(v).String() }, int(dataflow.NoMemory)},
	{"resType", func(f dataflow.Fold) int { return int(f.Compute) }, func(v int) string { return dataflow.Compute(v).String() }, int(dataflow.NoCompute)},
}

// narrow keeps the layer's options that are as asked. It reports false, after telling why, where none is.
func (s *space) narrow(l *layer, a ask, d *diag.List) bool {
	ok := l.positions(&a, d)
	if a.fold == (dataflow.Fold{}) {
		return ok
	}
	folds := slices.Clone(l.folds)
	for _, f := range fields {
		want := f.value(a.fold)
		if want == 0 {
			continue
		}
		if values := f.values(l.folds); !slices.Contains(values, want) {
			dg := l.refusal(a, f, want, values)
			if dg.Severity != 0 {
				d.Add(dg)
			}
			ok = ok && dg.Severity != diag.Error
			continue
		}
		folds = slices.DeleteFunc(folds, func(o dataflow.Fold) bool { return f.value(o) != want })
		l.options = slices.DeleteFunc(l.options, func(o option) bool { return f.value(o.fold) != want })
		l.fixed = true
	}
	switch {
	case !ok:
		return false
	case len(folds) == 0:
		d.Add(l.asked(diag.Error, a, fmt.Sprintf("no fold of %s has these values together", l.node.Name), "leave one of them out"))
		return false
	case len(l.options) == 0:
		hint := "leave ram_style and resType to the search"
		if folds[0].Memory == dataflow.URAM {
			hint = "this device cannot fill UltraRAM with a table: take ram_style block or distributed"
		}
		d.Add(l.asked(diag.Error, a, fmt.Sprintf("%s cannot be built so on %s", l.node.Name, s.target.Board.Name), hint))
		return false
	}
	return true
}

// positions turns parallel_window into the PE that it means. It reports false where the layer cannot have it.
func (l *layer) positions(a *ask, d *diag.List) bool {
	if a.window == anyWindow {
		return true
	}
	say := func(severity diag.Severity, msg string) {
		dg := l.asked(severity, *a, msg, "")
		dg.Where = "folding file, " + a.where(field{name: "parallel_window"})
		d.Add(dg)
	}
	if !finnOf(l.node.Op.Kind()).ParallelWindow {
		if slices.Contains(a.given, "parallel_window") {
			say(diag.Warning, fmt.Sprintf("parallel_window has no effect on %s", l.node.Name))
		}
		return true
	}
	values := fields[0].values(l.folds)
	pe := values[0]
	if a.window == allPositions {
		pe = values[len(values)-1]
	}
	if a.fold.PE != 0 && a.fold.PE != pe {
		say(diag.Error, fmt.Sprintf("it means PE %d, and the file also asks for PE %d", pe, a.fold.PE))
		return false
	}
	a.fold.PE = pe
	return true
}

// refusal says why the layer cannot take a value. Its severity is 0 where that is as well: a default that is not meant
// for the layer.
func (l *layer) refusal(a ask, f field, want int, values []int) diag.Diag {
	say := func(severity diag.Severity, msg, hint string) diag.Diag {
		dg := l.asked(severity, a, msg, hint)
		dg.Where = "folding file, " + a.where(f)
		return dg
	}
	none := slices.Equal(values, []int{f.none})
	switch {
	case none && !a.own(f):
		return diag.Diag{}
	case none && f.none != 1:
		return say(diag.Warning, fmt.Sprintf("%s has no effect on %s", f.text(want), l.node.Name), "")
	case f.none == 1 && l.width(f.name)*want > dataflow.MaxWord:
		dg := say(diag.Error, fmt.Sprintf("%d makes %s a stream word of %d bits, at most %d are possible",
			want, l.node.Name, l.width(f.name)*want, dataflow.MaxWord), f.near(values, want))
		dg.Code = diag.WordTooWide
		return dg
	}
	return say(diag.Error, fmt.Sprintf("%s is not possible in %s", f.text(want), l.node.Name), f.near(values, want))
}

// values is every value that the field has among the folds, increasing.
func (f field) values(folds []dataflow.Fold) []int {
	var v []int
	for _, o := range folds {
		v = append(v, f.value(o))
	}
	slices.Sort(v)
	return slices.Compact(v)
}

// near names the legal numbers next to the one asked for, or every style.
func (f field) near(values []int, want int) string {
	if f.none == 1 {
		i, _ := slices.BinarySearch(values, want)
		values = values[max(0, i-2):min(len(values), i+2)]
	}
	var text []string
	for _, v := range values {
		text = append(text, f.text(v))
	}
	return "possible are " + strings.Join(text, ", ")
}

// width is the bits of an element that PE or SIMD multiplies: PE counts outputs, SIMD inputs.
func (l *layer) width(field string) int {
	in, out := l.node.Op.Ports(l.folds[0])
	ports := in
	if field == "PE" {
		ports = out
	}
	w := 0
	for _, p := range ports {
		w = max(w, p.Elem.Width)
	}
	return w
}

// asked is a diagnostic about what the file asks of the layer.
func (l *layer) asked(severity diag.Severity, a ask, msg, hint string) diag.Diag {
	dg := fileDiag(severity, cmp.Or(a.key, "Defaults"), msg, hint)
	dg.Node = l.origin()
	return dg
}

// layerNames lists the graph's layers, a run of one kind in short.
func layerNames(g *dataflow.Graph) string {
	var kinds []string
	count := map[string]int{}
	for _, n := range g.Nodes {
		k := n.Op.Kind()
		if count[k] == 0 {
			kinds = append(kinds, k)
		}
		count[k]++
	}
	for i, k := range kinds {
		kinds[i] = k + "_0"
		if count[k] > 1 {
			kinds[i] += fmt.Sprintf(" to %s_%d", k, count[k]-1)
		}
	}
	return strings.Join(kinds, ", ")
}
