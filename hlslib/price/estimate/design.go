package estimate

import (
	"slices"

	"hlsgen/hlslib/price/cost"
	"hlsgen/hlslib/price/luts"
	"hlsgen/internal/dataflow"
)

// A DesignEstimate holds the estimated resources of a design: of its layers, its FIFOs, the logic at the host's port,
// and in total.
type DesignEstimate struct {
	Layers []dataflow.Cost // per node
	FIFOs  dataflow.Cost   // of all streams, and of the FIFOs that tell where sequences end
	Host   dataflow.Cost
	Total  dataflow.Resources
}

// DesignCost returns the estimate of a design, with the FIFO depths that it has.
func DesignCost(d *dataflow.Design) DesignEstimate {
	var e DesignEstimate
	e.Layers, e.Total = d.Cost()
	for s := range d.FIFO {
		e.FIFOs = e.FIFOs.Plus(StreamFIFO(d, s))
	}
	for _, end := range d.SequenceEndFIFOs() {
		e.FIFOs = e.FIFOs.Plus(SequenceEndFIFO(d.Target, end, d.Model.Lengths))
	}
	e.FIFOs = e.FIFOs.Plus(NetworkWrapperCost(d))
	e.Host = HostInterfaceCost(d.Target, d.Model.Graph)
	e.Total = e.Total.Plus(e.FIFOs.Total()).Plus(e.Host.Total())
	return e
}

// StreamFIFO returns the cost of the FIFO of stream s of a design.
func StreamFIFO(d *dataflow.Design, s int) dataflow.Cost {
	writer, _ := d.Model.Graph.Writer(s)
	return StreamFIFOCostForWriter(d.Target, d.FIFO[s], d.Port(s), writer < 0)
}

// NetworkWrapperCost returns the cost of the logic around a network of circuits. It is the reset, the counters of
// output words, and the control registers if the target has counters. It is nothing unless the target prices circuits.
func NetworkWrapperCost(d *dataflow.Design) dataflow.Cost {
	c := FixedWrapperCost(d.Target, len(d.Model.Graph.Streams))
	for s := range d.Model.Graph.Streams {
		c = c.Plus(StreamWrapperCost(d.Target, d.Port(s).Words, slices.Contains(d.Model.Graph.Out, s)))
	}
	return c
}

// FixedWrapperCost returns the part of NetworkWrapperCost that no fold changes, for a network of the given number of
// streams.
func FixedWrapperCost(t dataflow.Target, streams int) dataflow.Cost {
	if !PricesCircuits(t) {
		return nil
	}
	parts := []cost.CostPart{luts.ResetCost()}
	if t.Counters {
		parts = append(parts, luts.ControlRegisters(streams))
	}
	return CostOfParts(parts...)
}

// StreamWrapperCost returns the part of NetworkWrapperCost for one stream, whose frames have the given number of words.
// host says that the host reads the stream.
func StreamWrapperCost(t dataflow.Target, words int, host bool) dataflow.Cost {
	var parts []cost.CostPart
	if PricesCircuits(t) && host {
		parts = append(parts, luts.FrameCounter(words))
	}
	if PricesCircuits(t) && t.Counters {
		parts = append(parts, luts.StreamCounters(words))
	}
	return CostOfParts(parts...)
}

// finnShallow is the depth up to which FINN leaves a FIFO out (RemoveShallowFIFOs).
const finnShallow = 2

// FIFO returns the cost of a FIFO of a stream whose word format is p. It is nothing for a FIFO that FINN leaves out, by
// FINN's formula.
func FIFO(t dataflow.Target, f dataflow.FIFO, p dataflow.Port) dataflow.Cost {
	m := CostModelOf(t)
	if PricesCircuits(t) {
		return CostOfParts(luts.FIFOSize{Places: f.Depth, Width: p.Width(),
			In: MemoryStyleOf(f.Memory)}.Of(m.Fabric)...)
	}
	if m.Formula == cost.FINNFormula && f.Depth <= finnShallow {
		return nil
	}
	return CostOf(t, cost.FIFOShape{Depth: f.Depth, Width: p.Width(), Memory: MemoryStyleOf(f.Memory),
		Fabric: m.Fabric})
}

// StreamFIFOCostForWriter returns the cost of the FIFO f of a stream with the word format p. host says that the host
// writes the stream; circuits then make the FIFO deeper.
func StreamFIFOCostForWriter(t dataflow.Target, f dataflow.FIFO, p dataflow.Port, host bool) dataflow.Cost {
	if host && PricesCircuits(t) {
		f.Depth += t.ExtraFIFOWords()
	}
	return FIFO(t, f, p)
}

// SequenceEndFIFO returns the cost of a FIFO that tells a layer or an output, by a bit per time step, where sequences
// end.
func SequenceEndFIFO(t dataflow.Target, e dataflow.SequenceEnd, l *dataflow.Lengths) dataflow.Cost {
	return FIFO(t, e.FIFO, l.EndPort())
}

// FIFOMemory returns the memory for which MemoryStyleOf returns m. There must be one.
func FIFOMemory(m cost.MemoryStyle) dataflow.Memory {
	return dataflow.Memory(slices.Index(memories[:], m))
}

// HostInterfaceCost returns the cost of the data movers between the network g and the host's memory, and of a Zynq's
// logic around them. No fold changes it. It is nothing if the board has no port to a memory, or the design is fed from
// inside the FPGA.
func HostInterfaceCost(t dataflow.Target, g *dataflow.Graph) dataflow.Cost {
	if t.PortBits() == 0 {
		return nil
	}
	in := len(g.In) + len(g.Externals())
	if t.Loader && g.HasLoadedTables() {
		in++
	}
	return DataMoverCost(t, in, len(g.Out))
}

// DataMoverCost returns the cost of in movers that read memory and out movers that write it, at the board's port. It
// includes the logic around them.
func DataMoverCost(t dataflow.Target, in, out int) dataflow.Cost {
	return CostOf(t, cost.HostShape{Inputs: in, Outputs: out, Bits: t.Board.HostPortBits, Beats: t.Board.BurstBeats(),
		Card: t.Board.Platform != ""})
}
