// The matrix-vector-activation unit. mvau.go beside this file says what it computes, and in which order of words.
//
// C has the members in_t, in_width, out_t, out_width of the streams, T_t and T_per_limb of each table T, and
//     vectors, nf, sf, pe, simd   the loop nest and what is unrolled in it
//     acc_t, dot_t                the accumulator, and the sum of one clock's products
//     use_dsp                     multiply in DSP slices
//     steps, unit, base           an output is base + unit times the number of its thresholds that are exceeded
#ifndef HLSGEN_MVAU_HPP
#define HLSGEN_MVAU_HPP

#include <ap_int.h>
#include <hls_stream.h>

#include "core/compare.hpp"
#include "core/word.hpp"

namespace hlsgen {

// mvau_none stands for a table that a layer does not have.
struct mvau_none {};

// mvau_product is one weight times one input: a multiplier, a choice of sign where one of them is bipolar, and where
// both are, 1 if they agree and 0 if not.
template <class W, class X, bool DSP> struct mvau_product {
    static auto of(const W& w, const X& x) {
#pragma HLS INLINE
        const auto product = w * x;
#pragma HLS BIND_OP variable=product op=mul impl=fabric
        return product;
    }
};

template <class W, class X> struct mvau_product<W, X, true> {
    static auto of(const W& w, const X& x) {
#pragma HLS INLINE
        const auto product = w * x;
#pragma HLS BIND_OP variable=product op=mul impl=dsp
        return product;
    }
};

template <class T> ap_int<element_type<T>::width + 1> mvau_signed(const bipolar& sign, const T& value) {
#pragma HLS INLINE
    const ap_int<element_type<T>::width + 1> plus = value, minus = -value;
    return sign.bit == 1 ? plus : minus;
}

template <class X> struct mvau_product<bipolar, X, false> {
    static auto of(const bipolar& w, const X& x) {
#pragma HLS INLINE
        return mvau_signed(w, x);
    }
};

template <class W> struct mvau_product<W, bipolar, false> {
    static auto of(const W& w, const bipolar& x) {
#pragma HLS INLINE
        return mvau_signed(x, w);
    }
};

template <> struct mvau_product<bipolar, bipolar, false> {
    static auto of(const bipolar& w, const bipolar& x) {
#pragma HLS INLINE
        return ap_uint<1>(w.bit == x.bit);
    }
};

// mvau_dot is what one clock adds to the accumulator of output pe.
template <class C, class ROW> typename C::dot_t mvau_dot(const ap_uint<C::in_width>& x, const ROW& weights, int pe) {
#pragma HLS INLINE
    typedef typename C::weights_t weight_t;
    typedef typename C::in_t in_t;
    typename C::dot_t sum = 0;
    for (int i = 0; i < C::simd; i++) {
#pragma HLS UNROLL
        const weight_t w = element<weight_t, C::weights_per_limb>(weights, pe * C::simd + i);
        sum += mvau_product<weight_t, in_t, C::use_dsp>::of(w, get<in_t>(x, i));
    }
    return sum;
}

// mvau_affine is base + unit*n. It wraps around at the output's width, within which it ends.
template <class C, class N, class B> typename C::out_t mvau_affine(const N& n, const B& base) {
#pragma HLS INLINE
    const ap_int<element_type<typename C::out_t>::signed_width> sum = n * C::unit + number(base);
    return typename C::out_t(sum);
}

// mvau_activate makes output nf*pe + i of its accumulator: by the accumulator itself, by thresholds and one base, or
// by thresholds and a base per channel.
template <class C>
typename C::out_t mvau_activate(const typename C::acc_t& acc, int, int, const mvau_none&, const mvau_none&) {
#pragma HLS INLINE
    return mvau_affine<C>(acc, ap_int<32>(C::base));
}

template <class C, class LIMB, int LIMBS, int ROWS>
typename C::out_t mvau_activate(const typename C::acc_t& acc, int nf, int i, const LIMB (&thresholds)[ROWS][LIMBS],
                                const mvau_none&) {
#pragma HLS INLINE
    typedef typename C::thresholds_t threshold_t;
    return mvau_affine<C>(count_exceeded<C::steps, threshold_t, C::thresholds_per_limb>(acc, thresholds[nf], i * C::steps),
                          ap_int<32>(C::base));
}

template <class C, class LIMB, int LIMBS, class BASE_LIMB, int BASE_LIMBS, int ROWS>
typename C::out_t mvau_activate(const typename C::acc_t& acc, int nf, int i, const LIMB (&thresholds)[ROWS][LIMBS],
                                const BASE_LIMB (&base)[ROWS][BASE_LIMBS]) {
#pragma HLS INLINE
    typedef typename C::thresholds_t threshold_t;
    return mvau_affine<C>(count_exceeded<C::steps, threshold_t, C::thresholds_per_limb>(acc, thresholds[nf], i * C::steps),
                          element<typename C::base_t, C::base_per_limb>(base[nf], i));
}

template <class C, class W, class T, class B>
void mvau_frame(hls::stream<ap_uint<C::in_width> >& in, hls::stream<ap_uint<C::out_width> >& out, const W& weights,
                const T& thresholds, const B& base) {
#pragma HLS INLINE
    ap_uint<C::in_width> vector[C::nf > 1 ? C::sf : 1]; // the input, for the outputs after the first PE
    typename C::acc_t acc[C::pe];
#pragma HLS ARRAY_PARTITION variable=acc complete dim=1
    ap_uint<count_width(C::nf)> nf = 0;
    ap_uint<count_width(C::sf)> sf = 0;
    ap_uint<count_width(C::nf * C::sf)> row = 0;

    for (int i = 0; i < C::vectors * C::nf * C::sf; i++) {
#pragma HLS PIPELINE II=1 style=flp
        ap_uint<C::in_width> x;
        if (C::nf == 1 || nf == 0) {
            x = in.read();
            if (C::nf > 1) vector[sf] = x;
        } else {
            x = vector[sf];
        }

        ap_uint<C::out_width> y = 0;
        for (int pe = 0; pe < C::pe; pe++) {
#pragma HLS UNROLL
            typename C::acc_t sum = 0;
            if (sf != 0) sum = acc[pe];
            sum += mvau_dot<C>(x, weights[row], pe);
            acc[pe] = sum;
            put(y, pe, mvau_activate<C>(sum, nf, pe, thresholds, base));
        }
        if (sf == C::sf - 1) out.write(y);

        row += 1;
        sf += 1;
        if (sf == C::sf) {
            sf = 0;
            nf += 1;
            if (nf == C::nf) {
                nf = 0;
                row = 0;
            }
        }
    }
}

// mvau processes one frame. Without thresholds the outputs are the accumulators.
template <class C, class W>
void mvau(hls::stream<ap_uint<C::in_width> >& in, hls::stream<ap_uint<C::out_width> >& out, const W& weights) {
#pragma HLS INLINE
    mvau_frame<C>(in, out, weights, mvau_none(), mvau_none());
}

template <class C, class W, class T>
void mvau(hls::stream<ap_uint<C::in_width> >& in, hls::stream<ap_uint<C::out_width> >& out, const W& weights,
          const T& thresholds) {
#pragma HLS INLINE
    mvau_frame<C>(in, out, weights, thresholds, mvau_none());
}

template <class C, class W, class T, class B>
void mvau(hls::stream<ap_uint<C::in_width> >& in, hls::stream<ap_uint<C::out_width> >& out, const W& weights,
          const T& thresholds, const B& base) {
#pragma HLS INLINE
    mvau_frame<C>(in, out, weights, thresholds, base);
}

} // namespace hlsgen

#endif
