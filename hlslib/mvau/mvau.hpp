// The matrix-vector-activation unit.
//     y[c] = f[c](sum over k of W[c][k]*x[k])
// f[c] is a non-decreasing step function, or the identity. A frame consists of vectors. A vector has `groups` parts of
// sf*simd elements, and nf*pe outputs are computed from each part. An iteration multiplies simd elements with the
// weights of pe outputs. These weights are a row of the table: those of the first output, then those of the next. All
// nf*pe outputs of a part use the same input, which is read for the first pe outputs and stored for the others.
// Outputs are written in the last of their sf iterations.
//
// C has the members in_t, in_width, out_t, out_width of the streams, T_t and T_per_limb of each table T, and
//     groups, nf, sf, pe, simd   extents of the loops, and the outputs and products per iteration
//     acc_t                      type of the accumulator
//     dot_t, use_dsp, acc_bits   members that core/mac.hpp describes
//     vector_rows ...            the memory of a part of the input, as core/memory.hpp describes
//     form, steps, unit, base    members that apply_steps of core/compare.hpp describes
//     shared                     all channels use one row of the tables of apply_steps
#ifndef HLSGEN_MVAU_HPP
#define HLSGEN_MVAU_HPP

#include <ap_int.h>
#include <hls_stream.h>

#include "core/compare.hpp"
#include "core/mac.hpp"
#include "core/memory.hpp"
#include "core/word.hpp"

namespace hlsgen {

// mvau_place is the layer's position in a vector.
template <class C> struct mvau_place {
    ap_uint<count_width(C::sf)> sf;
    ap_uint<count_width(C::nf)> nf;
    ap_uint<count_width(C::groups * C::nf)> word;        // output word of the vector
    ap_uint<count_width(C::groups * C::nf * C::sf)> row; // row of the weights

    constexpr mvau_place() : sf(0), nf(0), word(0), row(0) {}

    void next() {
#pragma HLS INLINE
        row += 1;
        if (sf != C::sf - 1) {
            sf += 1;
            return;
        }
        sf = 0;
        nf = nf == C::nf - 1 ? 0 : int(nf) + 1;
        if (word != C::groups * C::nf - 1) {
            word += 1;
            return;
        }
        word = 0;
        row = 0;
    }
};

// mvau runs one iteration of the layer. The tables after the weights are the arguments of apply_steps. Without them
// the outputs are the accumulators.
template <class C, class W, class... STEPS>
void mvau(hls::stream<ap_uint<C::in_width> >& in, hls::stream<ap_uint<C::out_width> >& out, const W& weights,
          const STEPS&... steps) {
#pragma HLS INLINE
    static ap_uint<C::vector_width> vector[C::vector_rows]; // a part of the input, for its later outputs
#pragma HLS RESET variable=vector off
    bind_memory(vector, memory<C::vector_memory>());
    static typename C::acc_t acc[C::pe];
#pragma HLS RESET variable=acc off
#pragma HLS ARRAY_PARTITION variable=acc complete dim=1
    static mvau_place<C> place;
#pragma HLS RESET variable=place
    mvau_place<C> at = place;

    const bool reads = C::nf == 1 || at.nf == 0;
    if (reads && in.empty()) return;
    ap_uint<C::in_width> x;
    if (reads) {
        x = in.read();
        if (C::nf > 1) vector[at.sf] = x;
    } else {
        x = vector[at.sf];
    }

    typename C::dot_t dots[C::pe];
#pragma HLS ARRAY_PARTITION variable=dots complete dim=1
    typedef typename mac_alike<C>::type A;
    mac_dots<A>(dots, x, 0, weights[at.row]);
    ap_uint<C::out_width> y = 0;
    pe_loop: for (int pe = 0; pe < C::pe; pe++) {
#pragma HLS UNROLL
        typename C::acc_t sum = 0;
        if (at.sf != 0) sum = acc[pe];
        sum += dots[pe];
        sum = mac_held<A>::of(sum, pe);
        acc[pe] = sum;
        put(y, pe, apply_steps<A>(sum, C::shared ? 0 : int(at.word), C::shared ? 0 : pe, steps...));
    }
    if (at.sf == C::sf - 1) out.write(y);

    at.next();
    place = at;
}

} // namespace hlsgen

#endif
