package fast_test

import (
	"bytes"
	"encoding/binary"
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/onnxio"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/fast"
	"hlsgen/internal/npy"
	"hlsgen/internal/testsupport/tier"
)

// python is an interpreter that has numpy and onnxruntime. `make bench-peers` passes it.
var python = flag.String("python", "", "compare whole commands with onnxruntime of this Python")

// commanded lists the networks, with two numbers of samples each, and the batch sizes of the peer, of which the
// fastest counts. The numbers of samples differ by about a second's work of the slower side. A file has at most 700
// MB.
var commanded = []struct {
	folder, samples string
	few, many       int
	batches         []int
}{
	{"brevitas/jets-qap-w6a6-s80", "inputs.npy", 100_000, 2_100_000, []int{100, 1_000, 10_000}},
	{"zoo/TFC_2W2A", "x0.npy", 10_000, 210_000, []int{50, 250, 1_000}},
	{"zoo/kwsmlp_w3a3", "x0.npy", 10_000, 160_000, []int{50, 250, 1_000}},
	{"brevitas/digits-cnn-w4a4", "inputs.npy", 10_000, 210_000, []int{20, 100, 500}},
	{"brevitas/cnv-w2a2", "inputs.npy", 100, 900, []int{1, 10, 50}},
	{"brevitas/mobilenetv1-025-w4a4", "inputs.npy", 20, 420, []int{1, 4, 20}},
	{"zoo/espcn_nn_resize", "x0.npz", 5, 35, []int{1, 5}},
}

// TestCommands measures whole commands on one thread each, which read a file of samples and write a file of
// outputs: hlsgen simulate, and a script that calls onnxruntime. The time per sample is the CPU time for many
// samples minus that for few, without the script's start. The peer runs the model in the dialects that hlsgen
// convert writes, and without quantisers, which is another function. The share counts samples whose outputs are
// equal within 2e-5.
func TestCommands(t *testing.T) {
	if *python == "" {
		t.Skip("it takes some twenty minutes: make bench-peers runs it")
	}
	models := filepath.Join(tier.NeedsShared(t), "models")
	hlsgen := builtHlsgen(t)
	script, err := filepath.Abs("testdata/command.py")
	if err != nil {
		t.Fatal(err)
	}
	t.Log("peer's graph, its optimisations, its batch, its us a sample, ours, theirs / ours, least and most of the " +
		"rounds, share of equal samples")
	for _, c := range commanded {
		t.Run(filepath.Base(c.folder), func(t *testing.T) {
			dir := t.TempDir()
			model := filepath.Join(models, c.folder, "model.onnx")
			m, x := imported(t, c.folder, "model.onnx", c.samples)
			p, err := fast.CompileGraph(m.Graph)
			if err != nil {
				t.Fatal(err)
			}
			t.Log("kernels: ", p.ProcessorKind())
			own := &command{counts: [2]int{c.few, c.many}, output: filepath.Join(dir, "own.npy")}
			for i, n := range own.counts {
				own.samples[i] = manySamples(t, filepath.Join(dir, fmt.Sprint(n, ".npy")), x, m.In[0].Shape, n)
			}
			own.run = func(in, out string) *exec.Cmd {
				return exec.Command(hlsgen, "simulate", model, "--input", in, "--output", out)
			}
			peers := peersOf(t, hlsgen, script, model, dir, *own, c.batches)
			for i, r := range commandsInTurns(t, own, peers) {
				p, last := peers[i], len(r.ratio)-1
				t.Logf("%s %d %.2f %.2f %.2f %.2f %.2f %.3f", p.name, p.batch, r.theirs, r.ours, r.ratio[last/2],
					r.ratio[0], r.ratio[last], equalShare(t, own.output, p.output, c.few))
			}
		})
	}
}

// builtHlsgen builds hlsgen from the sources here, and returns its path.
func builtHlsgen(t *testing.T) string {
	hlsgen := filepath.Join(t.TempDir(), "hlsgen")
	if out, err := exec.Command("go", "build", "-o", hlsgen, "hlsgen/cmd/hlsgen").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return hlsgen
}

// peersOf returns the commands of onnxruntime: for each dialect in which hlsgen writes the model, with
// optimisations and without, and for the model without quantisers.
func peersOf(t *testing.T, hlsgen, script, model, dir string, own command, batches []int) (peers []*command) {
	for _, form := range []string{"QCDQ", "QOperator", "float"} {
		file := model
		if form != "float" {
			file = filepath.Join(dir, form+".onnx")
			convert := exec.Command(hlsgen, "convert", model, "--to", strings.ToLower(form), "--out", file)
			if out, err := convert.CombinedOutput(); err != nil {
				t.Logf("%s: hlsgen convert does not write it: %s", form, strings.SplitN(string(out), "\n", 2)[0])
				continue
			}
		}
		for _, optimised := range []string{"on", "off"} {
			if form == "float" && optimised == "off" {
				continue
			}
			p, err := bestCommand(own, script, file, form, optimised, dir, batches)
			if err != nil {
				t.Errorf("%s %s: %v", form, optimised, err)
				continue
			}
			peers = append(peers, p)
		}
	}
	return peers
}

// manySamples writes a file of n samples by repeating the given ones. It reads the file three times, because pages
// that were just written are slow at first.
func manySamples[T float32 | uint8](t *testing.T, file string, x []T, shape []int, n int) string {
	each, dtype := dataflow.Shape(shape).ElementCount()/shape[0], fmt.Sprintf("%T", x)[2:]
	b, err := npy.EncodeNPYHeader(dtype, append([]int{n}, shape[1:]...))
	if err == nil {
		b, err = binary.Append(b, binary.LittleEndian, repeated(x, n*each))
	}
	if err == nil {
		err = os.WriteFile(file, b, 0o666)
	}
	for range 3 {
		if err == nil {
			_, err = os.ReadFile(file)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// A command computes a file of outputs from a file of few or many samples.
type command struct {
	name    string // of a peer: its graph, and whether the graph is optimised
	batch   int
	samples [2]string
	counts  [2]int
	run     func(in, out string) *exec.Cmd
	output  string
}

// took returns the command's CPU time for few or many samples, without the seconds that the command reports for its
// start.
func (c *command) took(many int) (time.Duration, error) {
	cmd := c.run(c.samples[many], c.output)
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1", "OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1")
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		lines := strings.Split(strings.TrimSpace(said.String()), "\n")
		return 0, fmt.Errorf("%w: %s", err, lines[len(lines)-1])
	}
	took := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	if c.name != "" {
		start, err := strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
		return took - time.Duration(start*float64(time.Second)), err
	}
	return took, nil
}

// each returns the microseconds per additional sample.
func (c *command) each() (float64, error) {
	few, err := c.took(0)
	if err != nil {
		return 0, err
	}
	many, err := c.took(1)
	return float64(many-few) / float64(time.Microsecond) / float64(c.counts[1]-c.counts[0]), err
}

// bestCommand returns onnxruntime's command for a file, with the batch size that takes the least time.
func bestCommand(own command, script, file, form, optimised, dir string, batches []int) (best *command, failed error) {
	least := time.Duration(math.MaxInt64)
	for _, n := range batches {
		onnx, err := asWritten(file, n)
		if form == "float" {
			onnx, err = batched(file, true, n)
		}
		if err != nil {
			return nil, err
		}
		model := filepath.Join(dir, fmt.Sprint(form, n, ".onnx"))
		if err := os.WriteFile(model, onnx, 0o666); err != nil {
			return nil, err
		}
		c := own
		c.name, c.batch, c.output = form+" "+optimised, n, filepath.Join(dir, form+optimised+".npy")
		c.run = func(in, out string) *exec.Cmd {
			return exec.Command(*python, script, model, in, out, strconv.Itoa(n), optimised)
		}
		if took, err := c.took(1); err != nil {
			failed = err
		} else if took < least {
			best, least = &c, took
		}
	}
	if best != nil {
		failed = nil
	}
	return best, failed
}

// asWritten returns a model for n samples at a time, otherwise unchanged.
func asWritten(file string, n int) ([]byte, error) {
	onnx, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var d diag.List
	g := onnxio.ParseGraph(file, onnx, &d)
	if g == nil {
		return nil, fmt.Errorf("%v", d.Diags)
	}
	return resized(g, n, func(name string) *graph.ConstantTensor { return g.Init[name] })
}

// commandsInTurns measures eleven rounds. The order of the commands alternates between forwards and backwards.
func commandsInTurns(t *testing.T, own *command, peers []*command) []rounds {
	all := append([]*command{own}, peers...)
	took := make([][]float64, len(all))
	for i := range 11 {
		for k := range all {
			if i%2 == 1 {
				k = len(all) - 1 - k
			}
			us, err := all[k].each()
			if err != nil {
				t.Fatal(all[k].name, err)
			}
			took[k] = append(took[k], us)
		}
	}
	list := make([]rounds, len(peers))
	for k, theirs := range took[1:] {
		for i, us := range theirs {
			list[k].ratio = append(list[k].ratio, us/took[0][i])
		}
		slices.Sort(list[k].ratio)
		list[k].ours, list[k].theirs = median(took[0]), median(theirs)
	}
	return list
}

func median(x []float64) float64 { return slices.Sorted(slices.Values(x))[len(x)/2] }

// equalShare returns the share of the first n samples whose outputs in two files are equal within 2e-5.
func equalShare(t *testing.T, a, b string, n int) float64 {
	var outputs [2][]float64
	for i, file := range []string{a, b} {
		arrays, err := npy.ReadArrays(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range arrays {
			outputs[i] = x.Data[:len(x.Data)/x.Shape[0]*n]
		}
	}
	if len(outputs[0]) != len(outputs[1]) {
		return 0
	}
	equal, each := 0, len(outputs[0])/n
	for s := range n {
		if slices.EqualFunc(outputs[0][s*each:][:each], outputs[1][s*each:][:each], func(x, y float64) bool {
			return math.Abs(x-y) <= 2e-5
		}) {
			equal++
		}
	}
	return float64(equal) / float64(n)
}
