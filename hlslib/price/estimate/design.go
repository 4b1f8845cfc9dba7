package estimate

import (
	"slices"

	"hlsgen/hlslib/price/cost"
	"hlsgen/hlslib/price/luts"
	"hlsgen/internal/dataflow"
)

// A DesignResourceEstimate holds the estimated resources of a design: of its layers, its FIFOs, the logic at the host's
// port, and in total. FIFOs includes NetworkWrapperCost.
type DesignResourceEstimate struct {
	Layers []dataflow.Cost // per node
	FIFOs  dataflow.Cost   // of all streams, and of the FIFOs that tell where sequences end
	Host   dataflow.Cost
	Total  dataflow.Resources
}

// EstimateDesignResources returns the estimated resources of a design, whose FIFOs have the depths in the design.
func EstimateDesignResources(d *dataflow.Design) DesignResourceEstimate {
	var e DesignResourceEstimate
	e.Layers, e.Total = d.CostPerNode()
	for s := range d.FIFO {
		e.FIFOs = e.FIFOs.AppendCost(StreamFIFOCost(d, s))
	}
	for _, end := range d.SequenceEndFIFOs() {
		e.FIFOs = e.FIFOs.AppendCost(SequenceEndFIFOCost(d.Target, end, d.Model.Lengths))
	}
	e.FIFOs = e.FIFOs.AppendCost(NetworkWrapperCost(d))
	e.Host = HostInterfaceCost(d.Target, d.Model.Graph).AppendCost(designUARTCost(d))
	e.Total = e.Total.Plus(e.FIFOs.Total()).Plus(e.Host.Total())
	return e
}

// designUARTCost returns the cost of the UART top of a design, if it has one.
func designUARTCost(d *dataflow.Design) dataflow.Cost {
	if !d.Model.HasUARTTop(d.Target) {
		return nil
	}
	c := UARTCost(d.Target)
	for s := range d.Model.Graph.Streams {
		writer, _ := d.Model.Graph.WriterOfStream(s)
		c = c.AppendCost(UARTStreamCost(d.Target, d.PortOfStream(s), writer < 0, slices.Contains(d.Model.Graph.Out, s)))
	}
	return c
}

// UARTCost returns the part of the cost of a UART top that is the same for all folds.
func UARTCost(t dataflow.Target) dataflow.Cost {
	if !UsesCircuitEstimates(t) {
		return nil
	}
	return CostOfParts(luts.UARTCost(CostModelOf(t).Fabric, t.ClockMHz)...)
}

// UARTStreamCost returns the part of the cost of a UART top for one stream, which the host writes or reads.
func UARTStreamCost(t dataflow.Target, p dataflow.Port, writes, reads bool) dataflow.Cost {
	var parts []cost.CostPart
	if m := (luts.UARTMessage{Words: p.Words, Bytes: p.TDATABits() / 8}); UsesCircuitEstimates(t) {
		if writes {
			parts = append(parts, m.InputCost(CostModelOf(t).Fabric)...)
		}
		if reads {
			parts = append(parts, m.OutputCost(CostModelOf(t).Fabric)...)
		}
	}
	return CostOfParts(parts...)
}

// StreamFIFOCost returns the cost of the FIFO of stream s of a design. Circuits make it deeper than d.FIFO says if the
// host writes the stream.
func StreamFIFOCost(d *dataflow.Design, s int) dataflow.Cost {
	writer, _ := d.Model.Graph.WriterOfStream(s)
	return StreamFIFOCostForWriter(d.Target, d.FIFO[s], d.PortOfStream(s), writer < 0)
}

// NetworkWrapperCost returns the cost of the logic around a network of circuits. It is the reset, the counters of
// output words, and the control registers if the target has counters. It is zero unless UsesCircuitEstimates is true
// for the target.
func NetworkWrapperCost(d *dataflow.Design) dataflow.Cost {
	c := FixedWrapperCost(d.Target, len(d.Model.Graph.Streams))
	for s := range d.Model.Graph.Streams {
		c = c.AppendCost(StreamWrapperCost(d.Target, d.PortOfStream(s).Words, slices.Contains(d.Model.Graph.Out, s)))
	}
	return c
}

// FixedWrapperCost returns the part of NetworkWrapperCost that is the same for all folds, for a network with the given
// number of streams. It is zero unless UsesCircuitEstimates is true for the target.
func FixedWrapperCost(t dataflow.Target, streams int) dataflow.Cost {
	if !UsesCircuitEstimates(t) {
		return nil
	}
	parts := []cost.CostPart{luts.ResetCost()}
	if t.Counters {
		parts = append(parts, luts.AXILiteSlaveCost(streams))
	}
	return CostOfParts(parts...)
}

// StreamWrapperCost returns the part of NetworkWrapperCost for one stream, whose frames have the given number of words.
// host says that the host reads the stream. The cost is zero unless UsesCircuitEstimates is true for the target.
func StreamWrapperCost(t dataflow.Target, words int, host bool) dataflow.Cost {
	var parts []cost.CostPart
	if UsesCircuitEstimates(t) && host {
		parts = append(parts, luts.OutputWordCounterCost(words))
	}
	if UsesCircuitEstimates(t) && t.Counters {
		parts = append(parts, luts.StreamStallCountersCost(words))
	}
	return CostOfParts(parts...)
}

// finnShallow is the depth up to which FINN leaves a FIFO out (RemoveShallowFIFOs).
const finnShallow = 2

// FIFOCost returns the cost of the FIFO f of a stream whose word format is p. By FINN's formula, it is zero for a FIFO
// so shallow that FINN leaves it out.
func FIFOCost(t dataflow.Target, f dataflow.FIFO, p dataflow.Port) dataflow.Cost {
	m := CostModelOf(t)
	if UsesCircuitEstimates(t) {
		return CostOfParts(luts.FIFOSize{Places: f.Depth, Width: p.Width(),
			In: MemoryStyleOf(f.Memory)}.CostOnFabric(m.Fabric)...)
	}
	if m.Formula == cost.FormulaFINN && f.Depth <= finnShallow {
		return nil
	}
	return CostByTargetFormula(t, cost.FIFOShape{Depth: f.Depth, Width: p.Width(), Memory: MemoryStyleOf(f.Memory),
		Fabric: m.Fabric})
}

// StreamFIFOCostForWriter returns the cost of the FIFO f of a stream with the word format p. host says that the
// host writes the stream; circuits then make the FIFO deeper.
func StreamFIFOCostForWriter(t dataflow.Target, f dataflow.FIFO, p dataflow.Port, host bool) dataflow.Cost {
	if host && UsesCircuitEstimates(t) {
		f.Depth += t.ExtraHostFIFOWords()
	}
	return FIFOCost(t, f, p)
}

// SequenceEndFIFOCost returns the cost of a FIFO that tells a layer or an output, by a bit per time step, where
// sequences end.
func SequenceEndFIFOCost(t dataflow.Target, e dataflow.SequenceEndFIFO, l *dataflow.SequenceLengths) dataflow.Cost {
	return FIFOCost(t, e.FIFO, l.SequenceEndPort())
}

// MemoryOfStyle returns the memory for which MemoryStyleOf returns m. There must be one: the result for any other style
// means nothing.
func MemoryOfStyle(m cost.MemoryStyle) dataflow.Memory {
	return dataflow.Memory(slices.Index(memories[:], m))
}

// HostInterfaceCost returns the cost of the data movers between the network g and the host's memory, and of a Zynq's
// logic around them. It is the same for all folds. It is zero if the board has no port to a memory, or if the design is
// fed from inside the FPGA.
func HostInterfaceCost(t dataflow.Target, g *dataflow.Graph) dataflow.Cost {
	if t.HostPortBits() == 0 {
		return nil
	}
	in := len(g.In) + len(g.ExternalWeightNodeIndices())
	if t.Loader && g.HasRunTimeLoadedTables() {
		in++
	}
	return DataMoversCost(t, in, len(g.Out))
}

// DataMoversCost returns the cost of data movers at the board's memory port: in of them read memory, and out of them
// write it. It includes the logic around them.
func DataMoversCost(t dataflow.Target, in, out int) dataflow.Cost {
	return CostByTargetFormula(t, cost.HostPortShape{Inputs: in, Outputs: out, Bits: t.Board.HostPortBits,
		Beats: t.Board.MaxBurstBeats(),
		Card:  t.Board.Platform != ""})
}
