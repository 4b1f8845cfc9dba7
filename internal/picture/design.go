package picture

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"hlsgen/internal/chart"
	"hlsgen/internal/report"
	"hlsgen/internal/safefile"
)

// The classes of a design's nodes.
const (
	slowest = iota
	accumulating
	otherLayer
	added
)

// layerClasses names the classes of a design.
var layerClasses = []chart.NetworkClass{slowest: {Name: "as slow as the design"},
	accumulating: {Name: "with accumulators"},
	otherLayer:   {Name: "without accumulators"}, added: {Name: "of no ONNX node", Quiet: true}}

// mostBytes is the largest size of a report that is read.
const mostBytes = 256 << 20

// ErrNotBuilt says that a folder holds no reports of a build by this version.
var ErrNotBuilt = errors.New("it holds no reports of a build")

// OfDesign returns the network of a built folder: a node for every layer, with its fold, clocks and cost, and a stream
// for every FIFO, with the width and number of its words. It returns ErrNotBuilt for any other folder.
func OfDesign(dir string) (*Drawing, error) {
	var layers []report.LayerReport
	var run report.CycleSimulationReport
	for _, file := range []struct {
		name string
		to   any
	}{{"layers.json", &layers}, {"cycle_simulation.json", &run}} {
		text, err := safefile.ReadRegularFile(filepath.Join(dir, "report", file.name), mostBytes)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrNotBuilt, err)
		}
		if err := json.Unmarshal(text, file.to); err != nil {
			return nil, fmt.Errorf("%w: report/%s: %w", ErrNotBuilt, file.name, err)
		}
	}
	return OfReports(filepath.Base(dir), layers, &run)
}

// OfReports returns the network of a design of which the two reports are. The nodes are the layers, in order, and then
// the ports; the streams are the FIFOs, in order. It returns ErrNotBuilt for reports that do not fit each other.
func OfReports(name string, layers []report.LayerReport, run *report.CycleSimulationReport) (*Drawing, error) {
	n := &Drawing{Name: name, Classes: layerClasses,
		Note: "at a stream: bits of a word, words that its FIFO held at most, of its depth"}
	at := map[string]int{}
	slow := map[string]bool{}
	for _, name := range run.Bottleneck.Layers {
		slow[name] = true
	}
	for _, l := range layers {
		at[l.Name] = len(n.Nodes)
		n.Nodes = append(n.Nodes, layerNode(l, slow[l.Name]))
	}
	shapes := shapesOf(layers)
	for _, f := range run.FIFOs {
		s := Wire{Tensor: f.Tensor, Label: fmt.Sprintf("%d bits, %d of %d", f.Width, f.Used, f.Depth)}
		if shape, ok := shapes[f.Tensor]; ok {
			s.Shape, s.Type = shape.Shape, shape.Type
		}
		var ok bool
		if s.From, ok = at[f.From]; !ok {
			if f.From != "input" {
				return nil, fmt.Errorf("%w: report/cycle_simulation.json has a stream from %q", ErrNotBuilt, f.From)
			}
			s.From = n.port("input", f.Tensor)
		}
		if s.To, ok = at[f.To]; !ok {
			if f.To != "output" {
				return nil, fmt.Errorf("%w: report/cycle_simulation.json has a stream to %q", ErrNotBuilt, f.To)
			}
			s.To = n.port("output", f.Tensor)
		}
		n.Streams = append(n.Streams, s)
	}
	return n, nil
}

// port adds a port of the design and returns its index.
func (n *Drawing) port(what, tensor string) int {
	node := Node{Name: what, Op: strings.ToUpper(what[:1]) + what[1:], Class: added, Port: true}
	if tensor != "" {
		node.Lines = []string{tensor}
	}
	n.Nodes = append(n.Nodes, node)
	return len(n.Nodes) - 1
}

// shapesOf returns a stream of each tensor that has a name.
func shapesOf(layers []report.LayerReport) map[string]report.StreamReport {
	all := map[string]report.StreamReport{}
	for _, l := range layers {
		for _, list := range [][]report.StreamReport{l.In, l.Out} {
			for _, s := range list {
				if s.Tensor != "" {
					all[s.Tensor] = s
				}
			}
		}
	}
	return all
}

// layerNode returns the node of a layer.
func layerNode(l report.LayerReport, slow bool) Node {
	n := Node{Name: l.Name, Op: l.Kind, Class: otherLayer}
	switch {
	case slow:
		n.Class = slowest
	case l.Acc != nil:
		n.Class = accumulating
	case len(l.Nodes) == 0:
		n.Class = added
	}
	fact := func(name, format string, a ...any) {
		n.Facts = append(n.Facts, Attribute{name, fmt.Sprintf(format, a...)})
	}
	if f := l.Fold; f != nil {
		text := fmt.Sprintf("PE %d, SIMD %d", f.PE, f.SIMD)
		fact("PE", "%d", f.PE)
		fact("SIMD", "%d", f.SIMD)
		for _, x := range []Attribute{{"ram_style", f.RAMStyle}, {"resType", f.ResType}, {"steps", f.Steps}} {
			if x.Value != "" {
				fact(x.Name, "%s", x.Value)
			}
		}
		if n.Class != added {
			n.Lines = append(n.Lines, text)
		}
	}
	clocks := fmt.Sprintf("%d clocks", l.Clocks)
	if l.Clocks == 1 {
		clocks = "1 clock"
	}
	n.Lines = append(n.Lines, clocks)
	fact("clocks", "%d", l.Clocks)
	if t := l.Total; t != nil {
		text := fmt.Sprintf("%d LUT", t.LUT)
		if t.DSP > 0 {
			text += fmt.Sprintf(", %d DSP", t.DSP)
		}
		if t.BRAM > 0 {
			text += fmt.Sprintf(", %d BRAM", t.BRAM)
		}
		n.Lines = append(n.Lines, text)
		fact("cost", "%d LUT, %d FF, %d BRAM, %d URAM, %d DSP", t.LUT, t.FF, t.BRAM, t.URAM, t.DSP)
	}
	if a := l.Acc; a != nil {
		fact("accumulator", "%s", a.Type)
	}
	if len(l.Nodes) > 0 {
		fact("onnx_nodes", "%s", strings.Join(l.Nodes, ", "))
	}
	return n
}
