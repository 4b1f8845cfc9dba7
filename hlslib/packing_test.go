package hlslib_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"hlsgen/hlslib/price/cost"
	"hlsgen/internal/num"
	"hlsgen/internal/testsupport/tier"
)

// packingCheck multiplies with core/mac.hpp and with plain products. It tries every pair of weights in neighbouring
// lanes with every input where these are few, else limits and random ones.
const packingCheck = `#include <hlsgen/core/mac.hpp>
#include <cstdio>
using namespace hlsgen;

static long failures = 0, checks = 0;
static unsigned long long state = 1;
static long random_number(long lo, long hi) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    switch (state >> 33 & 7) {
    case 0: return lo;
    case 1: return hi;
    }
    return lo + long((state >> 36) % (unsigned long long)(hi - lo + 1));
}

template <class C, int N> void check(const long (&w)[N][C::simd], const long (&x)[C::simd]) {
    ap_uint<C::in_width> word = 0;
    unsigned long long row[N * C::simd];
    for (int i = 0; i < C::simd; i++) put(word, i, typename C::in_t(x[i]));
    for (int pe = 0; pe < N; pe++)
        for (int i = 0; i < C::simd; i++)
            row[pe * C::simd + i] =
                element_type<typename C::weights_t>::encode(typename C::weights_t(w[pe][i])).to_uint64();
    typename C::dot_t dots[N];
    mac_dots<C>(dots, word, 0, row);
    for (int pe = 0; pe < N; pe++) {
        long want = 0;
        for (int i = 0; i < C::simd; i++) want += w[pe][i] * x[i];
        checks++;
        if (dots[pe].to_int64() != want && failures++ < 20)
            std::printf("lanes of %s, channel %d: %ld, want %ld\n", C::name(), pe, long(dots[pe].to_int64()), want);
    }
}

template <class C, int N> void pairs() {
    static_assert(C::simd == 1, "one product");
    const long limits[3] = {C::wlo, C::whi, 0};
    for (int at = 0; at + 1 < N; at++)
        for (int l = 0; l < 3; l++)
            for (long a = C::wlo; a <= C::whi; a++)
                for (long b = C::wlo; b <= C::whi; b++)
                    for (long x = C::xlo; x <= C::xhi; x++) {
                        long w[N][1], one[1] = {x};
                        for (int pe = 0; pe < N; pe++) w[pe][0] = pe == at ? a : pe == at + 1 ? b : limits[l];
                        check<C, N>(w, one);
                    }
}

template <class C, int N> void at_random() {
    for (int n = 0; n < 4000; n++) {
        long w[N][C::simd], x[C::simd];
        const long same = random_number(C::wlo, C::whi), input = random_number(C::xlo, C::xhi);
        for (int i = 0; i < C::simd; i++) x[i] = n % 4 == 0 ? input : random_number(C::xlo, C::xhi);
        for (int pe = 0; pe < N; pe++)
            for (int i = 0; i < C::simd; i++) w[pe][i] = n % 4 == 0 ? same : random_number(C::wlo, C::whi);
        check<C, N>(w, x);
    }
}
`

// packed is a packing to try. Where it is of one product, weights and inputs are few.
type packed struct {
	fabric          cost.Fabric
	channels, simd  int
	weights, inputs num.Range
}

// config is the C++ of c, as package mac emits it, and the call that checks it.
func (c packed) config(n int) (text, call string) {
	p := c.fabric.PackProducts(c.channels, c.simd, c.weights, c.inputs)
	var at, overlaps []string
	for _, l := range p.Lanes {
		at = append(at, fmt.Sprint(l.At))
		overlap := "0"
		if l.Overlap {
			overlap = "1"
		}
		overlaps = append(overlaps, overlap)
	}
	ctype := func(r num.Range) string {
		t := num.NarrowestIntTypeFor(r)
		return map[num.TypeKind]string{num.KindInt: "ap_int", num.KindUInt: "ap_uint"}[t.Kind] + fmt.Sprintf("<%d>",
			t.Width)
	}
	text = fmt.Sprintf(`
struct c%[1]d {
    static const char* name() { return "%[2]d channels, %[3]d, %[4]v by %[5]v: %[6]v"; }
    static const long wlo = %[7]d, whi = %[8]d, xlo = %[9]d, xhi = %[10]d;
    static const int simd = %[3]d, in_width = %[11]d, weights_per_limb = 1, terms = %[12]d;
    static const bool use_dsp = true;
    typedef %[13]s in_t;
    typedef %[14]s weights_t;
    typedef ap_int<40> dot_t;
`, n, c.channels, c.simd, c.weights, c.inputs, p, c.weights.Lo, c.weights.Hi, c.inputs.Lo, c.inputs.Hi,
		c.simd*num.NarrowestIntTypeFor(c.inputs).Width, p.Terms, ctype(c.inputs), ctype(c.weights))
	if p.HasMultipleLanes() {
		text += fmt.Sprintf("    typedef counts<%s> lanes;\n    typedef counts<%s> overlaps;\n"+
			"    typedef ap_int<%d> packed_t;\n    typedef ap_int<%d> packed_sum_t;\n",
			strings.Join(at, ", "), strings.Join(overlaps, ", "), p.Wide, p.Sum)
	}
	try := "at_random"
	if c.simd == 1 {
		try = "pairs"
	}
	return text + "};\n", fmt.Sprintf("    %s<c%d, %d>();\n", try, n, c.channels)
}

// TestPackedProducts multiplies by packed DSP slices of all fabrics.
func TestPackedProducts(t *testing.T) {
	t.Parallel()
	signed := func(w int) num.Range { return num.Range{Lo: -1 << (w - 1), Hi: 1<<(w-1) - 1} }
	unsigned := func(w int) num.Range { return num.Range{Lo: 0, Hi: 1<<w - 1} }
	ternary := num.Range{Lo: -1, Hi: 1}
	var list []packed
	for _, f := range []cost.Fabric{cost.FabricSeries7, cost.FabricUltraScale, cost.FabricVersal} {
		for _, w := range []num.Range{ternary, signed(2), signed(3), signed(4), unsigned(3), {Lo: -7, Hi: 7}} {
			for _, x := range []num.Range{ternary, signed(3), unsigned(2), unsigned(4)} {
				for _, channels := range []int{4, 7} {
					list = append(list, packed{f, channels, 1, w, x})
				}
			}
		}
		for _, x := range []num.Range{signed(8), unsigned(8), signed(9)} {
			list = append(list, packed{f, 2, 1, num.Range{Lo: -128, Hi: -120}, x}, packed{f, 3, 9, signed(8), x},
				packed{f, 4, 3, num.Range{Lo: -127, Hi: 127}, x}, packed{f, 2, 2, unsigned(8), x},
				packed{f, 5, 4, signed(4), x}, packed{f, 9, 17, ternary, x})
		}
		list = append(list, packed{f, 7, 10, signed(4), unsigned(4)}, packed{f, 2, 20, signed(2), signed(16)})
	}
	if !tier.Long() {
		some := list[:0]
		for i := 3; i < len(list); i += 13 {
			some = append(some, list[i])
		}
		list = some
	}
	text, calls := packingCheck, ""
	for n, c := range list {
		config, call := c.config(n)
		text, calls = text+config, calls+call
	}
	text += "\nint main() {\n" + calls +
		"    std::printf(\"%ld failures\\n\", failures);\n    return failures == 0 && checks > 10000 ? 0 : 1;\n}\n"
	source := filepath.Join(t.TempDir(), "packing.cpp")
	if err := os.WriteFile(source, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	check := func(from, to string) (string, error) {
		out, err := exec.Command(compileEdited(t, source, from, to, "-O0", "-Wno-unknown-pragmas")).CombinedOutput()
		return string(out), err
	}
	if out, err := check("", ""); err != nil || out != "0 failures\n" {
		t.Errorf("%v\n%s", err, out)
	}
	if tier.Quick() {
		return
	}
	for _, m := range []struct{ from, to string }{
		{"ap_uint<1>(sum[next] ^ odd[I + 1])", "ap_uint<1>(sum[next])"},
		{"dots[pe] += borrows[pe];", ""},
		{"ap_uint<1>(own < 0)", "ap_uint<1>(0)"},
		{"own[next - at] = negative;", "own[next - at] = 0;"},
	} {
		if out, err := check(m.from, m.to); err == nil {
			t.Errorf("%q in the place of %q passes: %s", m.to, m.from, out)
		}
	}
}
