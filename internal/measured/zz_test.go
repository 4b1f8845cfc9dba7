package measured

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"hlsgen/hlslib/cells"
	"hlsgen/hlslib/cost"
	"hlsgen/internal/dataflow"
)

func TestZZ(t *testing.T) {
	for _, board := range boardsMeasured {
		if f := os.Getenv("ZZ"); f != "" && !strings.Contains(f, board) {
			continue
		}
		for _, x := range trials(t, target(t, board)) {
			if o := os.Getenv("ONLY"); o != "" && !strings.Contains(x.key(), o) {
				continue
			}
			d := cells.DeviceOf(cost.FabricOf(x.target.Board))
			if os.Getenv("ONE") != "" {
				for k := range d.Numbers {
					d.Numbers[k].LUT = 1
				}
			}
			if os.Getenv("DBG") != "" && x.op != nil {
				d.Count(x.op.(dataflow.Circuited).Circuit(x.fold, x.target))
			}
			lut, ff := x.estimated(d.Numbers)
			s := ""
			for k, c := range x.counts {
				if c.LUT+c.Shift+c.RAM > 0 {
					s += fmt.Sprintf(" %s %.0f", []string{"comp", "add", "cmp", "mux", "gate", "tab", "mem", "st", "pipe", "mul", "inv"}[k], c.LUT)
					if c.Shift+c.RAM > 0 {
						s += fmt.Sprintf("+%.0f", c.Shift+c.RAM)
					}
				}
			}
			h := " "
			if x.held {
				h = "*"
			}
			fmt.Printf("%s%-60s LUT %5d est %6.0f %+6.1f%%  FF %4d est %4.0f |%s\n", h, x.key(), x.measured.LUT, lut, 100*(lut/float64(x.measured.LUT)-1), x.measured.FF, ff, s)
		}
	}
}
