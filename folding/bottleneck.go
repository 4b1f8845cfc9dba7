package folding

import (
	"fmt"
	"slices"
	"strings"

	"hlsgen/folding/ask"
	"hlsgen/folding/space"
)

// A Bottleneck is what the interval comes from, and what makes it shorter.
type Bottleneck struct {
	Layers []string // those as slow as the interval, ties together; empty where it is the host or a FIFO
	Host   bool     // the host's port, or the processor's memory, is as slow as the interval
	Reason string
	// Cure has flags that were tried, and the rate that they give. It is empty where none was tried (Goal.Cure), and
	// where none helps.
	Cure  string
	Tried []string // flags that were tried before, in vain
}

// Names is what is as slow as the interval: the layers, and "host" for its port or memory; "FIFOs" where it is nothing
// else.
func (b Bottleneck) Names() []string {
	names := slices.Clone(b.Layers)
	if b.Host {
		names = append(names, "host")
	}
	if len(names) == 0 {
		return []string{"FIFOs"}
	}
	return names
}

// Line says where the interval comes from, what makes it shorter, and what was tried in vain.
func (b *Bottleneck) Line() string {
	line := b.Reason
	if len(b.Tried) > 0 {
		line += ". " + strings.Join(b.Tried, " or ") + " is no faster"
	}
	if b.Cure != "" {
		line += ". " + b.Cure
	}
	return line
}

// bottleneck says where the interval comes from. Layers may be as slow as the host's port or the processor's memory;
// all are named then, but the host first: no fold of a layer makes it faster.
func (q report) bottleneck(d *Design) (b Bottleneck) {
	b.Layers = q.asSlow(d)
	at := ask.Clocks(d.Clocks.Interval)
	var host []string
	if float64(d.PortClocks()) == d.Clocks.Interval {
		host = append(host, fmt.Sprintf("the host's port of %d bits", d.Target.PortBits()))
	}
	if float64(q.MemoryClocks(d.Design)) == d.Clocks.Interval {
		host = append(host, fmt.Sprintf("the processor's memory of %s GB/s", ask.Plain(q.Target.Board.MemoryGBps)))
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

// widest names the first of some layers that are as slow in their fastest fold; none where all have a faster one.
func (q report) widest(d *Design, slow []string) string {
	for _, name := range slow {
		if l := q.options(name); l != nil {
			if least, _ := l.Range(); float64(least) >= d.Clocks.Interval {
				return name
			}
		}
	}
	return ""
}

// asSlow names the layers that take as many clocks as the interval. The converters between them follow their
// neighbours, and are named only where nothing else is as slow.
func (q report) asSlow(d *Design) []string {
	var layers, converters []string
	for i, n := range d.Model.Graph.Nodes {
		name := n.Layer()
		switch {
		case float64(d.Loop(i).Iterations()) != d.Clocks.Interval || slices.Contains(layers, name):
		case q.options(name) != nil:
			layers = append(layers, name)
		default:
			converters = append(converters, n.Name)
		}
	}
	if len(layers) == 0 && float64(d.PortClocks()) != d.Clocks.Interval {
		return converters
	}
	return layers
}

// options is what the layer of a name may be; nil for a width converter.
func (q report) options(name string) *space.LayerOptions {
	if i := slices.IndexFunc(q.Layers, func(l space.LayerOptions) bool { return l.Node.Name == name }); i >= 0 {
		return &q.Layers[i]
	}
	return nil
}

// PortClocks is how many clocks a frame takes at the host's port; 0 where there is none.
func (d *Design) PortClocks() int {
	if d.Target.PortBits() == 0 {
		return 0
	}
	return d.HostClocks()
}

// doing names some things, and says that they do something.
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
