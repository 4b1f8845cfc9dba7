package build

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"hlsgen/folding"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/examples"
	"hlsgen/templates"
)

// outFolder is where the build goes; an existing folder with anything in it is refused without Force.
func outFolder(o Options, d *diag.List) string {
	out := o.Out
	if out == "" {
		out = DefaultOut(o.Model, o.Board)
	}
	entries, err := os.ReadDir(out)
	switch {
	case err == nil && len(entries) > 0 && !o.Force:
		d.Add(diag.Diag{Severity: diag.Error, Code: diag.OutputExists, Msg: fmt.Sprintf("%s exists and is not empty", out), Hint: "give another --out, or --force to replace it"})
	case err != nil && !errors.Is(err, os.ErrNotExist):
		d.Add(diag.Diag{Severity: diag.Error, Code: diag.OutputExists, Msg: fmt.Sprintf("%s cannot be used: %v", out, err), Hint: "give another --out"})
	}
	return out
}

// DefaultOut is the folder of a build that names none: hlsgen-out/MODEL-BOARD.
func DefaultOut(model, board string) string {
	name := examples.Digits
	if model != "" {
		base := filepath.Base(model)
		name = strings.TrimSuffix(base, filepath.Ext(base))
	}
	board = filepath.Base(board)
	return filepath.Join("hlsgen-out", fileName(name)+"-"+fileName(strings.TrimSuffix(board, filepath.Ext(board))))
}

// fileName keeps of a model's or board's name what is harmless in a path.
func fileName(s string) string {
	s = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' || r == '.' {
			return r
		}
		return '_'
	}, s)
	s = strings.TrimLeft(s, ".-")
	if s == "" {
		return "model"
	}
	return s[:min(len(s), 80)]
}

// A manifest says what the folder was made from.
type manifest struct {
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
	sum := sha256.Sum256(r.Source.ONNX)
	m := r.Design.Model
	reports := map[string]any{
		"report/estimate_layer_cycles.json":        layerCycles(r.Design),
		"report/estimate_layer_resources.json":     layerResources(r.Design),
		"report/estimate_network_performance.json": r.performance(),
		"report/op_and_param_counts.json":          counts(m.Graph),
		"report/layers.json":                       layerReports(m.Graph, r.Design),
		"report/nodes.json":                        r.Imported.Fates,
		"manifest.json": manifest{Tool: "hlsgen " + o.Version, Model: r.Source.File, SHA256: hex.EncodeToString(sum[:]), Board: t.Board.Name, Part: t.Board.Part,
			Clock: t.ClockMHz, Cost: "finn", Options: o.given(), Prefix: m.Prefix.Nodes, Suffix: m.Suffix.Nodes, Check: r.Verified},
	}
	for path, v := range reports {
		b, err := json.MarshalIndent(v, "", "  ")
		if err != nil {
			return err
		}
		all[path] = append(b, '\n')
	}
	all["folding.json"] = folding.Format(r.Design)
	r.FileCount = len(all)
	return writeWhole(r.Out, all, o.Force)
}

// given lists the options that shape the design, as the user gave them.
func (o Options) given() map[string]string {
	out := map[string]string{}
	if o.FPS > 0 {
		out["fps"] = fmt.Sprint(o.FPS)
	}
	if o.MaxUse != (folding.Use{}) {
		u := o.MaxUse
		out["max-use"] = fmt.Sprintf("lut=%g,ff=%g,bram=%g,uram=%g,dsp=%g", u.LUT, u.FF, u.BRAM, u.URAM, u.DSP)
	}
	if o.FIFO > 0 {
		out["fifo"] = fmt.Sprint(o.FIFO)
	}
	if o.Folding != "" {
		out["folding"] = filepath.Base(o.Folding)
	}
	if t := o.Arrives; t != nil {
		out["input-type"] = t.Type.String() + ":" + t.Scale.RatString()
	}
	if q := o.Quantise; q != nil {
		out["input-quant"] = fmt.Sprintf("%s:%v", q.Type, q.Scale)
	}
	for _, axis := range slices.Sorted(maps.Keys(o.Dims)) {
		out["dim"] = strings.TrimPrefix(fmt.Sprintf("%s,%s=%d", out["dim"], axis, o.Dims[axis]), ",")
	}
	if o.AccBits > 0 {
		out["acc-bits"] = fmt.Sprint(o.AccBits)
	}
	return out
}

// writeWhole writes files under a fresh folder next to dir and renames it to dir: the folder appears whole or not at
// all. An interrupted run leaves at most a folder whose name begins with a dot.
func writeWhole(dir string, files map[string][]byte, replace bool) (err error) {
	parent := filepath.Dir(filepath.Clean(dir))
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return err
	}
	tmp, err := os.MkdirTemp(parent, ".hlsgen-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	fresh := filepath.Join(tmp, "new")
	for path, data := range files {
		full := filepath.Join(fresh, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(full, data, 0o644); err != nil {
			return err
		}
	}
	if _, err := os.Stat(dir); err == nil {
		if !replace {
			if err := os.Remove(dir); err != nil { // an empty folder, or it was refused before
				return err
			}
		} else if err := os.Rename(dir, filepath.Join(tmp, "old")); err != nil {
			return err
		}
	}
	return os.Rename(fresh, dir)
}
