package measured

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"hlsgen/hlslib/price/cost"
	"hlsgen/hlslib/price/estimate"
	"hlsgen/hlslib/price/luts"
	"hlsgen/internal/testsupport/tier"
)

// numberLine matches a line of fitted numbers: the text before a number, and the number.
var numberLine = regexp.MustCompile(`(?m)^(\t+(?:[a-z]\w+: +\{LUT: |"[a-z ]+": +))([0-9.]+)`)

// fittedIn lists the files with fitted numbers, one for each of boardsMeasured.
var fittedIn = []string{"../../hlslib/price/luts/device.go", "../../boards/family/ice40/ice40.go",
	"../../boards/family/ecp5/ecp5.go"}

// TestFit checks that the fitted numbers of each family are those that the fit to the table gives.
func TestFit(t *testing.T) {
	tier.NotQuick(t)
	for i, file := range fittedIn {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		got := fit(trials(t, target(t, boardsMeasured[i])))
		n := 0
		text := numberLine.ReplaceAllStringFunc(string(source), func(line string) string {
			if n++; n > len(got) {
				return line
			}
			return numberLine.FindStringSubmatch(line)[1] + strconv.FormatFloat(got[n-1].LUT, 'f', 2, 64)
		})
		switch {
		case n != len(got):
			t.Fatalf("%s has %d rows, want %d", file, n, len(got))
		case *update:
			if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		case text != string(source):
			t.Errorf("%s is not what the measurements give; make measure writes it", file)
		}
	}
}

// An estimates has the relative errors of the estimates for one group of points.
type estimates struct {
	lut, ff []float64
	apart   []float64 // of the points measured twice: how far the two counts of lookup tables lie apart
}

// grouped collects the errors by group, of the trials that the fit did not use (held) or of those that it did.
func grouped(list []trial, held bool) map[string]*estimates {
	all := map[string]*estimates{}
	for _, group := range groups {
		all[group] = &estimates{}
	}
	for _, x := range list {
		if x.held != held {
			continue
		}
		lut, ff := x.estimated(luts.SynthesisRulesOf(cost.FabricOf(x.target.Board)).Numbers)
		e := all[x.group()]
		e.lut = append(e.lut, relative(lut, x.measured.LUT))
		if x.twice() {
			e.apart = append(e.apart, x.apart)
		}
		if x.measured.FF > 0 {
			e.ff = append(e.ff, relative(ff, x.measured.FF))
		}
	}
	return all
}

// A limit has the median errors allowed for points that the fit did not use.
type limit struct{ memories, tables, constants, steps, ff float64 }

var limits = map[string]limit{"xilinx": {.05, .15, .10, .10, .10}, "ice40": {.05, .15, .10, .10, .10},
	"ecp5": {.05, .15, .15, .20, .10}}

// mostNetwork is the relative error allowed for each whole network.
const mostNetwork = .10

// TestErrors checks that the median errors of the estimates are within the limits, for points that the fit did not
// use.
func TestErrors(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	for _, board := range boardsMeasured {
		list := trials(t, target(t, board))
		held, most := grouped(list, true), limits[family(list[0].target)]
		for group, luts := range map[string]float64{inMemories: most.memories, inTables: most.tables,
			ofConstants: most.constants, ofSteps: most.steps} {
			lut, _ := median(held[group].lut)
			ff, _ := median(held[group].ff)
			if len(held[group].lut) == 0 || lut > luts || ff > most.ff {
				t.Errorf("%s, %s: median errors %.3f of LUTs, %.3f of registers, want %.3f and %.3f",
					family(list[0].target), group, lut, ff, luts, most.ff)
			}
		}
	}
}

// sliced returns the layers of a board that multiply in DSP slices and that the fit did not use.
func sliced(t *testing.T, board string) (list []trial) {
	for _, x := range trials(t, target(t, board)) {
		if x.held && x.group() == inSlices {
			list = append(list, x)
		}
	}
	return list
}

// tenth reports whether an estimate is within a tenth of the measured count.
func tenth(estimated, measured int) bool {
	return 10*max(estimated-measured, measured-estimated) <= measured
}

// TestSlices checks the estimate of each layer that multiplies in DSP slices, on AMD's 7 series and on an iCE40: it
// is within a tenth, and Yosys uses exactly the DSP slices that are estimated, neither turning a product into
// lookup tables nor another sum into a slice.
func TestSlices(t *testing.T) {
	t.Parallel()
	list := append(sliced(t, networkBoard), sliced(t, "icebreaker")...)
	if len(list) < 50 {
		t.Errorf("%d layers", len(list))
	}
	for _, x := range list {
		if !tenth(x.reported.LUT, x.measured.LUT) || !tenth(x.reported.FF, x.measured.FF) ||
			x.reported.DSP != x.measured.DSP {
			t.Errorf("%s: %+v, reported %+v", x.key(), x.measured, x.reported)
		}
	}
}

// slicedLines returns the lines of the page's table of layers that multiply in DSP slices.
func slicedLines(t *testing.T) []string {
	const format = "%-28s %5s %9s %7s   %5s %9s %7s   %4s %9s"
	lines := []string{fmt.Sprintf(format, "", "LUT", "estimate", "%", "FF", "estimate", "%", "DSP", "estimate")}
	for _, x := range sliced(t, networkBoard) {
		m, r := x.measured, x.reported
		ff := "-"
		if m.FF > 0 {
			ff = signed(r.FF, m.FF)
		}
		lines = append(lines, fmt.Sprintf(format, strings.TrimPrefix(x.name, "dsp_"), fmt.Sprint(m.LUT),
			fmt.Sprint(r.LUT), signed(r.LUT, m.LUT), fmt.Sprint(m.FF), fmt.Sprint(r.FF), ff, fmt.Sprint(m.DSP),
			fmt.Sprint(r.DSP)))
	}
	return lines
}

// TestTable checks that measured.csv has a row for every point that `make measure` would measure, and no others.
func TestTable(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	have := table(t)
	for _, board := range boardsMeasured {
		for _, p := range points(t, target(t, board)) {
			if _, ok := have[p.key()]; !ok {
				t.Errorf("%s was not measured", p.key())
			}
			delete(have, p.key())
		}
	}
	for name := range have {
		if !strings.HasPrefix(name, "network ") {
			t.Errorf("%s is no point", name)
		}
	}
	again := tableOf(t, againFile)
	for _, board := range boardsMeasured {
		for _, p := range points(t, target(t, board)) {
			if _, ok := again[p.key()]; ok != p.twice() {
				t.Errorf("%s was measured twice: %v", p.key(), ok)
			}
			delete(again, p.key())
		}
	}
	for name := range again {
		t.Errorf("%s is no point", name)
	}
}

// TestNetworks checks the estimates of whole networks.
func TestNetworks(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	for _, line := range networkLines(t, func(name string, off float64) {
		if off > mostNetwork {
			t.Errorf("%s: off by %.3f", name, off)
		}
	}) {
		t.Log(line)
	}
}

// networkLines returns the page's table of the networks measured, and calls off with the error of each.
func networkLines(t *testing.T, off func(string, float64)) []string {
	const format = "%-26s %6s %9s %7s   %6s %9s %7s   %6s %9s   %6s"
	lines := []string{fmt.Sprintf(format, "", "LUT", "estimate", "%", "FF", "estimate", "%", "RAM", "estimate",
		"levels")}
	measured := table(t)
	var nets []network
	for _, board := range boardsMeasured {
		nets = append(nets, networks(t, target(t, board))...)
	}
	for _, n := range nets {
		m, ok := measured[n.name]
		if !ok {
			continue
		}
		all := estimate.EstimateDesignResources(n.design)
		r := tabled(all.FIFOs)
		for _, c := range all.Layers {
			r = r.Plus(tabled(c))
		}
		off(n.name+" LUT", relative(float64(r.LUT), m.LUT))
		off(n.name+" FF", relative(float64(r.FF), m.FF))
		lines = append(lines, fmt.Sprintf(format, n.name, fmt.Sprint(m.LUT), fmt.Sprint(r.LUT), signed(r.LUT, m.LUT),
			fmt.Sprint(m.FF), fmt.Sprint(r.FF), signed(r.FF, m.FF), fmt.Sprint(m.BRAM), fmt.Sprint(r.BRAM),
			fmt.Sprint(m.Levels)))
	}
	return lines
}

// signed formats a relative error in percent, with its sign.
func signed(estimated, measured int) string {
	return fmt.Sprintf("%+.1f", 100*(float64(estimated)/float64(measured)-1))
}

// errorLines returns the page's table of errors by group of points, and below it the fitted numbers.
func errorLines(t *testing.T) []string {
	const format = "%-46s %4s %7s %7s   %7s %7s   %7s %7s"
	lines := []string{fmt.Sprintf(format, "", "n", "LUT", "max", "FF", "max", "twice", "max")}
	percent := func(x float64) string { return fmt.Sprintf("%.1f", 100*x) }
	for _, board := range boardsMeasured {
		list := trials(t, target(t, board))
		for _, held := range []bool{true, false} {
			for _, group := range groups {
				e := grouped(list, held)[group]
				if len(e.lut) == 0 {
					continue
				}
				name := family(list[0].target) + ", " + group
				if !held {
					name += ", seen by the fit"
				}
				lut, lutMost := median(e.lut)
				ff, ffMost := median(e.ff)
				twice, twiceMost := "-", "-"
				if len(e.apart) > 0 {
					middle, most := median(e.apart)
					twice, twiceMost = percent(middle), percent(most)
				}
				lines = append(lines, fmt.Sprintf(format, name, fmt.Sprint(len(e.lut)), percent(lut), percent(lutMost),
					percent(ff), percent(ffMost), twice, twiceMost))
			}
		}
	}
	return lines
}

// finn is FINN's formula for the lookup tables of an RTL matrix layer of 4 by 4 bits.
func finn(pe, simd int) float64 { return 60 + 12.5*float64(pe) + 27.2*float64(pe*simd) }

// vivado has the lookup tables that Vivado 2020.1 reports for FINN's RTL layers of 4 by 4 bits, by PE and SIMD,
// from arXiv 2201.11409.
var vivado = map[[2]int]int{{4, 4}: 522, {8, 2}: 693, {2, 8}: 569, {4, 16}: 1848, {2, 32}: 1883, {4, 32}: 3538}

// finnLines returns the page's table that puts our matrix layers of 4 by 4 bits, with weights in block RAM, beside
// FINN's.
func finnLines(t *testing.T) []string {
	const format = "%4s %5s %9s %9s %12s %9s %12s %8s"
	lines := []string{fmt.Sprintf(format, "PE", "SIMD", "Yosys", "estimate", "FINN, Vivado", "formula", "Yosys / it",
		"levels")}
	for _, x := range trials(t, target(t, networkBoard)) {
		at := [2]int{x.fold.PE, x.fold.SIMD}
		if !strings.HasPrefix(x.name, "mvau_w4a4") || x.group() != inMemories || vivado[at] == 0 && x.fold.SIMD < 16 {
			continue
		}
		theirs := "-"
		if vivado[at] != 0 {
			theirs = fmt.Sprint(vivado[at])
		}
		lut, _ := x.estimated(luts.SynthesisRulesOf(cost.FabricSeries7).Numbers)
		f := finn(x.fold.PE, x.fold.SIMD)
		lines = append(lines, fmt.Sprintf(format, fmt.Sprint(x.fold.PE), fmt.Sprint(x.fold.SIMD),
			fmt.Sprint(x.measured.LUT), fmt.Sprintf("%.0f", lut), theirs, fmt.Sprintf("%.0f", f),
			fmt.Sprintf("%.2f", float64(x.measured.LUT)/f), fmt.Sprint(x.measured.Levels)))
	}
	return lines
}

// shown returns the page with new lines in the block that has the given name.
func shown(t *testing.T, page, name string, lines []string) string {
	t.Helper()
	marker := "<!-- " + name + " -->\n```text\n"
	before, rest, ok := strings.Cut(page, marker)
	_, after, closed := strings.Cut(rest, "```\n")
	if !ok || !closed {
		t.Fatalf("the page has no block for %q", name)
	}
	return before + marker + strings.Join(lines, "\n") + "\n```\n" + after
}

// TestPage compares the tables of docs/estimator.md with those computed now; -update writes them.
func TestPage(t *testing.T) {
	tier.NotQuick(t)
	const file = "../../docs/estimator.md"
	source, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	page := string(source)
	for _, block := range []struct {
		name  string
		lines []string
	}{
		{"circuits", errorLines(t)}, {"circuits slices", slicedLines(t)}, {"circuits FINN", finnLines(t)},
		{"circuits networks", networkLines(t, func(string, float64) {})},
	} {
		page = shown(t, page, block.name, block.lines)
	}
	if *update {
		if err := os.WriteFile(file, []byte(page), 0o666); err != nil {
			t.Fatal(err)
		}
	} else if page != string(source) {
		t.Errorf("%s shows other tables (make measure writes them) than\n%s", file, page)
	}
}
