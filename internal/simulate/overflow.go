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

// A narrowing runs a model with narrower accumulators.
type narrowing struct {
	im    *frontend.Imported
	model *dataflow.Model
	runs  *samples.Runs
	own   []engines.Reals // outputs of the model itself
	sums  []*frontend.LayerSums
	bits  []int // accumulator width, by sum
}

// overflowing runs samples with accumulators of the widths in --acc-bits. It returns a report and the outputs.
func (o Options) overflowing(ctx context.Context, im *frontend.Imported, m *dataflow.Model, s *samples.Runs,
	labels *samples.Labels, own []engines.Reals, d *diag.List) (*OverflowReport, []engines.Reals, error) {
	layers, ok := audit.AskedAccumulators(o.AccBits, m.Graph, im.Sums(), d)
	if m.Lengths != nil || m.Stream != nil {
		ok = false
		d.Fail(diag.AccBitsUnfit, "", "accumulators overflow in samples of one length, each for itself",
			"leave --stateful out, and bind one length: --dim T=8")
	}
	n := &narrowing{im: im, model: m, runs: s, own: own}
	r := &OverflowReport{Overflow: o.Overflow}
	for _, l := range layers {
		switch report := l.Report(); {
		case l.Bits == 0:
		case report.Declared == nil:
			ok = false
			d.Fail(diag.AccBitsUnfit, l.Node.Name, "its accumulator cannot be made narrower: "+report.Why,
				"ask for the bits of the others: --acc-bits LAYER=BITS,...")
		default:
			n.sums, n.bits = append(n.sums, l.Sums), append(n.bits, l.Bits)
			r.Layers = append(r.Layers, OverflowLayer{Layer: report.Layer, Node: report.Node, Bits: l.Bits,
				Exact: report.Declared.Exact})
		}
	}
	if !ok {
		return nil, nil, nil
	}
	seen := make([]*frontend.ObservedSums, len(n.sums))
	for i := range seen {
		seen[i] = &frontend.ObservedSums{}
	}
	out, err := n.run(ctx, o.Overflow, func(i int, a *frontend.Accumulator) { a.Seen = seen[i] })
	if err != nil {
		return nil, nil, err
	}
	for i, s := range seen {
		r.Layers[i].Sums, r.Layers[i].Overflows = s.Sums, s.Left
	}
	r.Changed, r.Accuracy = n.changed(out), accuracyOf(labels, out)
	for order := range o.RandomOrders {
		other, err := n.run(ctx, o.Overflow, func(i int, a *frontend.Accumulator) {
			rnd := rand.New(rand.NewPCG(uint64(order), uint64(i)))
			a.Order = rnd.Perm(len(n.sums[i].Weights[0]))
		})
		if err != nil {
			return nil, nil, err
		}
		r.Orders = append(r.Orders, OverflowInOrder{n.changed(other), accuracyOf(labels, other)})
	}
	return r, out, nil
}

// run returns the outputs of all samples. with may change the accumulator of sum i.
func (n *narrowing) run(ctx context.Context, o frontend.Overflow, with func(i int,
	a *frontend.Accumulator)) ([]engines.Reals,
	error) {
	by := map[*frontend.LayerSums]frontend.Accumulator{}
	for i, s := range n.sums {
		a := frontend.Accumulator{Bits: n.bits[i], Overflow: o}
		with(i, &a)
		by[s] = a
	}
	m := *n.model
	m.Reference = n.im.ReferenceWithAccumulators(by)
	return engines.RunReference(ctx, &m, n.runs)
}

// changed counts the samples whose outputs differ from the model's own.
func (n *narrowing) changed(out []engines.Reals) (changed int) {
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

// accuracyOf returns the accuracy of outputs, or nil without labels.
func accuracyOf(labels *samples.Labels, out []engines.Reals) *samples.Accuracy {
	if labels == nil {
		return nil
	}
	a := labels.Accuracy(out)
	return &a
}

// Spread describes the range over the random orders: of the accuracy, or without labels of the number of changed
// samples.
func (r *OverflowReport) Spread() string {
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
		if share = append(share, o.Accuracy.Share()); o.Accuracy.Right < least.Accuracy.Right {
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
	return fmt.Sprintf("%.1f to %.1f %%, %.1f %% on average", 100*least.Accuracy.Share(), 100*most.Accuracy.Share(),
		100*sum/float64(len(share)))
}
