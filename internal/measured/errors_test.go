package measured

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"hlsgen/hlslib/cells"
	"hlsgen/hlslib/cost"
	"hlsgen/hlslib/estimate"
	"hlsgen/internal/tier"
)

// numberLine is a row of numbers of hlslib/cells, which are fitted: what is before a number, and the number.
var numberLine = regexp.MustCompile(`(?m)^(\t[A-Z]\w+: +\{LUT: )([0-9.]+)`)

// TestFit holds that the numbers of hlslib/cells are what the table gives.
func TestFit(t *testing.T) {
	const file = "../../hlslib/cells/device.go"
	source, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	got := fit(trials(t, target(t, networkBoard)))
	n := 0
	text := numberLine.ReplaceAllStringFunc(string(source), func(line string) string {
		n++
		return numberLine.FindStringSubmatch(line)[1] + strconv.FormatFloat(got[n-1].LUT, 'f', 2, 64)
	})
	switch {
	case n != int(cells.Kinds):
		t.Fatalf("%s has %d rows, want %d", file, n, cells.Kinds)
	case *update:
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	case text != string(source):
		t.Errorf("%s is not what the measurements give; make measure writes it", file)
	}
}

// estimates are errors of a group of points.
type estimates struct{ lut, ff []float64 }

// grouped are the errors of trials that the fit has not seen, or has, by what they count for.
func grouped(list []trial, held bool) map[string]*estimates {
	all := map[string]*estimates{inMemories: {}, inTables: {}}
	for _, x := range list {
		if x.held != held {
			continue
		}
		lut, ff := x.estimated(cells.DeviceOf(cost.FabricOf(x.target.Board)).Numbers)
		e := all[x.group()]
		e.lut = append(e.lut, relative(lut, x.measured.LUT))
		if x.measured.FF > 0 {
			e.ff = append(e.ff, relative(ff, x.measured.FF))
		}
	}
	return all
}

// TestErrors holds how far off the estimate is, of points that the fit has not seen and of whole networks.
func TestErrors(t *testing.T) {
	t.Parallel()
	held := grouped(trials(t, target(t, networkBoard)), true)
	for _, tt := range []struct {
		group   string
		lut, ff float64
	}{{inMemories, mostLUT, mostFF}, {inTables, mostTables, mostFF}} {
		lut, _ := median(held[tt.group].lut)
		ff, _ := median(held[tt.group].ff)
		if len(held[tt.group].lut) == 0 || lut > tt.lut || ff > tt.ff {
			t.Errorf("%s: median errors %.3f of LUTs, %.3f of registers, want %.3f and %.3f",
				tt.group, lut, ff, tt.lut, tt.ff)
		}
	}
}

// The errors that are allowed: medians of points that the fit has not seen, and of each network.
const (
	mostLUT     = .07
	mostFF      = .10
	mostTables  = .35
	mostNetwork = .15
)

// TestNetworks holds whole networks.
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

// networkLines has a line for each network that was measured.
func networkLines(t *testing.T, off func(string, float64)) []string {
	const format = "%-26s %6s %9s %7s   %6s %9s %7s   %6s %9s"
	lines := []string{fmt.Sprintf(format, "", "LUT", "estimate", "%", "FF", "estimate", "%", "RAMB18", "estimate")}
	measured := table(t)
	for _, n := range networks(t, target(t, networkBoard)) {
		m, ok := measured[n.name]
		if !ok {
			continue
		}
		r := estimate.Whole(n.design).Total.Minus(estimate.Host(n.design.Target, n.design.Model.Graph).Total())
		off(n.name+" LUT", relative(float64(r.LUT), m.LUT))
		off(n.name+" FF", relative(float64(r.FF), m.FF))
		lines = append(lines, fmt.Sprintf(format, n.name, fmt.Sprint(m.LUT), fmt.Sprint(r.LUT), signed(r.LUT, m.LUT),
			fmt.Sprint(m.FF), fmt.Sprint(r.FF), signed(r.FF, m.FF), fmt.Sprint(m.BRAM), fmt.Sprint(r.BRAM)))
	}
	return lines
}

// signed is a relative error in percent.
func signed(estimated, measured int) string {
	return fmt.Sprintf("%+.1f", 100*(float64(estimated)/float64(measured)-1))
}

// errorLines has a line for each group of points, and the numbers.
func errorLines(t *testing.T) []string {
	const format = "%-40s %4s %8s %8s   %8s %8s"
	lines := []string{fmt.Sprintf(format, "", "n", "LUT", "max", "FF", "max")}
	percent := func(x float64) string { return fmt.Sprintf("%.1f", 100*x) }
	for _, board := range boardsMeasured {
		list := trials(t, target(t, board))
		for _, held := range []bool{true, false} {
			for _, group := range []string{inMemories, inTables} {
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
				lines = append(lines, fmt.Sprintf(format, name, fmt.Sprint(len(e.lut)), percent(lut), percent(lutMost),
					percent(ff), percent(ffMost)))
			}
		}
	}
	return lines
}

// finn is FINN's formula for an RTL matrix layer of 4 by 4 bits.
func finn(pe, simd int) float64 { return 60 + 12.5*float64(pe) + 27.2*float64(pe*simd) }

// finnLines has matrix layers of 4 by 4 bits with weights in block RAM, by FINN's formula, too.
func finnLines(t *testing.T) []string {
	const format = "%4s %5s %9s %9s %9s %12s"
	lines := []string{fmt.Sprintf(format, "PE", "SIMD", "Yosys", "estimate", "formula", "Yosys / it")}
	for _, x := range trials(t, target(t, networkBoard)) {
		if !strings.HasPrefix(x.name, "mvau_w4a4") || x.group() != inMemories || x.fold.SIMD < 16 {
			continue
		}
		lut, _ := x.estimated(cells.DeviceOf(cost.Series7).Numbers)
		f := finn(x.fold.PE, x.fold.SIMD)
		lines = append(lines, fmt.Sprintf(format, fmt.Sprint(x.fold.PE), fmt.Sprint(x.fold.SIMD),
			fmt.Sprint(x.measured.LUT), fmt.Sprintf("%.0f", lut), fmt.Sprintf("%.0f", f),
			fmt.Sprintf("%.2f", float64(x.measured.LUT)/f)))
	}
	return lines
}

// TestPage holds the tables of docs/estimator.md.
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
		{"circuits", errorLines(t)}, {"circuits FINN", finnLines(t)},
		{"circuits networks", networkLines(t, func(string, float64) {})},
	} {
		marker := "<!-- " + block.name + " -->\n```text\n"
		before, rest, ok := strings.Cut(page, marker)
		_, after, closed := strings.Cut(rest, "```\n")
		if !ok || !closed {
			t.Fatalf("%s has no block for %q", file, block.name)
		}
		page = before + marker + strings.Join(slices.Concat(block.lines, []string{""}), "\n") + "```\n" + after
	}
	if *update {
		if err := os.WriteFile(file, []byte(page), 0o666); err != nil {
			t.Fatal(err)
		}
	} else if page != string(source) {
		t.Errorf("%s shows other tables (make measure writes them) than\n%s", file, page)
	}
}
