package fast_test

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/testsupport/tier"
)

// reading is set by `make bench-peers`.
var reading = flag.Bool("reading", false, "measure what whole commands take beside the engine")

// TestReading measures the time per sample in a whole command on one thread, in the engine, and in a read of the
// command's file in blocks of 256 kB. It is the CPU time of many samples minus that of few, as the median of eleven
// rounds that measure all three. For samples of 8 bits it measures only the whole command.
func TestReading(t *testing.T) {
	if !*reading {
		t.Skip("it takes some minutes: make bench-peers runs it")
	}
	models := filepath.Join(tier.NeedsShared(t), "models")
	hlsgen := builtHlsgen(t)
	t.Log("a sample's ns of the whole command, engine, read, what is left, and that by number; least and most")
	for _, c := range []struct {
		folder, samples string
		few, many       int
	}{
		{"zoo/TFC_2W2A", "x0.npy", 10_000, 100_000},
		{"brevitas/jets-qap-w6a6-s80", "inputs.npy", 100_000, 1_100_000},
	} {
		t.Run(filepath.Base(c.folder), func(t *testing.T) {
			dir := t.TempDir()
			m, x := imported(t, c.folder, "model.onnx", c.samples)
			predict, _ := measured(t, c.folder, c.samples)
			each := dataflow.Shape(m.In[0].Shape).ElementCount()
			floats := &command{counts: [2]int{c.few, c.many}, output: filepath.Join(dir, "y.npy")}
			floats.run = func(in, out string) *exec.Cmd {
				return exec.Command(hlsgen, "simulate", filepath.Join(models, c.folder, "model.onnx"), "--input", in,
					"--output", out)
			}
			codes := &command{counts: floats.counts, output: floats.output}
			codes.run = func(in, out string) *exec.Cmd {
				cmd := floats.run(in, out)
				cmd.Args = append(cmd.Args, "--input-type", "UINT8:1/255")
				return cmd
			}
			for i, n := range floats.counts {
				floats.samples[i] = manySamples(t, filepath.Join(dir, fmt.Sprint(n, ".npy")), x, m.In[0].Shape, n)
				codes.samples[i] = manySamples(t, filepath.Join(dir, fmt.Sprint(n, "codes.npy")), codesOf(x),
					m.In[0].Shape, n)
			}
			var all [4][]float64
			var whole []float64
			for range 11 {
				took := 1000 * microseconds(t, floats)
				whole = append(whole, 1000*microseconds(t, codes))
				before := cpuTime(t)
				frames := predict(20)
				for cpuTime(t) < before+100*time.Millisecond {
					frames += predict(20)
				}
				engine := float64(cpuTime(t)-before) / float64(frames)
				read := float64(readTime(t, floats.samples[1])-readTime(t, floats.samples[0])) / float64(c.many-c.few)
				for i, v := range []float64{took, engine, read, took - engine - read} {
					all[i] = append(all[i], v)
				}
			}
			left := median(all[3])
			t.Logf("float32: %.0f %.0f %.0f %.0f %.2f; %.0f %.0f", median(all[0]), median(all[1]), median(all[2]), left,
				left/float64(each), slices.Min(all[3]), slices.Max(all[3]))
			t.Logf("uint8: %.0f; %.0f %.0f", median(whole), slices.Min(whole), slices.Max(whole))
		})
	}
}

// codesOf returns the numbers, clipped to 0..1, in 255ths.
func codesOf(x []float32) (codes []uint8) {
	for _, v := range x {
		codes = append(codes, uint8(255*min(max(v, 0), 1)+0.5))
	}
	return codes
}

func microseconds(t *testing.T, c *command) float64 {
	us, err := c.each()
	if err != nil {
		t.Fatal(err)
	}
	return us
}

// readTime returns the CPU time of reading a file in blocks of 256 kB.
func readTime(t *testing.T, file string) time.Duration {
	before := cpuTime(t)
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	block := make([]byte, 1<<18)
	for err == nil {
		_, err = f.Read(block)
	}
	if !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	return cpuTime(t) - before
}
