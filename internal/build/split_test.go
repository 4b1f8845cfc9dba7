package build

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"hlsgen/folding"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
)

// split is a design's folds within an envelope that some of its layers are beyond, drawn at random; nil where no layer
// can be split. The error says how the design does not keep the interval, the envelope, or what it is priced at.
func split(ctx context.Context, rnd *rand.Rand, whole *folding.Design, m *dataflow.Model) (*folding.Design, error) {
	if slices.ContainsFunc(whole.Model.Graph.Nodes, func(n *dataflow.Node) bool { return n.Whole != nil }) {
		return nil, nil // step functions that are processes of their own are not split
	}
	most, least := 0, 1 // products of layers that can be split, and what all of them need
	for i, n := range whole.Model.Graph.Nodes {
		op, ok := n.Op.(dataflow.HasUnrolledProducts)
		if !ok {
			continue
		}
		products, _ := op.Products(whole.Folds[i], 1)
		if parts := dataflow.MaxProcessesOf(n.Op, whole.Folds[i]); parts > 1 {
			most = max(most, products)
			products, _ = op.Products(whole.Folds[i], parts)
		}
		least = max(least, products)
	}
	if most <= least {
		return nil, nil
	}
	n := least + rnd.IntN(most-least)
	target := whole.Target
	target.Unroll = dataflow.UnrollLimits{Wide: n, Few: n, One: n}
	var d diag.List
	wanted := folding.Goal{Fixed: folding.ParseFoldingFile(folding.FormatFoldingFile(whole.Design, false), &d)}
	made, err := folding.FindBestDesign(ctx, m, target, wanted, &d)
	if err != nil || made == nil {
		return nil, fmt.Errorf("--max-unroll %d: %w %v", n, err, d.Diags)
	}
	if err := made.Verify(); err != nil {
		return nil, err
	}
	parts := 0
	for i, node := range made.Model.Graph.Nodes {
		if op, ok := node.Op.(dataflow.HasUnrolledProducts); ok {
			if got, _ := op.Products(made.Folds[i], 1); got > n {
				return nil, fmt.Errorf("--max-unroll %d: %s computes %d products", n, node.Name, got)
			}
		}
		if node.Whole != nil {
			parts++
		}
	}
	if parts == 0 {
		return nil, fmt.Errorf("--max-unroll %d: nothing is split, with %d products", n, most)
	}
	if a, b := made.Clocks.Interval, whole.Clocks.Interval; a != b {
		return nil, fmt.Errorf("--max-unroll %d: %v clocks per frame, %v in one process each", n, a, b)
	}
	if a, b := folding.FormatFoldingFile(made.Design, false), folding.FormatFoldingFile(whole.Design,
		false); string(a) != string(b) {
		return nil, fmt.Errorf("--max-unroll %d: the folding file is %s, of one process each %s", n, a, b)
	}
	return made, splitCost(whole, made)
}

// splitCost holds what a split design takes beside the same folds in one process each: the counters and handshakes of
// its nodes, up to 100 LUTs for each, and the FIFOs between them, up to a LUT a bit. What it has in narrower sums is
// less than a twentieth. Its DSP slices are those of packedApart. And the design takes what the search has priced it
// at.
func splitCost(whole, made *folding.Design) error {
	more, nodes := 0, made.Model.Graph.Nodes
	for s := range made.Model.Graph.Streams {
		w, _ := made.Model.Graph.WriterOfStream(s)
		r, _ := made.Model.Graph.ReaderOfStream(s)
		if w >= 0 && r >= 0 && nodes[w].Whole != nil && nodes[w].Whole == nodes[r].Whole {
			more += made.PortOfStream(s).Width()
			if made.FIFO[s].Depth > 32 { // what takes no more than two words
				return fmt.Errorf("stream s%d within %s has the FIFO %+v", s, nodes[w].Whole.Name, made.FIFO[s])
			}
		}
	}
	parts := map[string]int{} // by the layer's name
	for _, n := range nodes {
		if n.Whole == nil {
			continue
		}
		more += 100
		if _, ok := n.Op.(dataflow.HasUnrolledProducts); ok {
			parts[n.Whole.Name]++
		}
	}
	slices := 0
	for i, n := range whole.Model.Graph.Nodes {
		if parts[n.Name] > 0 {
			slices += packedApart(n.Op, whole.Folds[i], whole.Target, parts[n.Name])
		}
	}
	a, b := whole.Estimate.Total, made.Estimate.Total
	if b.LUT < a.LUT*19/20 || b.LUT > a.LUT+more || b.DSP > a.DSP+slices {
		return fmt.Errorf("%d LUT and %d DSP in one process each, %d and %d in several; at most %d LUT and %d DSP more "+
			"are due", a.LUT, a.DSP, b.LUT, b.DSP, more, slices)
	}
	load := 0.0
	for _, s := range made.Shares {
		if !s.IsMeanHardBlockShare() && s.Budget > 0 {
			load = max(load, float64(s.Used)/float64(s.Budget))
		}
	}
	if v := made.Certificate.Bounds[0].Value; math.Abs(v-load) > 1e-6 {
		return fmt.Errorf("the search priced a split design at a load of %v, it has %v", v, load)
	}
	return nil
}

// packedApart is the DSP slices that so many parts of a layer take at most beside those of the layer: channels share
// slices within a part alone, where the last slice may have fewer of them.
func packedApart(op dataflow.Op, f dataflow.Fold, t dataflow.Target, parts int) int {
	products, _ := op.(dataflow.HasUnrolledProducts).Products(f, 1)
	taken := op.Cost(f, t).Total().DSP
	if taken == 0 || taken >= products {
		return 0 // channels share none
	}
	slices := taken / f.SIMD              // of the channels' products with one input
	lanes := (f.PE + slices - 1) / slices // of a slice
	return parts*f.SIMD*((f.PE/parts+lanes-1)/lanes) - taken
}
