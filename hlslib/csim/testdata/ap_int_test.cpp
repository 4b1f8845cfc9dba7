// Checks the C simulation headers against other arithmetic: __int128 where values are small, residues modulo a prime
// where they are wide, and a vector of bits for everything that moves bits.
#include <ap_axi_sdata.h>
#include <ap_int.h>
#include <hls_stream.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

__extension__ typedef __int128 int128;

static long failures = 0, checks = 0;

#define CHECK(ok)                                                                                                      \
    do {                                                                                                               \
        checks++;                                                                                                      \
        if (!(ok) && failures++ < 20) std::printf("line %d: %s (%s)\n", __LINE__, #ok, __PRETTY_FUNCTION__);           \
    } while (0)

static uint64_t next_random() {
    static uint64_t s = 0x9e3779b97f4a7c15ULL;
    s ^= s << 13;
    s ^= s >> 7;
    s ^= s << 17;
    return s;
}

// sample gives the edges of a type first, then random values.
template <class A> A sample(int round) {
    A a = 0;
    switch (round) {
    case 0: return a;
    case 1: return A(1);
    case 2: return A(-1);
    case 3: a[a.length() - 1] = true; return a;
    case 4: a[a.length() - 1] = true; return A(~a);
    }
    for (int i = 0; i < a.length(); i += 64) {
        const int hi = i + 63 < a.length() ? i + 63 : a.length() - 1;
        a.range(hi, i) = next_random() >> (round % 3 == 0 ? next_random() % 64 : 0);
    }
    return a;
}

static const uint64_t prime = (1ULL << 61) - 1;

static uint64_t times(uint64_t a, uint64_t b) { return static_cast<uint64_t>(static_cast<unsigned __int128>(a) * b % prime); }
static uint64_t plus(uint64_t a, uint64_t b) { return (a + b) % prime; }
static uint64_t minus(uint64_t a, uint64_t b) { return (a + prime - b) % prime; }

// residue reads a value bit by bit; the top bit of a signed type counts negatively.
template <int W, bool S> uint64_t residue(const ap_int_base<W, S>& a) {
    uint64_t r = 0, weight = 1;
    for (int i = 0; i < W; i++, weight = plus(weight, weight))
        if (a[i]) r = S && i == W - 1 ? minus(r, weight) : plus(r, weight);
    return r;
}

template <int W, bool S> int128 value(const ap_int_base<W, S>& a) {
    int128 v = 0;
    for (int i = 0; i < W; i++)
        if (a[i]) v += S && i == W - 1 ? -(static_cast<int128>(1) << i) : static_cast<int128>(1) << i;
    return v;
}

template <class R> bool is(const R& r, int128 want) { return value(r) == want; }

template <class A, class B> void compare(const A& a, const B& b, int128 x, int128 y, std::true_type) {
    CHECK((a == b) == (x == y));
    CHECK((a != b) == (x != y));
    CHECK((a < b) == (x < y));
    CHECK((a > b) == (x > y));
    CHECK((a <= b) == (x <= y));
    CHECK((a >= b) == (x >= y));
}
template <class A, class B> void compare(const A&, const B&, int128, int128, std::false_type) {}

template <class A, class B> void divide(const A& a, const B& b, std::true_type) {
    if (value(b) == 0) return;
    CHECK(is(a / b, value(a) / value(b)));
    CHECK(is(a % b, value(a) % value(b)));
}
template <class A, class B> void divide(const A&, const B&, std::false_type) {}

template <class A, class B, bool SA, bool SB> void pair_of(int round_a, int round_b) {
    const A a = sample<A>(round_a);
    const B b = sample<B>(round_b);
    CHECK(residue(a + b) == plus(residue(a), residue(b)));
    CHECK(residue(a - b) == minus(residue(a), residue(b)));
    CHECK(residue(a * b) == times(residue(a), residue(b)));
    CHECK(residue(-a) == minus(0, residue(a)));
    if (A::width <= 120 && B::width <= 120) {
        const int128 x = value(a), y = value(b);
        CHECK(is(a & b, x & y));
        CHECK(is(a | b, x | y));
        CHECK(is(a ^ b, x ^ y));
        compare(a, b, x, y, std::integral_constant<bool, SA == SB>());
    }
    divide(a, b, std::integral_constant<bool, (A::width <= 64 && B::width <= 64)>());
    const A c = b; // truncation or extension keeps the low bits
    for (int i = 0; i < A::width; i++) CHECK(c[i] == (i < B::width ? b[i] : SB && b[B::width - 1]));
    A d = a;
    d += b;
    CHECK(d == A(a + b));
    d -= b;
    CHECK(d == a);
    d *= b;
    CHECK(d == A(a * b));
    d = a;
    d *= d;
    CHECK(d == A(a * a));
    d = a;
    d -= d;
    CHECK(d == A(0));
}

template <int W1, int W2> void pairs() {
    const int exhaustive = W1 <= 4 && W2 <= 4 ? 400 : 40;
    for (int i = 0; i < exhaustive; i++) {
        const int p = i < 25 ? i / 5 : 5 + i, q = i < 25 ? i % 5 : 6 + i;
        pair_of<ap_int<W1>, ap_int<W2>, true, true>(p, q);
        pair_of<ap_uint<W1>, ap_uint<W2>, false, false>(p, q);
        pair_of<ap_int<W1>, ap_uint<W2>, true, false>(p, q);
        pair_of<ap_uint<W1>, ap_int<W2>, false, true>(p, q);
    }
}

template <class A> std::vector<bool> bits_of(const A& a) {
    std::vector<bool> v;
    for (int i = 0; i < A::width; i++) v.push_back(a[i]);
    return v;
}

template <class A, bool S> void single() {
    const int W = A::width;
    for (int round = 0; round < 60; round++) {
        const A a = sample<A>(round);
        const std::vector<bool> v = bits_of(a);
        const int n = static_cast<int>(next_random() % (W + 3));
        const A left = a << n, right = a >> n, inverse = ~a;
        for (int i = 0; i < W; i++) {
            CHECK(left[i] == (i >= n ? v[i - n] : false));
            CHECK(right[i] == (i + n < W ? v[i + n] : S && v[W - 1]));
            CHECK(inverse[i] == !v[i]);
        }
        const int lo = static_cast<int>(next_random() % W), hi = lo + static_cast<int>(next_random() % (W - lo));
        const ap_uint<W> field = a.range(hi, lo);
        const ap_int<W> same = a(hi, lo);
        for (int i = 0; i < W; i++) {
            CHECK(field[i] == (i <= hi - lo ? v[lo + i] : false));
            CHECK(same[i] == field[i]);
        }
        A b = a;
        const ap_int<W> put = sample<ap_int<W>>(round + 7);
        b.range(hi, lo) = put;
        for (int i = 0; i < W; i++) CHECK(b[i] == (i < lo || i > hi ? v[i] : put[i - lo]));
        A c = a;
        c.range(hi, lo) = b.range(hi, lo);
        CHECK(c == b);
        c[lo] = !c[lo];
        CHECK(c != b);
        CHECK(c(lo, lo) == (b[lo] ? 0u : 1u));
        A up = a;
        ++up;
        CHECK(up == A(a + 1));
        up--;
        CHECK(up == a);
        if (W <= 64) {
            CHECK(static_cast<int128>(a.to_uint64()) == static_cast<int128>(static_cast<uint64_t>(value(a))));
            CHECK(S ? a.to_int64() == static_cast<long long>(value(a)) : a.to_uint64() == static_cast<uint64_t>(value(a)));
            CHECK(a.to_string(10) == (S ? std::to_string(a.to_int64()) : std::to_string(a.to_uint64())));
            const long long native = a;
            CHECK(native == static_cast<long long>(value(a)));
        }
    }
}

// constants checks operands that are C integers, and initial values.
static void constants() {
    const ap_int<12> a = -700;
    const ap_uint<12> u = 3000;
    const ap_uint<200> ones = -1;
    CHECK(is(a + 5, -695) && is(5 - a, 705) && is(a * 1000000, -700000000) && is(7u * a, -4900));
    CHECK(is(u - 4000, -1000) && is(-u, -3000) && a < 0 && 0 > a && u == 3000 && 2999 < u && u >= 3000u);
    CHECK(ones[199] && ones.range(199, 136) == ~0ULL && ones.to_uint64() == ~0ULL);
    CHECK(ap_uint<64>(0xfedcba9876543210).to_uint64() == 0xfedcba9876543210ULL);
    CHECK(ap_int<4>(0xf) == -1 && ap_uint<4>(-1) == 15 && ap_int<3>(4) == -4);
    CHECK(ap_uint<80>(ones).to_string(16) == "0xffffffffffffffffffff" && ap_int<70>(-5).to_string(10) == "-5");
    static const ap_uint<60> table[2][2] = {{0x1, 0xfffffffffffffff}, {0x2}};
    CHECK(table[0][1].to_uint64() == 0xfffffffffffffffULL && table[1][0] == 2u && table[1][1] == 0u);
    ap_uint<9> m = 0x1f3;
    m &= ap_uint<9>(0xf0);
    m |= ap_int<9>(1);
    m ^= ap_uint<9>(0x100);
    m <<= 1;
    m >>= 2;
    CHECK(m == 0x78);
}

static void streams() {
    hls::stream<ap_uint<7>> s("s");
    for (int i = 0; i < 1000; i++) s.write(i);
    CHECK(s.size() == 1000);
    for (int i = 0; i < 1000; i++) CHECK(s.read() == static_cast<unsigned>(i % 128));
    CHECK(s.empty());
    hls::stream<int> ring("ring");
    int written = 0, read = 0;
    for (int held : {3, 1, 16, 5, 40, 0, 33, 0}) { // what it holds goes round, and it grows wherever its first word lies
        while (written - read < held) ring.write(written++);
        while (written - read > held) CHECK(ring.read() == read++);
        for (int i = 0; i < 11 && held > 0; i++) {
            CHECK(ring.read() == read++);
            ring.write(written++);
        }
        CHECK(ring.size() == static_cast<unsigned>(held));
    }
    ap_axiu<20, 0, 0, 0> word;
    word.keep = -1;
    word.last = true;
    CHECK(word.keep == 7u && word.last == 1u && word.data.length() == 20);
}

int main(int argc, char**) {
    if (argc > 1) { // the program must end here, naming the stream
        hls::stream<int> s("inner");
        if (argc > 2) s.write(1);
        else s.read();
        return 0;
    }
    pairs<1, 1>();
    pairs<2, 3>();
    pairs<4, 4>();
    pairs<7, 33>();
    pairs<63, 64>();
    pairs<64, 64>();
    pairs<65, 3>();
    pairs<300, 257>();
    single<ap_int<1>, true>();
    single<ap_uint<1>, false>();
    single<ap_int<5>, true>();
    single<ap_uint<32>, false>();
    single<ap_int<64>, true>();
    single<ap_uint<64>, false>();
    single<ap_int<65>, true>();
    single<ap_uint<784>, false>();
    single<ap_uint<4096>, false>();
    constants();
    streams();
    std::printf("%ld checks, %ld failures\n", checks, failures);
    return failures == 0 ? 0 : 1;
}
