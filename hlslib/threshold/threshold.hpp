// The thresholding layer.
//     y[c] = f[c](x[c]), where f[c] is a base plus a number for each threshold that x[c] exceeds
// A frame consists of vectors of folds*pe channels. An iteration reads a word of the pe channels from fold*pe on, and
// writes the output word of these channels. Row fold of the tables has the thresholds of the first of these channels,
// then those of the next channel, and so on.
//
// threshold_serial has one comparator for each of pe channels, and searches for the result of a word in search_steps
// steps. A step compares the value with the threshold at place p of the lane's memory. The next step uses place 2p, or
// 2p + 1 if the value exceeds the threshold. A step takes found_rows calls, while the next place passes through a row
// of registers. The results of the calls between two steps are not used. The first call for a word reads it, and the
// last call writes the output.
//
// C has the members in_t, in_width, out_t, out_width of the streams, T_t and T_per_limb of each table T, and
//     pe                        channels per word
//     unit, base                the output for n exceeded thresholds is base + unit*n
// and for threshold also
//     folds                     words of a vector
//     form, steps               further members that apply_steps of core/compare.hpp describes
//     shared                    all channels use one row of the tables
// or for threshold_serial
//     calls                     calls per word: (search_steps - 1) * found_rows + 1
//     search_steps              comparisons of a value
//     functions                 step functions of a lane: one for each word of a vector, or one for all
//     coded                     a further member that steps_stage of core/compare.hpp describes
//     found_rows, found_width   the registers through which places pass
#ifndef HLSGEN_THRESHOLD_HPP
#define HLSGEN_THRESHOLD_HPP

#include <ap_int.h>
#include <hls_stream.h>

#include "core/compare.hpp"
#include "core/counter.hpp"
#include "core/memory.hpp"
#include "core/word.hpp"

namespace hlsgen {

// threshold runs one iteration of the layer. The tables are the arguments of apply_steps.
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

// threshold_place is the position of threshold_serial in a vector.
template <class C> struct threshold_place {
    counter<C::calls> call;
    counter<C::functions> function;

    void next() {
#pragma HLS INLINE
        if (call.next()) function.next();
    }
};

// threshold_serial runs one iteration: one comparison for each channel of a word. The tables are the thresholds by
// place, and the codes by count, if C has codes.
template <class C, class PLACES, class... CODES>
void threshold_serial(hls::stream<ap_uint<C::in_width> >& in, hls::stream<ap_uint<C::out_width> >& out, const PLACES& places,
                      const CODES&... codes) {
#pragma HLS INLINE
    typedef typename C::in_t in_t;
    typedef ap_uint<C::search_steps> place_t;
    static ap_uint<C::in_width> kept;
#pragma HLS RESET variable=kept off
    static ap_uint<C::found_width> found[C::found_rows]; // the places of the next call come first
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
        p = (p << 1) | ap_uint<1>(more); // after the last step, p is the count: its leading 1 has been shifted out
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
