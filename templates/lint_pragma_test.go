package templates_test

import (
	"reflect"
	"strings"
	"testing"

	"hlsgen/templates"
)

// in is a function of C++ that has something: in its body (with statics and streams to name), in a loop, in a block.
var in = map[string]string{
	"function": "void f(hls::stream<ap_uint<8>>& words, int& n) {\n@\n" +
		"    static int kept[4], at = 0;\n    hls::stream<ap_uint<8>> s(\"s{\");\n    int local[4][4];\n}\n",
	"statics": "void f(hls::stream<ap_uint<8>>& words) {\n    static ap_uint<w(4)> kept[4] = {}, at;\n" +
		"    int local = '}';\n" +
		"    hls::stream<ap_uint<8>> s(\"s{\");\n@\n}\n",
	"for":    "template <class C> void f() {\n    rows: for (int i = 0; i < 4; i++) {\n@\n    }\n}\n",
	"while":  "struct a {\n    static void f(bool b) {\n        while (b) {\n@\n        }\n    }\n};\n",
	"do":     "namespace n {\nvoid f(bool b) {\n    if (b) do {\n@\n    } while (g(b));\n}\n}\n",
	"block":  "void f(bool b) {\n    if (b) {\n@\n    }\n}\n",
	"struct": "struct a {\n@\n};\n",
	"nested": "void f() {\n#pragma HLS PIPELINE II=1 style=flp\n    for (;;) {\n@\n    }\n}\n",
}

// TestPragmas has pragmas that the front end of Vitis HLS takes, which the lint lets pass, and others.
func TestPragmas(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, pragmas, want string }{
		{"function", "PIPELINE II=1 style=flp", ""},
		{"for", "PIPELINE II=1 style=flp", ""},
		{"while", "PIPELINE II=1 style=flp", ""},
		{"do", "PIPELINE II=1 style=flp", ""},
		{"block", "PIPELINE II=1 style=flp",
			"pragma PIPELINE: it stands in a block, where a function or a loop is its place"},
		{"nested", "PIPELINE II=1 style=flp", "a pipeline in a pipeline: the inner loop is unrolled"},
		{"nested", "UNROLL", ""},
		{"struct", "INLINE", "pragma INLINE stands in no function"},
		{"for", "PIPELINE II=1 style=flp\nPIPELINE II=1 style=flp", "pragma PIPELINE twice"},
		{"for", "PIPELINE II=1 style=flp rewind",
			"pragma PIPELINE: rewind with style=flp\npragma PIPELINE without II=1 style=flp"},
		{"for", "PIPELINE II=1 style=flp off",
			"pragma PIPELINE: off with style\npragma PIPELINE without II=1 style=flp"},
		{"for", "PIPELINE II=1 style=fast", "pragma PIPELINE: style=fast\npragma PIPELINE without II=1 style=flp"},
		{"for", "PIPELINE style=flp II=1", "pragma PIPELINE without II=1 style=flp"},

		{"for", "UNROLL", ""},
		{"while", "UNROLL factor=4", ""},
		{"for", "UNROLL factor=C::lanes", ""},
		{"for", "UNROLL complete", "pragma UNROLL: complete"},
		{"for", "UNROLL factor", "pragma UNROLL: factor"},
		{"for", "UNROLL factor=2 factor=4", "pragma UNROLL: factor=4"},
		{"function", "UNROLL", "pragma UNROLL: it stands in a function, where a loop is its place"},
		{"for", "PIPELINE II=1 style=flp\nUNROLL", "pragmas PIPELINE and UNROLL in one place"},

		{"function", "DATAFLOW disable_start_propagation", ""},
		{"for", "DATAFLOW", ""},
		{"while", "DATAFLOW", "pragma DATAFLOW: it stands in a loop, where a function or a for loop is its place"},
		{"for", "DATAFLOW\nUNROLL", "pragmas DATAFLOW and UNROLL in one place"},
		{"function", "DATAFLOW\nPIPELINE II=1 style=flp", "pragmas DATAFLOW and PIPELINE in one place"},
		{"function", "DATAFLOW interval=1", "pragma DATAFLOW: interval=1"},

		{"function", "INLINE", ""},
		{"function", "INLINE off\nPIPELINE II=1 style=flp", ""},
		{"function", "INLINE\nPIPELINE II=1 style=flp", "pragmas INLINE and PIPELINE in one place"},
		{"function", "INLINE region", "pragma INLINE: region"},

		{"statics", "RESET variable=at", ""},
		{"statics", "RESET variable=kept off", ""},
		{"statics", "RESET variable=local", "pragma RESET: local is not static"},
		{"statics", "RESET off", "pragma RESET: it has no variable"},
		{"function", "RESET variable=at", "pragma RESET: at is not static"}, // it is declared behind

		{"statics", "STREAM variable=s depth=2", ""},
		{"statics", "STREAM variable=s depth=2 dim=1", "pragma STREAM: dim=1"},
		{"statics", "STREAM depth=2", "pragma STREAM: it has no variable"},
		{"statics", "STREAM variable=s type=ring", "pragma STREAM: type=ring"},

		{"statics", "BIND_STORAGE variable=s type=fifo impl=srl", ""},
		{"statics", "BIND_STORAGE variable=words type=fifo impl=uram", ""},
		{"statics", "BIND_STORAGE variable=kept type=fifo impl=srl",
			"pragma BIND_STORAGE: kept is a FIFO and no stream"},
		{"statics", "BIND_STORAGE variable=kept type=ram_s2p impl=uram", ""},
		{"statics", "BIND_STORAGE variable=kept type=ram_s2p", ""},
		{"statics", "BIND_STORAGE variable=kept impl=uram", "pragma BIND_STORAGE: it has no type"},
		{"statics", "BIND_STORAGE variable=kept type=rom_1p impl=uram",
			"pragma BIND_STORAGE: type=rom_1p with impl=uram"},
		{"statics", "BIND_STORAGE variable=kept type=ram_s2p impl=srl",
			"pragma BIND_STORAGE: type=ram_s2p with impl=srl"},
		{"statics", "BIND_STORAGE variable=kept type=rom_1p\nBIND_STORAGE variable=kept type=ram_2p impl=bram",
			"pragma BIND_STORAGE kept twice"},

		{"block", "BIND_OP variable=x op=mul impl=dsp", ""},
		{"block", "BIND_OP variable=x op=div impl=dsp", "pragma BIND_OP: op=div"},
		{"block", "BIND_OP variable=x op=mul impl=lut", "pragma BIND_OP: impl=lut"},

		{"function", "ARRAY_PARTITION variable=local complete dim=1\nARRAY_PARTITION variable=local dim=2", ""},
		{"function", "ARRAY_PARTITION variable=local complete dim=1\nARRAY_PARTITION variable=local dim=1",
			"pragma ARRAY_PARTITION local  1 twice"},
		{"function", "ARRAY_PARTITION variable=local cyclic factor=4 dim=2", ""},
		{"function", "ARRAY_PARTITION variable=local cyclic dim=2", "pragma ARRAY_PARTITION: cyclic without factor"},
		{"function", "ARRAY_PARTITION variable=local complete factor=4",
			"pragma ARRAY_PARTITION: complete with factor"},
		{"function", "ARRAY_RESHAPE variable=local type=block dim=1",
			"pragma ARRAY_RESHAPE: type=block without factor"},
		{"function", "ARRAY_RESHAPE variable=local complete block factor=2",
			"pragma ARRAY_RESHAPE: block with complete\npragma ARRAY_RESHAPE: complete with factor"},

		{"for", "DEPENDENCE variable=kept type=inter dependent=false", ""},
		{"function", "DEPENDENCE variable=kept inter false", ""},
		{"function", "DEPENDENCE variable=kept inter true", "pragma DEPENDENCE: inter+true without distance"},
		{"for", "DEPENDENCE variable=kept type=inter", "pragma DEPENDENCE: without dependent|true|false"},
		{"for", "DEPENDENCE variable=kept type=inter direction=RAW distance=C::far dependent=true", ""},
		{"for", "DEPENDENCE variable=kept type=inter direction=RAW dependent=true",
			"pragma DEPENDENCE: type=inter+dependent=true without distance"},
		{"for", "DEPENDENCE variable=kept type=intra distance=3 dependent=true",
			"pragma DEPENDENCE: type=intra with distance"},
		{"for", "DEPENDENCE variable=a cross_variables=b dependent=false",
			"pragma DEPENDENCE: variable with cross_variables"},

		{"function", "INTERFACE axis port=words\nINTERFACE ap_ctrl_none port=return", ""},
		{"function", "INTERFACE ap_fifo port=words", ""},
		{"function", "INTERFACE axis port=other", "pragma INTERFACE: no port other"},
		{"function", "INTERFACE axis port=return", "pragma INTERFACE: no port return"},
		{"function", "INTERFACE ap_ctrl_none port=words", "pragma INTERFACE ap_ctrl_none: port=words"},
		{"function", "INTERFACE axis", "pragma INTERFACE axis: it has no port"},
		{"function", "INTERFACE ap_bus port=words", "pragma INTERFACE ap_bus port=words"},
		{"for", "INTERFACE ap_ctrl_none port=return",
			"pragma INTERFACE ap_ctrl_none: it stands in a for loop, where a function is its place"},

		{"for", "LOOP_TRIPCOUNT min=1 max=9", ""},
		{"for", "LOOP_TRIPCOUNT min=1", "pragma LOOP_TRIPCOUNT: it has no max"},
		{"function", "RESOURCE variable=local core=ROM_1P", "pragma RESOURCE variable=local core=ROM_1P"},
		{"for", "pipeline II=1 style=flp", "pragma pipeline II=1 style=flp"},
	} {
		lines := "#pragma HLS " + strings.ReplaceAll(c.pragmas, "\n", "\n#pragma HLS ")
		code := strings.Replace(in[c.in], "@", lines, 1)
		var got []string
		for _, line := range templates.LintProject(templates.ProjectFiles{{Path: "hls/f.hpp", Data: []byte(code)}}) {
			_, text, _ := strings.Cut(line, ": ")
			got = append(got, text)
		}
		var want []string
		if c.want != "" {
			want = strings.Split(c.want, "\n")
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s in a %s: %q, want %q", c.pragmas, c.in, got, want)
		}
	}
}

// TestBraces checks that text whose scopes are not recognised is reported.
func TestBraces(t *testing.T) {
	t.Parallel()
	for _, code := range []string{"void f() {\n", "void f() {\n}\n}\n"} {
		got := templates.LintProject(templates.ProjectFiles{{Path: "hls/f.hpp", Data: []byte(code)}})
		if want := []string{"hls/f.hpp:1: braces that do not match"}; !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %q, want %q", code, got, want)
		}
	}
}
