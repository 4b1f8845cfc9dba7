// The thresholding layer.
//     y[c] = f[c](x[c]), f[c] being a base, and what each threshold adds that x[c] exceeds
// A frame is vectors of folds*pe channels. An iteration reads a word, channels fold*pe on, and writes theirs. Row fold
// of the tables has the thresholds of the first of them, then those of the next.
//
// C has the members in_t, in_width, out_t, out_width of the streams, T_t and T_per_limb of each table T, and
//     folds, pe                 the loop nest and what is unrolled in it
//     form, steps, unit, base   what apply_steps of core/compare.hpp asks for
//     shared                    one row of tables serves all channels
#ifndef HLSGEN_THRESHOLD_HPP
#define HLSGEN_THRESHOLD_HPP

#include <ap_int.h>
#include <hls_stream.h>

#include "core/compare.hpp"
#include "core/counter.hpp"
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

} // namespace hlsgen

#endif
