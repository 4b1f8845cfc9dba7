// The lookup of rows by index.
//     y[i] = table[x[i]]
// A row of the table is written in `folds` words, which have consecutive addresses in the memory. An input word has
// one index, and is read in the iteration that writes the first of these words.
//
// C has the members in_t, in_width, out_width, out_per_word of the streams, table_t and table_per_limb, and
//     folds   output words for an index
#ifndef HLSGEN_LOOKUP_HPP
#define HLSGEN_LOOKUP_HPP

#include <ap_int.h>
#include <hls_stream.h>

#include "core/compare.hpp"
#include "core/counter.hpp"
#include "core/word.hpp"

namespace hlsgen {

// lookup runs one iteration of the layer.
template <class C, class LIMB, int LIMBS, int ROWS>
void lookup(hls::stream<ap_uint<C::in_width> >& in, hls::stream<ap_uint<C::out_width> >& out,
            const LIMB (&table)[ROWS][LIMBS]) {
#pragma HLS INLINE
    static ap_uint<count_width(ROWS)> first; // address of the first word for the current index
#pragma HLS RESET variable=first off
    static counter<C::folds> place;
#pragma HLS RESET variable=place
    counter<C::folds> fold = place;

    if (fold.at == 0 && in.empty()) return;
    ap_uint<count_width(ROWS)> row = first;
    if (fold.at == 0) row = number(get<typename C::in_t>(in.read(), 0)) * C::folds;
    first = row;
    row += fold.at;
    ap_uint<C::out_width> y = 0;
    element_loop: for (int pe = 0; pe < C::out_per_word; pe++) {
#pragma HLS UNROLL
        put(y, pe, element<typename C::table_t, C::table_per_limb>(table[row], pe));
    }
    out.write(y);

    fold.next();
    place = fold;
}

} // namespace hlsgen

#endif
