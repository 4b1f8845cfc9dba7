package measured

import (
	"bytes"
	"encoding/csv"
	"flag"
	"hash/fnv"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"hlsgen/hlslib/price/cost"
	"hlsgen/hlslib/price/estimate"
	"hlsgen/hlslib/price/luts"
	"hlsgen/internal/dataflow"
)

var (
	measure = flag.Bool("measure", false, "have Yosys synthesise all points, and write measured.csv")
	update  = flag.Bool("update", false,
		"fit the numbers of hlslib/price/luts, and write the tables of docs/estimator.md")
)

// tableFile lists every point. againFile lists some of them measured a second time in a run with other points, as
// Yosys' counts vary with the other names it has read.
const tableFile, againFile = "measured.csv", "again.csv"

// twice reports whether a point is in both files: layers other than plain products and sums, and FIFOs.
func (p point) twice() bool {
	return !p.swept() && !p.prefixed("mvau_w", "vvau", "lstm", "dsp")
}

// columns names the columns of the table.
var columns = []string{"point", "LUT", "SRL", "LUTRAM", "FF", "BRAM", "DSP", "levels"}

func (c cellCount) row(name string) []string {
	row := []string{name}
	for _, n := range []int{c.LUT, c.Shift, c.RAM, c.FF, c.BRAM, c.DSP, c.Levels} {
		row = append(row, strconv.Itoa(n))
	}
	return row
}

// encoded returns rows of a table as CSV.
func encoded(rows [][]string) []byte {
	var b bytes.Buffer
	if err := csv.NewWriter(&b).WriteAll(rows); err != nil {
		panic(err) // writing to a buffer does not fail
	}
	return b.Bytes()
}

// table reads measured.csv, by key of the points.
func table(t *testing.T) map[string]cellCount {
	t.Helper()
	return tableOf(t, tableFile)
}

func tableOf(t *testing.T, file string) map[string]cellCount {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil || len(rows) == 0 || !slices.Equal(rows[0], columns) {
		t.Fatalf("%s: %v", file, err)
	}
	all := map[string]cellCount{}
	for _, row := range rows[1:] {
		var c cellCount
		for i, to := range []*int{&c.LUT, &c.Shift, &c.RAM, &c.FF, &c.BRAM, &c.DSP, &c.Levels} {
			if *to, err = strconv.Atoi(row[i+1]); err != nil {
				t.Fatalf("%s: %v", file, err)
			}
		}
		all[row[0]] = c
	}
	return all
}

// A trial is a point that was measured, with the estimate's counts for it. If its lookup tables were measured
// twice, measured has their mean.
type trial struct {
	point
	measured cellCount
	apart    float64                  // relative difference of the two counts of lookup tables
	counts   luts.CellCountsByPurpose // of a layer or circuit: its elements, by kind
	ruled    luts.CellCountsByPurpose // the same if no small circuit is mapped gate by gate
	reported dataflow.Resources       // of a layer: the estimate in whole cells, as reports have it
	fixed    dataflow.Resources       // of a FIFO: the estimate, to which nothing is fitted
	held     bool                     // not used by the fit
}

// held reports whether the fit leaves out a point: about a third of all, chosen by a hash of the name, so that
// adding points does not change it for others.
func held(name string) bool {
	h := fnv.New32a()
	h.Write([]byte(name))
	return h.Sum32()%3 == 0
}

// counted caches the trials of each board, which several tests use.
var counted sync.Map

// trials returns the points of a board that were measured, sorted by name.
func trials(t *testing.T, to dataflow.Target) []trial {
	once, _ := counted.LoadOrStore(to.Board.Name, sync.OnceValue(func() []trial { return countTrials(t, to) }))
	return slices.Clone(once.(func() []trial)())
}

func countTrials(t *testing.T, to dataflow.Target) (list []trial) {
	measured, again := table(t), tableOf(t, againFile)
	d := luts.SynthesisRulesOf(cost.FabricOf(to.Board))
	rules := *d
	rules.Small = false
	all := points(t, to)
	slices.SortFunc(all, func(a, b point) int { return strings.Compare(a.name, b.name) })
	for _, p := range all {
		c, ok := measured[p.key()]
		if !ok {
			continue
		}
		x := trial{point: p, measured: c, held: held(p.name) || p.swept()}
		if o, ok := again[p.key()]; ok && p.twice() {
			x.measured.LUT, x.apart = (c.LUT+o.LUT)/2, relative(float64(o.LUT), c.LUT)
		}
		if p.op == nil {
			x.fixed = tabled(estimate.CostOfParts(p.fifo.CostOnFabric(d.Fabric)...))
		} else {
			m := p.op.(dataflow.HasCircuit).Circuit(p.fold, p.target)
			x.counts, x.reported = d.CountCells(m), tabled(estimate.CostOfParts(luts.EstimateCircuitCost(m,
				d.Fabric)...))
			if x.ruled = x.counts; d.Small {
				x.ruled = rules.CountCells(m)
			}
		}
		list = append(list, x)
	}
	return list
}

// tabled returns the resources of a cost without cells that have no lookup table, which Yosys does not count.
func tabled(c dataflow.Cost) dataflow.Resources {
	alone := func(p dataflow.CostContribution) bool { return p.Name == luts.AloneName }
	return slices.DeleteFunc(slices.Clone(c), alone).Total()
}

// estimated returns the lookup tables and registers estimated with the given numbers.
func (x trial) estimated(n [luts.CellPurposeCount]luts.CostPerCell) (lut, ff float64) {
	lut, ff = float64(x.fixed.LUT), float64(x.fixed.FF)
	for k, c := range x.counts {
		lut += n[k].LUT*c.LUT + c.Flat + c.Shift + c.RAM
		ff += n[k].FF * c.FF
	}
	return lut, ff
}

// relative returns the relative error of an estimate.
func relative(estimated float64, measured int) float64 {
	if measured == 0 {
		return 0
	}
	e := estimated/float64(measured) - 1
	return max(e, -e)
}

// median returns the median and the greatest of the errors.
func median(errors []float64) (middle, most float64) {
	if len(errors) == 0 {
		return 0, 0
	}
	list := slices.Sorted(slices.Values(errors))
	return list[len(list)/2], list[len(list)-1]
}

// firm is a penalty in the fit, for devices whose small circuits are mapped gate by gate: each number adds firm
// times its distance from 1 to the sum of relative errors. There the cells are counted almost exactly, and the
// trials are too few for so many numbers. On an ECP5, cross-validation among the trials that the fit uses preferred
// this value; on an iCE40 a third of it does as well.
const firm = 1

// fit returns the numbers for lookup tables with the least sum of relative errors over the trials that are not
// held. They scale the counts of the rules, so small circuits that a device maps gate by gate are counted by the
// rules here, too. Layers that multiply in DSP slices are left out: the rest of them is the same logic, and many
// take few lookup tables.
func fit(list []trial) (n [luts.CellPurposeCount]luts.CostPerCell) {
	for k := range n {
		n[k] = luts.CostPerCell{LUT: 1, FF: 1}
	}
	list = slices.Clone(list)
	for i := range list {
		list[i].counts = list[i].ruled
	}
	maps := luts.SynthesisRulesOf(cost.FabricOf(list[0].target.Board)).Maps
	sum := func() (s float64) {
		for _, x := range list {
			if !x.held && x.op != nil && x.group() != inSlices && x.measured.LUT > 0 {
				lut, _ := x.estimated(n)
				s += relative(lut, x.measured.LUT)
			}
		}
		for _, k := range n {
			if maps {
				s += firm * math.Abs(k.LUT-1)
			}
		}
		return s
	}
	for range 60 {
		for k := range n {
			best, least := n[k].LUT, sum()
			for _, step := range []float64{-.2, -.1, -.05, -.02, -.01, .01, .02, .05, .1, .2} {
				n[k].LUT = math.Round(100*(best+step)) / 100
				if s := sum(); n[k].LUT >= .5 && n[k].LUT <= 2 && s < least-1e-9 {
					best, least = n[k].LUT, s
				}
			}
			n[k].LUT = best
		}
	}
	return n
}
