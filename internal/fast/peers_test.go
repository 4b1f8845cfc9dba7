package fast_test

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"flag"
	"fmt"
	"io"
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
	"hlsgen/frontend/operators"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/fast"
	"hlsgen/internal/testsupport/tier"
)

// peers is the folder whose node_modules has onnxruntime-node. `make bench-peers` passes it.
var peers = flag.String("peers", "", "compare with the onnxruntime-node in this folder")

// compared lists the networks. qcdq is the path of the network in QCDQ below models, if there is one.
var compared = []struct{ folder, samples, qcdq string }{
	{"zoo/TFC_1W1A", "x0.npy", ""},
	{"zoo/TFC_2W2A", "x0.npy", "zoo/qcdq_TFC_2W2A/model.onnx"},
	{"zoo/kwsmlp_w3a3", "x0.npy", "zoo/qcdq_kwsmlp_w3a3/model.onnx"},
	{"zoo/espcn_nn_resize", "x0.npz", ""},
	{"brevitas/digits-cnn-w4a4", "inputs.npy", ""},
	{"brevitas/cnv-w2a2", "inputs.npy", "brevitas/cnv-w2a2/qcdq.onnx"},
	{"brevitas/mobilenetv1-025-w4a4", "inputs.npy", ""},
}

// batches lists the batch sizes of the peer. Its fastest counts.
var batches = []int{1, 16, 64, 250}

// TestPeers compares PredictFromFloats with onnxruntime, by the CPU time of the processes, in turns, on one thread
// each. The peer runs the model's QCDQ file, and the model as a float graph: without quantisers, but with the quantised
// values of the weights.
func TestPeers(t *testing.T) {
	if *peers == "" {
		t.Skip("it takes some minutes: make bench-peers runs it")
	}
	models := filepath.Join(tier.NeedsShared(t), "models")
	t.Log("network, peer's graph, its batch, its ns a frame, ours, theirs / ours, least and most of the rounds")
	for _, c := range compared {
		w, own := measured(t, c.folder, c.samples)
		files := map[string]string{"float": filepath.Join(models, c.folder, "model.onnx")}
		if c.qcdq != "" {
			files["QCDQ"] = filepath.Join(models, c.qcdq)
		}
		for _, kind := range []string{"QCDQ", "float"} {
			if files[kind] == "" {
				continue
			}
			p, err := bestPeer(t, files[kind], kind == "float", own)
			if err != nil {
				t.Errorf("%s, %s: %v", c.folder, kind, err)
				continue
			}
			r := inTurns(t, w, p)
			t.Logf("%s %s %d %.0f %.0f %.2f %.2f %.2f", filepath.Base(c.folder), kind, p.batch, r.theirs, r.ours,
				r.ratio[len(r.ratio)/2], r.ratio[0], r.ratio[len(r.ratio)-1])
			p.stop()
		}
	}
}

// A samples has float32 samples for a model's only input, and the input's shape.
type samples struct {
	values []float32
	shape  []int
}

// measured returns a function that runs n batches of a shared model and returns their number of frames.
func measured(t *testing.T, folder, file string) (run func(n int) (frames int), own samples) {
	m, x := imported(t, folder, "model.onnx", file)
	p, err := fast.CompileGraph(m.Graph)
	if err != nil {
		t.Fatal(err)
	}
	e, ok := p.NewHostTables(m)
	if !ok {
		t.Fatal(folder, ": the ends are no tables of bytes")
	}
	w := p.NewWorker()
	each := dataflow.Shape(m.In[0].Shape).ElementCount()
	y := [][]float64{make([]float64, p.Batch*dataflow.Shape(m.Out[0].Shape).ElementCount())}
	in := [][]float32{repeated(x, p.Batch*each)}
	return func(n int) int {
		for range n {
			w.PredictFromFloats(e, in, y, p.Batch)
		}
		return n * p.Batch
	}, samples{x, m.In[0].Shape}
}

// repeated returns n numbers: the given ones, repeated.
func repeated[T any](x []T, n int) []T {
	y := make([]T, n)
	for i := 0; i < n; i += copy(y[i:], x) {
	}
	return y
}

// A rounds has the results of several rounds: the medians in nanoseconds per frame, and the ratios in order.
type rounds struct {
	ours, theirs float64
	ratio        []float64
}

// inTurns measures both sides, about a tenth of a second each. They take turns at being first.
func inTurns(t *testing.T, run func(n int) int, p *peer) (r rounds) {
	ours := func(n int) float64 {
		before := cpuTime(t)
		frames := run(n)
		return float64(cpuTime(t)-before) / float64(frames)
	}
	theirs := func(n int) float64 { return p.run(t, n) / float64(n*p.batch) }
	const long = float64(100 * time.Millisecond)
	n := 1 + int(long/(ours(3)*float64(run(1))))
	k := 1 + int(long/(theirs(3)*float64(p.batch)))
	var a, b []float64
	for i := range 11 {
		if i%2 == 0 {
			a, b = append(a, ours(n)), append(b, theirs(k))
		} else {
			b, a = append(b, theirs(k)), append(a, ours(n))
		}
		r.ratio = append(r.ratio, b[i]/a[i])
	}
	slices.Sort(a)
	slices.Sort(b)
	slices.Sort(r.ratio)
	r.ours, r.theirs = a[len(a)/2], b[len(b)/2]
	return r
}

// A peer is a process of onnxruntime with a model and a batch of samples.
type peer struct {
	batch   int
	process *exec.Cmd
	asked   io.WriteCloser
	answers *bufio.Scanner
	said    bytes.Buffer // its standard error
}

// bestPeer returns the peer with the batch size that takes the least time per frame.
func bestPeer(t *testing.T, file string, float bool, own samples) (best *peer, err error) {
	least := math.Inf(1)
	for _, n := range batches {
		p, failed := startPeer(t, file, float, own, n)
		if failed != nil {
			if err == nil {
				err = fmt.Errorf("in batches of %d: %w", n, failed)
			}
			continue
		}
		p.run(t, 1)
		took := p.run(t, 2) / float64(2*n)
		if took < least {
			p, best, least = best, p, took
		}
		p.stop()
		if took*float64(n) > float64(2*time.Second) {
			break // larger batches take as long per frame
		}
	}
	if best != nil {
		err = nil
	}
	return best, err
}

func startPeer(t *testing.T, file string, float bool, own samples, n int) (*peer, error) {
	onnx, err := batched(file, float, n)
	if err != nil {
		return nil, err
	}
	dir := t.TempDir()
	model, data := filepath.Join(dir, "model.onnx"), filepath.Join(dir, "samples")
	x, err := binary.Append(nil, binary.LittleEndian, repeated(own.values, n*dataflow.Shape(own.shape).ElementCount()))
	if err != nil {
		return nil, err
	}
	for name, b := range map[string][]byte{model: onnx, data: x} {
		if err := os.WriteFile(name, b, 0o666); err != nil {
			return nil, err
		}
	}
	axes := []string{strconv.Itoa(n)}
	for _, d := range own.shape[1:] {
		axes = append(axes, strconv.Itoa(d))
	}
	script, err := filepath.Abs("testdata/peer.js")
	if err != nil {
		return nil, err
	}
	p := &peer{batch: n, process: exec.Command("node", script, model, data, strings.Join(axes, ","))}
	p.process.Env = append(os.Environ(), "NODE_PATH="+filepath.Join(*peers, "node_modules"))
	p.process.Stderr = &p.said
	if p.asked, err = p.process.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.process.Start(); err != nil {
		return nil, err
	}
	p.answers = bufio.NewScanner(out)
	if !p.answers.Scan() {
		p.stop()
		return nil, fmt.Errorf("onnxruntime: %s", strings.TrimSpace(p.said.String()))
	}
	return p, nil
}

// run returns the nanoseconds that n runs take.
func (p *peer) run(t *testing.T, n int) float64 {
	fmt.Fprintln(p.asked, n)
	if !p.answers.Scan() {
		t.Fatalf("onnxruntime: %s", p.said.String())
	}
	took, err := strconv.ParseFloat(p.answers.Text(), 64)
	if err != nil {
		t.Fatal(err)
	}
	return 1000 * took
}

func (p *peer) stop() {
	if p != nil {
		p.asked.Close()
		p.process.Wait()
	}
}

// batched returns a model for n samples at a time. If float is set, it has no quantisers.
func batched(file string, float bool, n int) ([]byte, error) {
	onnx, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var d diag.List
	g := onnxio.ParseGraph(file, onnx, &d)
	if g == nil {
		return nil, fmt.Errorf("%v", d.Diags)
	}
	p := operators.Prepare(g, file, operators.Options{}, &d)
	if p == nil {
		return nil, fmt.Errorf("%v", d.Diags)
	}
	g = p.Graph
	read := map[string]string{} // tensors that replace a quantiser's output
	var nodes []*graph.Node
	for _, node := range g.Nodes {
		for i, in := range node.Inputs {
			if other, ok := read[in]; ok {
				node.Inputs[i] = other
			}
		}
		quantiser := operators.IsQuantisationDomain(node.Domain) || node.Op == "QuantizeLinear" ||
			node.Op == "DequantizeLinear"
		switch constant := p.Known[node.Outputs[0]].Const; {
		case constant != nil && (float || !quantiser):
			g.Init[node.Outputs[0]] = constant
		case quantiser && float:
			read[node.Outputs[0]] = node.Inputs[0]
		default:
			nodes = append(nodes, node)
		}
	}
	g.Nodes = nodes
	for i := range g.Outputs {
		if other, ok := read[g.Outputs[i].Name]; ok {
			g.Outputs[i].Name = other
		}
	}
	return resized(g, n, func(name string) *graph.ConstantTensor { return p.Known[name].Const })
}

// resized returns a model for n samples at a time. known returns the model's constants.
func resized(g *graph.Graph, n int, known func(name string) *graph.ConstantTensor) ([]byte, error) {
	for i := range g.Inputs {
		g.Inputs[i].Dims[0] = graph.Dim{Size: n}
	}
	for i := range g.Outputs {
		g.Outputs[i].Dims, g.Outputs[i].Known = nil, false
	}
	for _, node := range g.Nodes { // keep the first axis, whatever its size
		if node.Op != "Reshape" || known(node.Inputs[1]) == nil {
			continue
		}
		was := known(node.Inputs[1])
		axes := slices.Clone(was.Ints())
		axes[0] = 0
		g.Init[node.Inputs[1]] = &graph.ConstantTensor{DType: was.DType, Shape: was.Shape, I: axes}
	}
	return onnxio.EncodeGraph(g, nil)
}
