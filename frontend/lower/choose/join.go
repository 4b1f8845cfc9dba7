package choose

import (
	"hlsgen/frontend/lower/integers"
	"hlsgen/hlslib/add"
	"hlsgen/hlslib/mul"
)

// sum returns the choice of a chain of layers that add the inputs. Each layer has two inputs: the sum so far and the
// next input. The last layer also applies the step functions of s.
func sum(s WeightedSumWithSteps) (c LayerChoice, err error) {
	before := compact(s.Factors[0])
	for _, factors := range s.Factors[1:] {
		p := add.Params{Factors: [2][]int64{before, compact(factors)}}
		if len(c.Ops) == len(s.Factors)-2 && s.Steps != nil {
			p.Steps = integers.MergeEqualStepFunctions(s.Steps)
		}
		c.Ops, before = append(c.Ops, add.New(p)), nil
	}
	return c, nil
}

// compact returns nil if every factor is 1, a single factor if all are equal, and the factors themselves otherwise.
func compact(factors []int64) []int64 {
	for _, f := range factors {
		if f != factors[0] {
			return factors
		}
	}
	if factors[0] == 1 {
		return nil
	}
	return factors[:1]
}

func times(t ElementProductWithSteps) (LayerChoice, error) {
	return one(mul.New(mul.Params{Offset: t.Offset, Steps: integers.MergeEqualStepFunctions(t.Steps)})), nil
}
