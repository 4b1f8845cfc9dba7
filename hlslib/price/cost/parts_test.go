package cost

import (
	"math"
	"strings"
	"testing"
)

// partShares returns the shares of a part of testdata/parts.csv.
func partShares(t *testing.T, row map[string]string) []share {
	t.Helper()
	fabric := map[string]Fabric{"series7": FabricSeries7, "ultrascale": FabricUltraScale}[row["fabric"]]
	words := strings.Split(row["part"], ":")
	n := func(i int) int { return atoi(t, words[i]) }
	switch words[0] {
	case "f":
		f := FIFOShape{Depth: n(1), Width: n(2), Fabric: fabric}
		if len(words) > 3 {
			f.Memory = StyleBlockRAM
		}
		return f.shares(&fitted)
	case "c":
		return WidthConverterShape{n(1), n(2)}.shares(&fitted)
	case "w":
		return []share{{lut: fitted[windowLUT], ff: fitted[windowFF]}, fabric.ram("", StyleDistributedRAM, n(2), n(1))}
	case "p":
		return []share{{lut: fitted[streamLUT], ff: fitted[streamFF] + float64(n(1))}}
	}
	t.Fatalf("part %q", row["part"])
	return nil
}

// partBlock returns the table of the errors of parts by kind: the median and the largest.
func partBlock(t *testing.T) *block {
	t.Helper()
	b := &block{name: "parts"}
	const format = "%-16s %-16s %4s   %7s %7s   %7s %7s"
	b.line(format, "", "", "n", "LUT", "max", "FF", "max")
	for _, source := range []string{"pds_yolo", "finn_vs_vitisai"} {
		for _, kind := range []struct{ name, key string }{
			{"FIFO", "f"}, {"width converter", "c"}, {"sliding window", "w"}, {"border", "p"},
		} {
			var luts, ffs []float64
			for _, row := range facts(t, "parts.csv") {
				if row["source"] != source || !strings.HasPrefix(row["part"], kind.key) {
					continue
				}
				s := sum(partShares(t, row))
				luts = append(luts, math.Abs(s.lut/number(t, row["LUT"])-1))
				ffs = append(ffs, math.Abs(s.ff/number(t, row["FF"])-1))
			}
			if len(luts) > 0 {
				b.line(format, source, kind.name, whole(float64(len(luts))), percent(median(luts)),
					percent(worst(luts)), percent(median(ffs)), percent(worst(ffs)))
			}
		}
	}
	return b
}
