// The thresholding layer.
//     y[c] = f[c](x[c]), f[c] being a base, and what each threshold adds that x[c] exceeds
// A frame is vectors of folds*pe channels. An iteration reads a word, channels fold*pe on, and writes theirs. Row fold
// of the tables has the thresholds of the first of them, then those of the next.
//
// threshold_serial has one comparator for each of pe channels. A word is searched for in search_steps steps: at place p of a
// lane's memory lies the threshold that a value is compared with, and from there the search goes on at place 2p, or 2p + 1 if
// it is exceeded. From a place to the next one it takes found_rows calls, for which the next place waits in a row of
// registers: what the calls in between make of the others is never used. The first of a word's calls reads it, and the last
// one writes.
//
// C has the members in_t, in_width, out_t, out_width of the streams, T_t and T_per_limb of each table T, and
//     pe                        channels computed side by side
//     unit, base                what becomes of a count
// and for threshold also
//     folds                     words of a vector
//     form, steps               what else apply_steps of core/compare.hpp asks for
//     shared                    one row of tables serves all channels
// or for threshold_serial
//     calls                     of a word: (search_steps - 1) * found_rows + 1
//     search_steps, functions   comparisons of a value, and step functions of a lane: one for each word of a vector, or one
//     coded                     what else steps_stage of core/compare.hpp asks for
//     found_rows, found_width   places on their way
#ifndef HLSGEN_THRESHOLD_HPP
#define HLSGEN_THRESHOLD_HPP

#include <ap_int.h>
#include <hls_stream.h>

#include "core/compare.hpp"
#include "core/counter.hpp"
#include "core/memory.hpp"
#include "core/word.hpp"

namespace hlsgen {

// threshold is one iteration. The tables are those of apply_steps.
template <class C, class... TABLES>
void threshold(hls::stream<ap_uint<C::in_width> >& in, hls::stream<ap_uint<C::out_width> >& out, const TABLES&... tables) {
#pragma HLS INLINE
    static counter<C::folds> place;
#pragma HLS RESET variable=place
    counter<C::folds> fold = place;

    if (in.empty()) return;
    const ap_uint<C::in_width> x = in.read();
    ap_uint<C::out_width> y = 0;
    pe_loop: for (int pe = 0; pe < C::pe; pe++) {
#pragma HLS UNROLL
        const int row = C::shared ? 0 : int(fold.at), channel = C::shared ? 0 : pe;
        put(y, pe, apply_steps<C>(get<typename C::in_t>(x, pe), row, channel, tables...));
    }
    out.write(y);

    fold.next();
    place = fold;
}

// threshold_place is where threshold_serial stands.
template <class C> struct threshold_place {
    counter<C::calls> call;
    counter<C::functions> function;

    void next() {
#pragma HLS INLINE
        if (call.next()) function.next();
    }
};

// threshold_serial is one iteration: a comparison of each channel of a word. The tables are the memory of the search, and that
// of codes where there is one.
template <class C, class PLACES, class... CODES>
void threshold_serial(hls::stream<ap_uint<C::in_width> >& in, hls::stream<ap_uint<C::out_width> >& out, const PLACES& places,
                      const CODES&... codes) {
#pragma HLS INLINE
    typedef typename C::in_t in_t;
    typedef ap_uint<C::search_steps> place_t;
    static ap_uint<C::in_width> kept;
#pragma HLS RESET variable=kept off
    static ap_uint<C::found_width> found[C::found_rows]; // next first
#pragma HLS RESET variable=found off
    bind_memory(found, memory<C::found_memory>());
    static threshold_place<C> place;
#pragma HLS RESET variable=place
    threshold_place<C> at = place;

    const bool first = at.call.at == 0;
    if (first && in.empty()) return;
    ap_uint<C::in_width> x = kept;
    if (first) x = in.read();
    kept = x;
    const ap_uint<C::found_width> before = found[0];
    ap_uint<C::found_width> now = 0;
    ap_uint<C::out_width> y = 0;
    const int row = at.function.at.to_int();
    pe_loop: for (int pe = 0; pe < C::pe; pe++) {
#pragma HLS UNROLL
        const in_t value = get<in_t>(x, pe);
        place_t p = get<place_t>(before, pe);
        if (first) p = 1;
        const bool more = exceeds(value, element<in_t, 1>(places[pe][steps_address<C>(row, p)], 0));
        p = (p << 1) | ap_uint<1>(more); // in the end the count: the 1 that it began with has left
        put(now, pe, p);
        put(y, pe, steps_stage<C, 0, C::search_steps, true>::of(value, row, pe, p, codes...));
    }
    shift_loop: for (int i = 1; i < C::found_rows; i++) {
#pragma HLS UNROLL
        found[i - 1] = found[i];
    }
    found[C::found_rows - 1] = now;
    if (at.call.at == C::calls - 1) out.write(y);

    at.next();
    place = at;
}

} // namespace hlsgen

#endif
