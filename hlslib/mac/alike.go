package mac

import (
	"hlsgen/hlslib/price/cost"
	"hlsgen/hlslib/price/estimate"
	"hlsgen/hlslib/steps"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// HaveSameCost reports whether two units differ only in the numbers of their tables, for the fold's PE. Then they have
// the same folds, latencies and costs. It may report false for units that are alike. It does so for targets on which
// the circuit depends on the numbers: for adders of constant weights, and for accumulators of individual widths.
func HaveSameCost(a, b *Unit, f dataflow.Fold, t dataflow.Target) bool {
	if t.Backend.Rate == dataflow.RateFromCircuit || t.AccPerPE {
		return false
	}
	whole := entire(a, f)
	// If no process may compute so many products, no fold makes the weights constants.
	within := min(ProductsPerClock(a, whole, 1), ProductsPerClock(b, whole, 1)) <= max(t.Unroll.MaxProducts(1),
		t.Unroll.MaxProducts(4), t.Unroll.MaxProducts(8))
	// FINN ignores digits
	if t.Formula == dataflow.FittedCostFormula && within && ConstantWeightAdderCountsOf(a,
		whole) != ConstantWeightAdderCountsOf(b,
		whole) {
		return false
	}
	return figuresOf(a) == figuresOf(b) && steps.HaveSameCost(a.form(f), b.form(f), estimate.CostModelOf(t))
}

// entire returns the fold with f's PE in which one clock takes all inputs of a channel, with multipliers in LUTs. If PE
// is the number of channels, the weights are constants.
func entire(u *Unit, f dataflow.Fold) dataflow.Fold {
	f.SIMD, f.Compute = len(u.weights[0]), dataflow.MultiplierInLUTs
	return f
}

// figures holds the numbers that determine a unit's folds, latencies and costs, apart from the form of the step
// functions.
type figures struct {
	weight, acc, out, in num.Type
	xnor                 bool
	channels             int
	length               int64
	span, inputs         num.Range
	raw, product         num.Range
	requant              *num.Requant
	room                 *dataflow.LoadableWeightLimits
	number, code         num.Type
	coded                bool
	decoder              cost.Resources
	tables, steps        int // of step functions
	unit, base           int64
	constant, deltas     bool
}

func figuresOf(u *Unit) figures {
	g := figures{weight: u.Weight, acc: u.Acc, out: u.Out, in: u.in, xnor: u.XNOR, channels: len(u.weights),
		length: u.length, span: u.span, inputs: u.inputs, raw: u.raw, product: u.product, requant: u.requant,
		room: u.room, number: u.Codes.number, decoder: u.Codes.decoder}
	if c := u.Codes.coding; c != nil {
		g.code, g.coded = c.Code, true
	}
	if k := u.compare; k.ThresholdsPerChannel() > 0 {
		g.tables, g.steps, g.unit, g.deltas = len(k.At), k.ThresholdsPerChannel(), k.Unit, k.Delta != nil
		g.base, g.constant = k.ConstantBase()
	}
	return g
}
