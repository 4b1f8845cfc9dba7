package doctest

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"hlsgen/internal/testsupport/models"
	"hlsgen/internal/testsupport/tier"
)

// TestFamilies builds the models that docs/features.md names in its table of families: the first of each row, and in
// the long tier all of them. In the full tier it checks of the others that they can be built, unless tests of the front
// end import them. Below, it checks the first ones.
func TestFamilies(t *testing.T) {
	t.Parallel()
	p := build(t)
	text, err := os.ReadFile(filepath.Join(p.root, "docs", "features.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "\n## What works\n")
	table, _, _ = strings.Cut(table, "\n## ")
	rows := 0
	t.Run("models", func(t *testing.T) {
		for line := range strings.Lines(table) {
			cells := strings.Split(line, " | ")
			if len(cells) != 3 || !strings.Contains(cells[1], "`") {
				continue
			}
			rows++
			for i, m := range inlineCode.FindAllStringSubmatch(cells[1], -1) {
				if i > 0 && !tier.Full() {
					break
				}
				t.Run(m[1], func(t *testing.T) {
					t.Parallel()
					file, flags := modelOf(t, m[1])
					imported := strings.Contains(file, "/zoo/") || strings.Contains(file, "/brevitas/")
					if i > 0 && imported && !tier.Long() {
						return
					}
					if i > 0 && !tier.Long() || tier.Quick() {
						p.run(t, t.TempDir(), fmt.Sprintf("hlsgen check '%s' %s --json >checked.json", file, flags), 0)
						return
					}
					p.run(t, t.TempDir(),
						fmt.Sprintf("hlsgen build '%s' %s --board zcu104 --verify 1 --no-csim --out out", file, flags),
						0)
				})
			}
		}
	})
	if rows < 7 {
		t.Errorf("the table of families has %d rows", rows)
	}
}

// modelOf finds a model by the name of its folder, among the repository's or the shared ones. It returns the file
// and the flags that the model needs.
func modelOf(t *testing.T, name string) (file, flags string) {
	t.Helper()
	for _, m := range models.InRepository(t) {
		if m.Name == name {
			return m.Path(m.Files[0]), ""
		}
	}
	shared := tier.NeedsShared(t)
	for _, base := range []string{"model.onnx", "scan.onnx", "*.onnx"} {
		found, err := filepath.Glob(filepath.Join(shared, "models", "*", name, base))
		if err != nil {
			t.Fatal(err)
		}
		if len(found) > 0 {
			if base == "scan.onnx" {
				flags = "--dim T=8" // it accepts lines of any length
			}
			return found[0], flags
		}
	}
	t.Fatalf("no model is called %s", name)
	return "", ""
}

// TestPrinted takes the figures that hlsgen prints for a design (rate, interval, latency, cost) and asks for them
// again with flags; this must give the same design.
func TestPrinted(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	tier.Needs(t, "bash")
	p := build(t)
	dir := p.folder(t)
	type design struct {
		FPS      float64        `json:"fps"`
		Interval float64        `json:"interval_clocks"`
		Latency  int            `json:"latency_clocks"`
		Cost     map[string]int `json:"cost"`
		Fits     bool           `json:"fits"`
	}
	ask := func(flags string) (d design) {
		t.Helper()
		text := p.run(t, dir,
			"hlsgen build model.onnx --board pynq-z1 --verify 0 --no-csim --force --out out --json "+flags, 0)
		if err := json.Unmarshal([]byte(text), &d); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		return d
	}
	var front struct {
		Points []design `json:"points"`
	}
	text := p.run(t, dir, "hlsgen build model.onnx --board pynq-z1 --pareto --points 4 --json", 0)
	if err := json.Unmarshal([]byte(text), &front); err != nil || len(front.Points) < 3 {
		t.Fatal(err, text)
	}
	for _, want := range front.Points {
		for _, flags := range []string{fmt.Sprintf("--fps %v", math.Floor(want.FPS)),
			fmt.Sprintf("--interval %v", want.Interval)} {
			if got := ask(flags); got.Interval != want.Interval || got.Latency != want.Latency ||
				fmt.Sprint(got.Cost) != fmt.Sprint(want.Cost) || !got.Fits {
				t.Errorf("%s gives %+v, the front has %+v", flags, got, want)
			}
		}
	}
	fastest, shortest := ask(""), ask("--latency")
	if fastest.Interval != front.Points[0].Interval {
		t.Errorf("the fastest design has %v clocks, the front %v", fastest.Interval, front.Points[0].Interval)
	}
	if shortest.Latency > fastest.Latency {
		t.Errorf("--latency gives %d clocks, a design without it has %d", shortest.Latency, fastest.Latency)
	}
	// The printed rate, given as --fps, leads to the same interval.
	screen := p.run(t, dir,
		"hlsgen build model.onnx --board pynq-z1 --verify 0 --no-csim --force --out out --interval 6", 0)
	rate := regexp.MustCompile(`throughput +([\d,.]+) frames/s, one every 6 clocks`).FindStringSubmatch(screen)
	if rate == nil {
		t.Fatal(screen)
	}
	if got := ask("--fps " + strings.ReplaceAll(rate[1], ",", "")); got.Interval != 6 {
		t.Errorf("%s frames per second give %v clocks", rate[1], got.Interval)
	}
}
