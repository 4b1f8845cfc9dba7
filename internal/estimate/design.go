package estimate

import (
	"hlsgen/internal/cost"
	"hlsgen/internal/dataflow"
)

// A Design is what a whole design takes.
type Design struct {
	Layers []dataflow.Cost // per node
	FIFOs  dataflow.Cost   // of all streams
	Host   dataflow.Cost
	Total  dataflow.Resources
}

// Whole is the estimate of a design with its FIFOs as deep as they are.
func Whole(d *dataflow.Design) Design {
	var e Design
	e.Layers, e.Total = d.Cost()
	for s, words := range d.Depth {
		e.FIFOs = e.FIFOs.Plus(FIFO(d.Target, words, d.Port(s)))
	}
	e.Host = Host(d.Target, d.Model.Graph)
	e.Total = e.Total.Plus(e.FIFOs.Total()).Plus(e.Host.Total())
	return e
}

// finnShallow is the depth up to which FINN takes a FIFO out again (RemoveShallowFIFOs).
const finnShallow = 2

// FIFO is a stream's FIFO for so many words, as rtlsim.Size makes it.
func FIFO(t dataflow.Target, words int, p dataflow.Port) dataflow.Cost {
	m := Model(t)
	if m.Formula == cost.FINN && words <= finnShallow {
		return nil
	}
	f := cost.ImplementFIFO(words, p.Width())
	f.Fabric = m.Fabric
	return Of(t, f)
}

// FIFOs is FIFO for all ports in sum: what a search of foldings adds for the streams that a layer writes.
func FIFOs(t dataflow.Target, words int, ports []dataflow.Port) dataflow.Resources {
	var r dataflow.Resources
	for _, p := range ports {
		r = r.Plus(FIFO(t, words, p).Total())
	}
	return r
}

// Host is what joins the network to a processor's memory, where the board has one: a DMA per stream of the host, and the
// shell around them. It does not depend on the folding. A board without a port to a processor has nothing of it.
func Host(t dataflow.Target, g *dataflow.Graph) dataflow.Cost {
	if t.Board.HostPortBits == 0 {
		return nil
	}
	return Of(t, cost.Host{Inputs: len(g.In), Outputs: len(g.Out)})
}
