package simulate

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"hlsgen/frontend"
	"hlsgen/internal/audit"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/engines"
	"hlsgen/internal/samples"
)

// A narrowing runs a model on samples with narrower accumulators than the layers need.
type narrowing struct {
	im    *frontend.ImportedModel
	model *dataflow.Model
	runs  *samples.RunInputs
	own   []engines.ModelTensors // outputs of the model itself
	sums  []*frontend.LayerDotProducts
	bits  []int // accumulator width, by sum
}

// overflowing runs the samples s with accumulators of the widths in --acc-bits. It returns a report and the outputs
// with overflow. own holds the outputs without. The report is nil after it adds an error to d.
func (o Options) overflowing(ctx context.Context, im *frontend.ImportedModel, m *dataflow.Model, s *samples.RunInputs,
	labels *samples.ClassLabels, own []engines.ModelTensors, d *diag.List) (*OverflowReport, []engines.ModelTensors,
	error) {
	layers, ok := audit.ListAccumulatorLayers(o.AccBits, m.Graph, im.AllLayerDotProducts(), d)
	if m.Lengths != nil || m.Stream != nil {
		ok = false
		d.AddError(diag.AccBitsFlagUnfit, "", "accumulators overflow in samples of one length, each for itself",
			"leave --stateful out, and bind one length: --dim T=8")
	}
	n := &narrowing{im: im, model: m, runs: s, own: own}
	r := &OverflowReport{Overflow: o.Overflow}
	for _, l := range layers {
		switch report := l.NewReport(); {
		case l.Bits == 0:
		case report.Declared == nil:
			ok = false
			d.AddError(diag.AccBitsFlagUnfit, l.Node.Name, "its accumulator cannot be made narrower: "+report.Why,
				"ask for the bits of the others: --acc-bits LAYER=BITS,...")
		default:
			n.sums, n.bits = append(n.sums, l.Sums), append(n.bits, l.Bits)
			r.Layers = append(r.Layers, LayerOverflow{Layer: report.Layer, Node: report.Node, Bits: l.Bits,
				Exact: report.Declared.Exact})
		}
	}
	if !ok {
		return nil, nil, nil
	}
	seen := make([]*frontend.ObservedSumStatistics, len(n.sums))
	for i := range seen {
		seen[i] = &frontend.ObservedSumStatistics{}
	}
	out, err := n.run(ctx, o.Overflow, func(i int, a *frontend.AccumulatorSettings) { a.Seen = seen[i] })
	if err != nil {
		return nil, nil, err
	}
	for i, s := range seen {
		r.Layers[i].Sums, r.Layers[i].Overflows = s.Sums, s.Left
	}
	r.Changed, r.Accuracy = n.changed(out), accuracyOf(labels, out)
	for order := range o.RandomOrders {
		other, err := n.run(ctx, o.Overflow, func(i int, a *frontend.AccumulatorSettings) {
			rnd := rand.New(rand.NewPCG(uint64(order), uint64(i)))
			a.Order = rnd.Perm(len(n.sums[i].Weights[0]))
		})
		if err != nil {
			return nil, nil, err
		}
		r.Orders = append(r.Orders, RandomOrderOverflow{n.changed(other), accuracyOf(labels, other)})
	}
	return r, out, nil
}

// run returns the outputs of all samples with the overflow mode o. It calls with for the accumulators of each layer,
// numbered by n.sums, and with may change them.
func (n *narrowing) run(ctx context.Context, o frontend.OverflowMode, with func(i int,
	a *frontend.AccumulatorSettings)) ([]engines.ModelTensors,
	error) {
	by := map[*frontend.LayerDotProducts]frontend.AccumulatorSettings{}
	for i, s := range n.sums {
		a := frontend.AccumulatorSettings{Bits: n.bits[i], Overflow: o}
		with(i, &a)
		by[s] = a
	}
	m := *n.model
	m.Reference = n.im.ReferenceWithAccumulators(by)
	return engines.RunReference(ctx, &m, n.runs)
}

// changed returns the number of samples whose outputs differ from the model's own.
func (n *narrowing) changed(out []engines.ModelTensors) (changed int) {
	for i := range out {
		for k := range out[i] {
			if !slices.Equal(out[i][k].Data, n.own[i][k].Data) {
				changed++
				break
			}
		}
	}
	return changed
}

// accuracyOf returns the accuracy of outputs, or nil if labels is nil.
func accuracyOf(labels *samples.ClassLabels, out []engines.ModelTensors) *samples.Accuracy {
	if labels == nil {
		return nil
	}
	a := labels.MeasureAccuracy(out)
	return &a
}

// DescribeOrderSpread returns text with the range of results over all random orders, of which there must be one at
// least. The results are the accuracy, or without labels the number of changed samples.
func (r *OverflowReport) DescribeOrderSpread() string {
	var share []float64
	least, most := r.Orders[0], r.Orders[0]
	for _, o := range r.Orders {
		if o.Accuracy == nil {
			if o.Changed < least.Changed {
				least = o
			}
			if o.Changed > most.Changed {
				most = o
			}
			continue
		}
		if share = append(share, o.Accuracy.ShareRight()); o.Accuracy.Right < least.Accuracy.Right {
			least = o
		}
		if o.Accuracy.Right > most.Accuracy.Right {
			most = o
		}
	}
	if share == nil {
		return fmt.Sprintf("%d to %d samples changed", least.Changed, most.Changed)
	}
	sum := 0.0
	for _, x := range share {
		sum += x
	}
	return fmt.Sprintf("%.1f to %.1f %%, %.1f %% on average", 100*least.Accuracy.ShareRight(),
		100*most.Accuracy.ShareRight(),
		100*sum/float64(len(share)))
}
