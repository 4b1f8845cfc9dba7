package doctest

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"hlsgen/internal/testsupport/tier"
)

// claiming lists the pages that describe hlsgen.
var claiming = []string{"README.md", "docs/features.md", "docs/own-model.md", "docs/library.md"}

// A claim is a paragraph, a list item or a row of a table in these pages, found by its first words. It has the tests
// (PACKAGE.TEST) that check it, or the reason why there are none.
type claim struct {
	begins string
	by     []string
	reason string
}

// measured is the reason why no test checks the figures of other tools: they are not installed here.
const measured = "measured once, with versions, in docs/tools-measured.md"

var claims = []claim{
	{begins: "hlsgen turns a neural network", by: []string{"cmd/hlsgen.TestBuild",
		"internal/build.TestBuildAgrees", "internal/build.TestOutputIsWholeOrAbsent"}},
	{begins: "![Frames per second", by: []string{"internal/doctest.TestPages"}},
	{begins: "*What the embedded digits classifier", by: []string{"internal/doctest.TestPages"}},
	{begins: "On Debian or Ubuntu", by: []string{"internal/setup.TestScript"}},
	{begins: "| `make demo`", by: []string{"internal/setup.TestScript", "internal/setup.TestTargets",
		"internal/testsupport/tier.TestNeeds"}},
	{begins: "| `make test`", by: []string{"internal/setup.TestScript", "internal/setup.TestTargets",
		"internal/testsupport/tier.TestNeeds"}},
	{begins: "`go test ./...` needs", by: []string{"internal/testsupport/tier.TestNeeds"}},
	{begins: "![A perceptron of four layers", reason: "a picture; docs.TestLinks"},
	{begins: "In C++ the same network", by: []string{"internal/doctest.TestPages"}},
	{begins: "[README.md](../README.md) is the short form", reason: "a link; docs.TestLinks"},

	{begins: "A network may be in real numbers", by: []string{"internal/build.TestCalibrate",
		"internal/build.TestCalibrateCells", "internal/build.TestCalibratedDetector"}},

	{begins: "A quantised export of Brevitas", by: []string{"frontend.TestModels"}},
	{begins: "A network in real numbers needs", by: []string{"internal/build.TestCalibrate", "frontend.TestModels"}},

	{begins: "- **Bit-exact", by: []string{"frontend.TestChains", "internal/build.TestBuildAgrees",
		"internal/build.TestRandomNetworks", "internal/simulate.TestCompareSeesErrors"}},
	{begins: "- **One truth.**", by: []string{"internal/doctest.TestPrinted", "internal/build.TestMemories"}},
	{begins: "- **Proved, or the gap stated.**", by: []string{"folding/search.TestMinimise",
		"folding/search.TestEffort"}},
	{begins: "- **Clocks are simulated.**", by: []string{"rtlsim.TestSize", "rtlsim.TestProve",
		"internal/build.TestEngineRTL"}},
	{begins: "- **Reasons", by: []string{"internal/build.TestDiagnostics",
		"internal/build.TestUnmapped"}},

	{begins: "| MLP", by: []string{"internal/doctest.TestFamilies", "internal/build.TestRandomNetworks",
		"frontend.TestModels"}},
	{begins: "| convolution", by: []string{"internal/doctest.TestFamilies", "internal/build.TestRandomImages",
		"frontend.TestModels"}},
	{begins: "| residual", by: []string{"internal/doctest.TestFamilies", "internal/build.TestResidual8"}},
	{begins: "| depthwise, MobileNet", by: []string{"internal/doctest.TestFamilies", "hlslib/vvau.TestContract"}},
	{begins: "| up-sampling", by: []string{"internal/doctest.TestFamilies", "hlslib/upsample.TestContract"}},
	{begins: "| recurrent", by: []string{"internal/doctest.TestFamilies", "internal/build.TestRecurrentBuilds",
		"internal/build.TestFINNLText", "internal/build.TestRandomRecurrent", "internal/build.TestRecurrent",
		"internal/simulate.TestStateful", "internal/simulate.TestInitialStates",
		"internal/simulate.TestLoopIsOneEngine",
		"internal/simulate.TestInterleave", "hlslib/rnn.TestContract"}},
	{begins: "| minifloats", by: []string{"internal/doctest.TestFamilies", "hlslib/mvau.TestContract",
		"hlslib/threshold.TestFloats", "frontend.TestModels"}},
	{begins: "| dialects", by: []string{"internal/doctest.TestFamilies", "internal/build.TestResidual8",
		"frontend.TestSingleOperators"}},
	{begins: "Any function of one element", by: []string{"frontend.TestFunctionsOfCodes", "frontend.TestArrivals",
		"frontend.TestLabels", "hlslib/labelselect.TestBuild", "internal/build.TestUnmapped",
		"frontend.TestModels"}},

	{begins: "| `hlsgen check model.onnx`", by: []string{"cmd/hlsgen.TestCheckJSON",
		"internal/build.TestFINNAccumulators"}},
	{begins: "| `hlsgen build model.onnx --board zcu104`", by: []string{"internal/doctest.TestFolders",
		"cmd/hlsgen.TestBuild"}},
	{begins: "| `--fps 10000`", by: []string{"internal/doctest.TestPrinted"}},
	{begins: "| `--backend rtl`", by: []string{"internal/build.TestBackends", "internal/build.TestEngineRTL",
		"internal/build.TestBitstream"}},
	{begins: "| `--pareto`", by: []string{"internal/doctest.TestPrinted"}},
	{begins: "| `hlsgen sweep` |", by: []string{"folding/sweep.TestRun", "folding/sweep.TestResume",
		"folding/sweep.TestBackends", "folding/sweep.TestPictureTells",
		"internal/doctest.TestPages"}},
	{begins: "| `hlsgen synth`", by: []string{"cmd/hlsgen.TestSynth", "cmd/hlsgen.TestSynthIsResumed",
		"cmd/hlsgen.TestSynthOnSlurm", "cmd/hlsgen.TestCollect"}},
	{begins: "| `--calibrate x.npy`", by: []string{"internal/build.TestCalibrate", "internal/build.TestVariants",
		"folding/sweep.TestPrecisions"}},
	{begins: "| `hlsgen sweep --jobs slurm`", by: []string{"folding/sweep.TestSlurm", "folding/sweep.TestCollect"}},
	{begins: "| `deploy/accelerator.py`", by: []string{"internal/build.TestDriver"}},
	{begins: "| `build --ila`", by: []string{"templates/vivado.TestILA", "templates/vivado.TestPower",
		"templates/vivado.TestApp", "rtlsim.TestWriteSAIF"}},
	{begins: "| `make -C vivado bitstream`", by: []string{"templates/vivado.TestBitstream",
		"templates/vivado.TestMistakes"}},
	{begins: "| `--weights runtime`", by: []string{"internal/weights.TestWeightsAXI",
		"internal/weights.TestWeightsRefused", "hlslib/mvau.TestContract"}},
	{begins: "| `report/report.html`", by: []string{"internal/build.TestPage", "internal/build.TestWhatIf",
		"internal/browser.TestPages", "templates/report.TestEscaped"}},
	{begins: "| `hlsgen report`", by: []string{"cmd/hlsgen.TestReportOfSeveral", "folding/sweep.TestPictureTells",
		"templates/compared.TestPairs", "templates/compared.TestDifferencesFirst", "cmd/hlsgen.TestReportServe",
		"internal/pageserver.TestServe"}},
	{begins: "| `hlsgen stats", by: []string{"cmd/hlsgen.TestStatsCounts", "cmd/hlsgen.TestStatsStates",
		"frontend/stats.TestPaperNetwork", "frontend/stats.TestPruned"}},
	{begins: "| `hlsgen graph`", by: []string{"internal/picture.TestFormats", "cmd/hlsgen.TestGraph"}},
	{begins: "| `hlsgen convert", by: []string{"frontend/convert.TestModels", "frontend/convert.TestChecker",
		"frontend/convert.TestFusions"}},
	{begins: "| `hlsgen simulate` |", by: []string{"internal/build.TestFast", "internal/fast.TestKernels"}},
	{begins: "| `hlsgen simulate --engine cycle`", by: []string{"cmd/hlsgen.TestSimulate", "rtlsim.TestWriteVCD",
		"rtlsim.TestWriteTimeline"}},
	{begins: "| `hlsgen simulate --engine circuit`", by: []string{"internal/engines.TestCircuitsOfModels",
		"internal/engines.TestCircuitsOfSequences", "internal/engines.TestCircuitsOfWideWords"}},
	{begins: "| `hlsgen simulate --engine rtl`", by: []string{"internal/build.TestEngineRTL",
		"internal/build.TestNetlist", "internal/simulate.TestEngineNetlist"}},
	{begins: "| `hlsgen simulate --compare y.npy`", by: []string{"cmd/hlsgen.TestCompare",
		"internal/simulate.TestSimulateEngines"}},
	{begins: "| `import hlsgen`", by: []string{"cmd/wheels.TestPackage", "cmd/hlsgen.TestPython"}},
	{begins: "| `hlsgen serve`", by: []string{"cmd/hlsgen.TestServe", "internal/requests.TestServe",
		"internal/doctest.TestPages"}},
	{begins: "| `--json`", by: []string{"cmd/hlsgen.TestSchemas", "internal/build.TestReportForms",
		"folding/sweep.TestPointsForm"}},
	{begins: "The design is a value", by: []string{"internal/doctest.TestOutside"}},
	{begins: "Beside a checkout", by: []string{"internal/doctest.TestOutside"}},
	{begins: "hlsgen's own tests are", by: []string{"internal/testsupport/models.TestOwn", "hlslib/mvau.TestContract",
		"rtlsim.TestRandomNetworks", "internal/testsupport/layertest.TestContractBites"}},

	{begins: "In Python, the notebook", by: []string{"internal/training.TestTraining"}},
	{begins: "Put a quantiser first", reason: "advice; frontend.TestModels reads what such models are exported to"},
	{begins: "Options may stand in", by: []string{"cmd/hlsgen.TestConfig"}},

	{begins: "| reads | ONNX", reason: measured},
	{begins: "| layers | folded", reason: measured},
	{begins: "| branches, convolutions", reason: measured},
	{begins: "| recurrence | from ONNX", reason: measured},
	{begins: "| attention | refused", reason: measured},
	{begins: "| FIFO depths", reason: measured},
	{begins: "| constant matrices", reason: measured},
	{begins: "| 13 QONNX models", reason: measured},
	{begins: "| installed |", reason: measured},
	{begins: "Measured in November 2026", by: []string{"internal/build.TestFINNComparison",
		"internal/doctest.TestComparison"}},
	{begins: "No design has run on a board", by: []string{"templates.TestCSim", "internal/build.TestBackends",
		"internal/build.TestBitstream", "internal/build.TestDriverAXI"}},
	{begins: "- Against FINN's greedy SetFolding", by: []string{"internal/build.TestFINNComparison",
		"internal/doctest.TestComparison"}},
	{begins: "- At FINN-L's own foldings", by: []string{"internal/build.TestFINNLClocks"}},
	{begins: "- FINN's folding files are read", by: []string{"internal/build.TestFINNFolding",
		"internal/build.TestReports", "cmd/hlsgen.TestForeign"}},
	{begins: "- Estimates are [fitted on synthesis]", by: []string{"hlslib/price/cost.TestCoefficients",
		"hlslib/price/cost.TestPage", "internal/measured.TestErrors", "internal/measured.TestNetworks",
		"internal/measured.TestPage"}},
	{begins: "Generated code keeps to forms", by: []string{"templates.TestLint", "templates.TestCSim",
		"hlslib.TestHeaders", "internal/build.TestBackends", "internal/build.TestBitstream",
		"internal/build.TestDriverAXI"}},
	{begins: "| [", reason: "a link; docs.TestLinks"},
	{begins: "Licence:", reason: "a link; docs.TestLinks"},
}

// TestClaims checks that every sentence of the pages belongs to a claim, that every claim is on one of them, and that
// the tests named by the claims exist.
func TestClaims(t *testing.T) {
	t.Parallel()
	var all []string
	for _, page := range claiming {
		text, err := os.ReadFile(filepath.Join(tier.Root(t), filepath.FromSlash(page)))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, units(prose(string(text)))...)
	}
	used := map[string]bool{}
	for _, u := range all {
		i := slices.IndexFunc(claims, func(c claim) bool { return strings.HasPrefix(u, c.begins) })
		if i < 0 {
			t.Errorf("no test is named that holds this: %s", u)
			continue
		}
		used[claims[i].begins] = true
	}
	known := map[string][]string{}
	for _, c := range claims {
		if !used[c.begins] {
			t.Errorf("no page of %v says %q", claiming, c.begins)
		}
		if len(c.by) == 0 && c.reason == "" {
			t.Errorf("nothing holds %q", c.begins)
		}
		for _, by := range c.by {
			folder, test, _ := strings.Cut(by, ".")
			if known[folder] == nil {
				known[folder] = tests(t, folder)
			}
			if !slices.Contains(known[folder], test) {
				t.Errorf("%q: there is no test %s", c.begins, by)
			}
		}
	}
}

// units returns the paragraphs, list items and table rows of a text, each on one line. It leaves out headings, the
// head lines of tables, and comments.
func units(text string) (all []string) {
	fresh := true
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		row := strings.HasPrefix(line, "|")
		switch {
		case line == "", strings.HasPrefix(line, "#"), strings.HasPrefix(line, "<!--"):
			fresh = true
		case strings.HasPrefix(line, "|---"), row && i+1 < len(lines) && strings.HasPrefix(lines[i+1], "|---"):
		case fresh, row, strings.HasPrefix(line, "- "):
			all, fresh = append(all, line), false
		default:
			all[len(all)-1] += " " + strings.TrimSpace(line)
		}
	}
	return all
}

func TestUnits(t *testing.T) {
	t.Parallel()
	got := units("# Head\n\nOne\ntwo.\n\n- a\n  b\n- c\n\n| h |\n|---|\n| x |\n| y |\n\n<!-- m -->\n\nEnd.\n")
	if want := []string{"One two.", "- a b", "- c", "| x |", "| y |", "End."}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestComparison checks that README.md and docs/features.md give the ratios of the table in docs/finn-comparison.md.
func TestComparison(t *testing.T) {
	t.Parallel()
	root := tier.Root(t)
	table, err := os.ReadFile(filepath.Join(root, "docs", "finn-comparison.md"))
	if err != nil {
		t.Fatal(err)
	}
	least, most := 0.0, 0.0
	for _, m := range regexp.MustCompile(`(?m)^\| .* \| ([\d.]+) x \|$`).FindAllStringSubmatch(string(table), -1) {
		f, err := strconv.ParseFloat(m[1], 64)
		if err != nil {
			t.Fatal(err)
		}
		if least == 0 || f < least {
			least = f
		}
		most = max(most, f)
	}
	said := regexp.MustCompile(`between [\d.]+ and [\d.]+(\s+times)`)
	want := fmt.Sprintf("between %.2f and %.2f$1", least, most)
	for _, page := range []string{"README.md", "docs/features.md"} {
		file := filepath.Join(root, filepath.FromSlash(page))
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		now := said.ReplaceAllString(string(text), want)
		switch {
		case most == 0 || !said.Match(text):
			t.Errorf("%s has no such sentence, or there is no such table", page)
		case now != string(text) && *update:
			err = os.WriteFile(file, []byte(now), 0o666)
		case now != string(text):
			t.Errorf("%s is to say %q (-update)", page, want)
		}
		if err != nil {
			t.Error(err)
		}
	}
}
