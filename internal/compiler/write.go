package compiler

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"hlsgen/boards"
	"hlsgen/folding"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/examples"
	"hlsgen/internal/outputdir"
	"hlsgen/templates"
)

// claim reserves the folder of the build, and returns it with the name to show. It returns nil after adding an error to
// d. Without Force, the folder must be empty or missing. With Force, hlsgen must have written all files in it, or the
// user keeps the others. So --force replaces a build, but never a user's files.
func claim(o Options, d *diag.List) (place *outputdir.ClaimedFolder, shown string) {
	shown = o.Out
	if shown == "" {
		shown = DefaultOut(o.Model, o.Board)
	}
	refuse := func(code diag.Code, hint, format string, args ...any) (*outputdir.ClaimedFolder, string) {
		d.Fail(code, "", shown+" "+fmt.Sprintf(format, args...), hint)
		return nil, ""
	}
	out, err := filepath.Abs(shown)
	if err != nil {
		return refuse(diag.OutputExists, "give another --out", "cannot be used: %v", err)
	}
	if real, err := filepath.EvalSymlinks(out); err == nil {
		out = real
	}
	if here, err := os.Getwd(); err == nil && within(here, out) {
		return refuse(diag.OutputExists, "give a folder below this one", "is the current folder, or holds it")
	}
	place, err = outputdir.Claim(out, templates.TemporaryFolders, templates.KeptFolders...)
	busy, way, left := new(outputdir.BusyError), new(outputdir.PathOccupiedError), new(outputdir.LeftError)
	switch {
	case errors.As(err, &busy):
		return refuse(diag.OutputBusy, "wait for it, or give another --out", "%v", busy)
	case errors.As(err, &way), errors.As(err, &left):
		return refuse(diag.OutputForeign, byOwner, "cannot be used: %v", err)
	case err != nil:
		return refuse(diag.OutputExists, "give another --out", "cannot be used: %v", err)
	}
	if !admitted(place, o, shown, d) {
		if err := place.Release(); err != nil {
			return refuse(diag.OutputExists, "give another --out", "cannot be used: %v", err)
		}
		return nil, ""
	}
	return place, shown
}

// byOwner is the hint for a folder that belongs to another user.
const byOwner = "have it removed by its owner, or as root; or give another --out"

// admitted reports whether the existing files at a place may be replaced. It adds an error to d if not, and a warning
// if changed files are kept.
func admitted(place *outputdir.ClaimedFolder, o Options, shown string, d *diag.List) bool {
	there, err := place.Inspect(o.how())
	if err != nil {
		refuseOutput(shown, err, d)
		return false
	}
	if o.how() == outputdir.ReplaceKeepingForeign && len(there.Changed) > 0 {
		d.Add(diag.Diag{Severity: diag.Warning, Code: diag.OutputForeign,
			Msg: fmt.Sprintf("%s keeps files as you changed them, not as this build makes them: %s", shown,
				outputdir.QuoteSome(there.Changed)),
			Hint: "move them away to have what was verified"})
	}
	return !d.Failed()
}

// refuseOutput adds an error to d for a folder that cannot be written.
func refuseOutput(shown string, err error, d *diag.List) {
	strangers, conflict, stuck := new(outputdir.ForeignFilesError), new(outputdir.ConflictError),
		new(outputdir.StuckError)
	switch {
	case errors.As(err, &stuck):
		d.Fail(diag.OutputForeign, "", shown+" "+stuck.Error(), byOwner)
	case errors.As(err, &strangers) && strangers.There == nil:
		d.Fail(diag.OutputExists, "", shown+" "+err.Error(), "give another --out, or --force to replace it")
	case errors.As(err, &strangers) && strangers.There.NotOursReason != nil:
		d.Fail(diag.OutputForeign, "", shown+" "+err.Error(), "give another --out, or remove the folder yourself")
	case errors.As(err, &strangers):
		d.Fail(diag.OutputForeign, "", shown+" "+err.Error(),
			"--force=keep keeps all that; or move it away, or give another --out")
	case errors.As(err, &conflict):
		d.Fail(diag.OutputForeign, "", shown+" "+err.Error(), "move it away, or give another --out")
	default:
		d.Fail(diag.OutputExists, "", fmt.Sprintf("%s cannot be written: %v", shown, err), "give another --out")
	}
}

// WithSharedFolder calls write to put files into a folder that may also hold other files. It adds an error to d if
// another process uses the folder, or another file is in the way.
func WithSharedFolder(shown string, d *diag.List, write func(*outputdir.Shared) error) error {
	dir, err := outputdir.Share(shown)
	if err == nil {
		err = errors.Join(write(dir), dir.Release())
	}
	return unshared(shown, err, d)
}

// unshared adds errors about the use and the contents of a shared folder to d. It returns all other errors.
func unshared(shown string, err error, d *diag.List) error {
	busy, strangers, way := new(outputdir.BusyError), new(outputdir.ForeignFilesError), new(outputdir.PathOccupiedError)
	switch {
	case errors.As(err, &busy):
		d.Fail(diag.OutputBusy, "", fmt.Sprintf("%s %v", shown, busy), "wait for it, or give another folder")
	case errors.As(err, &way):
		d.Fail(diag.OutputForeign, "", fmt.Sprintf("%s cannot be used: %v", shown, way), byOwner)
	case errors.As(err, &strangers):
		d.Fail(diag.OutputForeign, "", fmt.Sprintf("%s %v", shown, strangers),
			"move it away, or give another folder; where you copied the folder, copy its "+
				""+outputdir.FileListName+", too")
	case err != nil:
		return fmt.Errorf("%s: %w", shown, err)
	}
	return nil
}

// how returns the mode of --force.
func (o OutputFolder) how() outputdir.ReplacePolicy {
	switch {
	case o.KeepForeign:
		return outputdir.ReplaceKeepingForeign
	case o.Force:
		return outputdir.ReplaceOurs
	}
	return outputdir.ReplaceNothing
}

// within reports whether path is dir or lies below it.
func within(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// DefaultOut returns the default folder of a build: hlsgen-out/MODEL-BOARD. A board that is given by its part appears
// by its name.
func DefaultOut(model, board string) string {
	name := examples.DigitsName
	if model != "" {
		name = stem(model)
	}
	if b, err := boards.Find(board); err == nil && strings.EqualFold(board, b.Part) {
		board = b.Name
	}
	return filepath.Join("hlsgen-out", fileName(name)+"-"+fileName(stem(board)))
}

// fileName replaces the characters of a model's or board's name that are unsafe in a path.
func fileName(s string) string {
	s = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' || r == '.' {
			return r
		}
		return '_'
	}, s)
	s = cmp.Or(strings.TrimLeft(s, ".-"), "model")
	return s[:min(len(s), 80)]
}

// A manifest records the inputs of a build. It is the content of the folder's manifest file.
type manifest struct {
	ReportHead
	Tool    string             `json:"tool"`
	Model   string             `json:"model"`
	SHA256  string             `json:"model_sha256"`
	Board   string             `json:"board"`
	Part    string             `json:"part"`
	Clock   float64            `json:"clock_mhz"`
	Cost    string             `json:"cost"`
	Options map[string]string  `json:"options"`
	Prefix  []string           `json:"host_prefix"`
	Suffix  []string           `json:"host_suffix"`
	Check   VerificationReport `json:"verified"`
	outputdir.ManifestRecord
}

// write adds the reports, the README and the manifest, and puts the whole folder in its place at the end.
func (r *BuildResult) write(o Options, t dataflow.Target, files templates.Files, place *outputdir.ClaimedFolder,
	d *diag.List) error {
	all := map[string][]byte{}
	for _, f := range files {
		all[f.Path] = f.Data
	}
	m := r.Design.Model
	reports := map[string]any{
		"report/estimate_layer_cycles.json":        layerCycles(r.Design.Design),
		"report/estimate_layer_resources.json":     r.layerResources(),
		"report/resources.json":                    r.resources(),
		"report/estimate_network_performance.json": r.performance(),
		"report/cycle_simulation.json":             r.cycleReport(),
		"report/op_and_param_counts.json":          counts(m.Graph),
		"report/layers.json":                       r.Layers(),
		"report/certificate.json":                  NewCertificate(&r.Design.Certificate),
		"report/nodes.json":                        r.Imported.Fates,
	}
	for path, v := range reports {
		b, err := json.MarshalIndent(v, "", "  ")
		if err != nil {
			return err
		}
		all[path] = append(b, '\n')
	}
	all["folding.json"] = folding.Format(r.Design.Design, false)
	all["final_hw_config.json"] = folding.Format(r.Design.Design, true)
	if partly(r.Design) {
		all["final_hw_config.json"] = folding.FormatWithMemories(r.Design.Design)
	}
	const page = "README.md"
	readme, err := r.readme(o, append(slices.Sorted(maps.Keys(all)), page, outputdir.ManifestName))
	if err != nil {
		return err
	}
	all[page] = readme
	b, err := json.MarshalIndent(manifest{ReportHead: CurrentHead, Tool: "hlsgen " + o.Version, Model: r.Source.File,
		SHA256: r.sum, Board: t.Board.Name, Part: t.Board.Part,
		Clock: t.ClockMHz, Cost: t.Formula.String(), Options: o.given(),
		Prefix: append([]string{}, m.Prefix.Nodes...),
		Suffix: append([]string{}, m.Suffix.Nodes...), Check: r.Verified, ManifestRecord: outputdir.RecordOf(all)}, "",
		"  ")
	if err != nil {
		return err
	}
	all[outputdir.ManifestName] = outputdir.Seal(append(b, '\n'))
	r.FileCount = len(all)
	left := new(outputdir.LeftError)
	switch r.Kept, err = place.Put(all, o.how()); {
	case errors.As(err, &left):
		d.Add(diag.Diag{Severity: diag.Warning, Code: diag.OutputForeign,
			Msg: fmt.Sprintf("%s is written; %v", r.Out, left), Hint: "remove it: the next build has no place before"})
	case err != nil:
		refuseOutput(r.Out, err, d)
	}
	return nil
}

// A FlagValue is a flag with its values.
type FlagValue struct {
	Name  string
	Texts []string
}

// ModelFlags lists the flags about the model's axes, inputs and cells. Files keep the paths of the options.
func (o Source) ModelFlags() []FlagValue {
	list := []FlagValue{{"dim", o.dims()}, {"shape", o.Shapes.Texts()}}
	if t := o.InputType; t != nil {
		list = append(list, FlagValue{"input-type", []string{t.String()}})
		for _, of := range []FlagValue{{"input-mean", t.MeanFlagValues()}, {"input-std", t.StdFlagValues()}} {
			if len(of.Texts) > 0 {
				list = append(list, of)
			}
		}
	}
	if q := o.InputQuant; q != nil {
		list = append(list, FlagValue{"input-quant", []string{fmt.Sprintf("%s:%v", q.Type, q.Scale)}})
	}
	if len(o.States) > 0 {
		var texts []string
		for _, s := range o.States {
			texts = append(texts, s.String())
		}
		list = append(list, FlagValue{"state", texts})
	}
	if len(o.Initial) > 0 {
		list = append(list, FlagValue{"initial-state", o.Initial.Texts()})
	}
	if len(o.Outputs) > 0 {
		list = append(list, FlagValue{"outputs", []string{strings.Join(o.Outputs, ",")}})
	}
	if o.Calibrate != "" {
		list = append(list, FlagValue{"calibrate", []string{o.Calibrate}}, FlagValue{"quantize",
			[]string{o.recipe().String()}})
		if o.Scales != "" {
			list = append(list, FlagValue{"scales", []string{string(o.Scales)}})
		}
		if o.Lookup != "" {
			list = append(list, FlagValue{"lookup", []string{string(o.Lookup)}})
		}
		for _, f := range []struct {
			name  string
			given bool
		}{{"equalize", o.Equalise}, {"correct-bias", o.CorrectBias}} {
			if f.given {
				list = append(list, FlagValue{f.name, []string{"true"}})
			}
		}
	}
	for _, file := range []FlagValue{{"lstm-config", []string{o.LSTM}}, {"cell-config", []string{o.Cells}}} {
		if file.Texts[0] != "" {
			list = append(list, file)
		}
	}
	return list
}

// given lists the flags that shape the design, by name, as the user gave them. Files appear without their folders.
func (o Options) given() map[string]string {
	out := map[string]string{}
	for _, f := range o.ModelFlags() {
		if len(f.Texts) > 0 {
			out[f.Name] = strings.Join(f.Texts, ",")
		}
	}
	for _, x := range []struct {
		name  string
		given bool
		text  string
	}{
		{"fps", o.FPS > 0, plain(o.FPS)},
		{"interval", o.Interval > 0, plain(o.Interval)},
		{"latency", o.Latency, "true"},
		{"over-budget", o.OverBudget, "true"},
		{"backend", o.Backend.IncludesRTL(), string(o.Backend)},
		{"counters", o.Counters, "true"},
		{"weights", o.Weights.Loaded(), string(o.Weights)},
		{"io", o.IO != dataflow.FromMemory, o.IO.String()},
		{"max-unroll", o.MaxUnroll != dataflow.UnrollLimits{}, o.MaxUnroll.String()},
		{"least", o.Least != folding.LeastLoad, o.Least.Flag()},
		{"search-time", o.SearchTime > 0, o.SearchTime.String()},
		{"max-use", o.MaxUse != folding.MaxUse{}, o.MaxUse.String()},
		{"fifo", o.FIFO != folding.FIFODepthPolicy{} || o.FIFOAsked, o.FIFO.String()},
		{"folding", o.Folding != "", filepath.Base(o.Folding)},
		{"folding", o.FoldingFile != nil, "folding.json"},
		{"calibrate", o.Calibrate != "", filepath.Base(o.Calibrate)},
		{"calibration", o.Calibration != "", filepath.Base(o.Calibration)},
		{"lstm-config", o.LSTM != "", filepath.Base(o.LSTM)}, // no folder of this machine
		{"stateful", o.Stateful, "true"},
		// without the folder, which differs from machine to machine
		{"interleave", o.Interleave > 1, strconv.Itoa(o.Interleave)},
		{"cell-config", o.Cells != "", filepath.Base(o.Cells)},
		{"acc-per-pe", o.AccPerPE, "true"},
		{"acc-bits", o.AccBits.Asked(), o.AccBits.String()},
	} {
		if x.given {
			out[x.name] = x.text
		}
	}
	return out
}

// dims returns the values of --dim: the sizes of axes, and the range of lengths.
func (o ModelInputs) dims() (list []string) {
	for _, axis := range slices.Sorted(maps.Keys(o.Dims)) {
		list = append(list, fmt.Sprintf("%s=%d", axis, o.Dims[axis]))
	}
	if l := o.Lengths; l != nil {
		list = append(list, fmt.Sprintf("%s=%d..%d", l.Axis, l.Min, l.Max))
	}
	return list
}
