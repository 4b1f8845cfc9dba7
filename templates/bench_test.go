package templates_test

import (
	"strings"
	"testing"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
	"hlsgen/templates"
)

// TestBenchErrors checks that a layer that C++ or Vitis HLS would refuse is an error.
func TestBenchErrors(t *testing.T) {
	t.Parallel()
	port := dataflow.Port{Elem: intN(4), PerWord: 2, Words: 3}
	instance := func(change func(*dataflow.KernelInstance)) dataflow.KernelInstance {
		i := dataflow.KernelInstance{Header: "mvau.hpp", Func: "mvau", Config: []dataflow.ConfigField{{Name: "nf",
			Value: 3}},
			Tables: []dataflow.Table{{Name: "weights", Elem: intN(3), Rows: [][]int64{{1, 2}, {3, -4}}}},
			Storage: []dataflow.Storage{dataflow.NewTableStorage("weights", "weight memory", 2, 6),
				dataflow.NewArrayStorage("kept", "buffer", 3, 9)}}
		change(&i)
		return i
	}
	for want, c := range map[string]struct {
		instance dataflow.KernelInstance
		in       dataflow.Port
	}{
		"a stream word of 5000 bits; Vitis HLS takes 4096": {instance(func(*dataflow.KernelInstance) {}),
			dataflow.Port{Elem: intN(50), PerWord: 100, Words: 1}},
		"a stream of 0 words of 2 elements": {instance(func(*dataflow.KernelInstance) {}),
			dataflow.Port{Elem: intN(4), PerWord: 2}},
		"table weights is empty": {instance(func(i *dataflow.KernelInstance) {
			i.Tables[0].Rows = [][]int64{{}}
		}), port},
		"table weights: row 1, from element 0: element 0 is 4, which INT3 does not hold": {instance(func(i *dataflow.KernelInstance) {
			i.Tables[0].Rows[1][0] = 4
		}), port},
		"two config fields are called in_width": {instance(func(i *dataflow.KernelInstance) {
			i.Streams, i.Config[0].Name = []string{"in_width"}, "in_width"
		}), port},
		"no stream has a member out_t": {instance(func(i *dataflow.KernelInstance) {
			i.Streams = []string{"in_t", "out_t"}
		}), port},
		"config field \"n f\" is not a C++ name": {instance(func(i *dataflow.KernelInstance) {
			i.Config[0].Name = "n f"
		}), port},
		"config field nf has a value of type float64": {instance(func(i *dataflow.KernelInstance) {
			i.Config[0].Value = 1.5
		}), port},
		"kernel header \"../x.hpp\" is not a name with .hpp": {instance(func(i *dataflow.KernelInstance) {
			i.Header = "../x.hpp"
		}), port},
		"config field \"a b_t\" is not a C++ name": {instance(func(i *dataflow.KernelInstance) {
			i.Tables[0].Name, i.Storage[0].Name = "a b", "a b"
		}), port},
		"table weights is 2x6, its storage is  0x0 in none": {instance(func(i *dataflow.KernelInstance) {
			i.Storage = i.Storage[1:]
		}), port},
		"table weights is 2x6, its storage is weights 2x7": {instance(func(i *dataflow.KernelInstance) {
			i.Storage[0].Width = 7
		}), port},
		"table weights is 2x6, its storage is weights 3x6": {instance(func(i *dataflow.KernelInstance) {
			i.Storage[0].Rows = 3
		}), port},
		"storage weights 2x6 in none, want it in one of": {instance(func(i *dataflow.KernelInstance) {
			i.Storage[0].In = dataflow.NoMemory
		}), port},
		"storage of 2 tables, there are 1": {instance(func(i *dataflow.KernelInstance) {
			i.Storage = append(i.Storage, i.Storage[0])
		}), port},
		"two config fields are called kept_rows": {instance(func(i *dataflow.KernelInstance) {
			i.Storage = append(i.Storage, i.Storage[1])
		}), port},
		"kept has rows of 5000 bits; Vitis HLS takes 4096": {instance(func(i *dataflow.KernelInstance) {
			i.Storage[1].Width = 5000
		}), port},
		"\"delete this\" is not a C++ name": {instance(func(i *dataflow.KernelInstance) {
			i.Func = "delete this"
		}), port},
		"buffer_width is 5000 bits; Vitis HLS takes 4096": {instance(func(i *dataflow.KernelInstance) {
			i.Config[0] = dataflow.ConfigField{Name: "buffer_width",
				Value: 5000}
		}), port},
		"the kernel library has no nothing.hpp": {instance(func(i *dataflow.KernelInstance) {
			i.Header = "nothing.hpp"
		}), port},
	} {
		frame := dataflow.Tensor{Data: make([]int64, c.in.Words*c.in.PerWord)}
		_, err := templates.GenerateLayerBench([]templates.LayerTestCase{{
			Layer: templates.Layer{Name: "L", Instance: c.instance, In: []dataflow.Port{c.in},
				Calls: []int{1}},
			In: [][]dataflow.Tensor{{frame}},
		}})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// TestPorts checks that layers with several streams number them, and that a word of more than 1024 bits raises the
// limit of the types.
func TestPorts(t *testing.T) {
	t.Parallel()
	port := dataflow.Port{Elem: intN(4), PerWord: 300, Words: 1}
	frames := []dataflow.Tensor{{Data: make([]int64, 300)}}
	files, err := templates.GenerateLayerBench([]templates.LayerTestCase{{
		Layer: templates.Layer{Name: "Add_0", Instance: dataflow.KernelInstance{Header: "mvau.hpp", Func: "add",
			Streams: []string{"in1_width", "out_width"},
			Config: []dataflow.ConfigField{
				{Name: "in_words", Value: []int{3, 1}}, {Name: "in_types",
					Value: []num.Type{intN(4), {Kind: num.KindBipolar, Width: 1}}},
				{Name: "limits", Value: []int64{-1 << 63, 1 << 40}}}}, In: []dataflow.Port{port, port},
			Out: []dataflow.Port{port}, Calls: []int{1}},
		In: [][]dataflow.Tensor{frames, frames}, Out: [][]dataflow.Tensor{frames},
	}})
	if err != nil {
		t.Fatal(err)
	}
	for path, wants := range map[string][]string{
		"hls/ap_types.hpp": {"#define AP_INT_MAX_W 2048\n"},
		"hls/layers/Add_0.hpp": {"    static const int in1_width = 1200; // 1 word of 300 elements a frame\n",
			"    static const int out_width = 1200; // 1 word",
			"    typedef hlsgen::counts<3, 1> in_words;\n",
			"    typedef hlsgen::types<ap_int<4>, hlsgen::bipolar> in_types;\n",
			"    typedef hlsgen::numbers<-9223372036854775807LL-1, 1099511627776LL> limits;\n"},
		"hls/layers/Add_0.cpp": {"    hlsgen::add<Add_0_config>(in0, in1, out0);\n"},
		"hls/tb/tb.cpp": {"            bench.send(Add_0_in1, in1);\n            Add_0(in0, in1, out);\n",
			"bench.expect(Add_0_out, out);\n"},
	} {
		for _, want := range wants {
			if !strings.Contains(string(files.ContentsOf(path)), want) {
				t.Errorf("%s lacks %q:\n%s", path, want, files.ContentsOf(path))
			}
		}
	}
}
