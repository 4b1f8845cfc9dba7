// The matrix-vector-activation unit. mvau.go beside this file says what it computes, and in which order of words.
//
// C has the members in_t, in_width, out_t, out_width of the streams, T_t and T_per_limb of each table T, and
//     vectors, groups, nf, sf, pe, simd   the loop nest and what is unrolled in it
//     acc_t                               the accumulator
//     dot_t, use_dsp                      what core/mac.hpp asks for
//     vector_rows ...                     the memory of an input, as core/memory.hpp has it
//     steps, unit, base                   what apply_steps of core/compare.hpp asks for
//     shared                              one row of its tables serves all channels
#ifndef HLSGEN_MVAU_HPP
#define HLSGEN_MVAU_HPP

#include <ap_int.h>
#include <hls_stream.h>

#include "core/compare.hpp"
#include "core/mac.hpp"
#include "core/memory.hpp"
#include "core/word.hpp"

namespace hlsgen {

// mvau processes one frame. The tables after the weights are those of apply_steps; without any, the outputs are the
// accumulators.
template <class C, class W, class... STEPS>
void mvau(hls::stream<ap_uint<C::in_width> >& in, hls::stream<ap_uint<C::out_width> >& out, const W& weights,
          const STEPS&... steps) {
#pragma HLS INLINE
    ap_uint<C::vector_width> vector[C::vector_rows]; // a group's input, for its outputs after the first PE
    bind_memory(vector, memory<C::vector_memory>());
    typename C::acc_t acc[C::pe];
#pragma HLS ARRAY_PARTITION variable=acc complete dim=1
    ap_uint<count_width(C::nf)> nf = 0;
    ap_uint<count_width(C::sf)> sf = 0;
    ap_uint<count_width(C::groups * C::nf)> word = 0; // of the vector's outputs
    ap_uint<count_width(C::groups * C::nf * C::sf)> row = 0;

    for (int i = 0; i < C::vectors * C::groups * C::nf * C::sf; i++) {
#pragma HLS PIPELINE II=1 style=flp
        ap_uint<C::in_width> x;
        if (C::nf == 1 || nf == 0) {
            x = in.read();
            if (C::nf > 1) vector[sf] = x;
        } else {
            x = vector[sf];
        }

        typename C::dot_t dots[C::pe];
#pragma HLS ARRAY_PARTITION variable=dots complete dim=1
        mac_dots<C>(dots, x, 0, weights[row]);
        ap_uint<C::out_width> y = 0;
        for (int pe = 0; pe < C::pe; pe++) {
#pragma HLS UNROLL
            typename C::acc_t sum = 0;
            if (sf != 0) sum = acc[pe];
            sum += dots[pe];
            acc[pe] = sum;
            put(y, pe, apply_steps<C>(sum, C::shared ? 0 : int(word), C::shared ? 0 : pe, steps...));
        }
        if (sf == C::sf - 1) out.write(y);

        row += 1;
        sf += 1;
        if (sf == C::sf) {
            sf = 0;
            nf += 1;
            word += 1;
            if (nf == C::nf) nf = 0;
            if (word == C::groups * C::nf) {
                word = 0;
                row = 0;
            }
        }
    }
}

} // namespace hlsgen

#endif
