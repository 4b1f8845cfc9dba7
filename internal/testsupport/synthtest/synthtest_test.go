package synthtest

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"hlsgen/hlslib"
	"hlsgen/internal/testsupport/tier"
	"hlsgen/templates"
)

// kernels is code with one defect in each kernel but the first two.
const kernels = `#include <ap_int.h>
#include <hls_stream.h>
typedef hls::stream<ap_uint<200> > words;
int elsewhere();
namespace hlsgen {
template <int N> ap_uint<200> sum(const ap_uint<200>& word, const int& n) {
    ap_uint<200> all = 0;
    parts: for (int i = 0; i < N; i++) {
#pragma HLS UNROLL
        all += word.range(8 * i + 7, 8 * i) * n;
    }
    return all;
}
template <class C> void loop(words& in, words& out) {
    for (int i = 0; i < C::n; i++) {
#pragma HLS PIPELINE II=1 style=flp
        out.write(sum<25>(in.read(), i));
    }
}
template <class C> void call(words& in, words& out) {
#pragma HLS PIPELINE II=1 style=flp
    static ap_uint<8> at = 0;
    if (in.empty()) return;
    out.write(sum<25>(in.read(), at));
    at += 1;
}
template <class C> void until(words& in, words& out) {
    for (bool more = true; more;) {
#pragma HLS PIPELINE II=1 style=flp
        const ap_uint<200> word = in.read();
        out.write(word);
        more = word != 0;
    }
}
template <class C> void rolled(words& in, words& out) {
    const ap_uint<200> word = in.read();
    ap_uint<200> all = 0;
    for (int i = 0; i < int(word); i++) {
#pragma HLS UNROLL
        all += in.read();
    }
    out.write(all);
}
template <int N> int& counter() {
    static int kept = 0;
    return kept;
}
template <class C> void shares(words& in, words& out) { out.write(in.read() + counter<C::n>()++); }
__attribute__((noinline)) int apart(int n) { return n * n; }
template <class C> void calls(words& in, words& out) { out.write(in.read() + apart(C::n) + elsewhere()); }
} // namespace hlsgen
`

// processes calls them.
const processes = `#include "all.hpp"
struct a_config { static const int n = 7; };
struct b_config { static const int n = 1; };
struct c_config { static const int n = 3; };
struct d_config {};
struct e_config { static const int n = 4; };
struct f_config {
    static const int n = 4, unread = 5;
    typedef ap_uint<3> unread_t;
    struct function { typedef ap_uint<3> out_t; static const int inner = n; };
    static int outer(int n) { const int local = n; return local; }
};
void two_7(words& in, words& out) { hlsgen::loop<a_config>(in, out); }
void one_1(words& in, words& out) { hlsgen::loop<b_config>(in, out); }
void steady(words& in, words& out) { hlsgen::call<c_config>(in, out); }
void data(words& in, words& out) { hlsgen::until<c_config>(in, out); }
void rolled(words& in, words& out) { hlsgen::rolled<d_config>(in, out); }
void shares(words& in, words& out) { hlsgen::shares<e_config>(in, out); }
void calls(words& in, words& out) { hlsgen::calls<f_config>(in, out); }
void pointer(words& in, words& out, void (*f)(words&)) { f(in); }
`

// TestFinds plants defects.
func TestFinds(t *testing.T) {
	t.Parallel()
	tier.Needs(t, "clang++", "opt", "nm")
	files := templates.ProjectFiles{
		{Path: "hls/layers/all.hpp", Data: []byte(kernels)},
		{Path: "hls/layers/all.cpp", Data: []byte(processes)},
		{Path: "hls/layers.cpp", Data: []byte("#include \"layers/all.cpp\"\n")},
	}
	for _, h := range hlslib.HeadersForKernelFiles("mvau.hpp") {
		files = append(files, templates.GeneratedFile{Path: "hls/" + h.Path, Data: h.Text})
	}
	slices.SortFunc(files, func(a, b templates.GeneratedFile) int { return strings.Compare(a.Path, b.Path) })
	got, err := check(t.Context(), t.TempDir(), files, map[string][]int{"two_7": {7}, "one_1": nil, "steady": nil,
		"data": {AnyTrips}, "rolled": nil, "shares": {2}, "calls": nil, "pointer": nil, "none": nil})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{
		"c_config is of two processes",
		"c_config::n is read by no kernel",
		"f_config::function::inner is read by no kernel",
		"f_config::function::out_t is read by no kernel",
		"f_config::unread is read by no kernel",
		"f_config::unread_t is read by no kernel",
		"layers.cpp: calls _Z9elsewherev",
		"layers.cpp: calls _ZN6hlsgen5apartEi",
		"layers.cpp: calls through a pointer",
		"layers.cpp: not inlined: _ZN6hlsgen5apartEi",
		"layers.cpp: static hlsgen::counter<4>()::kept is of [], not of one process",
		"no function none",
		"rolled keeps loops of [0] trips, promised are []",
		"shares keeps loops of [] trips, promised are [2]",
	}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %q", got)
	}
}
