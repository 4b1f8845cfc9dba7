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

// A Method is a way to decode scores.
type Method string

// The methods.
const (
	MethodGreedy Method = "greedy" // the best class of every step, without repetitions and blanks
	MethodPeaks  Method = "peaks"  // FINN-L's method: the best class between blanks
	MethodNone   Method = "none"   // no text
)

// Methods lists the methods with a one-line description of each.
var Methods = []struct {
	Name Method
	Doc  string
}{
	{MethodGreedy, "the best class of every step; repetitions and blanks are dropped"},
	{MethodPeaks, "the best class between two blanks, as FINN-L's hardware picks it"},
	{MethodNone, "no text"},
}

// spelled maps the names in a model's metadata to methods.
var spelled = map[string]Method{"": MethodGreedy, "greedy": MethodGreedy, "ctc-greedy": MethodGreedy,
	"peaks":       MethodPeaks,
	"finn-l-peak": MethodPeaks, "none": MethodNone}

// A Decoder converts scores to text.
type Decoder struct {
	Method   Method
	Alphabet []string // one symbol per class; the blank's symbol is never output
	Blank    int
}

// Parse makes a decoder from the metadata of a model: alphabet, a JSON list with a string per class; blank, the
// index of the blank class, 0 by default; decode, a method, greedy by default. A method other than the zero value
// overrides decode. Parse returns nil without an alphabet. The error states what cannot be parsed.
func Parse(meta map[string]string, method Method) (*Decoder, error) {
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

// Fits reports whether scores with this shape can be decoded: the last axis counts classes, and one other axis
// counts steps.
func (d *Decoder) Fits(shape []int) bool {
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

// Text decodes scores. The scores of each step follow each other, one per class.
func (d *Decoder) Text(scores []float64) string {
	var s strings.Builder
	for _, class := range d.Labels(scores) {
		s.WriteString(d.Alphabet[class])
	}
	return s.String()
}

// Labels returns the classes that the text of scores consists of.
func (d *Decoder) Labels(scores []float64) []int {
	steps := slices.Collect(slices.Chunk(scores, len(d.Alphabet)))
	switch d.Method {
	case MethodGreedy:
		return d.greedy(steps)
	case MethodPeaks:
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

// peaks decodes like FINN-L's hardware (Rybalkin et al., FPL 2018, and its open implementation). A step's class is
// the best class with a score above zero, the lowest among equals. A step without such a class has the value zero
// and keeps the class of the step that the hardware processed before it; the hardware receives steps from the
// middle outwards. Then, in the order of the sequence, it keeps the class with the highest value since the last
// output. It outputs this class when a blank follows. A class without a following blank is lost, and so is the
// weaker of two classes without a blank between them.
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
