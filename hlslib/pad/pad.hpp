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
    for (int i = 0; i < C::out_per_word; i++) {
#pragma HLS UNROLL
        put(y, i, typename C::out_t(C::code));
    }
    return y;
}

// pad processes one frame.
template <class C> void pad(hls::stream<ap_uint<C::in_width> >& in, hls::stream<ap_uint<C::out_width> >& out) {
#pragma HLS INLINE
    stride<C::rows, C::first_row, C::end_row, C::row_step> row;
    stride<C::columns, C::first_column, C::end_column, C::column_step> column;
    ap_uint<count_width(C::words)> word = 0;

    for (int i = 0; i < C::rows * C::columns * C::words; i++) {
#pragma HLS PIPELINE II=1 style=flp
        ap_uint<C::out_width> y = pad_word<C>();
        if (row.hit() && column.hit()) y = recode<typename C::out_t, typename C::in_t>(in.read());
        out.write(y);
        word += 1;
        if (word == C::words) {
            word = 0;
            if (column.next()) row.next();
        }
    }
}

} // namespace hlsgen

#endif
