package source

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"hlsgen/frontend"
	"hlsgen/frontend/quantise"
	"hlsgen/internal/engines"
	"hlsgen/internal/options"
)

// Limits of the search for the fewest bits. It starts with usualBits, and tries no fewer than fewestBits and no more
// than mostBits.
const (
	usualBits  = 8
	fewestBits = 2
	mostBits   = 16
)

// DefaultSameClassShare is the default share of samples that must keep their class in the search for the fewest bits.
const DefaultSameClassShare = 0.99

// maxWeighed is the number of samples by which the search measures the effect of fewer bits in a layer.
const maxWeighed = 8

// A MinimalNodeBits holds the fewest bits of each node with which the asked share of samples keeps its class. If even
// mostBits do not suffice, fewer samples than asked keep it.
type MinimalNodeBits struct {
	Keep    float64    `json:"keep"` // the asked share of samples that keep their class
	Same    int        `json:"same"` // of Samples, the number that keeps its class
	Samples int        `json:"samples"`
	Bits    []NodeBits `json:"bits"`
}

// A NodeBits gives the bits of a node's weights, or else of its input activations.
type NodeBits struct {
	Node    string `json:"node"`
	Weights bool   `json:"weights"`
	Bits    int    `json:"bits"`
}

// mean returns the mean, the least and the largest number of bits: of weights if weights is set, or else of
// activations. All are 0 if there are none.
func (l *MinimalNodeBits) mean(weights bool) (mean float64, least, most int) {
	n := 0
	for _, b := range l.Bits {
		if b.Weights != weights {
			continue
		}
		if n++; n == 1 {
			least, most = b.Bits, b.Bits
		}
		mean, least, most = mean+float64(b.Bits), min(least, b.Bits), max(most, b.Bits)
	}
	return mean / float64(max(1, n)), least, most
}

// String returns a line of text about the bits and the samples.
func (l *MinimalNodeBits) String() string {
	of := func(weights bool) string {
		mean, least, most := l.mean(weights)
		return fmt.Sprintf("%d to %d bits, %.1f on average", least, most, mean)
	}
	return fmt.Sprintf("weights of %s; activations of %s; same class as the float network in %d of %d samples",
		of(true), of(false), l.Same, l.Samples)
}

// A leastSearch searches for the fewest bits of a model's parts, its activations and weights. Its lists hold the
// activations first.
type leastSearch struct {
	v     *VariantMaker
	ctx   context.Context
	was   []engines.ModelTensors // outputs of the float model, by sample
	parts []quantise.MixedBitsTarget
	first int // index of the first weights in parts
	bits  []int
	order []int // order in which samples are run: the least certain classes first
	tried int
}

// least finds the fewest bits with which the share keep of the samples keeps its class. It first lowers all parts
// together, then part by part. It ranks the parts by how far the lower number of bits alone moves the output from that
// of the float model. On each level it lowers as many of the cheapest parts as possible. Models run in float64.
func (v *VariantMaker) least(ctx context.Context, keep float64) (*MinimalNodeBits, frontend.QuantisationRecipe, error) {
	s := &leastSearch{v: v, ctx: ctx, was: v.float}
	activations, weights := v.q.MixedBitsTargets()
	s.parts, s.first = slices.Concat(activations, weights), len(activations)
	s.bits = make([]int, len(s.parts))
	enough := int(math.Ceil(keep * float64(len(s.was))))
	s.order = closest(s.was)
	level, err := s.uniform(enough)
	if err != nil {
		return nil, frontend.QuantisationRecipe{}, err
	}
	var open []int // parts whose bits may still decrease
	for i, p := range s.parts {
		if s.bits[i] = level; !p.Stays {
			open = append(open, i)
		}
	}
	for level--; level >= fewestBits && len(open) > 0; level-- {
		if open, err = s.lower(open, level, enough); err != nil {
			return nil, frontend.QuantisationRecipe{}, err
		}
	}
	same, err := s.same(s.bits, 0)
	if err != nil {
		return nil, frontend.QuantisationRecipe{}, err
	}
	l := &MinimalNodeBits{Keep: keep, Same: same, Samples: len(s.was)}
	for i, p := range s.parts {
		if !p.Stays {
			l.Bits = append(l.Bits, NodeBits{p.Node, p.Weights, s.bits[i]})
		}
	}
	return l, s.recipe(s.bits), nil
}

// uniform returns the fewest bits for all parts together with which enough samples keep their class. It returns
// mostBits if even these are too few.
func (s *leastSearch) uniform(enough int) (level int, err error) {
	keeps := func(level int) (bool, error) {
		same, err := s.same(slices.Repeat([]int{level}, len(s.parts)), enough)
		return same >= enough, err
	}
	level = usualBits
	ok, err := keeps(level)
	for !ok && err == nil && level < mostBits {
		level++
		ok, err = keeps(level)
	}
	if level > usualBits || !ok {
		return level, err
	}
	for level > fewestBits && err == nil {
		if ok, err = keeps(level - 1); !ok {
			break
		}
		level--
	}
	return level, err
}

// lower sets as many of the parts in open as possible to level bits, the cheapest first, and returns these parts. At
// least enough samples still keep their class. It sorts open in place.
func (s *leastSearch) lower(open []int, level, enough int) ([]int, error) {
	cost := make(map[int]float64, len(open))
	for _, i := range open {
		bits := slices.Clone(s.bits)
		bits[i] = level
		var err error
		if cost[i], err = s.apart(bits); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(open, func(a, b int) int { return cmp.Compare(cost[a], cost[b]) })
	with := func(n int) []int {
		bits := slices.Clone(s.bits)
		for _, i := range open[:n] {
			bits[i] = level
		}
		return bits
	}
	fit, most := 0, len(open) // fit parts can be lowered; more than most parts cannot
	for fit < most {
		n := (fit + most + 1) / 2
		same, err := s.same(with(n), enough)
		if err != nil {
			return nil, err
		}
		if same >= enough {
			fit = n
		} else {
			most = n - 1
		}
	}
	s.bits = with(fit)
	return open[:fit], nil
}

// recipe returns the recipe that quantises each part with the given bits.
func (s *leastSearch) recipe(bits []int) frontend.QuantisationRecipe {
	r := s.v.recipe(options.DefaultQuantisationRecipe)
	r.Least = true
	return r.WithMixedBits(quantise.MixedBits{Activations: bits[:s.first], Weights: bits[s.first:]})
}

// run runs the numbered samples with the given bits, and calls each with their outputs until each returns false.
func (s *leastSearch) run(bits, samples []int, each func(i int, out engines.ModelTensors) bool) error {
	s.tried++
	s.v.o.ReportProgress("searching bits", s.tried, 0)
	try, err := s.v.q.QuantisedFloatReference(s.recipe(bits))
	if err != nil {
		return err
	}
	for _, i := range samples {
		if s.ctx.Err() != nil {
			return s.ctx.Err()
		}
		out, err := try(s.v.runs.In[i])
		if err != nil {
			return err
		}
		if !each(i, out) {
			break
		}
	}
	return nil
}

// same returns the number of samples that keep their class with the given bits. It may stop early, when the count
// cannot reach enough any more.
func (s *leastSearch) same(bits []int, enough int) (same int, err error) {
	others := 0
	err = s.run(bits, s.order, func(i int, out engines.ModelTensors) bool {
		if largest(out[0].Data) == largest(s.was[i][0].Data) {
			same++
		} else {
			others++
		}
		return len(s.was)-others >= enough
	})
	return same, err
}

// closest returns the numbers of all samples, ordered by the distance between their two largest outputs. The smallest
// distance, and so the least certain class, comes first.
func closest(was []engines.ModelTensors) []int {
	order, ahead := make([]int, len(was)), make([]float64, len(was))
	for i, out := range was {
		data := out[0].Data
		k, next := largest(data), math.Inf(-1)
		for j, v := range data {
			if j != k {
				next = max(next, v)
			}
		}
		order[i], ahead[i] = i, data[k]-next
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(ahead[a], ahead[b]) })
	return order
}

// apart returns the sum of the distances between outputs with the given bits and those of the float model, over the
// first maxWeighed samples.
func (s *leastSearch) apart(bits []int) (sum float64, err error) {
	some := make([]int, min(maxWeighed, len(s.was)))
	for i := range some {
		some[i] = i
	}
	err = s.run(bits, some, func(i int, out engines.ModelTensors) bool {
		for k, v := range s.was[i][0].Data {
			sum += math.Abs(out[0].Data[k] - v)
		}
		return true
	})
	return sum, err
}
