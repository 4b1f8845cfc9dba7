// Requantisers multiply an integer by a constant, divide by a power of two, round and clip.
//     y = clip(round(x*multiplier / 2^shift), lo, hi)
#ifndef HLSGEN_CORE_REQUANT_HPP
#define HLSGEN_CORE_REQUANT_HPP

#include "word.hpp"

namespace hlsgen {

// requant_mode names the roundings. The generated code uses their numbers.
enum requant_mode {
    requant_half_even,
    requant_half_up,
    requant_half_toward_zero,
    requant_half_away,
    requant_floor,
    requant_toward_zero,
    requant_ceil,
    requant_away_from_zero
};

// requant_bits returns the number of bits that hold 0..n.
constexpr int requant_bits(unsigned long long n) { return n < 2 ? 1 : 1 + requant_bits(n / 2); }
constexpr unsigned long long requant_magnitude(long long n) {
    return n < 0 ? 0 - static_cast<unsigned long long>(n) : static_cast<unsigned long long>(n);
}

// requant_product::of returns x*M in W bits. It is a shift if M is a power of two, else a multiplier.
template <int W, long long M, bool DSP, bool POWER = (M > 0 && (M & (M - 1)) == 0)> struct requant_product;

template <int W, long long M, bool DSP> struct requant_product<W, M, DSP, true> {
    template <class X> static ap_int<W> of(const X& x) {
#pragma HLS INLINE
        constexpr int power = requant_bits(M) - 1;
        return ap_int<W>(ap_int<W>(x) << power);
    }
};

template <int W, long long M> struct requant_product<W, M, false, false> {
    template <class X> static ap_int<W> of(const X& x) {
#pragma HLS INLINE
        const ap_int<requant_bits(requant_magnitude(M)) + 1> multiplier = M;
        const ap_int<W> product = multiplier * x;
#pragma HLS BIND_OP variable=product op=mul impl=fabric
        return product;
    }
};

template <int W, long long M> struct requant_product<W, M, true, false> {
    template <class X> static ap_int<W> of(const X& x) {
#pragma HLS INLINE
        const ap_int<requant_bits(requant_magnitude(M)) + 1> multiplier = M;
        const ap_int<W> product = multiplier * x;
#pragma HLS BIND_OP variable=product op=mul impl=dsp
        return product;
    }
};

// requant_round returns p / 2^SHIFT, rounded. W must be greater than SHIFT.
template <int SHIFT, int MODE, int W> ap_int<W> requant_round(const ap_int<W>& p) {
#pragma HLS INLINE
    const int width = SHIFT > 0 ? SHIFT : 1;
    const ap_uint<width> rest = ap_uint<width>(p);
    const ap_int<W> below = p >> SHIFT;
    const bool half = rest[width - 1], more = ap_uint<width>(rest << 1) != 0;
    const bool negative = p[W - 1], odd = below[0];
    bool up = false;
    if (MODE == requant_half_even) up = half && (more || odd);
    if (MODE == requant_half_up) up = half;
    if (MODE == requant_half_toward_zero) up = half && (more || negative);
    if (MODE == requant_half_away) up = half && (more || !negative);
    if (MODE == requant_toward_zero) up = negative && (half || more);
    if (MODE == requant_ceil) up = half || more;
    if (MODE == requant_away_from_zero) up = !negative && (half || more);
    if (SHIFT == 0) up = false;
    return ap_int<W>(below + ap_uint<1>(up));
}

// requantiser::of applies the requantiser of the given turn, from a list. A requantiser has seven numbers: the
// multiplier, the shift, the rounding, the two limits, which limits can be reached (1 the lower, 2 the upper), and the
// bits of the product, which are at least two more than the shift. A list of one requantiser applies to every turn.
template <class LIST, bool DSP> struct requantiser;

template <long long M, long long SHIFT, long long MODE, long long LO, long long HI, long long CLIPS, long long W, bool DSP>
struct requantiser<numbers<M, SHIFT, MODE, LO, HI, CLIPS, W>, DSP> {
    template <class OUT, class X> static OUT of(const X& x, int) {
#pragma HLS INLINE
        const ap_int<W> code = requant_round<int(SHIFT), int(MODE)>(requant_product<int(W), M, DSP>::of(x));
        const ap_int<64> lo = LO, hi = HI;
        if ((CLIPS & 1) != 0 && code < lo) return OUT(lo);
        if ((CLIPS & 2) != 0 && code > hi) return OUT(hi);
        return OUT(code);
    }
};

template <long long M, long long SHIFT, long long MODE, long long LO, long long HI, long long CLIPS, long long W, long long NEXT,
          long long... REST, bool DSP>
struct requantiser<numbers<M, SHIFT, MODE, LO, HI, CLIPS, W, NEXT, REST...>, DSP> {
    template <class OUT, class X> static OUT of(const X& x, int turn) {
#pragma HLS INLINE
        typedef requantiser<numbers<M, SHIFT, MODE, LO, HI, CLIPS, W>, DSP> first;
        typedef requantiser<numbers<NEXT, REST...>, DSP> others;
        const OUT own = first::template of<OUT>(x, 0), other = others::template of<OUT>(x, turn - 1);
        return turn == 0 ? own : other;
    }
};

} // namespace hlsgen

#endif
