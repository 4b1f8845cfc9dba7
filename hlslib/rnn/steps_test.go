package rnn_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"hlsgen/hlslib/rnn"
	"hlsgen/internal/testsupport/layertest"
)

// TestSteps checks recurrences for sequences of any length.
func TestSteps(t *testing.T) {
	t.Parallel()
	var cases []layertest.Case
	for _, o := range []recipe{
		{kind: "gru", cells: 1, units: 6, sequence: true, plain: true, started: true},
		{kind: "rnn", cells: 1, units: 4, sequence: true},
		{kind: "lstmp", cells: 1, units: 4, sequence: true, peepholes: true, differ: true},
		{kind: "lstm", cells: 1, units: 8, sequence: true, arrive: true},
	} {
		r := rand.New(rand.NewPCG(uint64(len(cases)), 12))
		p := o.layer(r)
		cases = append(cases, layertest.Case{Name: fmt.Sprintf("%s %d", o.kind, len(cases)), Op: rnn.New(p),
			In: o.inputs(r, p, 4)})
	}
	mutant := func(from, to string) layertest.Mutant { return layertest.Mutant{Path: "rnn.hpp", From: from, To: to} }
	layertest.CheckSequences(t, func(input int) bool { return input == 0 }, []layertest.Mutant{
		mutant("if (!last) {", "if (!last && t != C::length - 2) {"),
		mutant("word_before = words_left == last_word + 1", "word_before = words_left == last_word"),
		{Path: "layers/RNN_0.hpp", From: "finished = at.finished()", To: "finished = at.ends(0)"},
	}, cases...)
}
