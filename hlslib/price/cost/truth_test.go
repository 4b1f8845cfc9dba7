package cost

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// Parts of FINN's builds that this project does not have, from their own reports: a DMA (mean of six), a
// StreamingMaxPool (mean of two, per bit of its channels), and the streamer of weights (median of four, per bit of its
// words).
var (
	finnDMA      = share{lut: 1170, ff: 1809}
	finnPool     = share{lut: 6, ff: 7.4}
	finnStreamer = share{lut: .64, ff: 2.26}
)

func (s share) times(n float64) share { return share{lut: s.lut * n, ff: s.ff * n} }

// A wholeBuild is a row of testdata/builds.csv: the layers on the device, and the measurements.
type wholeBuild struct {
	name    string
	bits    int
	lut, ff float64
	parts   []share
}

// A stage is a matrix layer of a whole build, with its sliding window if it is convolved.
type stage struct {
	unit     MVAUShape
	channels int // channels of its window's input
	image    int // 0 if there is no window
	window   int // SIMD of the window
}

// wholeBuilds returns the rows of testdata/builds.csv.
func wholeBuilds(t *testing.T) []wholeBuild {
	t.Helper()
	var list []wholeBuild
	for _, row := range facts(t, "builds.csv") {
		b := wholeBuild{name: fmt.Sprintf("%s %s %s", row["build"], row["bits"], row["fps"]),
			bits: atoi(t, row["bits"]), lut: number(t, row["LUT"]), ff: number(t, row["FF"])}
		b.parts = append(theShell{}.shares(&fitted), finnDMA.times(2))
		for i, s := range stagesOf(t, row) {
			b.parts = append(b.parts, s.shares(b.bits, i == 0)...)
		}
		list = append(list, b)
	}
	return list
}

// stagesOf returns the matrix layers of a row that are on the device, with the row's folding, or with that of
// FINN's SetFolding.
func stagesOf(t *testing.T, row map[string]string) []stage {
	t.Helper()
	bits, image, channels := atoi(t, row["bits"]), atoi(t, row["image"]), atoi(t, row["inputs"])
	outputs, folds := strings.Fields(row["outputs"]), strings.Fields(row["mvau"])
	windows := strings.Fields(row["swg"])
	kernel := 9
	if row["kind"] == "mlp" {
		outputs, kernel, image = append(outputs, "10"), 1, 0
	}
	var list []stage
	in := 8
	for i, text := range outputs {
		mh := atoi(t, text)
		m := MVAUShape{MW: kernel * channels, MH: mh, WeightBits: bits, InBits: in, DSP: true, Steps: 1<<bits - 1}
		s := stage{m, channels, image, 1}
		channels, in = mh, bits
		if image > 0 {
			image /= 2
		}
		if i == 0 && row["all"] == "0" {
			continue
		}
		s.unit.AccBits = m.WeightBits + m.InBits + log2Ceil(m.MW)
		s.unit.ThresholdBits = s.unit.AccBits
		if row["kind"] == "mlp" && i == len(outputs)-1 {
			s.unit.Steps = 0
		}
		s.setFolding(100_000_000 / atoi(t, row["fps"]))
		if n := len(list); n < len(folds) {
			if _, err := fmt.Sscanf(folds[n], "%d/%d", &s.unit.PE, &s.unit.SIMD); err != nil {
				t.Fatal(err)
			}
		}
		if n := len(list); n < len(windows) {
			s.window = atoi(t, windows[n])
		}
		list = append(list, s)
	}
	return list
}

// setFolding raises SIMD, then PE, until a frame takes fewer than the given clocks; SIMD at most to weights of 36 bits.
func (s *stage) setFolding(clocks int) {
	m := &s.unit
	vectors := max(1, s.image*s.image)
	enough := func() bool { return vectors*m.MW*m.MH/(m.PE*m.SIMD) < clocks }
	m.PE, m.SIMD = 1, 1
	for n := 1; n <= m.MW && !enough(); n++ {
		before := m.SIMD
		if m.MW%n > 0 {
			continue
		}
		m.SIMD = n
		if !enough() && n*m.WeightBits > 36 {
			m.SIMD = before
			break
		}
	}
	for n := 1; n <= m.MH && !enough(); n++ {
		if m.MH%n == 0 {
			m.PE = n
		}
	}
	for s.window < s.channels && s.image*s.image*m.MW/s.window >= clocks {
		s.window *= 2
	}
}

// shares returns a stage with the parts around it; the first stage of a build has no converter before it.
func (s stage) shares(bits int, first bool) []share {
	m := s.unit
	m.Memory, m.ThresholdMemory = StyleBlockRAM, StyleDistributedRAM
	rows := m.MH / m.PE
	if rows > 1 {
		m.Buffer = StyleRegisters
	}
	if rows > 64 {
		m.ThresholdMemory = StyleBlockRAM
	}
	list := append(m.shares(&fitted), finnStreamer.times(float64(m.PE*m.SIMD*m.WeightBits)))
	join := func(in, out int) {
		list = append(list, FIFOShape{Depth: 2, Width: in}.shares(&fitted)...)
		if in != out {
			list = append(list, WidthConverterShape{in, out}.shares(&fitted)...)
			list = append(list, FIFOShape{Depth: 2, Width: out}.shares(&fitted)...)
		}
	}
	if s.image > 0 {
		pixel := s.channels * m.InBits
		list = append(list, share{lut: fitted[streamLUT], ff: fitted[streamFF] + float64(pixel)})
		list = append(list, share{lut: fitted[windowLUT], ff: fitted[windowFF]},
			FabricUltraScale.ram("", StyleDistributedRAM, (2*(s.image+2)+3)*s.channels/s.window, s.window*m.InBits))
		join(pixel, s.window*m.InBits)
		join(s.window*m.InBits, m.SIMD*m.InBits)
		pooled := m.MH * bits
		join(m.PE*bits, pooled)
		list = append(list, finnPool.times(float64(pooled)))
		join(pooled, pooled)
		return list
	}
	join(m.InBits, m.SIMD*m.InBits)
	join(m.PE*bits, m.PE*bits)
	return list
}

// buildBlock returns the table of the whole builds: measured, estimated, and the error.
func buildBlock(t *testing.T) *block {
	t.Helper()
	b := &block{name: "builds"}
	const format = "%-28s %7s %7s %7s   %7s %7s %7s"
	b.line(format, "weights' bits, frames/s", "LUT", "ours", "%", "FF", "ours", "%")
	luts, ffs := buildErrors(t, func(w wholeBuild, s share) {
		b.line(format, w.name, whole(w.lut), whole(s.lut), signed(s.lut/w.lut-1), whole(w.ff), whole(s.ff),
			signed(s.ff/w.ff-1))
	})
	b.line("median of %d: %s %% of LUTs, %s %% of flip-flops", len(luts), percent(median(luts)), percent(median(ffs)))
	return b
}

// buildErrors returns the relative errors of the estimates of whole builds. It calls tell for each build.
func buildErrors(t *testing.T, tell func(wholeBuild, share)) (luts, ffs []float64) {
	t.Helper()
	for _, w := range wholeBuilds(t) {
		s := sum(w.parts)
		tell(w, s)
		luts, ffs = append(luts, math.Abs(s.lut/w.lut-1)), append(ffs, math.Abs(s.ff/w.ff-1))
	}
	return luts, ffs
}

// TestBuilds checks the LUTs of whole builds, which no fit has seen: within 15 % in the median.
func TestBuilds(t *testing.T) {
	t.Parallel()
	luts, _ := buildErrors(t, func(wholeBuild, share) {})
	if len(luts) < 30 || median(luts) > .15 {
		t.Errorf("%d builds, %s %% off in the median", len(luts), percent(median(luts)))
	}
}
