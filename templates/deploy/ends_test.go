package deploy

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"testing"

	"google.golang.org/protobuf/proto"

	"hlsgen/frontend/onnxio/onnxpb"
)

// A value is a tensor of the little ONNX that the host's ends are made of: float32, float64 or int64, in f or in i.
type value struct {
	kind  onnxpb.TensorProto_DataType
	shape []int
	f     []float64
	i     []int64
}

func (v *value) size() (n int) {
	n = 1
	for _, k := range v.shape {
		n *= k
	}
	return n
}

func (v *value) whole() bool {
	return v.kind != onnxpb.TensorProto_FLOAT && v.kind != onnxpb.TensorProto_DOUBLE
}

// like is an empty tensor of v's kind.
func (v *value) like(shape []int) *value {
	w := &value{kind: v.kind, shape: shape}
	if v.whole() {
		w.i = make([]int64, w.size())
	} else {
		w.f = make([]float64, w.size())
	}
	return w
}

// put sets element k of v to element j of w, which has v's kind.
func (v *value) put(k int, w *value, j int) {
	if v.whole() {
		v.i[k] = w.i[j]
	} else {
		v.f[k] = w.f[j]
	}
}

// broadcast calls f for each element of the shape that tensors have together, with their elements.
func broadcast(in []*value, f func(at int, of []int)) []int {
	var shape []int
	for _, v := range in {
		for len(shape) < len(v.shape) {
			shape = append([]int{1}, shape...)
		}
		for k, n := range v.shape {
			at := len(shape) - len(v.shape) + k
			if n != 1 && shape[at] != 1 && n != shape[at] {
				panic(fmt.Sprint("shapes ", shape, v.shape))
			}
			shape[at] = max(shape[at], n)
		}
	}
	if f == nil {
		return shape
	}
	total := (&value{shape: shape}).size()
	of := make([]int, len(in))
	for at := range total {
		for j, v := range in {
			rest, place, stride := at, 0, 1
			for k := len(shape) - 1; k >= 0; k-- {
				here := rest % shape[k]
				rest /= shape[k]
				if m := k - len(shape) + len(v.shape); m >= 0 {
					if v.shape[m] != 1 {
						place += here * stride
					}
					stride *= v.shape[m]
				}
			}
			of[j] = place
		}
		f(at, of)
	}
	return shape
}

func initializer(t *onnxpb.TensorProto) *value {
	v := &value{kind: onnxpb.TensorProto_DataType(t.GetDataType())}
	for _, d := range t.Dims {
		v.shape = append(v.shape, int(d))
	}
	for b := t.RawData; len(b) > 0; {
		switch v.kind {
		case onnxpb.TensorProto_FLOAT:
			v.f, b = append(v.f, float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))), b[4:]
		case onnxpb.TensorProto_DOUBLE:
			v.f, b = append(v.f, math.Float64frombits(binary.LittleEndian.Uint64(b))), b[8:]
		case onnxpb.TensorProto_INT64:
			v.i, b = append(v.i, int64(binary.LittleEndian.Uint64(b))), b[8:]
		default:
			panic(v.kind)
		}
	}
	if max(len(v.f), len(v.i)) != v.size() {
		panic("size of " + t.GetName())
	}
	return v
}

// run is a model's outputs, by ONNX's definitions of its operators, and that each name is one tensor.
func run(t *testing.T, file []byte, in map[string]*value) map[string]*value {
	t.Helper()
	var m onnxpb.ModelProto
	if err := proto.Unmarshal(file, &m); err != nil {
		t.Fatal(err)
	}
	known := map[string]*value{}
	add := func(name string, v *value) {
		if known[name] != nil || v == nil || name == "" {
			t.Fatalf("tensor %q twice, or none", name)
		}
		known[name] = v
	}
	for _, i := range m.Graph.Input {
		add(i.GetName(), in[i.GetName()])
	}
	for _, i := range m.Graph.Initializer {
		add(i.GetName(), initializer(i))
	}
	for _, n := range m.Graph.Node {
		var of []*value
		for _, name := range n.Input {
			if known[name] == nil {
				t.Fatalf("%s reads %q before it is there", n.GetName(), name)
			}
			of = append(of, known[name])
		}
		add(n.Output[0], operate(n, of))
	}
	out := map[string]*value{}
	for _, o := range m.Graph.Output {
		v := known[o.GetName()]
		declared := o.Type.GetTensorType()
		if v == nil || v.kind != onnxpb.TensorProto_DataType(declared.GetElemType()) ||
			len(v.shape) != len(declared.Shape.Dim) {
			t.Fatalf("output %q is not what it is declared as: %v", o.GetName(), v)
		}
		out[o.GetName()] = v
	}
	return out
}

func operate(n *onnxpb.NodeProto, in []*value) *value {
	attr := map[string]*onnxpb.AttributeProto{}
	for _, a := range n.Attribute {
		attr[a.GetName()] = a
	}
	switch n.GetOpType() {
	case "Identity":
		return in[0]
	case "Cast":
		return cast(in[0], onnxpb.TensorProto_DataType(attr["to"].GetI()))
	case "Reshape":
		return reshape(in[0], in[1].i)
	case "Transpose":
		return transpose(in[0], attr["perm"].GetInts())
	case "Gather":
		return gather(in[0], in[1], attr["axis"].GetI())
	case "Concat":
		return concat(in)
	}
	kind := in[len(in)-1].kind
	if op := n.GetOpType(); op == "GreaterOrEqual" || op == "Equal" {
		kind = onnxpb.TensorProto_BOOL
	}
	out := (&value{kind: kind}).like(broadcast(in, nil))
	broadcast(in, func(at int, of []int) { elementwise(n.GetOpType(), out, at, in, of) })
	return out
}

func elementwise(op string, out *value, at int, in []*value, of []int) {
	a, b := in[0], in[1]
	truth := func(is bool) {
		if is {
			out.i[at] = 1
		}
	}
	switch op {
	case "Where":
		out.put(at, in[2], of[2])
		if a.i[of[0]] != 0 {
			out.put(at, b, of[1])
		}
		return
	case "Equal":
		truth(a.i[of[0]] == b.i[of[1]])
		return
	}
	if a.kind != b.kind {
		panic(op + " of two types")
	}
	if a.whole() {
		x, y := a.i[of[0]], b.i[of[1]]
		switch op {
		case "Add":
			out.i[at] = x + y
		case "Sub":
			out.i[at] = x - y
		case "Mul":
			out.i[at] = x * y
		case "Min":
			out.i[at] = min(x, y)
		case "Max":
			out.i[at] = max(x, y)
		case "GreaterOrEqual":
			truth(x >= y)
		default:
			panic(op)
		}
		return
	}
	x, y := a.f[of[0]], b.f[of[1]]
	switch op {
	case "Add":
		out.f[at] = x + y
	case "Mul":
		out.f[at] = x * y
	case "GreaterOrEqual":
		truth(x >= y)
	default:
		panic(op)
	}
}

func cast(v *value, to onnxpb.TensorProto_DataType) *value {
	out := (&value{kind: to}).like(v.shape)
	for k := range v.size() {
		x, i := 0.0, int64(0)
		if v.whole() {
			x, i = float64(v.i[k]), v.i[k]
		} else {
			x, i = v.f[k], int64(v.f[k])
		}
		switch {
		case to == onnxpb.TensorProto_FLOAT:
			out.f[k] = float64(float32(x))
		case to == onnxpb.TensorProto_DOUBLE:
			out.f[k] = x
		case to == onnxpb.TensorProto_BOOL:
			if x != 0 {
				out.i[k] = 1
			}
		default:
			out.i[k] = i
		}
	}
	return out
}

func reshape(v *value, to []int64) *value {
	out := *v
	out.shape = make([]int, len(to))
	rest, open := v.size(), -1
	for k, n := range to {
		switch n {
		case 0:
			out.shape[k] = v.shape[k]
		case -1:
			open = k
			continue
		default:
			out.shape[k] = int(n)
		}
		rest /= out.shape[k]
	}
	if open >= 0 {
		out.shape[open] = rest
	}
	if out.size() != v.size() {
		panic(fmt.Sprint("reshape ", v.shape, to))
	}
	return &out
}

func transpose(v *value, perm []int64) *value {
	shape := make([]int, len(perm))
	for k, p := range perm {
		shape[k] = v.shape[p]
	}
	out := v.like(shape)
	for at := range out.size() {
		rest, place := at, make([]int, len(perm))
		for k := len(perm) - 1; k >= 0; k-- {
			place[perm[k]], rest = rest%shape[k], rest/shape[k]
		}
		from := 0
		for k, n := range v.shape {
			from = from*n + place[k]
		}
		out.put(at, v, from)
	}
	return out
}

// gather is along the first axis of a vector, or along the last one by a vector.
func gather(v, index *value, axis int64) *value {
	if axis == 0 && len(v.shape) == 1 {
		out := v.like(index.shape)
		for k, i := range index.i {
			out.put(k, v, int(i))
		}
		return out
	}
	last := v.shape[len(v.shape)-1]
	out := v.like(append(slices.Clone(v.shape[:len(v.shape)-1]), len(index.i)))
	for k := range out.size() {
		out.put(k, v, k/len(index.i)*last+int(index.i[k%len(index.i)]))
	}
	return out
}

// concat is along the last axis.
func concat(in []*value) *value {
	shape := slices.Clone(in[0].shape)
	last := len(shape) - 1
	shape[last] = 0
	for _, v := range in {
		shape[last] += v.shape[last]
	}
	out := in[0].like(shape)
	begin := 0
	for _, v := range in {
		n := v.shape[last]
		for k := range v.size() {
			out.put(k/n*shape[last]+begin+k%n, v, k)
		}
		begin += n
	}
	return out
}

// quantiser is a random one, and numbers worth trying.
func quantiser(r *rand.Rand) (q HostQuantiser, tried []float64) {
	q.Thresholds = []float64{}
	x := float32(r.NormFloat64())
	for range r.IntN(20) {
		q.Thresholds = append(q.Thresholds, float64(x))
		tried = append(tried, float64(x), float64(math.Nextafter32(x, -99)), float64(math.Nextafter32(x, 99)))
		x = math.Nextafter32(x+float32(r.IntN(3))*0.25, 99)
	}
	for range len(q.Thresholds) + 1 {
		q.Codes = append(q.Codes, int64(r.IntN(17)-8))
	}
	return q, append(tried, math.Inf(1), math.Inf(-1), 0, -1e30, 1e30)
}

// meaning is a random one of a code from -8 to 8.
func meaning(r *rand.Rand) HostDequantiser {
	m := HostDequantiser{Lo: -8}
	if r.IntN(2) == 0 {
		for range 17 {
			m.Values = append(m.Values, r.NormFloat64())
		}
		return m
	}
	m.Scale, m.Bias = r.NormFloat64(), r.NormFloat64()
	if r.IntN(2) == 0 {
		m.Except = map[int64]float64{}
		for range 1 + r.IntN(5) {
			m.Except[int64(r.IntN(17)-8)] = r.NormFloat64()
		}
	}
	return m
}

func (m HostDequantiser) at(code int64) float64 {
	if m.Values != nil {
		return m.Values[code-m.Lo]
	}
	if v, ok := m.Except[code]; ok {
		return v
	}
	return float64(float64(code)*m.Scale) + m.Bias
}

func permuted[T any](r *rand.Rand, n int, f func(int) T) []T {
	list := make([]T, n)
	for k, i := range r.Perm(n) {
		list[k] = f(i)
	}
	return list
}

// TestEnds compares pre.onnx and post.onnx with the tables of host.json, for random quantisers and meanings, samples
// and sequences, and names that clash.
func TestEnds(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		const samples, channels, width, steps = 3, 2, 4, 5
		timed := seed%2 == 1
		in := HostTensor{Name: "x", DType: "float32", Shape: []int{1, channels, width}, Batch: true, Time: -1}
		out := HostTensor{Name: "y", DType: "float32", Shape: []int{channels, width}, Time: -1}
		if seed%3 == 0 {
			in.Name, out.Name = "s_axis_0", "hlsgen_output_0_codes"
		}
		n := channels * width
		if timed { // the last axis of the input, and the first of the output, are time
			in.Shape[2], in.Time = steps, 2
			out.Shape = []int{steps, channels}
			out.Time, n = 0, channels
		}
		h := &HostFile{Inputs: []HostTensor{in}, Outputs: []HostTensor{out}}
		kinds := 1 + r.IntN(3)
		send := InputStream{HostStream: HostStream{Port: "s_axis_0", Words: n, PerWord: 1},
			Index: permuted(r, n, func(i int) int32 { return int32(i) })}
		var tried []float64
		for range kinds {
			q, some := quantiser(r)
			send.Quantise, tried = append(send.Quantise, q), append(tried, some...)
		}
		result := OutputDequantisation{Index: permuted(r, n, func(i int) int32 { return int32(i) }), Time: timed}
		for range kinds {
			result.Mean = append(result.Mean, meaning(r))
		}
		which := make([]int32, n)
		if kinds > 1 {
			for k := range which {
				which[k] = int32(r.IntN(kinds))
			}
			send.Which, result.Which = which, which
		}
		h.Send, h.Results = []InputStream{send}, []OutputDequantisation{result}
		h.Receive = []OutputStream{{HostStream: HostStream{Port: "m_axis_0", Words: n, PerWord: 1}, Time: timed}}

		x := &value{kind: onnxpb.TensorProto_FLOAT, shape: append([]int{samples}, in.Shape[1:]...)}
		for range x.size() {
			x.f = append(x.f, tried[r.IntN(len(tried))])
		}
		file, err := h.preprocessingONNX()
		if err != nil {
			t.Fatal(err)
		}
		port := "s_axis_0"
		if in.Name == port {
			port = "hlsgen_s_axis_0"
		}
		codes := run(t, file, map[string]*value{in.Name: x})[port]
		again := h.again(x, timed)
		if codes == nil || !slices.Equal(codes.i, again) {
			t.Fatalf("seed %d: codes %v, want %v", seed, codes, again)
		}
		if file, err = h.postprocessingONNX(); err != nil {
			t.Fatal(err)
		}
		for k := range codes.i {
			codes.i[k] = int64(r.IntN(17) - 8)
		}
		y := run(t, file, map[string]*value{"m_axis_0": codes})[out.Name]
		if want := h.meant(codes.i, n); !slices.Equal(y.f, want) {
			t.Fatalf("seed %d: %v, want %v", seed, y.f, want)
		}
	}
}

// again is the codes by the words of host.json: [samples, elements] or [samples, steps, elements].
func (h *HostFile) again(x *value, timed bool) (codes []int64) {
	send, n := h.Send[0], len(h.Send[0].Index)
	per, rows := x.size()/x.shape[0], 1
	if timed {
		rows = x.shape[2]
	}
	for sample := range x.shape[0] {
		for step := range rows {
			for k, at := range send.Index {
				place := sample*per + int(at)
				if timed {
					place = sample*per + int(at)*rows + step
				}
				q := send.Quantise[0]
				if send.Which != nil {
					q = send.Quantise[send.Which[k]]
				}
				v := x.f[place]
				codes = append(codes, q.Codes[sort.Search(len(q.Thresholds), func(i int) bool {
					return q.Thresholds[i] > v
				})])
			}
		}
	}
	if len(codes) != x.shape[0]*rows*n {
		panic("codes")
	}
	return codes
}

// meant is the outputs by the words of host.json: rows of n elements, whose steps come first.
func (h *HostFile) meant(codes []int64, n int) (y []float64) {
	r := h.Results[0]
	for row := 0; row < len(codes); row += n {
		for k, at := range r.Index {
			m := r.Mean[0]
			if r.Which != nil {
				m = r.Mean[r.Which[k]]
			}
			y = append(y, float64(float32(m.at(codes[row+int(at)]))))
		}
	}
	return y
}
