package estimate

import (
	"slices"

	"hlsgen/hlslib/cells"
	"hlsgen/hlslib/cost"
	"hlsgen/internal/dataflow"
)

// A Design is the estimate of a whole design.
type Design struct {
	Layers []dataflow.Cost // per node
	FIFOs  dataflow.Cost   // of all streams, and of the FIFOs that tell where sequences end
	Host   dataflow.Cost
	Total  dataflow.Resources
}

// Whole returns the estimate of a design with the FIFOs that it has.
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

// Stream returns the cost of the FIFO of a stream of a design.
func Stream(d *dataflow.Design, s int) dataflow.Cost {
	writer, _ := d.Model.Graph.Writer(s)
	return Written(d.Target, d.FIFO[s], d.Port(s), writer < 0)
}

// Borders returns the cost of the logic around a network of circuits: the reset, the counters of the words of output
// frames, and the control registers if the target has them.
func Borders(d *dataflow.Design) dataflow.Cost {
	c := Around(d.Target, len(d.Model.Graph.Streams))
	for s := range d.Model.Graph.Streams {
		c = c.Plus(Counted(d.Target, d.Port(s).Words, slices.Contains(d.Model.Graph.Out, s)))
	}
	return c
}

// Around returns the part of Borders for a network of the given number of streams that does not depend on the folding.
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

// Counted returns the part of Borders for a stream with frames of the given words. host reports whether the host reads
// it.
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

// finnShallow is the depth up to which FINN removes a FIFO (RemoveShallowFIFOs).
const finnShallow = 2

// FIFO returns the cost of the FIFO f of a stream with port p.
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

// Written returns the cost of the FIFO of a stream. host reports whether the host writes it.
func Written(t dataflow.Target, f dataflow.FIFO, p dataflow.Port, host bool) dataflow.Cost {
	if host && Circuits(t) {
		f.Depth += t.Ahead()
	}
	return FIFO(t, f, p)
}

// End returns the cost of a FIFO that tells a layer or an output where sequences end.
func End(t dataflow.Target, e dataflow.End, l *dataflow.Lengths) dataflow.Cost {
	return FIFO(t, e.FIFO, l.EndPort())
}

// FIFOMemory returns the memory of a FIFO that the formulas call m; it is the inverse of Memory.
func FIFOMemory(m cost.Memory) dataflow.Memory { return dataflow.Memory(slices.Index(memories[:], m)) }

// Host returns the cost of the logic that joins the network to a memory, if the board has one. There is a mover per
// stream of the host, one for each layer whose weights come with every frame, and one for weights that are loaded once.
// On a Zynq, the shell around the movers is added. The cost does not depend on the folding. A design that is fed from
// inside the FPGA has none.
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

// Movers returns the cost of the given number of movers at the board's port, and of the shell around them.
func Movers(t dataflow.Target, in, out int) dataflow.Cost {
	return Of(t, cost.Host{Inputs: in, Outputs: out, Bits: t.Board.HostPortBits, Beats: t.Board.BurstBeats(),
		Card: t.Board.Platform != ""})
}
