package finn

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
)

// A Wish is what a file asks of one layer, without what has no effect on it.
type Wish struct {
	ask
	node *dataflow.Node
	left []dataflow.Fold // the legal folds that are so
}

// Of is what the file asks of a node that has these folds: by its own entry, and by the defaults for its kind for
// attributes that do not stand there. It reports false, after telling why, where no fold is so.
func (f *File) Of(n *dataflow.Node, folds []dataflow.Fold, d *diag.List) (w Wish, ok bool) {
	w = Wish{f.layers[n.Name], n, slices.Clone(folds)}
	for _, r := range f.defaults {
		if r.kinds != nil && !slices.Contains(r.kinds, n.Op.Kind()) || slices.Contains(w.given, r.attr) {
			continue
		}
		if r.attr == windowAttribute {
			w.window = r.window
		}
		for _, fl := range fields {
			if fl.name == r.attr {
				fl.set(&w.fold, fl.value(r.fold))
			}
		}
	}
	ok = w.positions(d)
	for _, fl := range fields {
		want := fl.value(w.fold)
		if want == 0 {
			continue
		}
		if values := fl.values(folds); !slices.Contains(values, want) {
			fl.set(&w.fold, 0)
			dg := w.refusal(fl, want, values, folds[0])
			if dg.Severity != 0 {
				d.Add(dg)
			}
			ok = ok && dg.Severity != diag.Error
			continue
		}
		w.left = slices.DeleteFunc(w.left, func(o dataflow.Fold) bool { return fl.value(o) != want })
	}
	if ok && len(w.left) == 0 {
		d.Add(w.diag(n, diag.Error, fmt.Sprintf("no fold of %s has these values together", n.Name),
			"leave one of them out"))
		return w, false
	}
	return w, ok
}

// Any reports whether the file asks for anything.
func (w *Wish) Any() bool { return w.fold != dataflow.Fold{} }

// Allows reports whether a fold is as asked.
func (w *Wish) Allows(o dataflow.Fold) bool {
	for _, f := range fields {
		if want := f.value(w.fold); want != 0 && f.value(o) != want {
			return false
		}
	}
	return true
}

// Folds are the legal folds that are as asked.
func (w *Wish) Folds() []dataflow.Fold { return w.left }

// Where is the layer's place in the file, empty where defaults ask for it.
func (w *Wish) Where() string {
	if w.key == "" {
		return "folding file, Defaults"
	}
	return "folding file, " + w.key
}

// NotOn says that a device can build none of what is asked.
func (w *Wish) NotOn(board string) diag.Diag {
	hint := "leave ram_style and resType to the search"
	if w.left[0].Memory == dataflow.URAM {
		hint = "this device cannot fill UltraRAM with a table: take ram_style block or distributed"
	}
	return w.diag(w.node, diag.Error, fmt.Sprintf("%s cannot be built so on %s", w.node.Name, board), hint)
}

// Missing tells of entries for layers that the design does not have. It reports false where one is an error.
func (f *File) Missing(g *dataflow.Graph, d *diag.List) (ok bool) {
	ok = true
	for _, name := range f.names {
		if !slices.ContainsFunc(g.Nodes, func(n *dataflow.Node) bool { return n.Name == name }) {
			dg := missing(f.layers[name].key, name, g)
			onHost := func(x diag.Diag) bool { return x.Code == diag.HostProducts }
			if slices.ContainsFunc(d.Diags, onHost) {
				dg.Msg += ": some of the model's products run on the host"
			}
			ok = ok && dg.Severity != diag.Error
			d.Add(dg)
		}
	}
	return ok
}

// where is the place in the file at which the ask names the attribute.
func (a *ask) where(attr string) string {
	if a.own(attr) {
		return a.key + "." + attr
	}
	return "Defaults." + attr
}

// own reports whether the layer's own entry names the attribute; a default is not meant for layers without the freedom.
func (a *ask) own(attr string) bool { return slices.Contains(a.given, attr) }

// diag is a diagnostic about what the file asks of a node.
func (a *ask) diag(n *dataflow.Node, severity diag.Severity, msg, hint string) diag.Diag {
	dg := fileDiag(severity, cmp.Or(a.key, "Defaults"), msg, hint)
	dg.Node = cmp.Or(n.Origin...)
	return dg
}

// A field is one of the freedoms of a fold, as a folding file names it.
type field struct {
	name  string
	value func(dataflow.Fold) int // 0: not asked for
	set   func(f *dataflow.Fold, v int)
	text  func(v int) string
	none  int // the value in layers without the freedom
}

var fields = []field{
	fieldOf("PE", func(f *dataflow.Fold) *int { return &f.PE }, strconv.Itoa, 1),
	fieldOf("SIMD", func(f *dataflow.Fold) *int { return &f.SIMD }, strconv.Itoa, 1),
	fieldOf("ram_style", func(f *dataflow.Fold) *dataflow.Memory { return &f.Memory }, dataflow.Memory.String,
		dataflow.NoMemory),
	fieldOf("resType", func(f *dataflow.Fold) *dataflow.Compute { return &f.Compute }, dataflow.Compute.String,
		dataflow.NoCompute),
	fieldOf("steps", func(f *dataflow.Fold) *dataflow.Stepping { return &f.Steps }, dataflow.Stepping.String,
		dataflow.NoStepping),
}

func fieldOf[T ~int | ~uint8](name string, at func(*dataflow.Fold) *T, text func(T) string, none T) field {
	return field{name,
		func(f dataflow.Fold) int { return int(*at(&f)) },
		func(f *dataflow.Fold, v int) { *at(f) = T(v) },
		func(v int) string { return text(T(v)) }, int(none)}
}

const windowAttribute = "parallel_window"

// positions turns parallel_window into the PE that it means. It reports false where the layer cannot have it.
func (w *Wish) positions(d *diag.List) bool {
	if w.window == anyWindow {
		return true
	}
	say := func(severity diag.Severity, msg string) {
		dg := w.diag(w.node, severity, msg, "")
		dg.Where = "folding file, " + w.where(windowAttribute)
		d.Add(dg)
	}
	if !finnOf(w.node.Op.Kind()).ParallelWindow {
		if w.own(windowAttribute) {
			say(diag.Warning, fmt.Sprintf("parallel_window has no effect on %s", w.node.Name))
		}
		return true
	}
	values := fields[0].values(w.left)
	pe := values[0]
	if w.window == allPositions {
		pe = values[len(values)-1]
	}
	if w.fold.PE != 0 && w.fold.PE != pe {
		say(diag.Error, fmt.Sprintf("it means PE %d, and the file also asks for PE %d", pe, w.fold.PE))
		return false
	}
	w.fold.PE = pe
	return true
}

// refusal says why the layer, which has a fold, cannot take a value. Its severity is 0 where that is as well: a default
// that is not meant for the layer.
func (w *Wish) refusal(f field, want int, values []int, fold dataflow.Fold) diag.Diag {
	say := func(severity diag.Severity, msg, hint string) diag.Diag {
		dg := w.diag(w.node, severity, msg, hint)
		dg.Where = "folding file, " + w.where(f.name)
		return dg
	}
	none := slices.Equal(values, []int{f.none})
	bits := width(w.node.Op, fold, f.name) * want
	switch {
	case none && !w.own(f.name):
		return diag.Diag{}
	case none && f.none != 1:
		return say(diag.Warning, fmt.Sprintf("%s has no effect on %s", f.text(want), w.node.Name), "")
	case f.none == 1 && bits > dataflow.MaxWord:
		dg := say(diag.Error, fmt.Sprintf("%d makes %s a stream word of %d bits, at most %d are possible",
			want, w.node.Name, bits, dataflow.MaxWord), f.near(values, want))
		dg.Code = diag.WordTooWide
		return dg
	}
	return say(diag.Error, fmt.Sprintf("%s is not possible in %s", f.text(want), w.node.Name), f.near(values, want))
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
func width(op dataflow.Op, f dataflow.Fold, attr string) (bits int) {
	ports, out := op.Ports(f)
	if attr == "PE" {
		ports = out
	}
	for _, p := range ports {
		bits = max(bits, p.Elem.Width)
	}
	return bits
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
