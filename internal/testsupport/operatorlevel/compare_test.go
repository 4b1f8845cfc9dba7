package operatorlevel_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hlsgen/hlslib/mvau"
	"hlsgen/hlslib/pool"
	"hlsgen/hlslib/price/delay"
	"hlsgen/hlslib/threshold"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
	"hlsgen/internal/testsupport/layertest"
	"hlsgen/internal/testsupport/synthtest"
	"hlsgen/internal/testsupport/tier"
	"hlsgen/templates"
)

// A sample is a fold of a layer whose C++ is compared.
type sample struct {
	name string
	layerOf
	fold dataflow.Fold
}

// samplesOf returns the layers whose C++ is compared: of the sizes that digits and CIFAR networks have.
func samplesOf(t testing.TB) []sample {
	r := rand.New(rand.NewPCG(11, 1))
	of := func(name string, op dataflow.Op, in dataflow.StreamType, f dataflow.Fold) sample {
		bound := layertest.Bind(t, op, in)
		return sample{name, layerOf{bound, []dataflow.StreamType{in}}, f}
	}
	steps := func(x num.Range, n int) (list []num.StepFunction) {
		s := num.StepFunction{Value: []int64{0}}
		for i := range int64(n) {
			s.At = append(s.At, x.Lo+(i+1)*((x.Hi-x.Lo)/int64(n+1))+r.Int64N(3))
			s.Value = append(s.Value, i+1)
		}
		return []num.StepFunction{s}
	}
	four, eight := layertest.FullType(layertest.UInt(4), 16, 64), layertest.FullType(layertest.UInt(8), 16, 64)
	signs := layertest.FullType(layertest.Bipolar, 16, 64)
	weights := layertest.Weights(r, 64, 64, num.Range{Lo: -8, Hi: 7}, false)
	binary := layertest.Weights(r, 64, 64, num.Range{Lo: -1, Hi: 1}, false)
	windows := layertest.FullType(layertest.UInt(4), 16, 9, 64)
	lut, bram := dataflow.MultiplierInLUTs, dataflow.MemoryBRAM
	return []sample{
		of("MVAU, 4 by 4 bits, 7 thresholds", mvau.New(mvau.Params{Weights: weights,
			Steps: steps(num.Range{Lo: -900, Hi: 900}, 7)}), four, dataflow.Fold{PE: 4, SIMD: 8, Memory: bram,
			Compute: lut}),
		of("MVAU, 4 by 8 bits in DSP slices, sums", mvau.New(mvau.Params{Weights: weights}), eight,
			dataflow.Fold{PE: 8, SIMD: 4, Memory: bram, Compute: dataflow.MultiplierInDSPs}),
		of("MVAU, 1 by 1 bit, 1 threshold", mvau.New(mvau.Params{Weights: binary,
			Steps: steps(num.Range{Lo: -30, Hi: 30}, 1)}), signs, dataflow.Fold{PE: 8, SIMD: 16, Memory: bram,
			Compute: lut}),
		of("Thresholding, 8 to 4 bits", threshold.New(threshold.Params{Steps: steps(num.Range{Hi: 255}, 15)}), eight,
			dataflow.Fold{PE: 8, SIMD: 1, Memory: dataflow.MemoryLUTRAM}),
		of("Pool, maximum of 9", pool.New(pool.Params{Op: pool.PoolingMax}), windows, dataflow.Fold{PE: 8, SIMD: 3}),
		of("Pool, sum of 9", pool.New(pool.Params{Op: pool.PoolingSum}), windows, dataflow.Fold{PE: 8, SIMD: 3}),
	}
}

// lines counts the lines of code in a header, without comments, guards and includes.
func lines(files templates.ProjectFiles, header string) (n int) {
	for _, f := range files {
		if filepath.Base(f.Path) != header {
			continue
		}
		for _, line := range bytes.Split(f.Data, []byte("\n")) {
			text := strings.TrimSpace(string(line))
			if text != "" && !strings.HasPrefix(text, "//") && (!strings.HasPrefix(text, "#") ||
				strings.HasPrefix(text, "#pragma")) {
				n++
			}
		}
	}
	return n
}

// TestCPlusPlus compares the C++ of kernels with that spelled from graphs: its lines, its instructions in clang's IR,
// the longest path from one iteration to the next, and DSP slices. docs/RATIONALE.md has the rows.
func TestCPlusPlus(t *testing.T) {
	tier.NeedsLong(t)
	tier.Needs(t, "clang++")
	t.Parallel()
	page, err := os.ReadFile("../../../docs/RATIONALE.md")
	if err != nil {
		t.Fatal(err)
	}
	clock := delay.NewStageDelayModel(delay.FamilyUltraScale, 200, nil, delay.DelayRangeExpected)
	for _, s := range samplesOf(t) {
		kernel := benchOf(t, s.layerOf, s.fold, 1)
		row := "| " + s.name
		for _, column := range []func(templates.ProjectFiles) string{
			func(f templates.ProjectFiles) string {
				return fmt.Sprint(lines(f, s.op.Emit(s.fold, dataflow.Target{}).Header))
			},
			func(f templates.ProjectFiles) string { n, _ := compile(t, f, clock); return fmt.Sprint(n) },
			func(f templates.ProjectFiles) string { _, ns := compile(t, f, clock); return fmt.Sprintf("%.2f", ns) },
		} {
			row += " | " + column(kernel) + " | " + column(spelled(t, kernel, s.layerOf, s.fold))
		}
		if row += " |"; !strings.Contains(string(page), row) {
			t.Errorf("docs/RATIONALE.md lacks the row\n%s", row)
		}
		if packs(s.op.Emit(s.fold, dataflow.Target{})) { // a product of the graph's text takes a slice
			slices := fmt.Sprintf("takes %d slices, and the kernel %d", s.fold.PE*s.fold.SIMD,
				s.op.Cost(s.fold, dataflow.Target{}).Total().DSP)
			if !strings.Contains(string(page), slices) {
				t.Errorf("docs/RATIONALE.md does not say that the text %s", slices)
			}
		}
	}
}

// compile returns the number of instructions in clang's IR of a bench's kernel, and the longest path from one iteration
// to the next.
func compile(t testing.TB, files templates.ProjectFiles, clock delay.StageDelayModel) (instructions int, ns float64) {
	kernels, err := synthtest.Kernels(t.Context(), t.TempDir(), files)
	if err != nil {
		t.Fatal(err)
	}
	ns, _ = kernels[0].Longest(clock)
	return kernels[0].InstructionCount(), ns
}

// BenchmarkCSim measures the least CPU time of a C simulation of 256 frames of each sample. The header is the kernel's
// own, and then that spelled from its graph.
func BenchmarkCSim(b *testing.B) {
	for _, s := range samplesOf(b) {
		kernel := benchOf(b, s.layerOf, s.fold, 256)
		for _, header := range []struct {
			name  string
			files templates.ProjectFiles
		}{{"kernel", kernel}, {"operators", spelled(b, kernel, s.layerOf, s.fold)}} {
			b.Run(s.name+"/"+header.name, func(b *testing.B) {
				dir := compiled(b, header.files, "-O2")
				least := time.Hour
				for b.Loop() {
					least = min(least, execute(b, dir))
				}
				b.ReportMetric(float64(least.Milliseconds()), "CPU-ms")
			})
		}
	}
}
