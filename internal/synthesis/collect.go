package synthesis

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/safefile"
)

// PartFigures holds what one source, such as HLS or the board, states about a part of a design. Unknown figures are
// zero or nil.
type PartFigures struct {
	Resources *dataflow.Resources `json:"resources,omitempty"`
	Period    float64             `json:"period_ns,omitempty"`
	Latency   int                 `json:"latency_clocks,omitempty"`  // latency of the pipeline
	Interval  int                 `json:"interval_clocks,omitempty"` // interval from frame to frame
	Rate      float64             `json:"samples_per_second,omitempty"`
	Slacks    *Slacks             `json:"slacks,omitempty"`
}

// FiguresBySource holds the figures of a layer, or of another part of a design, by the source that states them. Sources
// without figures are nil.
type FiguresBySource struct {
	Name      string       `json:"name"`
	Kind      string       `json:"kind,omitempty"` // kind of a layer
	Estimate  *PartFigures `json:"estimate,omitempty"`
	HLS       *PartFigures `json:"hls,omitempty"`
	Vivado    *PartFigures `json:"vivado,omitempty"`     // of the part alone, from the Verilog of HLS
	RTL       *PartFigures `json:"vivado_rtl,omitempty"` // of the part alone, from the generated SystemVerilog
	Bitstream *PartFigures `json:"bitstream,omitempty"`  // of the part within the whole design, placed and routed
	Board     *PartFigures `json:"board,omitempty"`
}

// ProjectFigures holds all figures that are known of a build: a row per part, and what is missing.
type ProjectFigures struct {
	Model    string  `json:"model"`
	Board    string  `json:"board"`
	Part     string  `json:"part"`
	ClockMHz float64 `json:"clock_mhz"`
	// Parts are the layers, in the order of the network, and the processes at its ends. Then come "all layers",
	// "FIFOs", "host" and "total".
	Parts []FiguresBySource `json:"parts"`
	// Missing lists the modules without results of a tool for the present sources.
	Missing []string `json:"missing"`
	// Missed is the file of a bitstream that misses its clock, below the build's folder.
	Missed string `json:"missed_bitstream,omitempty"`
}

// Names of parts that are no layers.
const (
	allLayers = "all layers"
	fifos     = "FIFOs"
	host      = "host"
	total     = "total"
)

// measuredFile is the default name of the file with measurements on the board, below the folder of synthesis.
const measuredFile = "measured.json"

// ReadFigures returns what the tools' results state about the build. It ignores results of changed sources and
// reports unreadable files in d. measured is the driver's file of measurements; "" means the usual one, if it exists.
// ReadFigures returns nil if d has the reason.
func (p *Project) ReadFigures(measured string, d *diag.List) (*ProjectFigures, error) {
	t := &ProjectFigures{Model: p.Model, Board: p.Board, Part: p.Part, ClockMHz: p.ClockMHz, Missing: []string{}}
	at := map[string]int{}
	for _, l := range p.Layers {
		at[l.Name] = len(t.Parts)
		cost := p.Estimate[l.Name]
		t.Parts = append(t.Parts, FiguresBySource{Name: l.Name, Kind: l.Kind,
			Estimate: &PartFigures{Resources: &cost, Latency: l.Delay, Interval: l.Clocks}})
	}
	for _, name := range p.modules[VerilogSourceHLS] {
		if _, known := at[name]; !known { // an end of the network
			at[name] = len(t.Parts)
			t.Parts = append(t.Parts, FiguresBySource{Name: name})
		}
	}
	r := &reading{p, t, d}
	found := false
	for _, f := range p.Flows {
		for _, name := range p.modules[f] {
			any, err := r.collect(f, &t.Parts[at[name]])
			if err != nil {
				return nil, err
			}
			found = found || any
		}
	}
	layers := t.Parts
	t.Parts = append(t.Parts, sums(layers[:len(p.Layers)]))
	for _, name := range []string{fifos, host, total} {
		cost, ok := p.Estimate[name]
		part := FiguresBySource{Name: name}
		if ok {
			part.Estimate = &PartFigures{Resources: &cost}
		}
		t.Parts = append(t.Parts, part)
	}
	last := &t.Parts[len(t.Parts)-1]
	if last.Estimate == nil {
		last.Estimate = &PartFigures{}
	}
	last.Estimate.Period, last.Estimate.Rate = p.period(), p.FPS
	placed := r.placed()
	seen := r.measured(measured, last)
	if d.HasErrors() {
		return nil, nil
	}
	if !found && !placed && !seen {
		d.AddError(diag.FileUnreadable, filepath.Base(p.Dir), "no tool has a report of it as it is now",
			"have the tools make them: hlsgen synth")
		return nil, nil
	}
	return t, nil
}

// A reading is a ProjectFigures that is being filled.
type reading struct {
	*Project
	t *ProjectFigures
	d *diag.List
}

// collect enters in part what the tools left about one module of a flow. found is false if there is nothing. Unreadable
// reports become warnings, missing results go to Missing.
func (p *reading) collect(f VerilogSource, part *FiguresBySource) (found bool, err error) {
	name, t, d := part.Name, p.t, p.d
	whole := true
	told := func(path string, err error) {
		shown, rel := filepath.Rel(p.Dir, path)
		if rel != nil {
			shown = filepath.Base(path)
		}
		d.Add(diag.Diag{Severity: diag.SeverityWarning, Code: diag.FileUnreadable, Where: filepath.ToSlash(shown),
			Msg: err.Error(), Hint: "it is left out; remove its folder and run hlsgen synth"})
		whole = false
	}
	below := func(dir string) (*VendorReport, error) {
		r, err := ReadVendorReport(p.path(dir), p.ClockMHz, told)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		return r, err
	}
	if f == VerilogSourceHLS && p.synthesised(name) {
		r, err := below("hls/build.ip/" + name + "/project")
		if err != nil {
			return false, err
		}
		if r != nil && r.HLS != nil {
			part.HLS = &PartFigures{Resources: &r.HLS.Resources, Period: r.HLS.PeriodNS, Latency: r.depth(name)}
			if e := part.Estimate; e != nil { // each call of the module is one iteration
				part.HLS.Interval = r.Interval * e.Interval
			}
			found = true
		}
	}
	if task := (ToolTask{f, name, StageVivado}); p.current(task) {
		r, err := below(task.work())
		if err != nil {
			return false, err
		}
		if r != nil && r.Vivado != nil && whole {
			figures := &PartFigures{Resources: &r.Vivado.Resources, Period: r.Vivado.PeriodNS}
			if found = true; f == VerilogSourceHLS {
				part.Vivado = figures
			} else {
				part.RTL = figures
			}
		}
	}
	if f == VerilogSourceHLS && (part.HLS == nil || part.Vivado == nil) || f == VerilogSourceHlsgen && part.RTL == nil {
		t.Missing = append(t.Missing, string(f)+"/"+name)
	}
	return found, nil
}

// columns lists the sources whose figures can be added up over layers.
var columns = []struct {
	name string
	of   func(*FiguresBySource) **PartFigures
}{
	{"estimate", func(p *FiguresBySource) **PartFigures { return &p.Estimate }},
	{"HLS", func(p *FiguresBySource) **PartFigures { return &p.HLS }},
	{"Vivado", func(p *FiguresBySource) **PartFigures { return &p.Vivado }},
	{"Vivado, rtl", func(p *FiguresBySource) **PartFigures { return &p.RTL }},
	{"bitstream", func(p *FiguresBySource) **PartFigures { return &p.Bitstream }},
	{"board", func(p *FiguresBySource) **PartFigures { return &p.Board }},
}

// sums returns a part with the sums of all layers' resources, by source. A source that lacks figures of a layer has
// none.
func sums(layers []FiguresBySource) FiguresBySource {
	all := FiguresBySource{Name: allLayers}
	for _, c := range columns {
		sum, whole := dataflow.Resources{}, len(layers) > 0
		for i := range layers {
			f := *c.of(&layers[i])
			if whole = whole && f != nil && f.Resources != nil; whole {
				sum = sum.Plus(*f.Resources)
			}
		}
		if whole {
			*c.of(&all) = &PartFigures{Resources: &sum}
		}
	}
	return all
}

// placed reads the reports of the whole design, unless they were made from other sources. It returns false if there are
// none, or they cannot be read, which d then says.
func (p *reading) placed() bool {
	for _, f := range p.Flows {
		task := ToolTask{f, p.Top, StageBitstream}
		data, err := safefile.ReadRegularFile(p.path(task.work()+"/utilization.rpt"), maxReport)
		if err != nil || !p.current(task) && !missed(p.Project, task) {
			continue // the linker for a card writes other reports
		}
		rows, err := hierarchy(data)
		if err == nil && len(rows) == 0 {
			err = errors.New("a report of utilisation without a hierarchy")
		}
		var ns float64
		var slacks *Slacks
		if err == nil {
			var text []byte
			if text, err = safefile.ReadRegularFile(p.path(task.work()+"/timing.rpt"), maxReport); err == nil {
				ns, err = period(text, p.ClockMHz)
			}
			if err == nil {
				slacks, err = slacksOf(text)
			}
		}
		if err != nil {
			p.d.Add(diag.Diag{Severity: diag.SeverityWarning, Code: diag.FileUnreadable, Where: task.work(),
				Msg:  err.Error(),
				Hint: "it is left out; remove the folder and run hlsgen synth --until bitstream"})
			continue
		}
		if missed(p.Project, task) {
			p.t.Missed = "vivado/build/" + p.Top + "_missed.bit"
		}
		p.put(f, rows, ns, slacks)
		return true
	}
	return false
}

// put gives each part the resources that the report of the whole design states for its instance in flow f. rows are the
// report's, the whole design first. ns is the clock period that the design reaches, and slacks are its slacks.
func (p *reading) put(f VerilogSource, rows []instance, ns float64, slacks *Slacks) {
	t := p.t
	byName := map[string]dataflow.Resources{}
	for _, r := range rows {
		if _, twice := byName[r.name]; !twice {
			byName[r.name] = r.amounts
		}
	}
	prefix := "process_"
	if f == VerilogSourceHlsgen {
		prefix = "layer_"
	}
	n := len(t.Parts) - 4
	known := dataflow.Resources{}
	for i := range t.Parts[:n] {
		if r, ok := byName[prefix+t.Parts[i].Name]; ok {
			t.Parts[i].Bitstream = &PartFigures{Resources: &r}
			known = known.Plus(r)
		}
	}
	t.Parts[n].Bitstream = sums(t.Parts[:len(p.Layers)]).Bitstream
	whole := rows[0].amounts
	if own, ok := byName["accelerator"]; ok {
		between, around := own.Minus(known), whole.Minus(own)
		t.Parts[n+1].Bitstream, t.Parts[n+2].Bitstream = &PartFigures{Resources: &between},
			&PartFigures{Resources: &around}
	}
	t.Parts[n+3].Bitstream = &PartFigures{Resources: &whole, Period: ns, Slacks: slacks}
}

// measured gives total the rate that the driver measured on the board. It returns false if there is none of this build;
// d then says why, unless the usual file is missing.
func (p *reading) measured(name string, total *FiguresBySource) bool {
	if name == "" {
		name = p.path(folder + "/" + measuredFile)
		if _, err := os.Lstat(name); errors.Is(err, fs.ErrNotExist) {
			return false
		}
	}
	var said struct {
		Hash string  `json:"hash"`
		Rate float64 `json:"samples_per_second"`
	}
	var own struct {
		Hash string `json:"hash"`
	}
	data, err := safefile.ReadRegularFile(name, maxReport)
	if err == nil {
		err = safefile.SimplifyJSONError(json.Unmarshal(data, &said))
	}
	if err == nil && !(said.Rate > 0 && said.Rate < 1e15) {
		err = fmt.Errorf("it has %v samples per second", said.Rate)
	}
	if err != nil {
		p.d.AddError(diag.FileUnreadable, filepath.Base(name), err.Error(), "accelerator.py --save writes such a file")
		return false
	}
	if data, err = safefile.ReadRegularFile(p.path("deploy/host/host.json"), maxReport); err == nil {
		err = json.Unmarshal(data, &own)
	}
	if err != nil || own.Hash == "" || !strings.EqualFold(own.Hash, said.Hash) {
		p.d.Add(diag.Diag{Severity: diag.SeverityWarning, Code: diag.FileUnreadable, Where: filepath.Base(name),
			Msg:  "it was measured with another build, and is left out",
			Hint: "measure with this one's bitstream and deploy"})
		return false
	}
	total.Board = &PartFigures{Rate: math.Round(said.Rate*10) / 10}
	return true
}
