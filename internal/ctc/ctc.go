// Package ctc converts a network's scores to text, on the host. It serves networks trained with connectionist
// temporal classification (Graves et al., ICML 2006). Such a network outputs a score per class for every time step
// of a sequence. A class is a symbol of an alphabet or the blank.
//
// In come scores and what the model says of its alphabet; out comes text.
package ctc

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A DecodingMethod is a way to decode scores: one of the three constants below. "" lets a model's metadata decide.
type DecodingMethod string

// The methods.
const (
	MethodGreedy            DecodingMethod = "greedy" // the best class of every step, without repetitions and blanks
	MethodBestBetweenBlanks DecodingMethod = "peaks"  // FINN-L's method: the best class between blanks
	MethodNone              DecodingMethod = "none"   // no text
)

// DocumentedMethods lists the methods with a one-line description of each.
var DocumentedMethods = []struct {
	Name DecodingMethod
	Doc  string
}{
	{MethodGreedy, "the best class of every step; repetitions and blanks are dropped"},
	{MethodBestBetweenBlanks, "the best class between two blanks, as FINN-L's hardware picks it"},
	{MethodNone, "no text"},
}

// spelled maps each value that the metadata may give as decode to its method. "" stands for metadata without decode.
var spelled = map[string]DecodingMethod{"": MethodGreedy, "greedy": MethodGreedy, "ctc-greedy": MethodGreedy,
	"peaks":       MethodBestBetweenBlanks,
	"finn-l-peak": MethodBestBetweenBlanks, "none": MethodNone}

// A Decoder converts scores per class and step to text. Blank is the index of the blank class.
type Decoder struct {
	Method   DecodingMethod
	Alphabet []string // one symbol per class; the blank's symbol is never output
	Blank    int
}

// NewDecoderFromMetadata makes a decoder of a model's metadata. It reads alphabet, a JSON list with a string per class;
// blank, the blank's class (default 0); and decode, a method (default greedy). A method other than "" replaces decode,
// and is not checked. Without an alphabet it returns nil and no error. An error names the first of the three that is
// invalid.
func NewDecoderFromMetadata(meta map[string]string, method DecodingMethod) (*Decoder, error) {
	text, ok := meta["alphabet"]
	if !ok {
		return nil, nil
	}
	d := &Decoder{Method: method}
	if err := json.Unmarshal([]byte(text), &d.Alphabet); err != nil {
		return nil, fmt.Errorf("alphabet is no JSON list of strings: %w", err)
	}
	if blank, ok := meta["blank"]; ok {
		var err error
		if d.Blank, err = strconv.Atoi(blank); err != nil {
			return nil, fmt.Errorf("blank is %q, no index of the alphabet", blank)
		}
	}
	if d.Blank < 0 || d.Blank >= len(d.Alphabet) {
		return nil, fmt.Errorf("blank is class %d of %d", d.Blank, len(d.Alphabet))
	}
	if d.Method == "" {
		if d.Method, ok = spelled[meta["decode"]]; !ok {
			return nil, fmt.Errorf("decode is %q, which is no known method", meta["decode"])
		}
	}
	return d, nil
}

// CanDecodeShape reports whether scores of this shape can be decoded. There must be at least two axes, and the last
// must have the length of the alphabet. At most one other axis, the steps, may differ from 1.
func (d *Decoder) CanDecodeShape(shape []int) bool {
	if len(shape) < 2 || shape[len(shape)-1] != len(d.Alphabet) {
		return false
	}
	axes := 0
	for _, n := range shape[:len(shape)-1] {
		if n != 1 {
			axes++
		}
	}
	return axes <= 1
}

// DecodeScoresToText decodes scores to text. They lie step by step, with one score per class in each step, and must be
// whole steps. A method other than greedy and peaks gives "".
func (d *Decoder) DecodeScoresToText(scores []float64) string {
	var s strings.Builder
	for _, class := range d.decodeClasses(scores) {
		s.WriteString(d.Alphabet[class])
	}
	return s.String()
}

// decodeClasses returns the classes whose symbols DecodeScoresToText joins, in order, without blanks. With a method
// other than greedy and peaks it returns nil.
func (d *Decoder) decodeClasses(scores []float64) []int {
	steps := slices.Collect(slices.Chunk(scores, len(d.Alphabet)))
	switch d.Method {
	case MethodGreedy:
		return d.greedy(steps)
	case MethodBestBetweenBlanks:
		return d.peaks(steps)
	}
	return nil
}

// greedy takes the best class of every step, the lowest among equals. It drops classes that repeat the step before,
// and then the blanks.
func (d *Decoder) greedy(steps [][]float64) (labels []int) {
	before := d.Blank
	for _, scores := range steps {
		best := 0
		for class, v := range scores {
			if v > scores[best] {
				best = class
			}
		}
		if best != before && best != d.Blank {
			labels = append(labels, best)
		}
		before = best
	}
	return labels
}

// peaks decodes like FINN-L's hardware (Rybalkin et al., FPL 2018). A step's class is the best one with a positive
// score. Without one, it is the class of the step before in the order of fromMiddle, with value 0. Each run of classes
// between blanks gives its class of highest value; a run that no blank follows gives none.
func (d *Decoder) peaks(steps [][]float64) (labels []int) {
	class, value := make([]int, len(steps)), make([]float64, len(steps))
	last := d.Blank
	for _, t := range fromMiddle(len(steps)) {
		for c, v := range steps[t] {
			if v > value[t] {
				last, value[t] = c, v
			}
		}
		class[t] = last
	}
	kept, most := d.Blank, 0.0
	for t, c := range class {
		if c == d.Blank {
			if kept != d.Blank {
				labels = append(labels, kept)
			}
			kept, most = d.Blank, 0
			continue
		}
		if value[t] > most {
			kept, most = c, value[t]
		}
	}
	return labels
}

// fromMiddle returns 0..n-1 in the order n/2, n/2-1, n/2+1, n/2-2 ...
func fromMiddle(n int) (order []int) {
	for i := range n {
		at := n/2 + (i+1)/2
		if i%2 == 1 {
			at = n/2 - (i+1)/2
		}
		order = append(order, at)
	}
	return order
}
