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

	"hlsgen/hlslib/cells"
	"hlsgen/hlslib/cost"
	"hlsgen/hlslib/estimate"
	"hlsgen/internal/dataflow"
)

var (
	measure = flag.Bool("measure", false, "have Yosys synthesise all points, and write measured.csv")
	update  = flag.Bool("update", false, "fit the numbers of hlslib/cells, and write the tables of docs/estimator.md")
)

// tableFile has every point, and againFile some once more, in other company: Yosys' figures of logic move with the
// names around it.
const tableFile, againFile = "measured.csv", "again.csv"

// twice reports whether a point is in both: a layer that is more than products and sums, or a FIFO. Of the sweeps
// there are enough.
func (p point) twice() bool {
	return !p.swept() && !p.prefixed("mvau_w", "vvau", "lstm", "dsp")
}

// columns are those of the table.
var columns = []string{"point", "LUT", "SRL", "LUTRAM", "FF", "BRAM", "DSP", "levels"}

func (c cellCount) row(name string) []string {
	row := []string{name}
	for _, n := range []int{c.LUT, c.Shift, c.RAM, c.FF, c.BRAM, c.DSP, c.Levels} {
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

// A trial is a point that was measured, and what is counted of it. LUTs measured twice are those in the middle.
type trial struct {
	point
	measured cellCount
	apart    float64            // both figures of its LUTs, relative
	counts   cells.Counts       // of a layer
	ruled    cells.Counts       // the same where no small circuit is mapped gate by gate
	reported dataflow.Resources // of a layer: what a report says, in whole cells
	fixed    dataflow.Resources // of a FIFO, of which nothing is fitted
	held     bool               // the fit does not see it
}

// held reports whether the fit does not see a point: one of three, by its name alone, so that no other decides it.
func held(name string) bool {
	h := fnv.New32a()
	h.Write([]byte(name))
	return h.Sum32()%3 == 0
}

// counted has the trials of a board, which several tests ask for.
var counted sync.Map

// trials are the points of a board that were measured, by name.
func trials(t *testing.T, to dataflow.Target) []trial {
	once, _ := counted.LoadOrStore(to.Board.Name, sync.OnceValue(func() []trial { return countTrials(t, to) }))
	return slices.Clone(once.(func() []trial)())
}

func countTrials(t *testing.T, to dataflow.Target) (list []trial) {
	measured, again := table(t), tableOf(t, againFile)
	d := cells.DeviceOf(cost.FabricOf(to.Board))
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
			x.fixed = estimate.Parts(p.fifo.Of(d.Fabric)...).Total()
		} else {
			m := p.op.(dataflow.Circuited).Circuit(p.fold, p.target)
			x.counts, x.reported = d.Count(m), estimate.Parts(cells.Of(m, d.Fabric)...).Total()
			if x.ruled = x.counts; d.Small {
				x.ruled = rules.Count(m)
			}
		}
		list = append(list, x)
	}
	return list
}

// estimated is the LUTs and registers of a trial by numbers.
func (x trial) estimated(n [cells.Kinds]cells.Number) (lut, ff float64) {
	lut, ff = float64(x.fixed.LUT), float64(x.fixed.FF)
	for k, c := range x.counts {
		lut += n[k].LUT*c.LUT + c.Flat + c.Shift + c.RAM
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

// firm is what a number costs for each one that it is off from one, in relative errors of trials, where logic is mapped
// gate by gate: a gate is a gate, and there are few trials for so many numbers. Cross-validation among trials that
// the fit saw preferred it on an ECP5; on an iCE40 a third of it does as well.
const firm = 1

// fit is numbers for lookup tables by which the sum of the relative errors of those trials that it sees is least. They
// are for what the rules count: small circuits, which a device has mapped gate by gate, are counted by the rules here.
// It sees no layer that multiplies in DSP slices: the rest of these is the same logic, and many of them take few
// tables.
func fit(list []trial) (n [cells.Kinds]cells.Number) {
	for k := range n {
		n[k] = cells.Number{LUT: 1, FF: 1}
	}
	list = slices.Clone(list)
	for i := range list {
		list[i].counts = list[i].ruled
	}
	maps := cells.DeviceOf(cost.FabricOf(list[0].target.Board)).Maps
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
