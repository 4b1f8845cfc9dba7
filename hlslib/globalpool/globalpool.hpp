// Pooling over a whole frame.
//     y[c] = max over v of x[v][c]    or    y[c] = sum over v of x[v][c]
// A frame consists of vectors of folds*pe channels. An iteration reads a word of pe channels, beginning with channel
// fold*pe, and combines it with the kept results of these channels. The iterations of the last vector write the
// results.
//
// C has the members in_t, in_width, out_t, out_width of the streams, and
//     vectors, folds, pe   extents of the loops, and the channels per iteration
//     sum                  whether the layer adds; else it takes the maximum
//     kept_rows ...        the memory of the accumulators, as core/memory.hpp describes
// Every accumulator is used once in `folds` iterations. A few accumulators circulate in a shift register, from which
// the scheduler sees that distance. More accumulators lie in a memory; an iteration is always shorter than that
// distance.
#ifndef HLSGEN_GLOBALPOOL_HPP
#define HLSGEN_GLOBALPOOL_HPP

#include <ap_int.h>
#include <hls_stream.h>

#include "core/compare.hpp"
#include "core/memory.hpp"
#include "core/pooling.hpp"
#include "core/word.hpp"

namespace hlsgen {

// globalpool_join combines the elements of a word with the kept results of their channels. The first vector of a frame
// has no kept results.
template <class C>
ap_uint<C::out_width> globalpool_join(const ap_uint<C::in_width>& x, const ap_uint<C::out_width>& kept, bool first) {
#pragma HLS INLINE
    ap_uint<C::out_width> y = 0;
    pe_loop: for (int pe = 0; pe < C::pe; pe++) {
#pragma HLS UNROLL
        const typename C::out_t value = typename C::out_t(number(get<typename C::in_t>(x, pe)));
        put(y, pe, first ? value : pooled<C>(get<typename C::out_t>(kept, pe), value));
    }
    return y;
}

// globalpool_place is the layer's position in a frame.
template <class C> struct globalpool_place {
    ap_uint<count_width(C::folds)> fold;
    ap_uint<count_width(C::vectors)> vector;

    constexpr globalpool_place() : fold(0), vector(0) {}

    void next() {
#pragma HLS INLINE
        if (fold != C::folds - 1) {
            fold += 1;
            return;
        }
        fold = 0;
        vector = vector == C::vectors - 1 ? 0 : int(vector) + 1;
    }
};

// globalpool_turn reads the kept results of the current channels, combines them with the word x, and stores the new
// results in their place.
template <bool SHIFTED> struct globalpool_turn;

template <> struct globalpool_turn<true> {
    template <class C> static ap_uint<C::out_width> now(const globalpool_place<C>& at, const ap_uint<C::in_width>& x) {
#pragma HLS INLINE
        static ap_uint<C::kept_width> kept[C::kept_rows]; // the channels of the next iteration come first
#pragma HLS RESET variable=kept off
        bind_memory(kept, memory<C::kept_memory>());
        const ap_uint<C::out_width> y = globalpool_join<C>(x, kept[0], at.vector == 0);
        shift_loop: for (int j = 1; j < C::kept_rows; j++) {
#pragma HLS UNROLL
            kept[j - 1] = kept[j];
        }
        kept[C::kept_rows - 1] = y;
        return y;
    }
};

template <> struct globalpool_turn<false> {
    template <class C> static ap_uint<C::out_width> now(const globalpool_place<C>& at, const ap_uint<C::in_width>& x) {
#pragma HLS INLINE
        static ap_uint<C::kept_width> kept[C::kept_rows];
#pragma HLS RESET variable=kept off
        bind_memory(kept, memory<C::kept_memory>());
#pragma HLS DEPENDENCE variable=kept type=inter dependent=false
        const ap_uint<C::out_width> y = globalpool_join<C>(x, kept[at.fold], at.vector == 0);
        kept[at.fold] = y;
        return y;
    }
};

// globalpool runs one iteration of the layer.
template <class C> void globalpool(hls::stream<ap_uint<C::in_width> >& in, hls::stream<ap_uint<C::out_width> >& out) {
#pragma HLS INLINE
    static globalpool_place<C> place;
#pragma HLS RESET variable=place
    globalpool_place<C> at = place;

    if (in.empty()) return;
    const ap_uint<C::out_width> y = globalpool_turn<partitioned(C::kept_memory)>::now(at, in.read());
    if (at.vector == C::vectors - 1) out.write(y);

    at.next();
    place = at;
}

} // namespace hlsgen

#endif
