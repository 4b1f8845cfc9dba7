package synthesis

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"hlsgen/internal/dataflow"
)

// An instance is a row of report_utilization -hierarchical.
type instance struct {
	name    string
	amounts dataflow.Resources // with what is below it
}

// headings are what columns are called there, by the versions and families.
var headings = map[string]struct {
	in   func(*dataflow.Resources) *int
	each int // of our unit
}{
	"Total LUTs":   {func(r *dataflow.Resources) *int { return &r.LUT }, 1},
	"FFs":          {func(r *dataflow.Resources) *int { return &r.FF }, 1},
	"RAMB36":       {func(r *dataflow.Resources) *int { return &r.BRAM }, 2},
	"RAMB18":       {func(r *dataflow.Resources) *int { return &r.BRAM }, 1},
	"URAM":         {func(r *dataflow.Resources) *int { return &r.URAM }, 1},
	"DSP Blocks":   {func(r *dataflow.Resources) *int { return &r.DSP }, 1},
	"DSP48 Blocks": {func(r *dataflow.Resources) *int { return &r.DSP }, 1},
	"DSP Slices":   {func(r *dataflow.Resources) *int { return &r.DSP }, 1},
}

// hierarchy reads the rows of report_utilization -hierarchical, the whole design first.
func hierarchy(data []byte) (list []instance, err error) {
	var head []string
	for line := range strings.Lines(string(data)) {
		cells := strings.Split(line, "|")
		if len(cells) < 4 {
			continue
		}
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		switch {
		case cells[1] == "Instance":
			head = cells
			continue
		case head == nil || len(cells) != len(head) || strings.HasPrefix(cells[1], "("):
			continue // the logic of an instance without what is below it
		}
		r := instance{name: cells[1]}
		for i, name := range head {
			h, ok := headings[name]
			if !ok {
				continue
			}
			n, err := strconv.Atoi(cells[i])
			if err != nil || n < 0 || n > math.MaxInt32 {
				return nil, fmt.Errorf("a report of utilisation with %.40q %s of %.40q", cells[i], name, r.name)
			}
			*h.in(&r.amounts) += h.each * n
		}
		list = append(list, r)
	}
	return list, nil
}
