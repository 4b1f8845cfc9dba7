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

// The search for the fewest bits starts with usualBits. It tries no fewer than fewestBits and no more than mostBits.
const (
	usualBits  = 8
	fewestBits = 2
	mostBits   = 16
)

// DefaultKeep is the default of MinimalBits.Keep.
const DefaultKeep = 0.99

// maxWeighed is the number of samples on which the cost of removing a layer's bits is measured.
const maxWeighed = 8

// A MinimalBits gives the fewest bits per layer with which a share of the samples keeps its class.
type MinimalBits struct {
	Keep    float64    `json:"keep"` // the asked share of samples that keep their class
	Same    int        `json:"same"` // of Samples, the number that keeps its class
	Samples int        `json:"samples"`
	Bits    []NodeBits `json:"bits"`
}

// A NodeBits gives the bits of a node's weights, or of its input activations.
type NodeBits struct {
	Node    string `json:"node"`
	Weights bool   `json:"weights"`
	Bits    int    `json:"bits"`
}

// mean returns the mean, the least and the largest number of bits of weights, or else of activations.
func (l *MinimalBits) mean(weights bool) (mean float64, least, most int) {
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

// String describes the bits and the samples in a line.
func (l *MinimalBits) String() string {
	of := func(weights bool) string {
		mean, least, most := l.mean(weights)
		return fmt.Sprintf("%d to %d bits, %.1f on average", least, most, mean)
	}
	return fmt.Sprintf("weights of %s; activations of %s; same class as the float network in %d of %d samples",
		of(true), of(false), l.Same, l.Samples)
}

// A leastSearch searches for the fewest bits. Its lists hold the activations of the model first, then its weights.
type leastSearch struct {
	v     *VariantMaker
	ctx   context.Context
	was   []engines.Reals // outputs of the float model, by sample
	parts []quantise.MixPart
	first int // index of the first weights in parts
	bits  []int
	order []int // order in which samples are run: the least certain classes first
	tried int
}

// least finds the fewest bits with which enough samples keep their class. It first lowers all parts together, then part
// by part. It ranks the parts by how far the lower number of bits alone moves the output from that of the float model.
// On each level it lowers as many of the cheapest parts as possible. Models run in float64.
func (v *VariantMaker) least(ctx context.Context, keep float64) (*MinimalBits, frontend.Recipe, error) {
	s := &leastSearch{v: v, ctx: ctx, was: v.float}
	activations, weights := v.q.Parts()
	s.parts, s.first = slices.Concat(activations, weights), len(activations)
	s.bits = make([]int, len(s.parts))
	enough := int(math.Ceil(keep * float64(len(s.was))))
	s.order = closest(s.was)
	level, err := s.uniform(enough)
	if err != nil {
		return nil, frontend.Recipe{}, err
	}
	var open []int // parts whose bits may still decrease
	for i, p := range s.parts {
		if s.bits[i] = level; !p.Stays {
			open = append(open, i)
		}
	}
	for level--; level >= fewestBits && len(open) > 0; level-- {
		if open, err = s.lower(open, level, enough); err != nil {
			return nil, frontend.Recipe{}, err
		}
	}
	same, err := s.same(s.bits, 0)
	if err != nil {
		return nil, frontend.Recipe{}, err
	}
	l := &MinimalBits{Keep: keep, Same: same, Samples: len(s.was)}
	for i, p := range s.parts {
		if !p.Stays {
			l.Bits = append(l.Bits, NodeBits{p.Node, p.Weights, s.bits[i]})
		}
	}
	return l, s.recipe(s.bits), nil
}

// uniform finds the fewest bits that are enough for all parts together. Even mostBits may not be enough; uniform
// returns it then.
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

// lower gives as many parts as possible only level bits, the cheapest parts first, and returns these parts. At least
// enough samples keep their class.
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

func (s *leastSearch) recipe(bits []int) frontend.Recipe {
	r := s.v.recipe(options.DefaultRecipe)
	r.Least = true
	return r.WithMix(quantise.Mix{Activations: bits[:s.first], Weights: bits[s.first:]})
}

// run runs samples with the given bits, until each returns false.
func (s *leastSearch) run(bits, samples []int, each func(i int, out engines.Reals) bool) error {
	s.tried++
	s.v.o.ReportProgress("searching bits", s.tried, 0)
	try, err := s.v.q.QuantisedReference(s.recipe(bits))
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

// same counts the samples that keep their class. It may stop early when the count cannot reach enough any more.
func (s *leastSearch) same(bits []int, enough int) (same int, err error) {
	others := 0
	err = s.run(bits, s.order, func(i int, out engines.Reals) bool {
		if largest(out[0].Data) == largest(s.was[i][0].Data) {
			same++
		} else {
			others++
		}
		return len(s.was)-others >= enough
	})
	return same, err
}

// closest orders samples by the distance between their two largest outputs, the smallest distance first.
func closest(was []engines.Reals) []int {
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

// apart returns the summed distance between outputs with the given bits and those of the float model, on maxWeighed
// samples.
func (s *leastSearch) apart(bits []int) (sum float64, err error) {
	some := make([]int, min(maxWeighed, len(s.was)))
	for i := range some {
		some[i] = i
	}
	err = s.run(bits, some, func(i int, out engines.Reals) bool {
		for k, v := range s.was[i][0].Data {
			sum += math.Abs(out[0].Data[k] - v)
		}
		return true
	})
	return sum, err
}
