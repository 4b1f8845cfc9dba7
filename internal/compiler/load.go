package compiler

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"hlsgen/boards"
	"hlsgen/folding"
	"hlsgen/hlslib/price/delay"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/num"
	"hlsgen/templates"
	"hlsgen/templates/deploy"
	"hlsgen/templates/rtl"
)

// WeightSource says how the hardware gets its weights. The zero value means WeightsConstant.
type WeightSource string

// The values of WeightSource.
const (
	WeightsConstant WeightSource = "constant" // constants of the circuit
	WeightsRuntime  WeightSource = "runtime"  // loaded through registers before the first frame
	WeightsStream   WeightSource = "stream"   // loaded from memory by a mover before the first frame
	// WeightsExternal has layers read their weights from memory with every frame; a mover loads the weights of all
	// other layers before the first frame. "external=" and the names of layers, separated by commas, selects the
	// layers.
	WeightsExternal WeightSource = "external"
)

// WeightSources lists the values of WeightSource.
var WeightSources = []string{string(WeightsConstant), string(WeightsRuntime), string(WeightsStream),
	string(WeightsExternal)}

// Loaded reports whether weights are loaded, so that they are not constants of the circuit.
func (w WeightSource) Loaded() bool { return w != "" && w != WeightsConstant }

// checkLoadable adds an error to d for each option that excludes loaded weights.
func checkLoadable(o Hardware, m Source, d *diag.List) {
	if !o.Weights.Loaded() {
		return
	}
	if o.Weights.external() && o.Formula == dataflow.FINNFormula {
		d.Fail(diag.WeightsUnfit, "", "--weights external does not go with --cost finn, whose formulas have weights "+
			"lie on the device", "leave one of the two out")
	}
	if o.Backend != BackendRTL {
		d.Fail(diag.WeightsUnfit, "", fmt.Sprintf("--weights %s: in the C++ for Vitis HLS weights are constants, "+
			"of which "+
			"its schedule and its memories follow", o.Weights), "use --backend rtl")
	}
	for _, f := range []struct {
		given bool
		flag  string
	}{{m.Lengths != nil, "--dim with a range of lengths"}, {m.Stateful, "--stateful"}, {m.Interleave > 1,
		"--interleave"},
		{o.IO != dataflow.FromMemory, "--io stream"}} {
		if f.given {
			d.Fail(diag.WeightsUnfit, "", fmt.Sprintf("--weights %s does not go with %s: there is no driver that "+
				"would "+
				"load them", o.Weights, f.flag), "leave one of the two out")
		}
	}
}

// loading makes the weights of a model's layers loadable. rooms gives the types that the hardware reserves for them. It
// returns rooms, or nil after adding an error to d.
func loading(m *dataflow.Model, rooms []*dataflow.WeightRoom, d *diag.List) []*dataflow.WeightRoom {
	for i, n := range m.Graph.Nodes {
		if c, ok := n.Op.(dataflow.Counting); ok && rooms[i] == nil && hasWeights(c) {
			d.Fail(diag.WeightsUnfit, whereOf(n), fmt.Sprintf("weights of a %s are constants of its circuit",
				n.Op.Kind()),
				"--weights runtime, stream and external are for networks whose weights are those of matrix layers and "+
					"convolutions; leave it out")
		}
	}
	if d.Failed() {
		return nil
	}
	g, err := m.Graph.WithLoadedTables(rooms)
	room := new(dataflow.RoomError)
	switch {
	case errors.As(err, &room):
		d.Fail(diag.WeightsUnfit, whereOf(room.Node), room.Err.Error(), "train with the types that the hardware "+
			"was built "+
			"for, or build again")
		return nil
	case err != nil:
		panic(err) // the model without loading was verified before
	}
	m.Graph = g
	return rooms
}

// hasWeights reports whether a layer has weights.
func hasWeights(c dataflow.Counting) bool {
	for name := range c.Counts() {
		if strings.HasPrefix(name, "param_weight_") {
			return true
		}
	}
	return false
}

// whereOf names a layer and up to three of the model's nodes that it computes.
func whereOf(n *dataflow.Node) string {
	if len(n.Origin) == 0 {
		return n.Name
	}
	return fmt.Sprintf("%s (%s)", n.Name, strings.Join(n.Origin[:min(3, len(n.Origin))], ", "))
}

// A LoadPlan is the content of weights.json. It describes hardware with loaded weights for `hlsgen weights`.
type LoadPlan struct {
	ReportHead
	Schema  string                  `json:"schema"` // "hlsgen-weights"
	Design  string                  `json:"design"` // the hash of host.json
	Top     string                  `json:"top"`
	Board   boards.Board            `json:"board"`
	Clock   float64                 `json:"clock_mhz"`
	Cost    string                  `json:"cost"`
	Unroll  dataflow.UnrollLimits   `json:"max_unroll"`
	Delays  *delay.DelayCalibration `json:"calibration,omitempty"` // of a build with --calibration
	Count   bool                    `json:"counters"`
	Loader  bool                    `json:"loader"`  // a mover fills the tables
	Options map[string]string       `json:"options"` // options about the model's inputs, by flag
	Layers  []PlannedLayer          `json:"layers"`
	FIFOs   []PlannedFIFO           `json:"fifos"`  // by stream
	Words   int                     `json:"words"`  // total size of all tables, in words of 32 bits
	Tables  []PlannedTable          `json:"tables"` // in loading order
}

// A PlannedLayer describes a layer of the network and, if its weights are loaded, the types that they must fit.
type PlannedLayer struct {
	Name   string      `json:"name"`
	Kind   string      `json:"kind"`
	In     []PlannedIn `json:"in"`
	Out    []PlannedIn `json:"out"`
	Weight string      `json:"weight,omitempty"` // type of the weights
	Least  int64       `json:"least,omitempty"`  // smallest weight
	Most   int64       `json:"most,omitempty"`
	Values []int64     `json:"values,omitempty"` // weights by code, if the tables hold codes
	// type of the codes that thresholds give; empty if the layer gives its sums
	Codes string `json:"codes,omitempty"`
	// weights are read from memory with every frame
	External bool `json:"external,omitempty"`
}

// A PlannedIn gives the shape and the element type of a stream.
type PlannedIn struct {
	Shape []int  `json:"shape"`
	Type  string `json:"type"`
}

// A PlannedFIFO gives the depth of a FIFO in words, and its memory.
type PlannedFIFO struct {
	Depth  int             `json:"depth"`
	Memory dataflow.Memory `json:"memory"` // as a number
}

// A PlannedTable describes a table that is loaded.
type PlannedTable struct {
	Layer string `json:"layer"`
	Name  string `json:"name"`
	Words int    `json:"words"`
}

// layersOf describes the layers of a graph. rooms gives the types of loaded weights; nil entries are constants.
func layersOf(g *dataflow.Graph, rooms []*dataflow.WeightRoom) (list []PlannedLayer) {
	carried := func(streams []int) []PlannedIn {
		var in []PlannedIn
		for _, s := range streams {
			t := g.Streams[s].Type
			in = append(in, PlannedIn{t.Shape, t.Elem.String()})
		}
		return in
	}
	for i, n := range g.Nodes {
		l := PlannedLayer{Name: n.Name, Kind: n.Op.Kind(), In: carried(n.In), Out: carried(n.Out)}
		if r := rooms[i]; r != nil {
			l.Weight, l.Least, l.Most = r.Weight.String(), r.Values.Lo, r.Values.Hi
			l.External = r.External
			if r.Coding != nil {
				l.Values = r.Coding.Values
			}
			if r.Out != (num.Type{}) {
				l.Codes = r.Out.String()
			}
		}
		list = append(list, l)
	}
	return list
}

// room returns the types for weights that the hardware reserves in a layer, or nil if its weights are not loaded.
func (l PlannedLayer) room() (*dataflow.WeightRoom, error) {
	if l.Weight == "" {
		return nil, nil
	}
	r := &dataflow.WeightRoom{Values: num.Range{Lo: l.Least, Hi: l.Most}, External: l.External}
	var err error
	if r.Weight, err = num.ParseType(l.Weight); err == nil && l.Codes != "" {
		r.Out, err = num.ParseType(l.Codes)
	}
	if err != nil || len(l.Values) == 0 {
		return r, err
	}
	for _, v := range l.Values {
		if !r.Weight.Holds(v) {
			return nil, fmt.Errorf("%s has no weight %d", l.Weight, v)
		}
	}
	if r.Coding = num.CodingOf(r.Weight, l.Values); r.Coding == nil || !slices.Equal(r.Coding.Values, l.Values) {
		return nil, fmt.Errorf("%v are no weights by code", l.Values)
	}
	return r, nil
}

// planOf returns the plan of a design and its circuits n.
func planOf(r *BuildResult, o Options, n *rtl.Network) (*LoadPlan, error) {
	t := r.Design.Target
	hash, err := deploy.HashOf(r.Design.Design, templates.Options{})
	if err != nil {
		return nil, err
	}
	p := &LoadPlan{ReportHead: CurrentHead, Schema: "hlsgen-weights", Design: hash, Top: n.Top, Board: t.Board,
		Clock: t.ClockMHz, Cost: t.Formula.String(), Unroll: t.Unroll, Delays: t.Calibration,
		Count: t.Counters, Loader: t.Loader, Options: o.ofModel(),
		Layers: layersOf(r.Imported.Model.Graph, r.rooms)}
	for _, f := range r.Design.FIFO {
		p.FIFOs = append(p.FIFOs, PlannedFIFO{f.Depth, f.Memory})
	}
	for _, table := range n.Tables() {
		p.Tables = append(p.Tables, PlannedTable{table.Layer, table.Name, table.Size()})
		p.Words += table.Size()
	}
	return p, nil
}

// ofModel returns ModelFlags as a map from the flag to its values, joined by commas.
func (o Source) ofModel() map[string]string {
	out := map[string]string{}
	for _, f := range o.ModelFlags() {
		if len(f.Texts) > 0 {
			out[f.Name] = strings.Join(f.Texts, ",")
		}
	}
	return out
}

// wordsOf returns the contents of all tables of a network, in loading order.
func wordsOf(n *rtl.Network) (all []uint32) {
	for _, t := range n.Tables() {
		all = append(all, t.Words()...)
	}
	return all
}

// loadFiles returns the files that a build with loaded weights adds: the driver, the model's weights and the plan.
func loadFiles(r *BuildResult, o Options) (templates.Files, error) {
	n, err := rtl.New(r.Design.Design, templates.Options{})
	if err != nil {
		return nil, err
	}
	files, err := deploy.FilesWithWeights(r.Design.Design, templates.Options{}, deploy.WeightLoad{Words: wordsOf(n),
		External: imagesOf(r.Design.Design)})
	if err != nil {
		return nil, err
	}
	plan, err := planOf(r, o, n)
	if err != nil {
		return nil, err
	}
	text, err := json.MarshalIndent(plan, "", "  ")
	return append(files, templates.GeneratedFile{Path: planName, Data: append(text, '\n')}), err
}

// planName is the name of the plan in the folder of a build.
const planName = "weights.json"

// target returns the target that the hardware was built for.
func (p *LoadPlan) target() dataflow.Target {
	t := dataflow.Target{Board: p.Board, ClockMHz: p.Clock, Unroll: p.Unroll, Counters: p.Count,
		Loader: p.Loader, Stalls: dataflow.StallByCredit, Calibration: p.Delays}
	if p.Cost == dataflow.FINNFormula.String() {
		t.Formula = dataflow.FINNFormula
	}
	return t
}

// rooms returns the types for weights that the hardware reserves in each layer of g. It returns nil and adds an error
// to d if the layers of g differ from those of the hardware.
func (p *LoadPlan) rooms(g *dataflow.Graph, d *diag.List) (rooms []*dataflow.WeightRoom) {
	for i, n := range g.Nodes {
		if i >= len(p.Layers) || p.Layers[i].Kind != n.Op.Kind() {
			want := "none"
			if i < len(p.Layers) {
				want = p.Layers[i].Name
			}
			d.Fail(diag.WeightsUnfit, whereOf(n), fmt.Sprintf("layer %d of this model is %s, that of the hardware "+
				"%s", i,
				n.Name, want), "weights are for a network of the same layers; build this model for itself")
			return nil
		}
		l := p.Layers[i]
		if got := shapesOf(g, n); got != l.shapes() {
			d.Fail(diag.WeightsUnfit, whereOf(n), fmt.Sprintf("it makes %s, that of the hardware %s", got, l.shapes()),
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
		d.Fail(diag.WeightsUnfit, "", fmt.Sprintf("this model has %d layers, the hardware %d: %s is missing",
			len(g.Nodes),
			len(p.Layers), p.Layers[len(g.Nodes)].Name), "weights are for a network of the same layers")
		return nil
	}
	return rooms
}

// shapes describes the output and input shapes of a layer.
func (l PlannedLayer) shapes() string {
	list := func(in []PlannedIn) string {
		var texts []string
		for _, s := range in {
			texts = append(texts, fmt.Sprint(s.Shape))
		}
		return strings.Join(texts, ", ")
	}
	return fmt.Sprintf("%s of %s", list(l.Out), list(l.In))
}

func shapesOf(g *dataflow.Graph, n *dataflow.Node) string {
	one := &dataflow.Graph{Nodes: []*dataflow.Node{n}, Streams: g.Streams}
	return layersOf(one, make([]*dataflow.WeightRoom, 1))[0].shapes()
}

// same adds an error to d if a stream of g has another type than in the hardware. Only weights and thresholds may
// change.
func (p *LoadPlan) same(g *dataflow.Graph, rooms []*dataflow.WeightRoom, d *diag.List) {
	for i, l := range layersOf(g, rooms) {
		for _, side := range []struct {
			what      string
			got, want []PlannedIn
		}{{"takes", l.In, p.Layers[i].In}, {"gives", l.Out, p.Layers[i].Out}} {
			for k := range side.got {
				if side.got[k].Type != side.want[k].Type {
					d.Fail(diag.WeightsUnfit, whereOf(g.Nodes[i]), fmt.Sprintf("it %s %s, that of the hardware %s",
						side.what,
						side.got[k].Type, side.want[k].Type), "quantise with as many bits as the hardware was "+
						"built for")
					return
				}
			}
		}
	}
}

// join gives a design the FIFOs of the hardware. It adds an error to d if their numbers differ.
func (p *LoadPlan) join(design *folding.Design, d *diag.List) {
	if len(design.FIFO) != len(p.FIFOs) {
		d.Fail(diag.WeightsUnfit, "", fmt.Sprintf("this model takes %d FIFOs, the hardware has %d", len(design.FIFO),
			len(p.FIFOs)), "weights are for a network of the same layers")
		return
	}
	for s, f := range p.FIFOs {
		design.FIFO[s].Depth, design.FIFO[s].Memory = f.Depth, f.Memory
	}
}

// unlike adds an error to d if the circuits of a model differ from the built circuits, apart from loaded tables. built
// reads a file of the build.
func (p *LoadPlan) unlike(n *rtl.Network, design *folding.Design, built func(path string) ([]byte, error),
	d *diag.List) {
	loaded := map[string]bool{}
	for _, t := range n.Tables() {
		loaded[t.Path(n.Top)] = true
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
			d.Fail(diag.WeightsUnfit, where, fmt.Sprintf("%s is not in the hardware: %s is missing", what, f.Path),
				"give the folder that the bitstream was made of; where this model is another network, build it")
			return
		}
		d.Fail(diag.WeightsUnfit, where, what+" is another one for this model",
			"what is loaded is weights and thresholds of matrix layers and convolutions; build this model for itself")
		return
	}
}

// plainText returns the lines of a text without comments, because comments name nodes of the model.
func plainText(text []byte) (lines []string) {
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(strings.TrimSpace(line), "//") {
			lines = append(lines, line)
		}
	}
	return lines
}
