// The cropping of feature maps.
// Of a frame of rows of pixels those stay whose row is first_row, first_row + row_step ... below end_row, and whose
// column likewise. An iteration reads a word; one of a pixel that stays is written.
//
// C has the members in_width, out_width of the streams, and
//     rows, first_row, end_row, row_step               the rows read, and which of them stay
//     columns, first_column, end_column, column_step   the same of columns
//     words                                            words of a pixel
#ifndef HLSGEN_CROP_HPP
#define HLSGEN_CROP_HPP

#include <ap_int.h>
#include <hls_stream.h>

#include "core/stride.hpp"

namespace hlsgen {

// crop processes one frame.
template <class C> void crop(hls::stream<ap_uint<C::in_width> >& in, hls::stream<ap_uint<C::out_width> >& out) {
#pragma HLS INLINE
    stride<C::rows, C::first_row, C::end_row, C::row_step> row;
    stride<C::columns, C::first_column, C::end_column, C::column_step> column;
    ap_uint<count_width(C::words)> word = 0;

    for (int i = 0; i < C::rows * C::columns * C::words; i++) {
#pragma HLS PIPELINE II=1 style=flp
        const ap_uint<C::in_width> x = in.read();
        if (row.hit() && column.hit()) out.write(x);
        word += 1;
        if (word == C::words) {
            word = 0;
            if (column.next()) row.next();
        }
    }
}

} // namespace hlsgen

#endif
