// The padding of feature maps.
// The pixels of the input lie in the rows first_row, first_row + row_step ... below end_row of the output, and in the
// columns chosen in the same way. All other output pixels are padding. An iteration writes a word; for a pixel of the
// input, it also reads one.
//
// C has the members in_t, in_width, out_t, out_width, out_per_word of the streams, and
//     rows, first_row, end_row, row_step               output rows, and which of them are input rows
//     columns, first_column, end_column, column_step   the same for columns
//     words                                            words of a pixel
//     code                                             value of an element of padding
#ifndef HLSGEN_PAD_HPP
#define HLSGEN_PAD_HPP

#include <ap_int.h>
#include <hls_stream.h>

#include "core/stride.hpp"
#include "core/word.hpp"

namespace hlsgen {

// pad_word returns a word of padding.
template <class C> ap_uint<C::out_width> pad_word() {
#pragma HLS INLINE
    ap_uint<C::out_width> y = 0;
    element_loop: for (int i = 0; i < C::out_per_word; i++) {
#pragma HLS UNROLL
        put(y, i, typename C::out_t(C::code));
    }
    return y;
}

// pad_place is the layer's position in a frame.
template <class C> struct pad_place {
    grid<C> place;
    bool begun; // the first word of the frame has been written

    constexpr pad_place() : begun(false) {}

    // last reports whether the output word is the last word of the input.
    bool last() const {
#pragma HLS INLINE
        return place.row.at == C::end_row - 1 && place.column.at == C::end_column - 1 && place.word == C::words - 1;
    }

    void next() {
#pragma HLS INLINE
        begun = !place.next();
    }
};

// pad runs one iteration of the layer. If a frame begins with padding, the first input word is read with the first
// word of padding, and each further input word when the one before is written. So the output of a frame begins only
// after the input has begun.
template <class C> void pad(hls::stream<ap_uint<C::in_width> >& in, hls::stream<ap_uint<C::out_width> >& out) {
#pragma HLS INLINE
    const bool ahead = C::first_row > 0 || C::first_column > 0;
    static ap_uint<C::in_width> kept; // the word that was read ahead
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
