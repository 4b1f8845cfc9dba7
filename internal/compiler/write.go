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

	"hlsgen/folding"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/examples"
	"hlsgen/templates"
)

// outFolder is where the build goes, as the user calls it and as an absolute path. An existing folder with anything in
// it is refused without Force, and with Force unless hlsgen wrote it: --force replaces a build, never somebody's files.
func outFolder(o Options, d *diag.List) (shown, dir string) {
	shown = o.Out
	if shown == "" {
		shown = DefaultOut(o.Model, o.Board)
	}
	refuse := func(hint, format string, args ...any) (string, string) {
		d.Fail(diag.OutputExists, "", shown+" "+fmt.Sprintf(format, args...), hint)
		return "", ""
	}
	out, err := filepath.Abs(shown)
	if err != nil {
		return refuse("give another --out", "cannot be used: %v", err)
	}
	if real, err := filepath.EvalSymlinks(out); err == nil {
		out = real
	}
	if here, err := os.Getwd(); err == nil && within(here, out) {
		return refuse("give a folder below this one", "is the current folder, or holds it")
	}
	entries, err := os.ReadDir(out)
	switch {
	case errors.Is(err, os.ErrNotExist):
	case err != nil:
		return refuse("give another --out", "cannot be used: %v", err)
	case len(entries) > 0 && !o.Force:
		return refuse("give another --out, or --force to replace it", "exists and is not empty")
	case len(entries) > 0 &&
		!slices.ContainsFunc(entries, func(e os.DirEntry) bool {
			return e.Name() == "manifest.json" &&
				e.Type().IsRegular()
		}):
		return refuse("give another --out, or remove the folder yourself",
			"exists, is not empty and holds no manifest.json: it is no build of hlsgen, and --force does not replace it")
	}
	return shown, out
}

// within reports whether path is dir or lies below it.
func within(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// DefaultOut is the folder of a build that names none: hlsgen-out/MODEL-BOARD.
func DefaultOut(model, board string) string {
	name := examples.Digits
	if model != "" {
		name = stem(model)
	}
	return filepath.Join("hlsgen-out", fileName(name)+"-"+fileName(stem(board)))
}

// fileName keeps of a model's or board's name what is harmless in a path.
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

// A manifest says what the folder was made from.
type manifest struct {
	Head
	Tool    string            `json:"tool"`
	Model   string            `json:"model"`
	SHA256  string            `json:"model_sha256"`
	Board   string            `json:"board"`
	Part    string            `json:"part"`
	Clock   float64           `json:"clock_mhz"`
	Cost    string            `json:"cost"`
	Options map[string]string `json:"options"`
	Prefix  []string          `json:"host_prefix"`
	Suffix  []string          `json:"host_suffix"`
	Check   Verified          `json:"verified"`
}

// write puts the whole folder beside its place and renames it as the last act.
func (r *Result) write(o Options, t dataflow.Target, files templates.Files) error {
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
		"report/layers.json":                       layerReports(m.Graph, r.Design.Design),
		"report/certificate.json":                  CertificateOf(&r.Design.Certificate),
		"report/nodes.json":                        r.Imported.Fates,
		"manifest.json": manifest{Head: Versioned, Tool: "hlsgen " + o.Version, Model: r.Source.File,
			SHA256: r.Source.Sum(), Board: t.Board.Name, Part: t.Board.Part,
			Clock: t.ClockMHz, Cost: t.Formula.String(), Options: o.given(),
			Prefix: append([]string{}, m.Prefix.Nodes...),
			Suffix: append([]string{}, m.Suffix.Nodes...), Check: r.Verified},
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
	const page = "README.md"
	readme, err := r.readme(o, append(slices.Sorted(maps.Keys(all)), page))
	if err != nil {
		return err
	}
	all[page] = readme
	r.FileCount = len(all)
	return writeWhole(r.dir, all, o.Force)
}

// given lists the options that shape the design, as the user gave them.
func (o Options) given() map[string]string {
	out := map[string]string{}
	if t := o.Arrives; t != nil {
		out["input-type"] = t.Type.String() + ":" + t.Scale.RatString()
	}
	if q := o.Quantise; q != nil {
		out["input-quant"] = fmt.Sprintf("%s:%v", q.Type, q.Scale)
	}
	for _, axis := range slices.Sorted(maps.Keys(o.Dims)) {
		out["dim"] = strings.TrimPrefix(fmt.Sprintf("%s,%s=%d", out["dim"], axis, o.Dims[axis]), ",")
	}
	for _, x := range []struct {
		name  string
		given bool
		text  string
	}{
		{"fps", o.FPS > 0, plain(o.FPS)},
		{"interval", o.Interval > 0, strconv.Itoa(o.Interval)},
		{"latency", o.Latency, "true"},
		{"over-budget", o.Over, "true"},
		{"io", o.IO != dataflow.FromMemory, o.IO.String()},
		{"least", o.Least != folding.LeastLoad, o.Least.Flag()},
		{"search-time", o.Search > 0, o.Search.String()},
		{"max-use", o.MaxUse != folding.Use{}, o.MaxUse.String()},
		{"fifo", o.FIFO != folding.FIFO{}, o.FIFO.String()},
		{"folding", o.Folding != "", filepath.Base(o.Folding)},
		{"lstm-config", o.LSTM != "", filepath.Base(o.LSTM)},
		{"cell-config", o.Cells != "", filepath.Base(o.Cells)},
		{"acc-bits", o.AccBits > 0, strconv.Itoa(o.AccBits)},
	} {
		if x.given {
			out[x.name] = x.text
		}
	}
	return out
}

// writeWhole writes files under a fresh folder next to dir, an absolute path, and renames it to dir: the folder appears
// whole or not at all. An interrupted run leaves at most a folder whose name begins with a dot, and where dir cannot be
// replaced, it stays as it was.
func writeWhole(dir string, files map[string][]byte, replace bool) error {
	parent := filepath.Dir(dir)
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return err
	}
	tmp, err := os.MkdirTemp(parent, ".hlsgen-")
	if err != nil {
		return fmt.Errorf("%s cannot be written to: %w", parent, err)
	}
	fresh, old := filepath.Join(tmp, "new"), filepath.Join(tmp, "old")
	for path, data := range files {
		full := filepath.Join(fresh, filepath.FromSlash(path))
		err := os.MkdirAll(filepath.Dir(full), 0o755)
		if err == nil {
			err = os.WriteFile(full, data, 0o644)
		}
		if err != nil {
			return errors.Join(err, os.RemoveAll(tmp))
		}
	}
	if err := swap(dir, fresh, old, replace); err != nil {
		return errors.Join(err, os.RemoveAll(fresh), os.Remove(tmp)) // never what stood at dir
	}
	return os.RemoveAll(tmp)
}

// swap puts fresh in dir's place and what stood there, if anything, at old; where that fails it puts it back.
func swap(dir, fresh, old string, replace bool) error {
	if _, err := os.Stat(dir); err != nil {
		return os.Rename(fresh, dir)
	}
	if !replace {
		if err := os.Remove(dir); err != nil { // an empty folder, or it was refused before
			return err
		}
		return os.Rename(fresh, dir)
	}
	if err := os.Rename(dir, old); err != nil {
		return err
	}
	if err := os.Rename(fresh, dir); err != nil {
		return errors.Join(err, os.Rename(old, dir))
	}
	return nil
}
