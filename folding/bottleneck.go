package folding

import (
	"fmt"
	"slices"
	"strings"

	"hlsgen/folding/goal"
	"hlsgen/folding/space"
)

// A Bottleneck says what sets a design's interval, and what would make it shorter.
type Bottleneck struct {
	Layers []string // all layers as slow as the interval; empty if only the host or a FIFO is
	Host   bool     // whether the host's port or the processor's memory is as slow as the interval
	State  bool     // whether a state that the host carries has to come back before the next frame begins
	Reason string
	// Cure names flags that were tried, and the rate that they give. It is empty if none were tried (Goal.Cure), or if
	// none helps.
	Cure  string
	Tried []string // flags that were tried before without success
}

// LimitingPartNames returns the names of everything as slow as the interval: layers, and "host" for its port or memory.
// It returns "FIFOs" if there is nothing else, and "state" if a state has to come back.
func (b Bottleneck) LimitingPartNames() []string {
	if b.State {
		return []string{"state"}
	}
	names := slices.Clone(b.Layers)
	if b.Host {
		names = append(names, "host")
	}
	if len(names) == 0 {
		return []string{"FIFOs"}
	}
	return names
}

// DescribeInOneLine returns one line of text about the bottleneck: the reason, the flags tried in vain, and those that
// help.
func (b *Bottleneck) DescribeInOneLine() string {
	line := b.Reason
	if len(b.Tried) > 0 {
		line += ". " + strings.Join(b.Tried, " or ") + " is no faster"
	}
	if b.Cure != "" {
		line += ". " + b.Cure
	}
	return line
}

// bottleneck returns what sets the design's interval. Layers may be as slow as the host's port or the processor's
// memory. Then it names all of them, the host first, since no fold of a layer makes the host faster.
func (q report) bottleneck(d *Design) (b Bottleneck) {
	if len(d.Model.Feedback) > 0 {
		return Bottleneck{State: true, Reason: "a state comes back before the next frame begins: one frame a latency"}
	}
	b.Layers = q.asSlow(d)
	at := goal.FormatClocks(d.Clocks.Interval)
	var host []string
	if float64(d.HostPortClocksPerFrame()) == d.Clocks.Interval {
		host = append(host, fmt.Sprintf("the host's port of %d bits", d.Target.HostPortBits()))
	}
	if float64(q.MinClocksPerFrame(d.Design)) == d.Clocks.Interval {
		host = append(host, fmt.Sprintf("the processor's memory of %s GB/s",
			goal.FormatUpToSixDecimals(q.Target.Board.MemoryGBps)))
	}
	b.Host = len(host) > 0
	switch {
	case b.Host:
		b.Reason = doing(host, "takes", "take") + " " + at + " for a frame"
		if len(b.Layers) > 0 {
			b.Reason += ". " + doing(b.Layers, "keeps", "keep") + " pace with that"
		}
	case len(b.Layers) > 0:
		b.Reason = doing(b.Layers, "takes", "take") + " " + at + " for a frame"
	default:
		b.Reason = d.Clocks.Trace.Bottleneck.Reason
	}
	if widest := q.widest(d, b.Layers); widest != "" {
		b.Reason += ". " + widest + " has no wider fold"
		if q.Goal.Fixed != nil && q.options(widest).Fixed {
			b.Reason += " in the folding file"
		}
	}
	return b
}

// widest returns the first of the slow layers that are slow even in their fastest fold. It returns "" if all have a
// faster one.
func (q report) widest(d *Design, slow []string) string {
	for _, name := range slow {
		if l := q.options(name); l != nil {
			if least, _ := l.ClocksRange(); float64(least) >= d.Clocks.Interval {
				return name
			}
		}
	}
	return ""
}

// asSlow returns the names of the layers that take as many clocks as the interval. Width converters, which follow their
// neighbours, are among them only if nothing else is as slow.
func (q report) asSlow(d *Design) []string {
	var layers, converters []string
	for i, n := range d.Model.Graph.Nodes {
		name := n.LayerName()
		switch {
		case float64(d.LoopOfNode(i).IterationsPerFrame()) != d.Clocks.Interval || slices.Contains(layers, name):
		case q.options(name) != nil:
			layers = append(layers, name)
		default:
			converters = append(converters, n.Name)
		}
	}
	if len(layers) == 0 && float64(d.HostPortClocksPerFrame()) != d.Clocks.Interval {
		return converters
	}
	return layers
}

// options returns the options of the layer with the given name, or nil for a width converter.
func (q report) options(name string) *space.LayerFoldOptions {
	if i := slices.IndexFunc(q.Layers, func(l space.LayerFoldOptions) bool { return l.Node.Name == name }); i >= 0 {
		return &q.Layers[i]
	}
	return nil
}

// HostPortClocksPerFrame returns the clocks that a frame takes at the host's port, or 0 if the design has none.
func (d *Design) HostPortClocksPerFrame() int {
	if d.Target.HostPortBits() == 0 {
		return 0
	}
	return d.HostClocksPerFrame()
}

// doing returns a clause with the names as its subject: "a takes", or "a and b take".
func doing(names []string, one, many string) string {
	switch n := len(names); {
	case n == 1:
		return names[0] + " " + one
	case n > 4:
		return fmt.Sprintf("%s and %d more layers %s", strings.Join(names[:3], ", "), n-3, many)
	default:
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1] + " " + many
	}
}
