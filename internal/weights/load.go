package weights

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"hlsgen/folding"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/options"
	"hlsgen/templates"
	"hlsgen/templates/deploy"
	"hlsgen/templates/rtl"
)

// MakeWeightsLoadable makes the weights of a model's layers loadable, and replaces m.Graph. rooms holds the types that
// the hardware reserves for them, by layer; nil entries are constants. It returns rooms, or nil after adding an error
// to d, or if d already has one.
func MakeWeightsLoadable(m *dataflow.Model, rooms []*dataflow.LoadableWeightLimits,
	d *diag.List) []*dataflow.LoadableWeightLimits {
	for i, n := range m.Graph.Nodes {
		if rooms[i] == nil && hasWeights(n.Op) {
			d.AddError(diag.WeightsNotLoadable, whereOf(n), fmt.Sprintf("weights of a %s are constants of its circuit",
				n.Op.Kind()),
				"--weights runtime, stream and external are for networks whose weights are those of matrix layers and "+
					"convolutions; leave it out")
		}
	}
	if d.HasErrors() {
		return nil
	}
	g, err := m.Graph.WithRunTimeLoadedTables(rooms)
	room := new(dataflow.LoadableWeightsError)
	switch {
	case errors.As(err, &room):
		d.AddError(diag.WeightsNotLoadable, whereOf(room.Node), room.Err.Error(),
			"train with the types that the hardware "+
				"was built "+
				"for, or build again")
		return nil
	case err != nil:
		panic(err) // the model without loading was verified before
	}
	m.Graph = g
	return rooms
}

// hasWeights reports whether the layer has weights.
func hasWeights(op dataflow.Op) bool {
	counts := op.Describe().Counts
	if counts == nil {
		return false
	}
	for name := range counts() {
		if strings.HasPrefix(name, "param_weight_") {
			return true
		}
	}
	return false
}

// whereOf returns the layer's name for messages, with up to three of the model's nodes that it computes.
func whereOf(n *dataflow.Node) string {
	if len(n.Origin) == 0 {
		return n.Name
	}
	return fmt.Sprintf("%s (%s)", n.Name, strings.Join(n.Origin[:min(3, len(n.Origin))], ", "))
}

// wordsOf returns the contents of all loaded tables of a network, in loading order, as words of 32 bits.
func wordsOf(n *rtl.Network) (all []uint32) {
	for _, t := range n.LoadedTables() {
		all = append(all, t.WordsToLoad()...)
	}
	return all
}

// GenerateWeightLoadingFiles returns the files that a build with loaded weights has in addition: the driver, the
// model's weights and weights.json. rooms holds the types of loaded weights, by layer of g; nil entries are constants.
// system describes what is around the accelerator; it may be nil.
func GenerateWeightLoadingFiles(design *folding.Design, g *dataflow.Graph, rooms []*dataflow.LoadableWeightLimits,
	o options.Source, system *deploy.HostSystem) (templates.ProjectFiles, error) {
	n, err := rtl.New(design.Design, templates.Options{})
	if err != nil {
		return nil, err
	}
	files, err := deploy.GenerateFilesWithWeights(design.Design, templates.Options{}, system,
		deploy.WeightsToLoad{Words: wordsOf(n), External: imagesOf(design.Design)})
	if err != nil {
		return nil, err
	}
	plan, err := planOf(design, g, rooms, o, n)
	if err != nil {
		return nil, err
	}
	text, err := json.MarshalIndent(plan, "", "  ")
	return append(files, templates.GeneratedFile{Path: planName, Data: append(text, '\n')}), err
}

// target returns the target for which the hardware was built.
func (p *HardwareWithLoadedWeights) target() dataflow.Target {
	t := dataflow.Target{Board: p.Board, ClockMHz: p.Clock, Unroll: p.Unroll, Counters: p.Count,
		Loader: p.Loader, Backend: dataflow.BackendRTL, Calibration: p.Delays}
	if p.Cost == dataflow.FINNCostFormula.String() {
		t.Formula = dataflow.FINNCostFormula
	}
	return t
}

// rooms returns the types that the hardware reserves for the weights of each layer of g; nil entries are constants. It
// returns nil after adding an error to d if the layers of g differ from those of the hardware.
func (p *HardwareWithLoadedWeights) rooms(g *dataflow.Graph, d *diag.List) (rooms []*dataflow.LoadableWeightLimits) {
	for i, n := range g.Nodes {
		if i >= len(p.Layers) || p.Layers[i].Kind != n.Op.Kind() {
			want := "none"
			if i < len(p.Layers) {
				want = p.Layers[i].Name
			}
			d.AddError(diag.WeightsNotLoadable, whereOf(n),
				fmt.Sprintf("layer %d of this model is %s, that of the hardware "+
					"%s", i,
					n.Name, want), "weights are for a network of the same layers; build this model for itself")
			return nil
		}
		l := p.Layers[i]
		if got := shapesOf(g, n); got != l.shapes() {
			d.AddError(diag.WeightsNotLoadable, whereOf(n), fmt.Sprintf("it makes %s, that of the hardware %s", got,
				l.shapes()),
				"weights are for a network of the same shapes; build this model for itself")
			return nil
		}
		r, err := l.room()
		if err != nil {
			panic(err) // the plan was checked when it was read
		}
		rooms = append(rooms, r)
	}
	if len(g.Nodes) < len(p.Layers) {
		d.AddError(diag.WeightsNotLoadable, "", fmt.Sprintf("this model has %d layers, the hardware %d: %s is missing",
			len(g.Nodes),
			len(p.Layers), p.Layers[len(g.Nodes)].Name), "weights are for a network of the same layers")
		return nil
	}
	return rooms
}

// same adds an error to d if a stream of g has another element type than in the hardware. rooms has the types of loaded
// weights.
func (p *HardwareWithLoadedWeights) same(g *dataflow.Graph, rooms []*dataflow.LoadableWeightLimits, d *diag.List) {
	for i, l := range layersOf(g, rooms) {
		for _, side := range []struct {
			what      string
			got, want []BuiltStream
		}{{"takes", l.In, p.Layers[i].In}, {"gives", l.Out, p.Layers[i].Out}} {
			for k := range side.got {
				if side.got[k].Type != side.want[k].Type {
					d.AddError(diag.WeightsNotLoadable, whereOf(g.Nodes[i]),
						fmt.Sprintf("it %s %s, that of the hardware %s",
							side.what,
							side.got[k].Type, side.want[k].Type), "quantise with as many bits as the hardware was "+
							"built for")
					return
				}
			}
		}
	}
}

// join sets the depths and memories of the design's FIFOs to those of the hardware. It adds an error to d if their
// number differs.
func (p *HardwareWithLoadedWeights) join(design *folding.Design, d *diag.List) {
	if len(design.FIFO) != len(p.FIFOs) {
		d.AddError(diag.WeightsNotLoadable, "", fmt.Sprintf("this model takes %d FIFOs, the hardware has %d",
			len(design.FIFO),
			len(p.FIFOs)), "weights are for a network of the same layers")
		return
	}
	for s, f := range p.FIFOs {
		design.FIFO[s].Depth, design.FIFO[s].Memory = f.Depth, f.Memory
	}
}

// unlike adds an error to d if the circuits n of the design differ from those of the build. Contents of loaded tables
// may differ. built returns the contents of a file of the build.
func (p *HardwareWithLoadedWeights) unlike(n *rtl.Network, design *folding.Design, built func(path string) ([]byte,
	error),
	d *diag.List) {
	loaded := map[string]bool{}
	for _, t := range n.LoadedTables() {
		loaded[t.InitialContentsPath(n.Top)] = true
	}
	for _, f := range n.Files {
		if loaded[f.Path] {
			continue
		}
		was, err := built(f.Path)
		if err == nil && slices.Equal(plainText(f.Data), plainText(was)) {
			continue
		}
		where, what := "", "the network"
		for _, node := range design.Model.Graph.Nodes {
			if strings.Contains(f.Path, "/"+p.Top+"_"+node.Name+"_") || strings.Contains(f.Path,
				"/"+p.Top+"_"+node.Name+".") {
				where, what = whereOf(node), "its circuit"
			}
		}
		if table, ok := strings.CutSuffix(f.Path[strings.LastIndex(f.Path, "/")+1:], ".mem"); ok {
			what = "its table " + table[strings.LastIndex(table, "_")+1:] + ", a constant of the hardware,"
		}
		if err != nil {
			d.AddError(diag.WeightsNotLoadable, where, fmt.Sprintf("%s is not in the hardware: %s is missing", what,
				f.Path),
				"give the folder that the bitstream was made of; where this model is another network, build it")
			return
		}
		d.AddError(diag.WeightsNotLoadable, where, what+" is another one for this model",
			"what is loaded is weights and thresholds of matrix layers and convolutions; build this model for itself")
		return
	}
}

// plainText returns the lines of a text without comment lines, which name nodes of the model.
func plainText(text []byte) (lines []string) {
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(strings.TrimSpace(line), "//") {
			lines = append(lines, line)
		}
	}
	return lines
}
