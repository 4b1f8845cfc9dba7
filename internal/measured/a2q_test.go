package measured

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"hlsgen/internal/chart"
	"hlsgen/internal/check"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/engines"
	"hlsgen/internal/options"
	"hlsgen/internal/samples"
	"hlsgen/internal/simulate"
	"hlsgen/internal/testsupport/tier"
)

// The page about accumulators, its picture, and the table of what Yosys counts for one layer of each network there.
const (
	accumulatorsPage = "../../docs/accumulators.md"
	accumulatorsPlot = "../../docs/accumulators.svg"
	a2qFile          = "a2q.csv"
)

// An a2q is a network of the family: trained for accumulators of some width, or without such a limit.
type a2q struct {
	name, method string
	asked        int // width of the accumulators it was trained for; 0 without accumulator-aware quantisation
	exact        int // bits that suffice for the sums of all hidden layers, from their weights
	types        int // the same, from the data types alone
	accuracy     *samples.Accuracy
	stated       float64
	zeros        float64 // share of zeros among the weights of the hidden layers
	layer        point   // the first hidden layer
	lut          int     // lookup tables of that layer, estimated
	yosys        int     // lookup tables of that layer, from Yosys
}

// a2qFamily reads and runs all networks of the family, sorted by group and falling width of their accumulators.
func a2qFamily(t *testing.T) (list []*a2q) {
	shared := tier.NeedsShared(t)
	folders, err := filepath.Glob(filepath.Join(shared, "models/brevitas/a2q*"))
	if err != nil || len(folders) == 0 {
		t.Fatal("no A2Q models", err)
	}
	for _, dir := range folders {
		list = append(list, a2qOf(t, dir))
	}
	slices.SortFunc(list, func(a, b *a2q) int {
		return cmp.Or(cmp.Compare(a.group(), b.group()), cmp.Compare(b.exact, a.exact), cmp.Compare(a.name, b.name))
	})
	return list
}

// group names the architecture of a network, which it shares with those that differ only in their accumulators.
func (x *a2q) group() string {
	for _, form := range []string{"cnn-w4a4", "cnn-w8a8", "mlp-signed-w4a4"} {
		if strings.Contains(x.name, form) {
			return form
		}
	}
	return x.name
}

func a2qOf(t *testing.T, dir string) *a2q {
	t.Helper()
	x := &a2q{name: filepath.Base(dir), method: "none"}
	var info struct {
		Accumulators []struct {
			Target  int    `json:"target_P"`
			Variant string `json:"variant"`
		}
	}
	b, err := os.ReadFile(filepath.Join(dir, "info.json"))
	if err == nil {
		err = json.Unmarshal(b, &info)
	}
	if err != nil {
		t.Fatal(err)
	}
	if a := info.Accumulators[0]; a.Target > 0 {
		x.asked, x.method = a.Target, a.Variant
	}
	var d diag.List
	o := options.Source{Model: filepath.Join(dir, "model.onnx")}
	asked := check.Options{Source: o}
	if asked.AccBits, err = options.ParseAccBits("63"); err != nil {
		t.Fatal(err)
	}
	c, err := check.Run(context.Background(), asked, &d)
	if err != nil || c.Imported.Model == nil {
		t.Fatal(dir, err, d.Diags)
	}
	none, all := 0, 0
	for _, r := range c.Audit[1 : len(c.Audit)-1] {
		x.exact, x.types = max(x.exact, r.Declared.Exact), max(x.types, r.Declared.DataType)
	}
	for _, s := range c.Imported.AllLayerDotProducts()[1 : len(c.Audit)-1] {
		for _, row := range s.Weights {
			for _, w := range row {
				if all++; w == 0 {
					none++
				}
			}
		}
	}
	x.zeros = float64(none) / float64(all)
	o.Data, o.LabelsFile = filepath.Join(dir, "inputs.npy"), filepath.Join(dir, "labels.npy")
	run, err := simulate.Run(context.Background(), simulate.Options{Source: o, Engine: engines.EngineEval}, &d)
	if err != nil || run == nil {
		t.Fatal(dir, err, d.Diags)
	}
	x.accuracy, x.stated = run.Accuracy, *run.StatedAccuracy
	to := target(t, networkBoard)
	at := slices.IndexFunc(c.Imported.Model.Graph.Nodes, func(n *dataflow.Node) bool {
		return n.Name == c.Audit[1].Layer
	})
	op := c.Imported.Model.Graph.Nodes[at].Op
	f := dataflow.Fold{PE: 4, SIMD: 4, Memory: dataflow.MemoryBRAM, Compute: dataflow.MultiplierInLUTs}
	x.layer = point{name: strings.ReplaceAll(x.name, "-", "_"), op: op, fold: f, target: to}
	x.lut = op.Cost(f, to).Total().LUT
	return x
}

// TestMeasureA2Q synthesises with Yosys the layers that a2q.csv does not list yet. It takes one at a time and
// writes the file after each, as all of them together take gigabytes and minutes.
func TestMeasureA2Q(t *testing.T) {
	if !*measure {
		t.Skip("it takes some minutes: make measure runs it")
	}
	tier.Needs(t, "yosys")
	have := map[string]cellCount{}
	if _, err := os.Stat(a2qFile); err == nil {
		have = tableOf(t, a2qFile)
	}
	for _, x := range a2qFamily(t) {
		p := x.layer
		if _, ok := have[p.name]; ok {
			continue
		}
		got, spent, err := together(t.Context(), t.TempDir(), []point{p})
		if err != nil {
			t.Fatal(err)
		}
		have[p.name] = got[p.name]
		t.Logf("%v for %s", spent.Round(time.Second), p.name)
		writeTo(t, a2qFile, have)
	}
}

// TestA2QPage compares the table and the picture of docs/accumulators.md with what the networks give now; -update
// writes them.
func TestA2QPage(t *testing.T) {
	tier.NotQuick(t)
	list, cells := a2qFamily(t), tableOf(t, a2qFile)
	for _, x := range list {
		x.yosys = cells[x.layer.name].LUT
		if x.yosys == 0 {
			t.Errorf("%s lacks the layer %s: TestMeasureA2Q with -measure has Yosys synthesise it", a2qFile,
				x.layer.name)
		}
	}
	const format = "%-27s %-5s %5s %5s %5s  %-28s %6s %6s %8s %6s"
	lines := []string{fmt.Sprintf(format, "network", "", "asked", "exact", "types", "accuracy, n = 128, 95 %", "all",
		"zeros", "estimate", "Yosys")}
	group := ""
	for _, x := range list {
		if x.group() != group && group != "" {
			lines = append(lines, "")
		}
		group = x.group()
		asked := "-"
		if x.asked > 0 {
			asked = fmt.Sprint(x.asked)
		}
		a := x.accuracy
		lines = append(lines, strings.TrimRight(fmt.Sprintf(format, x.name, x.method, asked, fmt.Sprint(x.exact),
			fmt.Sprint(x.types), fmt.Sprintf("%.1f %% (%.1f to %.1f %%)", 100*a.ShareRight(), 100*a.Low, 100*a.High),
			fmt.Sprintf("%.1f %%", 100*x.stated), fmt.Sprintf("%.1f %%", 100*x.zeros), fmt.Sprint(x.lut),
			fmt.Sprint(x.yosys)), " "))
	}
	picture, err := a2qPicture(list)
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile(accumulatorsPage)
	if err != nil {
		t.Fatal(err)
	}
	page := shown(t, string(source), "A2Q", lines)
	if *update {
		for path, text := range map[string][]byte{accumulatorsPage: []byte(page), accumulatorsPlot: picture} {
			if err := os.WriteFile(path, text, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		return
	}
	if page != string(source) {
		t.Errorf("%s shows another table (-update writes it) than\n%s", accumulatorsPage, strings.Join(lines, "\n"))
	}
	if stands, err := os.ReadFile(accumulatorsPlot); err != nil || !bytes.Equal(stands, picture) {
		t.Errorf("%s is another picture (-update writes it): %v", accumulatorsPlot, err)
	}
}

// a2qPicture draws accuracy and lookup tables against the width of the accumulators, beside published accuracies.
func a2qPicture(list []*a2q) ([]byte, error) {
	accuracy, luts := map[string][]chart.CurvePoint{}, map[string][]chart.CurvePoint{}
	for _, x := range list {
		bits, a := float64(x.exact), x.accuracy
		accuracy[x.group()] = append(accuracy[x.group()], chart.CurvePoint{X: bits, Y: 100 * a.ShareRight(),
			Low:  100 * a.Low,
			High: 100 * a.High})
		luts[x.group()+", Yosys"] = append(luts[x.group()+", Yosys"], chart.CurvePoint{X: bits, Y: float64(x.yosys)})
		luts[x.group()+", estimate"] = append(luts[x.group()+", estimate"], chart.CurvePoint{X: bits,
			Y: float64(x.lut)})
	}
	curves := func(of map[string][]chart.CurvePoint) (out []chart.Curve) {
		for _, name := range slices.Sorted(maps.Keys(of)) {
			out = append(out, chart.Curve{Name: name, Points: of[name]})
		}
		return out
	}
	published := func(name string, at ...float64) chart.Curve { // y-values at 16 bits, 15 bits, and so on
		c := chart.Curve{Name: name}
		for i, y := range at {
			c.Points = append(c.Points, chart.CurvePoint{X: float64(16 - i), Y: y})
		}
		return c
	}
	const bits, percent = "bits of the hidden layers' accumulators", "accuracy in %"
	p, err := chart.PanelRow{
		{Title: "Accuracy on 128 digits, 95 % intervals", X: bits, Y: percent, From: 65, To: 101,
			Curves: curves(accuracy)},
		{Title: "LUTs of the first hidden layer", X: bits, Y: "LUT", Curves: curves(luts)},
		{Title: "Published: ResNet18, CIFAR-10, W4A4", X: bits, Y: percent, From: 82, To: 96, Curves: []chart.Curve{
			published("A2Q", 94.2, 94.2, 92.6, 89.8, 83.9), published("A2Q+", 94.2, 94.1, 94.1, 92.8, 90.6)}},
	}.Draw()
	return p.SVG, err
}
