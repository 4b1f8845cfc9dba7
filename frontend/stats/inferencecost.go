package stats

// QONNXInferenceCost returns the figures of qonnx's inference_cost with discount_sparsity, under the same keys.
// op_mac_INPUT_WEIGHT counts products whose weight is not 0, mem_w_WEIGHT such weights, mem_o_OUTPUT output elements;
// the rest are totals. As in qonnx, total_bops is products times input bits times weight bits. Types are the declared
// ones; qonnx names them differently where there is a scale.
func (n *ModelStats) QONNXInferenceCost() map[string]float64 {
	out := map[string]float64{"total_macs": 0, "total_bops": 0, "total_mem_w_elems": 0, "total_mem_w_bits": 0,
		"total_mem_o_elems": 0, "total_mem_o_bits": 0}
	add := func(key, total string, elements int64, bits int) {
		out[key] += float64(elements)
		out["total_"+total+"_elems"] += float64(elements)
		out["total_"+total+"_bits"] += float64(elements) * float64(bits)
	}
	for _, l := range n.Layers {
		for _, p := range l.Products {
			macs := float64(p.EffectiveMACs)
			out["op_mac_"+p.Input+"_"+p.Weight] += macs
			out["total_macs"] += macs
			out["total_bops"] += macs * float64(p.InputWidth) * float64(p.WeightWidth)
			if p.Zeros != nil {
				add("mem_w_"+p.Weight, "mem_w", p.Weights-p.ZeroWeights, p.WeightWidth)
			}
		}
		size := int64(1)
		for _, d := range l.Output {
			size *= int64(d)
		}
		add("mem_o_"+l.Type, "mem_o", size, int(l.OutputBits/max(size, 1)))
	}
	return out
}
