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

// A LayerFoldChoices holds what the file fixes of one layer, without what has no effect on it, and the legal folds that
// agree.
type LayerFoldChoices struct {
	ask
	node *dataflow.Node
	left []dataflow.Fold // the legal folds with these values
}

// ChoicesForLayer returns what the file fixes of a node, in the node's own entry or in the defaults for its kind. folds
// are the node's legal folds, at least one. Values that none of these has become diagnostics in d. ok is false if one
// of these is an error, or no fold has all values together.
func (f *FoldingFile) ChoicesForLayer(n *dataflow.Node, folds []dataflow.Fold, d *diag.List) (w LayerFoldChoices,
	ok bool) {
	w = LayerFoldChoices{f.layers[n.Name], n, slices.Clone(folds)}
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
			ok = ok && dg.Severity != diag.SeverityError
			continue
		}
		w.left = slices.DeleteFunc(w.left, func(o dataflow.Fold) bool { return fl.value(o) != want })
	}
	if ok && len(w.left) == 0 {
		d.Add(w.diag(n, diag.SeverityError, fmt.Sprintf("no fold of %s has these values together", n.Name),
			"leave one of them out"))
		return w, false
	}
	return w, ok
}

// HasFixedValues reports whether the file fixes any attribute of the layer's fold.
func (w *LayerFoldChoices) HasFixedValues() bool { return w.fold != dataflow.Fold{} }

// AllowsFold reports whether a fold has all the values that the file fixes.
func (w *LayerFoldChoices) AllowsFold(o dataflow.Fold) bool {
	for _, f := range fields {
		if want := f.value(w.fold); want != 0 && f.value(o) != want {
			return false
		}
	}
	return true
}

// AllowedFolds returns the legal folds that have all the values that the file fixes.
func (w *LayerFoldChoices) AllowedFolds() []dataflow.Fold { return w.left }

// PlaceInFile returns the place of the layer's entry in the file, or of the defaults without one, for diagnostics.
func (w *LayerFoldChoices) PlaceInFile() string {
	if w.key == "" {
		return "folding file, Defaults"
	}
	return "folding file, " + w.key
}

// UnbuildableDiag returns the error diagnostic that the named board's device can build none of the folds that the file
// allows. AllowedFolds must not be empty.
func (w *LayerFoldChoices) UnbuildableDiag(board string) diag.Diag {
	hint := "leave ram_style and resType to the search"
	if w.left[0].Memory == dataflow.MemoryURAM {
		hint = "this device cannot fill UltraRAM with a table: take ram_style block or distributed"
	}
	return w.diag(w.node, diag.SeverityError, fmt.Sprintf("%s cannot be built so on %s", w.node.Name, board), hint)
}

// ReportUnknownLayers adds a diagnostic to d for each entry of a layer that the graph does not have. ok is false if one
// of them is an error.
func (f *FoldingFile) ReportUnknownLayers(g *dataflow.Graph, d *diag.List) (ok bool) {
	ok = true
	for _, name := range f.names {
		if !slices.ContainsFunc(g.Nodes, func(n *dataflow.Node) bool { return n.Name == name }) {
			dg := missing(f.layers[name].key, name, g)
			onHost := func(x diag.Diag) bool { return x.Code == diag.ProductsOnHost }
			if slices.ContainsFunc(d.Diags, onHost) {
				dg.Msg += ": some of the model's products run on the host"
			}
			ok = ok && dg.Severity != diag.SeverityError
			d.Add(dg)
		}
	}
	return ok
}

// where returns the place in the file that sets an attribute: the layer's own entry, or else Defaults.
func (a *ask) where(attr string) string {
	if a.own(attr) {
		return a.key + "." + attr
	}
	return "Defaults." + attr
}

// own reports whether the layer's own entry in the file has the attribute. A default, in contrast, does not concern
// layers that cannot choose the attribute.
func (a *ask) own(attr string) bool { return slices.Contains(a.given, attr) }

// diag returns a diagnostic about what the file fixes of a node, with the place of its entry.
func (a *ask) diag(n *dataflow.Node, severity diag.Severity, msg, hint string) diag.Diag {
	dg := fileDiag(severity, cmp.Or(a.key, "Defaults"), msg, hint)
	dg.Node = cmp.Or(n.Origin...)
	return dg
}

// A field is one attribute of a fold, with its name in a folding file and its access as a number.
type field struct {
	name  string
	value func(dataflow.Fold) int // 0: not given
	set   func(f *dataflow.Fold, v int)
	text  func(v int) string
	none  int // the value in layers that cannot choose it
}

var fields = []field{
	fieldOf("PE", func(f *dataflow.Fold) *int { return &f.PE }, strconv.Itoa, 1),
	fieldOf("SIMD", func(f *dataflow.Fold) *int { return &f.SIMD }, strconv.Itoa, 1),
	fieldOf("ram_style", func(f *dataflow.Fold) *dataflow.Memory { return &f.Memory }, dataflow.Memory.String,
		dataflow.NoMemory),
	fieldOf("resType", func(f *dataflow.Fold) *dataflow.MultiplierKind { return &f.Compute },
		dataflow.MultiplierKind.String,
		dataflow.NoMultiplier),
	fieldOf("steps", func(f *dataflow.Fold) *dataflow.StepEvaluation { return &f.Steps },
		dataflow.StepEvaluation.String,
		dataflow.NoStepEvaluation),
}

func fieldOf[T ~int | ~uint8](name string, at func(*dataflow.Fold) *T, text func(T) string, none T) field {
	return field{name,
		func(f dataflow.Fold) int { return int(*at(&f)) },
		func(f *dataflow.Fold, v int) { *at(f) = T(v) },
		func(v int) string { return text(T(v)) }, int(none)}
}

const windowAttribute = "parallel_window"

// positions replaces FINN's parallel_window by the PE for which it stands. It adds an error to d and returns false if
// the file also fixes another PE. On layers without such a window, parallel_window has no effect.
func (w *LayerFoldChoices) positions(d *diag.List) bool {
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
			say(diag.SeverityWarning, fmt.Sprintf("parallel_window has no effect on %s", w.node.Name))
		}
		return true
	}
	values := fields[0].values(w.left)
	pe := values[0]
	if w.window == allPositions {
		pe = values[len(values)-1]
	}
	if w.fold.PE != 0 && w.fold.PE != pe {
		say(diag.SeverityError, fmt.Sprintf("it means PE %d, and the file also asks for PE %d", pe, w.fold.PE))
		return false
	}
	w.fold.PE = pe
	return true
}

// refusal returns the diagnostic that the layer cannot take the value want of a field. values are the possible ones;
// fold is one of its folds. The zero Diag stands for a default that does not concern the layer.
func (w *LayerFoldChoices) refusal(f field, want int, values []int, fold dataflow.Fold) diag.Diag {
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
		return say(diag.SeverityWarning, fmt.Sprintf("%s has no effect on %s", f.text(want), w.node.Name), "")
	case f.none == 1 && bits > dataflow.MaxWordBits:
		dg := say(diag.SeverityError, fmt.Sprintf("%d makes %s a stream word of %d bits, at most %d are possible",
			want, w.node.Name, bits, dataflow.MaxWordBits), f.near(values, want))
		dg.Code = diag.StreamWordTooWide
		return dg
	}
	return say(diag.SeverityError, fmt.Sprintf("%s is not possible in %s", f.text(want), w.node.Name), f.near(values,
		want))
}

// values returns the values that the field has in some of the folds, in increasing order, each once.
func (f field) values(folds []dataflow.Fold) []int {
	var v []int
	for _, o := range folds {
		v = append(v, f.value(o))
	}
	slices.Sort(v)
	return slices.Compact(v)
}

// near returns a hint with possible values: up to four next to want for a number, and all for a style.
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

// width returns the bits of the widest element on the ports whose words the attribute makes wider: the outputs for PE,
// the inputs for SIMD.
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

// layerNames returns the names of the graph's layers as a text, such as "MVAU_0 to MVAU_3, Pool_0".
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
