// Package finn reads and writes folding files, in the form of FINN's auto_folding_config.json and final_hw_config.json
// (github.com/Xilinx/finn). In comes text; out comes a FoldingFile. For each layer of a graph it says which folds are
// allowed and why others are not possible (ChoicesForLayer), and how deep FIFOs are (FIFOsForGraph). FormatFoldingFile
// writes a design in the form that ParseFoldingFile reads. The package may import hlslib, for the kinds of layers; it
// knows nothing of boards, budgets and searches.
//
//	json.go    text to objects with their keys in order
//	file.go    objects to the choices for each layer (ParseFoldingFile)
//	names.go   FINN's names of layers, and the order in which FINN counts them
//	known.go   other keys of FINN's files
//	fix.go     the folds that a file allows for the layers of a graph
//	depths.go  the FIFOs that a file gives a graph
//	format.go  a design to text
package finn

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"hlsgen/hlslib"
	"hlsgen/hlslib/dwc"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/suggest"
)

// A FoldingFile is a folding file that was read: what it fixes of each layer and its FIFOs, in the form of
// FINN's auto_folding_config.json. The search chooses what it leaves out or gives as "auto".
type FoldingFile struct {
	names    []string       // the layers in the order of the file, by our names
	layers   map[string]ask // by our name
	defaults []rule
	fifos    []listed
}

// An ask holds what the file fixes of one layer. Zero fields are left to the search.
type ask struct {
	key    string // the layer's key in the file
	fold   dataflow.Fold
	window window
	depths depths
	given  []string // the attributes in the entry, including those with the value "auto"
}

// A window is FINN's parallel_window of a sliding window: whether a word holds one kernel position or all of them. In a
// fold of hlsgen, it becomes a PE.
type window uint8

const (
	anyWindow window = iota
	onePosition
	allPositions
)

// A rule is one value of an attribute for some kinds of layers, from Defaults: FINN's {"attribute": [value, kinds,
// value, kinds ...]}.
type rule struct {
	attr   string
	fold   dataflow.Fold
	window window
	kinds  []string // kinds of layers; nil means all
}

// derived lists the kinds of nodes that FINN's files list and that hlsgen inserts by itself, whatever the file says.
var derived = []string{"StreamingFIFO", dwc.KindName, "IODMA", "TLastMarker"}

// Examples for hints, with the first kind of layer.
var (
	exampleFile     = fmt.Sprintf(`{"%s_0": {"PE": 2, "SIMD": 4}}`, hlslib.LayerKinds[0].Name)
	exampleDefaults = fmt.Sprintf(`{"PE": [2, ["%s"]]} or {"PE": [2, "all"]}`, hlslib.LayerKinds[0].Name)
)

// neutral holds FINN's keys that may have only one value, by key: the value that means what hlsgen does anyway.
var neutral = map[string]any{
	"runtime_writeable_weights": json.Number("0"),
	"ram_style_thresholds":      "auto",
	"depth_trigger_uram":        json.Number("0"),
	"depth_trigger_bram":        json.Number("0"),
	"uniform_thres":             json.Number("0"),
	"pumpedMemory":              json.Number("0"),
	"pumpedCompute":             json.Number("0"),
	"dynamic_mode":              json.Number("0"),
	"M":                         json.Number("1"),
	"dynamic_input":             json.Number("0"),
}

// elsewhere lists FINN's keys for what hlsgen's users decide in other ways: the back end and the floor plan.
var elsewhere = []string{
	"deep_pipeline", "preferred_impl_style", "backend", "exec_mode", "slr", "mem_port", "partition_id", "device_id",
}

// A reader reads one folding file and adds the faults that it finds to a list of diagnostics.
type reader struct {
	*FoldingFile
	d      *diag.List
	failed bool
	ours   map[string]string // our name of a layer, by its key in the file
	unused map[string]unused // attributes that have no effect
	order  []string
}

// An unused counts the places of an attribute without effect, and remembers the first.
type unused struct {
	first string
	times int
}

// ParseFoldingFile reads a folding file. It returns nil after adding errors to d. Layers that a design lacks, and
// values that a layer cannot take, show only when the file is applied to a graph.
func ParseFoldingFile(data []byte, d *diag.List) *FoldingFile {
	r := &reader{FoldingFile: &FoldingFile{layers: map[string]ask{}}, d: d, unused: map[string]unused{}}
	o, err := readObject(data)
	if err != nil {
		r.fail("", "not a folding file: "+err.Error(), "it is a JSON object with one object per layer: "+exampleFile)
		return nil
	}
	inserted := 0
	r.apart(o.keys)
	last, converted := "", false // the last layer, and whether a width converter follows it
	for _, k := range o.keys {
		entries, ok := o.values[k].(*object)
		if !ok {
			r.fail(k, "wants an object", "")
			continue
		}
		if k == "Defaults" {
			r.defaultRules(entries)
			continue
		}
		name := r.ours[k]
		switch {
		case spelt(name).kind == "StreamingFIFO":
			r.listed(k, entries, last, converted)
			continue
		case isDerived(name):
			inserted++
			converted = converted || spelt(name).kind == dwc.KindName
			continue
		}
		for i := range r.fifos {
			if f := &r.fifos[i]; f.before == last && f.after == "" {
				f.after = name
			}
		}
		last, converted = name, false
		r.layer(name, k, entries)
	}
	for _, attr := range r.order {
		r.useless(attr)
	}
	if inserted > 0 {
		r.d.Add(fileDiag(diag.SeverityNote, "",
			fmt.Sprintf("%d entries for width converters and ports are not read: these follow from the folding",
				inserted), ""))
	}
	if r.failed {
		return nil
	}
	return r.FoldingFile
}

// layer reads the entry of a layer, whose name is ours for the layer and whose key is that in the file.
func (r *reader) layer(name, key string, entries *object) {
	if other, twice := r.layers[name]; twice {
		r.fail(key, fmt.Sprintf("means the same layer as %q", other.key), "")
		return
	}
	a := ask{key: key, given: entries.keys}
	for _, attr := range entries.keys {
		where := key + "." + attr
		switch attr {
		case "inFIFODepths", "inFIFODepth":
			r.words(&a.depths.in, where, entries.values[attr])
		case "outFIFODepths", "outFIFODepth":
			r.words(&a.depths.out, where, entries.values[attr])
		case "inFIFOMemory":
			r.memories(&a.depths.inMemory, where, entries.values[attr])
		case "outFIFOMemory":
			r.memories(&a.depths.outMemory, where, entries.values[attr])
		default:
			r.set(&a.fold, &a.window, where, attr, entries.values[attr])
		}
	}
	r.names = append(r.names, name)
	r.layers[name] = a
}

func (r *reader) fail(where, msg, hint string) {
	r.failed = true
	r.d.Add(fileDiag(diag.SeverityError, where, msg, hint))
}

func fileDiag(severity diag.Severity, where, msg, hint string) diag.Diag {
	in := "folding file"
	if where != "" {
		in += ", " + where
	}
	return diag.Diag{Severity: severity, Code: diag.FoldingFileInvalid, Where: in, Msg: msg, Hint: hint}
}

// set reads attribute attr with value v into a fold or a window. where is its place in the file, for diagnostics.
func (r *reader) set(f *dataflow.Fold, w *window, where, attr string, v any) {
	switch attr {
	case "PE":
		r.number(&f.PE, where, v)
	case "SIMD":
		r.number(&f.SIMD, where, v)
	case "ram_style":
		style(r, &f.Memory, where, v, map[string]dataflow.Memory{"auto": dataflow.NoMemory,
			"distributed": dataflow.MemoryLUTRAM, "block": dataflow.MemoryBRAM, "ultra": dataflow.MemoryURAM})
	case "resType":
		style(r, &f.Compute, where, v, map[string]dataflow.MultiplierKind{"auto": dataflow.NoMultiplier,
			"lut": dataflow.MultiplierInLUTs,
			"dsp": dataflow.MultiplierInDSPs, "adders": dataflow.SharedAdders})
	case "steps":
		style(r, &f.Steps, where, v, map[string]dataflow.StepEvaluation{"auto": dataflow.NoStepEvaluation,
			"parallel": dataflow.ParallelStepEvaluation, "serial": dataflow.SerialStepEvaluation})
	case "parallel_window":
		style(r, w, where, show(v), map[string]window{"0": onePosition, "1": allPositions})
	case "mem_mode":
		r.memMode(where, v)
	default:
		if want, ok := neutral[attr]; ok {
			if v != want {
				r.d.Add(fileDiag(diag.SeverityWarning, where, fmt.Sprintf("%s is not supported and has no effect",
					show(v)),
					fmt.Sprintf("hlsgen does what %v means", want)))
			}
			return
		}
		a, again := r.unused[attr]
		if !again {
			a.first = where
			r.order = append(r.order, attr)
		}
		a.times++
		r.unused[attr] = a
	}
}

func (r *reader) number(field *int, where string, v any) {
	n, ok := v.(json.Number)
	i, err := strconv.Atoi(n.String())
	if !ok || err != nil || i < 1 || i > 1<<30 {
		r.fail(where, fmt.Sprintf("%s is not a whole number from 1", show(v)), "")
		return
	}
	*field = i
}

func style[T ~uint8](r *reader, field *T, where string, v any, known map[string]T) {
	s, _ := v.(string)
	t, ok := known[s]
	if !ok {
		names := slices.Sorted(maps.Keys(known))
		r.fail(where, fmt.Sprintf("%s is not one of %s", show(v), strings.Join(names, ", ")), "")
		return
	}
	*field = t
}

// memMode checks v, the value of FINN's mem_mode: its way to bring weights to a kernel. It accepts those that keep
// tables on the chip, which hlsgen does in any case, and reports the others.
func (r *reader) memMode(where string, v any) {
	switch v {
	case "internal_decoupled", "internal_embedded", "decoupled", "const":
	case "external":
		r.fail(where, "a folding file does not say where weights come from", "leave "+
			"mem_mode out, and say hlsgen build --weights external")
	default:
		r.fail(where, fmt.Sprintf("%s is not one of internal_decoupled, internal_embedded", show(v)), "")
	}
}

func (r *reader) defaultRules(o *object) {
	for _, attr := range o.keys {
		where := "Defaults." + attr
		list, ok := o.values[attr].([]any)
		if !ok || len(list)%2 != 0 {
			r.fail(where, "wants a list of a value and the kinds of layers it is for", exampleDefaults)
			continue
		}
		for i := 0; i < len(list); i += 2 {
			rl := rule{attr: attr}
			var ok bool
			if rl.kinds, ok = kindList(list[i+1]); !ok {
				r.fail(where, fmt.Sprintf("%s is neither \"all\" nor a list of kinds of layers", show(list[i+1])), "")
				continue
			}
			if i := slices.IndexFunc(rl.kinds, func(k string) bool { return !isKind(k) }); i >= 0 {
				hint := strings.TrimPrefix(suggest.DidYouMeanSuffix(rl.kinds[i], kindNames()), ", ")
				r.fail(where, fmt.Sprintf("no layer is of kind %s", show(rl.kinds[i])), hint)
				continue
			}
			r.set(&rl.fold, &rl.window, where, attr, list[i])
			r.defaults = append(r.defaults, rl)
		}
	}
}

// kindList reads the kinds to which a default applies. nil stands for "all". ok is false for values that name no kinds.
func kindList(v any) (kinds []string, ok bool) {
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	for _, v := range list {
		s, ok := v.(string)
		if !ok {
			return nil, false
		}
		if s == "all" {
			return nil, true
		}
		kinds = append(kinds, spelt(s).kind)
	}
	return kinds, len(kinds) > 0
}

// show returns a JSON value as text for a message: shortened, objects and lists without their content.
func show(v any) string {
	switch v := v.(type) {
	case *object:
		return "an object"
	case []any:
		return "a list"
	case string:
		return strconv.Quote(v[:min(len(v), 40)])
	case json.Number:
		return v[:min(len(v), 40)].String()
	}
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // only true, false and null are left
	}
	return string(b)
}
