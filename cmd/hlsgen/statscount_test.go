package main

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"testing"

	"hlsgen/internal/testsupport/models"
	"hlsgen/internal/testsupport/onnxtest"
	"hlsgen/internal/testsupport/tier"
)

// A counting counts a file of Brevitas on its own. It shares only the bindings of the file format with the command.
type counting struct {
	*testing.T
	node  map[string]onnxNode  // by output
	value map[string][]float64 // constants
	shape map[string][]int     // of constants, and of data as far as they are looked at
}

// An onnxNode has the parts of a node that these tests read.
type onnxNode struct {
	name, op string
	in, out  []string
	ints     map[string][]int64
}

// A layerCount is a layer in the file's order.
type layerCount struct {
	Node      string    `json:"node"`
	MACs      int64     `json:"macs"`
	Effective int64     `json:"effective_macs"`
	BOPs      float64   `json:"bops"`
	Dense     float64   `json:"dense_bops"`
	Weights   int64     `json:"weights"`
	Zeros     int64     `json:"zero_weights"`
	Bits      int64     `json:"weight_bits"`
	Products  []product `json:"products"`
}

type product struct {
	InputWidth  int     `json:"input_width"`
	WeightWidth int     `json:"weight_width"`
	Terms       int     `json:"terms"`
	Zeros       []int64 `json:"zeros_per_channel"`
}

func countingOf(t *testing.T, file []byte) (*counting, []onnxNode) {
	g := onnxtest.Of(file).Proto.GetGraph()
	c := &counting{t, map[string]onnxNode{}, map[string][]float64{}, map[string][]int{}}
	var nodes []onnxNode
	constant := func(name string, dims []int64, raw []byte, floats []float32, float bool) {
		for _, d := range dims {
			c.shape[name] = append(c.shape[name], int(d))
		}
		for _, f := range floats {
			c.value[name] = append(c.value[name], float64(f))
		}
		for i := 0; float && i+4 <= len(raw); i += 4 {
			c.value[name] = append(c.value[name], float64(math.Float32frombits(binary.LittleEndian.Uint32(raw[i:]))))
		}
	}
	for _, i := range g.GetInitializer() {
		constant(i.GetName(), i.GetDims(), i.GetRawData(), i.GetFloatData(), i.GetDataType() == 1)
	}
	for _, in := range g.GetInput() {
		for _, d := range in.GetType().GetTensorType().GetShape().GetDim() {
			c.shape[in.GetName()] = append(c.shape[in.GetName()], int(d.GetDimValue()))
		}
	}
	for _, n := range g.GetNode() {
		o := onnxNode{n.GetName(), n.GetOpType(), n.GetInput(), n.GetOutput(), map[string][]int64{}}
		for _, a := range n.GetAttribute() {
			if v := a.GetT(); v != nil && o.op == "Constant" {
				constant(o.out[0], v.GetDims(), v.GetRawData(), v.GetFloatData(), v.GetDataType() == 1)
			}
			o.ints[a.GetName()] = append(a.GetInts(), a.GetI())
		}
		c.node[o.out[0]] = o
		nodes = append(nodes, o)
	}
	return c, nodes
}

// bits is the width of the quantiser that data come from.
func (c *counting) bits(data string) int {
	switch n := c.node[data]; n.op {
	case "":
		return 32
	case "Quant":
		return int(c.value[n.in[3]][0])
	case "Trunc":
		return int(c.value[n.in[len(n.in)-1]][0])
	case "QuantLSTMCell":
		return int(c.value[n.in[17]][0])
	default:
		return c.bits(n.in[0])
	}
}

// zeros reports for each weight whether its code is 0, in the order of the tensor that the quantiser reads.
func (c *counting) zeros(quantised string) (zero []bool, shape []int, bits int) {
	n := c.node[quantised]
	if n.op == "Transpose" {
		return c.zeros(n.in[0])
	}
	if n.op != "Quant" {
		c.Fatalf("weights of %s", n.op)
	}
	x, scale, shape := c.value[n.in[0]], c.value[n.in[1]], c.shape[n.in[0]]
	bits = int(c.value[n.in[3]][0])
	for i, v := range x {
		s := scale[i*len(scale)/len(x)] // one for all, or one per channel, which is the first axis
		zero = append(zero, math.RoundToEven(v/s) == 0)
	}
	return zero, shape, bits
}

// product counts rows of weights, each used the given number of times.
func (c *counting) product(l *layerCount, data, weights string, times int64) {
	zero, shape, w := c.zeros(weights)
	a, terms := c.bits(data), len(zero)/shape[0]
	p := product{a, w, terms, make([]int64, shape[0])}
	ones, all := 0, int64(len(zero))*times
	for i, z := range zero {
		if z {
			p.Zeros[i/terms]++
			l.Zeros++
		} else {
			ones += a * w
			l.Effective += times
		}
	}
	l.MACs += all
	logs := float64(all) * math.Log2(float64(terms))
	l.BOPs += float64(int64(ones)*times+all*int64(a+w)) + logs
	l.Dense += float64(all*int64(a*w+a+w)) + logs
	l.Weights += int64(len(zero))
	l.Bits += int64(len(zero) * w)
	l.Products = append(l.Products, p)
}

// slid is the size of an image that a window has slid over.
func slid(n onnxNode, side int) int {
	k, stride := n.ints["kernel_shape"][0], n.ints["strides"][0]
	pads := n.ints["pads"]
	return int((int64(side)+pads[0]+pads[2]-k)/stride) + 1
}

// count counts every layer of a file.
func (c *counting) count(nodes []onnxNode) (list []layerCount) {
	for _, n := range nodes {
		l := layerCount{Node: n.name}
		in := c.shape[n.in0()]
		switch n.op {
		case "Constant":
			continue
		case "Conv":
			side := slid(n, in[2])
			_, w, _ := c.zeros(n.in[1])
			c.shape[n.out[0]] = []int{1, w[0], side, side}
			c.product(&l, n.in[0], n.in[1], int64(side*side))
		case "MaxPool", "AveragePool":
			c.shape[n.out[0]] = []int{1, in[1], slid(n, in[2]), slid(n, in[3])}
		case "MatMul", "Gemm":
			times := int64(1)
			if len(in) == 3 { // a sequence
				times = int64(in[0])
			}
			c.product(&l, n.in[0], n.in[1], times)
		case "QuantLSTMCell":
			for gate := range 4 {
				c.product(&l, n.in[0], n.in[3+gate], int64(in[0]))
				c.product(&l, n.out[0], n.in[7+gate], int64(in[0]))
			}
			c.shape[n.out[0]] = []int{in[0], 1, 0}
		case "Flatten":
			c.shape[n.out[0]] = []int{1, 0}
		default:
			if c.shape[n.out[0]] == nil {
				c.shape[n.out[0]] = in
			}
		}
		if l.MACs > 0 {
			list = append(list, l)
		}
	}
	return list
}

func (n *onnxNode) in0() string {
	if len(n.in) == 0 {
		return ""
	}
	return n.in[0]
}

// TestStatsCounts compares statistics with counts of the same file by other code.
func TestStatsCounts(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	for _, c := range []struct {
		model  string
		layers int
	}{
		{"jets-qap-w6a6-s80", 4}, {"digits-cnn-w4a4", 4}, {"digits-mobilenet-w4a4", 10}, {"digits-resnet-w4a4", 10},
		{"bilstm-h32-w4a4", 3},
	} {
		t.Run(c.model, func(t *testing.T) {
			t.Parallel()
			m := models.Find(t, c.model)
			counts, nodes := countingOf(t, m.Read(t, "model.onnx"))
			want := counts.count(nodes)
			if len(want) != c.layers {
				t.Fatalf("%d layers counted: %v", len(want), want)
			}
			var got struct {
				Layers []layerCount `json:"layers"`
				Total  layerCount   `json:"total"`
			}
			said := say(t.TempDir(), nil, "stats", m.Path("model.onnx"), "--json")
			if err := json.Unmarshal([]byte(said.stdout), &got); err != nil || said.code != exitOK {
				t.Fatal(err, said)
			}
			var total layerCount
			for i, w := range want {
				if len(got.Layers) != len(want) {
					t.Fatalf("%d layers, want %d", len(got.Layers), len(want))
				}
				byContent(w.Products)
				byContent(got.Layers[i].Products)
				total.MACs, total.Effective = total.MACs+w.MACs, total.Effective+w.Effective
				total.BOPs, total.Dense = total.BOPs+w.BOPs, total.Dense+w.Dense
				total.Weights, total.Zeros, total.Bits = total.Weights+w.Weights, total.Zeros+w.Zeros, total.Bits+w.Bits
				same(t, &got.Layers[i], &w)
			}
			same(t, &got.Total, &total)
		})
	}
}

// byContent orders the products of a recurrence, whose order the file does not say.
func byContent(list []product) {
	slices.SortFunc(list, func(a, b product) int {
		if a.Terms != b.Terms {
			return a.Terms - b.Terms
		}
		return slices.Compare(a.Zeros, b.Zeros)
	})
}

func same(t *testing.T, got, want *layerCount) {
	t.Helper()
	if g, w := fmt.Sprintf("%+v", *got), fmt.Sprintf("%+v", *want); g != w {
		t.Errorf("%s:\ngot  %s\nwant %s", want.Node, g, w)
	}
}
