package lower

import (
	"errors"
	"fmt"
	"math/big"
	"slices"

	"hlsgen/frontend/lower/unmapped"
	"hlsgen/frontend/program"
	"hlsgen/internal/diag"
)

// maxSplit is the largest number of products, each with a layer, into which a product is split. A product is split if
// its data or weights have several scales along the sum.
const maxSplit = 8

// A summed describes the elements that a product with weights adds up.
type summed interface {
	// ScalePerTerm returns the scale of each element's data, nil for constants. ok is false if an element stands for
	// several with different scales.
	ScalePerTerm() (scales []*big.Rat, ok bool)
	WeightBlockOfEachTerm() (of []int, count int) // blocks of the weights (integers.GroupElementsByWeightUnit)
	HasBlocksPerTap() bool                        // reports whether elements have several weights in different blocks
}

// splits records that a product may be split by the scales of its data, and of its weights, if reject says that a
// single product is too wide. It returns a better reason if there are too many scales, or if splitting does not
// help.
func (l *lowering) splits(step *program.Step, s summed, reject error) error {
	var why *unmapped.Reason
	if !errors.As(reject, &why) || why.Code != diag.ScalePerInputChannel && why.Code != diag.AccumulatorTooWide &&
		why.Code != diag.WeightsNotInteger {
		return reject
	}
	var block []int
	blocks := 0
	if why.Code != diag.AccumulatorTooWide {
		block, blocks = s.WeightBlockOfEachTerm()
	}
	if blocks == 0 && why.Code == diag.WeightsNotInteger {
		if s.HasBlocksPerTap() {
			return byTap()
		}
		return reject
	}
	scales, ok := s.ScalePerTerm()
	if !ok {
		return reject
	}
	groups := grouped(scales, block)
	if len(groups) > 1 && len(groups) <= maxSplit {
		l.split[step.Output] = groups
	}
	if blocks > 1 {
		return inBlocks(blocks)
	}
	return reject
}

// inBlocks returns the reason for a product whose weights have several scales along the sum, one per block.
func inBlocks(blocks int) error {
	msg := fmt.Sprintf("its weights are quantised in blocks: they have %d scales along the summed axis, ", blocks)
	if blocks > maxSplit {
		return unmapped.NewReasonWithCode(diag.WeightsNotInteger, msg+
			fmt.Sprintf("and a product becomes a sum of %d products at most, one per scale", maxSplit),
			fmt.Sprintf("quantise the weights per output channel, or in at most %d blocks along the sum", maxSplit))
	}
	return unmapped.NewReasonWithCode(diag.WeightsNotInteger, msg+
		fmt.Sprintf("and neither one product nor a sum of %d, one per scale, has layers", blocks),
		"quantise the weights per output channel")
}

// byTap returns the reason for a convolution whose weights have scales that differ between positions of the kernel.
func byTap() error {
	return unmapped.NewReasonWithCode(diag.WeightsNotInteger,
		"its weights are quantised in blocks that differ from one position of "+
			"the kernel to another. It becomes a sum of convolutions, one per scale, only where all weights that a "+
			"channel is multiplied with have one scale", "quantise the weights per output channel")
}

// grouped returns the elements, by index, in groups of equal scale and block. Constants, whose scale is nil, join any
// group. Some scale must not be nil. A nil block stands for a single block.
func grouped(scales []*big.Rat, block []int) (groups [][]int) {
	type key struct{ scale, block int }
	var of []*big.Rat
	places := map[key]int{}
	for k, s := range scales {
		at := 0
		if s != nil {
			var own key
			if own.scale = slices.IndexFunc(of, func(o *big.Rat) bool { return o.Cmp(s) == 0 }); own.scale < 0 {
				own.scale = len(of)
				of = append(of, s)
			}
			if block != nil {
				own.block = block[k]
			}
			known := false
			if at, known = places[own]; !known {
				at = len(groups)
				places[own], groups = at, append(groups, nil)
			}
		}
		if len(groups) == 0 { // leading constants
			continue
		}
		groups[at] = append(groups[at], k)
	}
	for k := range scales {
		if scales[k] != nil {
			break
		}
		groups[0] = append(groups[0], k)
	}
	return groups
}
