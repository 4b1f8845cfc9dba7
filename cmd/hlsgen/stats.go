package main

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"hlsgen/frontend/stats"
	"hlsgen/internal/check"
	"hlsgen/internal/diag"
)

// statsCommand returns the command stats.
func statsCommand(a *app) *cobra.Command {
	var o check.StatsOptions
	t := a.task(&cobra.Command{
		Use:   "stats [MODEL.onnx]",
		Short: "Count products, bit operations, zeros and memory of every layer, and what states it is in",
		Long: `Stats counts what a model computes and stores, as the file has it: per node with
products and in total, for one sample. It takes every model that can be executed,
whether it can be built or not.

  MACs        products that are added up; a convolution counts once per output
              position, a recurrence once per step
  effective   those with a weight other than 0
  BOPs        bit operations, by arXiv 2102.11289:
              MACs * ((1 - zeros) * a * w + a + w + log2(terms)), of a input
              bits, w weight bits and so many products in a sum
  entropy     bits per weight that a lossless code needs, arXiv 2301.13376
  states      with --data: which neurons give more than 0, how often, and the
              entropy of that over their number (neural efficiency, 2102.11289)

--json has more: zeros per channel, every product of a recurrence, and the
figures of qonnx' inference_cost.`,
		Example: `  hlsgen stats net.onnx
  hlsgen stats net.onnx --data x.npy
  hlsgen stats net.onnx --plot bops.png
  hlsgen stats net.onnx --json`,
	}, parts{Source: &o.Source})
	t.path(&o.Data, "data", "FILE", "samples, .npy or .npz as for simulate: what states layers are in", noStandard)
	t.path(&o.Plot, "plot", "FILE", "draw the bit operations of every layer, .svg or .png", nil)
	t.inputs()
	t.strict()
	t.json()
	return t.does(func(ctx context.Context) (*answer, error) {
		if ext := strings.ToLower(filepath.Ext(o.Plot)); o.Plot != "" && ext != ".svg" && ext != ".png" {
			return nil, usagef("--plot %s: pictures are drawn as .svg or .png", o.Plot)
		}
		c, err := check.RunStats(ctx, o, &t.d)
		if c == nil || err != nil {
			return nil, err
		}
		return &answer{object: countedOf(o, c, &t.d), show: func(s *screen) { showStats(s, o, c) }}, nil
	})
}

// showStats shows the counts of every layer and of the network.
func showStats(s *screen, o check.StatsOptions, c *check.StatsResult) {
	n := c.Network
	s.title("%s: %s with products, for one sample", label(c.Source.Name), count(len(n.Layers), "node"))
	s.example(c.Source, "; your own: hlsgen stats MODEL.onnx")
	s.line("")
	t := newTable("node", "on", "inputs x weights", ">MACs", ">effective", ">BOPs", ">zeros", ">entropy")
	for _, l := range n.Layers {
		name := l.Node
		if l.Reverse {
			name += " (reverse)"
		}
		bits := "-"
		if l.Entropy != nil {
			bits = fmt.Sprintf("%.2f", l.Entropy.Bits)
		}
		t.row(label(name), label(place(l)), types(l), humanize.Comma(l.MACs), humanize.Comma(l.EffectiveMACs),
			bops(l.BOPs), zeros(&l.OperationCounts), bits)
	}
	s.table(t)
	if c.Samples > 0 {
		s.line("")
		showStates(s, n)
	}
	s.line("")
	showTotals(s, c)
	if o.Plot != "" {
		s.exact("drawn", printable(o.Plot))
	}
}

// showTotals shows the counts of the whole network.
func showTotals(s *screen, c *check.StatsResult) {
	n, t := c.Network, &c.Network.Total
	s.field("total", "%s MACs, %s of them effective; %s BOPs, %s if no weight were 0", humanize.Comma(t.MACs),
		humanize.Comma(t.EffectiveMACs), bops(t.BOPs), bops(t.DenseBOPs))
	for _, l := range n.Layers {
		if l.Steps > 1 {
			s.field("per step", "%s: %s MACs, %s BOPs, times %d steps", label(l.Node), humanize.Comma(l.MACsPerStep),
				bops(l.BOPs/float64(l.Steps)), l.Steps)
		}
	}
	if e := n.Entropy; e != nil {
		smaller := ""
		if e.Compression > 0 {
			smaller = fmt.Sprintf(", %.1f times smaller than 32 bits", e.Compression)
		}
		s.field("weights", "%s, %s of them 0; %s bits of memory; entropy %.2f bits each%s", humanize.Comma(t.Weights),
			zeros(t), humanize.Comma(t.WeightBits), e.Bits, smaller)
	}
	s.field("activations", "%s bits read, %s bits given; with the weights, %s MACs per byte",
		humanize.Comma(t.InputBits), humanize.Comma(t.OutputBits), figure(t.ProductsPerByte()))
	var host stats.OperationCounts
	on := 0
	for _, l := range n.Layers {
		if onHost(l.Becomes) {
			on++
			host.MACs, host.BOPs = host.MACs+l.MACs, host.BOPs+l.BOPs
		}
	}
	if on > 0 {
		s.field("host", "%s of these with %s MACs, %s BOPs", count(on, "node"), humanize.Comma(host.MACs),
			bops(host.BOPs))
	}
	if ops := operations(n); ops > 0 {
		s.field("beside", "%s of %s without weights: additions and products of data with data, element by element or "+
			"over windows; they are no MACs", count(int(ops), "operation"), count(len(n.Others), "node"))
	}
	if c.Samples > 0 {
		s.field("efficiency", "%.4f, the geometric mean over the nodes, of %s", c.Efficiency,
			count(c.Samples, "sample"))
	}
	if !c.Buildable {
		s.field("hardware", "the model cannot be built as it is: hlsgen check says why")
	}
}

// showStates shows how often the neurons of each layer are on, and how many different states the layers took.
func showStates(s *screen, n *stats.ModelStats) {
	t := newTable("node", ">neurons", ">states seen", ">distinct", ">on", ">entropy", ">efficiency")
	for _, l := range n.Layers {
		q := l.States
		t.row(label(l.Node), whole(q.Neurons), humanize.Comma(q.Seen), whole(q.Distinct),
			fmt.Sprintf("%.1f %%", 100*q.On), fmt.Sprintf("%.3f", q.Entropy), fmt.Sprintf("%.4f", q.Efficiency))
	}
	s.table(t)
}

// types returns, as text, the types of a layer's inputs and weights, each pair once.
func types(l *stats.LayerStats) string {
	var in, weights []string
	for _, p := range l.Products {
		if !slices.Contains(in, p.Input) {
			in = append(in, p.Input)
		}
		if !slices.Contains(weights, p.Weight) {
			weights = append(weights, p.Weight)
		}
	}
	return strings.Join(in, ",") + " x " + strings.Join(weights, ",")
}

// place returns the place where the products of a layer are computed, as text: a layer of the accelerator, or the host.
func place(l *stats.LayerStats) string {
	first, _, _ := strings.Cut(l.Becomes, ", ")
	return first
}

// onHost reports whether the fate of a node is to stay on the host.
func onHost(becomes string) bool { return strings.HasPrefix(becomes, "host ") }

// operations returns the number of operations of a network.
func operations(n *stats.ModelStats) (ops int64) {
	for _, o := range n.Others {
		ops += o.Operations
	}
	return ops
}

// bops formats a number of bit operations with one decimal.
func bops(f float64) string { return humanize.Commaf(math.Round(10*f) / 10) }

// zeros returns the share of weights that are 0 as text in percent, or a dash without weights.
func zeros(c *stats.OperationCounts) string {
	if c.Weights == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f %%", 100*float64(c.ZeroWeights)/float64(c.Weights))
}

// A counted is the JSON of statistics.
type counted struct {
	about
	Buildable bool                         `json:"buildable"` // the whole model can be built
	Layers    []*stats.LayerStats          `json:"layers"`
	Others    []*stats.WeightlessNodeStats `json:"others"` // nodes that compute on data without weights
	Total     statsTotal                   `json:"total"`
	// the figures of qonnx' inference_cost, by its keys
	InferenceCost map[string]float64 `json:"inference_cost"`

	Samples    int      `json:"samples,omitempty"`           // of --data
	Efficiency *float64 `json:"neural_efficiency,omitempty"` // the geometric mean over the layers
	Plot       string   `json:"plot,omitempty"`
	outcome
}

// A statsTotal has the counts of a whole network. A weight tensor that several layers share counts once.
type statsTotal struct {
	stats.OperationCounts
	MACsPerByte float64              `json:"macs_per_byte"`
	Entropy     *stats.WeightEntropy `json:"entropy,omitempty"`
}

// countedOf returns the JSON of statistics.
func countedOf(o check.StatsOptions, c *check.StatsResult, d *diag.List) counted {
	n := c.Network
	j := counted{about: aboutOf(c.Source), Buildable: c.Buildable, Layers: n.Layers, Others: n.Others,
		Total: statsTotal{n.Total, n.Total.ProductsPerByte(), n.Entropy}, InferenceCost: n.QONNXInferenceCost(),
		Samples: c.Samples, Plot: o.Plot, outcome: outcomeOf(d, nil)}
	if c.Samples > 0 {
		j.Efficiency = &c.Efficiency
	}
	return j
}
