// The lookup of rows by index.
//     y[i] = table[x[i]]
// A row of the table goes out in `folds` words, which the memory has one after the other, and an index comes in with
// the first of them, one to a word.
//
// C has the members in_t, in_width, out_t, out_width, out_per_word of the streams, table_t and table_per_limb, and
//     indices   indices in a frame
//     folds     words given for an index
#ifndef HLSGEN_LOOKUP_HPP
#define HLSGEN_LOOKUP_HPP

#include <ap_int.h>
#include <hls_stream.h>

#include "core/compare.hpp"
#include "core/word.hpp"

namespace hlsgen {

// lookup processes one frame.
template <class C, class LIMB, int LIMBS, int ROWS>
void lookup(hls::stream<ap_uint<C::in_width> >& in, hls::stream<ap_uint<C::out_width> >& out,
            const LIMB (&table)[ROWS][LIMBS]) {
#pragma HLS INLINE
    ap_uint<count_width(ROWS)> first = 0; // row of the index
    ap_uint<count_width(C::folds)> fold = 0;

    for (int i = 0; i < C::indices * C::folds; i++) {
#pragma HLS PIPELINE II=1 style=flp
        if (fold == 0) first = number(get<typename C::in_t>(in.read(), 0)) * C::folds;
        const ap_uint<count_width(ROWS)> row = first + fold;
        ap_uint<C::out_width> y = 0;
        for (int pe = 0; pe < C::out_per_word; pe++) {
#pragma HLS UNROLL
            put(y, pe, element<typename C::table_t, C::table_per_limb>(table[row], pe));
        }
        out.write(y);
        fold += 1;
        if (fold == C::folds) fold = 0;
    }
}

} // namespace hlsgen

#endif
