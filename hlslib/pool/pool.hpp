// Pooling of the windows that a sliding window has written.
//     y[c] = max over k of x[k][c]    or    y[c] = sum over k of x[k][c]
// A window arrives in tiles of pe channels, and a tile position by position. An iteration reads simd positions of a
// tile. The last of a tile's sf iterations writes the pe results.
//
// C has the members in_t, in_width, out_t, out_width of the streams, and
//     sf         words of a window's tile
//     pe, simd   channels and positions of a word
//     sum        whether the layer adds; else it takes the maximum
#ifndef HLSGEN_POOL_HPP
#define HLSGEN_POOL_HPP

#include <ap_int.h>
#include <hls_stream.h>

#include "core/compare.hpp"
#include "core/counter.hpp"
#include "core/pooling.hpp"
#include "core/word.hpp"

namespace hlsgen {

// pool_positions combines N positions of channel pe of a word. It divides them into halves, which gives a tree.
template <class C, int N> struct pool_positions {
    static typename C::out_t of(const ap_uint<C::in_width>& x, int first, int pe) {
#pragma HLS INLINE
        return pooled<C>(pool_positions<C, N / 2>::of(x, first, pe), pool_positions<C, N - N / 2>::of(x, first + N / 2, pe));
    }
};

template <class C> struct pool_positions<C, 1> {
    static typename C::out_t of(const ap_uint<C::in_width>& x, int first, int pe) {
#pragma HLS INLINE
        return typename C::out_t(number(get<typename C::in_t>(x, first * C::pe + pe)));
    }
};

// pool runs one iteration of the layer.
template <class C> void pool(hls::stream<ap_uint<C::in_width> >& in, hls::stream<ap_uint<C::out_width> >& out) {
#pragma HLS INLINE
    static ap_uint<C::out_width> kept; // results of the tile so far
#pragma HLS RESET variable=kept off
    static counter<C::sf> place;
#pragma HLS RESET variable=place
    counter<C::sf> sf = place;

    if (in.empty()) return;
    const ap_uint<C::in_width> x = in.read();
    const ap_uint<C::out_width> before = kept;
    ap_uint<C::out_width> now = 0;
    pe_loop: for (int pe = 0; pe < C::pe; pe++) {
#pragma HLS UNROLL
        typename C::out_t y = pool_positions<C, C::simd>::of(x, 0, pe);
        if (sf.at != 0) y = pooled<C>(get<typename C::out_t>(before, pe), y);
        put(now, pe, y);
    }
    kept = now;
    if (sf.next()) out.write(now);
    place = sf;
}

} // namespace hlsgen

#endif
