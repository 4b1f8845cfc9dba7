// The vector-vector-activation unit.
//     y[c] = f[c](sum over k of W[c][k]*x[k][c])
// f[c] is a non-decreasing step function, or the identity. A window of sf*simd positions arrives in tiles of pe
// channels, and a tile position by position. An iteration multiplies simd positions of a tile with the weights of its
// channels. These weights are a row of the table: those of the first channel, then those of the next. The last of the
// sf iterations of a tile writes the pe results.
//
// C has the members in_t, in_width, out_t, out_width of the streams, T_t and T_per_limb of each table T, and
//     nf, sf, pe, simd          tiles of a window, words of a tile, and channels and positions of a word
//     acc_t                     type of the accumulator
//     dot_t, use_dsp, acc_bits  members that core/mac.hpp describes
//     form, steps, unit, base   members that apply_steps of core/compare.hpp describes
//     shared                    all channels use one row of the tables of apply_steps
#ifndef HLSGEN_VVAU_HPP
#define HLSGEN_VVAU_HPP

#include <ap_int.h>
#include <hls_stream.h>

#include "core/compare.hpp"
#include "core/mac.hpp"
#include "core/word.hpp"

namespace hlsgen {

// vvau_place is the layer's position in a window.
template <class C> struct vvau_place {
    ap_uint<count_width(C::sf)> sf;
    ap_uint<count_width(C::nf)> nf;
    ap_uint<count_width(C::nf * C::sf)> row; // row of the weights

    constexpr vvau_place() : sf(0), nf(0), row(0) {}

    void next() {
#pragma HLS INLINE
        row += 1;
        if (sf != C::sf - 1) {
            sf += 1;
            return;
        }
        sf = 0;
        if (nf != C::nf - 1) {
            nf += 1;
            return;
        }
        nf = 0;
        row = 0;
    }
};

// vvau runs one iteration of the layer. The tables after the weights are the arguments of apply_steps. Without them
// the outputs are the accumulators.
template <class C, class W, class... STEPS>
void vvau(hls::stream<ap_uint<C::in_width> >& in, hls::stream<ap_uint<C::out_width> >& out, const W& weights,
          const STEPS&... steps) {
#pragma HLS INLINE
    static typename C::acc_t acc[C::pe];
#pragma HLS RESET variable=acc off
#pragma HLS ARRAY_PARTITION variable=acc complete dim=1
    static vvau_place<C> place;
#pragma HLS RESET variable=place
    vvau_place<C> at = place;

    if (in.empty()) return;
    const ap_uint<C::in_width> x = in.read();
    ap_uint<C::out_width> y = 0;
    typedef typename mac_alike<C>::type A;
    pe_loop: for (int pe = 0; pe < C::pe; pe++) {
#pragma HLS UNROLL
        typename C::acc_t sum = 0;
        if (at.sf != 0) sum = acc[pe];
        sum += mac_dot<A>(x, pe, C::pe, weights[at.row], pe);
        sum = mac_held<A>::of(sum, pe);
        acc[pe] = sum;
        put(y, pe, apply_steps<A>(sum, C::shared ? 0 : int(at.nf), C::shared ? 0 : pe, steps...));
    }
    if (at.sf == C::sf - 1) out.write(y);

    at.next();
    place = at;
}

} // namespace hlsgen

#endif
