// The padding of feature maps.
// A frame is written whose rows first_row, first_row + row_step ... below end_row, and columns likewise, are the pixels
// of the frame read; all others are the padding. An iteration writes a word; one of a pixel of the frame reads it.
//
// C has the members in_t, in_width, out_t, out_width, out_per_word of the streams, and
//     rows, first_row, end_row, row_step               the rows written, and which of them are of the frame read
//     columns, first_column, end_column, column_step   the same of columns
//     words                                            words of a pixel
//     code                                             the padding
#ifndef HLSGEN_PAD_HPP
#define HLSGEN_PAD_HPP

#include <ap_int.h>
#include <hls_stream.h>

#include "core/stride.hpp"
#include "core/word.hpp"

namespace hlsgen {

// pad_word is a word of padding.
template <class C> ap_uint<C::out_width> pad_word() {
#pragma HLS INLINE
    ap_uint<C::out_width> y = 0;
    element_loop: for (int i = 0; i < C::out_per_word; i++) {
#pragma HLS UNROLL
        put(y, i, typename C::out_t(C::code));
    }
    return y;
}

// pad_place is where a layer stands in its frame.
template <class C> struct pad_place {
    grid<C> place;
    bool begun; // the frame has

    constexpr pad_place() : begun(false) {}

    // last tells the last word of the frame that is read.
    bool last() const {
#pragma HLS INLINE
        return place.row.at == C::end_row - 1 && place.column.at == C::end_column - 1 && place.word == C::words - 1;
    }

    void next() {
#pragma HLS INLINE
        begun = !place.next();
    }
};

// pad is one iteration. Where padding comes first, the frame's first word is read with the first word of padding, and each
// further one where the one before is written: no frame begins before it is there.
template <class C> void pad(hls::stream<ap_uint<C::in_width> >& in, hls::stream<ap_uint<C::out_width> >& out) {
#pragma HLS INLINE
    const bool ahead = C::first_row > 0 || C::first_column > 0;
    static ap_uint<C::in_width> kept; // the word that is read ahead
#pragma HLS RESET variable=kept off
    static pad_place<C> place;
#pragma HLS RESET variable=place
    pad_place<C> at = place;

    const bool hit = at.place.hit();
    const bool reads = ahead ? !at.begun || (hit && !at.last()) : hit;
    if (reads && in.empty()) return;
    const ap_uint<C::in_width> before = kept;
    ap_uint<C::in_width> x = before;
    if (reads) x = in.read();
    kept = x;
    ap_uint<C::out_width> y = pad_word<C>();
    if (hit) y = recode<typename C::out_t, typename C::in_t>(ahead ? before : x);
    out.write(y);

    at.next();
    place = at;
}

} // namespace hlsgen

#endif
