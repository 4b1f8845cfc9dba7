package rnn_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"hlsgen/hlslib/rnn"
	"hlsgen/internal/testsupport/layertest"
	"hlsgen/internal/testsupport/randomtest"
	"hlsgen/internal/testsupport/tier"
)

const loose = "values depend on each other, and ranges are products of theirs"

func TestContract(t *testing.T) {
	t.Parallel()
	var cases []layertest.Case
	add := func(o recipe, steps, folds int) {
		r := rand.New(rand.NewPCG(uint64(len(cases)), 11))
		p := o.layer(r)
		cases = append(cases, layertest.Case{Name: fmt.Sprintf("%+v", o), Op: rnn.New(p), In: o.inputs(r, p, steps),
			Folds: folds, Loose: loose})
	}
	add(recipe{kind: "lstm", cells: 1, units: 1}, 1, 0)
	add(recipe{kind: "lstm", cells: 1, units: 4, sequence: true}, 5, 0)
	add(recipe{kind: "rnn", cells: 1, units: 4, sequence: true}, 5, 0)
	for _, kind := range []string{"lstm", "gru", "gru, reset first", "rnn", "lstmp"} {
		for _, o := range []recipe{
			{cells: 2, units: 4, states: true},
			{cells: 1, units: 6, plain: true, sequence: true, started: true},
			{cells: 2, units: 6, peepholes: true, product: true, perUnit: true, differ: true, sequence: true,
				states: true, started: true, scaled: true},
			{cells: 3, units: 4, cifg: true, sequence: true, differ: true},
			{cells: 1, units: 8, sequences: 4, sequence: true, arrive: true},
			{cells: 2, units: 4, sequences: 2, arrive: true, states: true, apart: true},
			{cells: 2, units: 4, sequences: 2, states: true, keeps: true, scaled: true, started: true},
			{cells: 1, units: 4, falling: true, perUnit: true, dead: true, arrive: true, states: true},
			{cells: 2, units: 4, dead: true, plain: true, keeps: true, sequence: true},
		} {
			if o.kind = kind; o.cifg && kind != "lstm" && kind != "lstmp" {
				continue
			}
			add(o, 1+len(cases)%4, 4)
		}
	}
	layertest.Check(t, cases...)
}

// TestRandom checks random programs against the contract.
func TestRandom(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	n := 40
	if tier.Full() {
		n = 120
	}
	layertest.Check(t, layertest.RandomCases(n, 13, randomtest.RNN)...)
}
