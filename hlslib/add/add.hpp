// The scaled sum of two streams.
// A frame consists of vectors of folds*pe channels. For every channel c of both inputs, the output is
//     y[c] = f[c](m0[c]*in0[c] + m1[c]*in1[c])
// f[c] is a step function, or the identity. An iteration reads a word of each input, which has the pe channels from
// fold*pe on, and writes the output word of these channels. Row fold of the table of factors has m0 and m1 of the
// first of these channels, then m0 and m1 of the next channel, and so on.
//
// C has the members in0_t, in1_t, in0_width, in1_width, out_t, out_width of the streams, T_t and T_per_limb of each
// table T, and
//     folds, pe                 words of a vector, and channels of a word
//     sum_t                     type of the sum
//     use_dsp                   whether DSP slices multiply
//     factor0, factor1          without a table: the factors of the inputs, of type factor0_t and factor1_t
//     form, steps, unit, base   members that apply_steps of core/compare.hpp describes
//     shared                    all channels use one row of the step functions' tables
#ifndef HLSGEN_ADD_HPP
#define HLSGEN_ADD_HPP

#include <ap_int.h>
#include <hls_stream.h>

#include "core/compare.hpp"
#include "core/counter.hpp"
#include "core/mac.hpp"
#include "core/word.hpp"

namespace hlsgen {

// add_product returns a factor times an element.
template <class C, class F, class X> auto add_product(const F& factor, const X& x) {
#pragma HLS INLINE
    return mac_product<F, X, C::use_dsp>::of(factor, x);
}

// add_constants selects factors that are the same for all channels.
struct add_constants {};

// add_sum returns the sum of two elements of channel fold*pe + i, each times its factor. A partial sum may wrap
// around; the result does not.
template <class C>
typename C::sum_t add_sum(const typename C::in0_t& a, const typename C::in1_t& b, int, int, const add_constants&) {
#pragma HLS INLINE
    typename C::sum_t sum = add_product<C>(typename C::factor0_t(C::factor0), number(a));
    sum += add_product<C>(typename C::factor1_t(C::factor1), number(b));
    return sum;
}

template <class C, class LIMB, int LIMBS, int ROWS>
typename C::sum_t add_sum(const typename C::in0_t& a, const typename C::in1_t& b, int fold, int i,
                          const LIMB (&factors)[ROWS][LIMBS]) {
#pragma HLS INLINE
    typedef typename C::factors_t factor_t;
    typename C::sum_t sum = add_product<C>(element<factor_t, C::factors_per_limb>(factors[fold], 2 * i), number(a));
    sum += add_product<C>(element<factor_t, C::factors_per_limb>(factors[fold], 2 * i + 1), number(b));
    return sum;
}

// add_clock runs one iteration with any factors.
template <class C, class FACTORS, class... STEPS>
void add_clock(hls::stream<ap_uint<C::in0_width> >& in0, hls::stream<ap_uint<C::in1_width> >& in1,
               hls::stream<ap_uint<C::out_width> >& out, const FACTORS& factors, const STEPS&... steps) {
#pragma HLS INLINE
    static counter<C::folds> place;
#pragma HLS RESET variable=place
    counter<C::folds> fold = place;

    if (in0.empty() || in1.empty()) return;
    const ap_uint<C::in0_width> a = in0.read();
    const ap_uint<C::in1_width> b = in1.read();
    ap_uint<C::out_width> y = 0;
    pe_loop: for (int pe = 0; pe < C::pe; pe++) {
#pragma HLS UNROLL
        const int row = C::shared ? 0 : int(fold.at), channel = C::shared ? 0 : pe;
        const typename C::sum_t sum =
            add_sum<C>(get<typename C::in0_t>(a, pe), get<typename C::in1_t>(b, pe), fold.at, pe, factors);
        put(y, pe, apply_steps<C>(sum, row, channel, steps...));
    }
    out.write(y);

    fold.next();
    place = fold;
}

// add runs one iteration with constant factors. The tables are the arguments of apply_steps.
template <class C, class... STEPS>
void add(hls::stream<ap_uint<C::in0_width> >& in0, hls::stream<ap_uint<C::in1_width> >& in1,
         hls::stream<ap_uint<C::out_width> >& out, const STEPS&... steps) {
#pragma HLS INLINE
    add_clock<C>(in0, in1, out, add_constants(), steps...);
}

// add_per_channel runs one iteration with a table of factors.
template <class C, class FACTORS, class... STEPS>
void add_per_channel(hls::stream<ap_uint<C::in0_width> >& in0, hls::stream<ap_uint<C::in1_width> >& in1,
                     hls::stream<ap_uint<C::out_width> >& out, const FACTORS& factors, const STEPS&... steps) {
#pragma HLS INLINE
    add_clock<C>(in0, in1, out, factors, steps...);
}

} // namespace hlsgen

#endif
