// Checks what the kernels share: elements in words and tables, comparisons by value, requantisers, the AXI ends.
#include <hlsgen/core/axis.hpp>
#include <hlsgen/core/compare.hpp>
#include <hlsgen/core/requant.hpp>
#include <hlsgen/core/word.hpp>

#include <cmath>
#include <cstdio>

using namespace hlsgen;

static int failures = 0;

#define CHECK(ok)                                                                                                      \
    do {                                                                                                               \
        if (!(ok) && failures++ < 20) std::printf("line %d: %s\n", __LINE__, #ok);                                     \
    } while (0)

// words writes every value of T into every place of a word of seven elements and looks at the whole word.
template <class T> void words(int lo, int hi, int step) {
    const int width = element_type<T>::width;
    for (int place = 0; place < 7; place++)
        for (int v = lo; v <= hi; v += step) {
            ap_uint<7 * width> word = -1;
            put<T>(word, place, T(v));
            for (int i = 0; i < 7; i++) {
                const T other = get<T>(ap_uint<7 * width>(-1), i);
                CHECK(number(get<T>(word, i)) == (i == place ? number(T(v)) : number(other)));
            }
            CHECK(((word >> (place * width)).to_uint64() & ((1u << width) - 1)) == element_type<T>::encode(T(v)).to_uint64());
        }
}

template <class A, class B> void comparisons(int alo, int ahi, int astep, int blo, int bhi, int bstep) {
    for (int a = alo; a <= ahi; a += astep)
        for (int b = blo; b <= bhi; b += bstep) CHECK(exceeds(A(a), B(b)) == (a > b));
}

static const ap_uint<63> narrow[2][3] = {{0x0, 0x0, 0x0}, {0x7edcba9876543210, 0x0123456789abcdef, 0x41}};
static const unsigned long long plain[2][3] = {{0x0, 0x0, 0x0}, {0x7edcba9876543210, 0x0123456789abcdef, 0x41}};
static const limb<64> full[1][2] = {{0xfedcba9876543210, 0x8000000000000001}};

// tables reads nine elements of seven bits from each limb; element 9 is the first of the second limb.
template <class TABLE> void tables(const TABLE& table) {
    for (int i = 0; i < 27; i++) {
        const int raw = static_cast<int>(plain[1][i / 9] >> (7 * (i % 9)) & 127), want = raw > 63 ? raw - 128 : raw;
        CHECK((element<ap_int<7>, 9>(table[1], i) == want));
        CHECK((element<ap_uint<7>, 9>(table[1], i) == static_cast<unsigned>(raw)));
    }
    for (int v = -32; v < 32; v++) {
        int want = 0;
        for (int i = 4; i < 4 + 15; i++) want += v > element<ap_int<7>, 9>(table[1], i) ? 1 : 0;
        const ap_uint<4> count = count_exceeded<15, ap_int<7>, 9>(ap_int<6>(v), table[1], 4);
        CHECK(count == static_cast<unsigned>(want));
    }
    CHECK((element<bipolar, 63>(table[1], 0) == -1 && element<bipolar, 63>(table[1], 62) == 1 && element<bipolar, 63>(table[1], 63) == 1));
    CHECK((element<ap_int<64>, 1>(full[0], 1) < 0 && element<ap_uint<32>, 2>(full[0], 1) == 0xfedcba98u));
    CHECK(count_width(1) == 1 && count_width(3) == 2 && count_width(4) == 3 && count_width(255) == 8 && count_width(256) == 9);
}

// recoded writes three elements of type FROM, the middle one v, as TO.
template <class TO, class FROM> void recoded(int lo, int hi, int step) {
    for (int v = lo; v <= hi; v += step) {
        ap_uint<3 * element_type<FROM>::width> word = 0;
        for (int i = 0; i < 3; i++) put(word, i, FROM(i == 1 ? v : hi));
        const ap_uint<3 * element_type<TO>::width> same = recode<TO, FROM>(word);
        for (int i = 0; i < 3; i++) CHECK(int(number(get<TO>(same, i))) == (i == 1 ? v : hi));
    }
}

// rounded is v by its definition; all v here are exact.
static double rounded(int mode, double v) {
    switch (mode) {
    case requant_half_even: return std::nearbyint(v);
    case requant_half_up: return std::floor(v + 0.5);
    case requant_half_toward_zero: return v < 0 ? std::floor(v + 0.5) : std::ceil(v - 0.5);
    case requant_half_away: return std::round(v);
    case requant_floor: return std::floor(v);
    case requant_toward_zero: return std::trunc(v);
    case requant_away_from_zero: return v < 0 ? std::floor(v) : std::ceil(v);
    default: return std::ceil(v);
    }
}

// requantised tries every x of 7 bits, signed or not, with one requantiser, and with it as the second of two.
template <long long M, long long SHIFT, long long MODE> void requantised() {
    typedef numbers<M, SHIFT, MODE, -20, 30, 3, 20> own;
    typedef numbers<1, 0, 0, -20, 30, 3, 20, M, SHIFT, MODE, -20, 30, 3, 20> second;
    for (int x = -64; x < 64; x++) {
        const double v = rounded(MODE, static_cast<double>(x * M) / (1 << SHIFT));
        const int want = static_cast<int>(v < -20 ? -20 : v > 30 ? 30 : v), copied = x < -20 ? -20 : x > 30 ? 30 : x;
        CHECK((requantiser<own, false>::template of<ap_int<6>>(ap_int<7>(x), 5) == want));
        CHECK((requantiser<own, true>::template of<ap_int<6>>(ap_int<7>(x), 0) == want));
        CHECK((requantiser<second, false>::template of<ap_int<6>>(ap_int<7>(x), 1) == want));
        CHECK((requantiser<second, false>::template of<ap_int<6>>(ap_int<7>(x), 0) == copied));
        if (x >= 0) CHECK((requantiser<own, false>::template of<ap_int<6>>(ap_uint<6>(x), 0) == want));
    }
}

template <long long MODE> void requantisers() {
    requantised<1, 0, MODE>();
    requantised<1, 1, MODE>();
    requantised<1, 3, MODE>();
    requantised<4, 0, MODE>();
    requantised<3, 2, MODE>();
    requantised<-5, 3, MODE>();
    requantised<-1, 1, MODE>();
    requantised<0, 0, MODE>();
    requantised<37, 6, MODE>();
    // Nothing is clipped, and all 64 bits are there.
    typedef numbers<(1LL << 40) + 1, 41, MODE, 0, 0, 0, 63> wide;
    const int down = MODE == requant_floor || MODE == requant_away_from_zero ? 1 : 0;
    CHECK((requantiser<wide, false>::template of<ap_int<22>>(ap_int<22>(-2000000), 0) == -1000000 - down));
}

struct end_config {
    static const int width = 21, tdata = 24, words = 5;
};

// Every process is called before its words are there, too: nothing happens then. In synthesis, the one that reads an AXI4-Stream
// waits.
static void ends() {
    hls::stream<ap_uint<24>> in("in");
    hls::stream<ap_uint<21>> inside("inside");
    hls::stream<ap_axiu<24, 0, 0, 0>> out("out");
    for (int i = 0; i < 10; i++) {
#ifndef __SYNTHESIS__
        axis_in<end_config>(in, inside);
#endif
        axis_out<end_config>(inside, out);
        CHECK(inside.empty());
        in.write(ap_uint<24>(0xe00000 + 0x1fff00 + i)); // padding bits set
        axis_in<end_config>(in, inside);
        axis_out<end_config>(inside, out);
    }
    for (int i = 0; i < 10; i++) {
        const ap_axiu<24, 0, 0, 0> word = out.read();
        CHECK(word.data == 0x1fff00u + static_cast<unsigned>(i) && word.keep == 7u && word.strb == 7u);
        CHECK(word.last == (i % 5 == 4 ? 1u : 0u));
    }
}

struct sequence_config {
    static const int width = 21, tdata = 24, words = 3, longest = 4;
};

// sequences sends packets of so many words, which are steps of 3 words and at most 4 steps, and says what comes of it.
static void sequences() {
    const int words[] = {3, 12, 6, 4, 1, 3, 17, 13, 9, 12};
    const int steps[] = {1, 4, 2, 2, 1, 1, 4, 4, 3, 4}; // that come of them
    hls::stream<ap_axiu<24, 0, 0, 0>> in("in"), out("out");
    hls::stream<ap_uint<21>> inside("inside");
    hls::stream<ap_uint<1>> first("first"), second("second");
    unsigned at = 0;
    for (int sent : words)
        for (int i = 0; i < sent; i++) {
            ap_axiu<24, 0, 0, 0> word;
            word.data = 0xe00000u + at++; // padding bits set
            word.keep = -1;
            word.strb = -1;
            word.last = i == sent - 1 ? 1 : 0;
            in.write(word);
        }
    unsigned from = 0;
    for (int n = 0; n < 10; n++) {
        // As many calls as there are iterations: one for each word that arrives or that is written, whichever are more.
        const int calls = words[n] > 3 * steps[n] ? words[n] : 3 * steps[n];
        for (int call = 0; call < calls; call++) axis_in_steps<sequence_config>(in, inside, first, second);
        for (int call = 0; call < 3 * steps[n]; call++) axis_out_steps<sequence_config>(first, inside, out);
        axis_out_steps<sequence_config>(first, inside, out); // there is no word
        CHECK(inside.empty() && first.empty());
        for (int i = 0; i < 3 * steps[n]; i++) {
            const ap_axiu<24, 0, 0, 0> word = out.read();
            CHECK(word.data == (i < words[n] ? from + static_cast<unsigned>(i) : 0u) && word.keep == 7u && word.strb == 7u);
            CHECK(word.last == (i == 3 * steps[n] - 1 ? 1u : 0u));
            if (i % 3 == 2) CHECK(second.read() == (i == 3 * steps[n] - 1 ? 1u : 0u));
        }
        CHECK(out.empty() && second.empty());
        from += static_cast<unsigned>(words[n]);
    }
    CHECK(in.empty());
}

int main() {
    words<ap_int<5>>(-16, 15, 1);
    words<ap_uint<3>>(0, 7, 1);
    words<ap_int<17>>(-65536, 65535, 4369);
    words<bipolar>(-1, 1, 2);
    comparisons<ap_int<4>, ap_uint<4>>(-8, 7, 1, 0, 15, 1);
    comparisons<ap_uint<4>, ap_int<4>>(0, 15, 1, -8, 7, 1);
    comparisons<ap_uint<32>, ap_int<33>>(0, 40, 1, -40, 40, 1); // ap_int compares these as bit patterns
    comparisons<bipolar, ap_uint<1>>(-1, 1, 2, 0, 1, 1);
    comparisons<bipolar, bipolar>(-1, 1, 2, -1, 1, 2);
    recoded<ap_int<6>, ap_uint<5>>(0, 31, 1);
    recoded<ap_uint<3>, ap_int<5>>(0, 7, 1);
    recoded<ap_int<3>, ap_int<9>>(-4, 3, 1);
    recoded<ap_int<2>, bipolar>(-1, 1, 2);
    recoded<bipolar, bipolar>(-1, 1, 2);
    recoded<ap_int<70>, ap_int<5>>(-16, 15, 1);
    requantisers<requant_half_even>();
    requantisers<requant_half_up>();
    requantisers<requant_half_toward_zero>();
    requantisers<requant_half_away>();
    requantisers<requant_floor>();
    requantisers<requant_toward_zero>();
    requantisers<requant_ceil>();
    requantisers<requant_away_from_zero>();
    tables(narrow);
    tables(plain);
    ends();
    sequences();
    std::printf("%d failures\n", failures);
    return failures == 0 ? 0 : 1;
}
