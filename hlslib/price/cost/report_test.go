package cost

import (
	"flag"
	"fmt"
	"math"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"hlsgen/internal/testsupport/tier"
)

var update = flag.Bool("update", false, "fit the coefficients, and write the tables of docs/estimator.md")

// coefficientLine matches a row of fittedCoefficients: the text before the value, and the value. The rows are in the
// order of their indices.
var coefficientLine = regexp.MustCompile(`(?m)^(\t\w+: +\{)([0-9.e+-]+)`)

// TestCoefficients checks that the coefficients are those that the measurements give.
func TestCoefficients(t *testing.T) {
	got := fitted
	for _, s := range slices.Concat(mvuStudies(t, "hls"), sliceStudies(t), layerStudies(t)) {
		v := s.fit(s.points, fitted)
		for _, c := range s.coefs {
			got[c] = v[c]
		}
	}
	const file = "coefficients.go"
	source, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	text := coefficientLine.ReplaceAllStringFunc(string(source), func(line string) string {
		n++
		return fmt.Sprintf("%s%.4g", coefficientLine.FindStringSubmatch(line)[1], got[n-1])
	})
	if n != len(fittedCoefficients) {
		t.Fatalf("%s has %d rows, want %d", file, n, len(fittedCoefficients))
	}
	if *update {
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	} else if text != string(source) {
		t.Errorf("%s is not what the measurements give; run with -update twice, the second time for the page", file)
	}
}

// A block is one generated table of docs/estimator.md.
type block struct {
	name string
	text strings.Builder
}

func (b *block) line(format string, args ...any) { fmt.Fprintf(&b.text, format+"\n", args...) }

// percent formats a relative error in percent, as a dash if there is none.
func percent(x float64) string {
	if math.IsNaN(x) {
		return "-"
	}
	return fmt.Sprintf("%.1f", 100*x)
}

// whole formats a number without its fraction, and signed an error in percent with its sign.
func whole(x float64) string  { return fmt.Sprintf("%.0f", x) }
func signed(x float64) string { return fmt.Sprintf("%+.1f", 100*x) }

const errorHead = "%-30s %5s %8s %8s   %8s %8s"

func (b *block) head(what string) { b.line(errorHead, what, "n", "median", "max", "FINN", "max") }

func (b *block) errors(what string, trials []trial) {
	e, f := fittedErrors(trials), finnErrors(trials)
	b.line(errorHead, what, fmt.Sprint(len(trials)), percent(median(e)), percent(worst(e)), percent(median(f)),
		percent(worst(f)))
}

func where(trials []trial, keep func(trial) bool) []trial {
	return slices.DeleteFunc(slices.Clone(trials), func(t trial) bool { return !keep(t) })
}

// sweepBlock returns the table of the sweeps of one implementation: by sweep, by arithmetic, and all.
func sweepBlock(t *testing.T, impl string) *block {
	b := &block{name: "sweeps " + impl}
	for _, s := range mvuStudies(t, impl) {
		trials := s.trials()
		b.head(map[string]string{"lut": "LUT", "ff": "FF", "dly": "delay"}[s.name])
		for _, sweep := range s.sweeps() {
			b.errors(sweep, where(trials, func(t trial) bool { return t.sweep == sweep }))
		}
		trials = unique(trials)
		for _, a := range []struct{ name, bits string }{
			{"XNOR", "WeightBits:1 InBits:1 "}, {"1-bit weights, 4-bit inputs", "WeightBits:1 InBits:4 "},
			{"4 bits", "WeightBits:4 InBits:4 "},
		} {
			b.errors(a.name, where(trials, func(t trial) bool { return strings.Contains(t.design, a.bits) }))
		}
		b.errors("all", trials)
		b.line("")
	}
	return b
}

func memoryBlock(t *testing.T) *block {
	b := &block{name: "memories"}
	const format = "%-18s %-12s %5s %7s %8s   %11s"
	b.line(format, "", "fabric", "n", "exact", "max", "FINN exact")
	type group struct{ kind, fabric string }
	var groups []group
	rows := map[group][]primitive{}
	for _, p := range primitives(t) {
		if p.bound {
			continue
		}
		g := group{p.kind, p.fabric}
		if rows[g] == nil {
			groups = append(groups, g)
		}
		rows[g] = append(rows[g], p)
	}
	for _, g := range groups {
		exact, finn, most := 0, 0, 0.
		for _, p := range rows[g] {
			most = max(most, p.error())
			if p.counted == p.measured {
				exact++
			}
			if p.finn == p.measured {
				finn++
			}
		}
		finnText := fmt.Sprint(finn)
		if math.IsNaN(rows[g][0].finn) {
			finnText = "-"
		}
		b.line(format, g.kind, g.fabric, fmt.Sprint(len(rows[g])), fmt.Sprint(exact), percent(most), finnText)
	}
	return b
}

func deepBlock() *block {
	b := &block{name: "deep"}
	const format = "%-11s %7s %6s %7s %7s   %s"
	b.line(format, "fabric", "rows", "bits", "RAMB18", "ours", "source")
	for _, d := range deeps {
		fabric := [...]string{FabricUltraScale: "ultrascale+", FabricSeries7: "series7", FabricVersal: "versal"}[d.f]
		b.line(format, fabric, fmt.Sprint(d.rows), fmt.Sprint(d.width), fmt.Sprint(d.blocks),
			fmt.Sprint(d.f.blocks(d.rows, d.width)), d.source)
	}
	return b
}

func studyBlock(name, head string, studies []study) *block {
	b := &block{name: name}
	b.head(head)
	for _, s := range studies {
		b.errors(s.name, unique(s.trials()))
	}
	return b
}

func coefficientBlock() *block {
	b := &block{name: "coefficients"}
	for _, c := range fittedCoefficients {
		b.line("%8.4g %-21s %s [%s]", c.Value, c.Unit, c.Of, c.Source)
	}
	return b
}

// TestPage prints the errors and checks that docs/estimator.md shows them.
func TestPage(t *testing.T) {
	const file = "../../../docs/estimator.md"
	source, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	page := string(source)
	blocks := []*block{coefficientBlock(), deepBlock(), sliceBlock(t), buildBlock(t), finnPlusBlock(t), partBlock(t)}
	t.Run("measurements", func(t *testing.T) {
		tier.NeedsShared(t)
		blocks = append(blocks, sweepBlock(t, "hls"), sweepBlock(t, "rtl"), memoryBlock(t),
			studyBlock("layers", "", layerStudies(t)),
			studyBlock("overlays", "", overlayStudies(t)),
			studyBlock("accumulators", "", []study{accumulatorStudy(t)}),
			studyBlock("hls", "", hlsStudies(t)))
	})
	for _, b := range blocks {
		text := strings.TrimRight(b.text.String(), "\n") + "\n"
		t.Logf("%s\n%s", b.name, text)
		before, rest, ok := strings.Cut(page, "<!-- "+b.name+" -->\n```text\n")
		_, after, closed := strings.Cut(rest, "```\n")
		if !ok || !closed {
			t.Errorf("%s has no block for %q", file, b.name)
			continue
		}
		page = before + "<!-- " + b.name + " -->\n```text\n" + text + "```\n" + after
	}
	if *update {
		if err := os.WriteFile(file, []byte(page), 0o666); err != nil {
			t.Fatal(err)
		}
	} else if page != string(source) {
		t.Errorf("%s does not show the errors that were measured; run with -update", file)
	}
}

// TestAccuracy checks the errors of fits that left out the sweep in question.
func TestAccuracy(t *testing.T) {
	t.Parallel()
	limits := map[string]float64{"lut": .12, "ff": .2, "dly": .15}
	for _, s := range mvuStudies(t, "hls") {
		trials := s.trials()
		if got := median(fittedErrors(unique(trials))); !(got <= limits[s.name]) {
			t.Errorf("%s: median error %s %%, want at most %s %%", s.name, percent(got), percent(limits[s.name]))
		}
		for _, arith := range []string{"WeightBits:1 InBits:1 ", "WeightBits:1 InBits:4 ", "WeightBits:4 InBits:4 "} {
			trials := where(unique(trials), func(t trial) bool { return strings.Contains(t.design, arith) })
			if got := median(fittedErrors(trials)); !(got <= limits[s.name]) {
				t.Errorf("%s, %s: median error %s %%, want at most %s %%", s.name, arith, percent(got),
					percent(limits[s.name]))
			}
		}
		if s.name != "lut" {
			continue
		}
		onMap := where(trials, func(t trial) bool { return t.sweep == heatMap })
		got, finn := median(fittedErrors(onMap)), median(finnErrors(onMap))
		if !(got <= .05 && finn > .4) {
			t.Errorf("heat map: median error %s %%, FINN %s %%", percent(got), percent(finn))
		}
	}
}
