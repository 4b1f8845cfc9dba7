package cost

import (
	"math"
	"strings"
	"testing"
)

// finnPlusShell is the most that a shell of FINN+ takes in its authors' runs.
var finnPlusShell = share{lut: 7900}

// finnPlusLayers returns the layers of a row of testdata/finnplus.csv, each with a FIFO of two words before it.
func finnPlusLayers(t *testing.T, text string) (list []share) {
	t.Helper()
	for _, field := range strings.Fields(text) {
		words := strings.Split(field, ":")
		n := func(i int) int { return atoi(t, words[i]) }
		fifo := func(width int) { list = append(list, FIFOShape{Depth: 2, Width: width}.shares(&fitted)...) }
		switch words[0] {
		case "m":
			m := MVAUShape{MW: n(1), MH: n(2), PE: n(3), SIMD: n(4), WeightBits: n(5), InBits: n(6), AccBits: n(7),
				Steps: n(8), ThresholdBits: n(7), ThresholdMemory: StyleDistributedRAM,
				Memory: map[string]MemoryStyle{"block": StyleBlockRAM, "lut": StyleDistributedRAM}[words[9]]}
			if m.MH > m.PE {
				m.Buffer = StyleRegisters
			}
			if m.MH/m.PE > 64 {
				m.ThresholdMemory = StyleBlockRAM
			}
			fifo(m.SIMD * m.InBits)
			list = append(list, m.shares(&fitted)...)
			if m.Memory == StyleBlockRAM {
				list = append(list, finnStreamer.times(float64(m.PE*m.SIMD*m.WeightBits)))
			}
		case "t":
			fifo(8 * n(1))
			list = append(list, ThresholdingShape{InBits: 8, PE: n(1), Rows: 1, Steps: n(2), Search: true,
				Memory: StyleDistributedRAM}.shares(&fitted)...)
		case "c":
			fifo(n(1))
			list = append(list, WidthConverterShape{n(1), n(2)}.shares(&fitted)...)
		case "w":
			fifo(n(1))
			list = append(list, share{lut: fitted[windowLUT], ff: fitted[windowFF]},
				FabricUltraScale.ram("", StyleDistributedRAM, n(2), n(1)))
		case "l":
			list = append(list, LabelSelectShape{1, 8, 4}.shares(&fitted)...)
		default:
			t.Fatalf("layer %q", field)
		}
	}
	return list
}

// finnPlusBlock returns the table of the builds without their shells: measured, estimated, and the error.
func finnPlusBlock(t *testing.T) *block {
	t.Helper()
	b := &block{name: "finnplus"}
	const format = "%-10s %7s %8s %7s %7s   %9s %9s"
	b.line(format, "", "LUT", "no shell", "ours", "%", "clocks", "interval")
	for _, row := range facts(t, "finnplus.csv") {
		lut := number(t, row["LUT"])
		rest := lut - finnPlusShell.lut*number(t, row["shell"])
		ours := sum(finnPlusLayers(t, row["layers"])).lut
		b.line(format, row["build"], whole(lut), whole(rest), whole(ours), signed(ours/rest-1), row["clocks"],
			row["interval"])
	}
	return b
}

// TestNextFrame checks why FINN+'s CNV takes more clocks than its slowest layer. FINN's sliding window
// reads nothing of the next frame before it has written the present one. So the layer after it waits for the pixels of
// the first window, which the layer before makes. The intervals of both builds must be met within 150 clocks.
func TestNextFrame(t *testing.T) {
	t.Parallel()
	const (
		slowest = 10 * 10 * (1152 / 16) * (128 / 8) // iterations of MVAU_3
		first   = 2*12 + 3                          // pixels of a window of 3 by 3 in a frame of 12 by 12
		each    = (576 / 16) * (128 / 8)            // clocks of MVAU_2 per pixel
	)
	for build, interval := range map[string]int{"CNV-W2A2": 130761, "CNV-W1A2": 130605} {
		if d := interval - slowest - first*each; max(d, -d) > 150 {
			t.Errorf("%s: %d clocks, %d more than %d and %d pixels of %d", build, interval, d, slowest, first, each)
		}
	}
}

// TestFlush checks that FINN's matrix kernels, which are called once per frame, take six clocks more than they
// have iterations. A kernel of this project takes none more.
func TestFlush(t *testing.T) {
	t.Parallel()
	n := 0
	for _, row := range facts(t, "finnplus.csv") {
		if strings.HasPrefix(row["build"], "CNV") {
			continue // other layers hold it up
		}
		n++
		clocks := math.Inf(-1)
		for _, field := range strings.Fields(row["layers"]) {
			if words := strings.Split(field, ":"); words[0] == "m" {
				clocks = max(clocks, number(t, words[1])*number(t, words[2])/number(t, words[3])/number(t, words[4]))
			}
		}
		vectors := number(t, row["clocks"]) / clocks
		if got := number(t, row["interval"]) - vectors*clocks; got != 6 || vectors != math.Round(vectors) {
			t.Errorf("%s: %g clocks more than %g vectors of %g", row["build"], got, vectors, clocks)
		}
	}
	if n != 5 {
		t.Errorf("%d builds, want 5", n)
	}
}
