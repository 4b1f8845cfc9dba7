package operators

import (
	"fmt"
	"strconv"
	"strings"

	"hlsgen/frontend/graph"
	"hlsgen/internal/diag"
)

// unknown refuses an operator without a definition. inputs says whether the node's inputs are known. If they are not,
// an unsupported form of a composite operator is not reported separately.
func unknown(n *graph.Node, inputs bool, g *graph.Graph) {
	if finnLayer(n) {
		step := finnStep(g.Nodes)
		panic(&reject{diag.OpUnsupported, "this is FINN's graph after " + step + ", whose layers are FINN's own",
			"give the file of step_tidy_up or step_streamline, which FINN's build keeps in intermediate_models", step})
	}
	if g, ok := gaps[n.Op]; ok {
		panic(&reject{diag.OpUnsupported, fmt.Sprintf("this is part of %s, which is not supported", g.what), g.needs,
			g.what})
	}
	if _, ok := compositeOf(n); ok {
		if !inputs {
			panic(reported)
		}
		unsupported("export it as QuantizeLinear and DequantizeLinear around the real operator, with "+
			"constant zero points", "this form of the operator, with %d inputs, is not understood", len(n.Inputs))
	}
	msg, hint := "no such operator is known", "rewrite the model without it, or run this part outside the accelerator"
	for domain, of := range operators {
		if _, ok := of[n.Op]; ok && domain != n.Domain {
			msg, hint = msg+" in this domain, but in another", "check the custom domains that the exporter writes"
			break
		}
	}
	panic(&reject{diag.OpUnsupported, msg, hint, n.QualifiedOpName()})
}

// A causes groups diagnostics by their cause, so that all nodes with one cause share one diagnostic.
type causes map[string]*cause

type cause struct {
	at    int // the index in the list of diagnostics
	nodes []string
}

// add adds the diagnostic of one more node.
func (c causes) add(why string, x diag.Diag, d *diag.List) {
	if known := c[why]; known != nil {
		node := strconv.Quote(x.Node)
		if x.Op != d.Diags[known.at].Op {
			node = x.Op + " " + node
		}
		known.nodes = append(known.nodes, node)
		return
	}
	c[why] = &cause{len(d.Diags), nil}
	d.Add(x)
}

// shownNodes is the number of nodes with one cause that a diagnostic names.
const shownNodes = 4

// tell completes the diagnostics with the number and the names of the other nodes that share them.
func (c causes) tell(d *diag.List) {
	for _, known := range c {
		n := len(known.nodes)
		if n == 0 {
			continue
		}
		note := strings.Join(known.nodes[:min(n, shownNodes)], ", ")
		if n > shownNodes {
			note = fmt.Sprintf("%s and %d more", note, n-shownNodes)
		}
		x := &d.Diags[known.at]
		x.Msg = fmt.Sprintf("%s (%d nodes)", x.Msg, n+1)
		x.Notes = append(x.Notes, note)
	}
}
