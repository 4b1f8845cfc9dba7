package frontend_test

import (
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"hlsgen/frontend"
	"hlsgen/frontend/graph"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/num"
	"hlsgen/internal/testsupport/tier"
)

// said parses a type with its scale, offset, means and deviations.
func said(text string) *frontend.IntegerInputType {
	parts := append(strings.Split(text, " "), "", "", "", "")
	t, err := num.ParseType(parts[0])
	if err != nil {
		panic(err)
	}
	list := func(s string) (all []*big.Rat) {
		for _, part := range strings.Split(s, ",") {
			if r, ok := new(big.Rat).SetString(part); ok {
				all = append(all, r)
			}
		}
		return all
	}
	in := &frontend.IntegerInputType{Type: t, Scale: list(parts[1])[0]}
	in.Mean, in.Deviation = list(parts[3]), list(parts[4])
	if parts[2] != "" {
		in.Offset = list(parts[2])[0]
	}
	return in
}

// arrivals are types, scales, offsets, means and deviations of images of two channels.
var arrivals = []string{
	"UINT8 1", "UINT8 1/256", "UINT8 1/255", "INT5 1/3", "INT4 3/7 1/2", "UINT8 1/255 -1/2", "UINT4 1/15 -7/15",
	"BIPOLAR 1/3 1/4", "TERNARY 1/3", "UINT8 1/255 0 0.485,0.456 0.229,0.224", "UINT5 1/31 0 0.5 0.25,0.3",
	"UINT3 1/7 -1 1/3,-0.2",
}

// firsts write layers that read an image of two channels of 5 by 5 pixels.
var firsts = append(slices.Clip(readers), []part{
	{"Quant", func(n *net, x, y string) { n.quant(x, y, n.s(0.3), 0.5, 3, 1) }},
	{"depthwise, padded", func(n *net, x, y string) {
		n.op("Conv", y, x, n.c([]int{2, 1, 2, 2}, 1, 2, -1, 3, 1, -2, 1, 1)).Ints("pads", 1, 0, 0, 1).Int("group", 2)
	}},
	{"AveragePool", func(n *net, x, y string) {
		n.op("AveragePool", y, x).Ints("kernel_shape", 3, 3).Ints("pads", 1, 1, 1, 1)
	}},
	{"normalised, Conv", func(n *net, x, y string) {
		n.chain(x, y+".n", list{"Sub", n.c([]int{2, 1, 1}, 0.485, -0.25)}, list{"Div", n.c([]int{2, 1, 1}, 0.25, 1.5)})
		n.op("Conv", y, y+".n", n.c([]int{2, 2, 1, 1}, 1, 2, -1, 3))
	}},
}...)

// TestArrivals checks that the layers give what the model gives for the real numbers that integers stand for, with any
// such numbers and any nodes behind them.
func TestArrivals(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	for _, text := range arrivals {
		for _, f := range firsts {
			t.Run(text+"/"+f.name, func(t *testing.T) {
				t.Parallel()
				n := newNet(13).Input("x", graph.DTypeFloat32, 1, 2, 5, 5).output(1, 2, "h", "w")
				f.write(n, "x", "h")
				n.quant("h", "y", n.s(0.25), 0, 14, 1)
				im, found := imported(t, n, frontend.Options{InputType: said(text)})
				if im.Model == nil {
					t.Fatal(found)
				}
				if len(im.Model.Prefix.Nodes) > 0 {
					t.Errorf("the host computes %v", im.Model.Prefix.Nodes)
				}
				onGrid(t, im.Model, 6)
			})
		}
	}
}

// onGrid compares the layers with the model on samples of numbers that integers stand for.
func onGrid(t *testing.T, m *dataflow.Model, samples int) {
	t.Helper()
	r := rand.New(rand.NewPCG(7, 1))
	for range samples {
		x := randomOnGrid(r, m.In)
		want, err := m.Reference(x)
		if err != nil {
			t.Fatal(err)
		}
		got, _ := run(t, m, x)
		for o := range want {
			if !slices.Equal(want[o].Data, got[o].Data) {
				t.Fatalf("input %v, output %d: the layers give %v, the model %v", x[0].Data, o, got[o].Data,
					want[o].Data)
			}
		}
	}
}

func randomOnGrid(r *rand.Rand, inputs []dataflow.RealTensorInfo) (x []dataflow.RealTensor) {
	for _, in := range inputs {
		t := dataflow.RealTensor{Shape: in.Shape}
		for i := range dataflow.Shape(in.Shape).ElementCount() {
			t.Data = append(t.Data, in.Grid(i, in.Range[0]+r.Float64()*(in.Range[1]-in.Range[0])))
		}
		x = append(x, t)
	}
	return x
}

// TestArrivalValues checks that values are exact: the codes of a quantiser are those of rational numbers, for each
// channel, wherever the channels lie.
func TestArrivalValues(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		said  string
		shape []any
		of    func(i int) int // channel
	}{
		{"UINT8 1/255", []any{1, 6}, func(int) int { return 0 }},
		{"UINT8 2/255 -1", []any{1, 6}, func(int) int { return 0 }},
		{"INT8 1/10 0.05 0.3 3", []any{1, 6}, func(int) int { return 0 }},
		{"UINT8 1/255 0 0.1,0.2,0.3 0.7,0.6,0.5", []any{1, 3, 2, 2}, func(i int) int { return i / 4 }},
		{"UINT8 1/255 0 0.1,0.2,0.3", []any{1, 2, 2, 3}, func(i int) int { return i % 3 }},
		{"UINT8 1/255 0 0.1 1,2,3,4", []any{1, 4}, func(i int) int { return i }},
		{"INT4 1/7 1/14 0,1,2", []any{3}, func(i int) int { return i }},
	} {
		in := said(c.said)
		n := newNet(13).Input("x", graph.DTypeFloat32, c.shape...).Output("y", graph.DTypeFloat32, c.shape...)
		n.quant("x", "q", n.s(1.0/16), 0, 8, 1).op("Relu", "y", "q")
		im, found := imported(t, n, frontend.Options{InputType: in})
		if im.Model == nil {
			t.Fatal(c.said, found)
		}
		r := rand.New(rand.NewPCG(1, 1))
		for range 8 {
			x := randomOnGrid(r, im.Model.In)
			codes, err := im.Model.Prefix.ToCodes(x)
			if err != nil {
				t.Fatal(err)
			}
			got, _ := run(t, im.Model, x)
			for i, k := range codes[0].Data {
				at := c.of(i)
				if len(c.shape) == 4 { // codes travel as pixels, channels last
					continue
				}
				if want := codeOf(in, at, k); got[0].Data[i] != want {
					t.Errorf("%s: integer %d of channel %d gives %v, want %v", c.said, k, at, got[0].Data[i], want)
				}
			}
			for i, v := range x[0].Data {
				k := im.Model.In[0].Arrives.Type.Range().Lo
				for im.Model.In[0].Arrives.Value(c.of(i), k) != v {
					k++ // the number is that of one of them
				}
				if want := codeOf(in, c.of(i), k); got[0].Data[i] != want {
					t.Errorf("%s: element %d is %d, which gives %v, want %v", c.said, i, k, got[0].Data[i], want)
				}
			}
		}
	}
}

// codeOf is the code of an integer in steps of a sixteenth, as a number above 0.
func codeOf(in *frontend.IntegerInputType, channel int, k int64) float64 {
	at := func(list []*big.Rat, none int64) *big.Rat {
		if list == nil {
			return big.NewRat(none, 1)
		}
		return list[min(channel, len(list)-1)]
	}
	v := new(big.Rat).SetInt64(k)
	v.Mul(v, in.Scale)
	if in.Offset != nil {
		v.Add(v, in.Offset)
	}
	v.Quo(v.Sub(v, at(in.Mean, 0)), at(in.Deviation, 1))
	v.Mul(v, big.NewRat(16, 1))
	twice := new(big.Int).Mul(v.Num(), big.NewInt(2))
	by := new(big.Int).Mul(v.Denom(), big.NewInt(2))
	q, rest := new(big.Int).DivMod(twice.Add(twice, v.Denom()), by, new(big.Int))
	if rest.Sign() == 0 && q.Bit(0) == 1 { // a tie goes to the even code
		q.Sub(q, big.NewInt(1))
	}
	return float64(max(0, min(127, q.Int64()))) / 16
}

// TestArrivalRounded checks that the integers of float32 programs' numbers are found, for any order of operations.
// Numbers between are refused.
func TestArrivalRounded(t *testing.T) {
	t.Parallel()
	in := said("UINT8 1/255 0 0.485,0.456,0.406 0.229,0.224,0.225")
	n := newNet(13).Input("x", graph.DTypeFloat32, 1, 3).output(1, 3)
	n.quant("x", "y", n.s(0.125), 0, 6, 1)
	im, found := imported(t, n, frontend.Options{InputType: in})
	if im.Model == nil {
		t.Fatal(found)
	}
	frame := func(x []float64) ([]int64, error) {
		codes, err := im.Model.Prefix.ToCodes([]dataflow.RealTensor{{Shape: []int{1, 3}, Data: x}})
		if err != nil {
			return nil, err
		}
		return codes[0].Data, nil
	}
	mean, by := []float32{0.485, 0.456, 0.406}, []float32{0.229, 0.224, 0.225}
	for k := range 256 {
		for _, program := range []func(c int) float32{
			func(c int) float32 { return (float32(k)/255 - mean[c]) / by[c] },
			func(c int) float32 { return (float32(k)*float32(1.0/255) - mean[c]) * (1 / by[c]) },
			func(c int) float32 { return (float32(k) - 255*mean[c]) / (255 * by[c]) },
			func(c int) float32 { return float32(k)*(1/(255*by[c])) - mean[c]/by[c] },
		} {
			x := []float64{float64(program(0)), float64(program(1)), float64(program(2))}
			if got, err := frame(x); err != nil || got[0] != int64(k) || got[1] != int64(k) || got[2] != int64(k) {
				t.Fatalf("%d as %v: %v %v", k, x, got, err)
			}
		}
		if _, err := frame([]float64{float64((float32(k)/255-mean[0])/by[0]) + 0.001, -2, -2}); err == nil {
			t.Errorf("a number beside that of %d is taken", k)
		}
	}
}

func TestArrivalRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in   *frontend.IntegerInputType
		says string
	}{
		{&frontend.IntegerInputType{InputNormalisation: said("UINT8 1 0 1").InputNormalisation}, "and there are none"},
		{said("UINT8 1 0 1,2,3"), "neither axis 1 nor the last axis has as many channels"},
		{said("UINT8 1 0 1,2 1,2,3"), "--input-mean gives 2 numbers, --input-std 3"},
		{said("INT16 1/65536 1000"), "steps of 1.52"},
		{said("INT16 1e30 0 0 1e-30"), "too large for the input's type"},
	} {
		n := newNet(13).Input("x", graph.DTypeFloat32, 1, 2, 4, 4).output(1, 2, 4, 4)
		n.quant("x", "y", n.s(0.5), 0, 3, 1)
		im, found := imported(t, n, frontend.Options{InputType: c.in})
		if im.Model != nil || len(found) != 1 || found[0].Code != diag.InputFlagsUnfit ||
			!strings.Contains(found[0].Msg, c.says) {
			t.Errorf("%v is not refused, because it %s: %v", c.in, c.says, found)
		}
	}
}

// TestArrivalOfInputs gives one of several inputs its own mean and deviation. The others must have the common ones.
func TestArrivalOfInputs(t *testing.T) {
	t.Parallel()
	build := func() *net {
		n := newNet(13).Input("image", graph.DTypeFloat32, 1, 3, 2, 2).Input("age", graph.DTypeFloat32, 1, 1).
			Input("n=1", graph.DTypeFloat32, 1, 12)
		n.op("Reshape", "flat", "image", n.i(1, 12)).op("Add", "s", "flat", "age").op("Add", "a", "s", "n=1")
		return n.op("MatMul", "y", "a", n.c([]int{12, 3}, count(36)...)).output(1, 3)
	}
	channels := said("UINT8 1 0 1/2,3,-1/4 2,4,1").InputNormalisation
	in := said("UINT8 1/4 0 0 1/2")
	in.Inputs = map[string]frontend.InputNormalisation{"image": channels, "n=1": {Mean: said("UINT8 1 0 5").Mean}}
	im, found := imported(t, build(), frontend.Options{InputType: in})
	if im.Model == nil {
		t.Fatal(found)
	}
	for i, want := range []float64{((20.0 / 4) - 3) / 4, 20.0 / 4 / 0.5, (20.0/4 - 5) / 0.5} {
		a := im.Model.In[i].Arrives
		if got := a.Value(a.Of(im.Model.In[i].Shape, min(4, dataflow.Shape(im.Model.In[i].Shape).ElementCount()-1)),
			20); got !=
			want {
			t.Errorf("input %d: 20 stands for %v, want %v", i, got, want)
		}
	}
	for _, c := range []struct {
		of         frontend.IntegerInputType
		says, hint string
	}{
		{frontend.IntegerInputType{InputNormalisation: channels}, "neither axis 1",
			`of another input than "age", name it`},
		{frontend.IntegerInputType{Inputs: map[string]frontend.InputNormalisation{"picture": channels}},
			"no input of real numbers",
			`"image", "age", "n=1"`},
		{frontend.IntegerInputType{Inputs: map[string]frontend.InputNormalisation{"age": channels}},
			"neither axis 1", `than "age"`},
		{frontend.IntegerInputType{Inputs: map[string]frontend.InputNormalisation{"image": {Mean: channels.Mean}},
			InputNormalisation: frontend.InputNormalisation{
				Deviation: channels.Mean[:2]}}, "--input-mean gives 3 numbers, --input-std 2", "one for each"},
	} {
		c.of.Type, c.of.Scale = in.Type, in.Scale
		if _, found := imported(t, build(), frontend.Options{InputType: &c.of}); len(found) != 1 ||
			found[0].Code != diag.InputFlagsUnfit || !strings.Contains(found[0].Msg, c.says) ||
			!strings.Contains(found[0].Hint, c.hint) {
			t.Errorf("%v, want %q, %q", found, c.says, c.hint)
		}
	}
}

// TestArrivalCompared checks that the outputs of float32 programs are equal or near ties, however they compute with the
// integers.
func TestArrivalCompared(t *testing.T) {
	t.Parallel()
	n := newNet(13).Input("x", graph.DTypeFloat32, 1, 2).output(1, 2)
	n.op("MatMul", "h", "x", n.c([]int{2, 2}, 3, -1, 2, 5)).quant("h", "y", n.s(1.0/8), 0, 6, 1)
	im, found := imported(t, n, frontend.Options{InputType: said("UINT8 1/255 -1/2")})
	if im.Model == nil {
		t.Fatal(found)
	}
	c, err := im.NewOutputComparer()
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		x := randomOnGrid(r, im.Model.In)
		y, err := im.Model.Reference(x)
		if err != nil {
			t.Fatal(err)
		}
		if v, err := c.JudgeOutputs(x, y); err != nil || !v.Equal {
			t.Errorf("%v: the reference is not equal to itself: %v %v", x, v, err)
		}
		y[0].Data[0] += 0.125
		if v, err := c.JudgeOutputs(x, y); err != nil || v.Equal {
			t.Errorf("%v: a code off is equal: %v %v", x, v, err)
		}
	}
}
