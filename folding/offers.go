package folding

import (
	"slices"

	"hlsgen/folding/goal"
	"hlsgen/folding/space"
	"hlsgen/hlslib/price/estimate"
	"hlsgen/internal/diag"
)

// The types of offers.
type (
	Offers           = space.Offers
	OfferedFold      = space.OfferedFold
	WordForm         = space.WordForm
	OfferedStream    = space.OfferedStream
	OfferedConverter = space.OfferedConverter
)

// Offers returns the folds that each layer of the model could have instead, with their costs and clocks, and what joins
// neighbours. These are the figures by which the design was chosen. Where costs come from circuits, it has the folds
// that the search has priced. A folding file that fixes layers does not narrow the offers, unless costs come from
// circuits or the file has a fold that no search would take.
func (d *Design) Offers() *Offers {
	fixed := slices.ContainsFunc(d.space.Layers, func(l space.LayerFoldOptions) bool { return l.Fixed })
	if fixed && !estimate.UsesCircuitEstimates(d.Target) {
		free := space.New(d.space.Model, d.space.Target, nil, goal.FIFODepthPolicy{}, space.FoldFilterWorthwhile,
			new(diag.List))
		if free != nil {
			if same := space.SameOptions(free, d.space, d.folding.Options); same != nil {
				return space.OffersAround(free, &space.Folding{Options: same})
			}
		}
	}
	return space.OffersAround(d.space, d.folding)
}

// SearchPricedInPart reports whether there are folds whose costs no search has asked for, so that Offers lacks them.
func (d *Design) SearchPricedInPart() bool {
	return !space.Knows(d.space, goal.ClocksBeyondAnyInterval)
}
