// The product of two streams.
// A frame consists of vectors of folds*pe channels. For every channel c of both inputs, the output is
//     y[c] = f[c]((in0[c] + offset0) * (in1[c] + offset1))
// f[c] is a step function, one requantiser for all channels, or the identity. An iteration reads a word of each input,
// which has the pe channels from fold*pe on, and writes the output word of these channels. If input 1 is a gate, its
// only vector is read with the first vector of input 0, and stored for the others.
//
// C has the members in0_t, in1_t, in0_width, in1_width, out_t, out_width of the streams, T_t and T_per_limb of each
// table T, and
//     vectors, folds, pe   vectors of a frame, words of a vector, and channels of a word
//     gate                 input 1 is a gate: one vector for all vectors of input 0
//     factor0_t, offset0   type of input 0 plus its offset, and the offset; factor1_t, offset1 likewise. One of the
//                          types may be bipolar.
//     product_t            type of the product
//     use_dsp              whether DSP slices multiply
//     kept_rows ...        the memory of a gate, as core/memory.hpp describes
//     shared               all channels use one row of the step functions' tables
// and for mul the members form, steps, unit and base, which apply_steps of core/compare.hpp describes; for mul_requant
//     requant              the requantiser, as core/requant.hpp describes
//     requant_dsp          whether the requantiser multiplies in DSP slices
#ifndef HLSGEN_MUL_HPP
#define HLSGEN_MUL_HPP

#include <ap_int.h>
#include <hls_stream.h>

#include "core/compare.hpp"
#include "core/mac.hpp"
#include "core/memory.hpp"
#include "core/requant.hpp"
#include "core/word.hpp"

namespace hlsgen {

// mul_factor returns an element plus its offset.
template <class F, class X> F mul_factor(const X& x, int offset) {
#pragma HLS INLINE
    return F(number(x) + offset);
}

// mul_product returns the product of two elements, each plus its offset.
template <class C> typename C::product_t mul_product(const typename C::in0_t& a, const typename C::in1_t& b) {
#pragma HLS INLINE
    typedef typename C::factor0_t factor0_t;
    typedef typename C::factor1_t factor1_t;
    return typename C::product_t(mac_product<factor0_t, factor1_t, C::use_dsp>::of(mul_factor<factor0_t>(a, C::offset0),
                                                                                   mul_factor<factor1_t>(b, C::offset1)));
}

// mul_steps and mul_requantiser compute an output from a product.
struct mul_steps {
    template <class C, class... STEPS>
    static typename C::out_t of(const typename C::product_t& product, int row, int i, const STEPS&... steps) {
#pragma HLS INLINE
        return apply_steps<C>(product, row, i, steps...);
    }
};

struct mul_requantiser {
    template <class C> static typename C::out_t of(const typename C::product_t& product, int, int) {
#pragma HLS INLINE
        return requantiser<typename C::requant, C::requant_dsp>::template of<typename C::out_t>(number(product), 0);
    }
};

// mul_place is the layer's position in a frame.
template <class C> struct mul_place {
    ap_uint<count_width(C::folds)> fold;
    ap_uint<count_width(C::gate ? C::vectors : 1)> vector; // counted only with a gate, which is read with the first

    constexpr mul_place() : fold(0), vector(0) {}

    void next() {
#pragma HLS INLINE
        if (fold != C::folds - 1) {
            fold += 1;
            return;
        }
        fold = 0;
        if (C::gate) vector = vector == C::vectors - 1 ? 0 : int(vector) + 1;
    }
};

template <class C, class OUTPUT, class... STEPS>
void mul_clock(hls::stream<ap_uint<C::in0_width> >& in0, hls::stream<ap_uint<C::in1_width> >& in1,
               hls::stream<ap_uint<C::out_width> >& out, const STEPS&... steps) {
#pragma HLS INLINE
    static ap_uint<C::kept_width> kept[C::kept_rows]; // the gate, stored for the vectors after the first
#pragma HLS RESET variable=kept off
    bind_memory(kept, memory<C::kept_memory>());
    static mul_place<C> place;
#pragma HLS RESET variable=place
    mul_place<C> at = place;

    const bool gates = !C::gate || at.vector == 0;
    if (in0.empty() || (gates && in1.empty())) return;
    const ap_uint<C::in0_width> a = in0.read();
    ap_uint<C::in1_width> b;
    if (gates) {
        b = in1.read();
        if (C::gate) kept[at.fold] = b;
    } else {
        b = kept[at.fold];
    }

    ap_uint<C::out_width> y = 0;
    pe_loop: for (int pe = 0; pe < C::pe; pe++) {
#pragma HLS UNROLL
        const int row = C::shared ? 0 : int(at.fold), channel = C::shared ? 0 : pe;
        const typename C::product_t product = mul_product<C>(get<typename C::in0_t>(a, pe), get<typename C::in1_t>(b, pe));
        put(y, pe, OUTPUT::template of<C>(product, row, channel, steps...));
    }
    out.write(y);

    at.next();
    place = at;
}

// mul runs one iteration with step functions. The tables are the arguments of apply_steps.
template <class C, class... STEPS>
void mul(hls::stream<ap_uint<C::in0_width> >& in0, hls::stream<ap_uint<C::in1_width> >& in1,
         hls::stream<ap_uint<C::out_width> >& out, const STEPS&... steps) {
#pragma HLS INLINE
    mul_clock<C, mul_steps>(in0, in1, out, steps...);
}

// mul_requant runs one iteration with a requantiser.
template <class C>
void mul_requant(hls::stream<ap_uint<C::in0_width> >& in0, hls::stream<ap_uint<C::in1_width> >& in1,
                 hls::stream<ap_uint<C::out_width> >& out) {
#pragma HLS INLINE
    mul_clock<C, mul_requantiser>(in0, in1, out);
}

} // namespace hlsgen

#endif
