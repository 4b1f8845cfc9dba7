package synthesis

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"hlsgen/internal/dataflow"
)

// An instance is a row of a utilisation report by hierarchy: the name of a module's instance and its resources.
type instance struct {
	name    string
	amounts dataflow.Resources // amounts including all instances below
}

// headings maps the names of the report's columns, in all versions of Vivado and families of devices, to resources.
var headings = map[string]struct {
	in   func(*dataflow.Resources) *int
	each int // our units per unit of the column
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

// hierarchy returns the rows of a report of report_utilization -hierarchical, the whole design first. It returns none
// if the report has no such table, and an error for an amount that is no number.
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
			continue // a row for the instance without the instances below
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
