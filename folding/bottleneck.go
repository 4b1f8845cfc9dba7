package folding

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"hlsgen/folding/ask"
	"hlsgen/folding/space"
)

// A Bottleneck is what the interval comes from, and what would change it.
type Bottleneck struct {
	Layers []string // those that are as slow as the interval, ties together; empty where it is the host or a FIFO
	Host   bool     // the host's port, or the processor's memory, is as slow as the interval
	Reason string
	Cure   string // what to change about all of it
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
		b.Cure = "--io stream, where the network is fed from inside the FPGA, or fewer bits at its ends (--input-type)"
		if len(d.Externals()) > 0 {
			b.Cure = "fewer layers whose weights come from memory, --weights external=LAYER,..., or fewer bits of " +
				"weights"
		}
		if len(b.Layers) > 0 {
			b.Reason += "; " + doing(b.Layers, "keeps", "keep") + " pace with that"
			b.Cure += "; and then, for what keeps pace, " + q.cure(d, b.Layers)
		}
	case len(b.Layers) > 0:
		b.Reason = doing(b.Layers, "takes", "take") + " " + at + " for a frame"
		b.Cure = q.cure(d, b.Layers)
	default:
		b.Reason, b.Cure = d.Clocks.Trace.Bottleneck.Reason, "deeper FIFOs there, or leave their depths to hlsgen"
		if more := asked(q.Goal, d.Certificate.Proved()); more != "" {
			b.Cure = more
		}
	}
	return b
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

// cure is what would make the slowest layers faster: wider folds where they have them, and what stands in the way.
func (q report) cure(d *Design, slow []string) string {
	for i := range q.Layers {
		l := &q.Layers[i]
		if least, _ := l.Range(); float64(least) < d.Clocks.Interval || !slices.Contains(slow, l.Node.Name) {
			continue
		}
		if q.Goal.Fixed != nil && l.Fixed {
			return "another fold of " + l.Node.Name + " in the folding file"
		}
		if e, ok := space.Unroll(q.Space, int(math.Ceil(d.Clocks.Interval))-1); ok {
			return "--max-unroll " + e.String() + ", by which every layer has a faster fold"
		}
		return l.Node.Name + " has no wider fold: only a higher --clock makes it faster"
	}
	if more := asked(q.Goal, d.Certificate.Proved()); more != "" {
		return more
	}
	return "wider folds there (PE, SIMD), which take a larger --max-use or board"
}

// asked is what to ask for instead of a goal that is met, where a faster design may be had so; empty where the goal was
// the highest throughput.
func asked(g Goal, proved bool) string {
	least := "this is the least design for what was asked"
	if !proved {
		least = "this is the least design that was found for what was asked"
	}
	switch {
	case g.Latency:
		return "a search without --latency, which is for the highest rate"
	case g.FPS > 0:
		return "a higher --fps: " + least
	case g.Interval > 0:
		return "a smaller --interval: " + least
	}
	return ""
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
