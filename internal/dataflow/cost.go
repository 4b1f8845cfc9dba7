package dataflow

import "slices"

// Resources counts the resources of an FPGA. BRAM is in RAMB18 halves. LUTRAM is a part of LUT: the LUTs
// used as memory, as shift registers or as RAM, which only some LUTs of a device can be.
type Resources struct {
	LUT    int `json:"LUT"`
	LUTRAM int `json:"LUTRAM"`
	FF     int `json:"FF"`
	BRAM   int `json:"BRAM_18K"`
	URAM   int `json:"URAM"`
	DSP    int `json:"DSP"`
}

// Plus returns r + o.
func (r Resources) Plus(o Resources) Resources {
	return Resources{r.LUT + o.LUT, r.LUTRAM + o.LUTRAM, r.FF + o.FF, r.BRAM + o.BRAM, r.URAM + o.URAM, r.DSP + o.DSP}
}

// Minus returns r - o.
func (r Resources) Minus(o Resources) Resources {
	return Resources{r.LUT - o.LUT, r.LUTRAM - o.LUTRAM, r.FF - o.FF, r.BRAM - o.BRAM, r.URAM - o.URAM, r.DSP - o.DSP}
}

// IsWithin reports whether r is at most o in every resource.
func (r Resources) IsWithin(o Resources) bool {
	return r.LUT <= o.LUT && r.LUTRAM <= o.LUTRAM && r.FF <= o.FF && r.BRAM <= o.BRAM && r.URAM <= o.URAM &&
		r.DSP <= o.DSP
}

// A Cost lists resources by named part, so that a report can say where they go.
type Cost []CostContribution

// A CostContribution is one contribution to a cost: "multipliers", "adder tree", "weight memory" and so on.
type CostContribution struct {
	Name string `json:"part"`
	Resources
}

// Total returns the sum of the parts.
func (c Cost) Total() Resources {
	var r Resources
	for _, p := range c {
		r = r.Plus(p.Resources)
	}
	return r
}

// AppendCost returns the sum of two costs, part by part; the parts of c come first. It changes neither.
func (c Cost) AppendCost(o Cost) Cost {
	sum := slices.Clone(c)
	for _, p := range o {
		i := slices.IndexFunc(sum, func(q CostContribution) bool { return q.Name == p.Name })
		if i < 0 {
			sum = append(sum, p)
			continue
		}
		sum[i].Resources = sum[i].Resources.Plus(p.Resources)
	}
	return sum
}
