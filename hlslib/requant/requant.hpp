// The requantising layer.
// A frame consists of vectors of folds*pe channels. For every channel c, the output is
//     y[c] = clip(round((m[c]*x[c] + b[c]) / 2^shift), lo, hi)
// An iteration reads a word of the pe channels from fold*pe on, and writes the output word of these channels. The
// tables of multipliers and biases have a row for each word, or one row for all channels. The table of limits has lo
// and hi.
//
// C has the members in_t, in_width, out_t, out_width of the streams, T_t and T_per_limb of each table T, and
//     folds, pe          words of a vector, and channels of a word
//     sum_t              type of multiplier times input plus bias
//     one_multiplier     all channels have the same multiplier; one_bias likewise
//     shift              bits by which the sum is shifted right
//     mode               rounding: a requant_mode of core/requant.hpp
//     clip_lo, clip_hi   whether results below lo, or above hi, can occur
//     use_dsp            whether DSP slices multiply
#ifndef HLSGEN_REQUANT_HPP
#define HLSGEN_REQUANT_HPP

#include <ap_int.h>
#include <hls_stream.h>

#include "core/compare.hpp"
#include "core/counter.hpp"
#include "core/mac.hpp"
#include "core/requant.hpp"
#include "core/word.hpp"

namespace hlsgen {

// requant_scaled returns a multiplier times an element.
template <class C, class M, class X> auto requant_scaled(const M& multiplier, const X& x) {
#pragma HLS INLINE
    return mac_product<M, X, C::use_dsp>::of(multiplier, x);
}

// requant_code returns the sum divided by 2^shift, rounded, and clipped to the limits.
template <class C, class L> typename C::out_t requant_code(const typename C::sum_t& sum, const L& limits) {
#pragma HLS INLINE
    typedef typename C::limits_t limit_t;
    const int sum_width = element_type<typename C::sum_t>::signed_width;
    const int width = sum_width > C::shift ? sum_width : C::shift + 1; // a shift by all bits or more is not defined
    const ap_int<width> wide = sum;
    const ap_int<width> code = requant_round<C::shift, C::mode>(wide);
    const limit_t lo = element<limit_t, C::limits_per_limb>(limits[0], 0);
    const limit_t hi = element<limit_t, C::limits_per_limb>(limits[0], 1);
    if (C::clip_lo && exceeds(lo, code)) return lo;
    if (C::clip_hi && exceeds(code, hi)) return hi;
    return typename C::out_t(code);
}

// requant runs one iteration of the layer.
template <class C, class M, class B, class L>
void requant(hls::stream<ap_uint<C::in_width> >& in, hls::stream<ap_uint<C::out_width> >& out, const M& multipliers,
             const B& biases, const L& limits) {
#pragma HLS INLINE
    typedef typename C::multipliers_t multiplier_t;
    typedef typename C::biases_t bias_t;
    static counter<C::folds> place;
#pragma HLS RESET variable=place
    counter<C::folds> fold = place;

    if (in.empty()) return;
    const ap_uint<C::in_width> x = in.read();
    ap_uint<C::out_width> y = 0;
    pe_loop: for (int pe = 0; pe < C::pe; pe++) {
#pragma HLS UNROLL
        const multiplier_t m = element<multiplier_t, C::multipliers_per_limb>(multipliers[C::one_multiplier ? 0 : int(fold.at)],
                                                                              C::one_multiplier ? 0 : pe);
        const bias_t b = element<bias_t, C::biases_per_limb>(biases[C::one_bias ? 0 : int(fold.at)], C::one_bias ? 0 : pe);
        typename C::sum_t sum = requant_scaled<C>(m, number(get<typename C::in_t>(x, pe)));
        sum += b; // the product may wrap around, but the sum fits its type
        put(y, pe, requant_code<C>(sum, limits));
    }
    out.write(y);

    fold.next();
    place = fold;
}

} // namespace hlsgen

#endif
