package measured

import (
	"maps"
	"os"
	"slices"
	"testing"
	"time"

	"hlsgen/internal/testsupport/maketest"
	"hlsgen/internal/testsupport/tier"
)

// atOnce limits the layers that one run of Yosys synthesises.
const atOnce = 6

// TestMeasure synthesises with Yosys the points that the table does not list yet. To measure a row again, delete
// it.
func TestMeasure(t *testing.T) {
	if !*measure {
		t.Skip("it takes half an hour: make measure runs it")
	}
	tier.Needs(t, "yosys")
	maketest.PyPI(t)
	have := readOrNone(t, tableFile)
	again := readOrNone(t, againFile)
	for _, board := range boardsMeasured {
		list := points(t, target(t, board))
		measurePoints(t, list, tableFile, have, atOnce)
		measurePoints(t, slices.DeleteFunc(list, func(p point) bool { return !p.twice() }), againFile, again, atOnce/2)
	}
	var nets []network
	for _, board := range boardsMeasured {
		nets = append(nets, networks(t, target(t, board))...)
	}
	for _, n := range nets {
		if _, ok := have[n.name]; ok {
			continue
		}
		got, spent, err := whole(t.Context(), t.TempDir(), n)
		if err != nil {
			t.Fatal(err)
		}
		have[n.name] = got
		t.Logf("%v for %s", spent.Round(time.Second), n.name)
		write(t, have)
	}
}

// readOrNone reads a table of measured points; it is empty if the file does not exist.
func readOrNone(t *testing.T, file string) map[string]cellCount {
	if _, err := os.Stat(file); err != nil {
		return map[string]cellCount{}
	}
	return tableOf(t, file)
}

// measurePoints measures the points that have does not list, atOnce of them in one run of Yosys, and writes them to
// the file.
func measurePoints(t *testing.T, list []point, file string, have map[string]cellCount, atOnce int) {
	t.Helper()
	lacking := slices.DeleteFunc(slices.Clone(list), func(p point) bool { _, ok := have[p.key()]; return ok })
	for some := range slices.Chunk(lacking, atOnce) {
		got, spent, err := together(t.Context(), t.TempDir(), some)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range some {
			have[p.key()] = got[p.name]
		}
		t.Logf("%v for %s and others", spent.Round(time.Second), some[0].key())
		writeTo(t, file, have)
	}
}

// TestAgain synthesises the layers that multiply in DSP slices again and compares the counts with the table.
func TestAgain(t *testing.T) {
	tier.NeedsLong(t)
	tier.Needs(t, "yosys")
	have := table(t)
	var list []point
	for _, x := range sliced(t, networkBoard) {
		list = append(list, x.point)
	}
	for some := range slices.Chunk(list, atOnce) {
		got, _, err := together(t.Context(), t.TempDir(), some)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range some {
			// Lookup tables may differ by a tenth: Yosys' result depends on what else it has read.
			if w, m := have[p.key()], got[p.name]; !tenth(m.LUT, w.LUT) || m.FF != w.FF || m.DSP != w.DSP {
				t.Errorf("%s: %+v, the table has %+v", p.key(), m, w)
			}
		}
	}
}

// write writes the main table.
func write(t *testing.T, all map[string]cellCount) {
	t.Helper()
	writeTo(t, tableFile, all)
}

func writeTo(t *testing.T, file string, all map[string]cellCount) {
	t.Helper()
	rows := [][]string{columns}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		rows = append(rows, all[name].row(name))
	}
	if err := os.WriteFile(file, encoded(rows), 0o666); err != nil {
		t.Fatal(err)
	}
}
