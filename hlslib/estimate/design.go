package estimate

import (
	"slices"

	"hlsgen/hlslib/cells"
	"hlsgen/hlslib/cost"
	"hlsgen/internal/dataflow"
)

// A Design is what a whole design takes.
type Design struct {
	Layers []dataflow.Cost // per node
	FIFOs  dataflow.Cost   // of all streams, and of what tells where sequences end
	Host   dataflow.Cost
	Total  dataflow.Resources
}

// Whole is the estimate of a design with its FIFOs as deep as they are.
func Whole(d *dataflow.Design) Design {
	var e Design
	e.Layers, e.Total = d.Cost()
	for s := range d.FIFO {
		e.FIFOs = e.FIFOs.Plus(Stream(d, s))
	}
	for _, end := range d.Ends() {
		e.FIFOs = e.FIFOs.Plus(End(d.Target, end, d.Model.Lengths))
	}
	e.FIFOs = e.FIFOs.Plus(Borders(d))
	e.Host = Host(d.Target, d.Model.Graph)
	e.Total = e.Total.Plus(e.FIFOs.Total()).Plus(e.Host.Total())
	return e
}

// Stream is the FIFO of a stream of a design.
func Stream(d *dataflow.Design, s int) dataflow.Cost {
	writer, _ := d.Model.Graph.Writer(s)
	return Written(d.Target, d.FIFO[s], d.Port(s), writer < 0)
}

// Borders is what a network of circuits has at its borders: the reset, what counts the words of output frames, and the
// registers that are asked for.
func Borders(d *dataflow.Design) dataflow.Cost {
	c := Around(d.Target, len(d.Model.Graph.Streams))
	for s := range d.Model.Graph.Streams {
		c = c.Plus(Counted(d.Target, d.Port(s).Words, slices.Contains(d.Model.Graph.Out, s)))
	}
	return c
}

// Around is what Borders has for so many streams, however they are folded.
func Around(t dataflow.Target, streams int) dataflow.Cost {
	if !Circuits(t) {
		return nil
	}
	parts := []cost.Part{cells.Reset()}
	if t.Counters {
		parts = append(parts, cells.Registers(streams))
	}
	return Parts(parts...)
}

// Counted is what Borders has for a stream whose frames have so many words, which the host reads or a layer.
func Counted(t dataflow.Target, words int, host bool) dataflow.Cost {
	var parts []cost.Part
	if Circuits(t) && host {
		parts = append(parts, cells.End(words))
	}
	if Circuits(t) && t.Counters {
		parts = append(parts, cells.Counters(words))
	}
	return Parts(parts...)
}

// finnShallow is the depth up to which FINN takes a FIFO out again (RemoveShallowFIFOs).
const finnShallow = 2

// FIFO is the FIFO of a stream with such words.
func FIFO(t dataflow.Target, f dataflow.FIFO, p dataflow.Port) dataflow.Cost {
	m := Model(t)
	if Circuits(t) {
		return Parts(cells.FIFO{Places: f.Depth, Width: p.Width(), In: Memory(f.Memory)}.Of(m.Fabric)...)
	}
	if m.Formula == cost.FINN && f.Depth <= finnShallow {
		return nil
	}
	return Of(t, cost.FIFO{Depth: f.Depth, Width: p.Width(), Memory: Memory(f.Memory), Fabric: m.Fabric})
}

// Written is the FIFO of a stream that the host writes, or a layer.
func Written(t dataflow.Target, f dataflow.FIFO, p dataflow.Port, host bool) dataflow.Cost {
	if host && Circuits(t) {
		f.Depth += t.Ahead()
	}
	return FIFO(t, f, p)
}

// End is what tells a layer or an output where sequences end.
func End(t dataflow.Target, e dataflow.End, l *dataflow.Lengths) dataflow.Cost {
	return FIFO(t, e.FIFO, l.EndPort())
}

// FIFOMemory is the other way round: where formulas take a FIFO to lie.
func FIFOMemory(m cost.Memory) dataflow.Memory { return dataflow.Memory(slices.Index(memories[:], m)) }

// Host is what joins the network to a memory, where the board has one: a mover per stream of the host, for each layer
// whose weights come with every frame and for weights that are streamed once, and on a Zynq the shell around them. It
// does not depend on the folding. A design that is fed from inside the FPGA has nothing of it.
func Host(t dataflow.Target, g *dataflow.Graph) dataflow.Cost {
	if t.PortBits() == 0 {
		return nil
	}
	in := len(g.In) + len(g.Externals())
	if t.Loader && g.Loads() {
		in++
	}
	return Movers(t, in, len(g.Out))
}

// Movers is so many of them at the board's port, and the shell around them.
func Movers(t dataflow.Target, in, out int) dataflow.Cost {
	return Of(t, cost.Host{Inputs: in, Outputs: out, Bits: t.Board.HostPortBits, Beats: t.Board.BurstBeats(),
		Card: t.Board.Platform != ""})
}
