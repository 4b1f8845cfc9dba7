package measured

import (
	"bytes"
	"encoding/csv"
	"flag"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"hlsgen/hlslib/cells"
	"hlsgen/hlslib/cost"
	"hlsgen/internal/dataflow"
)

var (
	measure = flag.Bool("measure", false, "have Yosys synthesise all points, and write measured.csv")
	update  = flag.Bool("update", false, "fit the numbers of hlslib/cells, and write the tables of docs/estimator.md")
)

const tableFile = "measured.csv"

// A cellCount is cells of a layer or a network, as Yosys counts them. LUT is LUT1 to LUT6, shift registers and
// memories, a RAM32M being four; no inverters.
type cellCount struct{ LUT, Shift, RAM, FF, BRAM, DSP int }

// counted is cells by what Yosys calls them.
func counted(names map[string]int) (c cellCount) {
	for name, n := range names {
		switch {
		case slices.Contains([]string{"LUT1", "LUT2", "LUT3", "LUT4", "LUT5", "LUT6"}, name), name == "SB_LUT4":
			c.LUT += n
		case name == "CCU2C": // two lookup tables with their carry
			c.LUT += 2 * n
		case strings.HasPrefix(name, "SRL"):
			c.Shift += n
		case name == "RAM32M", name == "RAM64M", name == "TRELLIS_DPR16X4":
			c.RAM += 4 * n
		case name == "RAM32X1D", name == "RAM64X1D":
			c.RAM += 2 * n
		case name == "RAM128X1D":
			c.RAM += 4 * n
		case strings.HasPrefix(name, "FD"), strings.HasPrefix(name, "SB_DFF"), name == "TRELLIS_FF":
			c.FF += n
		case name == "RAMB18E1", name == "SB_RAM40_4K", name == "DP16KD", name == "PDPW16KD":
			c.BRAM += n
		case name == "RAMB36E1":
			c.BRAM += 2 * n
		case name == "DSP48E1", name == "SB_MAC16", name == "MULT18X18D":
			c.DSP += n
		}
	}
	c.LUT += c.Shift + c.RAM
	return c
}

// columns are those of the table.
var columns = []string{"point", "LUT", "SRL", "LUTRAM", "FF", "BRAM", "DSP"}

func (c cellCount) row(name string) []string {
	row := []string{name}
	for _, n := range []int{c.LUT, c.Shift, c.RAM, c.FF, c.BRAM, c.DSP} {
		row = append(row, strconv.Itoa(n))
	}
	return row
}

// encoded is rows of a table.
func encoded(rows [][]string) []byte {
	var b bytes.Buffer
	if err := csv.NewWriter(&b).WriteAll(rows); err != nil {
		panic(err) // of a buffer there is none
	}
	return b.Bytes()
}

// table is what was measured, by point.
func table(t *testing.T) map[string]cellCount {
	t.Helper()
	f, err := os.Open(tableFile)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil || len(rows) == 0 || !slices.Equal(rows[0], columns) {
		t.Fatalf("%s: %v", tableFile, err)
	}
	all := map[string]cellCount{}
	for _, row := range rows[1:] {
		var c cellCount
		for i, to := range []*int{&c.LUT, &c.Shift, &c.RAM, &c.FF, &c.BRAM, &c.DSP} {
			if *to, err = strconv.Atoi(row[i+1]); err != nil {
				t.Fatalf("%s: %v", tableFile, err)
			}
		}
		all[row[0]] = c
	}
	return all
}

// A trial is a point that was measured, and what is counted of it.
type trial struct {
	point
	measured cellCount
	counts   cells.Counts
	held     bool // the fit does not see it
}

// trials are the points of a board that were measured. Of three, the fit does not see one.
func trials(t *testing.T, to dataflow.Target) (list []trial) {
	measured := table(t)
	d := cells.DeviceOf(cost.FabricOf(to.Board))
	for _, p := range points(t, to) {
		if c, ok := measured[p.key()]; ok {
			m := p.op.(dataflow.Circuited).Circuit(p.fold, p.target)
			list = append(list, trial{p, c, d.Count(m), len(list)%3 == 2})
		}
	}
	return list
}

// estimated is the LUTs and registers of a trial by numbers.
func (x trial) estimated(n [cells.Kinds]cells.Number) (lut, ff float64) {
	for k, c := range x.counts {
		lut += n[k].LUT*c.LUT + c.Shift + c.RAM
		ff += n[k].FF * c.FF
	}
	return lut, ff
}

// relative is an error by what was measured.
func relative(estimated float64, measured int) float64 {
	if measured == 0 {
		return 0
	}
	e := estimated/float64(measured) - 1
	return max(e, -e)
}

// median of errors, and the greatest.
func median(errors []float64) (middle, most float64) {
	if len(errors) == 0 {
		return 0, 0
	}
	list := slices.Sorted(slices.Values(errors))
	return list[len(list)/2], list[len(list)-1]
}

// fit is numbers for lookup tables by which the sum of the relative errors of those trials that it sees is least.
func fit(list []trial) (n [cells.Kinds]cells.Number) {
	for k := range n {
		n[k] = cells.Number{LUT: 1, FF: 1}
	}
	sum := func() (s float64) {
		for _, x := range list {
			if !x.held && x.measured.LUT > 0 {
				lut, _ := x.estimated(n)
				s += relative(lut, x.measured.LUT)
			}
		}
		return s
	}
	for range 60 {
		for k := range n {
			best, least := n[k].LUT, sum()
			for _, step := range []float64{-.2, -.1, -.05, -.02, -.01, .01, .02, .05, .1, .2} {
				n[k].LUT = math.Round(100*(best+step)) / 100
				if s := sum(); n[k].LUT >= .5 && n[k].LUT <= 1.5 && s < least-1e-9 {
					best, least = n[k].LUT, s
				}
			}
			n[k].LUT = best
		}
	}
	return n
}
