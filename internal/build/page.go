package build

import (
	"context"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"hlsgen/internal/audit"
	"hlsgen/internal/diag"
	"hlsgen/internal/picture"
	"hlsgen/internal/samples"
	"hlsgen/templates"
	pages "hlsgen/templates/report"
)

// page returns the data of the build's page: those of its reports, the picture of the network, and the beginnings of
// the layers' files.
func (r *Result) page(ctx context.Context, files templates.ProjectFiles, runs *samples.RunInputs,
	d *diag.List) (*pages.Page, error) {
	p, err := r.Page(ctx, d)
	if err != nil {
		return nil, err
	}
	run := r.CycleSimulationReport()
	network, err := picture.OfReports(r.Source.Name, r.LayerReports(), &run)
	if err != nil {
		return nil, err
	}
	p.Network = network.ForPage()
	top, err := templates.IPInterfaceOf(r.Design.Design, templates.Options{})
	if err != nil {
		return nil, err
	}
	addSources(p, files, top.Top)
	if r.RealSamples {
		p.Sums, err = sumsOf(ctx, r, runs)
	}
	return p, err
}

// sumsOf returns the sums that samples produce in the layers, beside all that can occur.
func sumsOf(ctx context.Context, r *Result, runs *samples.RunInputs) (rows []pages.SumsRow, err error) {
	list, err := audit.ObserveSums(ctx, r.Imported, runs)
	for _, l := range list {
		rows = append(rows, pages.SumsRow{Layer: l.Layer, Min: l.Min, Max: l.Max, Bits: l.Bits, SeenMin: l.Seen.Min,
			SeenMax: l.Seen.Max, SeenBits: l.Seen.Bits, Samples: l.Seen.Samples})
	}
	return rows, err
}

// The most bytes that a page has of one source file, and of all together.
const (
	mostSource     = 6 << 10
	mostAllSources = 400 << 10
)

// sourceKinds are the extensions of files that compute a layer.
var sourceKinds = []string{".cpp", ".sv"}

// addSources adds the files of layers to a page, with as much text as it has room for. They lie in folders of layers
// and are named like these, in SystemVerilog behind the name of the top.
func addSources(p *pages.Page, files templates.ProjectFiles, top string) {
	byName := map[string][]templates.GeneratedFile{}
	for _, f := range files {
		if ext := path.Ext(f.Path); slices.Contains(sourceKinds, ext) && path.Base(path.Dir(f.Path)) == "layers" {
			name := strings.TrimPrefix(strings.TrimSuffix(path.Base(f.Path), ext), top+"_")
			byName[name] = append(byName[name], f)
		}
	}
	left := mostAllSources
	for i := range p.Layers {
		l := &p.Layers[i]
		for _, f := range byName[l.Name] {
			text := f.Data[:min(len(f.Data), mostSource, left)]
			for len(text) > 0 && !utf8.Valid(text) {
				text = text[:len(text)-1]
			}
			left -= len(text)
			l.Sources = append(l.Sources,
				pages.LayerSource{File: f.Path, Text: string(text), More: len(f.Data) - len(text)})
		}
	}
}
