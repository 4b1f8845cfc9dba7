package measured

import (
	"maps"
	"os"
	"slices"
	"testing"
	"time"

	"hlsgen/internal/circuit"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/tier"
	"hlsgen/templates"
	"hlsgen/templates/rtl"
)

// together is how many layers Yosys synthesises at once.
const together = 4

// TestMeasure has Yosys synthesise what the table lacks: rows that are taken out of it are measured again.
func TestMeasure(t *testing.T) {
	if !*measure {
		t.Skip("it takes a quarter of an hour: make measure runs it")
	}
	tier.Needs(t, "yosys")
	have := map[string]cellCount{}
	if _, err := os.Stat(tableFile); err == nil {
		have = table(t)
	}
	for _, board := range boardsMeasured {
		to := target(t, board)
		lacking := slices.DeleteFunc(points(t, to), func(p point) bool { _, ok := have[p.key()]; return ok })
		for list := range slices.Chunk(lacking, together) {
			circuits := map[string]*circuit.Module{}
			for _, p := range list {
				circuits[p.name] = p.op.(dataflow.Circuited).Circuit(p.fold, p.target)
			}
			got, spent, err := layers(t.Context(), t.TempDir(), family(to), circuits)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range list {
				have[p.key()] = counted(got[p.name])
			}
			t.Logf("%v for %s and others", spent.Round(time.Second), list[0].name)
			write(t, have)
		}
	}
	for _, n := range networks(t, target(t, networkBoard)) {
		if _, ok := have[n.name]; ok {
			continue
		}
		w, err := rtl.Of(n.design, templates.Options{Top: "network"})
		if err != nil {
			t.Fatal(err)
		}
		got, spent, err := whole(t.Context(), t.TempDir(), family(n.design.Target), w)
		if err != nil {
			t.Fatal(err)
		}
		have[n.name] = counted(got[w.Top])
		t.Logf("%v for %s", spent.Round(time.Second), n.name)
		write(t, have)
	}
}

// write puts the table into its file.
func write(t *testing.T, all map[string]cellCount) {
	t.Helper()
	rows := [][]string{columns}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		rows = append(rows, all[name].row(name))
	}
	if err := os.WriteFile(tableFile, encoded(rows), 0o666); err != nil {
		t.Fatal(err)
	}
}
