// The thresholding layer.
//     y[c] = f[c](x[c]), f[c] being a base, and what each threshold adds that x[c] exceeds
// A frame is vectors of folds*pe channels. An iteration reads a word, channels fold*pe on, and writes theirs. Row fold
// of the tables has the thresholds of the first of them, then those of the next.
//
// C of threshold has the members in_t, in_width, out_t, out_width of the streams, T_t and T_per_limb of each table T, and
//     folds, pe                 the loop nest and what is unrolled in it
//     form, steps, unit, base   what apply_steps of core/compare.hpp asks for
//     shared                    one row of tables serves all channels
//
// threshold_serial has one comparator for each of pe channels. A word is searched for in search_steps steps: at place p of a
// lane's memory lies the threshold that a value is compared with, and from there the search goes on at place 2p, or 2p + 1 if
// it is exceeded. A step takes kept_rows calls, the time from a place to the next one; in the first turns of them words take
// turns. Its C has the streams' members as above, and
//     functions                 step functions of a lane, one for each word of a vector, or one
//     unit, base, coded         what becomes of a count: steps_stage of core/compare.hpp
//     kept_rows, kept_width     words that take turns, with what was found of them
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
    counter<C::kept_rows> turn;
    counter<C::search_steps> step;
    counter<C::functions> function;

    bool used() const {
#pragma HLS INLINE
        return turn.at < C::turns;
    }

    bool reads() const {
#pragma HLS INLINE
        return used() && step.at == 0;
    }

    bool writes() const {
#pragma HLS INLINE
        return used() && step.at == C::search_steps - 1;
    }

    void next() {
#pragma HLS INLINE
        if (reads()) function.next();
        if (turn.next()) step.next();
    }
};

// threshold_serial is one iteration: a comparison of each channel of a word. The tables are the memory of the search, and that
// of codes where there is one.
template <class C, class PLACES, class... CODES>
void threshold_serial(hls::stream<ap_uint<C::in_width> >& in, hls::stream<ap_uint<C::out_width> >& out, const PLACES& places,
                      const CODES&... codes) {
#pragma HLS INLINE
    typedef typename C::in_t in_t;
    typedef ap_uint<C::search_steps> found_t;
    const int found_at = C::in_width, function_at = found_at + C::pe * C::search_steps;
    static ap_uint<C::kept_width> kept[C::kept_rows]; // next first: values, places, function
#pragma HLS RESET variable=kept off
    bind_memory(kept, memory<C::kept_memory>());
    static threshold_place<C> place;
#pragma HLS RESET variable=place
    threshold_place<C> at = place;

    if (at.reads() && in.empty()) return;
    ap_uint<C::kept_width> word = kept[0];
    if (at.reads()) {
        word.range(C::in_width - 1, 0) = in.read();
        word.range(C::kept_width - 1, function_at) = at.function.at;
    }
    const int row = ap_uint<C::kept_width - function_at>(word.range(C::kept_width - 1, function_at)).to_int();
    ap_uint<C::out_width> y = 0;
    pe_loop: for (int pe = 0; pe < C::pe; pe++) {
#pragma HLS UNROLL
        const int from = found_at + pe * C::search_steps, to = from + C::search_steps - 1;
        const in_t x = get<in_t>(word, pe);
        found_t found = word.range(to, from);
        if (at.reads()) found = 1;
        const bool more = exceeds(x, element<in_t, 1>(places[pe][steps_address<C>(row, found)], 0));
        found = (found << 1) | ap_uint<1>(more);
        word.range(to, from) = found;
        put(y, pe, steps_stage<C, 0, C::search_steps, true>::of(x, row, pe, found, codes...));
    }
    shift_loop: for (int i = 1; i < C::kept_rows; i++) {
#pragma HLS UNROLL
        kept[i - 1] = kept[i];
    }
    kept[C::kept_rows - 1] = word;
    if (at.writes()) out.write(y);

    at.next();
    place = at;
}

} // namespace hlsgen

#endif
