// The thresholding layer. threshold.go beside this file says what it computes, and in which order of words.
//
// C has the members in_t, in_width, out_t, out_width of the streams, T_t and T_per_limb of each table T, and
//     vectors, folds, pe   the loop nest and what is unrolled in it
//     steps, unit, base    an output is base + unit times the number of its thresholds that are exceeded
//     shared               one row of tables serves all channels
#ifndef HLSGEN_THRESHOLD_HPP
#define HLSGEN_THRESHOLD_HPP

#include <ap_int.h>
#include <hls_stream.h>

#include "core/compare.hpp"
#include "core/word.hpp"

namespace hlsgen {

// threshold_none stands for a table that a layer does not have.
struct threshold_none {};

// threshold_sum is a type for sums that end within the output; it may wrap around before.
template <class C> struct threshold_sum {
    typedef ap_int<element_type<typename C::out_t>::signed_width> type;
};

// threshold_base is where the output of the i-th channel in a row starts.
template <class C> ap_int<32> threshold_base(int, int, const threshold_none&) {
#pragma HLS INLINE
    return C::base;
}

template <class C, class LIMB, int LIMBS, int ROWS>
typename C::base_t threshold_base(int row, int i, const LIMB (&base)[ROWS][LIMBS]) {
#pragma HLS INLINE
    return element<typename C::base_t, C::base_per_limb>(base[row], i);
}

// threshold_rise is what the thresholds that x exceeds add: a unit each, or a delta each.
template <class C, class T>
typename threshold_sum<C>::type threshold_rise(const typename C::in_t& x, int row, int i, const T& thresholds,
                                               const threshold_none&) {
#pragma HLS INLINE
    typedef typename C::thresholds_t threshold_t;
    return count_exceeded<C::steps, threshold_t, C::thresholds_per_limb>(x, thresholds[row], i * C::steps) * C::unit;
}

template <class C, class T, class LIMB, int LIMBS, int ROWS>
typename threshold_sum<C>::type threshold_rise(const typename C::in_t& x, int row, int i, const T& thresholds,
                                               const LIMB (&deltas)[ROWS][LIMBS]) {
#pragma HLS INLINE
    typedef typename C::thresholds_t threshold_t;
    typedef typename C::deltas_t delta_t;
    typename threshold_sum<C>::type sum = 0;
    for (int s = 0; s < C::steps; s++) {
#pragma HLS UNROLL
        const int at = i * C::steps + s;
        if (exceeds(x, element<threshold_t, C::thresholds_per_limb>(thresholds[row], at)))
            sum += number(element<delta_t, C::deltas_per_limb>(deltas[row], at));
    }
    return sum;
}

template <class C, class T, class B, class D>
void threshold_frame(hls::stream<ap_uint<C::in_width> >& in, hls::stream<ap_uint<C::out_width> >& out,
                     const T& thresholds, const B& base, const D& deltas) {
#pragma HLS INLINE
    ap_uint<count_width(C::folds)> fold = 0;

    for (int i = 0; i < C::vectors * C::folds; i++) {
#pragma HLS PIPELINE II=1 style=flp
        const ap_uint<C::in_width> x = in.read();
        ap_uint<C::out_width> y = 0;
        for (int pe = 0; pe < C::pe; pe++) {
#pragma HLS UNROLL
            const int row = C::shared ? 0 : int(fold), channel = C::shared ? 0 : pe;
            const typename C::in_t value = get<typename C::in_t>(x, pe);
            const typename threshold_sum<C>::type sum =
                threshold_rise<C>(value, row, channel, thresholds, deltas) + number(threshold_base<C>(row, channel, base));
            put(y, pe, typename C::out_t(sum));
        }
        out.write(y);

        fold += 1;
        if (fold == C::folds) fold = 0;
    }
}

// threshold processes one frame.
template <class C, class T>
void threshold(hls::stream<ap_uint<C::in_width> >& in, hls::stream<ap_uint<C::out_width> >& out, const T& thresholds) {
#pragma HLS INLINE
    threshold_frame<C>(in, out, thresholds, threshold_none(), threshold_none());
}

template <class C, class T, class B>
void threshold(hls::stream<ap_uint<C::in_width> >& in, hls::stream<ap_uint<C::out_width> >& out, const T& thresholds,
               const B& base) {
#pragma HLS INLINE
    threshold_frame<C>(in, out, thresholds, base, threshold_none());
}

template <class C, class T, class B, class D>
void threshold(hls::stream<ap_uint<C::in_width> >& in, hls::stream<ap_uint<C::out_width> >& out, const T& thresholds,
               const B& base, const D& deltas) {
#pragma HLS INLINE
    threshold_frame<C>(in, out, thresholds, base, deltas);
}

} // namespace hlsgen

#endif
