package synthesis

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/report"
	"hlsgen/internal/safefile"
)

// A Project is a folder that hlsgen build wrote, with all that the vendor's tools and their reports need.
type Project struct {
	Dir      string
	Model    string
	Board    string
	Part     string
	ClockMHz float64
	Flows    []VerilogSource // flows that the folder contains
	Top      string          // top module of the network
	Layers   []report.LayerReport
	Estimate map[string]dataflow.Resources // by layer, and for "FIFOs", "host" and "total"
	FPS      float64                       // samples per second in simulation; 0 if not known
	modules  map[VerilogSource][]string    // names of modules: layers and the network's ends
}

// A VerilogSource says where the layers' Verilog comes from. It selects a flow of the vendor's tools.
type VerilogSource string

// The sources. Each names the flow that begins with it.
const (
	VerilogSourceHLS    VerilogSource = "hls" // Vitis HLS makes the Verilog from the C++ in hls/
	VerilogSourceHlsgen VerilogSource = "rtl" // hlsgen wrote the SystemVerilog in rtl/
)

// These patterns match the names that a build gives to modules, layers and tops, and the vendor's names of parts.
var (
	identifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	partName   = regexp.MustCompile(`^xc[A-Za-z0-9_.-]+$`)
)

// OpenProject returns the project in a folder, from the description that its build wrote. It checks names strictly,
// since they go into scripts. It returns nil after adding the user's errors to d.
func OpenProject(dir string, d *diag.List) *Project {
	p, err := open(dir)
	var unfit *unfitError
	switch {
	case errors.As(err, &unfit):
		d.AddError(diag.BackendUnfitForBoard, "", unfit.Error(),
			"Yosys and nextpnr are called by make in its folder rtl")
		return nil
	case errors.Is(err, fs.ErrNotExist):
		d.AddError(diag.FileUnreadable, filepath.Base(dir),
			"it is no folder that hlsgen build has written: "+missing(err),
			"give the folder of --out of hlsgen build")
		return nil
	case err != nil:
		d.AddError(diag.FileUnreadable, filepath.Base(dir), err.Error(), "build it again, with this hlsgen")
		return nil
	}
	return p
}

// An unfitError says that a build is for a board, with a device called part, that the vendor's tools do not support.
type unfitError struct{ board, part string }

func (e *unfitError) Error() string {
	return fmt.Sprintf("%.40q of %.40q is not a device of AMD, and hlsgen synth calls AMD's tools", e.part, e.board)
}

// missing turns the error of reading a project's file into the reason for the user: "it has no" and the file's base
// name. Other errors become their text.
func missing(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		return "it has no " + filepath.Base(p.Path)
	}
	return err.Error()
}

// open returns the project in a folder. The error is an *unfitError, wraps fs.ErrNotExist if a file is missing, or says
// what is wrong in one.
func open(dir string) (*Project, error) {
	p := &Project{Dir: dir, Estimate: map[string]dataflow.Resources{}, modules: map[VerilogSource][]string{}}
	var manifest struct {
		Model string  `json:"model"`
		Board string  `json:"board"`
		Part  string  `json:"part"`
		Clock float64 `json:"clock_mhz"`
	}
	var performance struct {
		FPS float64 `json:"simulated_throughput_fps"`
	}
	for _, f := range []struct {
		name string
		to   any
	}{{"manifest.json", &manifest}, {"report/" + layersFile, &p.Layers},
		{"report/estimate_layer_resources.json", &p.Estimate},
		{"report/estimate_network_performance.json", &performance}} {
		data, err := safefile.ReadRegularFile(p.path(f.name), maxReport)
		if err == nil {
			err = safefile.SimplifyJSONError(json.Unmarshal(data, f.to))
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.name, err)
		}
	}
	p.Model, p.Board, p.Part, p.ClockMHz, p.FPS = manifest.Model, manifest.Board, manifest.Part, manifest.Clock,
		performance.FPS
	switch {
	case !(p.ClockMHz >= 1e-3 && p.ClockMHz <= 1e5):
		return nil, fmt.Errorf("manifest.json has a clock of %v MHz", p.ClockMHz)
	case !partName.MatchString(p.Part):
		return nil, &unfitError{p.Board, p.Part}
	}
	for _, l := range p.Layers {
		if !identifier.MatchString(l.Name) {
			return nil, fmt.Errorf("report/%s has a layer called %.40q", layersFile, l.Name)
		}
	}
	return p, p.find()
}

// find sets the flows of the project, the names of their modules, and the name of the top module. The error says what
// the folder lacks.
func (p *Project) find() error {
	lists, tops := p.glob("hls/ip/*.files"), p.glob("rtl/*.sv")
	if len(lists) > 0 {
		for _, l := range lists {
			p.modules[VerilogSourceHLS] = append(p.modules[VerilogSourceHLS], strings.TrimSuffix(path.Base(l),
				".files"))
		}
		p.Flows = append(p.Flows, VerilogSourceHLS)
		if tops := p.glob("hls/rtl/*.v"); len(tops) == 1 {
			p.Top = strings.TrimSuffix(path.Base(tops[0]), ".v")
		}
	}
	if len(tops) == 1 {
		p.Flows, p.Top = append(p.Flows, VerilogSourceHlsgen), strings.TrimSuffix(path.Base(tops[0]), ".sv")
		for _, l := range p.Layers {
			p.modules[VerilogSourceHlsgen] = append(p.modules[VerilogSourceHlsgen], l.Name)
		}
	}
	if len(p.Flows) == 0 {
		return errors.New("it has no hls/ip and no rtl, which hlsgen build writes")
	}
	if !identifier.MatchString(p.Top) {
		return fmt.Errorf("its top is called %.40q", p.Top)
	}
	for _, name := range slices.Concat(p.modules[VerilogSourceHLS], p.modules[VerilogSourceHlsgen]) {
		if !identifier.MatchString(name) {
			return fmt.Errorf("it has a layer called %.40q", name)
		}
	}
	return nil
}

// path returns the path of a file of the project, whose name below the project's folder has slashes.
func (p *Project) path(name string) string { return filepath.Join(p.Dir, filepath.FromSlash(name)) }

// glob returns the names, below the project's folder, of the regular files that match a pattern, except hidden ones. It
// sorts them by bytes, as a shell does in the locale C. A missing folder has none.
func (p *Project) glob(pattern string) (names []string) {
	dir, last := path.Split(pattern)
	entries, err := os.ReadDir(p.path(dir))
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if ok, _ := path.Match(last, e.Name()); ok && e.Type().IsRegular() && !strings.HasPrefix(e.Name(), ".") {
			names = append(names, dir+e.Name())
		}
	}
	return names
}

// mention matches names that a SystemVerilog file may instantiate or read.
var mention = regexp.MustCompile(`tables/[A-Za-z0-9_.]+|[A-Za-z_][A-Za-z0-9_]*`)

// written returns the files from which a layer's generated SystemVerilog is made: first its own file, then, sorted, all
// that it mentions directly or not.
func (p *Project) written(layer string) ([]string, error) {
	first := "rtl/layers/" + p.Top + "_" + layer + ".sv"
	there := map[string]string{} // file by the name that mentions it
	for _, name := range slices.Concat(p.glob("rtl/layers/*.sv"), p.glob("rtl/shared/*.sv")) {
		there[strings.TrimSuffix(path.Base(name), ".sv")] = name
	}
	for _, name := range p.glob("rtl/tables/*") {
		there["tables/"+path.Base(name)] = name
	}
	list := []string{first}
	for at := 0; at < len(list); at++ {
		if path.Ext(list[at]) != ".sv" {
			continue
		}
		data, err := safefile.ReadRegularFile(p.path(list[at]), maxReport)
		if err != nil {
			return nil, err
		}
		for _, m := range mention.FindAllString(string(data), -1) {
			if name := there[m]; name != "" && !slices.Contains(list, name) {
				list = append(list, name)
			}
		}
	}
	slices.Sort(list[1:])
	return list, nil
}

// period returns the clock period in ns, rounded to picoseconds as scripts state it.
func (p *Project) period() float64 { return math.Round(1e6/p.ClockMHz) / 1e3 }
