package weights

import (
	"fmt"
	"slices"
	"strings"

	"hlsgen/boards"
	"hlsgen/folding"
	"hlsgen/hlslib/price/delay"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
	"hlsgen/internal/options"
	"hlsgen/internal/report"
	"hlsgen/templates"
	"hlsgen/templates/deploy"
	"hlsgen/templates/rtl"
)

// A HardwareWithLoadedWeights is the content of weights.json. It describes hardware with loaded weights for `hlsgen
// weights`.
type HardwareWithLoadedWeights struct {
	report.ReportHead
	Schema  string                  `json:"schema"` // "hlsgen-weights"
	Design  string                  `json:"design"` // the hash of host.json
	Top     string                  `json:"top"`
	Board   boards.Board            `json:"board"`
	Clock   float64                 `json:"clock_mhz"`
	Cost    string                  `json:"cost"`
	Unroll  dataflow.UnrollLimits   `json:"max_unroll"`
	Delays  *delay.DelayCalibration `json:"calibration,omitempty"` // of a build with --latencies
	Count   bool                    `json:"counters"`
	Loader  bool                    `json:"loader"`  // a mover fills the tables
	Options map[string]string       `json:"options"` // options about the model's inputs, by flag
	Layers  []BuiltLayer            `json:"layers"`
	FIFOs   []BuiltFIFO             `json:"fifos"`  // by stream
	Words   int                     `json:"words"`  // total size of all tables, in words of 32 bits
	Tables  []LoadedTableSize       `json:"tables"` // in loading order
}

// A BuiltLayer describes a layer of the network and, if its weights are loaded, the types that they must fit.
type BuiltLayer struct {
	Name   string        `json:"name"`
	Kind   string        `json:"kind"`
	In     []BuiltStream `json:"in"`
	Out    []BuiltStream `json:"out"`
	Weight string        `json:"weight,omitempty"` // type of the weights
	Least  int64         `json:"least,omitempty"`  // smallest weight
	Most   int64         `json:"most,omitempty"`
	Values []int64       `json:"values,omitempty"` // weights by code, if the tables hold codes
	// type of the codes that thresholds give; empty if the layer gives its sums
	Codes string `json:"codes,omitempty"`
	// weights are read from memory with every frame
	External bool `json:"external,omitempty"`
}

// A BuiltStream gives the shape and the element type of a stream.
type BuiltStream struct {
	Shape []int  `json:"shape"`
	Type  string `json:"type"`
}

// A BuiltFIFO gives the depth of a FIFO in words, and its memory.
type BuiltFIFO struct {
	Depth  int             `json:"depth"`
	Memory dataflow.Memory `json:"memory"` // as a number
}

// A LoadedTableSize describes a table that is loaded.
type LoadedTableSize struct {
	Layer string `json:"layer"`
	Name  string `json:"name"`
	Words int    `json:"words"`
}

// layersOf returns a description of each layer of a graph. rooms holds the types of loaded weights, by layer; nil
// entries are constants.
func layersOf(g *dataflow.Graph, rooms []*dataflow.LoadableWeightLimits) (list []BuiltLayer) {
	carried := func(streams []int) []BuiltStream {
		var in []BuiltStream
		for _, s := range streams {
			t := g.Streams[s].Type
			in = append(in, BuiltStream{t.Shape, t.Elem.String()})
		}
		return in
	}
	for i, n := range g.Nodes {
		l := BuiltLayer{Name: n.Name, Kind: n.Op.Kind(), In: carried(n.In), Out: carried(n.Out)}
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

// room returns the types that the hardware reserves for the layer's weights, or nil if its weights are not loaded. The
// error says what is wrong with the plan.
func (l BuiltLayer) room() (*dataflow.LoadableWeightLimits, error) {
	if l.Weight == "" {
		return nil, nil
	}
	r := &dataflow.LoadableWeightLimits{Values: num.Range{Lo: l.Least, Hi: l.Most}, External: l.External}
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

// planOf returns the plan of a design with the circuits n. rooms holds the types of loaded weights, by layer of g.
func planOf(design *folding.Design, g *dataflow.Graph, rooms []*dataflow.LoadableWeightLimits, o options.Source,
	n *rtl.Network) (*HardwareWithLoadedWeights, error) {
	t := design.Target
	hash, err := deploy.DesignHashOf(design.Design, templates.Options{})
	if err != nil {
		return nil, err
	}
	p := &HardwareWithLoadedWeights{ReportHead: report.CurrentReportHead, Schema: "hlsgen-weights", Design: hash,
		Top:   n.Top,
		Board: t.Board,
		Clock: t.ClockMHz, Cost: t.Formula.String(), Unroll: t.Unroll, Delays: t.Calibration,
		Count: t.Counters, Loader: t.Loader, Options: o.ModelFlagMap(),
		Layers: layersOf(g, rooms)}
	for _, f := range design.FIFO {
		p.FIFOs = append(p.FIFOs, BuiltFIFO{f.Depth, f.Memory})
	}
	for _, table := range n.LoadedTables() {
		p.Tables = append(p.Tables, LoadedTableSize{table.Layer, table.Name, table.WordsToLoadCount()})
		p.Words += table.WordsToLoadCount()
	}
	return p, nil
}

// planName is the path of the plan in the folder of a build.
const planName = "weights.json"

// shapes returns text about the layer's output and input shapes: "[10] of [64]".
func (l BuiltLayer) shapes() string {
	list := func(in []BuiltStream) string {
		var texts []string
		for _, s := range in {
			texts = append(texts, fmt.Sprint(s.Shape))
		}
		return strings.Join(texts, ", ")
	}
	return fmt.Sprintf("%s of %s", list(l.Out), list(l.In))
}

// shapesOf returns the same text as BuiltLayer.shapes, for a node of a graph.
func shapesOf(g *dataflow.Graph, n *dataflow.Node) string {
	one := &dataflow.Graph{Nodes: []*dataflow.Node{n}, Streams: g.Streams}
	return layersOf(one, make([]*dataflow.LoadableWeightLimits, 1))[0].shapes()
}
