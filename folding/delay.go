package folding

import (
	"slices"

	"hlsgen/internal/dataflow"
)

// A span is when the first and the last word of a frame pass, in clocks.
//
// It is what the estimate of a latency carries along the streams: a network without stalls but for missing words, in
// which the words of a frame come at an even pace between the first and the last. A layer's first iteration waits for
// the first word of every input; no word is written before the words are there that were read by then; and what follows
// the last word that is read takes its clocks. All of it grows with the spans of the inputs.
type span struct{ first, last int }

// A delay is how a loop turns spans of its inputs into spans of its outputs.
type delay struct {
	start []int // per input: the iteration that reads the first word
	words []int // per input: words of a frame
	out   []writing
}

// A writing is one output of a delay.
type writing struct {
	first, last int   // clocks from the start to the arrival of the first and of the last word
	read        []int // per input: words read by the iteration that writes the first word
	fill        []int // per input: clocks from the last of these to the arrival of the first word
	tail        []int // per input: clocks from the last word that is read to the arrival of the last word
}

func newDelay(l dataflow.Loop, ins, outs int) delay {
	var d delay
	for p := range ins {
		n, first, _ := reads(l.Body, p, l.Iterations())
		d.start, d.words = append(d.start, first), append(d.words, n)
	}
	for p := range outs {
		w := writing{first: l.FirstWrite(p), last: l.LastWrite(p)}
		for i := range ins {
			n, _, last := reads(l.Body, i, w.first-l.Latency+1)
			w.read, w.fill = append(w.read, n), append(w.fill, w.first-last)
			_, _, last = reads(l.Body, i, w.last-l.Latency+1)
			w.tail = append(w.tail, w.last-last)
		}
		d.out = append(d.out, w)
	}
	return d
}

// reads counts the words that port p reads in the first n iterations, and gives the iterations of the first and the last
// of them; 0 and n-1 where there is none.
func reads(body []dataflow.Run, p, n int) (words, first, last int) {
	first, last = -1, n-1
	at := 0
	var visit func(body []dataflow.Run)
	visit = func(body []dataflow.Run) {
		for _, r := range body {
			if at >= n {
				return
			}
			if r.Body == nil {
				times := min(r.Times, n-at)
				if r.Moves.Read>>p&1 != 0 {
					if first < 0 {
						first = at
					}
					words, last = words+times, at+times-1
				}
				at += r.Times
				continue
			}
			each := dataflow.Loop{Body: r.Body}.Iterations()
			begin, before := at, words
			visit(r.Body)
			// Further whole repetitions read as the first did; the last one that begins may be cut off.
			whole := min(r.Times, (n-begin)/each)
			if whole > 1 {
				got := words - before
				words += (whole - 1) * got
				at = begin + whole*each
				if got > 0 {
					last += (whole - 1) * each
				}
			}
			if whole >= 1 && whole < r.Times && at < n {
				visit(r.Body)
			}
			at = begin + r.Times*each
		}
	}
	visit(body)
	return words, max(first, 0), last
}

// through gives the spans of the outputs.
func (d *delay) through(in []span) []span {
	start := 0
	for i, s := range in {
		start = max(start, s.first-d.start[i])
	}
	out := make([]span, len(d.out))
	for o := range d.out {
		w := &d.out[o]
		out[o] = span{start + w.first, start + w.last}
		for i, s := range in {
			arrived := s.first
			if n := d.words[i]; n > 1 && w.read[i] > 1 {
				arrived += ((s.last-s.first)*(w.read[i]-1) + n - 2) / (n - 1) // rounded up
			}
			if w.read[i] > 0 {
				out[o].first = max(out[o].first, arrived+w.fill[i])
			}
			out[o].last = max(out[o].last, s.last+w.tail[i])
		}
		out[o].last = max(out[o].last, out[o].first)
	}
	return out
}

// EstimateLatency is the clocks from the first word of a frame at the inputs to the last at the outputs, of a design
// whose FIFOs are deep enough. It is an estimate: words are taken to come at an even pace.
func EstimateLatency(d *dataflow.Design) int {
	g := d.Model.Graph
	spans := make([]span, len(g.Streams))
	for i, n := range g.Nodes {
		ins, _ := n.Op.Ports(d.Folds[i])
		var in []span
		for p, id := range n.In {
			if slices.Contains(g.In, id) {
				spans[id] = span{0, ins[p].Words - 1} // one per clock
			}
			in = append(in, spans[id])
		}
		l := newDelay(d.Loop(i), len(n.In), len(n.Out))
		for p, s := range l.through(in) {
			spans[n.Out[p]] = s
		}
	}
	clocks := 0
	for _, id := range g.Out {
		clocks = max(clocks, spans[id].last+1)
	}
	return clocks
}
