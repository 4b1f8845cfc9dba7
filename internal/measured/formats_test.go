package measured

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"hlsgen/hlslib/price/cost"
	"hlsgen/hlslib/price/luts"
	"hlsgen/internal/formats"
	"hlsgen/internal/testsupport/tier"
)

// The page about minifloats, and the table of what Yosys counts for a multiply-accumulate in each format.
const (
	minifloatsPage = "../../docs/minifloats.md"
	formatsFile    = "formats.csv"
)

// products is the number of products in each sum, as in the first table of the page.
const products = 4608

// formatPoints returns a circuit per format that multiplies two numbers and adds the product to a sum. Formats
// whose exact sums no layer supports are left out.
func formatPoints(t *testing.T) (list []formatPoint) {
	to := target(t, networkBoard)
	for _, f := range formats.FormatsToCompare() {
		if m, ok := f.BuildMACCircuit(products, to); ok {
			name := "mac_" + strings.ToLower(strings.ReplaceAll(f.Name, " ", "_"))
			list = append(list, formatPoint{f, point{name: name, made: m, target: to}})
		}
	}
	return list
}

type formatPoint struct {
	format formats.SignedFormat
	point
}

// TestMeasureFormats synthesises with Yosys the formats that formats.csv does not list yet.
func TestMeasureFormats(t *testing.T) {
	if !*measure {
		t.Skip("it takes minutes: make measure runs it")
	}
	tier.Needs(t, "yosys")
	have := map[string]cellCount{}
	if _, err := os.Stat(formatsFile); err == nil {
		have = tableOf(t, formatsFile)
	}
	var lacking []point
	for _, x := range formatPoints(t) {
		if _, ok := have[x.name]; !ok {
			lacking = append(lacking, x.point)
		}
	}
	if len(lacking) == 0 {
		return
	}
	got, _, err := together(t.Context(), t.TempDir(), lacking)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range lacking {
		have[p.name] = got[p.name]
	}
	writeTo(t, formatsFile, have)
}

// TestFormats checks the estimated cells of each format against those that Yosys makes.
func TestFormats(t *testing.T) {
	t.Parallel()
	have := tableOf(t, formatsFile)
	d := luts.SynthesisRulesOf(cost.FabricOf(target(t, networkBoard).Board))
	for _, x := range formatPoints(t) {
		m, ok := have[x.name]
		delete(have, x.name)
		lut, ff := trial{counts: d.CountCells(x.made)}.estimated(d.Numbers)
		switch {
		case !ok:
			t.Errorf("%s was not measured", x.name)
		case relative(lut, m.LUT) > mostFormat.lut || relative(ff, m.FF) > mostFormat.ff:
			t.Errorf("%s: %.0f LUT and %.0f registers are counted, Yosys makes %d and %d", x.format.Name, lut, ff,
				m.LUT, m.FF)
		}
	}
	for name := range have {
		t.Errorf("%s is no format's", name)
	}
}

// mostFormat has the relative errors allowed for each format.
var mostFormat = struct{ lut, ff float64 }{.15, .02}

// TestFormatsPage compares the page's table of what Yosys makes of each format; -update writes it.
func TestFormatsPage(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile(minifloatsPage)
	if err != nil {
		t.Fatal(err)
	}
	const format = "%-9s %4s %10s %5s %7s %7s %5s %6s"
	lines := []string{fmt.Sprintf(format, "format", "bits", "accumulate", "LUT", "counted", "to INT", "FF", "levels")}
	have := tableOf(t, formatsFile)
	d := luts.SynthesisRulesOf(cost.FabricOf(target(t, networkBoard).Board))
	integer := 0 // lookup tables of the integer format of as many bits, which comes first
	for _, x := range formatPoints(t) {
		m := have[x.name]
		if !x.format.IsMinifloat() {
			integer = m.LUT
		}
		lut, _ := trial{counts: d.CountCells(x.made)}.estimated(d.Numbers)
		lines = append(lines, fmt.Sprintf(format, x.format.Name, fmt.Sprint(x.format.Bits),
			fmt.Sprint(x.format.ExactAccumulatorBits(products)), fmt.Sprint(m.LUT), fmt.Sprintf("%.0f", lut),
			fmt.Sprintf("%.2f", float64(m.LUT)/float64(integer)), fmt.Sprint(m.FF), fmt.Sprint(m.Levels)))
	}
	page := shown(t, string(source), "formats", lines)
	if *update {
		if err := os.WriteFile(minifloatsPage, []byte(page), 0o666); err != nil {
			t.Fatal(err)
		}
	} else if page != string(source) {
		t.Errorf("%s shows another table (-update writes it) than\n%s", minifloatsPage, strings.Join(lines, "\n"))
	}
}
