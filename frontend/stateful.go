package frontend

import (
	"fmt"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/lower"
	"hlsgen/internal/diag"
)

// keeps refuses what has no state that a sample could hand on to the next, where the user asks for that. b is the batch
// that the file fixes; nil where it fixes none.
func (o Options) keeps(p *graph.Program, b *graph.Batch, d *diag.List) {
	if !o.Stateful {
		return
	}
	refuse := func(n *graph.Node, msg, hint string) {
		x := diag.Diag{Severity: diag.Error, Code: diag.StateNotKept, Where: p.File, Msg: msg, Hint: hint}
		if n != nil {
			x.Node, x.Op, x.Where = n.Label(), n.FullOp(), graph.Where(p.File, n)
		}
		d.Add(x)
	}
	if o.Samples > 1 {
		refuse(nil, "with --interleave, a frame holds samples of several sequences, and a state is that of one stream",
			"use one of the two")
	}
	if b != nil && b.Sample != nil {
		refuse(nil, fmt.Sprintf("its batch of %d are samples side by side, and a state is that of one stream", b.Size),
			"export the model with a batch of 1")
	}
	seen := map[*graph.Recur]bool{}
	for _, s := range p.Steps {
		r := s.Recur
		if r == nil || seen[r] {
			continue
		}
		seen[r] = true
		n := p.Origin(s.Node)
		for _, scanned := range r.Scanned {
			if scanned.Reverse {
				refuse(n, "it runs from the end of the sequence, which a piece does not have",
					"train it with direction forward, or give whole sequences without --stateful")
				break
			}
		}
		for i := range r.States {
			if p.Known[s.Node.Inputs[i]].Const == nil {
				refuse(n, "its initial state arrives with the data, so that there is none to keep",
					"leave --stateful out and feed the last state back, or make the initial state constant")
				break
			}
		}
	}
	if len(seen) == 0 {
		refuse(nil, "there is no recurrence, so that there is no state to keep", "leave --stateful out")
	}
}

// onDevice refuses recurrences that the host would execute: it handles samples apart.
func (o Options) onDevice(p *graph.Program, low *lower.Result, d *diag.List) {
	if !o.Stateful {
		return
	}
	for _, n := range append(before(p, low).Loops(), behind(p, low).Loops()...) {
		d.Add(diag.Diag{Severity: diag.Error, Code: diag.StateNotKept, Node: n.Label(), Op: n.FullOp(),
			Where: graph.Where(p.File, n), Msg: "the host executes it, which handles samples apart",
			Hint: "quantise its input and its gates, or use --engine reference"})
	}
}
