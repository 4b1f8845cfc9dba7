package finn

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"hlsgen/hlslib"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/suggest"
)

// A spelling is a layer's name in a folding file, split into its parts, as in MVAU_hls_0 or StreamingFCLayer_Batch_3.
type spelling struct {
	kind   string // our name of the kind
	engine string // hls, rtl, or empty
	number string // empty for a kind without a number
}

// spellings matches FINN's names: an older FINN appends _Batch to kinds, a newer one the back end.
var spellings = regexp.MustCompile(`^(.*?)(?:_Batch)?(?:_(hls|rtl))?(?:_([0-9]+))?$`)

// finnKinds maps FINN's present and former names of kinds to hlsgen's, where these differ.
var finnKinds = func() map[string]string {
	ours := map[string]string{}
	for _, k := range hlslib.LayerKinds {
		for _, name := range k.FINN.Names {
			ours[name] = k.Name
		}
	}
	return ours
}()

// finnOf returns the differences between FINN's layers of a kind and ours in a folding file. It is zero for kinds that
// hlsgen does not have.
func finnOf(kind string) dataflow.FINNFoldingForm {
	for _, k := range hlslib.LayerKinds {
		if k.Name == kind {
			return k.FINN
		}
	}
	return dataflow.FINNFoldingForm{}
}

func spelt(key string) spelling {
	m := spellings.FindStringSubmatch(key)
	if m == nil {
		return spelling{kind: key} // it contains a line break
	}
	if k, ok := finnKinds[m[1]]; ok {
		m[1] = k
	}
	return spelling{m[1], m[2], m[3]}
}

func (s spelling) name() string {
	if s.number == "" {
		return s.kind
	}
	return s.kind + "_" + s.number
}

// apart sets r.ours: our name of the layer for each key of the file. FINN counts the layers of each back end
// separately: MVAU_hls_0 and MVAU_rtl_0 are two layers. If a kind has both, we count its layers in the order of the
// file.
func (r *reader) apart(keys []string) {
	engines := map[string][]string{}
	for _, k := range keys {
		if s := spelt(k); s.number != "" && !slices.Contains(engines[s.kind], s.engine) {
			engines[s.kind] = append(engines[s.kind], s.engine)
		}
	}
	r.ours = map[string]string{}
	count := map[string]int{}
	for _, k := range keys {
		s := spelt(k)
		if e := engines[s.kind]; s.number != "" && len(e) == 2 && !slices.Contains(e, "") {
			if count[s.kind] == 0 && !slices.Contains(derived, s.kind) {
				r.d.Add(fileDiag(diag.SeverityNote, "",
					fmt.Sprintf("layers called %s_%s and %s_%s are counted together, in the order of the file", s.kind,
						e[0], s.kind, e[1]), ""))
			}
			s.number = fmt.Sprint(count[s.kind])
			count[s.kind]++
		}
		r.ours[k] = s.name()
	}
}

// WithRenumberedWindows returns a copy of the file in which sliding windows and poolings have their numbers in the
// graph. Older FINN has no windows in front of poolings, and FINN+ has one in front of each. It returns f itself if all
// numbers are right, or their counts do not fit. d says what it did.
func (f *FoldingFile) WithRenumberedWindows(g *dataflow.Graph, d *diag.List) *FoldingFile {
	if m, ok := f.withPools(g, d); ok {
		return m
	}
	var all, others []string
	for _, n := range g.Nodes {
		if !finnOf(n.Op.Kind()).ParallelWindow {
			continue
		}
		all = append(all, n.Name)
		if i, _ := g.ReaderOfStream(n.Out[0]); i < 0 || !finnOf(g.Nodes[i].Op.Kind()).OwnWindow {
			others = append(others, n.Name)
		}
	}
	var named []string
	for _, n := range f.names {
		if finnOf(spelt(n).kind).ParallelWindow {
			named = append(named, n)
		}
	}
	if len(others) == len(all) || len(named) != len(others) || !slices.Equal(named, all[:len(named)]) {
		return f
	}
	d.Add(fileDiag(diag.SeverityNote, "",
		fmt.Sprintf("its %d sliding windows are taken for those that are not in front of a pooling", len(named)), ""))
	to := map[string]string{}
	for i, n := range named {
		to[n] = others[i]
	}
	return f.renamed(to)
}

// renamed returns a copy of the file with the names of layers replaced as to says. Layers for which it says "" are
// dropped, others stay. FIFOs with entries of their own are dropped beside these, and at the ends of the file.
func (f *FoldingFile) renamed(to map[string]string) *FoldingFile {
	m := &FoldingFile{defaults: f.defaults, layers: map[string]ask{}}
	name := func(n string) string {
		if other, ok := to[n]; ok {
			return other
		}
		return n
	}
	for _, n := range f.names {
		if other := name(n); other != "" {
			m.names, m.layers[other] = append(m.names, other), f.layers[n]
		}
	}
	for _, p := range f.fifos {
		if p.before, p.after = name(p.before), name(p.after); p.before != "" && p.after != "" {
			m.fifos = append(m.fifos, p)
		}
	}
	return m
}

// withPools renumbers sliding windows and poolings for a graph. FINN+ makes a window and a Pool of every pooling;
// hlsgen pools a whole image without a window. If their numbers fit, the names mean the graph's, in order; otherwise ok
// is false.
func (f *FoldingFile) withPools(g *dataflow.Graph, d *diag.List) (m *FoldingFile, ok bool) {
	var windows, pools []string // the graph's windows in order; "" for a window that hlsgen does not need
	whole := map[string]bool{}  // the poolings without a window
	for i, n := range g.Nodes {
		switch at := finnOf(n.Op.Kind()); {
		case at.ParallelWindow:
			windows = append(windows, n.Name)
		case at.OwnWindow || at.WholeImage:
			if from, _ := g.WriterOfStream(n.In[0]); from < 0 || !finnOf(g.Nodes[from].Op.Kind()).ParallelWindow {
				windows, whole[n.Name] = append(windows, ""), true
			}
			pools = append(pools, g.Nodes[i].Name)
		}
	}
	var namedWindows, namedPools []string
	for _, n := range f.names {
		switch at := finnOf(spelt(n).kind); {
		case at.ParallelWindow:
			namedWindows = append(namedWindows, n)
		case at.OwnWindow:
			namedPools = append(namedPools, n)
		}
		if finnOf(spelt(n).kind).WholeImage {
			return nil, false
		}
	}
	if len(whole) == 0 || len(namedWindows) != len(windows) || len(namedPools) != len(pools) {
		return nil, false
	}
	to := map[string]string{}
	for i, n := range namedWindows {
		to[n] = windows[i]
	}
	for i, n := range namedPools {
		if to[n] = pools[i]; whole[pools[i]] {
			d.Add(fileDiag(diag.SeverityWarning, show(f.layers[n].key),
				fmt.Sprintf("it is taken for %s, which pools a whole "+
					"image and has no sliding window: what the file says of the window in front of it is left out",
					pools[i]), ""))
		}
	}
	return f.renamed(to), true
}

// isDerived reports whether a layer's name is of a kind that hlsgen inserts by itself.
func isDerived(name string) bool {
	return slices.ContainsFunc(derived, func(kind string) bool { return strings.HasPrefix(name, kind+"_") })
}

// missing returns the diagnostic for an entry whose layer the graph lacks: key is its name in the file, name ours. It
// is an error, with the most similar layer as a hint. If FINN has the layer where hlsgen needs none, it is a warning.
func missing(key, name string, g *dataflow.Graph) diag.Diag {
	s := spelt(name)
	of := map[string]int{} // the number of layers per kind
	for _, n := range g.Nodes {
		of[n.Op.Kind()]++
	}
	dg := diag.Diag{
		Severity: diag.SeverityError,
		Code:     diag.FoldingFileLayerUnknown,
		Where:    "folding file, " + key,
		Msg:      "the design has no such layer",
		Hint:     "it has " + layerNames(g),
	}
	foreign := spelt(key).name() != key && of[s.kind] == 0 && isKind(s.kind)
	if foreign || slices.Contains(finnOnly, s.kind) {
		dg.Severity, dg.Msg = diag.SeverityWarning, "the design has no such layer, which FINN has here"
		return dg
	}
	kind := s.kind
	if of[kind] == 0 {
		var kinds []string
		for _, n := range g.Nodes {
			kinds = append(kinds, n.Op.Kind())
		}
		kind = suggest.NearestWord(kind, kinds)
	}
	if of[kind] > 0 {
		number, err := strconv.Atoi(cmp.Or(s.number, "0"))
		if err != nil || number >= of[kind] {
			number = of[kind] - 1
		}
		dg.Hint = fmt.Sprintf("did you mean %s_%d? %s", kind, number, dg.Hint)
	}
	return dg
}
